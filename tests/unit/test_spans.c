/* SPDX-License-Identifier: MIT */
/*
 * The span index: the division of made-up files whose owners are known by
 * hand, the division against a slow one that asks for every byte, and the
 * property that owners tile the file, for good, broken and random files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sink/spans.h"
#include "support/sample.h"

/* ---- Made-up files ------------------------------------------------------ */

static void
tell_field(
	struct ckpt_spans *spans, const char *path, uint64_t off, uint64_t len)
{
	static const struct ckpt_field row = { .name = "f", .type = CKPT_U8 };
	struct ckpt_event event = { .kind = CKPT_EV_FIELD,
		.field = &row,
		.path = path,
		.off = off,
		.len = len,
		.value = ckpt_v_u64(0) };

	assert_int_equal(spans->sink.event(&spans->sink, &event), CKPT_OK);
}

static void
tell_tensor(struct ckpt_spans *spans, uint64_t off, uint64_t len)
{
	uint64_t dims[1] = { len };
	struct ckpt_span span = { .index = spans->ntensors,
		.role = "",
		.name = (const uint8_t *)"t",
		.name_len = 1,
		.label = "",
		.dtype = "u8",
		.width = 1,
		.dims = dims,
		.rank = 1,
		.off = off,
		.len = len,
		.expected = off };
	struct ckpt_event event = { .kind = CKPT_EV_SPAN, .span = &span };

	assert_int_equal(spans->sink.event(&spans->sink, &event), CKPT_OK);
}

/* "F0" field, "T1" tensor, "H" header, "G" gap, "N" nobody: with the range
 * of each owner. */
static void
assert_owners(const struct ckpt_spans *spans, const char *expected)
{
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	for (uint64_t i = 0; i < spans->nowners; i++) {
		const struct ckpt_owner *o = &spans->owners[i];

		ckpt_buf_printf(
			&buf, "%s%c", i ? " " : "", "FTHGN"[(int)o->kind]);
		if (o->kind <= CKPT_OWNER_TENSOR)
			ckpt_buf_printf(
				&buf, "%llu", (unsigned long long)o->index);
		ckpt_buf_printf(&buf, "[%llu,%llu)", (unsigned long long)o->off,
			(unsigned long long)o->end);
	}
	assert_string_equal(buf.p ? buf.p : "", expected);
	ckpt_buf_release(&buf);
}

static void
test_spans_divide(void **state)
{
	struct ckpt_spans s;

	(void)state;
	ckpt_spans_init(&s, 1 << 20, true);
	tell_field(&s, "a", 0, 4);
	tell_field(&s, "b", 4, 2);
	tell_tensor(&s, 10, 5);
	tell_tensor(&s, 15, 5);
	tell_tensor(&s, 22, 3);
	assert_int_equal(ckpt_spans_close(&s, 8, 30), CKPT_OK);
	assert_owners(&s, "F0[0,4) F1[4,6) H[6,8) G[8,10) T0[10,15) "
			  "T1[15,20) G[20,22) T2[22,25) N[25,30)");
	ckpt_spans_release(&s);
}

static void
test_spans_divide_overlaps(void **state)
{
	struct ckpt_spans s;

	(void)state;
	ckpt_spans_init(&s, 1 << 20, true);
	tell_field(&s, "b", 4, 2); /* out of order */
	tell_field(&s, "a", 0, 3);
	tell_tensor(&s, 12, 8);               /* starts second */
	tell_tensor(&s, 10, 5);               /* starts first */
	tell_tensor(&s, 12, 2);               /* has nothing left */
	tell_tensor(&s, 1, 6);                /* over the header */
	tell_tensor(&s, 28, 100);             /* beyond the end */
	tell_tensor(&s, UINT64_MAX - 1, 100); /* far beyond it */
	tell_tensor(&s, 25, 0);               /* empty */
	tell_tensor(&s, 26, UINT64_MAX);      /* its end does not fit */
	assert_int_equal(ckpt_spans_close(&s, 8, 30), CKPT_OK);
	assert_owners(&s, "F1[0,3) T3[3,4) F0[4,6) T3[6,7) H[7,8) G[8,10) "
			  "T1[10,15) T0[15,20) G[20,26) T7[26,30)");
	ckpt_spans_release(&s);
}

