/* SPDX-License-Identifier: MIT */
/*
 * The ranks of findings (format section 6.0): of two faults in one file, the
 * one that a loader would meet first ranks before the other, whatever was
 * found first. A rank that lost its unit or its order within a step makes two
 * of them equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/build35.h"
#include "support/judged.h"

#define R(i) b->records[i]

/* Lists of one-letter names in file order; "-" is an empty name and "~" is
 * not UTF-8. */
static void
name_list(struct b35_str **list, uint32_t *n, const char *letters)
{
	*n = (uint32_t)strlen(letters);
	*list = calloc(*n + 1, sizeof **list);
	for (uint32_t i = 0; i < *n; i++)
		(*list)[i] = (struct b35_str){ letters[i] == '~' ? "\xff"
								 : letters + i,
			letters[i] != '-', { 0 } };
}

/* At step 0, where the names need not be those of parameters. */
static void
groups(struct b35 *b, const char *decay, const char *no_decay)
{
	b35_free(b);
	b35_init(b);
	b35_literal(b, 3);
	b35_model(b, 4, 2, 6, 0);
	b->groups_flag = 1;
	name_list(&b->decay, &b->ndecay, decay);
	name_list(&b->no_decay, &b->nno_decay, no_decay);
}

static void
reshape(struct b35_record *r, unsigned ndims, uint64_t d0, uint64_t d1)
{
	r->ndims = ndims;
	r->dims[0] = d0;
	r->dims[1] = d1;
	b35_payload(r, NULL, 8 * d0 * (ndims == 2 ? d1 : 1));
}

static void
both_roles(struct b35 *b, uint32_t i, uint32_t k, unsigned role)
{
	R(i).role = R(k).role = role;
}

static void
bpe(struct b35 *b, uint32_t merges)
{
	b35_free(b);
	b35_init(b);
	b35_bpe(b, merges);
	b35_model(b, 4, 2, 6, 0);
}

/* Two layers: records 4..12 and 13..21, the last norm is 22. */
static void
deep(struct b35 *b)
{
	b35_free(b);
	b35_init(b);
	b35_literal(b, 3);
	b35_model(b, 4, 2, 6, 2);
}

/* Records of b35_small(): 0..2 tokens, 3..13 parameters, and of each of these
 * a first and a second moment from 14 on. */

/* X(name, the first and its path, the second and its path, what to break) */
/* clang-format off */
#define CASES(X) \
X(utf8_then_empty, "CK2006", "header.groups.no_decay[1]", \
	"CK5111", "header.groups.decay[0]", groups(b, "-b", "a~")) \
X(utf8_then_repeat, "CK2006", "header.groups.no_decay[1]", \
	"CK5112", "header.groups.decay[1]", groups(b, "bb", "a~")) \
X(utf8_then_overlap, "CK2006", "header.groups.no_decay[1]", \
	"CK5114", "header.groups.no_decay[0]", groups(b, "a", "a~")) \
X(repeat_then_empty, "CK5112", "header.groups.decay[1]", \
	"CK5111", "header.groups.decay[2]", groups(b, "aa-", "b")) \
X(empty_then_repeat, "CK5111", "header.groups.no_decay[1]", \
	"CK5112", "header.groups.no_decay[3]", groups(b, "a", "x-yy")) \
X(empty_then_empty, "CK5111", "header.groups.decay[3]", \
	"CK5111", "header.groups.no_decay[0]", groups(b, "abc-", "-")) \
X(repeat_then_repeat, "CK5112", "header.groups.decay[3]", \
	"CK5112", "header.groups.no_decay[1]", groups(b, "abcc", "dd")) \
X(empty_then_overlap, "CK5111", "header.groups.no_decay[2]", \
	"CK5114", "header.groups.no_decay[0]", groups(b, "a", "ab-")) \
X(order_then_order, "CK5505", "header.groups.decay[2]", \
	"CK5505", "header.groups.no_decay[1]", groups(b, "acb", "ed")) \
X(repeated_records, "CK3001", "records[5].name", "CK3001", "records[6].name", \
	b35_rename(&R(5), R(4).name, R(4).name_len); \
	b35_rename(&R(6), R(4).name, R(4).name_len)) \
X(lengths, "CK3003", "records[5].byte_length", \
	"CK3003", "records[8].byte_length", \
	R(5).byte_length = R(8).byte_length = B35_TELL(120)) \
X(overflows, "CK3002", "records[5].dims", "CK3002", "records[8].dims", \
	R(5).dims[0] = R(8).dims[0] = (uint64_t)1 << 62) \
X(offsets, "CK3004", "records[5].offset", "CK3004", "records[8].offset", \
	R(5).offset = R(8).offset = B35_TELL(9)) \
X(tokens, "CK5001", "records[1].role", "CK5001", "records[2].role", \
	both_roles(b, 1, 2, 2)) \
