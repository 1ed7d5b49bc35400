/* SPDX-License-Identifier: MIT */
/*
 * Which system calls are left: a list of what the tools and the libraries
 * below them use; all else is refused. A call that is not on the list fails
 * with EPERM, and the tool says so as of any call that failed: a C library of
 * tomorrow may try something new and do without.
 *
 * Not so the few that no run of ours can ever make by itself: to start a
 * program, to open a socket, to reach into another process. Who makes one of
 * these has taken the process over, and the verdict that it would go on to
 * print is not ours. So these end the process, by SIGSYS, which no exit status
 * of a verdict looks like.
 *
 * Where arguments decide, the filter looks at them: a thread is a clone, but
 * another process is none of ours; memory may be mapped, but not to be
 * executed; only this process may be sent a signal. Pointers it cannot
 * follow; that is why clone3, whose flags are behind one, does not exist, and
 * the C library takes clone.
 */
#include "cli/sandbox.h"

#include <errno.h>

#if defined(CKPT_SANDBOX) && !CKPT_SANDBOX
#define HAS_SECCOMP 0
#elif defined(__has_include)
#if __has_include(<seccomp.h>)
#define HAS_SECCOMP 1
#endif
#endif
#ifndef HAS_SECCOMP
#define HAS_SECCOMP 0
#endif

const bool ckpt_sandbox_can_narrow = HAS_SECCOMP;

#if !HAS_SECCOMP

int
ckpt_sandbox_narrow(unsigned needs)
{
	(void)needs;
	return ENOSYS;
}

#else

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

/* Names of several machines: what one of them does not have is passed over.
 * Those that ask who one is are never checked for failure, by anybody. */
static const char *const always[] = { "read", "write", "close", "futex",
	"futex_time64", "mmap2", "munmap", "brk", "mremap", "madvise", "fstat",
	"fstat64", "newfstatat", "fstatat64", "statx", "stat", "stat64",
	"lstat", "lstat64", "lseek", "_llseek", "pread64", "pwrite64", "readv",
	"writev", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
	"getcwd", "poll", "ppoll", "ppoll_time64", "select", "_newselect",
	"pselect6", "pipe2", "set_robust_list", "rseq", "sched_yield",
	"sched_getaffinity", "getcpu", "sysinfo", "getrandom", "clock_gettime",
	"clock_gettime64", "gettimeofday", "time", "clock_nanosleep",
	"clock_nanosleep_time64", "nanosleep", "rt_sigaction", "rt_sigprocmask",
	"rt_sigreturn", "sigreturn", "sigaltstack", "getpid", "gettid",
	"getuid", "geteuid", "getgid", "getegid", "getpgrp", "getpgid",
	"getppid", "restart_syscall", "exit", "exit_group", NULL };

static const char *const to_open[] = { "getdents64", "getdents", "fstatfs",
	"fstatfs64", NULL };

static const char *const to_save[] = { "renameat", "renameat2", "rename",
	"unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "fsync", "fchmod",
	"fchown", "fchown32", "ftruncate", NULL };

static const char *const deadly[] = { "execve", "execveat", "socket",
	"socketcall", "ptrace", "process_vm_readv", "process_vm_writev",
	"io_uring_setup", "bpf", NULL };

/* A call whose argument decides: (value of argument & mask) == is. */
struct judged {
	const char *name;
	unsigned needs; /* only if this is needed; 0: always */
	unsigned argument;
	uint64_t mask, is;
};

#define ALL      UINT64_MAX
#define WORD     UINT64_C(0xffffffff)
#define TO_WRITE (O_ACCMODE | O_CREAT | O_TRUNC)
#define ANEW     (O_CREAT | O_EXCL)
#define UNNAMED  (O_TMPFILE & ~O_DIRECTORY)
#define IOCTL(is)                                                              \
	{                                                                      \
		"ioctl", 0, 1, WORD, is                                        \
	}
#define FCNTL(is)                                                              \
	{ "fcntl", 0, 1, WORD, is },                                           \
	{                                                                      \
		"fcntl64", 0, 1, WORD, is                                      \
	}
/* Changing modes, but never TIOCSTI, which types in the user's name. */
#define MODES(is)                                                              \
	{                                                                      \
		"ioctl", CKPT_SANDBOX_TERMINAL, 1, WORD, is                    \
	}

