/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_EVIDENCE_PARTS_H
#define CKPT_REPLAY_EVIDENCE_PARTS_H

/* What the files of evidence share; for nobody else. */

#include "format/format.h"
#include "replay/evidence.h"

void ckpt_evidence_add(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	struct ckpt_evidence_item item);
void ckpt_evidence_number(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, uint64_t number);
void ckpt_evidence_hash(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, uint64_t hash);
void ckpt_evidence_bits(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, uint64_t bits);
/* text is static, or in the arena; NULL: memory was used up. */
void ckpt_evidence_text(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, const char *text);
void ckpt_evidence_claim(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, bool holds);
void ckpt_evidence_not_applicable(
	struct ckpt_evidence *e, enum ckpt_evidence_line line, const char *key);

/* Loads n bytes; *c is set as by ckpt_checkpoint_read(). */
CKPT_MUST_USE enum ckpt_status ckpt_evidence_load(const void *bytes, size_t n,
	uint64_t max_memory, struct ckpt_checkpoint **c);

/* The lines that are made by damage and by saving. state is the file's. */
CKPT_MUST_USE enum ckpt_status ckpt_evidence_reject(struct ckpt_evidence *e,
	const struct ckpt_run *run, const struct ckpt_state *state);
CKPT_MUST_USE enum ckpt_status ckpt_evidence_atomic(struct ckpt_evidence *e,
	const struct ckpt_format *format, const struct ckpt_state *state);

/* The lines that say what the file holds; while it is loaded. */
struct ckpt_spans;
void ckpt_evidence_describe(struct ckpt_evidence *e, struct ckpt_run *run,
	const struct ckpt_state *state, const struct ckpt_spans *spans);

/* The lines that are made by decoding, encoding and computing. */
CKPT_MUST_USE enum ckpt_status ckpt_evidence_replay(
	struct ckpt_evidence *e, struct ckpt_trainer *trainer);

#endif
