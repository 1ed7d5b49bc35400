/* SPDX-License-Identifier: MIT */
/*
 * The walker over rows of every kind: values, events, places, legal values,
 * truncation at every byte, and counts that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/guarded.h"
#include "support/sample_rows.h"
#include "wire/value.h"

struct log {
	struct ckpt_sink sink;
	struct ckpt_buf text;
};

static enum ckpt_status
log_event(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct log *log = (struct log *)sink;

	assert_int_equal(event->kind, CKPT_EV_FIELD);
	ckpt_buf_printf(&log->text, "%s %" PRIu64 "+%" PRIu64 " ", event->path,
		event->off, event->len);
	ckpt_value_write(&log->text, &event->value);
	ckpt_buf_puts(&log->text, "\n");
	return CKPT_OK;
}

/* The events are the fields of the table, in any chunks. */
static void
test_walk_events_are_the_fields(void **state)
{
	static const size_t chunks[] = { 1, 3, 7, 4096 };
	struct ckpt_buf want;

	(void)state;
	ckpt_buf_init(&want);
	for (size_t i = 0; i < sample_nplaces; i++)
		ckpt_buf_printf(&want, "%s %" PRIu64 "+%" PRIu64 " %s\n",
			sample_places[i].path, sample_places[i].off,
			sample_places[i].len, sample_places[i].shown);
	for (size_t i = 0; i < 4; i++) {
		struct log log = { .sink = { .event = log_event,
					   .wants_fields = true } };
		struct sample_walk w;

		sample_walk(
			&w, sample_bytes, SAMPLE_BYTES, chunks[i], &log.sink);
		assert_int_equal(w.status, CKPT_OK);
		assert_int_equal(ckpt_run_finding_count(w.run), 0);
		assert_int_equal(ckpt_reader_offset(&w.reader), SAMPLE_BYTES);
		assert_string_equal(log.text.p, want.p);
		ckpt_buf_release(&log.text);
		sample_walk_end(&w);
	}
	ckpt_buf_release(&want);
}

static void
test_walk_fills_the_structure(void **state)
{
	const struct sample_point *points;
	const struct ckpt_str *names;
	struct sample_walk w;
	const struct sample *s = &w.sample;

	(void)state;
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 5, NULL);
	assert_memory_equal(s->magic.b, "SAMPLE\0\1", 8);
	assert_int_equal(s->u16, 0x2221);
	assert_int_equal(s->u64, 0x4847464544434241);
	assert_true(s->f64 == 1.5 && s->inner.x == -0.5);
	assert_int_equal(s->text.n, 3);
	names = s->names.p;
	assert_int_equal(s->names.n, 2);
	assert_memory_equal(names[0].p, "n0", 2);
	assert_int_equal(names[1].n, 0);
	assert_int_equal(s->words.n, 3);
	assert_int_equal(((const uint16_t *)s->words.p)[2], 259);
	points = s->points.p;
	assert_int_equal(s->points.n, 2);
	assert_int_equal(points[0].at, 77);
	assert_int_equal(points[1].at, 103);
	assert_int_equal(points[0].coords.n, 2);
	assert_int_equal(points[1].coords.n, 0);
	assert_int_equal(((const uint64_t *)points[0].coords.p)[0], 9);
	assert_int_equal(s->tail, 0x77);
	sample_walk_end(&w);
}

/* Field of the table that byte n cuts. */
static const struct sample_place *
cut_at(uint64_t n)
{
	const struct sample_place *p = sample_places;

	while (p->off + p->len <= n)
		p++;
	return p;
}

static void
check_truncation(size_t n, bool file_ends)
{
	const struct sample_place *place = cut_at(n);
	const struct ckpt_diag *d;
	struct sample_walk w;
	uint8_t *copy = malloc(n + 1);

	/* A copy without a byte too many, for the sanitisers. */
	memcpy(copy, sample_bytes, n);
	if (file_ends)
		sample_walk_to(&w, copy, n, SAMPLE_BYTES, 4096, NULL);
	else
		sample_walk_to(&w, sample_bytes, SAMPLE_BYTES, n, 4096, NULL);
	assert_int_equal(w.status, CKPT_REJECTED);
	assert_int_equal(ckpt_run_finding_count(w.run), 1);
	d = ckpt_run_finding(w.run, 0);
	assert_string_equal(d->path, place->path);
	assert_int_equal(d->off, place->off);
	if (!strstr(d->expected.p, place->title))
		fail_msg("%s: %s", place->title, (const char *)d->expected.p);
	assert_non_null(strstr(d->found.p, file_ends ? "file" : "header"));
	assert_int_equal(d->len, n - place->off);
	assert_int_equal(d->rank.unit, place->off);
	/* What was not read is not there. */
	if (n < 55)
		assert_int_equal(w.sample.inner.a, 0);
	/* An array never counts an element that is not whole. */
	if (n >= 77 && n < 103)
		assert_int_equal(w.sample.points.n, 0);
	if (n >= 103 && n < 112)
		assert_int_equal(w.sample.points.n, 1);
	sample_walk_end(&w);
	free(copy);
}

