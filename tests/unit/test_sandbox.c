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

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/sandbox.h"
#include "io/publish.h"
#include "io/spool.h"
#include "support/saving.h"

/* What comes of an attempt; an errno stands for itself. */
enum { WORKS = 0, KILLED = 201, ABSENT = 202, OTHER = 203 };

/* Under which needs: N nothing, R reading, S saving, T the terminal. */
enum { N, R, S, T, SETS };

static const unsigned needs[SETS] = {
	[N] = 0,
	[R] = CKPT_SANDBOX_OPEN,
	[S] = CKPT_SANDBOX_OPEN | CKPT_SANDBOX_SAVE,
	[T] = CKPT_SANDBOX_OPEN | CKPT_SANDBOX_SAVE | CKPT_SANDBOX_TERMINAL,
};

/* Open before the sandbox was entered. */
static int pipe_fds[2], folder_fd, socket_fd;
static pid_t parent;

/* 0 or errno of what a call returned. */
static int
said(long result)
{
	return result < 0 ? errno : 0;
}

static int
opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* ---- Attempts: files ---------------------------------------------------- */

static int
read_in(void)
{
	return opened("in/file", O_RDONLY);
}

static int
read_out(void)
{
	return opened("out/file", O_RDONLY);
}

static int
read_system(void)
{
	return opened("/etc/passwd", O_RDONLY);
}

/* A way round names: what is open already leads to no more. */
static int
read_by_folder(void)
{
	return said(openat(folder_fd, "../out/file", O_RDONLY));
}

static int
list_in(void)
{
	DIR *dir = opendir("in");
	int error = errno;
	struct dirent *d = NULL;

	if (!dir)
		return error;
	d = readdir(dir);
	closedir(dir);
	return d ? 0 : OTHER;
}

static int
write_old(void)
{
	return opened("in/file", O_WRONLY);
}

static int
append_old(void)
{
	return opened("in/file", O_RDWR | O_APPEND);
}

static int
cut_old(void)
{
	return opened("in/file", O_RDONLY | O_TRUNC);
}

static int
create_loosely(void)
{
	return opened("in/new", O_WRONLY | O_CREAT);
}

static int
create_in(void)
{
	return opened("in/new", O_WRONLY | O_CREAT | O_EXCL);
}

static int
create_out(void)
{
	return opened("out/new", O_WRONLY | O_CREAT | O_EXCL);
}

/* What exists is not even opened if it is asked for as new. */
static int
create_old(void)
{
	return opened("in/file", O_WRONLY | O_CREAT | O_EXCL);
}

static int
publish(const char *path)
{
	struct ckpt_publish pub;

	if (ckpt_publish_begin(&pub, &ckpt_file_ops_posix, path) != CKPT_OK ||
		ckpt_publish_write(&pub, "new", 3) != CKPT_OK ||
		ckpt_publish_commit(&pub) != CKPT_OK)
		return pub.fault.error ? pub.fault.error : OTHER;
	return 0;
}

static int
publish_in(void)
{
	return publish("in/file");
}

static int
publish_out(void)
{
	return publish("out/file");
}

static int
spool(void)
{
	struct ckpt_spool s;

	if (ckpt_spool_open(&s) != CKPT_OK)
		return errno;
	if (ckpt_spool_write(&s, "x", 1) != CKPT_OK)
		return OTHER;
	ckpt_spool_close(&s);
	return 0;
}

static int
rename_in(void)
{
	return said(rename("in/file", "in/other"));
}

static int
rename_out(void)
{
	return said(rename("out/file", "out/other"));
}

static int
unlink_in(void)
{
	return said(unlink("in/file"));
}

static int
unlink_out(void)
{
	return said(unlink("out/file"));
}

static int
make_folder(void)
{
	return said(mkdir("in/folder", 0700));
}

static int
make_link(void)
{
	return said(symlink("file", "in/link"));
}

static int
make_hard_link(void)
{
	return said(link("in/file", "in/link"));
}

static int
make_fifo(void)
{
	return said(mkfifo("in/fifo", 0600));
}

static int
change_mode(void)
{
	return said(chmod("in/file", 0644));
}

static int
cut_by_name(void)
{
	return said(truncate("in/file", 0));
}

static int
change_folder(void)
{
	return said(chdir("in"));
}

/* ---- Attempts: other programs and the network --------------------------- */

