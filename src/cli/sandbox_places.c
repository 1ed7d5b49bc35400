/* SPDX-License-Identifier: MIT */
/*
 * Which places can still be opened: Landlock, by its three system calls, as
 * the C library has no names for them. The numbers are those of the kernel's
 * interface, written down here because the headers of an older system know
 * fewer of them than the kernel that the tool will run on.
 *
 * Each version of the interface can refuse more. What the running kernel does
 * not know is left out; that is never an error. Rules hold for the file or
 * folder that a path leads to now, whatever the path leads to later.
 */
#include "cli/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

/* What can be done with a place. */
enum access {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	TRUNCATE = 1 << 14,
	IOCTL_DEV = 1 << 15,
	OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
};

enum {
	CREATE_RULESET_VERSION = 1,
	RULE_PATH_BENEATH = 1,
	NET_BIND_AND_CONNECT = 3,
	SCOPE_SOCKETS_AND_SIGNALS = 3,
};

struct ruleset {
	uint64_t fs, net, scoped;
};

struct beneath {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

/* How much of the above version n knows, n from 1: the last bit of fs, and
 * how long the structure is. */
static const struct {
	unsigned bits;
	size_t size;
	bool net, scoped;
} versions[] = {
	{ 13, 8, false, false },
	{ 14, 8, false, false }, /* renaming into another folder */
	{ 15, 8, false, false }, /* cutting files */
	{ 15, 16, true, false }, { 16, 16, true, false }, /* devices */
	{ 16, 24, true, true }, /* abstract sockets, signals */
};

int
ckpt_places_new(uint64_t *handled)
{
	const long most = sizeof versions / sizeof versions[0];
	long n = syscall(
		SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	struct ruleset set = { 0 };

	*handled = 0;
	if (n == 0)
		errno = ENOSYS; /* no version is none */
	if (n < 1)
		return -1;
	if (n > most)
		n = most;
	set.fs = (UINT64_C(1) << versions[n - 1].bits) - 1;
	set.net = versions[n - 1].net ? NET_BIND_AND_CONNECT : 0;
	set.scoped = versions[n - 1].scoped ? SCOPE_SOCKETS_AND_SIGNALS : 0;
	*handled = set.fs;
	return (int)syscall(
		SYS_landlock_create_ruleset, &set, versions[n - 1].size, 0);
}

static uint64_t
accesses(unsigned grants)
{
	uint64_t is = 0;

	if (grants & CKPT_SANDBOX_READ)
		is |= READ_FILE | READ_DIR;
	/* The folder is opened to be synced; saving over a file needs the
	 * right to remove it. */
	if (grants & CKPT_SANDBOX_PUBLISH)
		is |= READ_DIR | WRITE_FILE | MAKE_REG | REMOVE_FILE | TRUNCATE;
	if (grants & CKPT_SANDBOX_FOLDERS)
		is |= MAKE_DIR | REMOVE_DIR;
	return is;
}

/* A place that cannot be given will be missed when it is opened, and said. */
void
ckpt_places_add(int places, uint64_t handled, const char *path, unsigned grants)
{
	struct beneath rule = { .allowed = accesses(grants) & handled };
	struct stat st;

	rule.parent = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent < 0)
		return;
	if (fstat(rule.parent, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed &= OF_FILES;
	if (rule.allowed)
		(void)syscall(SYS_landlock_add_rule, places, RULE_PATH_BENEATH,
			&rule, 0);
	close(rule.parent);
}

int
ckpt_places_enter(int places)
{
	int error = 0;

	/* Without it, only root may give something up. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		syscall(SYS_landlock_restrict_self, places, 0) != 0)
		error = errno;
	close(places);
	return error;
}
