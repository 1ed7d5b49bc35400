/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_SANDBOX_H
#define CKPT_CLI_SANDBOX_H

/*
 * What a tool gives up before it looks at bytes that it did not write: the
 * network and other programs always, and files but for those that its command
 * line is about. A parser that a hostile file has taken over can then tell
 * nobody what it read, and leave something behind only where outputs go: in
 * the folder that was named for them; for the viewer, which saves wherever it
 * is asked to, everywhere.
 *
 *	begin, read and save as often as needed, enter
 *
 * Two walls stand behind each other, and each is there or is not, as the
 * system allows: a list of the system calls that are left (libseccomp), and a
 * list of the places that can be opened (Landlock). What is open already can
 * be used on. Neither being there is a failure: see ckpt_sandbox_say().
 *
 * Enter on the only thread: the second wall stands before a thread and those
 * that it starts later, not before its elder siblings.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/opt.h"

/* What is still needed afterwards. Reading, writing and waiting on what is
 * open, looking at names (stat), memory, threads and time always are. */
enum ckpt_sandbox_need {
	CKPT_SANDBOX_OPEN = 1 << 0,     /* to read files and list folders */
	CKPT_SANDBOX_SAVE = 1 << 1,     /* to make, rename and remove files; one
				     * that exists is never opened to write */
	CKPT_SANDBOX_TERMINAL = 1 << 2, /* to change the terminal's modes */
};

/* What is given for a place, and for all below it if it is a folder. */
enum ckpt_sandbox_grant {
	CKPT_SANDBOX_READ = 1 << 0,    /* it is read, or listed */
	CKPT_SANDBOX_PUBLISH = 1 << 1, /* files appear in it, or are replaced */
	CKPT_SANDBOX_FOLDERS = 1 << 2, /* folders come and go in it */
};

struct ckpt_sandbox {
	const char *tool;
	bool off; /* --no-sandbox */
	unsigned needs;
	int places;              /* of the system, being made; -1: none */
	uint64_t handled;        /* which accesses to places it knows */
	bool narrow, places_set; /* the two walls stand */
	int narrow_error, places_error; /* errno, if not */
};

/* Nothing is given up yet. Asks args for --no-sandbox. */
void ckpt_sandbox_begin(
	struct ckpt_sandbox *box, const struct ckpt_args *args, unsigned needs);

/* Gives a place; one that is not there, or "-", or NULL, is passed over. */
void ckpt_sandbox_grant(
	struct ckpt_sandbox *box, const char *path, unsigned grants);

/* Gives the folder that the file at path is in, or is going to be. */
void ckpt_sandbox_grant_folder_of(
	struct ckpt_sandbox *box, const char *path, unsigned grants);

/* Lets the descriptions of terminals be read. */
void ckpt_sandbox_grant_terminal(struct ckpt_sandbox *box);

/* Gives the folder of temporary files: TMPDIR, or /tmp. */
void ckpt_sandbox_grant_temporary(struct ckpt_sandbox *box);

/* Reads the values of the named options (a list that ends with NULL) as
 * paths, and gives them: an output the folder that it is in. */
void ckpt_sandbox_grant_options(struct ckpt_sandbox *box,
	const struct ckpt_args *args, const char *const *names, bool outputs);

/* Gives the rest up, for ever, for this thread and those to come. Leaves errno
 * alone: an open that failed may still have to be explained. */
void ckpt_sandbox_enter(struct ckpt_sandbox *box);

/* Says on standard error which walls do not stand, and why; nothing if both
 * do, or if none was wanted. */
void ckpt_sandbox_say(const struct ckpt_sandbox *box);

/* "seccomp and Landlock": what this build can do, for --version. */
const char *ckpt_sandbox_built(void);

/* What all tools give up, for the manual pages. */
extern const char *const ckpt_sandbox_about[];

/* The first wall: sandbox_calls.c. The rest up to SAVE: 0 or errno. */
int ckpt_sandbox_narrow(unsigned needs);
extern const bool ckpt_sandbox_can_narrow;

/* The second wall: sandbox_places.c. -1 with errno; *handled: what the system
 * can refuse. */
int ckpt_places_new(uint64_t *handled);
void ckpt_places_add(
	int places, uint64_t handled, const char *path, unsigned grants);
/* Closes places; 0 or errno. */
int ckpt_places_enter(int places);

#endif
