/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the descriptor table as a whole (format section 6: C1, C6, C7, the
 * structural part of D, E and F). Runs once the header is decoded, before the
 * first payload byte, so that the payload can be judged as it streams by.
 */
#include "format/llmcp35.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"

static const char *
record_path(struct llmcp35_judge *j, uint64_t i, const char *field)
{
	return ckpt_walk_text(
		&j->walk, "records[%llu].%s", (unsigned long long)i, field);
}

const char *
llmcp35_shape_text(struct llmcp35_judge *j, const struct llmcp35_record *r)
{
	enum { SHOWN = 8 };
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_puts(&buf, "[");
	for (uint32_t i = 0; i < r->dims.n && i < SHOWN; i++)
		ckpt_buf_printf(&buf, "%s%llu", i ? ", " : "",
			(unsigned long long)LLMCP35_DIMS(r)[i]);
	ckpt_buf_puts(&buf, r->dims.n > SHOWN ? ", ...]" : "]");
	text = ckpt_walk_text(&j->walk, "%s", buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
	return text;
}

bool
llmcp35_same_shape(
	const struct llmcp35_record *a, const struct llmcp35_record *b)
{
	return a->dims.n == b->dims.n &&
	       (a->dims.n == 0 || memcmp(a->dims.p, b->dims.p,
					  a->dims.n * sizeof(uint64_t)) == 0);
}

/* The plain decimal form of a number. */
static bool
is_decimal(const struct ckpt_str *name, uint64_t id)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%llu", (unsigned long long)id);

	return name->n == (uint32_t)n && memcmp(name->p, text, (size_t)n) == 0;
}

/* ---- C1: no role and name twice ----------------------------------------- */

static int
by_role_and_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct llmcp35_record *records = ctx;
	const struct llmcp35_record *x = &records[a], *y = &records[b];

	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	return ckpt_bytes_compare(x->name.p, x->name.n, y->name.p, y->name.n);
}

/* Tokens named by their own place cannot repeat each other; a vocabulary
 * need not be sorted to know that. */
static uint32_t
leading_tokens(const struct llmcp35_file *file)
{
	const struct llmcp35_record *records = LLMCP35_RECORDS(file);
	uint32_t n = 0;

	while (n < file->records.n &&
		records[n].role == LLMCP35_LITERAL_TOKEN &&
		is_decimal(&records[n].name, n))
		n++;
	for (uint32_t i = n; i < file->records.n; i++)
		if (records[i].role == LLMCP35_LITERAL_TOKEN)
			return 0;
	return n;
}

static enum ckpt_status
judge_repeats(struct llmcp35_judge *j)
{
	uint32_t skip = leading_tokens(j->file);
	const struct llmcp35_record *records = LLMCP35_RECORDS(j->file);
	uint32_t n = j->file->records.n - skip;
	uint32_t *order;

	/* An empty table has no address to add to. */
	if (skip)
		records += skip;
	order = ckpt_sorted(&j->run->arena, n, by_role_and_name, records);
	if (!order)
		return ckpt_run_memory(j->run);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t at = order[i];

		if (by_role_and_name(records, order[i - 1], at) != 0)
			continue;
		LLMCP35_REPORT(j, .code = CKPT_D_RECORD_REPEATED,
			.unit = skip + (uint64_t)at,
			.path = record_path(j, skip + (uint64_t)at, "name"),
			.expected = ckpt_v_text("each role and name once"),
			.found = ckpt_v_bytes(
				records[at].name.p, records[at].name.n),
			.note = ckpt_walk_text(&j->walk,
				"the same as records[%llu]",
				(unsigned long long)skip + order[i - 1]));
	}
	ckpt_diags_ran(&j->run->diags, "C1");
	return CKPT_OK;
}

/* ---- C6, C7 ------------------------------------------------------------- */

static void
judge_end(struct llmcp35_judge *j)
{
	const struct llmcp35_layout *l = &j->layout;

	if (l->lost) {
		ckpt_diags_skipped(&j->run->diags, "C6",
			"a tensor's end does not fit 64 bits");
		return;
	}
	ckpt_diags_ran(&j->run->diags, "C6");
	if (l->running == j->file_len || l->other == j->file_len)
		return;
	LLMCP35_REPORT(j, .code = CKPT_D_PAYLOAD_END, .unit = CKPT_UNIT_LAST,
		.path = j->file->records.n
				? record_path(j, j->file->records.n - 1,
					  "byte_length")
				: "fixed_header.payload_bytes",
		.expected = ckpt_v_u64(j->file_len),
		.found = ckpt_v_u64(l->running),
		.note = ckpt_walk_text(&j->walk,
			"the tensors end at %llu, the file at %llu",
			(unsigned long long)l->running,
			(unsigned long long)j->file_len),
		.caused = l->length_fault, .cause = CKPT_D_BYTE_LENGTH);
}

