/* SPDX-License-Identifier: MIT */
/*
 * The mutator of the fuzzers. What it repairs is what was there before the
 * damage; what it has repaired it leaves alone; the same bytes and the same
 * seed give the same file. Edits reach every field of a file, stay within the
 * size that is allowed, and leave most files such that they are read beyond
 * the door. Over the good files of the corpus, binary and text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../fuzz/postproc.h"
#include "base/bytes.h"

/* What afl-fuzz calls. */
void *afl_custom_init(void *afl, unsigned int seed);
void afl_custom_deinit(void *data);
size_t afl_custom_post_process(
	void *data, uint8_t *buf, size_t size, uint8_t **out);
size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **out,
	uint8_t *add, size_t add_size, size_t most);

enum { MOST = 16 * 1024, EDITS = 20, FILES = 100 };

static struct file {
	char *name;
	uint8_t *p;
	size_t n;
	bool text;
} files[FILES];
static size_t nfiles;

/* ---- files -------------------------------------------------------------- */

static void
keep(const char *path)
{
	struct file *f = &files[nfiles];
	FILE *in = fopen(path, "rb");

	assert_non_null(in);
	assert_true(nfiles < FILES);
	f->p = malloc(MOST);
	assert_non_null(f->p);
	f->n = fread(f->p, 1, MOST, in);
	assert_int_equal(fclose(in), 0);
	f->name = strdup(path);
	f->text = fuzz_text_rules(f->p, f->n) != NULL;
	nfiles++;
}

static int
read_good(void **state)
{
	char *roots[] = { (char *)(uintptr_t) "corpus/llmcp35/good",
		(char *)(uintptr_t) "corpus/safetensors/good",
		(char *)(uintptr_t) "corpus/archive/good", NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	(void)state;
	if (!fts)
		return -1;
	for (FTSENT *e; (e = fts_read(fts));)
		if (e->fts_info == FTS_F && e->fts_statp->st_size > 8 &&
			e->fts_statp->st_size < MOST && nfiles < FILES)
			keep(e->fts_path);
	fts_close(fts);
	return nfiles > 40 ? 0 : -1;
}

static int
release(void **state)
{
	(void)state;
	for (size_t i = 0; i < nfiles; i++) {
		free(files[i].name);
		free(files[i].p);
	}
	return 0;
}

static struct ckpt_run *
judge(const uint8_t *p, size_t n, bool text)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_source *source = ckpt_source_memory(p, n);

	assert_non_null(run);
	assert_non_null(source);
	if (text)
		source->name = "x.safetensors";
	(void)ckpt_verify(run, source);
	ckpt_source_close(source);
	return run;
}

static bool
has(const struct ckpt_run *run, enum ckpt_code code)
{
	return run->diags.per_rule[code] > 0;
}

/* ---- repair ------------------------------------------------------------- */

static struct fuzz_scan scan;
static uint8_t fixed[FUZZ_LARGEST], again[FUZZ_LARGEST];

/* Every field that the repair of this level is for becomes nonsense. */
static void
damage(struct file *f, uint8_t *copy, size_t *n, enum fuzz_level level)
{
	fuzz_scan(&scan, f->p, f->n);
	memcpy(copy, f->p, f->n);
	*n = f->n;
	for (size_t i = scan.nfields; i-- > 0;) {
		const struct fuzz_place *at = &scan.fields[i];
		bool range = at->flags & (CKPT_IS_OFFSET | CKPT_IS_LENGTH);

		if (at->flags & CKPT_HASH_AS_ZERO)
			memset(copy + at->off, 0xa5, 8);
		else if (range && level == FUZZ_EVERYTHING && !f->text &&
			 at->len == 8)
			memset(copy + at->off, 0x11, 8);
	}
	/* Blanks behind the object are only known by the length. */
	if (f->text && copy[7 + ckpt_load_u64(f->p)] == '}')
		ckpt_store_u64(copy, 3);
}

/* The checksum is what a repair below everything is about; with everything,
 * what the rows call offset, length and checksum needs not have been there.
 * The files are canonical, so it is they that come back. */
static void
test_a_damaged_file_comes_back(void **state)
{
	size_t counted[4] = { 0 }, n, back;

	(void)state;
	for (size_t i = 0; i < nfiles; i++) {
		struct file *f = &files[i];
		static uint8_t copy[MOST];
		struct ckpt_run *run;
		enum fuzz_level level;

		fuzz_scan(&scan, f->p, f->n);
		level = fuzz_level(&scan, f->p, f->n);
		counted[level]++;
		damage(f, copy, &n, level);
		back = f->text ? fuzz_repair_text(&scan, copy, n, fixed)
			       : fuzz_repair(&scan, copy, n, fixed);
		if (level == FUZZ_NOTHING) {
			assert_int_equal(back, 0);
			continue;
		}
		if (back != f->n)
			fail_msg("%s: level %d", f->name, (int)level);
		/* Payloads of text may have stood in another order. */
		run = judge(fixed, back, f->text);
		assert_int_equal(run->diags.errors, 0);
		ckpt_run_free(run);
		if (!f->text || level != FUZZ_EVERYTHING)
			assert_memory_equal(fixed, f->p, f->n);
	}
	for (int level = 0; level < 4; level++)
		assert_true(counted[level] > 0);
}

