/* SPDX-License-Identifier: MIT */
/*
 * Where a file may be saved, asked before there is one: what would replace an
 * input, and what saving is going to refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/saving.h"
#include "io/publish.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void
test_destination_tells_inputs_apart(void **state)
{
	static const char *const same[] = { "f", "./f", "link", "hard" };
	static const char *const apart[] = { "new", "g", "dangling", "circle" };
	const struct ckpt_file_ops *ops = &ckpt_file_ops_posix;
	char long_name[NAME_MAX + 2];
	struct stat st;

	(void)state;
	saving_put("f", saving_old_text);
	saving_put("g", saving_old_text);
	assert_int_equal(symlink("f", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(symlink("circle", "circle"), 0);
	assert_int_equal(link("f", "hard"), 0);
	assert_int_equal(stat("f", &st), 0);
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		assert_false(ckpt_destination_is_apart(
			ops, same[i], st.st_dev, st.st_ino));
	for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
		assert_true(ckpt_destination_is_apart(
			ops, apart[i], st.st_dev, st.st_ino));
	/* Nothing can be saved there; saving says why. */
	memset(long_name, 'n', NAME_MAX + 1);
	long_name[NAME_MAX + 1] = '\0';
	assert_true(ckpt_destination_is_apart(
		ops, long_name, st.st_dev, st.st_ino));
	assert_true(
		ckpt_destination_is_apart(ops, "f/x", st.st_dev, st.st_ino));
	assert_true(ckpt_destination_is_apart(
		ops, "circle/x", st.st_dev, st.st_ino));
}

/* Leaves everything as it was, and says what saving would. */
static void
test_destination_rehearses(void **state)
{
	static const struct {
		const char *path;
		enum ckpt_status status;
		const char *reason;
		int error;
	} rows[] = {
		{ "new", CKPT_OK, NULL, 0 },
		{ "f", CKPT_OK, NULL, 0 },
		{ "no/x", CKPT_EIO, NULL, ENOENT },
		{ "f/x", CKPT_EIO, NULL, ENOTDIR },
		{ "", CKPT_EDESTINATION, "it has no file name", 0 },
		{ ".", CKPT_EDESTINATION, "it has no file name", 0 },
		{ "fifo", CKPT_EDESTINATION, "it is a FIFO", 0 },
		{ "/dev/null", CKPT_EDESTINATION,
			"it is in the folder of devices", 0 },
	};

	(void)state;
	saving_put("f", saving_old_text);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_publish pub;

		assert_int_equal(ckpt_publish_rehearse(&pub,
					 &ckpt_file_ops_posix, rows[i].path),
			rows[i].status);
		assert_int_equal(saving_temporaries(false), 0);
		if (rows[i].status == CKPT_OK)
			continue;
		assert_int_equal(pub.fault.error, rows[i].error);
		if (rows[i].reason)
			assert_string_equal(pub.fault.reason, rows[i].reason);
	}
	assert_true(saving_holds("f", saving_old_text));
	assert_int_equal(access("new", F_OK), -1);
}

#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(                                       \
		test, saving_enter_folder, saving_leave_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_destination_rehearses),
		IN_FOLDER(test_destination_tells_inputs_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
