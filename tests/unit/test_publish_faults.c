/* SPDX-License-Identifier: MIT */
/*
 * Saving while things go wrong: every system call fails in turn, names are
 * taken, the process is killed. The property behind all of it: afterwards the
 * destination is wholly old or wholly new, the status says which, and neither
 * a temporary file nor a descriptor is left; only a kill may leave a file, and
 * its name is known for what it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/faulty_ops.h"
#include "../support/saving.h"
#include "io/publish.h"
#include "io/temporary_name.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Saves over the old text in "f" with these faults; checks the property. */
static enum ckpt_status
save_faulty(struct faulty *faulty, struct ckpt_publish *pub)
{
	struct ckpt_file_ops ops = faulty_ops(faulty);
	enum ckpt_status status;
	int error;

	saving_put("f", saving_old_text);
	status = saving_save(pub, &ops, "f");
	error = errno;
	assert_int_equal(faulty->open, 0);
	assert_int_equal(pub->status, status);
	if (status == CKPT_OK || status == CKPT_ENOTSYNCED)
		assert_true(saving_holds("f", saving_new_text));
	else
		assert_true(saving_holds("f", saving_old_text));
	assert_int_equal(saving_temporaries(false), pub->fault.leftover != 0);
	if (status != CKPT_OK) {
		assert_int_equal(error, pub->fault.error);
		assert_non_null(pub->fault.action);
		assert_string_equal(pub->fault.path, "f");
		assert_true((error == 0) == (pub->fault.reason != NULL));
	}
	/* A failure stays one, and giving up twice does no harm. */
	assert_int_equal(ckpt_publish_commit(pub), status);
	assert_int_equal(ckpt_publish_abort(pub), pub->fault.leftover == 0);
	assert_int_equal(ckpt_publish_abort(pub), pub->fault.leftover == 0);
	assert_int_equal(pub->status, status);
	return status;
}

/* ---- One kind of call --------------------------------------------------- */

static void
test_publish_goes_on_after_short_writes(void **state)
{
	struct faulty faulty = { .most = 1 };
	struct ckpt_publish pub;

	(void)state;
	assert_int_equal(save_faulty(&faulty, &pub), CKPT_OK);
	assert_int_equal(faulty.calls[FAULTY_WRITE], 22);
	assert_int_equal(faulty.calls[FAULTY_PWRITE], 4);
}

static void
test_publish_goes_on_after_interrupts(void **state)
{
	static const enum faulty_op ops[] = { FAULTY_OPENAT, FAULTY_WRITE,
		FAULTY_PWRITE, FAULTY_FSYNC, FAULTY_CLOSE };

	(void)state;
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		struct faulty faulty = { .op = ops[i],
			.at = 1,
			.last = 3,
			.error = EINTR,
			.most = 3 };
		struct ckpt_publish pub;

		assert_int_equal(save_faulty(&faulty, &pub), CKPT_OK);
		assert_true(faulty.hits >= 2);
	}
}

static void
test_publish_reports_a_full_disk_at_every_write(void **state)
{
	static const enum faulty_op ops[] = { FAULTY_WRITE, FAULTY_PWRITE };
	unsigned int failures = 0;

	(void)state;
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		for (unsigned int at = 1;; at++) {
			struct faulty faulty = { .op = ops[i],
				.at = at,
				.error = ENOSPC,
				.most = 3 };
			struct ckpt_publish pub;
			enum ckpt_status status = save_faulty(&faulty, &pub);

			if (faulty.hits == 0)
				break;
			assert_int_equal(status, CKPT_EIO);
			assert_int_equal(pub.fault.error, ENOSPC);
			assert_non_null(pub.fault.temporary);
			failures++;
		}
	}
	assert_int_equal(failures, 4 + 4 + 2);
}

static void
test_publish_takes_no_progress_for_a_full_disk(void **state)
{
	struct faulty faulty = {
		.op = FAULTY_WRITE, .at = 2, .write_nothing = true
	};
	struct ckpt_publish pub;

	(void)state;
	assert_int_equal(save_faulty(&faulty, &pub), CKPT_EIO);
	assert_int_equal(pub.fault.error, ENOSPC);
}

