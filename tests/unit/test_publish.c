/* SPDX-License-Identifier: MIT */
/*
 * Saving on the real file system: what is replaced, what is refused, and what
 * is kept of the old file. The faults are in test_publish_faults.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/faulty_ops.h"
#include "../support/saving.h"
#include "io/publish.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

static void
assert_saves(const char *path)
{
	struct ckpt_publish pub;

	assert_int_equal(
		saving_save(&pub, &ckpt_file_ops_posix, path), CKPT_OK);
	assert_true(saving_holds(path, saving_new_text));
	assert_int_equal(saving_temporaries(false), 0);
}

static void
assert_refused(const char *path, const char *reason)
{
	struct ckpt_publish pub;

	assert_int_equal(saving_save(&pub, &ckpt_file_ops_posix, path),
		CKPT_EDESTINATION);
	assert_string_equal(pub.fault.reason, reason);
	assert_int_equal(pub.fault.error, 0);
	assert_null(pub.fault.temporary);
	assert_int_equal(saving_temporaries(false), 0);
}

/* ---- Without faults ----------------------------------------------------- */

static void
test_publish_creates(void **state)
{
	char path[PATH_MAX];

	assert_saves("new");
	snprintf(path, sizeof path, "%s/absolute", (char *)*state);
	assert_saves(path);
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_saves("sub/new");
	assert_saves("./sub/../new");
}

static void
test_publish_creates_with_the_umask(void **state)
{
	mode_t before = umask(027);

	(void)state;
	assert_saves("new");
	assert_int_equal(umask(before), 027);
	assert_int_equal(saving_mode_of("new") & 07777, 0640);
}

static void
test_publish_keeps_the_mode(void **state)
{
	static const mode_t modes[] = { 0600, 0644, 0664, 0400, 0777 };

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		saving_put("f", saving_old_text);
		assert_int_equal(chmod("f", modes[i]), 0);
		assert_saves("f");
		assert_int_equal(saving_mode_of("f") & 07777, modes[i]);
		assert_int_equal(unlink("f"), 0);
	}
}

static void
test_publish_keeps_the_owner_if_it_may(void **state)
{
	struct stat st;

	(void)state;
	saving_put("f", saving_old_text);
	if (chown("f", 12, 34) != 0)
		skip();
	assert_int_equal(chmod("f", 0640), 0);
	assert_saves("f");
	assert_int_equal(stat("f", &st), 0);
	assert_int_equal(st.st_uid, 12);
	assert_int_equal(st.st_gid, 34);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void
test_publish_shows_another_group_no_more_than_all(void **state)
{
	struct faulty faulty = { .op = FAULTY_FCHOWN, .at = 1, .error = EPERM };
	struct ckpt_publish pub;
	struct ckpt_file_ops ops = faulty_ops(&faulty);

	(void)state;
	saving_put("f", saving_old_text);
	if (chown("f", (uid_t)-1, 34) != 0)
		skip();
	assert_int_equal(chmod("f", 0674), 0);
	assert_int_equal(saving_save(&pub, &ops, "f"), CKPT_OK);
	assert_int_equal(saving_mode_of("f") & 07777, 0644);
}

static void
test_publish_writes_large_and_empty_files(void **state)
{
	size_t n = (size_t)3 << 20;
	char *bytes = calloc(1, n);
	struct ckpt_publish pub;
	struct stat st;

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, "f"), CKPT_OK);
	assert_int_equal(ckpt_publish_write(&pub, bytes, n), CKPT_OK);
	assert_int_equal(ckpt_publish_patch(&pub, n - 1, "x", 1), CKPT_OK);
	assert_int_equal(pub.size, n);
	assert_int_equal(ckpt_publish_commit(&pub), CKPT_OK);
	assert_int_equal(stat("f", &st), 0);
	assert_int_equal(st.st_size, n);
	free(bytes);
	assert_int_equal(
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, "f"), CKPT_OK);
	assert_int_equal(ckpt_publish_commit(&pub), CKPT_OK);
	assert_true(saving_holds("f", ""));
}

