/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35 rules on both sides of their edges: all findings of a file, with
 * their causes, so that a rule that says too much is seen as well as one that
 * says nothing. Each row is there because a mutant of its rule passed all
 * other tests (tests/mutants).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/build35.h"
#include "support/judged.h"

#define R(i)   b->records[i]
#define TWO(n) ((uint64_t)1 << (n))
#define INF    ((double)INFINITY)

/* Lists of one-letter names in file order. */
static void
name_list(struct b35_str **list, uint32_t *n, const char *letters)
{
	*n = (uint32_t)strlen(letters);
	*list = calloc(*n + 1, sizeof **list);
	for (uint32_t i = 0; i < *n; i++)
		(*list)[i] = (struct b35_str){ letters + i, 1, { 0 } };
}

/* One layer of a width and no moments. */
static void
model(struct b35 *b, uint64_t width, uint64_t heads)
{
	b35_free(b);
	b35_init(b);
	b35_literal(b, 3);
	b35_model(b, width, heads, 6, 1);
}

static void
groups(struct b35 *b, const char *decay, const char *no_decay)
{
	model(b, 4, 2);
	b->groups_flag = 1;
	name_list(&b->decay, &b->ndecay, decay);
	name_list(&b->no_decay, &b->nno_decay, no_decay);
}

static void
bpe(struct b35 *b, uint32_t merges)
{
	b35_free(b);
	b35_init(b);
	b35_bpe(b, merges);
	b35_model(b, 4, 2, 6, 0);
}

static void
shape(struct b35_record *r, unsigned ndims, uint64_t d0, uint64_t d1,
	uint64_t d2)
{
	r->ndims = ndims;
	r->dims[0] = d0;
	r->dims[1] = d1;
	r->dims[2] = d2;
}

static void
resize(struct b35_record *r, unsigned ndims, uint64_t d0, uint64_t d1)
{
	uint64_t n = ndims == 0 ? 1 : d0 * (ndims == 2 ? d1 : 1);

	shape(r, ndims, d0, d1, 0);
	b35_payload(r, NULL, 8 * n);
}

/* The merges as they would be for a number of them, without their bytes. */
static void
merges(struct b35 *b, uint64_t n)
{
	bpe(b, 1);
	R(0).dims[0] = n;
	b->tokenizer_vocabulary = b->vocabulary = n + 258;
}

/* n numbers of which the first is none. */
static void
nan_in(struct b35_record *r, uint64_t n)
{
	r->ndims = 1;
	r->dims[0] = n;
	b35_payload(r, NULL, 8 * n);
	b35_f64(r, 0, (double)NAN);
}

/* Tokens 0..2, parameters 3 and 4, their moments 5..8. */
static void
two_pairs(struct b35 *b)
{
	b35_free(b);
	b35_init(b);
	b35_literal(b, 3);
	b35_model(b, 4, 2, 6, 0);
	b35_moments(b, 2);
}

static void
swap_records(struct b35 *b, uint32_t i, uint32_t k)
{
	struct b35_record r = R(i);

	R(i) = R(k);
	R(k) = r;
}

/* model(): 0..2 tokens, 3 embedding, 4 norm, 5 query, 6 key, 7 value, 8
 * output, 9 norm, 10 gate, 11 up, 12 down, 13 norm. b35_small() has moments
 * behind them. */

/* X(name, what to break, all findings) */
/* clang-format off */
#define CASES(X) \
X(rate_infinite, b->learning_rate = INF, "CK5101 header.adamw.learning_rate;") \
X(decay_infinite, b->weight_decay = INF, "CK5105 header.adamw.weight_decay;") \
X(product_infinite, b->learning_rate = b->weight_decay = 1e200, \
	"CK5106 header.adamw.weight_decay;") \
X(repeats_of_two, groups(b, "baab", "c"), "CK5112 header.groups.decay[2] x2;" \
	"CK5505 header.groups.decay[1];CK5601 header.groups.decay[1] x5;") \