static void
judge_counts(struct llmcp35_judge *j)
{
	const struct llmcp35_header *h = &j->file->header;
	const struct llmcp35_counts *c = &h->counts;
	uint64_t tokenizer = h->tokenizer_kind == LLMCP35_KIND_LITERAL
				     ? h->tokenizer_vocabulary
				     : 1;
	uint64_t moments = 2 * (uint64_t)c->optimizer;
	uint64_t total;

	if (h->tokenizer_kind != LLMCP35_KIND_LITERAL &&
		h->tokenizer_kind != LLMCP35_KIND_BPE) {
		ckpt_diags_skipped(
			&j->run->diags, "C7", "the tokenizer kind is unknown");
		return;
	}
	ckpt_diags_ran(&j->run->diags, "C7");
	if (!ckpt_add_u64(tokenizer, c->parameters, &total) ||
		!ckpt_add_u64(total, moments, &total)) {
		LLMCP35_REPORT(j, .code = CKPT_D_RECORD_COUNT_OVERFLOW,
			.unit = CKPT_UNIT_LAST,
			.path = "header.tokenizer_vocabulary",
			.expected = ckpt_v_text("counts that add up below "
						"2^64"),
			.found = ckpt_v_u64(tokenizer));
		return;
	}
	if (total == j->file->records.n) {
		j->table_ok = true;
		j->ntokenizer = tokenizer;
		return;
	}
	LLMCP35_REPORT(j, .code = CKPT_D_RECORD_COUNT, .unit = CKPT_UNIT_LAST,
		.path = "header.counts.descriptors",
		.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
			"%llu (%llu tokenizer + %u parameters + 2 x %u "
			"moments)",
			(unsigned long long)total,
			(unsigned long long)tokenizer, c->parameters,
			c->optimizer)),
		.found = ckpt_v_u64(j->file->records.n));
}

enum llmcp35_segment
llmcp35_segment_of(const struct llmcp35_judge *j, uint64_t i, uint64_t *k)
{
	uint64_t parameters = j->file->header.counts.parameters;

	*k = i;
	if (!j->table_ok)
		return LLMCP35_SEG_NONE;
	if (i < j->ntokenizer)
		return LLMCP35_SEG_TOKENIZER;
	*k = i - j->ntokenizer;
	if (*k < parameters)
		return LLMCP35_SEG_PARAMETER;
	*k = (*k - parameters) / 2;
	return LLMCP35_SEG_MOMENT;
}

/* ---- D1, D2, D4, D5, D7 ------------------------------------------------- */

static const char *
record_text(struct llmcp35_judge *j, const struct llmcp35_record *r)
{
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_printf(&buf, "role %u, dtype %u, name \"", r->role, r->dtype);
	ckpt_buf_escape(&buf, r->name.p, r->name.n, CKPT_BUF_SHOWN);
	ckpt_buf_puts(&buf, "\"");
	text = ckpt_walk_text(&j->walk, "%s", buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
	return text;
}

/* The field of a record that is not as wanted, for the finding's path. */
static const char *
odd_field(const struct llmcp35_record *r, uint8_t role, uint8_t dtype)
{
	if (r->role != role)
		return "role";
	return r->dtype != dtype ? "dtype" : "name";
}

static void
judge_token(struct llmcp35_judge *j, uint64_t i)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];

	if (r->role != LLMCP35_LITERAL_TOKEN || r->dtype != LLMCP35_U8 ||
		!is_decimal(&r->name, i))
		LLMCP35_REPORT(j, .code = CKPT_D_TOKEN_RECORD, .unit = i,
			.path = record_path(j, i,
				odd_field(
					r, LLMCP35_LITERAL_TOKEN, LLMCP35_U8)),
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"role 1, dtype 1, name \"%llu\"",
				(unsigned long long)i)),
			.found = ckpt_v_text(record_text(j, r)));
	if (r->dims.n != 1 || LLMCP35_DIMS(r)[0] == 0)
		LLMCP35_REPORT(j, .code = CKPT_D_TOKEN_SHAPE, .unit = i,
			.path = record_path(
				j, i, r->dims.n == 1 ? "dims[0]" : "rank"),
			.expected = ckpt_v_text("[n], n at least 1"),
			.found = ckpt_v_text(llmcp35_shape_text(j, r)));
}