/* Extents too: a payload that is cut or grown has its size again. */
static void
test_a_payload_gets_its_size_again(void **state)
{
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < nfiles; i++) {
		struct file *f = &files[i];
		struct ckpt_run *run;
		size_t n;

		fuzz_scan(&scan, f->p, f->n);
		if (fuzz_level(&scan, f->p, f->n) != FUZZ_EVERYTHING ||
			!scan.complete || scan.end >= f->n)
			continue;
		n = f->text ? fuzz_repair_text(&scan, f->p, f->n - 1, fixed)
			    : fuzz_repair(&scan, f->p, f->n - 1, fixed);
		if (n != f->n)
			fail_msg("%s: %zu of %zu bytes", f->name, n, f->n);
		run = judge(fixed, n, f->text);
		assert_false(has(run, CKPT_D_CHECKSUM));
		assert_false(has(run, CKPT_D_FILE_TRUNCATED));
		assert_false(has(run, CKPT_D_HEADER_EXTENT));
		ckpt_run_free(run);
		seen++;
	}
	assert_true(seen >= 8);
}

/* Ranges of text: whatever they were, the tensors follow each other. */
static void
test_ranges_of_text_follow_each_other(void **state)
{
	static const char *const headers[] = {
		"{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],"
		"\"data_offsets\":[9,1]}}",
		"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],"
		"\"data_offsets\":[0,77]},\"b\":{\"dtype\":\"F64\","
		"\"shape\":[4],\"data_offsets\":[123456,2]}}",
		"{\"z\":{\"data_offsets\":[0,1],\"dtype\":\"U8\","
		"\"shape\":[0]},\"y\":{\"dtype\":\"U16\","
		"\"shape\":[1],\"data_offsets\":[0,0]}}",
	};
	uint8_t copy[512];
	size_t everything = 0;

	(void)state;
	/* A name decides what is repaired: try some. */
	for (size_t i = 0; i < 3 * 26; i++) {
		const char *header = headers[i % 3];
		size_t n = strlen(header), k;
		struct ckpt_run *run;

		ckpt_store_u64(copy, n + i);
		memcpy(copy + 8, header, n);
		copy[10] = (uint8_t)('A' + i / 3);
		k = fuzz_repair_text(&scan, copy, 8 + n, fixed);
		if (k == 0)
			continue;
		run = judge(fixed, k, true);
		assert_int_equal(ckpt_load_u64(fixed),
			strcspn((char *)fixed + 8, "}") ? scan.end - 8 : 0);
		everything += run->diags.errors == 0;
		if (fuzz_level(&scan, fixed, k) == FUZZ_EVERYTHING)
			assert_int_equal(run->diags.errors, 0);
		ckpt_run_free(run);
	}
	assert_true(everything > 13);
}

/* ---- edits -------------------------------------------------------------- */

/* An edited file after post_process; *n bytes of result. */
static uint8_t *
edited(void *m, struct file *f, size_t *n)
{
	uint8_t *out, *done;
	size_t k = afl_custom_fuzz(m, f->p, f->n, &out, NULL, 0, MOST);

	assert_true(k <= MOST);
	*n = afl_custom_post_process(m, out, k, &done);
	assert_true(*n <= FUZZ_LARGEST);
	return done;
}

static void
test_what_was_repaired_is_left_alone(void **state)
{
	void *m = afl_custom_init(NULL, 7);

	(void)state;
	assert_non_null(m);
	for (size_t i = 0; i < nfiles; i++)
		for (int k = 0; k < EDITS; k++) {
			size_t n, twice;
			uint8_t *out, *p = edited(m, &files[i], &n);

			memcpy(again, p, n);
			twice = afl_custom_post_process(m, again, n, &out);
			if (twice != n || memcmp(out, again, n) != 0)
				fail_msg("%s, edit %d: %zu bytes, then %zu",
					files[i].name, k, n, twice);
			/* Also in the buffer that it was put in. */
			twice = afl_custom_post_process(m, out, n, &p);
			assert_int_equal(twice, n);
			assert_memory_equal(p, again, n);
		}
	afl_custom_deinit(m);
}

