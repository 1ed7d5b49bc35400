/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_EVIDENCE_H
#define CKPT_REPLAY_EVIDENCE_H

/*
 * What one file proves, as lines of facts and claims. Every claim is tried
 * while the report is made; one that cannot be tried on this file says
 * not-applicable and counts neither way.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "replay/trainer.h"

enum ckpt_evidence_kind {
	CKPT_EVIDENCE_NUMBER,
	CKPT_EVIDENCE_CLAIM, /* tried: number is 1 or 0 */
	CKPT_EVIDENCE_NEVER, /* false, because no file of the format can */
	CKPT_EVIDENCE_BITS,  /* shown as 0x%016x */
	CKPT_EVIDENCE_HASH,  /* shown as fnv1a64:%016x */
	CKPT_EVIDENCE_TEXT,  /* what came from the file is escaped */
};

struct ckpt_evidence_item {
	const char *key; /* static or in the arena; NULL: the line is text */
	enum ckpt_evidence_kind kind;
	uint64_t number;
	const char *text;
};

/* The lines, in the order in which they are shown. */
enum ckpt_evidence_line {
	CKPT_EVIDENCE_SCHEMA,
	CKPT_EVIDENCE_TOKENIZER,
	CKPT_EVIDENCE_LAYOUT,
	CKPT_EVIDENCE_HEX,
	CKPT_EVIDENCE_STATE,
	CKPT_EVIDENCE_ROUNDTRIP,
	CKPT_EVIDENCE_COMPONENT_REPLAY,
	CKPT_EVIDENCE_SCOPE,
	CKPT_EVIDENCE_REJECT,
	CKPT_EVIDENCE_ATOMIC,
	CKPT_EVIDENCE_CONTRAST,
};

enum { CKPT_EVIDENCE_LINES = CKPT_EVIDENCE_CONTRAST + 1 };

struct ckpt_evidence {
	/* Given. The bytes are those of the whole file; they are changed
	 * while it runs, and are what they were when it returns. */
	uint8_t *bytes;
	size_t n;
	const struct ckpt_batch *batch;
	double rate;
	uint64_t max_memory;
	/* Found. */
	struct {
		struct ckpt_evidence_item *items;
		size_t n;
	} lines[CKPT_EVIDENCE_LINES];
	size_t failed; /* claims that are false */
	/* The file, so that a refusal can say what is wrong with it. NULL
	 * once its values have become a trainer's. */
	struct ckpt_checkpoint *checkpoint;
	struct ckpt_refusal refusal;
	struct ckpt_arena arena;
	bool lost; /* an item: memory was used up */
};

/* CKPT_OK: the report is complete, whatever it says. CKPT_REJECTED and
 * CKPT_EUNSUPPORTED: checkpoint says what is wrong with the file, or, when
 * refusal has a kind, that what was asked for is impossible for it. CKPT_EIO:
 * errno. Release it in any case. */
CKPT_MUST_USE enum ckpt_status ckpt_evidence_run(
	struct ckpt_evidence *evidence);
void ckpt_evidence_release(struct ckpt_evidence *evidence);

const char *ckpt_evidence_line_name(enum ckpt_evidence_line line);

/* "KEY:VALUE", or the text alone. */
void ckpt_evidence_item_write(
	struct ckpt_buf *buf, const struct ckpt_evidence_item *item);

#endif
