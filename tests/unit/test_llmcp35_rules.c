/* SPDX-License-Identifier: MIT */
/*
 * Known answers for LLMCP35: for each rule a file that breaks it, made from
 * the specification by the builder, and the finding that has to decide. The
 * cases stand in the order of section 6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/build35.h"
#include "support/judged.h"

#define TWO(n) ((uint64_t)1 << (n))

static void
reshape(struct b35 *b, uint32_t i, unsigned ndims, uint64_t d0, uint64_t d1)
{
	struct b35_record *r = &b->records[i];

	r->ndims = ndims;
	r->dims[0] = d0;
	r->dims[1] = d1;
	b35_payload(r, NULL, 8 * d0 * (ndims == 2 ? d1 : 1));
}

/* The names of all parameters in bytewise order, split in two lists. */
static void
group(struct b35 *b, uint32_t decay, uint32_t no_decay)
{
	b->groups_flag = 1;
	b->decay = calloc(16, sizeof *b->decay);
	b->no_decay = calloc(16, sizeof *b->no_decay);
	for (uint32_t i = 0; i < decay + no_decay; i++) {
		const struct b35_record *r =
			&b->records[b->nrecords - 22 + 2 * i];
		struct b35_str *to = i < decay ? &b->decay[b->ndecay++]
					       : &b->no_decay[b->nno_decay++];

		*to = (struct b35_str){ r->name, r->name_len, { 0 } };
	}
}

static void
name_group(struct b35_str *to, const char *name)
{
	to->p = name;
	to->n = (uint32_t)strlen(name);
}

static void
swap_records(struct b35 *b, uint32_t i, uint32_t k)
{
	struct b35_record r = b->records[i];

	b->records[i] = b->records[k];
	b->records[k] = r;
}

/* Literal, no layer, step 0. */
static void
untrained(struct b35 *b)
{
	b35_free(b);
	b35_init(b);
	b35_literal(b, 3);
	b35_model(b, 4, 2, 6, 0);
}

static void
bpe(struct b35 *b)
{
	b35_free(b);
	b35_init(b);
	b35_bpe(b, 3);
	b35_model(b, 4, 2, 6, 0);
}

static void
end_overflow(struct b35 *b)
{
	b35_build(b);
	b->records[34].dims[0] = b->records[35].dims[0] = TWO(60);
	b->records[34].dims[1] = b->records[35].dims[1] = 1;
	b->records[34].byte_length = B35_TELL(TWO(63));
	b->records[35].byte_length = B35_TELL(TWO(63));
	b->records[35].offset = B35_TELL(b->records[34].data_at + TWO(63));
}

#define R(i) b->records[i]

/* X(name, rule, path, offset, faults or 0 for any number, what to break) */
/* clang-format off */
#define CASES(X) \
X(magic, "CK1002", "fixed_header.magic", 0, 1, b->magic[7] = 1) \
X(version, "CK1003", "fixed_header.version", 8, 1, b->version = 2) \
X(swapped, "CK1004", "fixed_header.endian", 10, 1, b->endian = 0x04030201) \
X(endian, "CK1010", "fixed_header.endian", 10, 1, b->endian = 0x01020305) \
X(header_extent, "CK1008", "fixed_header.header_bytes", 14, 1, \
	b->header_bytes = B35_TELL(37)) \
X(extent_sum, "CK1009", "fixed_header.payload_bytes", 22, 0, \
	b->payload_bytes = B35_TELL(UINT64_MAX)) \
X(short_file, "CK1005", "fixed_header.payload_bytes", 22, 0, \
	b35_build(b); b->payload_bytes = B35_TELL(b->n - b->header_end + 1)) \
X(long_file, "CK1007", "fixed_header.payload_bytes", 22, 0, \
	b35_build(b); b->payload_bytes = B35_TELL(b->n - b->header_end - 1)) \
X(checksum, "CK1006", "fixed_header.checksum", 30, 1, \
	b->checksum = B35_TELL(1)) \
X(layout, "CK2001", "header.tokenizer_layout", 38, 1, \
	b->tokenizer_layout = 2) \
X(rng, "CK2002", "header.rng_algorithm", 40, 1, b->rng_algorithm = 0) \
X(kind, "CK2003", "header.tokenizer_kind", 58, 0, b->tokenizer_kind = 3) \
X(rate_zero, "CK5101", "header.adamw.learning_rate", 131, 1, \
	b->learning_rate = 0.0) \