static void
test_spans_divide_nothing(void **state)
{
	struct ckpt_spans s;

	(void)state;
	ckpt_spans_init(&s, 1 << 20, true);
	assert_int_equal(ckpt_spans_close(&s, 0, 0), CKPT_OK);
	assert_owners(&s, "");
	assert_null(ckpt_spans_at(&s, 0));
	assert_int_equal(ckpt_spans_close(&s, 99, 7), CKPT_OK);
	assert_owners(&s, "H[0,7)");
	assert_int_equal(ckpt_spans_close(&s, 0, 7), CKPT_OK);
	assert_owners(&s, "N[0,7)");
	assert_null(ckpt_spans_at(&s, 7));
	ckpt_spans_release(&s);
}

static void
test_spans_memory(void **state)
{
	struct ckpt_spans s;
	uint64_t dims[1] = { 1 };
	struct ckpt_span span = { .name = (const uint8_t *)"t",
		.name_len = 1,
		.dims = dims,
		.rank = 1 };
	struct ckpt_event event = { .kind = CKPT_EV_SPAN, .span = &span };
	enum ckpt_status status = CKPT_OK;

	(void)state;
	ckpt_spans_init(&s, 1 << 20, true);
	for (int i = 0; i < 1 << 20 && status == CKPT_OK; i++)
		status = s.sink.event(&s.sink, &event);
	assert_int_equal(status, CKPT_ELIMIT);
	assert_true(s.arena.used <= 1 << 20);
	ckpt_spans_release(&s);
}

/* ---- Properties --------------------------------------------------------- */

/* Tiles, and for each owner that its field or tensor claims all its bytes. */
static void
assert_tiles(const struct ckpt_spans *s)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < s->nowners; i++) {
		const struct ckpt_owner *o = &s->owners[i];

		assert_int_equal(o->off, at);
		assert_true(o->end > o->off);
		at = o->end;
		if (o->kind == CKPT_OWNER_FIELD) {
			const struct ckpt_span_field *f = &s->fields[o->index];

			assert_true(o->index < s->nfields);
			assert_true(o->off >= f->off);
			assert_true(o->end <= f->off + f->len);
		} else if (o->kind == CKPT_OWNER_TENSOR) {
			const struct ckpt_span *t = &s->tensors[o->index];

			assert_true(o->index < s->ntensors);
			assert_true(o->off >= t->off);
			assert_true(o->end - t->off <= t->len);
		}
	}
	assert_int_equal(at, s->size);
}

static bool
field_claims(const struct ckpt_spans *s, uint64_t off)
{
	for (uint64_t i = 0; i < s->nfields; i++)
		if (off >= s->fields[i].off &&
			off - s->fields[i].off < s->fields[i].len)
			return true;
	return false;
}

static bool
tensor_claims(const struct ckpt_spans *s, uint64_t off)
{
	for (uint64_t i = 0; i < s->ntensors; i++)
		if (off >= s->tensors[i].off &&
			off - s->tensors[i].off < s->tensors[i].len)
			return true;
	return false;
}

/* Every byte: found by the search, and owned by whom a slow look says. */
static void
assert_bytes(const struct ckpt_spans *s)
{
	for (uint64_t off = 0; off < s->size; off++) {
		const struct ckpt_owner *o = ckpt_spans_at(s, off);

		assert_non_null(o);
		assert_true(o->off <= off && off < o->end);
		assert_int_equal(
			field_claims(s, off), o->kind == CKPT_OWNER_FIELD);
		if (o->kind != CKPT_OWNER_FIELD)
			assert_int_equal(tensor_claims(s, off),
				o->kind == CKPT_OWNER_TENSOR);
	}
	assert_null(ckpt_spans_at(s, s->size));
	assert_null(ckpt_spans_at(s, UINT64_MAX));
}

static uint64_t
draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void
test_spans_tile_random(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 500; round++) {
		uint64_t size = draw(&seed) % 80, at = 0;
		struct ckpt_spans s;

		ckpt_spans_init(&s, 1 << 20, true);
		while (at < size / 2) {
			uint64_t len = 1 + draw(&seed) % 6;

			/* Fields were read, so they are in the file. */
			if (at + len > size)
				break;
			if (draw(&seed) % 3)
				tell_field(&s, "f", at, len);
			at += len;
		}
		for (uint64_t k = draw(&seed) % 8; k > 0; k--)
			tell_tensor(&s, draw(&seed) % 90, draw(&seed) % 20);
		assert_int_equal(
			ckpt_spans_close(&s, draw(&seed) % 90, size), CKPT_OK);
		assert_tiles(&s);
		assert_bytes(&s);
		ckpt_spans_release(&s);
	}
}

