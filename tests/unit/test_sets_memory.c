/* SPDX-License-Identifier: MIT */
/*
 * Sets that memory does not suffice for, wherever it ends: a set is then not
 * verified and says so, or is judged as with all the memory there is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/set_parts.h"
#include "support/set_folder.h"

#define INDEX     "model.safetensors.index.json"
#define MAP(body) "{\"weight_map\":{" body "}}"
#define ONE       "m-1.safetensors"
#define TWO       "m-2.safetensors"

enum { CHUNK = 64 * 1024 }; /* what an arena takes at least */

/* Judges the set: whether it is not verified for want of memory. Otherwise its
 * findings have to be these. */
static bool
refused(struct ckpt_set *set, const char *usual)
{
	struct ckpt_buf out = { 0 };
	bool is = ckpt_set_judge(set) == CKPT_NOT_VERIFIED;

	set_folder_findings(&out, set);
	if (is) {
		assert_non_null(strstr(out.p, "CK9003 @0: found more than "));
		assert_null(strstr(out.p, "CK9001 "));
	} else {
		assert_string_equal(out.p ? out.p : "", usual);
	}
	ckpt_buf_release(&out);
	ckpt_set_free(set);
	return is;
}

/* ---- While it is judged ------------------------------------------------- */

/* Begins a chunk of which left bytes are there, and after which no other is. */
static void
leave(struct ckpt_arena *arena, size_t left)
{
	arena->budget = arena->used + CHUNK;
	while (arena->used < arena->budget)
		assert_non_null(ckpt_arena_alloc(arena, 8));
	for (size_t n = left + 8; n < CHUNK; n += 8)
		assert_non_null(ckpt_arena_alloc(arena, 8));
}

static void
test_memory_of_judging(void **state)
{
	static const char *const files[] = { INDEX,
		"{\"metadata\":{\"total_size\":1},\"weight_map\":{"
		"\"m.h.0.embed_tokens.weight\":\"" ONE "\",\"b\":\"" TWO "\"}}",
		ONE, "=m.h.0.embed_tokens.weight F32 2x4;x F32 1", TWO,
		"=b F32 4", "config.json",
		"{\"vocab_size\":10,\"n_layer\":2,\"dtype\":\"float16\"}",
		"vocab.json", "{\"a\":9}", "tokenizer.json",
		"{\"model\":{\"vocab\":{\"a\":7}}}", "merges.txt",
		"a b\nc d\ne f\n", NULL };
	unsigned few = 0, enough = 0;
	struct ckpt_buf usual = { 0 };
	struct set_folder folder;
	enum ckpt_verdict verdict;
	struct ckpt_set *set;

	(void)state;
	set_folder_make(&folder, files);
	set = set_folder_open(&folder, NULL, &verdict);
	assert_int_equal(ckpt_set_judge(set), CKPT_VALID);
	set_folder_findings(&usual, set);
	ckpt_set_free(set);
	/* Most of it two documents take, one block each. */
	for (size_t left = 0; enough < 9;
		left += left % 8192 < 1200 ? 8 : 512) {
		set = set_folder_open(&folder, NULL, &verdict);
		leave(&set->arena, left);
		if (refused(set, usual.p))
			few++;
		else
			enough++;
	}
	ckpt_buf_release(&usual);
	set_folder_remove(&folder);
	assert_true(few > 100);
}

/* ---- While it is opened ------------------------------------------------- */

/* Indexes of so many bytes that memory ends a bit later each time, also at an
 * allocation behind which no other follows. */
static void
test_memory_of_opening(void **state)
{
	enum { MOST = 15 * 1024 };
	static char text[MOST + 1], unfinished[70], opaque[70];
	const char *files[] = { "a.index.json", text, "b.index.json", text,
		"c.index.json", text, "d.index.json", text, "e.json", text,
		opaque, "x", unfinished, "?", "model.safetensors", "=a F32 4",
		NULL };
	static const char map[] = MAP("\"a\":\"model.safetensors\"");
	unsigned few = 0, enough = 0;
	struct ckpt_buf usual = { 0 };

	(void)state;
	memset(opaque, 'o', sizeof opaque);
	memcpy(opaque, "model", 5);
	strcpy(opaque + sizeof opaque - 5, ".bin");
	memset(unfinished, 'u', sizeof unfinished);
	strcpy(unfinished + sizeof unfinished - 17, ".safetensors.tmp");
	ckpt_buf_printf(&usual, "CK6013 %s@0: expected \"%.*s\"\n", unfinished,
		(int)strlen(unfinished) - 4, unfinished);
	for (size_t n = MOST / 16; n < MOST; n += 40) {
		struct set_folder folder;
		enum ckpt_verdict verdict;

		memset(text, ' ', n);
		memcpy(text, map, sizeof map - 1);
		text[n] = '\0';
		set_folder_make(&folder, files);
		folder.options.max_memory = CHUNK;
		if (refused(set_folder_open(&folder, NULL, &verdict), usual.p))
			few++;
		else
			enough++;
		set_folder_remove(&folder);
	}
	ckpt_buf_release(&usual);
	assert_true(few > 10 && enough > 10);
}