X(token_shapes, "CK5002", "records[1].rank", "CK5002", "records[2].rank", \
	R(1).ndims = R(2).ndims = 2; R(1).dims[1] = R(2).dims[1] = 1) \
X(token_then_repeat, "CK5001", "records[2].name", "CK5004", "records[1].data", \
	b35_rename(&R(2), "02", 2); b35_payload(&R(1), "0x", 2)) \
X(merge_then_vocabulary, "CK5008", "records[0].data[2,0]", \
	"CK5010", "header.tokenizer_vocabulary", \
	bpe(b, 3); memset(R(0).payload + 16, 0x7f, 8); \
	b->tokenizer_vocabulary++) \
X(repeat_then_operand, "CK5009", "records[0].data[1,0]", \
	"CK5008", "records[0].data[2,0]", \
	bpe(b, 3); memset(R(0).payload + 16, 0x7f, 8); \
	memset(R(0).payload, 0, 16)) \
X(parameters, "CK5202", "records[5].role", "CK5202", "records[6].role", \
	both_roles(b, 5, 6, 2)) \
X(suffixes, "CK5203", "records[5].dims", "CK5203", "records[6].dims", \
	for (uint32_t i = 5; i < 7; i++) { reshape(&R(i), 2, 0, 0); \
	R(i).ndims = 3; R(i).dims[1] = R(i).dims[2] = (uint64_t)1 << 40; }) \
X(leaves, "CK5204", "records[5].name", "CK5204", "records[6].name", \
	b35_rename(&R(5), "A", 1); b35_rename(&R(6), "B", 1)) \
X(names, "CK5312", "records[5].name", "CK5312", "records[6].name", \
	b35_rename(&R(5), "a", 1); b35_rename(&R(6), "b", 1)) \
X(firsts, "CK5401", "records[16].role", "CK5401", "records[18].role", \
	both_roles(b, 16, 18, 1)) \
X(seconds, "CK5402", "records[17].role", "CK5402", "records[19].role", \
	both_roles(b, 17, 19, 1)) \
X(pairs, "CK5403", "records[17].dims", "CK5403", "records[19].dims", \
	R(17).ndims = R(19).ndims = 3; R(17).dims[2] = R(19).dims[2] = 1) \
X(not_finite, "CK4001", "records[5].data[0,0]", \
	"CK4001", "records[6].data[0,0]", \
	b35_f64(&R(5), 0, (double)NAN); b35_f64(&R(6), 0, (double)NAN)) \
X(moments, "CK4002", "records[16].data[3,3]", \
	"CK4002", "records[17].data[0,0]", \
	b35_f64(&R(16), 15, (double)NAN); b35_f64(&R(17), 0, (double)NAN)) \
X(moment_pairs, "CK4002", "records[17].data[3,3]", \
	"CK4002", "records[18].data[0,0]", \
	b35_f64(&R(17), 15, (double)NAN); b35_f64(&R(18), 0, (double)NAN)) \
X(finite_then_negative, "CK4002", "records[17].data[3,3]", \
	"CK4003", "records[17].data[0,0]", \
	b35_f64(&R(17), 15, (double)NAN); b35_f64(&R(17), 0, -1.0)) \
X(negative_then_pair, "CK4003", "records[17].data[0,0]", \
	"CK5401", "records[18].role", \
	b35_f64(&R(17), 0, -1.0); R(18).role = 1) \
X(moment_shapes, "CK5504", "records[16].dims", "CK5504", "records[18].dims", \
	for (uint32_t i = 16; i < 20; i++) reshape(&R(i), 2, 4, 3)) \
X(value_then_layout, "CK4001", "records[13].data[0]", \
	"CK5307", "header.decoder.positions", \
	b35_f64(&R(13), 0, (double)NAN); b->positions = 0) \
X(at_once_then_remembered, "CK5315", "records[9].dims[0]", \
	"CK5319", "records[3].dims[1]", \
	b->width = 8; reshape(&R(9), 1, 5, 0)) \
X(layer_then_layer, "CK5315", "records[12].dims[0]", \
	"CK5313", "records[13].rank", \
	deep(b); reshape(&R(12), 2, 5, 4); reshape(&R(13), 2, 4, 1)) \
X(layer_then_final, "CK5315", "records[21].dims[0]", \
	"CK5313", "records[22].rank", \
	deep(b); reshape(&R(21), 2, 5, 4); reshape(&R(22), 2, 4, 1)) \
X(embedding_then_layer, "CK5314", "records[3].dims[1]", \
	"CK5313", "records[4].rank", \
	deep(b); reshape(&R(3), 2, 3, 0); reshape(&R(4), 2, 4, 1)) \
X(final_then_remembered, "CK5313", "records[13].rank", \
	"CK5319", "records[3].dims[1]", \
	b->width = 8; reshape(&R(13), 2, 4, 1))