struct single {
	enum faulty_op op;
	unsigned int at;
	int error;
	enum ckpt_status status;
	const char *action; /* NULL where the save succeeds all the same */
};

static void
test_publish_maps_each_failure_to_its_status(void **state)
{
	static const char make[] = "create the temporary file";
	static const char look[] = "look at the destination";
	static const char move[] = "rename the temporary file";
	static const struct single rows[] = {
		{ FAULTY_OPENAT, 1, EACCES, CKPT_EIO, "open the folder" },
		{ FAULTY_OPENAT, 2, EROFS, CKPT_EIO, make },
		{ FAULTY_OPENAT, 2, EACCES, CKPT_EIO, make },
		{ FAULTY_FSTAT, 2, EIO, CKPT_EIO, make },
		{ FAULTY_FSTATAT, 2, EIO, CKPT_EIO, look },
		{ FAULTY_FSTATAT, 4, EIO, CKPT_EIO, look },
		{ FAULTY_FCHMOD, 1, EIO, CKPT_EIO, "set the mode" },
		{ FAULTY_FCHMOD, 1, EPERM, CKPT_OK, NULL },
		{ FAULTY_FSYNC, 1, EIO, CKPT_EIO, "sync the temporary file" },
		{ FAULTY_CLOSE, 1, EDQUOT, CKPT_EIO,
			"close the temporary file" },
		{ FAULTY_RENAMEAT, 1, EIO, CKPT_EIO, move },
		{ FAULTY_RENAMEAT, 1, EACCES, CKPT_EIO, move },
		{ FAULTY_RENAMEAT, 1, EROFS, CKPT_EIO, move },
		{ FAULTY_RENAMEAT, 1, EXDEV, CKPT_ENOATOMIC, move },
		{ FAULTY_RENAMEAT, 1, ENOSYS, CKPT_ENOATOMIC, move },
		{ FAULTY_RENAMEAT, 1, EOPNOTSUPP, CKPT_ENOATOMIC, move },
		{ FAULTY_RENAMEAT, 1, EINVAL, CKPT_ENOATOMIC, move },
		{ FAULTY_RENAMEAT, 1, EBUSY, CKPT_ENOATOMIC, move },
		{ FAULTY_FSYNC, 2, EIO, CKPT_ENOTSYNCED, "sync the folder" },
		{ FAULTY_FSYNC, 2, EINVAL, CKPT_ENOTSYNCED, "sync the folder" },
		{ FAULTY_CLOSE, 2, EIO, CKPT_OK, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct single *row = &rows[i];
		struct faulty faulty = {
			.op = row->op, .at = row->at, .error = row->error
		};
		struct ckpt_publish pub;

		assert_int_equal(save_faulty(&faulty, &pub), row->status);
		assert_int_equal(faulty.hits, 1);
		if (!row->action)
			continue;
		assert_string_equal(pub.fault.action, row->action);
		assert_int_equal(pub.fault.error, row->error);
		assert_int_equal(pub.fault.leftover, 0);
	}
}

static void
test_publish_believes_a_rename_it_sees(void **state)
{
	struct faulty faulty = { .op = FAULTY_RENAMEAT,
		.at = 1,
		.error = EIO,
		.done_anyway = true };
	struct ckpt_publish pub;

	(void)state;
	assert_int_equal(save_faulty(&faulty, &pub), CKPT_OK);
	assert_int_equal(faulty.calls[FAULTY_UNLINKAT], 0);
}

static void
test_publish_says_that_a_temporary_remains(void **state)
{
	struct faulty faulty = {
		.op = FAULTY_WRITE, .at = 1, .error = ENOSPC, .no_unlink = true
	};
	struct ckpt_publish pub;

	(void)state;
	assert_int_equal(save_faulty(&faulty, &pub), CKPT_EIO);
	assert_int_equal(pub.fault.error, ENOSPC);
	assert_int_equal(pub.fault.leftover, EPERM);
	assert_int_equal(access(pub.fault.temporary, F_OK), 0);
}

/* ---- Every call --------------------------------------------------------- */

/* Lets calls first to last fail, for each first; last 0: only the first. */
static void
fail_in_turn(int error, unsigned int last, bool no_unlink)
{
	unsigned int succeeded = 0;
	unsigned int refused = 0;

	for (unsigned int at = 1;; at++) {
		struct faulty faulty = { .at = at,
			.last = last,
			.error = error,
			.most = 7,
			.no_unlink = no_unlink };
		struct ckpt_publish pub;

		if (save_faulty(&faulty, &pub) == CKPT_OK)
			succeeded++;
		else
			refused++;
		saving_temporaries(true);
		if (faulty.hits == 0)
			break;
	}
	assert_true(succeeded >= 1);
	assert_true(refused >= 10);
}

static void
test_publish_survives_any_one_failure(void **state)
{
	static const int errors[] = { EIO, ENOSPC, EACCES, EPERM, ENOENT,
		EXDEV };

	(void)state;
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		fail_in_turn(errors[i], 0, false);
		fail_in_turn(errors[i], 0, true);
	}
}

