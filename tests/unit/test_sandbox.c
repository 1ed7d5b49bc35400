/* SPDX-License-Identifier: MIT */
/*
 * What can and what cannot be done in the sandbox: each attempt in a process
 * of its own, under each set of needs that the tools have. An attempt that has
 * to end the process must end it by SIGSYS; one that has to fail, with the
 * errno that is told; one that has to work, works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sandbox.h"
#include "support/attempts.h"
#include "support/saving.h"

static const unsigned needs[SETS] = {
	[N] = 0,
	[R] = CKPT_SANDBOX_OPEN,
	[S] = CKPT_SANDBOX_OPEN | CKPT_SANDBOX_SAVE,
	[T] = CKPT_SANDBOX_OPEN | CKPT_SANDBOX_SAVE | CKPT_SANDBOX_TERMINAL,
};

/* Which walls stand. */
enum walls { BOTH, CALLS, PLACES };

static const struct ckpt_command tool = { .name = "ckx" };

static void
begin(struct ckpt_sandbox *box, unsigned what)
{
	const struct ckpt_args args = { .command = &tool };

	ckpt_sandbox_begin(box, &args, what);
	ckpt_sandbox_grant(box, "in", CKPT_SANDBOX_READ | CKPT_SANDBOX_PUBLISH);
}