static void
test_a_seed_decides(void **state)
{
	void *a = afl_custom_init(NULL, 3), *b = afl_custom_init(NULL, 3);
	void *c = afl_custom_init(NULL, 4);
	size_t differ = 0;

	(void)state;
	for (size_t i = 0; i < nfiles; i++) {
		size_t na, nb, nc;
		uint8_t *pa = edited(a, &files[i], &na);
		uint8_t *pb = edited(b, &files[i], &nb);
		uint8_t *pc = edited(c, &files[i], &nc);

		assert_int_equal(na, nb);
		assert_memory_equal(pa, pb, na);
		differ += na != nc || memcmp(pa, pc, na) != 0;
	}
	assert_true(differ > nfiles / 2);
	afl_custom_deinit(a);
	afl_custom_deinit(b);
	afl_custom_deinit(c);
}

/* Nothing of a field's bytes is out of reach: each field of a small file is
 * changed by some edit. Fields of one byte in the middle of longer edits
 * cannot be told apart, so the first difference counts. */
static void
reach_all_fields(struct file *f)
{
	static bool reached[MOST + 1];
	void *m = afl_custom_init(NULL, 1);
	size_t missing = 0, fields = 0;

	memset(reached, 0, sizeof reached);
	for (int k = 0; k < 20000; k++) {
		uint8_t *out;
		size_t n = afl_custom_fuzz(m, f->p, f->n, &out, NULL, 0, MOST),
		       i = f->text ? 8 : 0;

		while (i < n && i < f->n && out[i] == f->p[i])
			i++;
		reached[i] = true;
	}
	fuzz_scan(&scan, f->p, f->n);
	for (size_t i = 0; i < scan.nfields; i++) {
		const struct fuzz_place *at = &scan.fields[i];
		bool hit = f->text && at->off == 0;

		for (uint64_t k = at->off; k < at->off + at->len; k++)
			hit |= reached[k];
		fields++;
		missing += at->len > 0 && !hit;
	}
	assert_true(fields > 8);
	if (missing > 0)
		fail_msg("%s: %zu of %zu fields never change", f->name, missing,
			fields);
	afl_custom_deinit(m);
}

static void
test_edits_reach_every_field(void **state)
{
	struct file *least[2] = { NULL, NULL };

	(void)state;
	for (size_t i = 0; i < nfiles; i++) {
		struct file **f = &least[files[i].text];

		fuzz_scan(&scan, files[i].p, files[i].n);
		if (scan.nfields > 8 && scan.ntensors > 0 &&
			(!*f || files[i].n < (*f)->n))
			*f = &files[i];
	}
	for (int text = 0; text < 2; text++) {
		assert_non_null(least[text]);
		reach_all_fields(least[text]);
	}
}

/* Most of what comes out is judged beyond checksum and extents. */
static void
test_edited_files_pass_the_door(void **state)
{
	void *m = afl_custom_init(NULL, 11);
	size_t tried[2] = { 0 }, passed[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < nfiles; i++)
		for (int k = 0; k < EDITS; k++) {
			size_t n;
			uint8_t *p = edited(m, &files[i], &n);
			bool text = files[i].text;
			struct ckpt_run *run = judge(p, n, text);

			tried[text]++;
			passed[text] += !has(run, CKPT_D_CHECKSUM) &&
					!has(run, CKPT_D_HEADER_EXTENT) &&
					!has(run, CKPT_D_FILE_TRUNCATED) &&
					!has(run, CKPT_D_HEADER_TRUNCATED);
			ckpt_run_free(run);
		}
	for (int text = 0; text < 2; text++)
		assert_true(passed[text] * 2 > tried[text]);
	afl_custom_deinit(m);
}

/* Whatever comes in, in a buffer of exactly its size. */
static void
test_any_bytes_are_taken(void **state)
{
	void *m = afl_custom_init(NULL, 5);
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		size_t n = i % 300;
		uint8_t *p = malloc(n ? n : 1), *out, *done;
		struct file *f = &files[i % nfiles];

		assert_non_null(p);
		for (size_t k = 0; k < n; k++) {
			seed = seed * 6364136223846793005u + 1;
			p[k] = (uint8_t)(seed >> 56);
		}
		/* The head of a file, or what could be one of text. */
		if (i % 3 == 0)
			memcpy(p, f->p, n < f->n ? n / 2 : 0);
		if (i % 3 == 1 && n > 9)
			memcpy(p + 8, i % 2 ? "{\"" : "{}", 2);
		n = afl_custom_fuzz(m, p, n, &out, NULL, 0, 200);
		assert_true(n <= 300);
		n = afl_custom_post_process(m, out, n, &done);
		assert_true(n <= FUZZ_LARGEST);
		free(p);
	}
	afl_custom_deinit(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_damaged_file_comes_back),
		cmocka_unit_test(test_a_payload_gets_its_size_again),
		cmocka_unit_test(test_ranges_of_text_follow_each_other),
		cmocka_unit_test(test_what_was_repaired_is_left_alone),
		cmocka_unit_test(test_a_seed_decides),
		cmocka_unit_test(test_edits_reach_every_field),
		cmocka_unit_test(test_edited_files_pass_the_door),
		cmocka_unit_test(test_any_bytes_are_taken),
	};

	return cmocka_run_group_tests(tests, read_good, release);
}