static void
test_publish_survives_failure_of_all_that_follows(void **state)
{
	(void)state;
	fail_in_turn(EIO, UINT_MAX, false);
}

/* Saves to name, where no file is, with call at failing. False when there are
 * fewer calls. */
static bool
create_faulty(const char *name, unsigned int at)
{
	struct faulty faulty = { .at = at, .error = EIO };
	struct ckpt_file_ops ops = faulty_ops(&faulty);
	struct ckpt_publish pub;
	enum ckpt_status status = saving_save(&pub, &ops, name);

	assert_int_equal(saving_temporaries(false), 0);
	assert_int_equal(faulty.open, 0);
	if (status == CKPT_OK || status == CKPT_ENOTSYNCED) {
		assert_true(saving_holds(name, saving_new_text));
		assert_int_equal(unlink(name), 0);
	}
	return faulty.hits > 0;
}

static void
test_publish_leaves_nothing_where_nothing_was(void **state)
{
	(void)state;
	for (unsigned int at = 1; create_faulty("new", at); at++)
		assert_int_equal(access("new", F_OK), -1);
}

static void
test_publish_leaves_a_dangling_link(void **state)
{
	(void)state;
	assert_int_equal(symlink("nowhere", "link"), 0);
	for (unsigned int at = 1; create_faulty("link", at); at++) {
		/* Either it is what it was, or it was replaced and removed. */
		if (access("nowhere", F_OK) == 0)
			fail_msg("call %u: the link was followed", at);
		if (symlink("nowhere", "link") != 0)
			assert_true(S_ISLNK(saving_mode_of("link")));
	}
}

/* ---- Names -------------------------------------------------------------- */

/* What another process has taken is passed over; no name is tried twice. */
static int taken;
static int tries;
static char last_try[NAME_MAX + 1];

static int
open_what_is_taken(
	void *ctx, int folder, const char *name, int flags, mode_t mode)
{
	(void)ctx;
	if (flags & O_CREAT) {
		assert_string_not_equal(name, last_try);
		memcpy(last_try, name, strlen(name) + 1);
		if (tries++ < taken) {
			errno = EEXIST;
			return -1;
		}
	}
	return openat(folder, name, flags, mode);
}

static void
test_publish_gives_up_after_all_serials(void **state)
{
	struct ckpt_file_ops ops = ckpt_file_ops_posix;
	struct ckpt_publish pub;

	(void)state;
	ops.openat = open_what_is_taken;
	saving_put("f", saving_old_text);
	taken = 127;
	tries = 0;
	assert_int_equal(saving_save(&pub, &ops, "f"), CKPT_OK);
	assert_true(saving_holds("f", saving_new_text));
	taken = 1000;
	tries = 0;
	saving_put("f", saving_old_text);
	assert_int_equal(saving_save(&pub, &ops, "f"), CKPT_EIO);
	assert_int_equal(pub.fault.error, EEXIST);
	assert_null(pub.fault.temporary);
	assert_int_equal(tries, 128);
	assert_true(saving_holds("f", saving_old_text));
	assert_int_equal(saving_temporaries(false), 0);
}

