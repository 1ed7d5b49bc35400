/* SPDX-License-Identifier: MIT */
/*
 * Evidence: the order of the work, and the items of the report. The file is
 * in memory as a whole, because its bytes are compared, damaged and loaded
 * again and again. What the file holds stands in evidence_words.c, damage and
 * saving in evidence_trials.c, arithmetic in evidence_replay.c.
 */
#include "replay/evidence.h"

#include <inttypes.h>

#include "base/try.h"
#include "replay/evidence_parts.h"
#include "sink/spans.h"

/* ---- items -------------------------------------------------------------- */

void
ckpt_evidence_add(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	struct ckpt_evidence_item item)
{
	struct ckpt_evidence_item *items = ckpt_arena_push(&e->arena,
		e->lines[line].items, e->lines[line].n, sizeof *items);

	if (!items || (item.kind == CKPT_EVIDENCE_TEXT && !item.text)) {
		e->lost = true;
		return;
	}
	e->lines[line].items = items;
	items[e->lines[line].n++] = item;
}

void
ckpt_evidence_number(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, uint64_t number)
{
	ckpt_evidence_add(e, line,
		(struct ckpt_evidence_item){
			key, CKPT_EVIDENCE_NUMBER, number, NULL });
}

void
ckpt_evidence_hash(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, uint64_t hash)
{
	ckpt_evidence_add(e, line,
		(struct ckpt_evidence_item){
			key, CKPT_EVIDENCE_HASH, hash, NULL });
}

void
ckpt_evidence_bits(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, uint64_t bits)
{
	ckpt_evidence_add(e, line,
		(struct ckpt_evidence_item){
			key, CKPT_EVIDENCE_BITS, bits, NULL });
}

void
ckpt_evidence_text(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, const char *text)
{
	ckpt_evidence_add(e, line,
		(struct ckpt_evidence_item){
			key, CKPT_EVIDENCE_TEXT, 0, text });
}

void
ckpt_evidence_claim(struct ckpt_evidence *e, enum ckpt_evidence_line line,
	const char *key, bool holds)
{
	if (!holds)
		e->failed++;
	ckpt_evidence_add(e, line,
		(struct ckpt_evidence_item){
			key, CKPT_EVIDENCE_CLAIM, holds, NULL });
}

void
ckpt_evidence_not_applicable(
	struct ckpt_evidence *e, enum ckpt_evidence_line line, const char *key)
{
	ckpt_evidence_text(e, line, key, "not-applicable");
}

const char *
ckpt_evidence_line_name(enum ckpt_evidence_line line)
{
	switch (line) {
	case CKPT_EVIDENCE_SCHEMA: return "schema";
	case CKPT_EVIDENCE_TOKENIZER: return "tokenizer";
	case CKPT_EVIDENCE_LAYOUT: return "layout";
	case CKPT_EVIDENCE_HEX: return "hex";
	case CKPT_EVIDENCE_STATE: return "state";
	case CKPT_EVIDENCE_ROUNDTRIP: return "roundtrip";
	case CKPT_EVIDENCE_COMPONENT_REPLAY: return "component_replay";
	case CKPT_EVIDENCE_SCOPE: return "scope";
	case CKPT_EVIDENCE_REJECT: return "reject";
	case CKPT_EVIDENCE_ATOMIC: return "atomic";
	case CKPT_EVIDENCE_CONTRAST: return "contrast";
	}
	return "";
}

void
ckpt_evidence_item_write(
	struct ckpt_buf *buf, const struct ckpt_evidence_item *item)
{
	if (item->key)
		ckpt_buf_printf(buf, "%s:", item->key);
	switch (item->kind) {
	case CKPT_EVIDENCE_NUMBER:
		ckpt_buf_printf(buf, "%" PRIu64, item->number);
		break;
	case CKPT_EVIDENCE_CLAIM:
		ckpt_buf_puts(buf, item->number ? "true" : "false");
		break;
	case CKPT_EVIDENCE_NEVER: ckpt_buf_puts(buf, "false"); break;
	case CKPT_EVIDENCE_BITS:
		ckpt_buf_printf(buf, "0x%016" PRIx64, item->number);
		break;
	case CKPT_EVIDENCE_HASH:
		ckpt_buf_printf(buf, "fnv1a64:%016" PRIx64, item->number);
		break;
	case CKPT_EVIDENCE_TEXT: ckpt_buf_puts(buf, item->text); break;
	}
}

/* ---- the work ----------------------------------------------------------- */

enum ckpt_status
ckpt_evidence_load(const void *bytes, size_t n, uint64_t max_memory,
	struct ckpt_checkpoint **c)
{
	struct ckpt_options options = { .max_memory = max_memory };
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	enum ckpt_status status = CKPT_ENOMEM;

	*c = NULL;
	if (source)
		status = ckpt_checkpoint_read(source, &options, c);
	ckpt_source_close(source);
	return status;
}

/* The file with its records; e->checkpoint is set with any status but
 * CKPT_ENOMEM. */
static enum ckpt_status
load_file(struct ckpt_evidence *e, struct ckpt_spans *spans)
{
	struct ckpt_options options = { .max_memory = e->max_memory };
	struct ckpt_source *source = ckpt_source_memory(e->bytes, e->n);
	enum ckpt_status status = CKPT_ENOMEM;

	e->checkpoint = ckpt_checkpoint_new(&options);
	if (source && e->checkpoint) {
		ckpt_run_listen(e->checkpoint->run, &spans->sink);
		status = ckpt_checkpoint_load(e->checkpoint, source);
	}
	ckpt_source_close(source);
	return status;
}

/* Damage and saving need the state as it was stored, so they come before the
 * update. */
static enum ckpt_status
examine(struct ckpt_evidence *e, struct ckpt_trainer *t,
	const struct ckpt_spans *spans)
{
	struct ckpt_run *run = t->from->run;

	if (!run->format->evidence)
		return CKPT_EUNSUPPORTED;
	if (!ckpt_trainer_accepts(t, e->batch, e->rate, &e->refusal))
		return CKPT_REJECTED;
	ckpt_evidence_describe(e, run, &t->state, spans);
	CKPT_TRY(ckpt_evidence_reject(e, run, &t->state));
	CKPT_TRY(ckpt_evidence_atomic(e, run->format, &t->state));
	return ckpt_evidence_replay(e, t);
}

enum ckpt_status
ckpt_evidence_run(struct ckpt_evidence *e)
{
	struct ckpt_trainer *t = NULL;
	struct ckpt_spans spans;
	enum ckpt_status status;

	ckpt_arena_init(&e->arena, UINT64_MAX);
	ckpt_spans_init(&spans, e->max_memory, false);
	status = load_file(e, &spans);
	if (status == CKPT_OK) {
		t = ckpt_trainer_take(e->checkpoint);
		e->checkpoint = NULL;
		status = t ? examine(e, t, &spans) : CKPT_ENOMEM;
	}
	ckpt_trainer_free(t);
	ckpt_spans_release(&spans);
	return status == CKPT_OK && e->lost ? CKPT_ENOMEM : status;
}

void
ckpt_evidence_release(struct ckpt_evidence *e)
{
	ckpt_checkpoint_free(e->checkpoint);
	ckpt_buf_release(&e->refusal.text);
	ckpt_arena_release(&e->arena);
}
