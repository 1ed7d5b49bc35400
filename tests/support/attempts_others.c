/* SPDX-License-Identifier: MIT */
/*
 * Attempts on other programs, the network and the process itself: see
 * attempts.h.
 */
#include "support/attempts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

struct attempts_open attempts_open;

int
attempt_said(long result)
{
	return result < 0 ? errno : 0;
}

bool
attempts_prepare(pid_t parent)
{
	attempts_open.parent = parent;
	attempts_open.folder = open("in", O_RDONLY | O_DIRECTORY);
	attempts_open.socket = socket(AF_INET, SOCK_DGRAM, 0);
	return attempts_open.folder >= 0 && pipe(attempts_open.pipe) == 0;
}

/* ---- Other programs and the network ------------------------------------- */

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

	return attempt_said(syscall(
		SYS_execveat, attempts_open.folder, "file", none, none, 0));
}

static int
make_process(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	return attempt_said(child);
}

static int
make_process_anew(void)
{
	return attempt_said(syscall(SYS_clone3, NULL, 0));
}

static int
open_socket(void)
{
	return attempt_said(socket(AF_INET, SOCK_STREAM, 0));
}

static int
open_local_socket(void)
{
	return attempt_said(socket(AF_UNIX, SOCK_DGRAM, 0));
}

static int
open_packet_socket(void)
{
	return attempt_said(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int
connect_open(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };

	return attempt_said(connect(
		attempts_open.socket, (struct sockaddr *)&to, sizeof to));
}

static int
send_open(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };

	return attempt_said(sendto(attempts_open.socket, "x", 1, 0,
		(struct sockaddr *)&to, sizeof to));
}

static int
trace(void)
{
	return attempt_said(
		ptrace(PTRACE_ATTACH, attempts_open.parent, NULL, NULL));
}

static int
read_process(void)
{
	char byte;
	struct iovec to = { &byte, 1 }, from = { &attempts_open.parent, 1 };

	return attempt_said(
		process_vm_readv(attempts_open.parent, &to, 1, &from, 1, 0));
}

static int
make_ring(void)
{
	char parameters[256] = { 0 };

	return attempt_said(syscall(SYS_io_uring_setup, 1, parameters));
}

static int
signal_parent(void)
{
	return attempt_said(kill(attempts_open.parent, 0));
}

static int
signal_thread_of_parent(void)
{
	return attempt_said(syscall(
		SYS_tgkill, attempts_open.parent, attempts_open.parent, 0));
}

/* ---- The process itself --------------------------------------- */

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

	return p == MAP_FAILED
		       ? OTHER
		       : attempt_said(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int
change_user(void)
{
	return attempt_said(syscall(SYS_setuid, 0));
}

static int
leave_namespace(void)
{
	return attempt_said(unshare(CLONE_NEWUSER));
}

static int
mount_something(void)
{
	return attempt_said(mount("none", "in", "tmpfs", 0, NULL));
}

static int
change_limits(void)
{
	const struct rlimit none = { 0, 0 };

	return attempt_said(setrlimit(RLIMIT_CORE, &none));
}

static int
type_for_user(void)
{
	return attempt_said(ioctl(attempts_open.pipe[0], TIOCSTI, "x"));
}

/* A pipe is no terminal: with the right to change one, that is said. */
static int
change_terminal(void)
{
	struct termios modes;

	memset(&modes, 0, sizeof modes);
	return attempt_said(ioctl(attempts_open.pipe[0], TCSETS, &modes));
}

/* ---- The table ---------------------------------------------------------- */

const struct attempt attempts_on_others[] = {
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
	{ 0 },
};

const struct attempt *
attempt_find(const char *name)
{
	const struct attempt *const tables[] = { attempts_on_files,
		attempts_on_others };

	for (size_t i = 0; i < 2; i++)
		for (const struct attempt *a = tables[i]; a->name; a++)
			if (strcmp(a->name, name) == 0)
				return a;
	fail_msg("there is no attempt to %s", name);
	return NULL;
}