static void
test_walk_truncation_at_every_byte(void **state)
{
	(void)state;
	for (size_t n = 0; n < SAMPLE_BYTES; n++) {
		check_truncation(n, true);
		check_truncation(n, false);
	}
}

static void
test_walk_absent_fields(void **state)
{
	uint8_t bytes[SAMPLE_BYTES];
	struct sample_walk w;

	(void)state;
	/* Flag 0: the names are not there. */
	memcpy(bytes, sample_bytes, SAMPLE_BYTES);
	bytes[38] = 0;
	memmove(bytes + 39, bytes + 53, SAMPLE_BYTES - 53);
	sample_walk(&w, bytes, SAMPLE_BYTES - 14, 9, NULL);
	assert_int_equal(w.status, CKPT_OK);
	assert_int_equal(w.sample.names.n, 0);
	assert_int_equal(w.sample.tail, 0x77);
	assert_int_equal(
		ckpt_record_wire(&sample_rec, &w.sample), SAMPLE_BYTES - 14);
	sample_walk_end(&w);
}

static void
check_finding(size_t at, uint8_t byte, const char *id, const char *path,
	uint64_t off, uint64_t len, enum ckpt_status status)
{
	uint8_t bytes[SAMPLE_BYTES];
	const struct ckpt_diag *d;
	struct sample_walk w;

	memcpy(bytes, sample_bytes, SAMPLE_BYTES);
	bytes[at] = byte;
	sample_walk(&w, bytes, SAMPLE_BYTES, 4096, NULL);
	assert_int_equal(w.status, status);
	d = ckpt_run_finding(w.run, 0);
	assert_non_null(d);
	assert_string_equal(d->rule->id, id);
	assert_string_equal(d->path, path);
	assert_int_equal(d->off, off);
	assert_int_equal(d->len, len);
	assert_int_equal(d->rank.unit, off + len);
	sample_walk_end(&w);
}

static void
test_walk_legal_values(void **state)
{
	(void)state;
	check_finding(8, 0x12, "CK2001", "u8", 8, 1, CKPT_REJECTED);
	check_finding(36, 0xff, "CK2008", "text", 31, 7, CKPT_OK);
	check_finding(77, 10, "CK2007", "points[0].kind", 77, 1, CKPT_OK);
	check_finding(103, 99, "CK2007", "points[1].kind", 103, 1, CKPT_OK);
}

/* Values that are judged when their phase is asked for. */
static void
test_walk_later_wants(void **state)
{
	const struct ckpt_diag *d;
	struct sample_walk w;

	(void)state;
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
	ckpt_walk_wants(&w.walk, 2, 5);
	assert_int_equal(ckpt_run_finding_count(w.run), 0);
	ckpt_walk_wants(&w.walk, 3, 5);
	assert_int_equal(ckpt_run_finding_count(w.run), 1);
	d = ckpt_run_finding(w.run, 0);
	assert_string_equal(d->path, "inner.x");
	assert_int_equal(d->off, 55);
	assert_int_equal(d->len, 8);
	assert_int_equal(d->rank.unit, 5);
	sample_walk_end(&w);
}

struct optional {
	uint8_t flag;
	double x;
	struct ckpt_array more;
	double y;
};

/* A field that is absent has no value, and an array none of its own; behind
 * the last row there is none. */