#define BREAK(name, id, path, id2, path2, ...) \
	static void break_##name(struct b35 *b) { __VA_ARGS__; }
#define ROW(name, id, path, id2, path2, ...) \
	{ #name, id, path, id2, path2, break_##name },
CASES(BREAK)

static const struct {
	const char *name, *id, *path, *later, *later_path;
	void (*make)(struct b35 *b);
} rows[] = { CASES(ROW) };
/* clang-format on */

static const struct ckpt_diag *
find(const struct judged *j, const char *id, const char *path)
{
	for (size_t i = 0; i < ckpt_run_finding_count(j->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(j->run, i);

		if (strcmp(d->rule->id, id) == 0 && strcmp(d->path, path) == 0)
			return d;
	}
	return NULL;
}

static void
test_llmcp35_orders_of_two_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ckpt_diag *a, *c;
		struct judged j;
		struct b35 b;

		b35_small(&b);
		rows[i].make(&b);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		a = find(&j, rows[i].id, rows[i].path);
		c = find(&j, rows[i].later, rows[i].later_path);
		if (!a || !c)
			fail_msg("%s: %s is missing:\n%s", rows[i].name,
				a ? rows[i].later : rows[i].id, judged_log(&j));
		if (ckpt_rank_compare(&a->rank, &c->rank) >= 0)
			fail_msg("%s: not in order", rows[i].name);
		if (strcmp(judged_primary(&j), rows[i].id) != 0)
			fail_msg("%s: %s decides", rows[i].name,
				judged_primary(&j));
		judged_free(&j);
		b35_free(&b);
	}
}

/* What is judged after all of a phase ranks behind all of it. */
static void
test_llmcp35_orders_of_the_last(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_literal(&b, 0);
	b35_model(&b, 4, 2, 6, 0);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_non_null(judged_find(&j, "CK5003"));
	assert_int_equal(judged_find(&j, "CK5003")->rank.phase, 'D');
	assert_true(judged_find(&j, "CK5003")->rank.unit == UINT64_MAX);
	judged_free(&j);
	b35_free(&b);
}

/* ---- C1, D3: whichever two repeat --------------------------------------- */

/* Any two parameters, any two first and any two second moments: it is the
 * later one that repeats the earlier one, whatever lies between them. */
static void
test_llmcp35_orders_any_two_records(void **state)
{
	struct b35 b;

	(void)state;
	b35_small(&b);
	for (uint32_t k = 4; k < b.nrecords; k++)
		for (uint32_t i = 3; i < k; i++) {
			struct b35_record was = b.records[k];
			const struct ckpt_diag *d;
			struct judged j;
			char note[60];

			if (b.records[i].role != was.role)
				continue;
			b35_rename(&b.records[k], b.records[i].name,
				b.records[i].name_len);
			b35_build(&b);
			judged_bytes(&j, b.bytes, b.n);
			d = judged_find(&j, "CK3001");
			assert_non_null(d);
			assert_int_equal(judged_count(&j, "CK3001"), 1);
			assert_int_equal(d->off, b35_at_name(&b.records[k]));
			snprintf(note, sizeof note, "the same as records[%u]",
				i);
			assert_string_equal(d->note, note);
			judged_free(&j);
			b35_rename(&b.records[k], was.name, was.name_len);
		}
	b35_free(&b);
}

/* Any two tokens, of lengths on both sides of a digest's. */
static void
test_llmcp35_orders_any_two_tokens(void **state)
{
	static const uint8_t lengths[] = { 2, 1, 33, 2, 32, 40, 1, 31, 3, 33 };
	enum { TOKENS = sizeof lengths };
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_literal(&b, TOKENS);
	b35_model(&b, 4, 2, 6, 0);
	for (uint32_t k = 1; k < TOKENS; k++)
		for (uint32_t i = 0; i < k; i++) {
			const struct ckpt_diag *d;
			struct judged j;
			char found[60];

			for (uint32_t t = 0; t < TOKENS; t++) {
				uint32_t as = t == k ? i : t;
				uint8_t text[64];

				memset(text, 'a' + (int)as, sizeof text);
				b35_payload(&b.records[t], text, lengths[as]);
				b.records[t].dims[0] = lengths[as];
			}
			b35_build(&b);
			judged_bytes(&j, b.bytes, b.n);
			d = judged_find(&j, "CK5004");
			assert_non_null(d);
			snprintf(found, sizeof found,
				"token %u is token %u again", k, i);
			assert_string_equal(d->found.p, found);
			assert_int_equal(d->count, 1);
			judged_free(&j);
		}
	b35_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llmcp35_orders_of_two_faults),
		cmocka_unit_test(test_llmcp35_orders_of_the_last),
		cmocka_unit_test(test_llmcp35_orders_any_two_records),
		cmocka_unit_test(test_llmcp35_orders_any_two_tokens),
	};

	return cmocka_run_group_tests_name("LLMCP35 orders", tests, NULL, NULL);
}
