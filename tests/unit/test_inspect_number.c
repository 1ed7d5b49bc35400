/* SPDX-License-Identifier: MIT */
/*
 * Elements as numbers, for every dtype that a file may have: their value at an
 * offset as text and as JSON, and statistics over tensors that come in pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "cli/inspect.h"
#include "io/source_slow.h"
#include "sink/spot.h"

static void
test_inspect_number_of_every_kind(void **state)
{
#define REAL(value, bits) "{\"value\": " value ", \"bits\": \"" bits "\"}"
	static const struct {
		const char *dtype;
		unsigned width;
		uint64_t bits;
		const char *text, *json;
	} rows[] = {
		{ "f64", 8, 0xbff8000000000000, "-1.5 (bits bff8000000000000)",
			REAL("-1.5", "bff8000000000000") },
		{ "F64", 8, 0xbff8000000000000, "-1.5 (bits bff8000000000000)",
			REAL("-1.5", "bff8000000000000") },
		{ "F32", 4, 0x40200000, "2.5 (bits 40200000)",
			REAL("2.5", "40200000") },
		{ "F32", 4, 0x3dcccccd, "0.10000000149011612 (bits 3dcccccd)",
			REAL("0.10000000149011612", "3dcccccd") },
		{ "F16", 2, 0x3e00, "1.5 (bits 3e00)", REAL("1.5", "3e00") },
		{ "F16", 2, 0x7c01, "NaN (bits 7c01)", REAL("null", "7c01") },
		{ "BF16", 2, 0xc040, "-3 (bits c040)", REAL("-3.0", "c040") },
		{ "BF16", 2, 0xff80, "-inf (bits ff80)", REAL("null", "ff80") },
		{ "F8_E4M3", 1, 0x3c, "1.5 (bits 3c)", REAL("1.5", "3c") },
		{ "F8_E5M2", 1, 0x02, "3.0517578125e-05 (bits 02)",
			REAL("3.0517578125e-5", "02") },
		{ "F8_E8M0", 1, 0x80, "2 (bits 80)", REAL("2.0", "80") },
		{ "C64", 8, 0xbf8000003dcccccd,
			"0.10000000149011612 (bits 3dcccccd), "
			"imaginary -1 (bits bf800000)",
			"[" REAL("0.10000000149011612", "3dcccccd") ", " REAL(
				"-1.0", "bf800000") "]" },
		{ "u8", 1, 65, "65 'A'", "65" },
		{ "U8", 1, 7, "7", "7" },
		{ "BOOL", 1, 65, "65", "65" },
		{ "u32", 4, 0xffffffff, "4294967295", "4294967295" },
		{ "U64", 8, 9, "9", "9" },
		{ "I8", 1, 0x80, "-128", "-128" },
		{ "I16", 2, 0xffff, "-1", "-1" },
		{ "I32", 4, 0x7fffffff, "2147483647", "2147483647" },
		{ "I64", 8, 0x8000000000000000, "-9223372036854775808",
			"-9223372036854775808" },
		{ "unknown", 2, 0xab, "0xab", "null" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ckpt_span span = { .dtype = rows[i].dtype,
			.width = rows[i].width };
		struct ckpt_buf buf;
		json_t *json = ckpt_number_json(&span, rows[i].bits);
		char *text = json_dumps(json, JSON_ENCODE_ANY);

		ckpt_buf_init(&buf);
		ckpt_number_write(&buf, &span, rows[i].bits);
		assert_string_equal(buf.p, rows[i].text);
		assert_string_equal(text, rows[i].json);
		ckpt_buf_release(&buf);
		free(text);
		json_decref(json);
	}
}

static void
test_inspect_number_groups(void **state)
{
	static const struct {
		const char *dtype;
		unsigned width, bytes, count;
	} rows[] = { { "f64", 8, 8, 1 }, { "BF16", 2, 2, 1 },
		{ "C64", 8, 8, 2 }, { "F4", 0, 1, 2 }, { "F6_E2M3", 0, 3, 4 },
		{ "BOOL", 1, 1, 1 } };
	struct ckpt_span span = { .dtype = "unknown", .width = 4 };

	(void)state;
	assert_null(ckpt_number_group_of(&span).dtype);
	span.dtype = "F64"; /* with a width that is not its own */
	assert_null(ckpt_number_group_of(&span).dtype);
	span.dtype = "a name that is longer than that of any dtype";
	assert_null(ckpt_number_group_of(&span).dtype);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_number_group g;

		span = (struct ckpt_span){ .dtype = rows[i].dtype,
			.width = rows[i].width };
		g = ckpt_number_group_of(&span);
		assert_non_null(g.dtype);
		assert_int_equal(g.bytes, rows[i].bytes);
		assert_int_equal(g.count, rows[i].count);
	}
}