X(overlap_of_two_and_one, groups(b, "aa", "a"), \
	"CK5112 header.groups.decay[1];CK5114 header.groups.no_decay[0];" \
	"CK5505 header.groups.decay[1];CK5601 header.groups.decay[0] x3;") \
X(overlap_of_one_and_two, groups(b, "a", "aa"), \
	"CK5112 header.groups.no_decay[1];CK5114 header.groups.no_decay[0];" \
	"CK5505 header.groups.no_decay[1];CK5601 header.groups.decay[0] x3;") \
X(overlap_of_two, groups(b, "abd", "bcd"), \
	"CK5114 header.groups.no_decay[0] x2;" \
	"CK5601 header.groups.decay[0] x6;") \
X(offset_behind_length, R(5).byte_length = B35_TELL(120); b35_build(b); \
	R(6).offset = B35_TELL(R(6).data_at + 4), \
	"CK3003 records[5].byte_length;CK3004 records[6].offset<CK3003;" \
	"CK3004 records[7].offset;") \
X(offset_behind_offset, b35_build(b); R(5).offset = B35_TELL(1); \
	R(6).offset = B35_TELL(R(6).data_at + 4), \
	"CK3004 records[5].offset;CK3004 records[6].offset;") \
X(offset_behind_dtype, R(5).dtype = 4; b35_build(b); \
	R(6).offset = B35_TELL(R(6).data_at + 4), \
	"CK2010 records[5].dtype;CK3004 records[6].offset;" \
	"CK5202 records[5].dtype;") \
X(offset_behind_overflow, shape(&R(5), 2, TWO(62) - 1, 1, 0); b35_build(b); \
	R(6).offset = B35_TELL(R(6).data_at + 4), \
	"CK3002 records[5].dims;CK3004 records[6].offset;" \
	"CK5315 records[6].dims[0];CK5504 records[18].dims;") \
X(layout_behind_overflow, shape(&R(5), 2, TWO(62) - 1, 1, 0); b35_build(b); \
	R(7).offset = B35_TELL(R(7).data_at + 4), \
	"CK3002 records[5].dims;CK3004 records[7].offset;" \
	"CK5315 records[6].dims[0];CK5504 records[18].dims;") \
X(end_beyond_64_bits, R(35).byte_length = B35_TELL(UINT64_MAX), \
	"CK3003 records[35].byte_length;CK3005 records[35].byte_length;") \
X(length_of_last_too_long, b35_payload(&R(35), NULL, R(35).n + 8), \
	"CK3003 records[35].byte_length;") \
X(bpe_scalar, bpe(b, 1); shape(&R(0), 0, 0, 0, 0); R(0).n = 4, \
	"CK5006 records[0].rank;") \
X(bpe_cube, bpe(b, 1); memset(R(0).payload, 0x7f, 8); \
	shape(&R(0), 3, 1, 2, 1), \
	"CK5006 records[0].rank;") \
X(bpe_two_zeros, bpe(b, 1); memset(R(0).payload, 0, 8), "") \
X(bpe_most, merges(b, 4294967038), \
	"CK3003 records[0].byte_length;CK5319 records[1].dims[0];") \
X(bpe_more, merges(b, 4294967039), \
	"CK3003 records[0].byte_length;CK5007 records[0].dims[0];" \
	"CK5319 records[1].dims[0];") \
X(bpe_parameter_of_pairs, bpe(b, 1); R(2).dtype = 2; \
	b35_payload(&R(2), NULL, 16); shape(&R(2), 2, 2, 2, 0), \
	"CK5202 records[2].dtype;CK5313 records[2].rank;") \
X(token_of_other_dtype, shape(&R(1), 1, 1, 0, 0); R(1).dtype = 2; \
	b35_payload(&R(1), "0x0x", 4); b35_payload(&R(2), "0x", 2), \
	"CK5001 records[1].dtype;CK5004 records[2].data;") \