/* ---- Files -------------------------------------------------------------- */

static void
verify(struct ckpt_spans *s, const uint8_t *p, size_t n)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_source *source = ckpt_source_memory(p, n);

	assert_non_null(run);
	assert_non_null(source);
	ckpt_spans_init(s, 1 << 28, true);
	ckpt_run_listen(run, &s->sink);
	(void)ckpt_verify(run, source);
	assert_int_equal(
		ckpt_spans_close(s, run->header_end, run->size), CKPT_OK);
	assert_int_equal(s->size, n);
	ckpt_source_close(source);
	ckpt_run_free(run);
}

/* A good file: no byte of it is left over. What was told is a copy, so it is
 * looked at after the run is gone. */
static void
test_spans_good_file(void **state)
{
	size_t n;
	uint8_t *p = sample_make(sample_find("plain"), &n);
	struct ckpt_spans s;

	(void)state;
	assert_non_null(p);
	verify(&s, p, n);
	assert_tiles(&s);
	assert_bytes(&s);
	for (uint64_t i = 0; i < s.nowners; i++)
		assert_true(s.owners[i].kind <= CKPT_OWNER_TENSOR);
	assert_true(s.ntensors > 0);
	for (uint64_t i = 0; i < s.ntensors; i++) {
		const struct ckpt_span *t = &s.tensors[i];
		const struct ckpt_owner *o = ckpt_spans_at(&s, t->record_at);
		uint64_t elements, element, start;

		assert_int_equal(t->off, t->expected);
		assert_int_equal(o->kind, CKPT_OWNER_FIELD);
		assert_true(ckpt_span_elements(t, &elements));
		assert_int_equal(elements * t->width, t->len);
		assert_true(ckpt_span_element(
			t, t->off + t->len - 1, &element, &start));
		assert_int_equal(element, elements - 1);
		assert_int_equal(start, t->off + t->len - t->width);
	}
	ckpt_spans_release(&s);
	free(p);
}

/* Prefixes, and single bytes changed: whatever happens, the owners tile. */
static void
test_spans_broken_files(void **state)
{
	size_t n;
	uint8_t *p = sample_make(sample_find("plain"), &n);
	struct ckpt_spans s;

	(void)state;
	assert_non_null(p);
	for (size_t cut = 0; cut < n; cut += cut < 600 ? 1 : 37) {
		verify(&s, p, cut);
		assert_tiles(&s);
		ckpt_spans_release(&s);
	}
	for (size_t i = 0; i < n; i += i < 1000 ? 1 : 61) {
		static const uint8_t values[] = { 0x00, 0x7f, 0xff };
		uint8_t kept = p[i];

		for (size_t k = 0; k < sizeof values; k++) {
			p[i] = values[k];
			verify(&s, p, n);
			assert_tiles(&s);
			ckpt_spans_release(&s);
		}
		p[i] = kept;
	}
	free(p);
}

static void
test_spans_index(void **state)
{
	const uint64_t dims[3] = { 3, 4, 2 };
	struct ckpt_span span = {
		.dims = dims, .rank = 2, .off = 100, .width = 8
	};
	uint64_t element, start;
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	assert_true(
		ckpt_span_element(&span, 100 + 8 * 6 + 3, &element, &start));
	assert_int_equal(element, 6);
	assert_int_equal(start, 148);
	ckpt_span_index_write(&buf, &span, element);
	span.rank = 3;
	ckpt_span_index_write(&buf, &span, element);
	assert_string_equal(buf.p, "[1,2][6]");
	assert_false(ckpt_span_element(&span, 99, &element, &start));
	span.width = 0;
	assert_false(ckpt_span_element(&span, 100, &element, &start));
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans_divide),
		cmocka_unit_test(test_spans_divide_overlaps),
		cmocka_unit_test(test_spans_divide_nothing),
		cmocka_unit_test(test_spans_memory),
		cmocka_unit_test(test_spans_tile_random),
		cmocka_unit_test(test_spans_good_file),
		cmocka_unit_test(test_spans_broken_files),
		cmocka_unit_test(test_spans_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
