/* SPDX-License-Identifier: MIT */
/*
 * Sets, trees and pairs as ckverify says them: interrupted at any point, with
 * nothing left to say, and with memory that ends at each allocation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verify.h"
#include "support/set_folder.h"

#define INDEX     "model.safetensors.index.json"
#define MAP(body) "{\"weight_map\":{" body "}}"
#define ONE       "m-1.safetensors"
#define TWO       "m-2.safetensors"
#define BOTH      ONE, "=a F32 4", TWO, "=b F32 4"

static const char *const files[] = { ".x.safetensors.tmp-12-0", "?", INDEX,
	MAP("\"a\":\"" ONE "\",\"b\":\"" TWO "\""), BOTH, "sub/", "",
	"sub/.y.safetensors.tmp-12-0", "?", NULL };

/* ---- A session ---------------------------------------------------------- */

static unsigned asked, answered; /* interrupted() is true at that call only */

static bool
interrupted(void)
{
	return ++asked == answered;
}

static void
begin(struct ckpt_verify_session *s)
{
	static const struct ckpt_verify_options options = {
		.jobs = 1, .color = CKPT_WHEN_NEVER, .progress = CKPT_WHEN_NEVER
	};

	asked = 0;
	ckpt_verify_session_init(s, &options, interrupted);
	s->held = true; /* so that all stays in s->out */
}

enum kind { SET, ONE_INDEX, TREE, KINDS };

static void
verify(struct ckpt_verify_session *s, const char *path, enum kind kind)
{
	char name[128];

	switch (kind) {
	case ONE_INDEX:
		snprintf(name, sizeof name, "%s/" INDEX, path);
		ckpt_verify_set(s, name, true);
		break;
	case TREE: ckpt_verify_tree(s, path); break;
	case SET:
	case KINDS: ckpt_verify_set(s, path, false); break;
	}
}

static bool
says(const struct ckpt_verify_session *s, const char *text)
{
	return s->out.p && strstr(s->out.p, text);
}

/* ---- What is said of a set and of a tree --------------------------------- */