X(rate_nan, "CK5101", "header.adamw.learning_rate", 131, 1, \
	b->learning_rate = (double)NAN) \
X(beta1, "CK5102", "header.adamw.beta1", 139, 0, b->beta1 = 1.0) \
X(beta2, "CK5103", "header.adamw.beta2", 147, 0, b->beta2 = -0.5) \
X(epsilon, "CK5104", "header.adamw.epsilon", 155, 1, \
	b->epsilon = (double)INFINITY) \
X(decay, "CK5105", "header.adamw.weight_decay", 163, 1, \
	b->weight_decay = -1.0) \
X(product_one, "CK5106", "header.adamw.weight_decay", 163, 1, \
	b->learning_rate = 2.0; b->weight_decay = 0.5) \
X(product_zero, "CK5106", "header.adamw.weight_decay", 163, 1, \
	b->learning_rate = 1e-200; b->weight_decay = 1e-200) \
X(flag, "CK2005", "header.groups.flag", 171, 1, b->groups_flag = 2) \
X(group_utf8, "CK2006", "header.groups.decay[1]", 176 + 4 + 29, 0, \
	group(b, 5, 6); name_group(&b->decay[1], "a\xff")) \
X(group_empty, "CK5111", "header.groups.decay[0]", 176, 0, \
	group(b, 5, 6); b->decay[0].n = 0) \
X(group_repeat, "CK5112", "header.groups.decay[2]", \
	b->groups_at + 4 + 2 * (4 + 29) + 3, 0, \
	group(b, 5, 6); b->decay[2] = b->decay[1]) \
X(group_repeat_2, "CK5112", "header.groups.no_decay[1]", \
	b->no_decay_at + 4 + 4 + b->no_decay[0].n, 0, \
	group(b, 5, 6); b->no_decay[1] = b->no_decay[0]) \
X(groups_none, "CK5113", "header.groups.decay.count", 172, 0, \
	group(b, 0, 0)) \
X(groups_overlap, "CK5114", "header.groups.no_decay[0]", \
	b->no_decay_at + 4, 0, group(b, 5, 6); b->no_decay[0] = b->decay[0]) \
X(role, "CK2007", "records[35].role", R(35).at, 0, R(35).role = 6) \
X(role_zero, "CK2007", "records[0].role", R(0).at, 0, R(0).role = 0) \
X(name_utf8, "CK2008", "records[35].name", b35_at_name(&R(35)), 0, \
	b35_rename(&R(35), "\xed\xa0\x80", 3)) \
X(name_empty, "CK2009", "records[35].name", b35_at_name(&R(35)), 0, \
	b35_rename(&R(35), "", 0)) \
X(dtype, "CK2010", "records[35].dtype", b35_at_dtype(&R(35)), 0, \
	R(35).dtype = 4) \
X(header_cut, "CK2004", "records[36].role", b->header_end, 1, \
	b->descriptors = B35_TELL(37)) \
X(unparsed, "CK2011", "fixed_header.header_bytes", b->header_end - 3, 1, \
	b->extra_header = 3) \
X(repeated, "CK3001", "records[5].name", b35_at_name(&R(5)), 0, \
	b35_rename(&R(5), R(4).name, R(4).name_len)) \
X(shape_overflow, "CK3002", "records[5].dims", b35_at_dim(&R(5), 0), 0, \
	R(5).dims[0] = TWO(62); R(5).dims[1] = 8) \
X(shape_overflow_then_zero, "CK3002", "records[5].dims", \
	b35_at_dim(&R(5), 0), 0, \
	R(5).dims[0] = R(5).dims[1] = TWO(60); R(5).ndims = 3) \
X(length, "CK3003", "records[5].byte_length", b35_at_length(&R(5)), 1, \
	R(5).byte_length = B35_TELL(120)) \
X(length_last, "CK3003", "records[35].byte_length", \
	b35_at_length(&R(35)), 1, R(35).byte_length = B35_TELL(120)) \
X(offset, "CK3004", "records[5].offset", b35_at_offset(&R(5)), 1, \
	b35_build(b); R(5).offset = B35_TELL(R(5).data_at + 8)) \
X(offset_first, "CK3004", "records[0].offset", b35_at_offset(&R(0)), 1, \
	R(0).offset = B35_TELL(0)) \
