/* SPDX-License-Identifier: MIT */
/*
 * Writers for encoders. The one to a file collects small pieces, since a
 * vocabulary is written token by token, and hands them to ckpt_publish, which
 * puts the file in place only when it is complete. Every way out of a save
 * leaves no temporary file behind, or says that it could not help it.
 */
#include "sink/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/publish.h"
#include "sink/state.h"

enum { COLLECTED = 64 * 1024 };

struct file_writer {
	struct ckpt_writer writer;
	struct ckpt_publish pub;
	const struct ckpt_save *save;
	uint64_t total;
	size_t n; /* bytes collected */
	uint8_t bytes[COLLECTED];
};

static enum ckpt_status
flush(struct file_writer *w)
{
	const struct ckpt_save *save = w->save;
	enum ckpt_status status = CKPT_OK;

	if (w->n)
		status = ckpt_publish_write(&w->pub, w->bytes, w->n);
	w->n = 0;
	if (status == CKPT_OK && save->progress &&
		!save->progress(save->progress_ctx, w->pub.size, w->total))
		status = CKPT_STOP;
	return status;
}

static enum ckpt_status
file_write(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	struct file_writer *w = (struct file_writer *)writer;
	const uint8_t *p = bytes;

	while (n > 0) {
		size_t k = COLLECTED - w->n < n ? COLLECTED - w->n : n;

		memcpy(w->bytes + w->n, p, k);
		w->n += k;
		p += k;
		n -= k;
		if (w->n == COLLECTED) {
			enum ckpt_status status = flush(w);

			if (status != CKPT_OK)
				return status;
		}
	}
	return CKPT_OK;
}

static enum ckpt_status
file_patch(
	struct ckpt_writer *writer, uint64_t off, const void *bytes, size_t n)
{
	struct file_writer *w = (struct file_writer *)writer;
	enum ckpt_status status = flush(w);

	return status == CKPT_OK ? ckpt_publish_patch(&w->pub, off, bytes, n)
				 : status;
}

static void
copy_fault(struct ckpt_save *save, const struct ckpt_publish *pub)
{
	save->fault.action = pub->fault.action;
	save->fault.reason = pub->fault.reason;
	save->fault.error = pub->fault.error;
	save->fault.leftover = pub->fault.leftover;
	if (pub->fault.temporary)
		snprintf(save->fault.temporary, sizeof save->fault.temporary,
			"%s", pub->fault.temporary);
}

/* The encoder failed: pub still waits for the rest, unless it failed first. */
static void
give_up(struct ckpt_save *save, struct ckpt_publish *pub,
	enum ckpt_status status)
{
	bool ours = pub->status == CKPT_OK;

	(void)ckpt_publish_abort(pub);
	copy_fault(save, pub);
	if (!ours)
		return;
	save->fault.action = "write the checkpoint";
	save->fault.reason = status == CKPT_STOP     ? "it was given up"
			     : status == CKPT_ENOMEM ? "out of memory"
						     : "it is too large";
}

enum ckpt_status
ckpt_save(struct ckpt_save *save, const struct ckpt_format *format,
	const struct ckpt_state *state)
{
	struct file_writer *w = calloc(1, sizeof *w);
	enum ckpt_status status;

	save->fault = (struct ckpt_save_fault){ 0 };
	save->size = 0;
	save->label = ckpt_v_none();
	if (!format->encode) {
		free(w);
		save->fault.action = "begin";
		save->fault.reason = "this format cannot be written";
		return CKPT_EUNSUPPORTED;
	}
	if (!w) {
		save->fault.action = "begin";
		save->fault.reason = "out of memory";
		return CKPT_ENOMEM;
	}
	w->writer.write = file_write;
	w->writer.patch = file_patch;
	w->save = save;
	if (!format->measure || format->measure(state, &w->total) != CKPT_OK)
		w->total = 0; /* only progress wants to know */
	status = ckpt_publish_begin(&w->pub,
		save->ops ? save->ops : &ckpt_file_ops_posix, save->path);
	if (status == CKPT_OK)
		status = format->encode(state, &w->writer);
	if (status == CKPT_OK)
		status = flush(w);
	if (status != CKPT_OK) {
		give_up(save, &w->pub, status);
	} else {
		status = ckpt_publish_commit(&w->pub);
		copy_fault(save, &w->pub);
		save->size = w->pub.size;
		save->label = w->writer.label;
	}
	free(w);
	return status;
}

/* ---- Memory ------------------------------------------------------------- */

struct memory_writer {
	struct ckpt_writer writer;
	struct ckpt_buf *buf;
};

static enum ckpt_status
memory_write(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	struct memory_writer *w = (struct memory_writer *)writer;

	ckpt_buf_add(w->buf, bytes, n);
	return w->buf->failed ? CKPT_ENOMEM : CKPT_OK;
}

static enum ckpt_status
memory_patch(
	struct ckpt_writer *writer, uint64_t off, const void *bytes, size_t n)
{
	struct memory_writer *w = (struct memory_writer *)writer;

	memcpy(w->buf->p + off, bytes, n);
	return CKPT_OK;
}

enum ckpt_status
ckpt_encode(struct ckpt_buf *buf, const struct ckpt_format *format,
	const struct ckpt_state *state, struct ckpt_value *label)
{
	struct memory_writer w = {
		.writer = { .write = memory_write, .patch = memory_patch },
		.buf = buf,
	};
	enum ckpt_status status = format->encode
					  ? format->encode(state, &w.writer)
					  : CKPT_EUNSUPPORTED;

	if (label)
		*label = w.writer.label;
	return status;
}

/* ---- Checkpoints -------------------------------------------------------- */

enum ckpt_status
ckpt_checkpoint_encode(
	const struct ckpt_checkpoint *c, uint8_t **bytes, size_t *n)
{
	enum ckpt_status status = CKPT_REJECTED;
	struct ckpt_buf buf;

	*bytes = NULL;
	*n = 0;
	ckpt_buf_init(&buf);
	if (c->loaded)
		status = ckpt_encode(&buf, c->run->format, &c->state, NULL);
	if (status != CKPT_OK) {
		ckpt_buf_release(&buf);
		return status;
	}
	*bytes = (uint8_t *)buf.p;
	*n = buf.n;
	return CKPT_OK;
}

enum ckpt_status
ckpt_checkpoint_save_by(const struct ckpt_checkpoint *c, struct ckpt_save *save)
{
	if (c->loaded)
		return ckpt_save(save, c->run->format, &c->state);
	save->fault = (struct ckpt_save_fault){ .action = "begin",
		.reason = "there is no valid checkpoint" };
	return CKPT_REJECTED;
}

enum ckpt_status
ckpt_checkpoint_save(const struct ckpt_checkpoint *c, const char *path,
	struct ckpt_save_fault *fault)
{
	struct ckpt_save save = { .path = path };
	enum ckpt_status status = ckpt_checkpoint_save_by(c, &save);

	if (fault)
		*fault = save.fault;
	return status;
}
