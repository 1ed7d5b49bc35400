/* SPDX-License-Identifier: MIT */
/*
 * One pass over a large file: whatever reads it, and in whatever pieces, the
 * listeners hear the same and the findings are the same, also of values that
 * lie across the edges of the blocks in which they come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/f64_block.h"
#include "io/reader.h"
#include "io/source_slow.h"
#include "support/build35.h"
#include "support/judged.h"

#define NAN_BITS 0x7ff8000000000001u
#define LEAST    0x8000000000000001u /* the largest number below zero */

enum { EDGE = CKPT_AHEAD_BLOCK, WIDTH = 200000 };

_Static_assert(CKPT_READER_BUFFER % EDGE == 0 || EDGE % CKPT_READER_BUFFER == 0,
	"edges lie at the same places with and without a thread");

/* Ten million bytes behind a token of phase + 1 bytes. Records: 2 embedding,
 * 3 norm, 4/5 norm's and 6/7 embedding's moments. */
static void
large(struct b35 *b, unsigned phase)
{
	static const uint8_t text[16] = "0123456789abcdef";

	b35_init(b);
	b35_literal(b, 2);
	b->vocabulary = 2;
	b35_payload(&b->records[0], text, phase + 1);
	b->records[0].dims[0] = phase + 1;
	b35_model(b, WIDTH, 2, 6, 0);
	b35_moments(b, 1);
}

/* Everything a listener hears of a file, but not how it was cut. */
struct hearing {
	struct ckpt_sink sink; /* first member */
	uint64_t hash, at, events;
};

static enum ckpt_status
hear(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct hearing *h = (struct hearing *)sink;

	if (event->kind != CKPT_EV_DATA) {
		h->events++;
		h->hash = ckpt_fnv1a64(h->hash, &event->kind, 1);
		h->at = 0;
		return CKPT_OK;
	}
	assert_true(h->at == 0 || event->off >= h->at);
	assert_in_range(event->len, 1,
		CKPT_AHEAD_BEFORE + CKPT_AHEAD_BLOCK + CKPT_READER_BUFFER);
	h->at = event->off + event->len;
	h->hash = ckpt_fnv1a64(h->hash, event->data, (size_t)event->len);
	return CKPT_OK;
}

enum reading { PLAIN, THREAD, PIECES, PIPE, READINGS };

/* The findings of one reading, and what was heard. */
static char *
read_once(const struct b35 *b, enum reading how, struct hearing *h,
	struct judged *j)
{
	struct ckpt_source *source = ckpt_source_memory(b->bytes, b->n);

	memset(j, 0, sizeof *j);
	*h = (struct hearing){ .sink.event = hear, .hash = CKPT_FNV1A64_START };
	j->run = ckpt_run_new(NULL);
	assert_non_null(j->run);
	ckpt_run_listen(j->run, &h->sink);
	if (how == PIECES || how == PIPE)
		source = ckpt_source_slow(source, how == PIPE ? 65521 : 100003,
			how == PIPE, UINT64_MAX);
	assert_non_null(source);
	source->any_thread = how == THREAD || how == PIECES;
	j->verdict = ckpt_verify(j->run, source);
	ckpt_source_close(source);
	return judged_log(j);
}

/* The element of a record in which the byte before the edge lies. */
static bool
across(const struct b35_record *r, uint64_t edge, uint64_t *element)
{
	uint64_t end = r->data_at + r->n;

	if (edge <= r->data_at || edge >= end)
		return false;
	*element = (edge - 1 - r->data_at) / 8;
	return true;
}

/* Puts bits across every edge that lies in the record. */
static uint64_t
plant(struct b35 *b, unsigned record, uint64_t bits, uint64_t *first)
{
	struct b35_record *r = &b->records[record];
	uint64_t n = 0, element;

	for (uint64_t edge = EDGE; edge < b->n; edge += EDGE) {
		if (!across(r, edge, &element))
			continue;
		if (n++ == 0)
			*first = r->data_at + 8 * element;
		b35_f64_bits(r, element, bits);
	}
	return n;
}

