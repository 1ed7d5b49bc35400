/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the driver. One pass, front to back: fixed header, variable
 * header, descriptor table, payload, and the checksum at the end, because
 * only then are all bytes known. The order of the work is not the order of
 * the verdict: every finding carries its rank (format section 6.0).
 */
#include "format/llmcp35.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "wire/value.h"

enum { EXTRA_MOST = 1024 * 1024 }; /* read past the declared end of a pipe */

static bool
sniff(const uint8_t *head, size_t n)
{
	static const uint8_t magic[8] = LLMCP35_MAGIC;

	return n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* A1 and A2, from what can be peeked at. */
static bool
judge_prefix(struct llmcp35_judge *j, const uint8_t *head, size_t n)
{
	struct ckpt_diags *diags = &j->run->diags;

	if (n < LLMCP35_FIXED_BYTES) {
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_FIXED_HEADER_TRUNCATED,
				.path = "fixed_header",
				.placed = true,
				.off = 0,
				.len = n,
				.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
					"%d bytes of fixed header",
					LLMCP35_FIXED_BYTES)),
				.found = ckpt_v_text(ckpt_walk_text(
					&j->walk, "%zu bytes", n)),
				.note = n == 0 ? "the file is empty"
					       : j->run->foreign,
			});
		return false;
	}
	ckpt_diags_ran(diags, "A1");
	ckpt_diags_ran(diags, "A2");
	if (sniff(head, n))
		return true;
	ckpt_walk_report(
		&j->walk, &(struct ckpt_report){
				  .code = CKPT_D_MAGIC,
				  .path = "fixed_header.magic",
				  .placed = true,
				  .off = 0,
				  .len = 8,
				  .expected = ckpt_v_bytes(LLMCP35_MAGIC, 8),
				  .found = ckpt_v_bytes(head, 8),
				  .note = j->run->foreign,
			  });
	return false;
}

static void
facts(struct llmcp35_judge *j)
{
	const struct llmcp35_fixed_header *f = &j->file->fixed_header;
	const struct llmcp35_header *h = &j->file->header;
	struct ckpt_run *run = j->run;

	ckpt_run_fact(run, "header_bytes", ckpt_v_u64(f->header_bytes));
	ckpt_run_fact(run, "payload_bytes", ckpt_v_u64(f->payload_bytes));
	ckpt_run_fact(run, "records", ckpt_v_u64(j->file->records.n));
	ckpt_run_fact(run, "checksum", ckpt_v_hash(f->checksum));
	if (!j->header_ok)
		return;
	ckpt_run_fact(run, "selected_step", ckpt_v_u64(h->selected_step));
	ckpt_run_fact(run, "vocabulary", ckpt_v_u64(h->decoder.vocabulary));
	ckpt_run_fact(run, "width", ckpt_v_u64(h->decoder.width));
	ckpt_run_fact(run, "heads", ckpt_v_u64(h->decoder.heads));
	ckpt_run_fact(run, "feed_forward_width",
		ckpt_v_u64(h->decoder.feed_forward_width));
	ckpt_run_fact(run, "layers", ckpt_v_u64(h->decoder.layers));
	ckpt_run_fact(run, "positions", ckpt_v_u64(h->decoder.positions));
}

static const char *
tag_name(const struct ckpt_want *want, uint64_t value)
{
	const char *name = ckpt_tag_name(want, value);

	return name ? name : "unknown";
}

static enum ckpt_tensor_class
class_of(uint8_t role)
{
	switch (role) {
	case LLMCP35_LITERAL_TOKEN:
	case LLMCP35_BPE_PAIRS: return CKPT_TENSOR_TOKENIZER;
	case LLMCP35_PARAMETER: return CKPT_TENSOR_PARAMETER;
	case LLMCP35_FIRST_MOMENT:
	case LLMCP35_SECOND_MOMENT: return CKPT_TENSOR_MOMENT;
	}
	return CKPT_TENSOR_OTHER;
}

