/* SPDX-License-Identifier: MIT */
/*
 * The writer of safetensors: the bytes that the rules give, and that whatever
 * it writes reads back as what was meant. Every valid file of the corpus is
 * taken apart and written again; what was written so is written the same once
 * more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/forge_edit.h"
#include "cli/recipes.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "support/judged.h"

struct memory {
	struct ckpt_writer writer;
	struct ckpt_buf bytes;
};

static enum ckpt_status
keep(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	struct memory *memory = (struct memory *)writer;

	ckpt_buf_add(&memory->bytes, bytes, n);
	return CKPT_OK;
}

static struct ckpt_name
text(const char *s)
{
	return (struct ckpt_name){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

static void
write_it(const struct safetensors_meaning *meaning, struct memory *memory)
{
	struct ckpt_arena arena;

	*memory = (struct memory){ .writer = { .write = keep } };
	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	assert_int_equal(
		safetensors_write(meaning, &arena, &memory->writer), CKPT_OK);
	assert_false(memory->bytes.failed);
	ckpt_arena_release(&arena);
}

static void
test_write_bytes_follow_from_meaning(void **state)
{
	static const char header[] =
		"{\"__metadata__\":{\"a\\u000a\":\"\\\"\\\\/\x7f\xc3\xa9\","
		"\"b\":\"\"},"
		"\"w\":{\"dtype\":\"F32\",\"shape\":[1,1],"
		"\"data_offsets\":[0,4]},"
		"\"w2\":{\"dtype\":\"U8\",\"shape\":[0],"
		"\"data_offsets\":[4,4]},"
		"\"\xc3\xa9\":{\"dtype\":\"BOOL\",\"shape\":[],"
		"\"data_offsets\":[4,5]}}";
	static const uint64_t ones[] = { 1, 1 }, none[] = { 0 };
	const struct safetensors_pair pairs[] = { { text("b"), text("") },
		{ text("a\n"), text("\"\\/\x7f\xc3\xa9") } };
	const struct safetensors_part parts[] = {
		{ { .name = text("\xc3\xa9"),
			  .len = 1,
			  .data = (const uint8_t *)"\1" },
			safetensors_dtype_find("BOOL", 4) },
		{ { .name = text("w2"),
			  .rank = 1,
			  .dims = none,
			  .data = (const uint8_t *)"" },
			safetensors_dtype_find("U8", 2) },
		{ { .name = text("w"),
			  .rank = 2,
			  .dims = ones,
			  .len = 4,
			  .data = (const uint8_t *)"\0\0\x80\x3f" },
			safetensors_dtype_find("F32", 3) },
	};
	const struct safetensors_meaning meaning = { pairs, 2, parts, 3 };
	size_t n = strlen(header), padded = (n + 7) / 8 * 8;
	struct memory memory;
	const char *p;

	(void)state;
	write_it(&meaning, &memory);
	p = memory.bytes.p;
	assert_int_equal(memory.bytes.n, 8 + padded + 5);
	assert_int_equal((uint8_t)p[0], padded % 256);
	assert_int_equal((uint8_t)p[1], padded / 256);
	assert_memory_equal(p + 8, header, n);
	for (size_t i = n; i < padded; i++)
		assert_int_equal(p[8 + i], ' ');
	assert_memory_equal(p + 8 + padded, "\0\0\x80\x3f\1", 5);
	ckpt_buf_release(&memory.bytes);
}

static void
test_write_nothing(void **state)
{
	const struct safetensors_meaning meaning = { 0 };
	struct memory memory;

	(void)state;
	write_it(&meaning, &memory);
	assert_int_equal(memory.bytes.n, 16);
	assert_memory_equal(memory.bytes.p, "\x08\0\0\0\0\0\0\0{}      ", 16);
	ckpt_buf_release(&memory.bytes);
}

static void
test_write_lengths_that_overflow(void **state)
{
	const struct safetensors_part parts[] = {
		{ { .name = text("a"), .len = UINT64_MAX },
			safetensors_dtype_find("U8", 2) },
		{ { .name = text("b"), .len = 1 },
			safetensors_dtype_find("U8", 2) },
	};
	const struct safetensors_meaning meaning = { .parts = parts,
		.nparts = 2 };
	struct memory memory = { .writer = { .write = keep } };
	struct ckpt_arena arena;

	(void)state;
	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	assert_int_equal(safetensors_write(&meaning, &arena, &memory.writer),
		CKPT_REJECTED);
	assert_int_equal(memory.bytes.n, 0);
	ckpt_arena_release(&arena);
}

/* ---- Files taken apart -------------------------------------------------- */

