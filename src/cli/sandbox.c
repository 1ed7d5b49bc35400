/* SPDX-License-Identifier: MIT */
/*
 * The sandbox as the tools see it: what they still need, the places that a
 * command line is about, and both walls behind one call. sandbox_calls.c has
 * the list of system calls, sandbox_places.c that of places.
 *
 * Builds with sanitizers have none: these look into /proc and start threads
 * and programs of their own. Builds that count coverage have none, because
 * they write files when they end; they say -DCKPT_SANDBOX=0.
 */
#include "cli/sandbox.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#ifndef CKPT_SANDBOX
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||     \
	__has_feature(thread_sanitizer)
#define CKPT_SANDBOX 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CKPT_SANDBOX 0
#endif
#endif
#ifndef CKPT_SANDBOX
#define CKPT_SANDBOX 1
#endif

const char *const ckpt_sandbox_about[] = {
	"On Linux the rest is given up before more than the first bytes of a "
	"file are looked at, for good and for all threads. Whoever then starts "
	"a "
	"program, opens a socket or reaches into another process is ended by "
	"SIGSYS, as none of it is ever done by a tool that is in its own "
	"hands; all else that is not needed fails. No file that is there is "
	"opened for writing: outputs are new files, which take their place "
	"when they are complete. What can always be done: to use what is open, "
	"to ask for the names, sizes and times of files, to start threads.",
	"Where the system refuses seccomp or Landlock, as some containers do, "
	"the tool goes on without it; `--version` says what the tool was built "
	"with. With `--no-sandbox` nothing is given up, which debuggers and "
	"preloaded libraries may need.",
	NULL,
};

const char *
ckpt_sandbox_built(void)
{
	if (!CKPT_SANDBOX)
		return "none";
	return ckpt_sandbox_can_narrow ? "seccomp and Landlock" : "Landlock";
}

/* The JSON library draws what its tables are scattered by from a device when
 * it makes its first object. It would take the clock instead if that cannot be
 * opened any more, and who guesses it can make tables slow. */
static void
seed_tables(void)
{
	size_t seed = 0;

	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed && seed)
		json_object_seed(seed);
}

void
ckpt_sandbox_begin(
	struct ckpt_sandbox *box, const struct ckpt_args *args, unsigned needs)
{
	*box = (struct ckpt_sandbox){
		.tool = args->command->name,
		.off = !CKPT_SANDBOX ||
		       ckpt_args_find(args, "no-sandbox") != NULL,
		.needs = needs,
		.places = -1,
	};
	if (box->off)
		return;
	seed_tables();
	box->places = ckpt_places_new(&box->handled);
	if (box->places < 0)
		box->places_error = errno;
}

void
ckpt_sandbox_grant(struct ckpt_sandbox *box, const char *path, unsigned grants)
{
	if (box->places >= 0 && path && strcmp(path, "-") != 0)
		ckpt_places_add(box->places, box->handled, path, grants);
}

void
ckpt_sandbox_grant_folder_of(
	struct ckpt_sandbox *box, const char *path, unsigned grants)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char folder[PATH_MAX] = ".";
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;

	if (!path || strcmp(path, "-") == 0 || n >= sizeof folder)
		return;
	if (n > 0) {
		memcpy(folder, path, n);
		folder[n] = '\0';
	}
	ckpt_sandbox_grant(box, folder, grants);
}

void
ckpt_sandbox_grant_temporary(struct ckpt_sandbox *box)
{
	const char *folder = getenv("TMPDIR");

	ckpt_sandbox_grant(box, folder && *folder ? folder : "/tmp",
		CKPT_SANDBOX_READ | CKPT_SANDBOX_PUBLISH |
			CKPT_SANDBOX_FOLDERS);
}

/* "a:b:c" */
static void
grant_list(struct ckpt_sandbox *box, const char *list)
{
	char folder[PATH_MAX];

	while (list && *list) {
		size_t n = strcspn(list, ":");

		if (n > 0 && n < sizeof folder) {
			memcpy(folder, list, n);
			folder[n] = '\0';
			ckpt_sandbox_grant(box, folder, CKPT_SANDBOX_READ);
		}
		list += n + (list[n] == ':');
	}
}

void
ckpt_sandbox_grant_terminal(struct ckpt_sandbox *box)
{
	const char *home = getenv("HOME");
	char own[PATH_MAX];

	ckpt_sandbox_grant(box, getenv("TERMINFO"), CKPT_SANDBOX_READ);
	grant_list(box, getenv("TERMINFO_DIRS"));
	grant_list(box, "/etc/terminfo:/lib/terminfo:/usr/lib/terminfo:"
			"/usr/share/terminfo:/usr/local/share/terminfo");
	if (home && snprintf(own, sizeof own, "%s/.terminfo", home) <
			    (int)sizeof own)
		ckpt_sandbox_grant(box, own, CKPT_SANDBOX_READ);
}

void
ckpt_sandbox_grant_options(struct ckpt_sandbox *box,
	const struct ckpt_args *args, const char *const *names, bool outputs)
{
	for (; names && *names; names++) {
		const struct ckpt_given *given = ckpt_args_find(args, *names);

		if (!given)
			continue;
		if (outputs)
			ckpt_sandbox_grant_folder_of(
				box, given->value, CKPT_SANDBOX_PUBLISH);
		else
			ckpt_sandbox_grant(
				box, given->value, CKPT_SANDBOX_READ);
	}
}

/* The places first: the list of calls has none that could restrict them. */
void
ckpt_sandbox_enter(struct ckpt_sandbox *box)
{
	int error = errno;

	if (box->off)
		return;
	if (box->places >= 0)
		box->places_error = ckpt_places_enter(box->places);
	box->places = -1;
	box->places_set = box->places_error == 0;
	box->narrow_error = ckpt_sandbox_narrow(box->needs);
	box->narrow = box->narrow_error == 0;
	errno = error;
}

void
ckpt_sandbox_say(const struct ckpt_sandbox *box)
{
	if (box->off)
		return;
	if (!ckpt_sandbox_can_narrow)
		fprintf(stderr,
			"%s: note: system calls are not restricted: built "
			"without libseccomp\n",
			box->tool);
	else if (!box->narrow)
		fprintf(stderr,
			"%s: note: system calls are not restricted: %s\n",
			box->tool, strerror(box->narrow_error));
	if (!box->places_set)
		fprintf(stderr,
			"%s: note: places are not restricted: no Landlock: "
			"%s\n",
			box->tool, strerror(box->places_error));
}