static void
judge_bpe(struct llmcp35_judge *j)
{
	static const char name[] = LLMCP35_BPE_NAME;
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[0];
	bool table = r->dims.n == 2 && LLMCP35_DIMS(r)[1] == 2;
	uint64_t declared = j->file->header.tokenizer_vocabulary;
	uint64_t vocabulary = UINT64_MAX;

	if (r->role != LLMCP35_BPE_PAIRS || r->dtype != LLMCP35_U32 ||
		ckpt_bytes_compare(
			r->name.p, r->name.n, name, sizeof name - 1) != 0)
		LLMCP35_REPORT(j, .code = CKPT_D_BPE_RECORD,
			.path = record_path(j, 0,
				odd_field(r, LLMCP35_BPE_PAIRS, LLMCP35_U32)),
			.expected = ckpt_v_text("role 2, dtype 2, name "
						"\"" LLMCP35_BPE_NAME "\""),
			.found = ckpt_v_text(record_text(j, r)));
	if (!table) {
		LLMCP35_REPORT(j, .code = CKPT_D_BPE_SHAPE,
			.path = record_path(
				j, 0, r->dims.n == 2 ? "dims[1]" : "rank"),
			.expected = ckpt_v_text("[merges, 2]"),
			.found = ckpt_v_text(llmcp35_shape_text(j, r)));
		ckpt_diags_skipped(&j->run->diags, "D7",
			"the merge table has no shape of pairs");
		return;
	}
	if (!ckpt_add_u64(LLMCP35_DIMS(r)[0], CKPT_BPE_BASE_IDS, &vocabulary) ||
		LLMCP35_DIMS(r)[0] > CKPT_BPE_MOST_MERGES)
		LLMCP35_REPORT(j, .code = CKPT_D_BPE_TOO_MANY,
			.path = record_path(j, 0, "dims[0]"),
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"at most %llu merges",
				(unsigned long long)CKPT_BPE_MOST_MERGES)),
			.found = ckpt_v_u64(LLMCP35_DIMS(r)[0]));
	if (vocabulary != declared)
		LLMCP35_REPORT(j, .code = CKPT_D_TOKENIZER_VOCABULARY,
			.unit = CKPT_UNIT_LAST,
			.path = "header.tokenizer_vocabulary",
			.expected = ckpt_v_text(
				ckpt_walk_text(&j->walk, "%llu (258 + merges)",
					(unsigned long long)vocabulary)),
			.found = ckpt_v_u64(declared));
}

/* ---- E1 to E4 ----------------------------------------------------------- */

static bool
suffix_products_fit(const struct llmcp35_record *r)
{
	uint64_t product = 1;

	for (uint32_t i = r->dims.n; i-- > 0;)
		if (!ckpt_mul_u64(product, LLMCP35_DIMS(r)[i], &product))
			return false;
	return true;
}

/* 6.5; true if the name is good, else *at is the byte at fault. */
static bool
leaf_name(const struct ckpt_str *name, uint32_t *at, const char **fault)
{
	bool start = true;

	for (*at = 0; *at < name->n; ++*at) {
		uint8_t c = name->p[*at];

		if (c == '.' && start) {
			*fault = "an empty segment";
			return false;
		}
		if (c != '.' && c != '_' && !(c >= 'a' && c <= 'z') &&
			!(c >= '0' && c <= '9')) {
			*fault = "a byte that is not a-z, 0-9, _ or .";
			return false;
		}
		start = c == '.';
	}
	*fault = name->n ? "an empty last segment" : "an empty name";
	return !start;
}

static void
judge_parameter(struct llmcp35_judge *j, uint64_t i, uint64_t k)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];
	const char *fault;
	uint32_t at;

	if (r->role != LLMCP35_PARAMETER || r->dtype != LLMCP35_F64)
		LLMCP35_REPORT(j, .code = CKPT_D_PARAMETER_RECORD, .unit = k,
			.path = record_path(j, i,
				odd_field(r, LLMCP35_PARAMETER, LLMCP35_F64)),
			.expected = ckpt_v_text("role 3, dtype 3"),
			.found = ckpt_v_text(record_text(j, r)));
	if (!suffix_products_fit(r))
		LLMCP35_REPORT(j, .code = CKPT_D_PARAMETER_SHAPE_OVERFLOW,
			.unit = k, .path = record_path(j, i, "dims"),
			.expected = ckpt_v_text("products from the right "
						"below 2^64"),
			.found = ckpt_v_text(llmcp35_shape_text(j, r)));
	if (!leaf_name(&r->name, &at, &fault))
		LLMCP35_REPORT(j, .code = CKPT_D_PARAMETER_NAME, .unit = k,
			.path = record_path(j, i, "name"),
			.expected = ckpt_v_text("segments of a-z, 0-9 and _ "
						"joined by dots"),
			.found = ckpt_v_bytes(r->name.p, r->name.n),
			.note = ckpt_walk_text(
				&j->walk, "%s at byte %u", fault, at));
}

