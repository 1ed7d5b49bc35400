/* SPDX-License-Identifier: MIT */
/*
 * The sections of ckinspect on files in memory: --at for every byte against
 * what the sections fields and records say, hostile bytes through everything,
 * tables and statistics against known answers, pipes against files.
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

#include "base/bytes.h"
#include "base/utf8.h"
#include "cli/inspect.h"
#include "io/source_slow.h"
#include "support/sample.h"

static void
load(struct inspect *in, enum inspect_section_id section, bool json,
	const uint8_t *p, size_t n)
{
	memset(in, 0, sizeof *in);
	in->path = "FILE";
	in->section = section;
	in->json = json;
	assert_true(inspect_load(in, ckpt_source_memory(p, n)));
}

/* The fields that are kept depend on the offset. */
static void
load_at(struct inspect *in, uint64_t off, const uint8_t *p, size_t n)
{
	memset(in, 0, sizeof *in);
	in->path = "FILE";
	in->section = INSPECT_AT;
	in->json = true;
	in->offset = off;
	assert_true(inspect_load(in, ckpt_source_memory(p, n)));
}

static json_t *
shown(struct inspect *in)
{
	json_t *object;

	ckpt_buf_clear(&in->out);
	assert_true(inspect_show(in));
	object = json_loadb(in->out.p, in->out.n, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(object);
	return object;
}

static uint64_t
number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return (uint64_t)json_integer_value(value);
}

static uint64_t
range_of(const json_t *object, size_t i)
{
	return (uint64_t)json_integer_value(
		json_array_get(json_object_get(object, "range"), i));
}

static const char *
text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	assert_non_null(s);
	return s;
}

/* ---- --at --------------------------------------------------------------- */

/* What a field's row says about one of its bytes. */
static void
assert_at_field(const json_t *at, const json_t *field, uint64_t off)
{
	const char *path = text(field, "path"), *got = text(at, "path");
	uint64_t start = number(field, "offset");
	bool string = strcmp(text(field, "type"), "string") == 0;
	const char *part = !string           ? ""
			   : off < start + 4 ? ".length"
					     : ".bytes";

	assert_string_equal(text(at, "kind"), "field");
	assert_memory_equal(got, path, strlen(path));
	assert_string_equal(got + strlen(path), part);
	if (strcmp(part, ".length") == 0)
		assert_int_equal(
			number(at, "value"), number(field, "length") - 4);
	else
		assert_true(json_equal(json_object_get(at, "value"),
			json_object_get(field, "value")));
}

/* The element's number, path and bits from the record's row and the file. */
static void
assert_at_record(const json_t *at, const json_t *record, uint64_t off,
	const uint8_t *file)
{
	uint64_t width = number(record, "width");
	uint64_t element = (off - range_of(record, 0)) / width;
	const json_t *shape = json_object_get(record, "shape");
	uint64_t columns = (uint64_t)json_integer_value(
		json_array_get(shape, json_array_size(shape) - 1));
	char path[80];

	if (json_array_size(shape) == 2)
		snprintf(path, sizeof path, "records[%llu].data[%llu,%llu]",
			(unsigned long long)number(record, "record"),
			(unsigned long long)(element / columns),
			(unsigned long long)(element % columns));
	else
		snprintf(path, sizeof path, "records[%llu].data[%llu]",
			(unsigned long long)number(record, "record"),
			(unsigned long long)element);
	assert_string_equal(text(at, "kind"), "tensor");
	assert_string_equal(text(at, "path"), path);
	assert_int_equal(number(at, "element"), element);
	file += range_of(record, 0) + element * width;
	if (width == 1) {
		assert_int_equal(number(at, "value"), file[0]);
	} else {
		snprintf(path, sizeof path, "%016llx",
			(unsigned long long)ckpt_load_u64(file));
		assert_string_equal(
			text(json_object_get(at, "value"), "bits"), path);
	}
}