static void
test_walk_later_wants_of_what_is_there(void **state)
{
	static const struct ckpt_want want = {
		.kind = CKPT_WANT_F64_POSITIVE,
		.code = CKPT_D_EPSILON,
		.at = 3,
	};
	static const struct ckpt_field element[] = {
		CKPT_FIELD(struct optional, x, .want = &want),
	};
	static const struct ckpt_record inner = {
		.name = "inner",
		.size = sizeof(struct optional),
		.fields = element,
		.nfields = 1,
	};
	static const struct ckpt_field fields[] = {
		CKPT_FIELD(struct optional, flag, .doc = ""),
		CKPT_FIELD(struct optional, x, .want = &want,
			.when = { true, offsetof(struct optional, flag),
				CKPT_U8, 1 }),
		CKPT_ARRAY(struct optional, more, flag, CKPT_REC,
			.prefixed = true, .rec = &inner),
		CKPT_FIELD(struct optional, y, .want = &want),
	};
	const struct ckpt_record rec = { .name = "optional",
		.size = sizeof(struct optional),
		.fields = guarded(fields, sizeof fields),
		.nfields = 4 };

	(void)state;
	for (uint8_t flag = 0; flag < 3; flag++) {
		struct optional value = { flag, 0.0, { 0 }, -1.0 };
		struct sample_walk w;
		size_t n = 1 + (flag == 1);

		sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
		w.walk.root = &rec;
		w.walk.root_base = &value;
		ckpt_walk_wants(&w.walk, 3, 5);
		assert_int_equal(ckpt_run_finding_count(w.run), n);
		assert_string_equal(ckpt_run_finding(w.run, n - 1)->path, "y");
		assert_string_equal(ckpt_run_finding(w.run, 0)->path,
			flag == 1 ? "x" : "y");
		sample_walk_end(&w);
	}
}

/* Counts and lengths of 2^32 - 1 anywhere, with and without bytes behind
 * them: memory stays within a multiple of the bytes there are. */
static void
test_walk_hostile_counts(void **state)
{
	enum { BEHIND = 300000 };
	uint8_t *bytes = calloc(1, SAMPLE_BYTES + BEHIND);
	size_t lengths[] = { SAMPLE_BYTES, SAMPLE_BYTES + BEHIND };

	(void)state;
	for (size_t at = 8; at + 4 <= SAMPLE_BYTES; at++)
		for (size_t i = 0; i < 2; i++) {
			struct sample_walk w;

			memcpy(bytes, sample_bytes, SAMPLE_BYTES);
			memset(bytes + at, 0xff, 4);
			bytes[8] = 0x11;
			sample_walk(&w, bytes, lengths[i], 4096, NULL);
			assert_true(w.status == CKPT_OK ||
				    w.status == CKPT_REJECTED);
			assert_true(w.run->arena.used <=
				    CKPT_READER_BUFFER + 128 * 1024 +
					    12 * lengths[i]);
			assert_int_equal(ckpt_record_wire(&sample_rec,
						 &w.sample) <= lengths[i] + 128,
				true);
			sample_walk_end(&w);
		}
	free(bytes);
}

/* As many faulty names as there is room for are told apart in linear time. */
static void
test_walk_many_faulty_records(void **state)
{
	enum { POINTS = 200000 };
	size_t n = 77 + POINTS * 9;
	uint8_t *bytes = calloc(1, n);
	const struct ckpt_diag *d;
	struct sample_walk w;

	(void)state;
	memcpy(bytes, sample_bytes, 73);
	bytes[73] = POINTS & 255;
	bytes[74] = POINTS >> 8 & 255;
	bytes[75] = POINTS >> 16;
	for (size_t i = 0; i < POINTS; i++)
		bytes[77 + 9 * i] = 10;
	sample_walk(&w, bytes, n, SIZE_MAX, NULL);
	assert_int_equal(w.sample.points.n, POINTS);
	assert_int_equal(
		ckpt_run_finding_count(w.run), CKPT_DIAGS_PER_RULE + 1);
	d = ckpt_run_finding(w.run, 999);
	assert_string_equal(d->path, "points[999].kind");
	assert_int_equal(d->off, 77 + 9 * 999);
	assert_true(w.run->words.used < 1024 * 1024);
	sample_walk_end(&w);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk_events_are_the_fields),
		cmocka_unit_test(test_walk_fills_the_structure),
		cmocka_unit_test(test_walk_truncation_at_every_byte),
		cmocka_unit_test(test_walk_absent_fields),
		cmocka_unit_test(test_walk_legal_values),
		cmocka_unit_test(test_walk_later_wants),
		cmocka_unit_test(test_walk_later_wants_of_what_is_there),
		cmocka_unit_test(test_walk_hostile_counts),
		cmocka_unit_test(test_walk_many_faulty_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