/* ---- F1 to F3 ----------------------------------------------------------- */

static void
judge_pair(struct llmcp35_judge *j, uint64_t i, uint64_t k)
{
	const struct llmcp35_record *a = &LLMCP35_RECORDS(j->file)[i];
	const struct llmcp35_record *b = a + 1;

	if (a->role != LLMCP35_FIRST_MOMENT || a->dtype != LLMCP35_F64)
		LLMCP35_REPORT(j, .code = CKPT_D_FIRST_MOMENT_RECORD, .unit = k,
			.path = record_path(j, i,
				odd_field(
					a, LLMCP35_FIRST_MOMENT, LLMCP35_F64)),
			.expected = ckpt_v_text("role 4, dtype 3"),
			.found = ckpt_v_text(record_text(j, a)));
	if (b->role != LLMCP35_SECOND_MOMENT || b->dtype != LLMCP35_F64 ||
		ckpt_bytes_compare(
			a->name.p, a->name.n, b->name.p, b->name.n) != 0)
		LLMCP35_REPORT(j, .code = CKPT_D_SECOND_MOMENT_RECORD,
			.unit = k,
			.path = record_path(j, i + 1,
				odd_field(
					b, LLMCP35_SECOND_MOMENT, LLMCP35_F64)),
			.expected = ckpt_v_text(
				"role 5, dtype 3, the name of the record "
				"before it"),
			.found = ckpt_v_text(record_text(j, b)));
	if (!llmcp35_same_shape(a, b))
		LLMCP35_REPORT(j, .code = CKPT_D_MOMENT_SHAPES, .unit = k,
			.path = record_path(j, i + 1, "dims"),
			.expected = ckpt_v_text(llmcp35_shape_text(j, a)),
			.found = ckpt_v_text(llmcp35_shape_text(j, b)));
}

static void
judge_segments(struct llmcp35_judge *j)
{
	bool is_bpe = j->file->header.tokenizer_kind == LLMCP35_KIND_BPE;
	struct ckpt_diags *diags = &j->run->diags;

	ckpt_diags_ran(diags, "E1 E2 E3 E4 F1 F2 F3 D7");
	ckpt_diags_ran(diags, is_bpe ? "D4 D5" : "D1 D2");
	ckpt_diags_skipped(diags, is_bpe ? "D1 D2" : "D4 D5",
		is_bpe ? "the tokenizer is byte-BPE"
		       : "the tokenizer is literal");
	if (is_bpe)
		judge_bpe(j);
	if (j->file->header.counts.parameters == 0)
		LLMCP35_REPORT(j, .code = CKPT_D_NO_PARAMETERS,
			.path = "header.counts.parameters",
			.expected = ckpt_v_text("at least 1"),
			.found = ckpt_v_u64(0));
	for (uint64_t i = 0; i < j->file->records.n; i++) {
		uint64_t k;

		switch (llmcp35_segment_of(j, i, &k)) {
		case LLMCP35_SEG_TOKENIZER:
			if (!is_bpe)
				judge_token(j, i);
			break;
		case LLMCP35_SEG_PARAMETER: judge_parameter(j, i, k); break;
		case LLMCP35_SEG_MOMENT:
			judge_pair(j, i, k);
			i++;
			break;
		case LLMCP35_SEG_NONE: break;
		}
	}
}

enum ckpt_status
llmcp35_judge_table(struct llmcp35_judge *j)
{
	enum ckpt_status status = judge_repeats(j);

	if (status != CKPT_OK)
		return status;
	ckpt_diags_ran(&j->run->diags, "C2 C3 C4 C5");
	judge_end(j);
	judge_counts(j);
	if (!j->table_ok) {
		ckpt_diags_skipped(&j->run->diags,
			"D1 D2 D3 D4 D5 D6 D7 E1 E2 E3 E4 6.6 F1 F2 F3 F6 F7 "
			"G3 G4",
			"which records belong where is unknown while their "
			"counts are wrong");
		return CKPT_OK;
	}
	judge_segments(j);
	return llmcp35_judge_layout(j);
}