X(end, "CK3005", "records[35].byte_length", b35_at_length(&R(35)), 0, \
	end_overflow(b)) \
X(payload_end, "CK3006", "records[35].byte_length", \
	b35_at_length(&R(35)), 1, R(35).byte_length = B35_TELL(R(35).n); \
	b35_payload(&R(35), NULL, R(35).n + 8)) \
X(count, "CK3007", "header.counts.descriptors", b->optimizer_at + 32, 0, \
	b->parameters = 10) \
X(count_overflow, "CK3008", "header.tokenizer_vocabulary", 59, 0, \
	b->tokenizer_vocabulary = UINT64_MAX) \
X(token_name, "CK5001", "records[1].name", b35_at_name(&R(1)), 1, \
	b35_rename(&R(1), "01", 2)) \
X(token_role, "CK5001", "records[2].role", R(2).at, 1, R(2).role = 2) \
X(token_rank, "CK5002", "records[1].rank", b35_at_rank(&R(1)), 1, \
	R(1).ndims = 2; R(1).dims[1] = 1) \
X(token_empty, "CK5002", "records[1].dims[0]", b35_at_dim(&R(1), 0), 1, \
	R(1).dims[0] = 0; R(1).n = 0) \
X(tokens_none, "CK5003", "header.tokenizer_vocabulary", 59, 0, \
	for (int i = 0; i < 3; i++) b35_drop(b, 0); \
	b->tokenizer_vocabulary = 0) \
X(token_repeat, "CK5004", "records[2].data", R(2).data_at, 1, \
	b35_payload(&R(2), "0x", 2)) \
X(bpe_name, "CK5005", "records[0].name", b35_at_name(&R(0)), 1, \
	bpe(b); b35_rename(&R(0), "training-pair5", 14)) \
X(bpe_shape, "CK5006", "records[0].dims[1]", b35_at_dim(&R(0), 1), 1, \
	bpe(b); R(0).dims[0] = 2; R(0).dims[1] = 3) \
X(bpe_vocabulary, "CK5010", "header.tokenizer_vocabulary", 59, 0, \
	bpe(b); b->tokenizer_vocabulary = 262) \
X(no_parameters, "CK5201", "header.counts.parameters", 196, 0, \
	untrained(b); b35_drop(b, 3); b35_drop(b, 3); b->parameters = 0) \
X(parameter_role, "CK5202", "records[13].role", R(13).at, 0, \
	R(13).role = 2) \
X(parameter_dtype, "CK5202", "records[13].dtype", b35_at_dtype(&R(13)), 0, \
	R(13).dtype = 2; R(13).n = 16) \
X(suffix, "CK5203", "records[5].dims", b35_at_dim(&R(5), 0), 0, \
	reshape(b, 5, 2, 0, TWO(40)); R(5).ndims = 3; R(5).dims[2] = TWO(40)) \
X(leaf, "CK5204", "records[5].name", b35_at_name(&R(5)), 0, \
	b35_rename(&R(5), "blocks..x", 9)) \
X(leaf_byte, "CK5204", "records[5].name", b35_at_name(&R(5)), 0, \
	b35_rename(&R(5), "Blocks", 6)) \
X(leaf_end, "CK5204", "records[5].name", b35_at_name(&R(5)), 0, \
	b35_rename(&R(5), "blocks.", 7)) \
X(vocabulary_0, "CK5301", "header.decoder.vocabulary", 67, 0, \
	b->vocabulary = 0) \
X(width_0, "CK5302", "header.decoder.width", 75, 0, b->width = 0) \
X(heads_0, "CK5303", "header.decoder.heads", 83, 1, b->heads = 0) \
X(heads_3, "CK5304", "header.decoder.width", 75, 0, b->heads = 3) \
X(heads_4, "CK5305", "header.decoder.width", 75, 0, b->heads = 4) \
X(ff_0, "CK5306", "header.decoder.feed_forward_width", 91, 0, \
	b->feed_forward = 0) \
X(positions_0, "CK5307", "header.decoder.positions", 107, 1, \
	b->positions = 0) \
X(rope_base, "CK5308", "header.decoder.rope_base", 115, 1, \
	b->rope_base = -1.0) \
