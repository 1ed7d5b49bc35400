/* SPDX-License-Identifier: MIT */
/*
 * Names to numbers by open addressing. The hash takes seven bytes at a time
 * as a coefficient of a polynomial modulo the prime 2^61 - 1; two names of k
 * such pieces collide with a chance of k / 2^61, whatever they are, because
 * the point is drawn anew for every table.
 */
#include "view/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/bytes.h"

#define PRIME      (((uint64_t)1 << 61) - 1)
#define PIECE_MASK (((uint64_t)1 << 56) - 1)

enum { PIECE = 7, ROOM_FIRST = 64 };

void
view_names_init(struct view_names *names)
{
	struct timespec now = { 0 };

	memset(names, 0, sizeof *names);
	if (getrandom(&names->secret, sizeof names->secret, GRND_NONBLOCK) !=
		(ssize_t)sizeof names->secret) {
		clock_gettime(CLOCK_REALTIME, &now);
		names->secret = (uint64_t)now.tv_nsec << 20 ^
				(uint64_t)(uintptr_t)names;
	}
	/* Odd, so that place() mixes with it too. */
	names->secret = (names->secret % (PRIME - 256) + 256) | 1;
}

void
view_names_release(struct view_names *names)
{
	free(names->hashes);
	free(names->values);
	memset(names, 0, sizeof *names);
}

/* (h * secret + piece) mod 2^61 - 1; h and piece are below 2^61. */
static uint64_t
step(uint64_t h, uint64_t secret, uint64_t piece)
{
	__extension__ unsigned __int128 wide =
		(unsigned __int128)h * secret + piece;
	uint64_t folded =
		((uint64_t)wide & PRIME) + (uint64_t)(wide >> 61 & PRIME);

	return folded >= PRIME ? folded - PRIME : folded;
}

uint64_t
view_names_hash(const struct view_names *names, uint64_t start,
	const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h = step(start & (PRIME >> 1), names->secret, n & PIECE_MASK);
	uint64_t last = 0;

	for (; n > PIECE; p += PIECE, n -= PIECE)
		h = step(h, names->secret, ckpt_load_u64(p) & PIECE_MASK);
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)p[i] << 8 * i;
	h = step(h, names->secret, last);
	return h ? h : 1;
}

/* Where the search for a hash begins: its high bits, mixed once more. */
static size_t
place(const struct view_names *names, uint64_t hash)
{
	hash ^= hash >> 32;
	hash = (hash & 0xffffffff) * (names->secret & 0xffffffff);
	return (size_t)(hash >> 16) & (names->room - 1);
}

static void
put(struct view_names *names, uint64_t hash, uint32_t value)
{
	size_t i = place(names, hash);

	while (names->hashes[i])
		i = (i + 1) & (names->room - 1);
	names->hashes[i] = hash;
	names->values[i] = value;
	names->n++;
}

static bool
grow(struct view_names *names)
{
	struct view_names old = *names;

	names->room = old.room ? old.room * 2 : ROOM_FIRST;
	names->hashes = calloc(names->room, sizeof *names->hashes);
	names->values = calloc(names->room, sizeof *names->values);
	if (!names->hashes || !names->values) {
		free(names->hashes);
		free(names->values);
		*names = old;
		return false;
	}
	names->n = 0;
	for (size_t i = 0; i < old.room; i++)
		if (old.hashes[i])
			put(names, old.hashes[i], old.values[i]);
	free(old.hashes);
	free(old.values);
	return true;
}

bool
view_names_add(struct view_names *names, uint64_t hash, uint32_t value)
{
	if (names->n >= names->room / 2 && !grow(names))
		return false;
	put(names, hash, value);
	return true;
}

bool
view_names_next(const struct view_names *names, uint64_t hash, size_t *at,
	uint32_t *value)
{
	if (names->room == 0)
		return false;
	for (;;) {
		size_t i = (place(names, hash) + (*at)++) & (names->room - 1);

		if (names->hashes[i] == 0)
			return false;
		if (names->hashes[i] == hash) {
			*value = names->values[i];
			return true;
		}
	}
}
