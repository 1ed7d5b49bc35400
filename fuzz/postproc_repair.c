/* SPDX-License-Identifier: MIT */
/*
 * Repair: checksum, extents, offsets and lengths. The same bytes always give
 * the same file, and a repaired file is left as it is.
 */
#include "postproc.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/hash.h"

static bool
find(const struct ckpt_format *format, const char *path, void *base,
	size_t size, uint64_t *off)
{
	struct ckpt_place place;

	if (!path || !ckpt_path_find(format->root, base, 0, path, &place) ||
		place.len != 8 || !ckpt_within(place.off, 8, size))
		return false;
	*off = place.off;
	return true;
}

/* Where the extents of the file are, by the rows of its format. */
static bool
find_extents(
	const uint8_t *bytes, size_t size, uint64_t *header, uint64_t *payload)
{
	const struct ckpt_format *format = ckpt_format_sniff(bytes, size);
	void *base =
		format && format->draft ? calloc(1, format->root->size) : NULL;
	bool found = base &&
		     find(format, format->draft->header_extent, base, size,
			     header) &&
		     find(format, format->draft->payload_extent, base, size,
			     payload);

	free(base);
	return found;
}

/* A number that no repair changes. */
static uint64_t
constant_hash(const struct fuzz_scan *s, const uint8_t *bytes, size_t size)
{
	uint64_t h = CKPT_FNV1A64_START;

	for (size_t i = 0; i < s->nfields; i++) {
		const struct fuzz_place *f = &s->fields[i];

		if ((f->flags & (CKPT_HASH_AS_ZERO | CKPT_IS_OFFSET |
					CKPT_IS_LENGTH)) == 0 &&
			ckpt_within(f->off, f->len, size))
			h = ckpt_fnv1a64(h, bytes + f->off, (size_t)f->len);
	}
	return h;
}

/* Of sixteen files two stay broken, three get a checksum, three extents. */
enum fuzz_level
fuzz_level(const struct fuzz_scan *s, const uint8_t *bytes, size_t size)
{
	uint64_t hash = constant_hash(s, bytes, size);
	unsigned pick = (unsigned)(hash >> 32) % 16;

	return pick < 2   ? FUZZ_NOTHING
	       : pick < 5 ? FUZZ_CHECKSUM
	       : pick < 8 ? FUZZ_EXTENTS
			  : FUZZ_EVERYTHING;
}

static void
repair_checksum(const struct fuzz_scan *s, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < s->nfields; i++) {
		const struct fuzz_place *f = &s->fields[i];

		if (!(f->flags & CKPT_HASH_AS_ZERO) || f->len != 8)
			continue;
		memset(bytes + f->off, 0, 8);
		ckpt_store_u64(bytes + f->off,
			ckpt_fnv1a64(CKPT_FNV1A64_START, bytes, size));
	}
}

/* Offsets and lengths so that the tensors follow each other; returns where
 * the last one ends. */
static uint64_t
repair_tensors(const struct fuzz_scan *s, uint8_t *bytes)
{
	uint64_t at = s->end;
	size_t i = 0;

	for (size_t k = 0; k < s->ntensors; k++) {
		const struct fuzz_tensor *t = &s->tensors[k];

		for (; i < s->nfields; i++) {
			const struct fuzz_place *f = &s->fields[i];

			if (f->off >= t->record_at + t->record_len)
				break;
			if (f->off < t->record_at || f->len != 8)
				continue;
			if (f->flags & CKPT_IS_OFFSET)
				ckpt_store_u64(bytes + f->off, at);
			if (f->flags & CKPT_IS_LENGTH)
				ckpt_store_u64(bytes + f->off, t->required);
		}
		if (!ckpt_add_u64(at, t->required, &at))
			return UINT64_MAX;
	}
	return at;
}

size_t
fuzz_repair(
	struct fuzz_scan *s, const uint8_t *bytes, size_t size, uint8_t *fixed)
{
	uint64_t header, payload, end;
	enum fuzz_level level;

	if (!find_extents(bytes, size, &header, &payload))
		return 0;
	/* The header ends where its fields do, wherever it says it does. */
	memcpy(fixed, bytes, size);
	ckpt_store_u64(fixed + header, size);
	ckpt_store_u64(fixed + payload, 0);
	fuzz_scan(s, fixed, size);
	level = fuzz_level(s, fixed, size);
	if (level == FUZZ_NOTHING)
		return 0;
	memcpy(fixed + header, bytes + header, 8);
	memcpy(fixed + payload, bytes + payload, 8);
	if (level >= FUZZ_EXTENTS && s->complete) {
		end = level == FUZZ_EVERYTHING ? repair_tensors(s, fixed)
					       : size;
		if (end > FUZZ_LARGEST)
			end = size;
		if (end > size)
			memset(fixed + size, 0, (size_t)(end - size));
		size = (size_t)end;
		ckpt_store_u64(fixed + header, s->end);
		ckpt_store_u64(fixed + payload, size - s->end);
	}
	repair_checksum(s, fixed, size);
	return size;
}
