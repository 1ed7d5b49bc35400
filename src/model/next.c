/* SPDX-License-Identifier: MIT */
/*
 * The next update in words: everything that a checkpoint says of it, from its
 * own numbers.
 */
#include "model/next.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DOCUMENTS_SHOWN = 8, DIGITS_MOST = 17 };

void
ckpt_next_real(struct ckpt_buf *buf, double x)
{
	char text[40];

	for (int digits = 1; digits <= DIGITS_MOST; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			break;
	}
	ckpt_buf_puts(buf, text);
}

static void
write_documents(struct ckpt_buf *buf, const struct ckpt_training *t,
	const char *(*name)(void *ctx, uint64_t document), void *ctx)
{
	uint64_t shown = t->microbatches < DOCUMENTS_SHOWN ? t->microbatches
							   : DOCUMENTS_SHOWN;

	ckpt_buf_puts(buf, t->microbatches == 1 ? "document " : "documents ");
	if (!t->order) {
		ckpt_buf_printf(buf, "from place %" PRIu64 " of the order on",
			t->cursor);
		return;
	}
	for (uint64_t i = 0; i < shown; i++) {
		/* Wraps no more than once at a time. */
		uint64_t left = t->documents - t->cursor;
		uint64_t at =
			i < left ? t->cursor + i : (i - left) % t->documents;
		uint64_t document = t->order[at];
		const char *named = name ? name(ctx, document) : NULL;

		ckpt_buf_puts(buf, i ? ", " : "");
		if (named)
			ckpt_buf_printf(
				buf, "%s (%" PRIu64 ")", named, document);
		else
			ckpt_buf_printf(buf, "%" PRIu64, document);
	}
	if (shown < t->microbatches)
		ckpt_buf_printf(
			buf, ", %" PRIu64 " more", t->microbatches - shown);
}

void
ckpt_next_write(struct ckpt_buf *buf, const struct ckpt_training *t,
	uint64_t step, const char *(*name)(void *ctx, uint64_t document),
	void *ctx)
{
	struct ckpt_scaler after = t->scaler;

	if (step >= t->schedule.updates) {
		ckpt_buf_printf(buf, "no next update: all %" PRIu64 " are made",
			t->schedule.updates);
		return;
	}
	ckpt_scaler_succeed(&after);
	ckpt_buf_printf(buf, "next update %" PRIu64 ": ", step + 1);
	write_documents(buf, t, name, ctx);
	ckpt_buf_puts(buf, "; rate ");
	ckpt_next_real(buf, ckpt_schedule_rate(&t->schedule, step + 1));
	ckpt_buf_puts(buf, "; scale ");
	ckpt_next_real(buf, t->scaler.scale);
	ckpt_buf_printf(buf, ", %" PRIu64 " of %" PRIu64 " finite, ",
		t->scaler.progress, t->scaler.interval);
	ckpt_next_real(buf, after.scale);
	ckpt_buf_puts(buf, " after success");
}
