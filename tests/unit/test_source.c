/* SPDX-License-Identifier: MIT */
/*
 * File sources: what can be opened, what is said of what cannot, and files
 * that change while they are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag/run.h"
#include "support/saving.h"

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static const char *
primary_of(const char *path, enum ckpt_verdict verdict)
{
	struct ckpt_source *source = ckpt_source_open(path);
	struct ckpt_run *run = ckpt_run_new(NULL);
	static char id[8];

	assert_non_null(source);
	assert_int_equal(ckpt_verify(run, source), verdict);
	strcpy(id, ckpt_run_primary(run)->rule->id);
	ckpt_source_close(source);
	ckpt_run_free(run);
	return id;
}

static void
test_source_regular_file(void **state)
{
	struct ckpt_source *source;
	const char *what = NULL;
	char text[16];

	(void)state;
	write_file("f", "hello");
	source = ckpt_source_open("f");
	assert_non_null(source);
	assert_true(source->has_size && source->size == 5);
	assert_false(source->is_pipe);
	assert_int_equal(source->read(source, text, 2), 2);
	assert_int_equal(source->read(source, text + 2, 10), 3);
	assert_memory_equal(text, "hello", 5);
	assert_int_equal(source->read(source, text, 10), 0);
	assert_int_equal(source->unchanged(source, &what), CKPT_OK);
	ckpt_source_close(source);
	ckpt_source_close(NULL);
}

static void
test_source_what_cannot_be_opened(void **state)
{
	(void)state;
	errno = 0;
	assert_null(ckpt_source_open("missing"));
	assert_int_equal(errno, ENOENT);
	assert_null(ckpt_source_open("."));
	assert_int_equal(errno, EISDIR);
	write_file("f", "x");
	assert_null(ckpt_source_open("f/x"));
	assert_int_equal(errno, ENOTDIR);
	assert_null(ckpt_source_open(""));
	assert_int_equal(errno, ENOENT);
	if (geteuid() != 0) {
		assert_int_equal(chmod("f", 0), 0);
		assert_null(ckpt_source_open("f"));
		assert_int_equal(errno, EACCES);
	}
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_null(ckpt_source_open("loop"));
	assert_int_equal(errno, ELOOP);
}

/* Nobody writes: said, not waited for. */
static void
test_source_fifo_without_writer(void **state)
{
	(void)state;
	assert_int_equal(mkfifo("p", 0600), 0);
	alarm(10);
	assert_string_equal(primary_of("p", CKPT_NOT_VERIFIED), "CK9005");
	alarm(0);
}

static void
test_source_fifo_with_writer(void **state)
{
	struct ckpt_source *source;
	char text[8];
	int fd;

	(void)state;
	assert_int_equal(mkfifo("p", 0600), 0);
	alarm(10);
	fd = open("p", O_RDWR); /* Linux: a reader and a writer at once */
	assert_true(fd >= 0);
	source = ckpt_source_open("p");
	assert_non_null(source);
	assert_true(source->is_pipe);
	assert_false(source->has_size);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(source->read(source, text, 8), 3);
	close(fd);
	assert_int_equal(source->read(source, text, 8), 0);
	alarm(0);
	ckpt_source_close(source);
}

static void
test_source_empty_and_devices(void **state)
{
	(void)state;
	write_file("empty", "");
	assert_string_equal(primary_of("empty", CKPT_INVALID), "CK1001");
	assert_string_equal(primary_of("/dev/null", CKPT_INVALID), "CK1001");
	/* No end, but the first bytes tell. */
	assert_string_equal(primary_of("/dev/zero", CKPT_INVALID), "CK1002");
}

static void
check_change(void (*change)(void), const char *want)
{
	struct ckpt_source *source;
	const char *what = NULL;

	write_file("f", "0123456789");
	source = ckpt_source_open("f");
	assert_non_null(source);
	change();
	assert_int_equal(source->unchanged(source, &what), CKPT_EIO);
	assert_string_equal(what, want);
	ckpt_source_close(source);
	unlink("f");
}

static void
cut(void)
{
	assert_int_equal(truncate("f", 3), 0);
}

static void
lengthen(void)
{
	assert_int_equal(truncate("f", 30), 0);
}

static void
touch(void)
{
	const struct timespec times[2] = { { 1, 1 }, { 1, 1 } };

	assert_int_equal(utimensat(AT_FDCWD, "f", times, 0), 0);
}

static void
replace(void)
{
	write_file("g", "0123456789");
	assert_int_equal(rename("g", "f"), 0);
}

static void
take_away(void)
{
	assert_int_equal(unlink("f"), 0);
}

static void
test_source_changes_are_noticed(void **state)
{
	static const char moved[] =
		"another file took its name, or it was removed";

	(void)state;
	check_change(cut, "it became shorter");
	check_change(lengthen, "it became longer");
	check_change(touch, "its contents were written to");
	check_change(replace, moved);
	check_change(take_away, moved);
}

#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(                                       \
		test, saving_enter_folder, saving_leave_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_source_regular_file),
		IN_FOLDER(test_source_what_cannot_be_opened),
		IN_FOLDER(test_source_fifo_without_writer),
		IN_FOLDER(test_source_fifo_with_writer),
		IN_FOLDER(test_source_empty_and_devices),
		IN_FOLDER(test_source_changes_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
