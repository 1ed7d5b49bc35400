/* SPDX-License-Identifier: MIT */
/*
 * The names of temporary files: what is made fits a folder entry and is
 * recognised again; what merely looks like it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "io/temporary_name.h"

#include <limits.h>
#include <string.h>

static void
test_temporary_name_recognises_its_own(void **state)
{
	static const struct {
		const char *file;
		const char *name;
		uint64_t pid;
		uint32_t serial;
	} rows[] = {
		{ ".a.tmp-1-0", "a", 1, 0 },
		{ ".model.ckpt.tmp-4194304-127", "model.ckpt", 4194304, 127 },
		{ "..hidden.tmp-12-3", ".hidden", 12, 3 },
		{ "..a.tmp-1-0.tmp-2-1", ".a.tmp-1-0", 2, 1 },
		{ ".a b\n.tmp-2147483647-9", "a b\n", INT_MAX, 9 },
		{ ".a.tmp-1-4294967295", "a", 1, UINT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_temporary_name parts;

		assert_true(ckpt_temporary_name_parse(rows[i].file, &parts));
		assert_int_equal(parts.n, strlen(rows[i].name));
		assert_memory_equal(parts.name, rows[i].name, parts.n);
		assert_int_equal(parts.pid, rows[i].pid);
		assert_int_equal(parts.serial, rows[i].serial);
		assert_true(parts.whole);
	}
}

static void
test_temporary_name_refuses_all_others(void **state)
{
	static const char *const files[] = { "", ".", "..", "a", "a.tmp-1-0",
		".tmp-1-0", "..tmp-1-0x", ".a.tmp-1-", ".a.tmp--0", ".a.tmp-1",
		".a.tmp-0-0", ".a.tmp-01-0", ".a.tmp-1-00",
		".a.tmp-1-4294967296", ".a.tmp-2147483648-0",
		".a.tmp-99999999999999999999999-0",
		".a.tmp-1-99999999999999999999999", ".a.tmp-1-0~",
		".a.tmp-+1-0", ".a.tmp-1--0", ".a.tmp- 1-0", ".atmp-1-0",
		".a.tmp_1-0", "1-0", "-0", "0" };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct ckpt_temporary_name parts;

		if (ckpt_temporary_name_parse(files[i], &parts))
			fail_msg("\"%s\" was recognised", files[i]);
	}
}

/* Makes and parses, and returns how many bytes of name were kept. */
static size_t
kept(const char *name, int pid, uint32_t serial)
{
	char file[NAME_MAX + 1];
	struct ckpt_temporary_name parts;

	memset(file, 'x', sizeof file);
	ckpt_temporary_name_make(file, name, pid, serial);
	assert_non_null(memchr(file, '\0', sizeof file));
	assert_true(ckpt_temporary_name_parse(file, &parts));
	assert_int_equal(parts.pid, pid);
	assert_int_equal(parts.serial, serial);
	assert_memory_equal(parts.name, name, parts.n);
	assert_true(parts.n == strlen(name) || !parts.whole);
	return parts.n;
}

static void
test_temporary_name_always_fits(void **state)
{
	char name[NAME_MAX + 1];

	(void)state;
	for (size_t n = 1; n <= NAME_MAX; n++) {
		memset(name, 'n', n);
		name[n] = '\0';
		assert_int_equal(kept(name, 1, 0), n < 246 ? n : 246);
		assert_int_equal(
			kept(name, INT_MAX, UINT32_MAX), n < 228 ? n : 228);
	}
}

static void
test_temporary_name_cuts_between_characters(void **state)
{
	static const char *const characters[] = { "\xc3\xa9", "\xe2\x82\xac",
		"\xf0\x9f\x98\x80" };
	char name[NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		size_t size = strlen(characters[i]);
		size_t n = 0;

		for (; n + size <= NAME_MAX; n += size)
			memcpy(name + n, characters[i], size);
		name[n] = '\0';
		assert_int_equal(kept(name, 1, 0), 246 / size * size);
	}
	/* Of what is not UTF-8 as much is kept as fits. */
	memset(name, 0xa9, NAME_MAX);
	name[NAME_MAX] = '\0';
	assert_int_equal(kept(name, 1, 0), 246);
}

/* With the process the same, as in a container, names still differ: of 64
 * drawn from 2^32 two are equal once in two million runs. */
static void
test_temporary_name_differs_each_time(void **state)
{
	uint32_t drawn[64];

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		drawn[i] = ckpt_temporary_serial(i);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(drawn[i], drawn[k]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_temporary_name_recognises_its_own),
		cmocka_unit_test(test_temporary_name_refuses_all_others),
		cmocka_unit_test(test_temporary_name_always_fits),
		cmocka_unit_test(test_temporary_name_differs_each_time),
		cmocka_unit_test(test_temporary_name_cuts_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
