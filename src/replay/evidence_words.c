/* SPDX-License-Identifier: MIT */
/*
 * Evidence: what the file holds and what it does not. Facts come from the run,
 * its records and its state; the words that are the format's own come from its
 * row and from the fields that the row names.
 */
#include <ctype.h>
#include <string.h>

#include "replay/evidence_parts.h"
#include "sink/spans.h"
#include "wire/value.h"

enum { HEX = 16 };

/* A buffer's text into the arena; gives the buffer up. */
static const char *
keep(struct ckpt_evidence *e, struct ckpt_buf *buf)
{
	char *text = buf->failed ? NULL
				 : ckpt_arena_strndup(&e->arena,
					   buf->p ? buf->p : "", buf->n);

	ckpt_buf_release(buf);
	return text;
}

/* ---- fields ------------------------------------------------------------- */

/* The field at path as a number or, if its values have names, the name. */
static void
field(struct ckpt_evidence *e, enum ckpt_evidence_line line, const char *key,
	const struct ckpt_run *run, const char *path)
{
	struct ckpt_place place;
	const char *name = NULL;
	uint64_t value;

	if (!ckpt_path_find(run->format->root, run->decoded, 0, path, &place))
		return;
	value = ckpt_slot_load(place.value, 0, place.field->type);
	if (place.field->want && place.field->want->kind == CKPT_WANT_TAGS)
		name = ckpt_tag_name(place.field->want, value);
	if (name)
		ckpt_evidence_text(e, line, key, name);
	else
		ckpt_evidence_number(e, line, key, value);
}

static void
say_schema(struct ckpt_evidence *e, const struct ckpt_run *run)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_SCHEMA;
	const struct ckpt_evidence_words *words = run->format->evidence;

	field(e, line, "version", run, words->version);
	ckpt_evidence_text(e, line, "magic", words->magic);
	ckpt_evidence_text(e, line, "endian", words->endian);
	ckpt_evidence_number(e, line, "header_bytes", run->header_end);
	ckpt_evidence_number(e, line, "payload_bytes", e->n - run->header_end);
	ckpt_evidence_number(e, line, "file_bytes", e->n);
	for (size_t i = 0; i < run->nfacts; i++)
		if (run->facts[i].value.kind == CKPT_V_HASH)
			ckpt_evidence_hash(e, line, run->facts[i].name,
				run->facts[i].value.u64);
}

/* Literal pieces are counted, and so are merges; a vocabulary of merges has
 * no pieces of its own. */
static void
say_tokenizer(struct ckpt_evidence *e, const struct ckpt_run *run,
	const struct ckpt_state *s)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_TOKENIZER;
	const struct ckpt_evidence_words *words = run->format->evidence;

	field(e, line, "kind", run, words->tokenizer_kind);
	field(e, line, "layout_version", run, words->tokenizer_layout);
	ckpt_evidence_number(e, line, "vocabulary", s->tokenizer.vocabulary);
	if (s->tokenizer.kind == CKPT_LITERAL)
		ckpt_evidence_number(e, line, "pieces", s->tokenizer.npieces);
	else
		ckpt_evidence_number(
			e, line, "merges", s->tokenizer.pieces[0].dims[0]);
	ckpt_evidence_number(
		e, line, "decoder_vocabulary", s->config.vocabulary);
}

/* ---- records ------------------------------------------------------------ */

/* "NAME:ROLE/DTYPE[5, 4]@2874..3034". */
static const char *
record(struct ckpt_evidence *e, const struct ckpt_span *span)
{
	struct ckpt_buf buf = { 0 };

	ckpt_buf_escape(&buf, span->name, span->name_len, 0);
	ckpt_buf_printf(&buf, ":%s/%s[", span->role, span->dtype);
	for (uint32_t i = 0; i < span->rank; i++)
		ckpt_buf_printf(&buf, "%s%llu", i ? ", " : "",
			(unsigned long long)span->dims[i]);
	ckpt_buf_printf(&buf, "]@%llu..%llu", (unsigned long long)span->off,
		(unsigned long long)(span->off + span->len));
	return keep(e, &buf);
}

/* Of a valid file, so offsets and lengths are inside of it. */
static void
say_layout(struct ckpt_evidence *e, const struct ckpt_run *run,
	const struct ckpt_spans *spans)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_LAYOUT;
	const struct ckpt_span *parameter = NULL;
	uint64_t end = run->header_end, padding = 0;

	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];

		if (!parameter && span->class_ == CKPT_TENSOR_PARAMETER)
			parameter = span;
		if (span->off > end)
			padding += span->off - end;
		end = span->off + span->len;
	}
	ckpt_evidence_number(e, line, "records", spans->ntensors);
	if (spans->ntensors > 0)
		ckpt_evidence_text(
			e, line, "first", record(e, &spans->tensors[0]));
	if (parameter)
		ckpt_evidence_text(
			e, line, "first_parameter", record(e, parameter));
	ckpt_evidence_number(e, line, "final_end", end);
	ckpt_evidence_number(e, line, "alignment_padding", padding);
}