/* The records as spans. Their expectations are those of the judgement. */
static enum ckpt_status
tell_spans(struct llmcp35_judge *j)
{
	struct llmcp35_layout layout = {
		.running = j->file->fixed_header.header_bytes
	};

	layout.other = layout.running;
	for (uint64_t i = 0; i < j->file->records.n && j->run->sinks; i++) {
		const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];
		struct ckpt_span span = { .index = i,
			.class_ = class_of(r->role),
			.role = tag_name(&llmcp35_want_role, r->role),
			.name = r->name.p,
			.name_len = r->name.n,
			.label = r->role == LLMCP35_LITERAL_TOKEN
					 ? "literal-token-"
					 : "",
			.dtype = tag_name(&llmcp35_want_dtype, r->dtype),
			.width = llmcp35_width(r->dtype),
			.dims = LLMCP35_DIMS(r),
			.rank = r->dims.n,
			.off = r->offset,
			.len = r->byte_length,
			.expected = CKPT_ANYWHERE,
			.record_at = r->at,
			.record_len =
				ckpt_record_wire(&llmcp35_descriptor_rec, r) };
		struct ckpt_event event = { .kind = CKPT_EV_SPAN,
			.span = &span };
		uint64_t required;
		enum ckpt_status status;

		if (!span.width || !llmcp35_required(r, &required))
			required = r->byte_length;
		if (!layout.lost)
			llmcp35_layout_next(
				&layout, r, required, &span.expected);
		status = ckpt_run_event(j->run, &event);
		if (status != CKPT_OK)
			return status;
	}
	return CKPT_OK;
}

/* The variable header; CKPT_OK also when it could be read only in part. */
static enum ckpt_status
walk_header(struct llmcp35_judge *j)
{
	const struct ckpt_path root = { 0 };
	uint64_t end = j->file->fixed_header.header_bytes, at;
	enum ckpt_status status;

	j->walk.end = end;
	j->walk.truncated = CKPT_D_HEADER_TRUNCATED;
	j->layout.running = j->layout.other = end;
	/* The rest of the file's rows: header and records. */
	status = ckpt_walk_fields(
		&j->walk, &llmcp35_file_rec, j->file, &root, 1);
	at = ckpt_reader_offset(j->reader);
	if (status != CKPT_OK)
		return status;
	j->header_ok = true;
	ckpt_diags_ran(&j->run->diags, "B B7 B8 B9 B10");
	if (at < end)
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_UNPARSED_HEADER,
				.unit = at,
				.path = "fixed_header.header_bytes",
				.placed = true,
				.off = at,
				.len = end - at,
				.expected = ckpt_v_u64(at),
				.found = ckpt_v_u64(end),
				.note = ckpt_walk_text(&j->walk,
					"%llu header bytes behind the last "
					"descriptor",
					(unsigned long long)(end - at)),
			});
	return CKPT_OK;
}

/* The end of a file whose length was not known: A5, then A6. */
static enum ckpt_status
judge_end(struct llmcp35_judge *j)
{
	struct ckpt_reader *reader = j->reader;
	uint64_t at = ckpt_reader_offset(reader), end = j->file_len, hash;

	/* With a wrong extent there is no end to wait for. */
	if (at < end && j->extents_ok)
		ckpt_reader_drop(reader, end - at);
	hash = ckpt_reader_hash(reader);
	at = ckpt_reader_offset(reader);
	if (j->extents_ok && !reader->source->has_size) {
		uint64_t more = ckpt_reader_drop(reader, EXTRA_MOST);

		if (reader->status == CKPT_OK)
			llmcp35_judge_length(j, at + more, more == EXTRA_MOST);
	}
	if (reader->status != CKPT_OK)
		return reader->status;
	/* The source's size was right when it was opened. */
	if (j->extents_ok && at < end)
		llmcp35_judge_length(j, at, false);
	if (!j->extents_ok) {
		ckpt_diags_skipped(&j->run->diags, "A6",
			"the extents do not fit the file");
		return CKPT_OK;
	}
	ckpt_diags_ran(&j->run->diags, "A6");
	if (hash == j->file->fixed_header.checksum)
		return CKPT_OK;
	j->checksum_fault = true;
	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = CKPT_D_CHECKSUM,
			.path = "fixed_header.checksum",
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"fnv1a64:%016llx (stored)",
				(unsigned long long)
					j->file->fixed_header.checksum)),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				"fnv1a64:%016llx (computed over %llu bytes)",
				(unsigned long long)hash,
				(unsigned long long)at)),
		});
	return CKPT_OK;
}