/* A list of files that does not fit is not judged in part. */
static void
test_memory_of_a_long_folder(void **state)
{
	enum { N = 300 };
	static char names[N][200];
	static const char *files[2 * N + 3] = { "optimizer.pt", "x" };
	struct ckpt_buf out = { 0 };
	struct set_folder folder;
	enum ckpt_verdict verdict;
	struct ckpt_set *set;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		snprintf(names[i], sizeof names[i], "%0190zu.txt", i);
		files[2 * i + 2] = names[i];
		files[2 * i + 3] = "x";
	}
	set_folder_make(&folder, files);
	folder.options.max_memory = CHUNK;
	set = set_folder_open(&folder, NULL, &verdict);
	assert_int_equal(ckpt_set_judge(set), CKPT_NOT_VERIFIED);
	set_folder_findings(&out, set);
	assert_string_equal(
		out.p, "CK9003 @0: found more than 65536 bytes needed\n");
	ckpt_buf_release(&out);
	ckpt_set_free(set);
	set_folder_remove(&folder);
}

/* An index by its contents that is too large to be read is not passed over. */
static void
test_memory_of_an_index_of_any_name(void **state)
{
	enum { MOST = 2 * CHUNK };
	static char text[MOST + 1];
	const char *files[] = { "map.json", text, ONE, "=a F32 4", NULL };
	static const char map[] = MAP("\"b\":\"" ONE "\"");
	struct set_folder folder;
	enum ckpt_verdict verdict;
	char path[128];

	(void)state;
	memset(text, ' ', MOST);
	memcpy(text, map, sizeof map - 1);
	set_folder_make(&folder, files);
	snprintf(path, sizeof path, "%s/map.json", folder.path);
	assert_true(ckpt_set_is_index(path, MOST + CHUNK));
	assert_true(ckpt_set_is_index(path, CHUNK));
	folder.options.max_memory = MOST;
	assert_true(refused(set_folder_open(&folder, NULL, &verdict), ""));
	folder.options.max_memory = MOST + CHUNK;
	assert_false(refused(set_folder_open(&folder, NULL, &verdict),
		"CK6012 map.json@15: expected \"b\" in \"" ONE
		"\" found in no file of the set\n"
		"CK6021 " ONE "@0: found \"a\" (it does not know it)\n"));
	set_folder_remove(&folder);
}

/* Thousands of shards; that they lead out spares looking at each. */
static void
test_memory_of_a_large_index(void **state)
{
	enum { N = 5000 };
	const char *files[] = { INDEX, NULL, NULL };
	struct ckpt_buf text = { 0 };
	unsigned few = 0, enough = 0;
	struct set_folder folder;

	(void)state;
	ckpt_buf_puts(&text, "{\"weight_map\":{");
	for (unsigned i = 0; i < N; i++)
		ckpt_buf_printf(&text, "%s\"%u\":\"/%u\"", i ? "," : "", i, i);
	ckpt_buf_puts(&text, "}}");
	files[1] = text.p;
	set_folder_make(&folder, files);
	for (uint64_t most = 4 * CHUNK; enough < 3; most += CHUNK / 4) {
		struct ckpt_buf out = { 0 };
		enum ckpt_verdict verdict;
		struct ckpt_set *set;
		bool told;

		folder.options.max_memory = most;
		set = set_folder_open(&folder, NULL, &verdict);
		verdict = ckpt_set_judge(set);
		set_folder_findings(&out, set);
		told = strstr(out.p, "CK9003 @0: found more than ") != NULL;
		assert_int_equal(told,
			verdict == CKPT_NOT_VERIFIED ||
				set->run->diags.per_rule[CKPT_D_MEMORY_LIMIT] >
					0);
		if (told) {
			few++;
		} else {
			enough++;
			assert_int_equal(verdict, CKPT_INVALID);
			assert_int_equal(set->run->diags.errors, N);
		}
		ckpt_buf_release(&out);
		ckpt_set_free(set);
	}
	ckpt_buf_release(&text);
	set_folder_remove(&folder);
	assert_true(few > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_of_judging),
		cmocka_unit_test(test_memory_of_opening),
		cmocka_unit_test(test_memory_of_a_long_folder),
		cmocka_unit_test(test_memory_of_an_index_of_any_name),
		cmocka_unit_test(test_memory_of_a_large_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
