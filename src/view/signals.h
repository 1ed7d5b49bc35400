/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_SIGNALS_H
#define CKPT_VIEW_SIGNALS_H

/*
 * Signals while the terminal is ours. Those that can wait are told through a
 * pipe, so that the loop of the viewer can wait for them as for anything
 * else. A crash cannot wait: the terminal is put back first, then the program
 * dies as it would have.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

enum { VIEW_CAUGHT_MOST = 16, VIEW_STACK = 64 * 1024 };

/* How to put the terminal back without the library that changed it. */
struct view_rescue {
	int fd;
	struct termios modes;
	char text[256]; /* leaves the alternate screen, and so on */
	size_t n;
};

/* Adds what a capability of the terminal says, without the delays in it:
 * $<5>. What does not fit is left out. */
void view_rescue_add(struct view_rescue *rescue, const char *s);

struct view_signals {
	int pipe[2];
	struct view_rescue rescue;
	volatile sig_atomic_t drawn;  /* there is something to be put back */
	volatile sig_atomic_t ending; /* the signal that ends the program */
	struct sigaction before[VIEW_CAUGHT_MOST];
	stack_t stack_before;
	char stack[VIEW_STACK]; /* for a crash that has used up the other */
};

/* Catches them; one at a time in a program. False if there is no pipe. */
bool view_signals_catch(struct view_signals *signals);
/* Everything as before. */
void view_signals_release(struct view_signals *signals);

/* The next signal that came, to be seen to, or 0: SIGWINCH, SIGTSTP, SIGCONT,
 * or one that ends the program. */
int view_signals_next(struct view_signals *signals);

/* Stops the program as SIGTSTP does; returns when it goes on. */
void view_signals_stop(void);

#endif