/* What follows from a wrong extent: a header that seems cut or too long, a
 * table that ends elsewhere. */
static bool
follows_extent(enum ckpt_code code)
{
	return code == CKPT_D_HEADER_TRUNCATED ||
	       code == CKPT_D_UNPARSED_HEADER || code == CKPT_D_OFFSET ||
	       code == CKPT_D_PAYLOAD_END;
}

/* Damaged bytes can cause any finding about their meaning; the extents were
 * right, so of the fixed header only the checksum itself is in doubt. */
static void
name_causes(struct llmcp35_judge *j, enum ckpt_status status)
{
	struct ckpt_diags *diags = &j->run->diags;

	for (uint64_t i = 0; i < diags->n; i++) {
		struct ckpt_diag *d = &diags->list[i];

		if (d->rank.phase < 'B' || d->caused_by)
			continue;
		if (j->checksum_fault)
			d->caused_by = ckpt_rule_row(CKPT_D_CHECKSUM);
		else if (!j->extents_ok &&
			 follows_extent(ckpt_rule_code(d->rule)))
			d->caused_by = ckpt_rule_row(j->extent_fault);
	}
	if (j->checksum_fault)
		ckpt_diags_unverified(diags,
			"the checksum does not hold, so the bytes are "
			"unverified");
	else if (!j->extents_ok)
		ckpt_diags_unverified(diags,
			"the extents do not fit, so no checksum tells whether "
			"these are the bytes that were written");
	else if (status != CKPT_OK)
		ckpt_diags_unverified(diags,
			"reading ended before the checksum could be compared");
}

static enum ckpt_status
judge_rest(struct llmcp35_judge *j)
{
	const struct ckpt_source *source = j->reader->source;
	enum ckpt_status status = walk_header(j);

	if (source->has_size)
		ckpt_reader_ahead(j->reader, source->size);
	if (status == CKPT_REJECTED) {
		/* What follows cannot be understood, but the checksum still
		 * tells whether these are the bytes that were written. */
		status = tell_spans(j);
		return status == CKPT_OK ? judge_end(j) : status;
	}
	if (status == CKPT_OK)
		status = llmcp35_judge_table(j);
	if (status == CKPT_OK)
		status = tell_spans(j);
	if (status == CKPT_OK)
		status = llmcp35_judge_values(j);
	if (status == CKPT_OK)
		status = llmcp35_judge_state(j);
	if (status == CKPT_OK)
		status = judge_end(j);
	if (status == CKPT_OK)
		status = llmcp35_judge_warnings(j);
	return status;
}

static enum ckpt_status
judge_file(struct llmcp35_judge *j)
{
	const struct ckpt_path root = { 0 };
	const struct ckpt_path fixed = { &root, "fixed_header", false, 0 };
	struct ckpt_run *run = j->run;
	const uint8_t *head;
	size_t n = ckpt_reader_peek(j->reader, LLMCP35_FIXED_BYTES, &head);
	enum ckpt_status status = j->reader->status;

	if (status != CKPT_OK)
		return status;
	j->reader->zero_off = LLMCP35_CHECKSUM_AT;
	j->reader->zero_len = 8;
	j->reader->hashing = true;
	if (!judge_prefix(j, head, n))
		return CKPT_OK;
	run->format_version = ckpt_load_u16(head + 8);
	j->walk.end = LLMCP35_FIXED_BYTES;
	status = ckpt_walk_record(
		&j->walk, &llmcp35_fixed_rec, &j->file->fixed_header, &fixed);
	if (status == CKPT_REJECTED)
		return CKPT_OK;
	if (status != CKPT_OK)
		return status;
	run->header_end = j->file->fixed_header.header_bytes; /* as declared */
	/* Nobody will compare the hash of a file of the wrong length. */
	j->reader->hashing = j->extents_ok;
	status = judge_rest(j);
	name_causes(j, status);
	facts(j);
	return status;
}