X(rms, "CK5309", "header.decoder.rms_epsilon", 123, 1, \
	b->rms_epsilon = (double)INFINITY) \
X(layers, "CK5311", "header.decoder.layers", 99, 1, b->layers = 2) \
X(layers_huge, "CK5311", "header.decoder.layers", 99, 1, \
	b->layers = UINT64_MAX) \
X(order, "CK5312", "records[5].name", b35_at_name(&R(5)), 0, \
	swap_records(b, 5, 6)) \
X(rank, "CK5313", "records[4].rank", b35_at_rank(&R(4)), 0, \
	reshape(b, 4, 2, 4, 1)) \
X(empty, "CK5314", "records[4].dims[0]", b35_at_dim(&R(4), 0), 0, \
	reshape(b, 4, 1, 0, 0)) \
X(key_out, "CK5315", "records[6].dims[1]", b35_at_dim(&R(6), 1), 0, \
	reshape(b, 6, 2, 4, 6)) \
X(output_out, "CK5315", "records[8].dims[1]", b35_at_dim(&R(8), 1), 0, \
	reshape(b, 8, 2, 4, 6)) \
X(down_in, "CK5315", "records[12].dims[0]", b35_at_dim(&R(12), 0), 0, \
	reshape(b, 12, 2, 5, 4)) \
X(norm, "CK5315", "records[9].dims[0]", b35_at_dim(&R(9), 0), 0, \
	reshape(b, 9, 1, 5, 0)) \
X(heads, "CK5316", "records[5].dims[0]", b35_at_dim(&R(5), 0), 0, \
	for (uint32_t i = 5; i < 8; i++) reshape(b, i, 2, 3, 4)) \
X(rope_size, "CK5317", "records[5].dims", b35_at_dim(&R(5), 0), 1, \
	b->positions = TWO(60)) \
X(setting_width, "CK5319", "records[3].dims[1]", b35_at_dim(&R(3), 1), 1, \
	b->width = 8) \
X(setting_ff, "CK5319", "records[10].dims[1]", b35_at_dim(&R(10), 1), 1, \
	b->feed_forward = 7) \
X(first_role, "CK5401", "records[14].role", R(14).at, 1, R(14).role = 1) \
X(second_name, "CK5402", "records[15].name", b35_at_name(&R(15)), 1, \
	b35_rename(&R(15), "x", 1)) \
X(pair_shape, "CK5403", "records[15].dims", b35_at_dim(&R(15), 0), 1, \
	reshape(b, 15, 2, 2, 8)) \
X(power1, "CK5404", "header.optimizer.beta1_power", 180, 0, \
	b->beta1_power = 1.0) \
X(power2, "CK5405", "header.optimizer.beta2_power", 188, 0, \
	b->beta2_power = (double)NAN) \
X(power_at_0, "CK5404", "header.optimizer.beta1_power", 180, 1, \
	untrained(b); b->beta1_power = nextafter(1.0, 0.0)) \
X(presence_0, "CK5406", "header.counts.optimizer", 200, 0, \
	b->optimizer_step = b->selected_step = 0; \
	b->beta1_power = b->beta2_power = 1.0) \
X(presence_9, "CK5406", "header.counts.optimizer", 200, 0, untrained(b); \
	b->optimizer_step = b->selected_step = 1; \
	b->beta1_power = 0.5; b->beta2_power = 0.75) \
X(groups, "CK5407", "header.groups.decay.count", 172, 1, group(b, 5, 5)) \
X(vocabulary, "CK5501", "header.decoder.vocabulary", 67, 1, \
	b->vocabulary = 5; reshape(b, 3, 2, 5, 4); reshape(b, 34, 2, 5, 4); \
	reshape(b, 35, 2, 5, 4); b35_f64(&R(35), 0, 1.0)) \
X(step, "CK5502", "header.selected_step", 42, 1, b->selected_step = 3) \
X(moment_names, "CK5503", "header.counts.optimizer", 200, 1, \
	b35_rename(&R(34), "zz", 2); b35_rename(&R(35), "zz", 2)) \
X(moment_shape, "CK5504", "records[34].dims", b35_at_dim(&R(34), 0), 1, \
	reshape(b, 34, 2, 4, 3); reshape(b, 35, 2, 4, 3)) \