static void
test_publish_saves_names_of_any_length(void **state)
{
	char name[NAME_MAX + 2];

	(void)state;
	for (size_t n = 1; n <= NAME_MAX + 1; n++) {
		struct ckpt_publish pub;
		enum ckpt_status status;

		memset(name, 'n', n);
		name[n] = '\0';
		status = saving_save(&pub, &ckpt_file_ops_posix, name);
		assert_int_equal(status, n <= NAME_MAX ? CKPT_OK : CKPT_EIO);
		if (n > NAME_MAX)
			assert_int_equal(pub.fault.error, ENAMETOOLONG);
		else
			assert_int_equal(unlink(name), 0);
	}
	assert_int_equal(saving_temporaries(false), 0);
}

/* ---- kill -9 ------------------------------------------------------------ */

enum { KILLS = 60, SIZE = 256 * 1024, PIECE = 8 * 1024 };

/* Files of this test hold SIZE + c bytes, all of them c. */
static enum ckpt_status
save_pattern(const char *path, unsigned char c)
{
	struct ckpt_publish pub;
	enum ckpt_status status;
	unsigned char piece[PIECE];

	memset(piece, c, sizeof piece);
	status = ckpt_publish_begin(&pub, &ckpt_file_ops_posix, path);
	for (int i = 0; status == CKPT_OK && i < SIZE / PIECE; i++)
		status = ckpt_publish_write(&pub, piece, sizeof piece);
	if (status == CKPT_OK)
		status = ckpt_publish_write(&pub, piece, c);
	if (status == CKPT_OK)
		status = ckpt_publish_commit(&pub);
	return status;
}

static void
assert_pattern(const char *path)
{
	static unsigned char bytes[SIZE + 256];
	FILE *file = fopen(path, "rb");
	size_t n;

	assert_non_null(file);
	n = fread(bytes, 1, sizeof bytes, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(n, SIZE + bytes[0]);
	for (size_t i = 1; i < n; i++)
		if (bytes[i] != bytes[0])
			fail_msg("byte %zu is of another file", i);
}

static void
kill_a_saver(useconds_t delay)
{
	pid_t pid = fork();
	int result;

	assert_true(pid >= 0);
	if (pid == 0) {
		for (unsigned char c = 1;; c++)
			if (save_pattern("f", c) != CKPT_OK)
				_exit(1);
	}
	usleep(delay);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &result, 0), pid);
	assert_true(WIFSIGNALED(result));
}

static void
test_publish_survives_kill_at_any_moment(void **state)
{
	int orphans = 0;

	(void)state;
	srand(35);
	assert_int_equal(save_pattern("f", 7), CKPT_OK);
	for (int i = 0; i < KILLS; i++) {
		kill_a_saver((useconds_t)(rand() % 8000));
		assert_pattern("f");
		orphans += saving_temporaries(i % 2 == 0);
		assert_int_equal(save_pattern("f", (unsigned char)i), CKPT_OK);
		assert_pattern("f");
	}
	/* Else the kills missed what they are for. */
	assert_true(orphans > 0);
}

#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(                                       \
		test, saving_enter_folder, saving_leave_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_publish_goes_on_after_short_writes),
		IN_FOLDER(test_publish_goes_on_after_interrupts),
		IN_FOLDER(test_publish_reports_a_full_disk_at_every_write),
		IN_FOLDER(test_publish_takes_no_progress_for_a_full_disk),
		IN_FOLDER(test_publish_maps_each_failure_to_its_status),
		IN_FOLDER(test_publish_believes_a_rename_it_sees),
		IN_FOLDER(test_publish_says_that_a_temporary_remains),
		IN_FOLDER(test_publish_survives_any_one_failure),
		IN_FOLDER(test_publish_survives_failure_of_all_that_follows),
		IN_FOLDER(test_publish_leaves_nothing_where_nothing_was),
		IN_FOLDER(test_publish_leaves_a_dangling_link),
		IN_FOLDER(test_publish_gives_up_after_all_serials),
		IN_FOLDER(test_publish_saves_names_of_any_length),
		IN_FOLDER(test_publish_survives_kill_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
