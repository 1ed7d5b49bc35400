/* SPDX-License-Identifier: MIT */
/*
 * Paths: every field of the sample is found where the table says, and what is
 * no path finds nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "support/sample_rows.h"

static void
test_path_finds_every_field(void **state)
{
	struct sample_walk w;

	(void)state;
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
	for (size_t i = 0; i < sample_nplaces; i++) {
		const struct sample_place *want = &sample_places[i];
		struct ckpt_place place;

		if (!ckpt_path_find(
			    &sample_rec, &w.sample, 0, want->path, &place))
			fail_msg("%s is not found", want->path);
		if (place.off != want->off || place.len != want->len)
			fail_msg("%s is at %llu, %llu", want->path,
				(unsigned long long)place.off,
				(unsigned long long)place.len);
	}
	sample_walk_end(&w);
}

static void
test_path_parts_and_wholes(void **state)
{
	static const struct {
		const char *path;
		uint64_t off, len;
		enum ckpt_place_part part;
		bool whole;
	} rows[] = {
		{ "text.length", 31, 4, CKPT_PLACE_LENGTH, false },
		{ "text.bytes", 35, 3, CKPT_PLACE_BYTES, false },
		{ "names[0].bytes", 47, 2, CKPT_PLACE_BYTES, false },
		{ "names[1].length", 49, 4, CKPT_PLACE_LENGTH, false },
		{ "names", 39, 14, CKPT_PLACE_VALUE, true },
		{ "names.count", 39, 4, CKPT_PLACE_COUNT, true },
		{ "inner", 53, 10, CKPT_PLACE_VALUE, false },
		{ "words", 63, 10, CKPT_PLACE_VALUE, true },
		{ "points", 77, 35, CKPT_PLACE_VALUE, true },
		{ "points[0]", 77, 26, CKPT_PLACE_VALUE, false },
		{ "points[1]", 103, 9, CKPT_PLACE_VALUE, false },
		{ "points[0].coords", 87, 16, CKPT_PLACE_VALUE, true },
		{ "points[0].label.bytes", 82, 1, CKPT_PLACE_BYTES, false },
		{ "inners[0]", 116, 10, CKPT_PLACE_VALUE, false },
	};
	struct sample_walk w;

	(void)state;
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_place place;

		assert_true(ckpt_path_find(
			&sample_rec, &w.sample, 0, rows[i].path, &place));
		assert_int_equal(place.off, rows[i].off);
		assert_int_equal(place.len, rows[i].len);
		assert_int_equal(place.part, rows[i].part);
		assert_int_equal(place.whole_array, rows[i].whole);
	}
	sample_walk_end(&w);
}

static void
test_path_value_is_the_member(void **state)
{
	struct ckpt_place place;
	struct sample_walk w;

	(void)state;
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
	assert_true(ckpt_path_find(
		&sample_rec, &w.sample, 0, "points[0].coords[1]", &place));
	assert_int_equal(place.index, 1);
	assert_int_equal(ckpt_slot_load(place.value, 0, place.field->type),
		(uint64_t)8 | (uint64_t)1 << 63);
	assert_true(ckpt_path_find(&sample_rec, &w.sample, 0, "u32", &place));
	assert_ptr_equal(place.value, &w.sample.u32);
	/* Offsets count from where the record begins. */
	assert_true(
		ckpt_path_find(&sample_rec, &w.sample, 1000, "u32", &place));
	assert_int_equal(place.off, 1011);
	sample_walk_end(&w);
}

static void
test_path_nonsense_finds_nothing(void **state)
{
	static const char *const paths[] = { "", ".", "u", "u88", "u8.",
		"u8[0]", "u8.count", "[0]", "names[2]", "names[", "names[]",
		"names[x]", "names[-1]", "names[0", "names[0]x",
		"names[0].count", "names[99999999999999999999999]", "words[3]",
		"words[0].length", "points[2].kind", "points[0].coords[2]",
		"points.kind", "points[0].at", "points.count", "inner.",
		"inner..a", "inner.b", "text.size", "points[0].",
		"inners[1].a" };
	struct sample_walk w;

	(void)state;
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct ckpt_place place;

		if (ckpt_path_find(&sample_rec, &w.sample, 0, paths[i], &place))
			fail_msg("\"%s\" is found", paths[i]);
	}
	/* A field that is not there has no place. */
	w.sample.flag = 0;
	for (size_t i = 0; i < 2; i++) {
		struct ckpt_place place;

		assert_false(ckpt_path_find(&sample_rec, &w.sample, 0,
			i ? "names" : "names[0]", &place));
		assert_true(ckpt_path_find(
			&sample_rec, &w.sample, 0, "inner.a", &place));
		assert_int_equal(place.off, 39);
	}
	sample_walk_end(&w);
}

static void
test_path_is_written(void **state)
{
	const struct ckpt_path top = { 0 };
	const struct ckpt_path points = { &top, "points", true, 12 };
	const struct ckpt_path coords = { &points, "coords", true, 3 };
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_path_write(&coords, &buf);
	assert_string_equal(buf.p, "points[12].coords[3]");
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_finds_every_field),
		cmocka_unit_test(test_path_parts_and_wholes),
		cmocka_unit_test(test_path_value_is_the_member),
		cmocka_unit_test(test_path_nonsense_finds_nothing),
		cmocka_unit_test(test_path_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