static enum ckpt_status
parse(struct ckpt_run *run, struct ckpt_reader *reader)
{
	struct llmcp35_file *file =
		ckpt_arena_zalloc(&run->arena, sizeof *file);
	struct llmcp35_judge j = {
		.run = run,
		.reader = reader,
		.file = file,
		.walk = { .run = run,
			.reader = reader,
			.truncated = CKPT_D_FIXED_HEADER_TRUNCATED,
			.checks = llmcp35_checks,
			.nchecks = llmcp35_nchecks,
			.root = &llmcp35_file_rec,
			.root_base = file },
	};
	enum ckpt_status status;

	if (!file)
		return ckpt_run_memory(run);
	run->decoded = file;
	j.walk.ctx = &j;
	status = judge_file(&j);
	llmcp35_tokens_release(&j);
	ckpt_buf_release(&j.walk.scratch);
	return status;
}

static const char *const suffixes[] = { ".llmcp35", ".llmcp", ".ckpt", NULL };

static const char *const checks[] = { "A1", "A2", "A3", "A4", "A5", "A6", "B1",
	"B2", "B3", "B4", "B5", "B6", "B", "B7", "B8", "B9", "B10", "C1", "C2",
	"C3", "C4", "C5", "C6", "C7", "D1", "D2", "D3", "D4", "D5", "D6", "D7",
	"E1", "E2", "E3", "E4", "E5", "6.1", "6.6", "F1", "F2", "F3", "F4",
	"F5", "F6", "F7", "G1", "G2", "G3", "G4", "G5", "8", NULL };

static const char *const brief[] = { "records", "checksum", NULL };

static const struct ckpt_alias aliases[] = {
	{ "token", LLMCP35_LITERAL_TOKEN, CKPT_ALIAS_BY_INDEX },
	{ "bpe", LLMCP35_BPE_PAIRS, CKPT_ALIAS_ONLY },
	{ "param:", LLMCP35_PARAMETER, CKPT_ALIAS_BY_NAME },
	{ "first:", LLMCP35_FIRST_MOMENT, CKPT_ALIAS_BY_NAME },
	{ "second:", LLMCP35_SECOND_MOMENT, CKPT_ALIAS_BY_NAME },
};

static const char *const stored[] = { "tokenizer", "model", "optimizer",
	"selected step", "optimizer step", "optimizer base learning rate",
	"sampling RNG", NULL };
static const char *const supplied[] = { "next batch", "next learning rate",
	NULL };
static const char *const required[] = { "trainer capture at creation",
	"clean state after the update", NULL };
static const char *const outside[] = { "model lineage", "corpus identity",
	"split identity", "epoch materialization", "epoch cursor",
	"batch order", "batch cursor", "shuffle RNG", "training RNG",
	"learning rate schedule", "next learning rate", "clipping policy",
	"validation policy", "gradients", NULL };
static const struct ckpt_scope scope = { stored, supplied, required, outside };

static const struct ckpt_evidence_words evidence = {
	.magic = "LLMCP35",
	.endian = "little",
	.version = "fixed_header.version",
	.tokenizer_kind = "header.tokenizer_kind",
	.tokenizer_layout = "header.tokenizer_layout",
	.sampling_rng = "header.rng_algorithm",
	.validated = "step_equality",
	.creation = "trainer_capture",
	.after = "clean_post_update",
	.bad_version = "UnsupportedVersion",
	.bad_vocabulary = "VocabularyMismatch",
	.bad_step = "StepMismatch",
	.cut = "FileExtent",
	.bad_checksum = "ChecksumMismatch",
};

const struct ckpt_format ckpt_format_llmcp35 = {
	.name = "llmcp35",
	.title = "LLMCP35 checkpoint",
	.suffixes = suffixes,
	.checks = checks,
	.brief = brief,
	.values_decide = true,
	.sniff = sniff,
	.begins = "\"LLMCP35\" and a zero byte",
	.parse = parse,
	.root = &llmcp35_file_rec,
	.aliases = aliases,
	.naliases = sizeof aliases / sizeof aliases[0],
	.scope = &scope,
	.manual = &llmcp35_manual,
	.evidence = &evidence,
	.draft = &llmcp35_draft_rules,
	.bind = llmcp35_bind,
	.encode = llmcp35_encode,
	.measure = llmcp35_measure,
};
