/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_SAVE_H
#define CKPT_SINK_SAVE_H

/*
 * States out: to a file, atomically, and to memory. Both are a writer that a
 * format's encoder writes to; neither knows a format.
 */

#include "base/buf.h"
#include "format/format.h"
#include "io/fileops.h"

/* One save: what is wanted, and afterwards what came of it. All zero but path
 * is a good start. */
struct ckpt_save {
	const char *path;                /* the destination */
	const struct ckpt_file_ops *ops; /* NULL: the system's */
	/* Asked now and then with the bytes written so far and their number
	 * in all; false gives up (CKPT_STOP). May be NULL. */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;

	uint64_t size;           /* bytes of the file */
	struct ckpt_value label; /* what the format calls it by, or NONE */
	struct ckpt_save_fault fault;
};

/* Every status of ckpt_checkpoint_save(), and CKPT_STOP. */
CKPT_MUST_USE enum ckpt_status ckpt_save(struct ckpt_save *save,
	const struct ckpt_format *format, const struct ckpt_state *state);

/* Appends the encoded state to an empty buf. CKPT_ENOMEM; label may be
 * NULL. */
CKPT_MUST_USE enum ckpt_status ckpt_encode(struct ckpt_buf *buf,
	const struct ckpt_format *format, const struct ckpt_state *state,
	struct ckpt_value *label);

/* ckpt_checkpoint_save() with a save of one's own. */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_save_by(
	const struct ckpt_checkpoint *checkpoint, struct ckpt_save *save);

#endif