static int
start_program(void)
{
	char *const none[] = { NULL };

	execve("/bin/true", none, none);
	return errno;
}

static int
start_open_program(void)
{
	char *const none[] = { NULL };

	return said(syscall(SYS_execveat, folder_fd, "file", none, none, 0));
}

static int
make_process(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	return said(child);
}

static int
make_process_anew(void)
{
	return said(syscall(SYS_clone3, NULL, 0));
}

static int
open_socket(void)
{
	return said(socket(AF_INET, SOCK_STREAM, 0));
}

static int
open_local_socket(void)
{
	return said(socket(AF_UNIX, SOCK_DGRAM, 0));
}

static int
open_packet_socket(void)
{
	return said(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int
connect_open(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };

	return said(connect(socket_fd, (struct sockaddr *)&to, sizeof to));
}

static int
send_open(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };

	return said(sendto(
		socket_fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
}

static int
trace(void)
{
	return said(ptrace(PTRACE_ATTACH, parent, NULL, NULL));
}

static int
read_process(void)
{
	char byte;
	struct iovec to = { &byte, 1 }, from = { &parent, 1 };

	return said(process_vm_readv(parent, &to, 1, &from, 1, 0));
}

static int
make_ring(void)
{
	char parameters[256] = { 0 };

	return said(syscall(SYS_io_uring_setup, 1, parameters));
}

static int
signal_parent(void)
{
	return said(kill(parent, 0));
}

static int
signal_thread_of_parent(void)
{
	return said(syscall(SYS_tgkill, parent, parent, 0));
}

/* ---- Attempts: the process itself --------------------------------------- */

static int
map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int
make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? OTHER
			       : said(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int
change_user(void)
{
	return said(syscall(SYS_setuid, 0));
}

static int
leave_namespace(void)
{
	return said(unshare(CLONE_NEWUSER));
}

static int
mount_something(void)
{
	return said(mount("none", "in", "tmpfs", 0, NULL));
}

static int
change_limits(void)
{
	const struct rlimit none = { 0, 0 };

	return said(setrlimit(RLIMIT_CORE, &none));
}

static int
type_for_user(void)
{
	return said(ioctl(pipe_fds[0], TIOCSTI, "x"));
}

/* A pipe is no terminal: with the right to change one, that is said. */
static int
change_terminal(void)
{
	struct termios modes;

	memset(&modes, 0, sizeof modes);
	return said(ioctl(pipe_fds[0], TCSETS, &modes));
}

/* ---- Attempts: what always works ---------------------------------------- */

static volatile sig_atomic_t heard;

static void
hear(int number)
{
	heard = number;
}

static int
signal_itself(void)
{
	struct sigaction action = { .sa_handler = hear };

	if (sigaction(SIGUSR1, &action, NULL) != 0 || raise(SIGUSR1) != 0)
		return errno;
	return heard == SIGUSR1 ? 0 : OTHER;
}

static int
use_open(void)
{
	struct pollfd fd = { .fd = pipe_fds[0], .events = POLLIN };
	char byte = 'x';
	struct stat st;

	if (write(pipe_fds[1], &byte, 1) != 1 || poll(&fd, 1, 0) != 1 ||
		read(pipe_fds[0], &byte, 1) != 1)
		return errno;
	return said(fstat(folder_fd, &st));
}

static int
ask_of_names(void)
{
	struct stat st;
	char text[64];

	if (stat("in/file", &st) != 0 || lstat("out/file", &st) != 0 ||
		access("in", F_OK) != 0)
		return errno;
	return readlink("in/file", text, sizeof text) < 0 && errno == EINVAL
		       ? 0
		       : OTHER;
}

static int
compare_bytes(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* Enough for the allocator to map, to sort by merging, to print. */
static int
compute(void)
{
	const size_t n = 4 << 20;
	unsigned char *p = malloc(n), *q;
	struct timespec moment = { 0, 1000 };
	FILE *out = fdopen(pipe_fds[1], "w");

	if (!p || !out)
		return OTHER;
	memset(p, 7, n);
	q = realloc(p, 2 * n);
	if (!q)
		return OTHER;
	qsort(q, 4096, 1, compare_bytes);
	free(q);
	fprintf(out, "%zu %s\n", n, strerror(ENOENT));
	if (fflush(out) != 0 || nanosleep(&moment, NULL) != 0)
		return errno;
	return said(sysconf(_SC_NPROCESSORS_ONLN));
}

static void *
in_thread(void *arg)
{
	int *error = arg;
	void *p = malloc(1 << 20); /* from an arena of its own */

	free(p);
	*error = opened("/etc/passwd", O_RDONLY);
	return NULL;
}

/* A thread starts, and can do no more than the one that started it. */
static int
start_thread(void)
{
	pthread_t thread;
	int error = OTHER;
	int made = pthread_create(&thread, NULL, in_thread, &error);

	if (made == 0)
		made = pthread_join(thread, NULL);
	return made ? made : error;
}

/* ---- The table ---------------------------------------------------------- */

#define EVERYWHERE(x)                                                          \
	{                                                                      \
		x, x, x, x                                                     \
	}

static const struct attempt {
	const char *name;
	int (*run)(void);
	int wanted[SETS];
} attempts[] = {
	{ "use what is open", use_open, EVERYWHERE(WORKS) },
	{ "ask of names", ask_of_names, EVERYWHERE(WORKS) },
	{ "compute", compute, EVERYWHERE(WORKS) },
	{ "signal itself", signal_itself, EVERYWHERE(WORKS) },
	/* EACCES: the call is left, the place is not. */
	{ "start a thread", start_thread, { EPERM, EACCES, EACCES, EACCES } },
	{ "read", read_in, { EPERM, WORKS, WORKS, WORKS } },
	{ "list", list_in, { EPERM, WORKS, WORKS, WORKS } },
	{ "read elsewhere", read_out, { EPERM, EACCES, EACCES, EACCES } },
	{ "read the system", read_system, { EPERM, EACCES, EACCES, EACCES } },
	{ "read by a folder", read_by_folder,
		{ EPERM, EACCES, EACCES, EACCES } },
	{ "write into a file", write_old, EVERYWHERE(EPERM) },
	{ "append to a file", append_old, EVERYWHERE(EPERM) },
	{ "cut a file", cut_old, EVERYWHERE(EPERM) },
	{ "cut by name", cut_by_name, EVERYWHERE(EPERM) },
	{ "create loosely", create_loosely, EVERYWHERE(EPERM) },
	{ "create", create_in, { EPERM, EPERM, WORKS, WORKS } },
	{ "create what is there", create_old,
		{ EPERM, EPERM, EEXIST, EEXIST } },
	{ "create elsewhere", create_out, { EPERM, EPERM, EACCES, EACCES } },
	{ "publish", publish_in, { EPERM, EPERM, WORKS, WORKS } },
	{ "publish elsewhere", publish_out, { EPERM, EACCES, EACCES, EACCES } },
	{ "spool", spool, { EPERM, EPERM, WORKS, WORKS } },
	{ "rename", rename_in, { EPERM, EPERM, WORKS, WORKS } },
	{ "rename elsewhere", rename_out, { EPERM, EPERM, EACCES, EACCES } },
	{ "remove", unlink_in, { EPERM, EPERM, WORKS, WORKS } },
	{ "remove elsewhere", unlink_out, { EPERM, EPERM, EACCES, EACCES } },
	{ "make a folder", make_folder, { EPERM, EPERM, EACCES, EACCES } },
	{ "make a symbolic link", make_link, EVERYWHERE(EPERM) },
	{ "make a hard link", make_hard_link, EVERYWHERE(EPERM) },
	{ "make a FIFO", make_fifo, EVERYWHERE(EPERM) },
	{ "change a mode", change_mode, EVERYWHERE(EPERM) },
	{ "change the folder", change_folder, EVERYWHERE(EPERM) },
	{ "start a program", start_program, EVERYWHERE(KILLED) },
	{ "start an open program", start_open_program, EVERYWHERE(KILLED) },
	{ "make a process", make_process, EVERYWHERE(EPERM) },
	{ "make a process anew", make_process_anew, EVERYWHERE(ENOSYS) },
	{ "open a socket", open_socket, EVERYWHERE(KILLED) },
	{ "open a local socket", open_local_socket, EVERYWHERE(KILLED) },
	{ "open a packet socket", open_packet_socket, EVERYWHERE(KILLED) },
	{ "connect an open socket", connect_open, EVERYWHERE(EPERM) },
	{ "send by an open socket", send_open, EVERYWHERE(EPERM) },
	{ "trace", trace, EVERYWHERE(KILLED) },
	{ "read a process", read_process, EVERYWHERE(KILLED) },
	{ "make a ring", make_ring, EVERYWHERE(KILLED) },
	{ "signal the parent", signal_parent, EVERYWHERE(EPERM) },
	{ "signal its thread", signal_thread_of_parent, EVERYWHERE(EPERM) },
	{ "map code", map_code, EVERYWHERE(EPERM) },
	{ "make code", make_code, EVERYWHERE(EPERM) },
	{ "change the user", change_user, EVERYWHERE(EPERM) },
	{ "leave a namespace", leave_namespace, EVERYWHERE(EPERM) },
	{ "mount", mount_something, EVERYWHERE(EPERM) },
	{ "change limits", change_limits, EVERYWHERE(EPERM) },
	{ "type for the user", type_for_user, EVERYWHERE(EPERM) },
	{ "change a terminal", change_terminal,
		{ EPERM, EPERM, EPERM, ENOTTY } },
};

/* ---- Running ------------------------------------------------------------ */

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

/* In the child: its exit status says what came of it. */
static void
try(unsigned what, int (*run)(void), bool calls)
{
	struct ckpt_sandbox box;

	folder_fd = open("in", O_RDONLY | O_DIRECTORY);
	socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (folder_fd < 0 || pipe(pipe_fds) != 0 || setenv("TMPDIR", "in", 1))
		_exit(OTHER);
	begin(&box, what);
	if (calls) {
		ckpt_sandbox_enter(&box);
	} else if (box.places >= 0) {
		box.places_error = ckpt_places_enter(box.places);
		box.places_set = box.places_error == 0;
	}
	if (!box.off && (!box.places_set || (calls && !box.narrow)))
		_exit(ABSENT);
	_exit(run());
}

static int
come_of(unsigned what, int (*run)(void), bool calls)
{
	pid_t child;
	int status;

	make_files();
	parent = getpid();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		try(what, run, calls);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED : OTHER;
	return WEXITSTATUS(status);
}

/* Skips where the system has none, as in some containers, or the build. */
static void
need_sandbox(bool calls)
{
	struct ckpt_sandbox box;

	begin(&box, 0);
	if (box.off || come_of(0, use_open, calls) == ABSENT)
		skip();
	if (box.places >= 0)
		close(box.places);
}

static void
test_sandbox_attempts(void **state)
{
	const size_t n = sizeof attempts / sizeof attempts[0];
	int failed = 0;

	(void)state;
	need_sandbox(true);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < SETS; k++) {
			const struct attempt *a = &attempts[i];
			int came = come_of(needs[k], a->run, true);

			if (came == a->wanted[k])
				continue;
			print_error("%s, needs %zu: %d (%s), wanted %d\n",
				a->name, k, came, strerror(came), a->wanted[k]);
			failed++;
		}
	}
	assert_int_equal(failed, 0);
}

/* The second wall alone, as where libseccomp is not there. */
static void
test_sandbox_places_alone(void **state)
{
	const unsigned all = needs[S];

	(void)state;
	need_sandbox(false);
	assert_int_equal(come_of(all, read_in, false), WORKS);
	assert_int_equal(come_of(all, read_out, false), EACCES);
	assert_int_equal(come_of(all, read_system, false), EACCES);
	assert_int_equal(come_of(all, start_thread, false), EACCES);
	assert_int_equal(come_of(all, create_in, false), WORKS);
	assert_int_equal(come_of(all, create_out, false), EACCES);
	assert_int_equal(come_of(all, unlink_out, false), EACCES);
	assert_int_equal(come_of(all, make_folder, false), EACCES);
	assert_int_equal(come_of(all, make_link, false), EACCES);
	assert_int_equal(come_of(all, make_fifo, false), EACCES);
	assert_int_equal(come_of(all, start_program, false), EACCES);
	assert_int_equal(come_of(all, publish_in, false), WORKS);
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
	assert_int_equal(read_system(), WORKS);
	assert_int_equal(create_in(), WORKS);
	assert_int_equal(open_local_socket(), WORKS);
	assert_int_equal(make_process(), WORKS);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_sandbox_attempts),
		IN_FOLDER(test_sandbox_places_alone),
		IN_FOLDER(test_sandbox_off),
		cmocka_unit_test(test_sandbox_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
