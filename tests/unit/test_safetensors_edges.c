/* SPDX-License-Identifier: MIT */
/*
 * What a safetensors file is known by, how long its header may be, and where
 * it is cut: on both sides of each edge. Lengths that no file has on a disk
 * are those of sources that only claim to be so long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/format.h"
#include "format/safetensors.h"
#include "format/safetensors_block.h"
#include "support/judged.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define GOOD     "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}"

/* ---- Sources ------------------------------------------------------------ */

struct claims {
	struct ckpt_source source;
	const uint8_t *p;
	size_t n;
};

static ptrdiff_t
read_claims(struct ckpt_source *source, void *bytes, size_t n)
{
	struct claims *c = (struct claims *)source;

	n = n < c->n ? n : c->n;
	if (n > 0)
		memcpy(bytes, c->p, n);
	c->p += n;
	c->n -= n;
	return (ptrdiff_t)n;
}

/* Verifies n bytes as the beginning of a file of size bytes, or as a pipe of
 * just these if that is UINT64_MAX. */
static struct ckpt_run *
verify(const uint8_t *p, size_t n, uint64_t size,
	const struct ckpt_options *options)
{
	struct ckpt_run *run = ckpt_run_new(options);
	struct claims c = {
		.source = { .read = read_claims,
			.has_size = size != UINT64_MAX,
			.size = size != UINT64_MAX ? size : 0,
			.name = "x.safetensors" },
		.p = p,
		.n = n,
	};

	assert_non_null(run);
	ckpt_verify(run, &c.source);
	return run;
}

/* The id of the primary finding, "" if there is none. */
static const char *
primary(const struct ckpt_run *run)
{
	const struct ckpt_diag *d = ckpt_run_primary(run);

	return d ? d->rule->id : "";
}

/* ---- What it is known by ------------------------------------------------ */

static void
test_edges_of_sniffing(void **state)
{
	static const struct {
		uint64_t len;
		const char *text;
		size_t n; /* of the text, looked at */
		bool known;
	} rows[] = {
		{ 2, "{}", 2, true },
		{ 2, "{}", 1, true },
		{ 2, "{}", 0, false },
		{ 1, "{", 1, true },
		{ 0, "{}", 2, false },
		{ (uint64_t)1 << 40, "{}", 2, true },
		{ ((uint64_t)1 << 40) + 1, "{}", 2, false },
		{ UINT64_MAX, "{}", 2, false },
		{ 9, " \n\r\t{", 5, true },
		{ 9, " {", 2, true },
		{ 9, "\n{", 2, true },
		{ 9, "\r{", 2, true },
		{ 9, "\t{", 2, true },
		{ 9, "\v{", 2, false },
		{ 9, "x{", 2, false },
		{ 9, " x{", 3, false },
		{ 9, "[]", 2, false },
		/* The brace is not looked at. */
		{ 9, " {", 1, false },
		{ 9, "  {", 2, false },
		{ 9, "\xef\xbb\xbf{", 4, true },
		{ 9, "\xef\xbb\xbf {", 5, true },
		{ 9, "\xef\xbb\xbf{", 3, false },
		{ 9, "\xef\xbb{", 3, false },
		{ 9, "\xef\xbb\xbe{", 4, false },
		{ 9, "abc{", 4, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t head[16] = { 0 };
		const struct ckpt_format *format;

		ckpt_store_u64(head, rows[i].len);
		memcpy(head + 8, rows[i].text, strlen(rows[i].text));
		format = ckpt_format_sniff(head, 8 + rows[i].n);
		if ((format == &ckpt_format_safetensors) != rows[i].known)
			fail_msg("row %zu is %sknown", i,
				rows[i].known ? "not " : "");
	}
	for (size_t n = 0; n < 8; n++)
		assert_null(ckpt_format_sniff(
			(const uint8_t *)"\1\0\0\0\0\0\0", n));
}

/* A beginning that is known is nothing else, whatever is in it: a length of
 * 35,615 bytes begins as gzip data does, and characters that were replaced may
 * be those of a name. Without its brace it is that other thing. */
static void
test_edges_of_what_seems_something_else(void **state)
{
	static const struct {
		size_t len;
		const char *text, *note;
	} rows[] = {
		{ 0x8b1f, "{", NULL },
		{ 0x8b1f, "!", "gzip" },
		{ 20, "{\"\xef\xbf\xbd\xef\xbf\xbd\":", NULL },
		{ 20, "!\"\xef\xbf\xbd\xef\xbf\xbd\":", "copy made as text" },
	};
	uint8_t *file = malloc(8 + 0x8b1f);

	(void)state;
	assert_non_null(file);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *note;
		struct judged j;

		ckpt_store_u64(file, rows[i].len);
		memset(file + 8, ' ', rows[i].len);
		memcpy(file + 8, rows[i].text, strlen(rows[i].text));
		judged_named(&j, "x.safetensors", file, 8 + rows[i].len);
		assert_int_equal(j.verdict, CKPT_INVALID);
		assert_string_equal(judged_primary(&j), "CK2113");
		note = ckpt_run_primary(j.run)->note;
		if (rows[i].note ? !note || !strstr(note, rows[i].note)
				 : note != NULL)
			fail_msg("row %zu: %s", i, note ? note : "nothing");
		judged_free(&j);
	}
	free(file);
}