X(names_swapped, swap_records(b, 4, 5), \
	"CK5312 records[4].name;CK5312 records[5].name;") \
X(scalar_query, model(b, 4, 2); resize(&R(5), 0, 0, 0), \
	"CK5313 records[5].rank;") \
X(scalar_embedding, model(b, 4, 2); resize(&R(3), 0, 0, 0), \
	"CK5313 records[3].rank;") \
X(scalar_final_norm, model(b, 4, 2); resize(&R(13), 0, 0, 0), \
	"CK5313 records[13].rank;") \
X(scalar_output, model(b, 4, 2); resize(&R(8), 0, 0, 0), \
	"CK5313 records[8].rank;") \
X(scalar_down, model(b, 4, 2); resize(&R(12), 0, 0, 0), \
	"CK5313 records[12].rank;") \
X(fault_and_setting, model(b, 4, 2); b->feed_forward = 7; \
	resize(&R(9), 1, 5, 0), \
	"CK5315 records[9].dims[0];") \
X(layers_beyond, model(b, 4, 2); b->layers = UINT64_MAX, \
	"CK5311 header.decoder.layers;") \
X(base_zero, model(b, 4, 1); b->rope_base = 0.0, \
	"CK5308 header.decoder.rope_base;") \
X(base_negative, model(b, 4, 1); b->rope_base = -1.0, \
	"CK5308 header.decoder.rope_base;") \
X(base_infinite, model(b, 4, 1); b->rope_base = INF, \
	"CK5308 header.decoder.rope_base;") \
X(base_one, model(b, 4, 1); b->rope_base = 1.0; \
	b->positions = TWO(59) - 1, "") \
X(base_tiny, model(b, 64, 1); b->rope_base = 5e-324, \
	"CK5318 records[5].dims;") \
X(base_tiny_no_positions, model(b, 64, 1); b->rope_base = 5e-324; \
	b->positions = 0, \
	"CK5307 header.decoder.positions;") \
X(angles_beyond, model(b, 64, 1); b->rope_base = 5e-324; \
	b->positions = TWO(60), \
	"CK5317 records[5].dims;") \
X(angles_wrap, model(b, 4, 1); b->positions = TWO(63), \
	"CK5317 records[5].dims;") \
X(layers_wrap, model(b, 4, 2); /* 9 times it is 11 in 64 bits */ \
	b->layers = 2049638230412172403u, \
	"CK5311 header.decoder.layers;") \
X(warnings, b->rng_state = 0; b->beta1_power = 0.75, \
	"CK4103 header.sampling_rng_state;" \
	"CK4101 header.optimizer.beta1_power;") \
X(value_of_a_token, R(0).dtype = 3; R(0).role = 4; nan_in(&R(0), 1), \
	"CK5001 records[0].role;") \
X(value_of_a_token_without_counts, b->parameters = 9; R(0).dtype = 3; \
	nan_in(&R(0), 1), \
	"CK3007 header.counts.descriptors;") \
X(value_of_other_numbers, nan_in(&R(13), 2); R(13).dtype = 2; \
	R(13).dims[0] = 4, \
	"CK5202 records[13].dtype;") \
X(value_of_other_parameter, nan_in(&R(13), 4); R(13).role = 5, \
	"CK3001 records[33].name;CK5202 records[13].role;") \
X(value_of_other_moment, nan_in(&R(14), 4); R(14).role = 3; \
	b35_rename(&R(14), "x", 1), \
	"CK5401 records[14].role;CK5402 records[15].name;" \
	"CK5403 records[15].dims;CK5503 header.counts.optimizer;" \
	"CK5506 records[16].name;") \
X(value_of_token_in_moments, nan_in(&R(14), 4); R(14).role = 1, \
	"CK5401 records[14].role;CK5403 records[15].dims;" \
	"CK5504 records[14].dims;") \
X(value_of_unknown_role, nan_in(&R(14), 4); R(14).role = 6, \
	"CK2007 records[14].role;CK5401 records[14].role;" \
	"CK5403 records[15].dims;CK5504 records[14].dims;") \