X(group_order, "CK5505", "header.groups.decay[1]", \
	b->groups_at + 4 + 4 + b->decay[0].n, 1, group(b, 5, 6); \
	struct b35_str s = b->decay[0]; b->decay[0] = b->decay[1]; \
	b->decay[1] = s) \
X(moment_order, "CK5506", "records[16].name", b35_at_name(&R(16)), 1, \
	swap_records(b, 14, 16); swap_records(b, 15, 17))

#define BREAK(name, id, path, at, n, ...) \
	static void break_##name(struct b35 *b) { __VA_ARGS__; }
#define WHERE(name, id, path, at, n, ...) \
	static uint64_t where_##name(const struct b35 *b) \
	{ (void)b; return at; }
#define ROW(name, id, path, at, n, ...) \
	{ #name, id, path, break_##name, where_##name, n },
CASES(BREAK)
CASES(WHERE)

static const struct fault {
	const char *name, *id, *path;
	void (*make)(struct b35 *b);
	uint64_t (*where)(const struct b35 *b);
	size_t faults;
} faults[] = { CASES(ROW) };
/* clang-format on */

enum { FAULTS = sizeof faults / sizeof faults[0] };

static void
check_fault(const struct fault *f)
{
	const struct ckpt_diag *d;
	struct judged j;
	struct b35 b;

	b35_small(&b);
	f->make(&b);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	d = ckpt_run_primary(j.run);
	if (!d || strcmp(d->rule->id, f->id) != 0)
		fail_msg("%s: primary is %s, not %s", f->name,
			judged_primary(&j), f->id);
	if (strcmp(d->path, f->path) != 0 || d->off != f->where(&b))
		fail_msg("%s: at %s, %llu, not %s, %llu", f->name, d->path,
			(unsigned long long)d->off, f->path,
			(unsigned long long)f->where(&b));
	if (f->faults && judged_faults(&j) != f->faults)
		fail_msg("%s: %zu faults:\n%s", f->name, judged_faults(&j),
			judged_log(&j));
	assert_int_equal(j.verdict, d->rule->class_ == CKPT_CLASS_UNSUPPORTED
					    ? CKPT_UNSUPPORTED
					    : CKPT_INVALID);
	judged_free(&j);
	b35_free(&b);
}

static void
test_llmcp35_rules_known_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < FAULTS; i++)
		check_fault(&faults[i]);
}

static void
test_llmcp35_rules_good_files_have_no_findings(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	for (int kind = 0; kind < 5; kind++) {
		b35_small(&b);
		if (kind == 1)
			group(&b, 5, 6);
		if (kind == 2)
			untrained(&b);
		if (kind == 3)
			bpe(&b);
		if (kind == 4)
			group(&b, 0, 11);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		if (ckpt_run_finding_count(j.run) != 0)
			fail_msg("%d: %s", kind, judged_log(&j));
		assert_int_equal(j.verdict, CKPT_VALID);
		judged_free(&j);
		b35_free(&b);
	}
}

/* Every proper prefix has a wrong extent or no fixed header. */
static void
test_llmcp35_rules_every_prefix(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	group(&b, 5, 6);
	b35_build(&b);
	for (size_t n = 0; n < b.n; n++) {
		judged_slowly(&j, b.bytes, n, 4096, n % 2, UINT64_MAX);
		assert_string_equal(
			judged_primary(&j), n < 38 ? "CK1001" : "CK1005");
		judged_free(&j);
	}
	b35_free(&b);
}

/* The header ends at a byte, the extents agree: what a field is called, where
 * it begins, and that a check before it decides. */
static void
cut_header(uint64_t end, void (*make)(struct b35 *), const char *id,
	const char *path, uint64_t off)
{
	const struct ckpt_diag *d;
	struct judged j;
	struct b35 b;

	b35_small(&b);
	if (make)
		make(&b);
	b35_build(&b);
	b.header_bytes = B35_TELL(end);
	b.payload_bytes = B35_TELL(b.n - end);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	d = ckpt_run_primary(j.run);
	assert_non_null(d);
	assert_string_equal(d->rule->id, id);
	assert_string_equal(d->path, path);
	assert_int_equal(d->off, off);
	judged_free(&j);
	b35_free(&b);
}

static void
bad_rate(struct b35 *b)
{
	b->learning_rate = 0.0;
}

static void
bad_groups(struct b35 *b)
{
	group(b, 0, 0);
}