/* ---- What stands around the object -------------------------------------- */

static void
test_edges_of_the_text(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *id;
	} rows[] = {
		{ "{}\0", 3, "CK2103" },
		{ "{}\0\0\0", 5, "CK2103" },
		{ "{} \0", 4, "CK2103" },
		{ "{}\0 ", 4, "CK2106" },
		{ "{}\0x", 4, "CK2106" },
		{ "{}x\0", 4, "CK2106" },
		{ "{}x", 3, "CK2106" },
		{ "{}xx", 4, "CK2106" },
		/* No padding. */
		{ "{\0", 2, "CK2113" },
		{ "{\"a\0\":1}", 8, "CK2107" },
		{ "\0", 1, "CK2113" },
		{ "\xef\xbb\xbf", 3, "CK2102" },
		{ "\xef\xbb\xbf{}", 5, "CK2102" },
		{ "\xef\xbb", 2, "CK2101" },
		{ "\xef\xbb\xbe", 3, "CK2113" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t file[32];
		struct judged j;

		ckpt_store_u64(file, rows[i].n);
		memcpy(file + 8, rows[i].text, rows[i].n);
		judged_named(&j, "x.safetensors", file, 8 + rows[i].n);
		assert_int_equal(j.verdict, CKPT_INVALID);
		if (strcmp(judged_primary(&j), rows[i].id) != 0)
			fail_msg("row %zu: %s", i, judged_primary(&j));
		judged_free(&j);
	}
}

/* ---- The length of the header ------------------------------------------- */

static void
test_edges_of_the_bound_on_headers(void **state)
{
	const uint64_t big = (uint64_t)1 << 40;
	static const struct {
		uint64_t max_header, len;
		enum ckpt_profile profile;
		const char *id;
	} rows[] = {
		{ 0, 100000001, CKPT_PROFILE_STRICT, "CK9008" },
		{ 0, 100000001, CKPT_PROFILE_REFERENCE, "CK1105" },
		{ 1000, 1001, CKPT_PROFILE_STRICT, "CK9008" },
		{ 1000, 100000001, CKPT_PROFILE_REFERENCE, "CK1105" },
		/* Too much for memory, but not for the bound. */
		{ UINT32_MAX, UINT32_MAX - 1, CKPT_PROFILE_STRICT, "CK9003" },
		{ UINT32_MAX, UINT32_MAX, CKPT_PROFILE_STRICT, "CK9008" },
		{ UINT64_MAX, UINT32_MAX, CKPT_PROFILE_STRICT, "CK9008" },
		{ UINT32_MAX - 1, UINT32_MAX, CKPT_PROFILE_STRICT, "CK9008" },
		{ UINT32_MAX - 2, UINT32_MAX - 1, CKPT_PROFILE_STRICT,
			"CK9008" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct ckpt_options options = {
			.max_header = rows[i].max_header,
			.profile = rows[i].profile,
		};
		uint8_t file[9] = { 0 };
		struct ckpt_run *run;

		ckpt_store_u64(file, rows[i].len);
		file[8] = '{';
		run = verify(file, sizeof file, big, &options);
		if (strcmp(primary(run), rows[i].id) != 0)
			fail_msg("row %zu: %s", i, primary(run));
		ckpt_run_free(run);
	}
}

/* A small file in front of small bounds, of known size and not. */
static void
test_edges_of_small_bounds(void **state)
{
	enum { HEADER = sizeof GOOD - 1, SIZE = 8 + HEADER + 4 };
	static const struct {
		uint64_t max_header;
		size_t n;
		enum ckpt_profile profile;
		const char *id;
	} rows[] = {
		{ HEADER, SIZE, CKPT_PROFILE_STRICT, "" },
		{ HEADER - 1, SIZE, CKPT_PROFILE_STRICT, "CK9008" },
		{ HEADER - 1, 8 + HEADER, CKPT_PROFILE_STRICT, "CK9008" },
		{ HEADER - 1, 7 + HEADER, CKPT_PROFILE_STRICT, "CK1103" },
		{ HEADER - 1, SIZE, CKPT_PROFILE_REFERENCE, "" },
		{ 1, SIZE, CKPT_PROFILE_REFERENCE, "" },
	};
	uint8_t file[SIZE];

	(void)state;
	ckpt_store_u64(file, HEADER);
	memcpy(file + 8, GOOD "\1\1\1\1", HEADER + 4);
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int pipe = 0; pipe < 2; pipe++) {
			const struct ckpt_options options = {
				.max_header = rows[i].max_header,
				.profile = rows[i].profile,
			};
			struct ckpt_run *run = verify(file, rows[i].n,
				pipe ? UINT64_MAX : rows[i].n, &options);

			if (strcmp(primary(run), rows[i].id) != 0)
				fail_msg("row %zu, %d: %s", i, pipe,
					primary(run));
			ckpt_run_free(run);
		}
}