X(second_moments_of_other_numbers, two_pairs(b); for (uint32_t i = 6; \
	i < 9; i += 2) { R(i).dtype = 2; b35_payload(&R(i), NULL, R(i).n / 2); }, \
	"CK5402 records[6].dtype;CK5402 records[8].dtype;") \
X(width_zero, b->width = 0, \
	"CK5302 header.decoder.width;CK5319 records[3].dims[1];") \
X(checksum_and_cause, R(5).byte_length = B35_TELL(120); b35_build(b); \
	R(6).offset = B35_TELL(R(6).data_at + 4); b->checksum = B35_TELL(1), \
	"CK1006 fixed_header.checksum;" \
	"CK3003 records[5].byte_length<CK1006;" \
	"CK3004 records[6].offset<CK3003;CK3004 records[7].offset<CK1006;") \
X(extents_and_header, b35_build(b); \
	b->header_bytes = B35_TELL(b->header_end + 3), \
	"CK1005 fixed_header.payload_bytes;" \
	"CK2011 fixed_header.header_bytes<CK1005;" \
	"CK3004 records[0].offset<CK1005;" \
	"CK3006 records[35].byte_length<CK1005;")

#define BREAK(name, make, findings) \
	static void break_##name(struct b35 *b) { make; }
#define ROW(name, make, findings) { #name, findings, break_##name },
CASES(BREAK)

static const struct {
	const char *name, *findings;
	void (*make)(struct b35 *b);
} rows[] = { CASES(ROW) };
/* clang-format on */

static void
write_findings(const struct judged *j, struct ckpt_buf *text)
{
	ckpt_buf_puts(text, "");
	for (size_t i = 0; i < ckpt_run_finding_count(j->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(j->run, i);

		ckpt_buf_printf(text, "%s %s%s%s", d->rule->id, d->path,
			d->caused_by ? "<" : "",
			d->caused_by ? d->caused_by->id : "");
		if (d->count > 1)
			ckpt_buf_printf(text, " x%" PRIu64, d->count);
		ckpt_buf_puts(text, ";");
	}
}

static void
test_llmcp35_edges_all_findings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_buf text = { 0 };
		struct judged j;
		struct b35 b;

		b35_small(&b);
		rows[i].make(&b);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		write_findings(&j, &text);
		if (strcmp(text.p, rows[i].findings) != 0)
			fail_msg("%s:\n  is  %s\n  not %s", rows[i].name,
				text.p, rows[i].findings);
		ckpt_buf_release(&text);
		judged_free(&j);
		b35_free(&b);
	}
}

/* Behind an end that does not fit 64 bits nobody knows where records end. */
static void
test_llmcp35_edges_lost_ends(void **state)
{
	(void)state;
	for (uint32_t i = 3; i < 36; i++) {
		const struct ckpt_diags *diags;
		struct judged j;
		struct b35 b;

		b35_small(&b);
		b.records[i].byte_length = B35_TELL(UINT64_MAX - i);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		diags = &j.run->diags;
		assert_int_equal(judged_faults(&j), 2);
		assert_non_null(judged_find(&j, "CK3003"));
		assert_non_null(judged_find(&j, "CK3005"));
		assert_int_equal(diags->ran[CKPT_D_PAYLOAD_END], CKPT_NOT_RUN);
		assert_non_null(
			strstr(diags->reason[CKPT_D_PAYLOAD_END], "64 bits"));
		judged_free(&j);
		b35_free(&b);
	}
}

/* The settings are judged with the parameters: of a header that is cut before
 * them nothing is said, whatever they are. */