static void
test_publish_abort_leaves_the_old_file(void **state)
{
	struct ckpt_publish pub;

	(void)state;
	memset(&pub, 0, sizeof pub);
	assert_true(ckpt_publish_abort(&pub));
	saving_put("f", saving_old_text);
	assert_int_equal(
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, "f"), CKPT_OK);
	assert_int_equal(ckpt_publish_write(&pub, "x", 1), CKPT_OK);
	assert_int_equal(saving_temporaries(false), 1);
	assert_int_equal(saving_mode_of(pub.temporary) & 07777, 0600);
	assert_true(ckpt_publish_abort(&pub));
	assert_true(ckpt_publish_abort(&pub));
	assert_int_equal(saving_temporaries(false), 0);
	assert_int_equal(ckpt_publish_write(&pub, "x", 1), CKPT_STOP);
	assert_int_equal(ckpt_publish_commit(&pub), CKPT_STOP);
	assert_true(saving_holds("f", saving_old_text));
}

static void
test_publish_follows_a_renamed_folder(void **state)
{
	struct ckpt_publish pub;

	(void)state;
	assert_int_equal(mkdir("a", 0700), 0);
	assert_int_equal(
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, "a/f"), CKPT_OK);
	assert_int_equal(rename("a", "b"), 0);
	assert_int_equal(ckpt_publish_write(&pub, "x", 1), CKPT_OK);
	assert_int_equal(ckpt_publish_commit(&pub), CKPT_OK);
	assert_true(saving_holds("b/f", "x"));
}

/* ---- Destinations ------------------------------------------------------- */

static void
test_publish_refuses_what_has_no_file_name(void **state)
{
	static const char *const paths[] = { "", "/", ".", "..", "sub/",
		"sub/.", "sub/..", "./", "a//" };

	(void)state;
	assert_int_equal(mkdir("sub", 0700), 0);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		assert_refused(paths[i], "it has no file name");
}

