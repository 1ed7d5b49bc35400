/* SPDX-License-Identifier: MIT */
/*
 * Copies the file through the patch that was verified and hashes what it
 * writes: only a copy whose checksum holds is put in place, so a file that
 * changes between the search and the copy leaves nothing behind.
 */
#include "forensics/repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/try.h"
#include "forensics/search.h"
#include "format/format.h"
#include "io/source_patch.h"
#include "io/source_read.h"

enum { PIECE = 1 << 20, FIELD = 8 };

struct copy {
	const struct ckpt_options *options;
	struct ckpt_source *from;
	struct ckpt_publish to;
	uint8_t *piece; /* PIECE bytes, owned */
	uint64_t length, field, hash;
};

/* The hash of what is written, the checksum itself as zero. */
static void
hash_piece(struct copy *c, uint64_t off, size_t n)
{
	ckpt_checksum_blank(c->field, c->piece, off, n);
	c->hash = ckpt_fnv1a64(c->hash, c->piece, n);
}

static bool
going(const struct copy *c, uint64_t done)
{
	const struct ckpt_options *o = c->options;

	return !o || !o->progress ||
	       o->progress(o->progress_ctx, done, c->length);
}

/* What the file does is CKPT_EIO with errno, what the copy does is known to
 * be the publisher's. */
static enum ckpt_status
copy_bytes(struct copy *c)
{
	for (uint64_t off = 0; off < c->length;) {
		size_t n = c->length - off < PIECE ? (size_t)(c->length - off)
						   : (size_t)PIECE;

		CKPT_TRY(ckpt_source_read_all(c->from, off, c->piece, n));
		CKPT_TRY(ckpt_publish_write(&c->to, c->piece, n));
		hash_piece(c, off, n);
		off += n;
		if (!going(c, off))
			return CKPT_STOP;
	}
	return CKPT_OK;
}

/* CKPT_REJECTED if what was written is not what was verified. */
static enum ckpt_status
compare(struct copy *c)
{
	const char *what;
	uint8_t stored[FIELD];

	CKPT_TRY(ckpt_source_read_all(c->from, c->field, stored, FIELD));
	if (ckpt_load_u64(stored) != c->hash ||
		(c->from->unchanged &&
			c->from->unchanged(c->from, &what) != CKPT_OK))
		return CKPT_REJECTED;
	return CKPT_OK;
}

/* Nothing is wrong with the destination: the copy is given up. */
static void
give_up(struct ckpt_repair *r, struct copy *c)
{
	int error = errno;

	(void)ckpt_publish_abort(&c->to);
	switch (r->status) {
	case CKPT_STOP: r->doubt = "cancelled"; break;
	case CKPT_REJECTED: r->doubt = "the file changed meanwhile"; break;
	default:
		r->action = "read the file";
		r->error = error;
		break;
	}
}

static void
publish(struct ckpt_repair *r, struct copy *c, const char *path)
{
	r->status = ckpt_publish_begin(&c->to, &ckpt_file_ops_posix, path);
	if (r->status == CKPT_OK)
		r->status = copy_bytes(c);
	if (r->status == CKPT_OK)
		r->status = compare(c);
	if (r->status != CKPT_OK && c->to.status == CKPT_OK) {
		give_up(r, c);
		return;
	}
	if (r->status == CKPT_OK)
		r->status = ckpt_publish_commit(&c->to);
	if (r->status == CKPT_OK)
		return;
	r->action = c->to.fault.action;
	r->reason = c->to.fault.reason;
	r->error = c->to.fault.error;
}

void
ckpt_repair_publish(struct ckpt_repair *r, const struct ckpt_located *located,
	struct ckpt_source *damaged, const struct ckpt_options *options,
	const char *path)
{
	const struct ckpt_damage *d = &located->cases[0].damage;
	struct copy c = { .options = options,
		.hash = CKPT_FNV1A64_START,
		.length = located->length };

	memset(r, 0, sizeof *r);
	r->doubt = ckpt_located_doubt(located);
	if (r->doubt || !ckpt_format_checksum(located->format, &c.field)) {
		r->status = CKPT_REJECTED;
		return;
	}
	c.piece = malloc(PIECE);
	c.from = ckpt_source_patched(damaged, d->off, d->original, d->len);
	if (c.piece && c.from) {
		publish(r, &c, path);
	} else {
		r->status = CKPT_ENOMEM;
		r->action = "copy the file";
		r->error = ENOMEM;
	}
	ckpt_source_close(c.from);
	free(c.piece);
}