static const struct judged judged[] = {
	{ "mmap", 0, 2, PROT_EXEC, 0 },
	{ "mprotect", 0, 2, PROT_EXEC, 0 },
	{ "clone", 0, 0, CLONE_THREAD, CLONE_THREAD },
	FCNTL(F_GETFD),
	FCNTL(F_SETFD),
	FCNTL(F_GETFL),
	FCNTL(F_SETFL),
	IOCTL(TCGETS),
	IOCTL(TIOCGWINSZ),
	IOCTL(FIONREAD),
	MODES(TCSETS),
	MODES(TCSETSW),
	MODES(TCSETSF),
	MODES(TCFLSH),
	MODES(TCXONC),
	MODES(TCSBRK),
	MODES(TIOCGPGRP),
	/* Asking for limits (pid 0), not setting them. */
	{ "prlimit64", 0, 2, ALL, 0 },
	{ "openat", CKPT_SANDBOX_OPEN, 2, TO_WRITE, O_RDONLY },
	{ "open", CKPT_SANDBOX_OPEN, 1, TO_WRITE, O_RDONLY },
	{ "openat", CKPT_SANDBOX_SAVE, 2, TO_WRITE, O_RDONLY },
	{ "open", CKPT_SANDBOX_SAVE, 1, TO_WRITE, O_RDONLY },
	{ "openat", CKPT_SANDBOX_SAVE, 2, ANEW, ANEW },
	{ "open", CKPT_SANDBOX_SAVE, 1, ANEW, ANEW },
	{ "openat", CKPT_SANDBOX_SAVE, 2, UNNAMED, UNNAMED },
	{ "open", CKPT_SANDBOX_SAVE, 1, UNNAMED, UNNAMED },
};

/* A rule that stands already is none to complain of. */
static int
add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned n,
	const struct scmp_arg_cmp *conditions)
{
	int number = seccomp_syscall_resolve_name(name);
	int error;

	if (number == __NR_SCMP_ERROR)
		return 0;
	error = seccomp_rule_add_array(filter, action, number, n, conditions);
	return error == -EEXIST || error == -EDOM ? 0 : -error;
}

static int
add_names(scmp_filter_ctx filter, uint32_t action, const char *const *names)
{
	int error = 0;

	for (; *names && error == 0; names++)
		error = add(filter, action, *names, 0, NULL);
	return error;
}

static int
add_judged(scmp_filter_ctx filter, unsigned needs)
{
	const size_t n = sizeof judged / sizeof judged[0];
	int error = 0;

	for (size_t i = 0; i < n && error == 0; i++) {
		const struct judged *j = &judged[i];
		const struct scmp_arg_cmp condition = { j->argument,
			SCMP_CMP_MASKED_EQ, j->mask, j->is };

		if (j->needs == 0 || (j->needs & needs) != 0)
			error = add(
				filter, SCMP_ACT_ALLOW, j->name, 1, &condition);
	}
	return error;
}

/* raise() and abort(). */
static int
add_own_signals(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp own = { 0, SCMP_CMP_MASKED_EQ, WORD,
		(uint64_t)getpid() };

	return add(filter, SCMP_ACT_ALLOW, "tgkill", 1, &own);
}

static int
fill(scmp_filter_ctx filter, unsigned needs)
{
	int error = add_names(filter, SCMP_ACT_ALLOW, always);

	if (error == 0)
		error = add_judged(filter, needs);
	if (error == 0)
		error = add_own_signals(filter);
	if (error == 0 && needs & CKPT_SANDBOX_OPEN)
		error = add_names(filter, SCMP_ACT_ALLOW, to_open);
	if (error == 0 && needs & CKPT_SANDBOX_SAVE)
		error = add_names(filter, SCMP_ACT_ALLOW, to_save);
	if (error == 0)
		error = add_names(filter, SCMP_ACT_KILL_PROCESS, deadly);
	if (error == 0)
		error = add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
	return error;
}

int
ckpt_sandbox_narrow(unsigned needs)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int error;

	if (!filter)
		return ENOMEM;
	/* Calls by the numbers of another machine. */
	(void)seccomp_attr_set(
		filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	error = fill(filter, needs);
	if (error == 0)
		error = -seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

#endif
