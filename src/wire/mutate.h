/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WIRE_MUTATE_H
#define CKPT_WIRE_MUTATE_H

/*
 * Edits of a decoded structure by field path, by the rows that decoded it.
 * An edit changes what it names and nothing else: counts and lengths in other
 * fields stay as they are, so that the emitter writes a file that lies.
 */

#include "base/arena.h"
#include "wire/path.h"

/* What became of an edit. */
enum ckpt_edit_status {
	CKPT_EDIT_OK,
	CKPT_EDIT_NO_PATH, /* the path leads nowhere */
	CKPT_EDIT_BAD,     /* why says what is wrong */
	CKPT_EDIT_NO_MEMORY,
};

struct ckpt_mutation {
	const struct ckpt_record *rec;
	void *base;
	struct ckpt_arena *arena; /* for new values */
	/* Of the last edit. */
	const char *why;      /* static; with CKPT_EDIT_BAD */
	const char *path;     /* the part of the words that is a path, not
			       * NUL-terminated */
	size_t path_len;      /* of it */
	struct ckpt_place at; /* array edits: of the array */
	uint64_t index, other;
	uint64_t off; /* of what was changed, before the edit */
	struct ckpt_value before, after;
};

/* "PATH=VALUE". Setting a string sets its length too; PATH.length and
 * PATH.count lie, PATH.bytes leaves the length. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_mutate_set(
	struct ckpt_mutation *mutation, const char *words);
/* "PATH[i]". The copy comes behind; elements of an array are moved, what
 * counts them is not changed. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_mutate_delete(
	struct ckpt_mutation *mutation, const char *words);
CKPT_MUST_USE enum ckpt_edit_status ckpt_mutate_duplicate(
	struct ckpt_mutation *mutation, const char *words);
/* "PATH[i]=VALUE", i up to the number of elements. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_mutate_insert(
	struct ckpt_mutation *mutation, const char *words);
/* "PATH[i],PATH[j]" of one array. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_mutate_swap(
	struct ckpt_mutation *mutation, const char *words);

/* Lets records that keep their own file offset know it again. */
void ckpt_mutate_settle(const struct ckpt_record *rec, void *base, uint64_t at);

#endif