static void
test_publish_refuses_special_files(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(
		bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(symlink("folder", "to-folder"), 0);
	assert_int_equal(symlink("fifo", "to-fifo"), 0);
	assert_int_equal(symlink("socket", "to-socket"), 0);
	assert_int_equal(symlink("/dev/null", "to-null"), 0);
	assert_refused("folder", "it is a folder");
	assert_refused("fifo", "it is a FIFO");
	assert_refused("socket", "it is a socket");
	assert_refused("to-folder", "it is a link to a folder");
	assert_refused("to-fifo", "it is a link to a FIFO");
	assert_refused("to-socket", "it is a link to a socket");
	assert_refused("to-null", "it is a link to a device");
	assert_true(S_ISDIR(saving_mode_of("folder")));
	assert_true(S_ISFIFO(saving_mode_of("fifo")));
	assert_true(S_ISSOCK(saving_mode_of("socket")));
	assert_true(S_ISLNK(saving_mode_of("to-null")));
}

static void
test_publish_refuses_devices(void **state)
{
	static const char reason[] = "it is in the folder of devices";

	(void)state;
	assert_refused("/dev/null", reason);
	assert_refused("/dev/../dev/stdout", reason);
	assert_refused("/dev/ckpt-test-of-a-new-name", reason);
	assert_true(S_ISCHR(saving_mode_of("/dev/null")));
	assert_int_equal(access("/dev/ckpt-test-of-a-new-name", F_OK), -1);
	/* Elsewhere the kind of the file is what counts. */
	if (mknod("device", S_IFCHR | 0600, makedev(1, 3)) != 0)
		skip();
	assert_refused("device", "it is a device");
	assert_true(S_ISCHR(saving_mode_of("device")));
}

static void
test_publish_replaces_a_link_not_its_file(void **state)
{
	struct ckpt_publish pub;

	(void)state;
	saving_put("step-1000", saving_old_text);
	assert_int_equal(chmod("step-1000", 0600), 0);
	assert_int_equal(symlink("step-1000", "latest"), 0);
	assert_int_equal(
		saving_save(&pub, &ckpt_file_ops_posix, "latest"), CKPT_OK);
	assert_true(pub.destination.over_link);
	assert_true(S_ISREG(saving_mode_of("latest")));
	assert_true(saving_holds("latest", saving_new_text));
	assert_true(saving_holds("step-1000", saving_old_text));
	/* What was private through the link stays private. */
	assert_int_equal(saving_mode_of("latest") & 07777, 0600);
}

static void
test_publish_replaces_a_dangling_link(void **state)
{
	(void)state;
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(symlink("circle", "circle"), 0);
	assert_saves("dangling");
	assert_saves("circle");
	assert_true(S_ISREG(saving_mode_of("dangling")));
	assert_true(S_ISREG(saving_mode_of("circle")));
	assert_int_equal(access("nowhere", F_OK), -1);
}

static void
test_publish_reports_a_missing_folder(void **state)
{
	struct ckpt_publish pub;

	(void)state;
	saving_put("file", saving_old_text);
	assert_int_equal(
		saving_save(&pub, &ckpt_file_ops_posix, "no/f"), CKPT_EIO);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(pub.fault.action, "open the folder");
	assert_int_equal(
		saving_save(&pub, &ckpt_file_ops_posix, "file/f"), CKPT_EIO);
	assert_int_equal(pub.fault.error, ENOTDIR);
}

static void
make_folder_instead(void)
{
	assert_int_equal(mkdir("late", 0700), 0);
}

static void
test_publish_notices_a_late_change(void **state)
{
	struct faulty faulty = { .before_rename = make_folder_instead };
	struct ckpt_file_ops ops = faulty_ops(&faulty);
	struct ckpt_publish pub;

	(void)state;
	assert_int_equal(
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, "f"), CKPT_OK);
	assert_int_equal(mkfifo("f", 0600), 0);
	assert_int_equal(ckpt_publish_commit(&pub), CKPT_EDESTINATION);
	assert_string_equal(pub.fault.reason, "it is a FIFO");
	assert_true(S_ISFIFO(saving_mode_of("f")));
	assert_int_equal(saving_save(&pub, &ops, "late"), CKPT_EDESTINATION);
	assert_string_equal(pub.fault.reason, "it is a folder");
	assert_int_equal(saving_temporaries(false), 0);
}

static void
test_publish_notices_a_lost_temporary(void **state)
{
	struct ckpt_publish pub;

	(void)state;
	saving_put("f", saving_old_text);
	assert_int_equal(
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, "f"), CKPT_OK);
	assert_int_equal(unlink(pub.temporary), 0);
	assert_int_equal(ckpt_publish_commit(&pub), CKPT_EIO);
	assert_int_equal(pub.fault.error, ENOENT);
	assert_true(ckpt_publish_abort(&pub));
	assert_true(saving_holds("f", saving_old_text));
}

#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(                                       \
		test, saving_enter_folder, saving_leave_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_publish_creates),
		IN_FOLDER(test_publish_creates_with_the_umask),
		IN_FOLDER(test_publish_keeps_the_mode),
		IN_FOLDER(test_publish_keeps_the_owner_if_it_may),
		IN_FOLDER(test_publish_shows_another_group_no_more_than_all),
		IN_FOLDER(test_publish_writes_large_and_empty_files),
		IN_FOLDER(test_publish_abort_leaves_the_old_file),
		IN_FOLDER(test_publish_follows_a_renamed_folder),
		IN_FOLDER(test_publish_refuses_what_has_no_file_name),
		IN_FOLDER(test_publish_refuses_special_files),
		IN_FOLDER(test_publish_refuses_devices),
		IN_FOLDER(test_publish_replaces_a_link_not_its_file),
		IN_FOLDER(test_publish_replaces_a_dangling_link),
		IN_FOLDER(test_publish_reports_a_missing_folder),
		IN_FOLDER(test_publish_notices_a_late_change),
		IN_FOLDER(test_publish_notices_a_lost_temporary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