static void
say_hex(struct ckpt_evidence *e)
{
	struct ckpt_buf buf = { 0 };

	for (size_t i = 0; i < HEX && i < e->n; i++)
		ckpt_buf_printf(&buf, "%s%02x", i ? " " : "", e->bytes[i]);
	ckpt_evidence_text(e, CKPT_EVIDENCE_HEX, NULL, keep(e, &buf));
}

/* ---- state -------------------------------------------------------------- */

static uint64_t
parameter_bytes(const struct ckpt_state *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nparameters; i++)
		n += s->parameters[i].len;
	return n;
}

static void
say_state(struct ckpt_evidence *e, const struct ckpt_run *run,
	const struct ckpt_state *s)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_STATE;

	ckpt_evidence_number(e, line, "selected_step", s->selected_step);
	ckpt_evidence_number(e, line, "optimizer_step", s->optimizer_step);
	ckpt_evidence_number(e, line, "parameter_tensors", s->nparameters);
	ckpt_evidence_number(
		e, line, "parameter_scalars", parameter_bytes(s) / 8);
	field(e, line, "sampling_rng", run,
		run->format->evidence->sampling_rng);
	ckpt_evidence_bits(
		e, line, "sampling_rng_state", s->sampling_rng_state);
}

/* Parameters alone beside what a checkpoint needs. */
static void
say_contrast(struct ckpt_evidence *e, const struct ckpt_state *s,
	const struct ckpt_spans *spans)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_CONTRAST;
	uint64_t tokenizer = 0, moments = 0, bytes = parameter_bytes(s);

	for (uint64_t i = 0; i < spans->ntensors; i++) {
		tokenizer += spans->tensors[i].class_ == CKPT_TENSOR_TOKENIZER;
		moments += spans->tensors[i].class_ == CKPT_TENSOR_MOMENT;
	}
	ckpt_evidence_number(
		e, line, "isolated_parameter_tensors", s->nparameters);
	ckpt_evidence_number(e, line, "isolated_parameter_scalars", bytes / 8);
	ckpt_evidence_number(e, line, "isolated_parameter_bytes", bytes);
	ckpt_evidence_number(e, line, "checkpoint_records", spans->ntensors);
	ckpt_evidence_number(e, line, "tokenizer_records", tokenizer);
	ckpt_evidence_number(e, line, "optimizer_moment_records", moments);
	ckpt_evidence_number(e, line, "checkpoint_file_bytes", e->n);
	ckpt_evidence_bits(
		e, line, "sampling_rng_state", s->sampling_rng_state);
}

/* ---- scope -------------------------------------------------------------- */

/* "sampling RNG" as "sampling_rng". */
static const char *
key_of(struct ckpt_evidence *e, const char *prefix, const char *words)
{
	char *key = ckpt_arena_printf(&e->arena, "%s%s", prefix, words);

	for (char *p = key; p && *p; p++)
		*p = *p == ' ' ? '_' : (char)tolower((unsigned char)*p);
	return key;
}

static void
say_list(struct ckpt_evidence *e, const char *prefix, const char *const *list,
	const char *word)
{
	for (; *list; list++) {
		const char *key = key_of(e, prefix, *list);

		ckpt_evidence_text(
			e, CKPT_EVIDENCE_SCOPE, key, key ? word : NULL);
	}
}

static void
say_scope(struct ckpt_evidence *e, const struct ckpt_format *format)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_SCOPE;
	const struct ckpt_evidence_words *words = format->evidence;
	const struct ckpt_scope *scope = format->scope;

	say_list(e, "", scope->stored, "stored");
	ckpt_evidence_text(e, line, words->validated, "validated");
	say_list(e, "", scope->outside, "not_stored");
	ckpt_evidence_text(e, line, words->creation, "creation_required");
	say_list(e, "caller_", scope->supplied, "required");
	ckpt_evidence_text(e, line, words->after, "required");
	ckpt_evidence_add(e, line,
		(struct ckpt_evidence_item){
			"whole_job_resume", CKPT_EVIDENCE_NEVER, 0, NULL });
}

void
ckpt_evidence_describe(struct ckpt_evidence *e, struct ckpt_run *run,
	const struct ckpt_state *state, const struct ckpt_spans *spans)
{
	say_schema(e, run);
	say_tokenizer(e, run, state);
	say_layout(e, run, spans);
	say_hex(e);
	say_state(e, run, state);
	say_scope(e, run->format);
	say_contrast(e, state, spans);
}
