/* SPDX-License-Identifier: MIT */
/*
 * Handlers of signals. They have no argument but the signal, so what they
 * need is behind the one pointer below, set while signals are caught. They
 * call only what POSIX calls async-signal-safe.
 *
 * A signal that ends the program is first told to the loop, which stops the
 * jobs and closes the terminal in order; the second one does not wait for
 * that.
 */
#include "view/signals.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum fate { TOLD, ENDS, CRASHED };

static const struct {
	int number;
	enum fate fate;
} caught[] = {
	{ SIGWINCH, TOLD },
	{ SIGTSTP, TOLD },
	{ SIGCONT, TOLD },
	{ SIGINT, ENDS },
	{ SIGTERM, ENDS },
	{ SIGHUP, ENDS },
	{ SIGQUIT, ENDS },
	{ SIGSEGV, CRASHED },
	{ SIGBUS, CRASHED },
	{ SIGFPE, CRASHED },
	{ SIGILL, CRASHED },
	{ SIGABRT, CRASHED },
};

enum { CAUGHT = sizeof caught / sizeof caught[0] };

static_assert((int)CAUGHT <= (int)VIEW_CAUGHT_MOST, "a place for each");

static bool
is_end(int number)
{
	for (size_t i = 0; i < CAUGHT; i++)
		if (caught[i].number == number)
			return caught[i].fate == ENDS;
	return false;
}

void
view_rescue_add(struct view_rescue *rescue, const char *s)
{
	while (*s && rescue->n < sizeof rescue->text) {
		if (s[0] == '$' && s[1] == '<' && strchr(s, '>'))
			s = strchr(s, '>') + 1;
		else
			rescue->text[rescue->n++] = *s++;
	}
}

static struct view_signals *active;

static void
tell(struct view_signals *signals, int number)
{
	unsigned char byte = (unsigned char)number;
	int error = errno;

	/* A full pipe wakes the loop as well; what ends is kept besides. */
	if (write(signals->pipe[1], &byte, 1) < 0)
		errno = error;
	errno = error;
}

/* The terminal as it was, and the end that the signal brings by itself. */
static void
rescue(int number)
{
	struct view_signals *signals = active;

	if (signals && signals->drawn) {
		const struct view_rescue *r = &signals->rescue;

		signals->drawn = 0;
		/* In the background, or with output held by Ctrl-S, these
		 * would wait. */
		signal(SIGTTOU, SIG_IGN);
		tcflow(r->fd, TCOON);
		if (write(r->fd, r->text, r->n) < 0)
			errno = 0;
		tcsetattr(r->fd, TCSANOW, &r->modes);
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void
on_told(int number)
{
	if (active)
		tell(active, number);
}

static void
on_end(int number)
{
	if (!active || active->ending) {
		rescue(number);
		return;
	}
	active->ending = number;
	tell(active, number);
}

/* What the caller of this program wants ignored, as nohup does, stays so. */
static bool catch (const struct sigaction *before, int number)
{
	return before->sa_handler != SIG_IGN || number == SIGWINCH ||
	       number == SIGCONT;
}

bool
view_signals_catch(struct view_signals *signals)
{
	static void (*const handlers[])(int) = { on_told, on_end, rescue };
	stack_t stack = { .ss_sp = signals->stack,
		.ss_size = sizeof signals->stack };

	signals->drawn = signals->ending = 0;
	if (pipe2(signals->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	active = signals;
	sigaltstack(&stack, &signals->stack_before);
	for (size_t i = 0; i < CAUGHT; i++) {
		int number = caught[i].number;
		/* No SA_RESTART: curses waits for the end of what the mouse
		 * reports, and is to be woken from that. */
		struct sigaction action = { .sa_handler =
						    handlers[caught[i].fate] };

		sigemptyset(&action.sa_mask);
		/* The handler of a crash raises the same signal. */
		if (caught[i].fate == CRASHED)
			action.sa_flags = SA_ONSTACK | SA_NODEFER;
		sigaction(number, NULL, &signals->before[i]);
		if (catch (&signals->before[i], number))
			sigaction(number, &action, NULL);
	}
	return true;
}

void
view_signals_release(struct view_signals *signals)
{
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i].number, &signals->before[i], NULL);
	sigaltstack(&signals->stack_before, NULL);
	active = NULL;
	close(signals->pipe[0]);
	close(signals->pipe[1]);
}

int
view_signals_next(struct view_signals *signals)
{
	unsigned char byte;

	/* One that ends the program is kept besides; if it is not there any
	 * more, it did not end it, and its byte is to be skipped. */
	do {
		if (signals->ending)
			return signals->ending;
		if (read(signals->pipe[0], &byte, 1) != 1)
			return 0;
	} while (is_end(byte));
	return byte;
}

void
view_signals_stop(void)
{
	struct sigaction now, plain = { .sa_handler = SIG_DFL };

	sigemptyset(&plain.sa_mask);
	sigaction(SIGTSTP, &plain, &now);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &now, NULL);
}
