/* SPDX-License-Identifier: MIT */
/*
 * The system's own calls behind struct ckpt_file_ops. Nothing is decided
 * here: no retries, no error mapping. Whoever uses the table does that, so
 * that a table which injects faults exercises all of it. Used by publish.c.
 */
#include "io/fileops.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int
posix_openat(void *ctx, int folder, const char *name, int flags, mode_t mode)
{
	(void)ctx;
	return openat(folder, name, flags, mode);
}

static ssize_t
posix_write(void *ctx, int fd, const void *p, size_t n)
{
	(void)ctx;
	return write(fd, p, n);
}

static ssize_t
posix_pwrite(void *ctx, int fd, const void *p, size_t n, off_t off)
{
	(void)ctx;
	return pwrite(fd, p, n, off);
}

static int
posix_fsync(void *ctx, int fd)
{
	(void)ctx;
	return fsync(fd);
}

static int
posix_close(void *ctx, int fd)
{
	(void)ctx;
	return close(fd);
}

static int
posix_fstat(void *ctx, int fd, struct stat *st)
{
	(void)ctx;
	return fstat(fd, st);
}

static int
posix_fstatat(
	void *ctx, int folder, const char *name, struct stat *st, int flags)
{
	(void)ctx;
	return fstatat(folder, name, st, flags);
}

static int
posix_fchmod(void *ctx, int fd, mode_t mode)
{
	(void)ctx;
	return fchmod(fd, mode);
}

static int
posix_fchown(void *ctx, int fd, uid_t uid, gid_t gid)
{
	(void)ctx;
	return fchown(fd, uid, gid);
}

static int
posix_renameat(void *ctx, int folder, const char *from, const char *to)
{
	(void)ctx;
	return renameat(folder, from, folder, to);
}

static int
posix_unlinkat(void *ctx, int folder, const char *name)
{
	(void)ctx;
	return unlinkat(folder, name, 0);
}

const struct ckpt_file_ops ckpt_file_ops_posix = {
	.openat = posix_openat,
	.write = posix_write,
	.pwrite = posix_pwrite,
	.fsync = posix_fsync,
	.close = posix_close,
	.fstat = posix_fstat,
	.fstatat = posix_fstatat,
	.fchmod = posix_fchmod,
	.fchown = posix_fchown,
	.renameat = posix_renameat,
	.unlinkat = posix_unlinkat,
};
