/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_ATTEMPTS_H
#define CKPT_TESTS_ATTEMPTS_H

/*
 * Things to try from inside the sandbox, and what has to come of each. They
 * run in a process of their own in a folder that has in/file, which the
 * process was given, and out/file, which it was not.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What comes of an attempt; an errno stands for itself. */
enum { WORKS = 0, KILLED = 201, ABSENT = 202, OTHER = 203 };

/* Under which needs: N nothing, R reading, S saving, T the terminal. */
enum { N, R, S, T, SETS };

struct attempt {
	const char *name; /* NULL ends a table */
	int (*run)(void);
	int wanted[SETS];
};

#define EVERYWHERE(x)                                                          \
	{                                                                      \
		x, x, x, x                                                     \
	}

extern const struct attempt attempts_on_files[];
extern const struct attempt attempts_on_others[];

/* By name, from either table; fails the test if there is none. */
const struct attempt *attempt_find(const char *name);

/* What is open before the sandbox is entered; false if it cannot be. */
bool attempts_prepare(pid_t parent);

/* For the two files of attempts. */
struct attempts_open {
	int pipe[2], folder, socket;
	pid_t parent;
};
extern struct attempts_open attempts_open;

/* 0 or errno of what a call returned. */
int attempt_said(long result);

#endif
