/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_NAMES_H
#define CKPT_VIEW_NAMES_H

/*
 * From names to numbers: a hash table that no file can spoil. Names come from
 * files, so they may be chosen to collide; the hash is therefore a polynomial
 * at a secret point, of which collisions cannot be made without knowing it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_names {
	uint64_t secret;
	uint64_t *hashes; /* owned; 0: the place is free */
	uint32_t *values; /* owned */
	size_t n, room;   /* room: 0 or a power of two */
};

void view_names_init(struct view_names *names);
void view_names_release(struct view_names *names);

/* The hash of n bytes after start, which is never 0. */
uint64_t view_names_hash(const struct view_names *names, uint64_t start,
	const void *bytes, size_t n);

/* False if out of memory. */
bool view_names_add(struct view_names *names, uint64_t hash, uint32_t value);

/* The values of a hash one by one; *at is 0 to begin with. Names that differ
 * may have one hash: look at them. False when there is no other. */
bool view_names_next(const struct view_names *names, uint64_t hash, size_t *at,
	uint32_t *value);

#endif