/* The text of a string by the offset of its quote. */
static struct ckpt_name
string_at(const struct safetensors_file *file, uint32_t at,
	struct ckpt_arena *arena)
{
	struct ckpt_scan scan;
	struct ckpt_token token;
	struct ckpt_str str;

	ckpt_scan_init(&scan, file->json, (size_t)file->header_bytes, 1);
	scan.at = at;
	assert_int_equal(ckpt_scan_next(&scan, &token), CKPT_SCAN_STRING);
	assert_true(ckpt_scan_text(&scan, &token, arena, &str));
	return (struct ckpt_name){ str.p, str.n };
}

/* Judges n bytes and writes what they mean. */
static enum ckpt_verdict
again(const void *bytes, size_t n, struct memory *memory)
{
	const struct safetensors_file *file;
	struct safetensors_meaning meaning;
	struct safetensors_pair *pairs;
	struct safetensors_part *parts;
	struct judged j;
	enum ckpt_verdict verdict;

	judged_named(&j, "x.safetensors", bytes, n);
	verdict = j.verdict;
	file = j.run->decoded;
	if (verdict == CKPT_VALID) {
		pairs = calloc(file->metadata.n + 1, sizeof *pairs);
		parts = calloc(file->tensors.n + 1, sizeof *parts);
		assert_true(pairs && parts);
		for (uint32_t i = 0; i < file->metadata.n; i++) {
			const struct safetensors_entry *e =
				&SAFETENSORS_ENTRIES(file)[i];

			pairs[i].key = string_at(file, e->at, &j.run->arena);
			pairs[i].value =
				string_at(file, e->value_at, &j.run->arena);
		}
		for (uint32_t i = 0; i < file->tensors.n; i++) {
			const struct safetensors_tensor *t =
				&SAFETENSORS_TENSORS(file)[i];

			parts[i].dtype = t->dtype;
			parts[i].tensor = (struct ckpt_tensor){
				.name = { t->name.p, t->name.n },
				.rank = t->shape.n,
				.dims = SAFETENSORS_SHAPE(t),
				.len = safetensors_len(t),
				.data = (const uint8_t *)bytes +
					safetensors_off(file, t),
			};
		}
		meaning = (struct safetensors_meaning){ pairs, file->metadata.n,
			parts, file->tensors.n };
		write_it(&meaning, memory);
		free(pairs);
		free(parts);
	}
	judged_free(&j);
	return verdict;
}

static void
test_write_corpus_again(void **state)
{
	struct forge_recipes recipes;
	struct ckpt_buf why = { 0 };
	size_t n = 0;

	(void)state;
	assert_int_equal(
		forge_recipes_read(&recipes, "corpus/recipes.tsv", &why), 0);
	for (size_t i = 0; i < recipes.n; i++) {
		const struct forge_recipe *r = &recipes.list[i];
		struct memory first, second;
		struct ckpt_buf bytes = { 0 };
		char path[256];
		struct stat st;

		if (strncmp(r->path, "safetensors/good/", 17) != 0)
			continue;
		snprintf(path, sizeof path, "corpus/%s", r->path);
		assert_int_equal(forge_read(path, &bytes, &st), 0);
		if (again(bytes.p, bytes.n, &first) != CKPT_VALID)
			fail_msg("%s is not valid", path);
		if (again(first.bytes.p, first.bytes.n, &second) != CKPT_VALID)
			fail_msg("%s: what was written is not valid", path);
		assert_int_equal(first.bytes.n, second.bytes.n);
		assert_memory_equal(
			first.bytes.p, second.bytes.p, first.bytes.n);
		ckpt_buf_release(&first.bytes);
		ckpt_buf_release(&second.bytes);
		ckpt_buf_release(&bytes);
		n++;
	}
	assert_true(n > 30);
	forge_recipes_release(&recipes);
	ckpt_buf_release(&why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_bytes_follow_from_meaning),
		cmocka_unit_test(test_write_nothing),
		cmocka_unit_test(test_write_lengths_that_overflow),
		cmocka_unit_test(test_write_corpus_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