static const json_t *
row_at(const json_t *rows, uint64_t off, bool fields)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		uint64_t start =
			fields ? number(row, "offset") : range_of(row, 0);
		uint64_t end = fields ? start + number(row, "length")
				      : range_of(row, 1);

		if (off >= start && off < end)
			return row;
	}
	return NULL;
}

static void
test_inspect_at_every_byte(void **state)
{
	size_t n;
	uint8_t *p = sample_make(sample_find("plain"), &n);
	struct inspect fields, records, in;
	json_t *f, *r;

	(void)state;
	assert_non_null(p);
	load(&fields, INSPECT_FIELDS, true, p, n);
	load(&records, INSPECT_RECORDS, true, p, n);
	f = shown(&fields);
	r = shown(&records);
	for (uint64_t off = 0; off < n; off++) {
		const json_t *row =
			row_at(json_object_get(f, "fields"), off, true);
		json_t *at;

		load_at(&in, off, p, n);
		at = shown(&in);

		if (row) {
			assert_at_field(at, row, off);
		} else {
			row = row_at(json_object_get(r, "records"), off, false);
			assert_non_null(row);
			assert_at_record(at, row, off, p);
		}
		json_decref(at);
		inspect_release(&in);
	}
	json_decref(f);
	json_decref(r);
	inspect_release(&fields);
	inspect_release(&records);
	free(p);
}

/* ---- Hostile bytes ------------------------------------------------------ */

static void
assert_clean(const struct ckpt_buf *out)
{
	assert_true(ckpt_utf8_valid(out->p, out->n, NULL));
	for (size_t i = 0; i < out->n; i++)
		assert_true(
			out->p[i] == '\n' ||
			((unsigned char)out->p[i] >= ' ' && out->p[i] != 0x7f));
}

/* Every section as text and as JSON. */
static void
show_all(const uint8_t *p, size_t n, uint64_t offset)
{
	for (int s = 0; s < INSPECT_SECTIONS; s++) {
		struct inspect in;

		if (s == INSPECT_AT && n == 0)
			continue;
		load(&in, (enum inspect_section_id)s, false, p, n);
		in.offset = n ? offset % n : 0;
		in.verbose = offset % 2;
		assert_true(inspect_show(&in));
		assert_true(in.out.n > 0);
		assert_clean(&in.out);
		in.json = true;
		json_decref(shown(&in));
		assert_clean(&in.out);
		inspect_release(&in);
	}
}

static uint64_t
draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void
test_inspect_random_bytes(void **state)
{
	size_t n;
	uint8_t *good = sample_make(sample_find("hostile"), &n);
	uint8_t *p = malloc(n);
	uint64_t seed = 35;

	(void)state;
	assert_non_null(good);
	assert_non_null(p);
	for (int round = 0; round < 2000; round++) {
		size_t k = draw(&seed) % n + 1;

		memcpy(p, good, k);
		if (round % 4 == 0) /* nothing but noise */
			for (size_t i = 0; i < k; i++)
				p[i] = (uint8_t)draw(&seed);
		else if (round % 4 == 1) /* noise behind a good beginning */
			for (size_t i = draw(&seed) % k; i < k; i++)
				p[i] = (uint8_t)draw(&seed);
		else /* a few bytes changed */
			for (int i = 0; i < 6; i++)
				p[draw(&seed) % k] = (uint8_t)draw(&seed);
		show_all(p, k, draw(&seed));
	}
	show_all(p, 0, 0);
	show_all(good, n, 5);
	free(p);
	free(good);
}

/* ---- Pipes -------------------------------------------------------------- */

/* A pipe passes once, in whatever pieces, and is shown as a file is. */
static void
test_inspect_pipe_like_file(void **state)
{
	size_t n;
	uint8_t *p = sample_make(sample_find("plain"), &n);

	(void)state;
	assert_non_null(p);
	for (int s = 0; s < INSPECT_SECTIONS; s++) {
		struct inspect file, pipe = { .path = "FILE" };
		struct ckpt_source *source = ckpt_source_memory(p, n);

		load(&file, (enum inspect_section_id)s, false, p, n);
		pipe.section = file.section;
		file.offset = pipe.offset = n - 3;
		assert_true(inspect_load(
			&pipe, ckpt_source_slow(source, 7, true, UINT64_MAX)));
		assert_true(inspect_show(&file));
		assert_true(inspect_show(&pipe));
		assert_string_equal(pipe.out.p, file.out.p);
		inspect_release(&file);
		inspect_release(&pipe);
	}
	free(p);
}