static void
test_session_says_sets(void **state)
{
	static const struct {
		enum kind kind;
		const char *text, *silent;
		const char *files[SET_FOLDER_WORDS];
	} cases[] = {
		{ SET, "valid with 1 warning (folder, 2 checkpoints)", "CK6002",
			{ ".x.ckpt.tmp-12-0", "?", BOTH } },
		{ ONE_INDEX, ".json: valid (index, 2 checkpoints)", "CK6001",
			{ ".x.ckpt.tmp-12-0", "?", INDEX,
				MAP("\"a\":\"" ONE "\",\"b\":\"" TWO "\""),
				BOTH } },
		{ SET, "error CK6002 nothing-to-verify", NULL, { NULL } },
		{ TREE, "error CK6002 nothing-to-verify", NULL, { NULL } },
		{ TREE, "error CK6002 nothing-to-verify", NULL,
			{ "sub/", "", "sub/x.txt", "x" } },
		{ TREE, "valid (safetensors", "(folder", { BOTH } },
		{ TREE,
			"CK6001 orphan-temporary, sub/.y.ckpt.tmp-12-0\n"
			"    a temporary file of an interrupted save was left "
			"behind\n"
			"    found an unfinished copy of y.ckpt by process "
			"12\n",
			NULL, { "sub/", "", "sub/.y.ckpt.tmp-12-0", "?" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ckpt_verify_session s;
		struct set_folder folder;

		set_folder_make(&folder, cases[i].files);
		begin(&s);
		verify(&s, folder.path, cases[i].kind);
		set_folder_remove(&folder);
		if (!says(&s, cases[i].text) ||
			(cases[i].silent && says(&s, cases[i].silent)))
			fail_msg("%zu: %s", i, s.out.p ? s.out.p : "nothing");
		ckpt_verify_session_release(&s);
	}
}

/* ---- Nothing is said any more ------------------------------------------- */

static void
test_session_says_nothing_after_its_end(void **state)
{
	struct set_folder folder;

	(void)state;
	set_folder_make(&folder, files);
	for (unsigned i = 0; i < 4 * KINDS; i++) {
		struct ckpt_verify_session s;

		begin(&s);
		s.memory = i / KINDS == 1;
		s.output_error = i / KINDS == 2 ? EPIPE : 0;
		s.refused = i / KINDS == 3 ? "--align" : NULL;
		verify(&s, folder.path, (enum kind)(i % KINDS));
		assert_int_equal(s.out.n > 0, i / KINDS == 0);
		ckpt_verify_session_release(&s);
	}
	set_folder_remove(&folder);
}

/* ---- Interrupted -------------------------------------------------------- */

/* At each time it is asked: what was found until then is said, and that it was
 * interrupted; nothing is said of what comes behind. */
static void
test_session_is_interrupted(void **state)
{
	struct set_folder folder;

	(void)state;
	set_folder_make(&folder, files);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		unsigned cuts = 0;

		for (answered = 1;; answered++) {
			struct ckpt_verify_session s;

			begin(&s);
			verify(&s, folder.path, (enum kind)kind);
			if (asked < answered) {
				assert_false(s.cut);
				assert_int_equal(s.verdict, CKPT_VALID);
				assert_false(says(&s, "CK9006"));
				ckpt_verify_session_release(&s);
				break;
			}
			cuts++;
			assert_true(s.cut);
			assert_int_equal(s.verdict, CKPT_NOT_VERIFIED);
			assert_true(says(&s, "error CK9006 cancelled"));
			assert_false(says(&s, "CK6002"));
			assert_int_equal(asked, answered);
			ckpt_verify_session_release(&s);
		}
		assert_true(cuts >= 4);
	}
	answered = 0;
	set_folder_remove(&folder);
}

/* The first entry of a tree is told with the interruption, the others not even
 * looked for. */
static void
test_session_interrupts_a_walk(void **state)
{
	static const char *const one[] = { BOTH, ".z.ckpt.tmp-1-1", "", NULL };
	struct ckpt_verify_session s;
	struct set_folder folder;

	(void)state;
	set_folder_make(&folder, files);
	answered = 1;
	begin(&s);
	ckpt_verify_tree(&s, folder.path);
	assert_true(says(&s, "CK6001 orphan-temporary, .x.safetensors.tmp-"));
	assert_false(says(&s, "sub/.y"));
	assert_false(says(&s, "valid (safetensors"));
	ckpt_verify_session_release(&s);
	set_folder_remove(&folder);

	/* Without any other finding, too, it is no empty folder. */
	set_folder_make(&folder, one + 2);
	begin(&s);
	ckpt_verify_tree(&s, folder.path);
	assert_true(says(&s, "CK6001"));
	assert_false(says(&s, "CK6002"));
	answered = 0;
	ckpt_verify_session_release(&s);
	begin(&s);
	ckpt_verify_tree(&s, folder.path);
	assert_true(says(&s, "1 checkpoint"));
	ckpt_verify_session_release(&s);
	set_folder_remove(&folder);
}

static void
test_session_cannot_walk(void **state)
{
	struct ckpt_verify_session s;

	(void)state;
	begin(&s);
	ckpt_verify_tree(&s, "");
	assert_int_equal(s.verdict, CKPT_NOT_VERIFIED);
	assert_true(says(&s, "error CK9001 io-error"));
	assert_true(says(&s, "found No such file or directory"));
	assert_false(says(&s, "CK6002"));
	ckpt_verify_session_release(&s);
}

/* ---- Pairs -------------------------------------------------------------- */

static void
test_session_says_pairs(void **state)
{
	static const struct {
		struct ckpt_verify_pair pair;
		const char *text; /* NULL: nothing */
	} cases[] = {
		{ { { "c", "11" }, { "m", "11" }, false }, NULL },
		{ { { "c", "11" }, { "m", "22" }, false },
			"c, m: invalid (pair)\n  error CK6041 other-model, m" },
		{ { { "c", "11" }, { "m", "" }, false },
			"c, m: not-verified (pair)\n  error CK9001 io-error, "
			"m" },
		{ { { "c", "" }, { "m", "22" }, false },
			"c, m: not-verified (pair)\n  error CK9001 io-error, "
			"m" },
		{ { { "c", "" }, { "m", "" }, false },
			"c, m: not-verified (pair)\n  error CK9001 io-error, "
			"m" },
		{ { { "c", "11" }, { "m", "22" }, true }, NULL },
		{ { { NULL, "" }, { "m", "22" }, false }, NULL },
		{ { { "c", "11" }, { NULL, "" }, false }, NULL },
		{ { { NULL, "" }, { NULL, "" }, false }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ckpt_verify_session s;

		begin(&s);
		ckpt_verify_pair_say(&s, &cases[i].pair);
		if (!cases[i].text)
			assert_int_equal(s.out.n, 0);
		else if (!says(&s, cases[i].text))
			fail_msg("%zu: %s", i, s.out.p ? s.out.p : "");
		ckpt_verify_session_release(&s);
	}
}

/* ---- Memory that ends --------------------------------------------------- */

#if defined __SANITIZE_ADDRESS__
#define REFUSES 0
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define REFUSES 0
#endif
#endif
#if !defined REFUSES && defined __GLIBC__
#define REFUSES 1
#endif

#if REFUSES
/* Ours stand before the C library's, which a sanitiser would have replaced.
 * Only what our own code asks for is refused: fts_open() of glibc crashes. */
static size_t taken, refuse_at, refuse_least; /* bytes */
static bool refuse_rest; /* nor is any allocation behind it given */

extern const char __executable_start, etext;
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static bool
refuse(size_t n, const void *caller)
{
	bool ours = (uintptr_t)caller >= (uintptr_t)&__executable_start &&
		    (uintptr_t)caller < (uintptr_t)&etext;

	if (!ours || n < refuse_least || refuse_at == 0 ||
		++taken < refuse_at || (taken > refuse_at && !refuse_rest))
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t n)
{
	return refuse(n, __builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return refuse(n, __builtin_return_address(0)) ? NULL
						      : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return refuse(n, __builtin_return_address(0)) ? NULL
						      : __libc_realloc(p, n);
}

typedef void verifier(struct ckpt_verify_session *s, const char *path);

static void
verify_set(struct ckpt_verify_session *s, const char *path)
{
	verify(s, path, SET);
}

static void
verify_index(struct ckpt_verify_session *s, const char *path)
{
	verify(s, path, ONE_INDEX);
}

static void
verify_tree(struct ckpt_verify_session *s, const char *path)
{
	verify(s, path, TREE);
}

static void
verify_pair(struct ckpt_verify_session *s, const char *path)
{
	static const struct ckpt_verify_pair pair = { { "c", "11" },
		{ "m", "22" }, false };

	(void)path;
	ckpt_verify_pair_say(s, &pair);
}

/* Each allocation fails once: the answer is the usual one, or it is said that
 * there is none. */
static void
refuse_each(verifier *call, const char *path)
{
	struct ckpt_verify_session s;
	struct ckpt_buf usual = { 0 };
	unsigned refused = 0;

	refuse_at = 0;
	begin(&s);
	call(&s, path);
	ckpt_buf_add(&usual, s.out.p, s.out.n);
	ckpt_verify_session_release(&s);
	for (size_t n = 1;; n++) {
		bool all, said, same;

		begin(&s);
		taken = 0;
		refuse_at = n;
		call(&s, path);
		refuse_at = 0;
		all = taken < n;
		said = s.memory || s.out.failed || s.members.failed ||
		       s.verdict == CKPT_NOT_VERIFIED ||
		       says(&s, "CK9004 out-of-memory");
		same = s.out.n == usual.n &&
		       memcmp(s.out.p, usual.p, usual.n) == 0;
		if (!said && !same)
			fail_msg("allocation %zu: %.*s", n, (int)s.out.n,
				s.out.p ? s.out.p : "");
		refused += said;
		ckpt_verify_session_release(&s);
		if (all)
			break;
	}
	ckpt_buf_release(&usual);
	assert_true(refused >= 4);
}

static void
test_session_without_memory(void **state)
{
	/* A file of another name that cannot be opened is taken for a
	 * checkpoint of a tree, even if it can be a moment later. */
	static const char *const tree[] = { BOTH, ".x.ckpt.tmp-12-0", "?",
		NULL };
	static const char *const folders[] = { "b/", "", "a/", "", NULL };
	struct set_folder folder, below, above;

	(void)state;
	set_folder_make(&above, folders);
	set_folder_make(&folder, files);
	set_folder_make(&below, tree);
	for (int rest = 0; rest <= 1; rest++) {
		refuse_rest = rest;
		refuse_each(verify_set, folder.path);
		refuse_each(verify_index, folder.path);
		refuse_each(verify_tree, below.path);
		refuse_each(verify_set, above.path);
		refuse_each(verify_pair, folder.path);
	}
	set_folder_remove(&folder);
	set_folder_remove(&below);
	set_folder_remove(&above);
}

/* Of an index of many tensors each large block. */
static void
test_session_without_large_blocks(void **state)
{
	enum { N = 3000 };
	const char *index[] = { INDEX, NULL, NULL };
	struct ckpt_buf text = { 0 };
	struct set_folder folder;

	(void)state;
	ckpt_buf_puts(&text, "{\"weight_map\":{");
	for (unsigned i = 0; i < N; i++)
		ckpt_buf_printf(
			&text, "%s\"%u\":\"/%u\"", i ? "," : "", i, i % 7);
	ckpt_buf_puts(&text, "}}");
	index[1] = text.p;
	set_folder_make(&folder, index);
	ckpt_buf_release(&text);
	refuse_least = 16 * 1024;
	for (int rest = 0; rest <= 1; rest++) {
		refuse_rest = rest;
		refuse_each(verify_set, folder.path);
	}
	refuse_least = 0;
	set_folder_remove(&folder);
}
#else
static void
test_session_without_memory(void **state)
{
	(void)state;
	skip(); /* the allocator is not ours to replace */
}

static void
test_session_without_large_blocks(void **state)
{
	(void)state;
	skip();
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_says_sets),
		cmocka_unit_test(test_session_says_nothing_after_its_end),
		cmocka_unit_test(test_session_is_interrupted),
		cmocka_unit_test(test_session_interrupts_a_walk),
		cmocka_unit_test(test_session_cannot_walk),
		cmocka_unit_test(test_session_says_pairs),
		cmocka_unit_test(test_session_without_memory),
		cmocka_unit_test(test_session_without_large_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