static void
expect_found(const struct ckpt_run *run, const char *id, const char *expected)
{
	const struct ckpt_diag *d = ckpt_run_primary(run);

	assert_non_null(d);
	assert_string_equal(d->rule->id, id);
	assert_string_equal(d->expected.p, expected);
}

/* A header of a pipe grows as it comes, and a file that grew meanwhile had
 * no room for its length when it was looked at. */
static void
test_edges_of_what_comes(void **state)
{
	enum { LENGTH = 300000 };
	uint8_t *file = malloc(8 + LENGTH + 4);
	struct ckpt_run *run;

	(void)state;
	assert_non_null(file);
	ckpt_store_u64(file, LENGTH);
	memset(file + 8, ' ', LENGTH);
	memcpy(file + 8, GOOD, sizeof GOOD - 1);
	memset(file + 8 + LENGTH, 1, 4);
	run = verify(file, 8 + LENGTH + 4, UINT64_MAX, NULL);
	assert_string_equal(primary(run), "");
	ckpt_run_free(run);
	run = verify(file, 8 + LENGTH - 1, UINT64_MAX, NULL);
	expect_found(run, "CK1103", "at most the 299999 bytes that follow");
	ckpt_run_free(run);
	ckpt_store_u64(file, 90000000);
	run = verify(file, 100, UINT64_MAX, NULL);
	expect_found(run, "CK1103", "at most the 92 bytes that follow");
	assert_true(run->arena.used < 1024 * 1024);
	ckpt_run_free(run);
	run = verify(file, 100, 4, NULL);
	expect_found(run, "CK1103", "at most the 0 bytes that follow");
	ckpt_run_free(run);
	free(file);
}

/* ---- The end ------------------------------------------------------------ */