/* ---- Statistics --------------------------------------------------------- */

static void
feed(struct inspect *in, const uint8_t *p, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i += step) {
		struct ckpt_event event = { .kind = CKPT_EV_DATA,
			.data = p + i,
			.len = n - i < step ? n - i : step };

		assert_int_equal(
			inspect_stats_event(&in->stats_sink, &event), CKPT_OK);
	}
}

/* Known answers, however the elements are cut. */
static void
test_inspect_stats(void **state)
{
	static const uint64_t bits[] = { 0x3ff0000000000000, /* 1 */
		0xc008000000000000,                          /* -3 */
		0x0000000000000000, 0x8000000000000000,      /* zeros */
		0x0000000000000001,                          /* denormal */
		0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000 };
	uint8_t p[sizeof bits];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		ckpt_store_u64(p + 8 * i, bits[i]);
	for (size_t step = 1; step <= sizeof p; step++) {
		struct ckpt_span span = {
			.dtype = "f64", .width = 8, .len = sizeof p
		};
		struct inspect in = { .spans = { .tensors = &span,
					      .ntensors = 1 } };
		const struct ckpt_stats *s;

		ckpt_arena_init(&in.spans.arena, 1 << 20);
		feed(&in, p, sizeof p, step);
		s = in.stats;
		assert_int_equal(s->count, 8);
		assert_int_equal(s->finite, 5);
		assert_int_equal(s->zeros, 2);
		assert_int_equal(s->denormals, 1);
		assert_int_equal(s->nan, 1);
		assert_int_equal(s->inf, 2);
		assert_true(s->min == -3.0 && s->max == 1.0);
		assert_true(ckpt_stats_mean(s) == -2.0 / 5);
		assert_true(ckpt_stats_l2(s) == sqrt(10.0));
		ckpt_arena_release(&in.spans.arena);
	}
}

/* ---- Tables ------------------------------------------------------------- */

static void
test_inspect_table(void **state)
{
	struct ckpt_table table;
	struct ckpt_buf out, cell;

	(void)state;
	ckpt_buf_init(&out);
	ckpt_buf_init(&cell);
	ckpt_table_init(&table, "lrl");
	ckpt_table_cell(&table, "name");
	ckpt_table_cell(&table, "n");
	ckpt_table_row(&table, NULL, NULL);
	ckpt_table_cell(&table, "\xc3\xa9");
	ckpt_table_cellf(&table, "%d", 1234);
	ckpt_buf_puts(&cell, "tail");
	ckpt_table_take(&table, &cell);
	ckpt_table_row(&table, "<", ">");
	ckpt_table_row(&table, NULL, NULL);
	ckpt_table_write(&table, &out, 1);
	assert_string_equal(out.p, " name     n\n"
				   " <\xc3\xa9     1234  tail>\n"
				   " \n");
	assert_int_equal(cell.n, 0);
	ckpt_table_release(&table);
	ckpt_buf_release(&out);
	ckpt_buf_release(&cell);
}

static void
test_inspect_options(void **state)
{
	struct ckpt_buf why;

	(void)state;
	ckpt_buf_init(&why);
	assert_true(ckpt_command_check(&inspect_command, &why));
	ckpt_buf_release(&why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inspect_at_every_byte),
		cmocka_unit_test(test_inspect_random_bytes),
		cmocka_unit_test(test_inspect_pipe_like_file),
		cmocka_unit_test(test_inspect_stats),
		cmocka_unit_test(test_inspect_table),
		cmocka_unit_test(test_inspect_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
