/* SPDX-License-Identifier: MIT */
/*
 * Attempts on files, and those that always work: see attempts.h. What is said
 * of saving is tried as the tools save, by publish.c and spool.c.
 */
#include "support/attempts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/publish.h"
#include "io/spool.h"

static int
opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

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
	return attempt_said(
		openat(attempts_open.folder, "../out/file", O_RDONLY));
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
	return attempt_said(rename("in/file", "in/other"));
}

static int
rename_out(void)
{
	return attempt_said(rename("out/file", "out/other"));
}

static int
unlink_in(void)
{
	return attempt_said(unlink("in/file"));
}

static int
unlink_out(void)
{
	return attempt_said(unlink("out/file"));
}

static int
make_folder(void)
{
	return attempt_said(mkdir("in/folder", 0700));
}

static int
make_link(void)
{
	return attempt_said(symlink("file", "in/link"));
}

static int
make_hard_link(void)
{
	return attempt_said(link("in/file", "in/link"));
}

static int
make_fifo(void)
{
	return attempt_said(mkfifo("in/fifo", 0600));
}

static int
change_mode(void)
{
	return attempt_said(chmod("in/file", 0644));
}

static int
cut_by_name(void)
{
	return attempt_said(truncate("in/file", 0));
}

static int
change_folder(void)
{
	return attempt_said(chdir("in"));
}

/* ---- What always works ---------------------------------------- */

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
	struct pollfd fd = { .fd = attempts_open.pipe[0], .events = POLLIN };
	char byte = 'x';
	struct stat st;

	if (write(attempts_open.pipe[1], &byte, 1) != 1 ||
		poll(&fd, 1, 0) != 1 ||
		read(attempts_open.pipe[0], &byte, 1) != 1)
		return errno;
	return attempt_said(fstat(attempts_open.folder, &st));
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
	FILE *out = fdopen(attempts_open.pipe[1], "w");

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
	return attempt_said(sysconf(_SC_NPROCESSORS_ONLN));
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

const struct attempt attempts_on_files[] = {
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
	{ 0 },
};