static void
test_edges_of_a_cut(void **state)
{
	static const char header[] =
		"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}"
		","
		"\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]},"
		"\"c\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[2,5]}"
		"}";
	static const struct {
		unsigned have, affected;
		const char *path;
	} rows[] = {
		{ 0, 3, "tensors[0].data_offsets" },
		{ 1, 3, "tensors[0].data_offsets" },
		{ 2, 1, "tensors[2].data_offsets" },
		{ 4, 1, "tensors[2].data_offsets" },
		{ 5, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t file[512];
		size_t n = sizeof header - 1;
		struct judged j;

		ckpt_store_u64(file, n);
		memcpy(file + 8, header, n);
		memset(file + 8 + n, 1, rows[i].have);
		judged_named(&j, "x.safetensors", file, 8 + n + rows[i].have);
		if (rows[i].affected == 0) {
			assert_int_equal(j.verdict, CKPT_VALID);
		} else {
			const struct ckpt_diag *d = judged_find(&j, "CK1106");

			assert_non_null(d);
			assert_string_equal(d->path, rows[i].path);
			assert_int_equal(d->count, rows[i].affected);
		}
		judged_free(&j);
	}
}

/* ---- Blocks ------------------------------------------------------------- */

/* What stands behind a block is not of it. */
static void
test_edges_of_a_block(void **state)
{
	const struct safetensors_byte_test test = { 0, 0xff, 0xff };
	const struct safetensors_kernels *kernels[] = {
		safetensors_kernels_plain(), safetensors_kernels()
	};
	uint8_t p[SAFETENSORS_BLOCK + 8];

	(void)state;
	memset(p, 0xff, sizeof p);
	memset(p, 0, SAFETENSORS_BLOCK);
	for (size_t i = 0; i < COUNT(kernels); i++) {
		struct safetensors_bytes b = kernels[i]->bytes(p, test);

		assert_int_equal(b.top, 0);
		assert_int_equal(b.any, 0);
	}
	p[SAFETENSORS_BLOCK - 1] = 3;
	for (size_t i = 0; i < COUNT(kernels); i++) {
		struct safetensors_bytes b = kernels[i]->bytes(p, test);

		assert_int_equal(b.top, 3);
		assert_int_equal(b.any, 3);
	}
}

/* Sums of ones, which are exact. */
static void
test_edges_of_sums(void **state)
{
	const struct safetensors_kernels *kernels[] = {
		safetensors_kernels_plain(), safetensors_kernels()
	};
	static const uint8_t ones[4][8] = {
		{ 0x00, 0x3c, 0x00, 0x3c, 0x00, 0x3c, 0x00, 0x3c },
		{ 0x80, 0x3f, 0x80, 0x3f, 0x80, 0x3f, 0x80, 0x3f },
		{ 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x80, 0x3f },
		{ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f },
	};
	uint8_t p[4][SAFETENSORS_BLOCK];

	(void)state;
	for (size_t i = 0; i < sizeof p; i++)
		p[i / SAFETENSORS_BLOCK][i % SAFETENSORS_BLOCK] =
			ones[i / SAFETENSORS_BLOCK][i % 8];
	for (size_t i = 0; i < COUNT(kernels); i++) {
		assert_true(kernels[i]->squares_f16(p[0]) == 2048.0);
		assert_true(kernels[i]->squares_bf16(p[1]) == 2048.0);
		assert_true(kernels[i]->squares_f32(p[2]) == 1024.0);
		assert_true(kernels[i]->squares_f64(p[3]) == 512.0);
	}
}

/* ---- Names -------------------------------------------------------------- */

/* Both ends of each range of characters that are not seen, and what stands
 * beside them. */
static void
test_edges_of_unseen_characters(void **state)
{
	static const unsigned ranges[][2] = { { 0, 0x1f }, { 0x7f, 0x9f },
		{ 0xad, 0xad }, { 0x61c, 0x61c }, { 0x180e, 0x180e },
		{ 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x2064 },
		{ 0x2066, 0x2069 }, { 0xfeff, 0xfeff } };

	(void)state;
	for (size_t i = 0; i < 4 * COUNT(ranges); i++) {
		unsigned end = ranges[i / 4][i / 2 % 2];
		unsigned point = i % 2 == 0   ? end
				 : i % 4 == 3 ? end + 1
					      : end - 1;
		uint8_t file[256];
		struct judged j;
		int n;

		if (end == 0 && i % 4 == 1)
			continue; /* nothing stands before U+0000 */
		n = snprintf((char *)file + 8, sizeof file - 8,
			"{\"a\\u%04x\":{\"dtype\":\"U8\",\"shape\":[1],"
			"\"data_offsets\":[0,1]}}\1",
			point);
		ckpt_store_u64(file, (uint64_t)n - 1);
		judged_named(&j, "x.safetensors", file, 8 + (size_t)n);
		assert_int_equal(j.verdict, CKPT_VALID);
		if (judged_count(&j, "CK3153") != (i % 2 == 0))
			fail_msg("U+%04x", point);
		judged_free(&j);
	}
}

/* ---- Shapes ------------------------------------------------------------- */

/* More dimensions than are kept; the last one counts all the same. */
static void
test_edges_of_a_long_shape(void **state)
{
	struct ckpt_buf file = { 0 };
	static const uint8_t zeros[65 * 4];
	struct judged j;

	(void)state;
	ckpt_buf_add(&file, "01234567", 8);
	ckpt_buf_puts(&file,
		"{\"b\":{\"dtype\":\"U8\",\"shape\":[1],"
		"\"data_offsets\":[0,1]},\"w\":{\"dtype\":\"F32\",\"shape\":[");
	for (int i = 0; i < SAFETENSORS_RANK_KEPT; i++)
		ckpt_buf_puts(&file, "1,");
	ckpt_buf_puts(&file, "65],\"data_offsets\":[1,261]}}");
	ckpt_store_u64((uint8_t *)file.p, file.n - 8);
	ckpt_buf_add(&file, "1", 1);
	ckpt_buf_add(&file, zeros, sizeof zeros);
	judged_named(&j, "x.safetensors", file.p, file.n);
	assert_int_equal(j.verdict, CKPT_VALID);
	assert_int_equal(judged_count(&j, "CK4212"), 1);
	assert_non_null(strstr(judged_find(&j, "CK4212")->note, "65 elements"));
	judged_free(&j);
	ckpt_buf_release(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_of_sniffing),
		cmocka_unit_test(test_edges_of_what_seems_something_else),
		cmocka_unit_test(test_edges_of_the_text),
		cmocka_unit_test(test_edges_of_the_bound_on_headers),
		cmocka_unit_test(test_edges_of_small_bounds),
		cmocka_unit_test(test_edges_of_what_comes),
		cmocka_unit_test(test_edges_of_a_cut),
		cmocka_unit_test(test_edges_of_a_block),
		cmocka_unit_test(test_edges_of_sums),
		cmocka_unit_test(test_edges_of_unseen_characters),
		cmocka_unit_test(test_edges_of_a_long_shape),
	};

	return cmocka_run_group_tests_name(
		"safetensors edges", tests, NULL, NULL);
}
