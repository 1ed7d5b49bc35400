/* SPDX-License-Identifier: MIT */
/*
 * The emitter: what was decoded comes out as it went in, lies are written as
 * they stand, and sizes on the wire are those of the bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "support/sample_rows.h"
#include "wire/emit.h"

static void
test_emit_gives_the_bytes_back(void **state)
{
	struct sample_walk w;
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
	ckpt_emit_record(&buf, &sample_rec, &w.sample);
	assert_int_equal(buf.n, SAMPLE_BYTES);
	assert_memory_equal(buf.p, sample_bytes, SAMPLE_BYTES);
	assert_int_equal(
		ckpt_record_wire(&sample_rec, &w.sample), SAMPLE_BYTES);
	sample_walk_end(&w);
	ckpt_buf_release(&buf);
}

/* Any other byte in any place: whatever is decoded comes out the same, and
 * decodes again. */
static void
test_emit_of_changed_bytes(void **state)
{
	uint32_t seed = 17;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		uint8_t bytes[SAMPLE_BYTES];
		struct sample_walk w;
		struct ckpt_buf buf;

		memcpy(bytes, sample_bytes, SAMPLE_BYTES);
		for (int i = 0; i < 3; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[(seed >> 8) % SAMPLE_BYTES] =
				(uint8_t)(seed >> 28);
		}
		bytes[8] = 0x11;
		ckpt_buf_init(&buf);
		sample_walk(&w, bytes, SAMPLE_BYTES, 4096, NULL);
		if (w.status == CKPT_OK) {
			size_t n = (size_t)ckpt_reader_offset(&w.reader);

			ckpt_emit_record(&buf, &sample_rec, &w.sample);
			assert_int_equal(buf.n, n);
			assert_memory_equal(buf.p, bytes, n);
		}
		sample_walk_end(&w);
		ckpt_buf_release(&buf);
	}
}

/* Counts and lengths are members of their own. */
static void
test_emit_writes_lies(void **state)
{
	uint8_t want[SAMPLE_BYTES];
	struct sample_walk w;
	struct ckpt_buf buf;

	(void)state;
	memcpy(want, sample_bytes, SAMPLE_BYTES);
	ckpt_buf_init(&buf);
	sample_walk(&w, sample_bytes, SAMPLE_BYTES, 4096, NULL);
	w.sample.text.declared = 0x01020304;
	memcpy(want + 31, "\4\3\2\1", 4);
	w.sample.names.declared = UINT32_MAX;
	memset(want + 39, 0xff, 4);
	w.sample.npoints = 7;
	want[73] = 7;
	((struct sample_point *)w.sample.points.p)[0].n = 5;
	want[83] = 5;
	ckpt_emit_record(&buf, &sample_rec, &w.sample);
	assert_int_equal(buf.n, SAMPLE_BYTES);
	assert_memory_equal(buf.p, want, SAMPLE_BYTES);
	sample_walk_end(&w);
	ckpt_buf_release(&buf);
}

static void
test_emit_widths_of_types(void **state)
{
	(void)state;
	assert_int_equal(ckpt_type_width(CKPT_STR), 0);
	assert_int_equal(ckpt_type_width(CKPT_MAGIC), 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emit_gives_the_bytes_back),
		cmocka_unit_test(test_emit_of_changed_bytes),
		cmocka_unit_test(test_emit_writes_lies),
		cmocka_unit_test(test_emit_widths_of_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