static void
test_llmcp35_edges_settings_of_a_cut_header(void **state)
{
	struct ckpt_buf text = { 0 };
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.vocabulary = b.width = b.heads = b.feed_forward = b.positions = 0;
	b.rope_base = b.rms_epsilon = -1.0;
	b.header_bytes = B35_TELL(200);
	b35_build(&b);
	b.payload_bytes = B35_TELL(b.n - 200);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	write_findings(&j, &text);
	assert_string_equal(text.p, "CK2004 header.counts.optimizer;");
	ckpt_buf_release(&text);
	judged_free(&j);
	b35_free(&b);
}

/* ---- values ------------------------------------------------------------- */

/* One number above zero is enough, wherever it is; a zero of either sign is
 * none. */
static void
test_llmcp35_edges_second_moments_of_zero(void **state)
{
	enum { WIDTH = 300 };
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_literal(&b, 1);
	b35_model(&b, WIDTH, 2, 6, 0);
	b35_moments(&b, 2);
	for (uint32_t i = 4; i < 7; i += 2)
		b35_payload(&b.records[i], NULL, b.records[i].n);
	for (uint64_t i = 0; i <= WIDTH; i++) {
		struct judged j;

		if (i < WIDTH)
			b35_f64(&b.records[4], i, 5e-324);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		assert_int_equal(j.verdict, CKPT_VALID);
		assert_int_equal(judged_count(&j, "CK4102"), i == WIDTH);
		judged_free(&j);
		if (i < WIDTH)
			b35_f64(&b.records[4], i, i % 2 ? 0.0 : -0.0);
	}
	b35_free(&b);
}

/* All bits of the number that lies across the edge of a buffer. */
static void
test_llmcp35_edges_numbers_across_buffers(void **state)
{
	enum { EDGE = 256 * 1024, WIDTH = 20000 };
	const uint64_t bits = 0xfff123456789abcd;

	(void)state;
	for (uint64_t phase = 1; phase <= 8; phase++) {
		const struct ckpt_diag *d;
		uint64_t at;
		struct judged j;
		struct b35 b;

		b35_init(&b);
		b35_literal(&b, 2);
		b35_payload(&b.records[0], "12345678", phase);
		b.records[0].dims[0] = phase;
		b35_model(&b, WIDTH, 2, 6, 0);
		b35_build(&b);
		at = (EDGE - b.records[2].data_at) / 8;
		b35_f64_bits(&b.records[2], at, bits);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		d = judged_find(&j, "CK4001");
		assert_non_null(d);
		assert_int_equal(d->off, b.records[2].data_at + 8 * at);
		assert_true(d->found.u64 == bits);
		assert_int_equal(d->count, 1);
		judged_free(&j);
		b35_free(&b);
	}
}

/* Records that all say to begin 200 bytes too early: those that lie behind
 * what was read already are judged, in the bytes where they say to be. */
static void
test_llmcp35_edges_records_that_overlap(void **state)
{
	const struct ckpt_diag *d;
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	for (uint32_t i = 5; i < b.nrecords; i++)
		b.records[i].offset = B35_TELL(b.records[i].data_at - 200);
	/* Query, key and value are of 128 bytes: value says to begin where
	 * query has 56 bytes behind it. */
	b35_f64(&b.records[5], 7, (double)NAN);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_int_equal(judged_count(&j, "CK3004"), 1);
	assert_string_equal(
		judged_find(&j, "CK3004")->path, "records[5].offset");
	d = judged_find(&j, "CK4001");
	assert_non_null(d);
	assert_string_equal(d->path, "records[7].data[0,0]");
	assert_int_equal(judged_count(&j, "CK4001"), 1);
	judged_free(&j);
	b35_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llmcp35_edges_all_findings),
		cmocka_unit_test(test_llmcp35_edges_lost_ends),
		cmocka_unit_test(test_llmcp35_edges_settings_of_a_cut_header),
		cmocka_unit_test(test_llmcp35_edges_second_moments_of_zero),
		cmocka_unit_test(test_llmcp35_edges_numbers_across_buffers),
		cmocka_unit_test(test_llmcp35_edges_records_that_overlap),
	};

	return cmocka_run_group_tests_name("LLMCP35 edges", tests, NULL, NULL);
}
