/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORENSICS_SEARCH_H
#define CKPT_FORENSICS_SEARCH_H

/*
 * Finds the changed bytes that explain why an FNV-1a 64 checksum over a whole
 * file does not hold. Knows no format: it is told where in the file the eight
 * bytes of the checksum are, which count as zero themselves.
 */

#include <ckpt.h>

struct ckpt_damage_search {
	struct ckpt_source *source; /* with read_at; borrowed */
	uint64_t length;            /* of the file */
	uint64_t field;             /* where the checksum is */
	/* Asked now and then; false gives CKPT_STOP. May be NULL. */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* Fills all of location but the verdicts: the checksums, and if they differ
 * the explanations by kind, then by offset. Memory is bounded whatever the
 * length; all bytes are read twice.
 * CKPT_REJECTED if the file ends before its checksum; CKPT_EIO with errno, also
 * if it became shorter; CKPT_ENOMEM; CKPT_STOP. */
CKPT_MUST_USE enum ckpt_status ckpt_search_damage(
	const struct ckpt_damage_search *search,
	struct ckpt_location *location);

/* A burst of which one byte is the checksum's takes hundreds of passes, so it
 * is searched for only where nothing else was found, in files up to this. */
enum { CKPT_SEARCH_EDGES_MOST = 64 * 1024 };

/* A checksum that is damaged in at most so many bits counts as damaged itself,
 * wherever in it they are. */
enum { CKPT_SEARCH_BITS = 3 };

/* Of n bytes of a file from off, makes those zero that are the checksum at
 * field: so they count in the hash. */
void ckpt_checksum_blank(
	uint64_t field, uint8_t *bytes, uint64_t off, size_t n);

/* How many bits of x are set. */
unsigned ckpt_bits_count(uint64_t x);

#endif
