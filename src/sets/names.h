/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETS_NAMES_H
#define CKPT_SETS_NAMES_H

/*
 * What a file of a checkpoint folder is for, by its name alone: the names are
 * those that trainers and hubs give, so nothing has to be opened to know what
 * ought to be there.
 */

#include <stdbool.h>
#include <stddef.h>

enum ckpt_role {
	CKPT_ROLE_NONE,
	CKPT_ROLE_WEIGHTS, /* in the format that this project verifies */
	CKPT_ROLE_OTHER,   /* weights in a format that it does not */
	CKPT_ROLE_INDEX,
	CKPT_ROLE_OPTIMIZER,
	CKPT_ROLE_SCHEDULER,
	CKPT_ROLE_RNG,
	CKPT_ROLE_SIDE, /* settings, tokenizer, progress */
};

enum ckpt_role ckpt_role_of(const char *name, size_t n);

/* What a training run needs to go on, the weights apart. */
bool ckpt_role_resumes(enum ckpt_role role);

/* Whether n bytes of name end in tail, and are not all of it. */
bool ckpt_name_ends(const char *name, size_t n, const char *tail);

/* The length of the name that a file will have once it is complete, when name
 * is that name and ".tmp", ".part" or the like behind it and the complete file
 * would have a role. 0 for any other. */
size_t ckpt_name_unfinished(const char *name);

/* Whether a folder of this name holds the parts of a distributed optimizer or
 * model, in place of single files. */
bool ckpt_name_distributed(const char *name);

/*
 * The order of checkpoints: by the number of updates in the name, and only
 * among equal ones by the bytes. Names without a number come first.
 */
int ckpt_name_by_number(const char *a, const char *b);
bool ckpt_name_numbered(const char *name);

#endif