static void
test_llmcp35_rules_truncation_ranks_behind_what_was_judged(void **state)
{
	(void)state;
	cut_header(38, NULL, "CK2004", "header.tokenizer_layout", 38);
	cut_header(60, NULL, "CK2004", "header.tokenizer_vocabulary", 59);
	cut_header(170, bad_rate, "CK2004", "header.adamw.weight_decay", 163);
	cut_header(171, bad_rate, "CK5101", "header.adamw.learning_rate", 131);
	cut_header(
		179, bad_groups, "CK2004", "header.groups.no_decay.count", 176);
	cut_header(180, bad_groups, "CK5113", "header.groups.decay.count", 172);
	cut_header(207, NULL, "CK2004", "header.counts.descriptors", 204);
	cut_header(208, NULL, "CK2004", "records[0].role", 208);
	cut_header(211, NULL, "CK2004", "records[0].name", 209);
	cut_header(213, NULL, "CK2004", "records[0].name", 209);
}

static void
test_llmcp35_rules_checksum_causes_the_others(void **state)
{
	const struct ckpt_diags *diags;
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.selected_step = 3;
	b.checksum = B35_TELL(1);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	diags = &j.run->diags;
	assert_string_equal(judged_primary(&j), "CK1006");
	assert_string_equal(judged_find(&j, "CK5502")->caused_by->id, "CK1006");
	assert_null(judged_find(&j, "CK1006")->caused_by);
	assert_int_equal(diags->ran[CKPT_D_MAGIC], CKPT_RAN);
	assert_int_equal(diags->ran[CKPT_D_STEP], CKPT_RAN);
	assert_int_equal(diags->ran[CKPT_D_VOCABULARY], CKPT_NOT_RUN);
	assert_non_null(strstr(diags->reason[CKPT_D_VOCABULARY], "checksum"));
	judged_free(&j);
	b35_free(&b);
}

static void
test_llmcp35_rules_extents_cause_what_follows(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	b.header_bytes = B35_TELL(b.header_end - 1);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_string_equal(judged_primary(&j), "CK1007");
	assert_string_equal(judged_find(&j, "CK2004")->caused_by->id, "CK1007");
	assert_null(judged_find(&j, "CK1006"));
	assert_int_equal(j.run->diags.ran[CKPT_D_CHECKSUM], CKPT_NOT_RUN);
	judged_free(&j);
	/* Cut in the payload: nothing else is wrong. */
	b.header_bytes.told = false;
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n - 9);
	assert_string_equal(judged_primary(&j), "CK1005");
	assert_int_equal(judged_faults(&j), 1);
	assert_string_equal(ckpt_run_primary(j.run)->note, "short by 9 bytes");
	assert_int_equal(j.run->diags.ran[CKPT_D_VOCABULARY], CKPT_NOT_RUN);
	judged_free(&j);
	b35_free(&b);
}

/* More than a megabyte behind the end of a pipe is not waited for. */
static void
test_llmcp35_rules_pipe_with_extra_bytes(void **state)
{
	size_t extra = 3 * 1024 * 1024;
	struct judged j;
	struct b35 b;
	uint8_t *long_file;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	long_file = calloc(1, b.n + extra);
	memcpy(long_file, b.bytes, b.n);
	judged_slowly(&j, long_file, b.n + extra, SIZE_MAX, true, UINT64_MAX);
	assert_string_equal(judged_primary(&j), "CK1007");
	assert_non_null(strstr(
		ckpt_run_primary(j.run)->note, "at least 1048576 extra bytes"));
	judged_free(&j);
	judged_slowly(&j, long_file, b.n + 5, 3, true, UINT64_MAX);
	assert_non_null(strstr(ckpt_run_primary(j.run)->note, "5 extra bytes"));
	judged_free(&j);
	free(long_file);
	b35_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llmcp35_rules_known_answers),
		cmocka_unit_test(
			test_llmcp35_rules_good_files_have_no_findings),
		cmocka_unit_test(test_llmcp35_rules_every_prefix),
		cmocka_unit_test(
			test_llmcp35_rules_truncation_ranks_behind_what_was_judged),
		cmocka_unit_test(test_llmcp35_rules_checksum_causes_the_others),
		cmocka_unit_test(test_llmcp35_rules_extents_cause_what_follows),
		cmocka_unit_test(test_llmcp35_rules_pipe_with_extra_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