static void
check(const struct judged *j, const char *id, uint64_t n, uint64_t first)
{
	const struct ckpt_diag *d = judged_find(j, id);

	assert_non_null(d);
	assert_int_equal(d->count, n);
	assert_int_equal(d->off, first);
}

static void
test_pass_values_across_edges_at_every_phase(void **state)
{
	(void)state;
	for (unsigned phase = 0; phase < 8; phase++) {
		uint64_t nan, least, nan_at = 0, least_at = 0;
		struct b35 b;

		large(&b, phase);
		b35_build(&b); /* to learn where the records lie */
		nan = plant(&b, 2, NAN_BITS, &nan_at);
		least = plant(&b, 7, LEAST, &least_at);
		assert_true(nan >= 10 && least >= 10);
		b35_build(&b);
		for (int how = phase % 2; how < READINGS; how += 2) {
			struct hearing h;
			struct judged j;

			free(read_once(&b, (enum reading)how, &h, &j));
			check(&j, "CK4001", nan, nan_at);
			check(&j, "CK4003", least, least_at);
			assert_int_equal(judged_faults(&j), 2);
			judged_free(&j);
		}
		b35_free(&b);
	}
}

static void
test_pass_listeners_hear_the_same(void **state)
{
	(void)state;
	for (int bad = 0; bad < 2; bad++) {
		struct hearing whole, h;
		struct judged j;
		struct b35 b;
		char *words;

		large(&b, 5);
		if (bad) {
			b.checksum = B35_TELL(3);
			b35_f64_bits(&b.records[3], 7, NAN_BITS);
		}
		b35_build(&b);
		words = read_once(&b, PLAIN, &whole, &j);
		assert_int_equal(j.verdict, bad ? CKPT_INVALID : CKPT_VALID);
		judged_free(&j);
		for (int how = THREAD; how < READINGS; how++) {
			char *again = read_once(&b, (enum reading)how, &h, &j);

			assert_string_equal(again, words);
			assert_true(h.hash == whole.hash);
			assert_int_equal(h.events, whole.events);
			free(again);
			judged_free(&j);
		}
		free(words);
		b35_free(&b);
	}
}

/* What the plain loop would say, value by value. */
static struct ckpt_f64_glance
slowly(const uint8_t *p)
{
	struct ckpt_f64_glance g = { 0, false };

	for (size_t i = 0; i < CKPT_F64_BLOCK; i += 8) {
		uint64_t bits = 0;

		for (size_t k = 8; k-- > 0;)
			bits = bits << 8 | p[i + k];
		g.any |= bits;
		g.special |= (bits & CKPT_F64_EXPONENT) == CKPT_F64_EXPONENT;
	}
	return g;
}

/* Each kind of value at each place and address, alone in a block. */
static void
test_pass_glance_misses_nothing(void **state)
{
	static const uint64_t odd[] = { NAN_BITS, LEAST, CKPT_F64_EXPONENT,
		CKPT_F64_EXPONENT | CKPT_F64_SIGN, CKPT_F64_EXPONENT | 1,
		0x7fefffffffffffffu, 0x0010000000000000u, 1, UINT64_MAX };
	ckpt_f64_look *const looks[] = { ckpt_f64_looking(),
		ckpt_f64_look_plain };
	uint8_t bytes[CKPT_F64_BLOCK + 8];

	(void)state;
	for (size_t i = 0; i < CKPT_F64_BLOCK / 8 * 9 * 8; i++) {
		size_t k = i % 9, place = i / 9 % (CKPT_F64_BLOCK / 8);
		uint8_t *p = bytes + i / 9 / (CKPT_F64_BLOCK / 8);
		struct ckpt_f64_glance want;

		memset(bytes, 0, sizeof bytes);
		for (size_t byte = 0; byte < 8; byte++)
			p[8 * place + byte] = (uint8_t)(odd[k] >> 8 * byte);
		want = slowly(p);
		for (size_t l = 0; l < 2; l++) {
			struct ckpt_f64_glance g = looks[l](p);

			assert_true(g.any == want.any);
			assert_int_equal(g.special, want.special);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass_values_across_edges_at_every_phase),
		cmocka_unit_test(test_pass_listeners_hear_the_same),
		cmocka_unit_test(test_pass_glance_misses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