static void
check(const struct ckpt_stats *s, uint64_t count, double min, double max,
	double sum, uint64_t zeros, uint64_t denormals)
{
	assert_int_equal(s->count, count);
	assert_true(s->min == min);
	assert_true(s->max == max);
	assert_true(ckpt_stats_mean(s) == sum / (double)s->finite);
	assert_int_equal(s->zeros, zeros);
	assert_int_equal(s->denormals, denormals);
}

/* Six tensors behind each other, so that most begin and are cut anywhere. */
static void
test_inspect_number_statistics(void **state)
{
	static const char header[] =
		"{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]}"
		","
		"\"b\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],"
		"\"data_offsets\":[2,5]},"
		"\"c\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[5,13]"
		"},"
		"\"d\":{\"dtype\":\"BF16\",\"shape\":[4],"
		"\"data_offsets\":[13,21]},"
		"\"e\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[21,"
		"25]},"
		"\"f\":{\"dtype\":\"F8_E4M3\",\"shape\":[3],"
		"\"data_offsets\":[25,28]}}";
	static const uint8_t data[] = {
		0x21, 0xf0,                         /* 0.5, 1, 0, -6 */
		0x81, 0x07, 0x00,                   /* 0.125, 7, 0, 0 */
		0, 0, 0x40, 0x3f, 0, 0, 0x80, 0xbf, /* 0.75, -1 */
		0x80, 0x3f, 0xc0, 0x7f, 0x80, 0xff, 1,
		0,                      /* 1 NaN -inf 2^-133 */
		0xff, 0xff, 0x05, 0x00, /* -1, 5 */
		0x7e, 0x01, 0x7f,       /* 448, 2^-9, NaN */
	};
	uint8_t file[sizeof header + sizeof data + 8];
	size_t n = sizeof header - 1;

	(void)state;
	ckpt_store_u64(file, n);
	memcpy(file + 8, header, n);
	memcpy(file + 8 + n, data, sizeof data);
	n += 8 + sizeof data;
	for (size_t most = 1; most < 12; most++) {
		struct inspect in = { .path = "FILE",
			.section = INSPECT_STATS };

		assert_true(inspect_load(
			&in, ckpt_source_slow(ckpt_source_memory(file, n), most,
				     true, UINT64_MAX)));
		assert_int_equal(in.nstats, 6);
		check(&in.stats[0], 4, -6.0, 1.0, -4.5, 1, 1);
		check(&in.stats[1], 4, 0.0, 7.0, 7.125, 2, 1);
		check(&in.stats[2], 2, -1.0, 0.75, -0.25, 0, 0);
		check(&in.stats[3], 4, 0x1p-133, 1.0, 1.0, 0, 1);
		assert_int_equal(in.stats[3].nan, 1);
		assert_int_equal(in.stats[3].inf, 1);
		assert_int_equal(in.stats[3].finite, 2);
		check(&in.stats[4], 2, -1.0, 5.0, 4.0, 0, 0);
		check(&in.stats[5], 3, 0x1p-9, 448.0, 448.001953125, 0, 1);
		inspect_release(&in);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inspect_number_of_every_kind),
		cmocka_unit_test(test_inspect_number_groups),
		cmocka_unit_test(test_inspect_number_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