static void
write_file(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs("old", f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
make_files(void)
{
	(void)mkdir("in", 0700);
	(void)mkdir("out", 0700);
	(void)unlink("in/new");
	(void)unlink("in/other");
	write_file("in/file");
	write_file("out/file");
}

static bool
enter(struct ckpt_sandbox *box, enum walls walls)
{
	if (box->off)
		return true;
	switch (walls) {
	case BOTH:
		ckpt_sandbox_enter(box);
		return box->narrow && box->places_set;
	case CALLS: return ckpt_sandbox_narrow(box->needs) == 0;
	case PLACES:
		return box->places >= 0 && ckpt_places_enter(box->places) == 0;
	}
	return false;
}

/* In the child: its exit status says what came of it. */
static void
try(enum walls walls, unsigned what, const struct attempt *a, pid_t parent)
{
	struct ckpt_sandbox box;

	if (!attempts_prepare(parent) || setenv("TMPDIR", "in", 1))
		_exit(OTHER);
	begin(&box, what);
	if (!enter(&box, walls))
		_exit(ABSENT);
	_exit(a->run());
}

static int
come_of(enum walls walls, unsigned what, const struct attempt *a)
{
	pid_t parent = getpid(), child;
	int status;

	make_files();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		try(walls, what, a, parent);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED : OTHER;
	return WEXITSTATUS(status);
}

/* Whether the build has these walls and the system offers them. */
static bool
offered(enum walls walls)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;
	bool calls =
		ckpt_sandbox_can_narrow &&
		syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
	uint64_t handled;
	int places = ckpt_places_new(&handled);

	if (places >= 0)
		close(places);
	return (walls == PLACES || calls) && (walls == CALLS || places >= 0);
}

/* Skips where there is none, as in some containers and builds. */
static void
need(enum walls walls)
{
	if (strcmp(ckpt_sandbox_built(), "none") == 0 || !offered(walls))
		skip();
}

static int
try_all(const struct attempt *a)
{
	int failed = 0;

	for (; a->name; a++) {
		for (size_t k = 0; k < SETS; k++) {
			int came = come_of(BOTH, needs[k], a);

			if (came == a->wanted[k])
				continue;
			print_error("%s, needs %zu: %d (%s), wanted %d\n",
				a->name, k, came, strerror(came), a->wanted[k]);
			failed++;
		}
	}
	return failed;
}

static void
test_sandbox_files(void **state)
{
	(void)state;
	need(BOTH);
	assert_int_equal(try_all(attempts_on_files), 0);
}

static void
test_sandbox_others(void **state)
{
	(void)state;
	need(BOTH);
	assert_int_equal(try_all(attempts_on_others), 0);
}

struct alone {
	const char *name;
	int wanted;
};

static void
try_alone(enum walls walls, const struct alone *list)
{
	need(walls);
	for (; list->name; list++) {
		int came = come_of(walls, needs[S], attempt_find(list->name));

		if (came != list->wanted)
			fail_msg("%s: %d (%s), wanted %d", list->name, came,
				strerror(came), list->wanted);
	}
}

/* The first wall alone, as on a kernel without Landlock. */
static void
test_sandbox_calls_alone(void **state)
{
	static const struct alone list[] = {
		{ "read", WORKS },
		{ "read elsewhere", WORKS },
		{ "create elsewhere", WORKS },
		{ "write into a file", EPERM },
		{ "make a symbolic link", EPERM },
		{ "start a program", KILLED },
		{ "open a socket", KILLED },
		{ "connect an open socket", EPERM },
		{ "signal the parent", EPERM },
		{ "signal its thread", EPERM },
		{ "signal itself", WORKS },
		{ "trace", KILLED },
		{ 0 },
	};

	(void)state;
	try_alone(CALLS, list);
}

/* The second wall alone, as where libseccomp is not there. */
static void
test_sandbox_places_alone(void **state)
{
	static const struct alone list[] = {
		{ "read", WORKS },
		{ "read elsewhere", EACCES },
		{ "read the system", EACCES },
		{ "start a thread", EACCES },
		{ "create", WORKS },
		{ "create elsewhere", EACCES },
		{ "remove elsewhere", EACCES },
		{ "make a folder", EACCES },
		{ "make a symbolic link", EACCES },
		{ "make a FIFO", EACCES },
		{ "start a program", EACCES },
		{ "publish", WORKS },
		{ 0 },
	};

	(void)state;
	try_alone(PLACES, list);
}

/* Nothing is given up by who asks for that, nor by builds without. */
static void
test_sandbox_off(void **state)
{
	static const struct ckpt_opt row = { .name = "no-sandbox",
		.kind = CKPT_OPT_FLAG };
	struct ckpt_given given = { .opt = &row };
	const struct ckpt_args args = {
		.command = &tool,
		.given = &given,
		.given_count = 1,
	};
	struct ckpt_sandbox box;

	(void)state;
	make_files();
	ckpt_sandbox_begin(&box, &args, 0);
	assert_true(box.off);
	ckpt_sandbox_grant(&box, "in", CKPT_SANDBOX_READ);
	ckpt_sandbox_enter(&box);
	assert_false(box.narrow || box.places_set);
	assert_int_equal(attempt_find("read the system")->run(), WORKS);
	assert_int_equal(attempt_find("create")->run(), WORKS);
	assert_int_equal(attempt_find("open a local socket")->run(), WORKS);
	assert_int_equal(attempt_find("make a process")->run(), WORKS);
}

static void
test_sandbox_built(void **state)
{
	const struct ckpt_args args = { .command = &tool };
	struct ckpt_sandbox box;

	(void)state;
	ckpt_sandbox_begin(&box, &args, 0);
	assert_int_equal(box.off, strcmp(ckpt_sandbox_built(), "none") == 0);
	if (box.places >= 0)
		close(box.places);
}

#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(                                       \
		test, saving_enter_folder, saving_leave_folder)

/* For tests/cli/sandbox.sh: the walls that have to stand. */
static int
say_offered(void)
{
	if (strcmp(ckpt_sandbox_built(), "none") == 0)
		return 0;
	if (offered(CALLS))
		puts("calls");
	if (offered(PLACES))
		puts("places");
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_sandbox_files),
		IN_FOLDER(test_sandbox_others),
		IN_FOLDER(test_sandbox_calls_alone),
		IN_FOLDER(test_sandbox_places_alone),
		IN_FOLDER(test_sandbox_off),
		cmocka_unit_test(test_sandbox_built),
	};

	if (argc == 2 && strcmp(argv[1], "--offered") == 0)
		return say_offered();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
