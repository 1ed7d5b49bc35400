/* SPDX-License-Identifier: MIT */
/*
 * Every call is counted, and fails if it is its turn; otherwise the system's
 * own call is made. close always closes, as the system's does when it fails,
 * so that the count of open descriptors shows what the code under test leaks.
 */
#include "faulty_ops.h"

#include <errno.h>

static const struct ckpt_file_ops *const real = &ckpt_file_ops_posix;

static bool
is_hit(struct faulty *faulty, enum faulty_op op)
{
	unsigned int last = faulty->last ? faulty->last : faulty->at;

	faulty->calls[op]++;
	if (faulty->op && faulty->op != op)
		return false;
	faulty->seen++;
	if (!faulty->at || faulty->seen < faulty->at || faulty->seen > last)
		return false;
	faulty->hits++;
	errno = faulty->error;
	return true;
}

static int
faulty_openat(void *ctx, int folder, const char *name, int flags, mode_t mode)
{
	struct faulty *faulty = ctx;
	int fd;

	if (is_hit(faulty, FAULTY_OPENAT))
		return -1;
	fd = real->openat(NULL, folder, name, flags, mode);
	faulty->open += fd >= 0;
	return fd;
}

static size_t
at_most(const struct faulty *faulty, size_t n)
{
	return faulty->most && faulty->most < n ? faulty->most : n;
}

static ssize_t
faulty_write(void *ctx, int fd, const void *p, size_t n)
{
	struct faulty *faulty = ctx;

	if (is_hit(faulty, FAULTY_WRITE))
		return faulty->write_nothing ? 0 : -1;
	return real->write(NULL, fd, p, at_most(faulty, n));
}

static ssize_t
faulty_pwrite(void *ctx, int fd, const void *p, size_t n, off_t off)
{
	struct faulty *faulty = ctx;

	if (is_hit(faulty, FAULTY_PWRITE))
		return faulty->write_nothing ? 0 : -1;
	return real->pwrite(NULL, fd, p, at_most(faulty, n), off);
}

static int
faulty_fsync(void *ctx, int fd)
{
	return is_hit(ctx, FAULTY_FSYNC) ? -1 : real->fsync(NULL, fd);
}

static int
faulty_close(void *ctx, int fd)
{
	struct faulty *faulty = ctx;
	int result = real->close(NULL, fd);

	faulty->open -= result == 0;
	return is_hit(faulty, FAULTY_CLOSE) ? -1 : result;
}

static int
faulty_fstat(void *ctx, int fd, struct stat *st)
{
	return is_hit(ctx, FAULTY_FSTAT) ? -1 : real->fstat(NULL, fd, st);
}

static int
faulty_fstatat(
	void *ctx, int folder, const char *name, struct stat *st, int flags)
{
	if (is_hit(ctx, FAULTY_FSTATAT))
		return -1;
	return real->fstatat(NULL, folder, name, st, flags);
}

static int
faulty_fchmod(void *ctx, int fd, mode_t mode)
{
	return is_hit(ctx, FAULTY_FCHMOD) ? -1 : real->fchmod(NULL, fd, mode);
}

static int
faulty_fchown(void *ctx, int fd, uid_t uid, gid_t gid)
{
	if (is_hit(ctx, FAULTY_FCHOWN))
		return -1;
	return real->fchown(NULL, fd, uid, gid);
}

static int
faulty_renameat(void *ctx, int folder, const char *from, const char *to)
{
	struct faulty *faulty = ctx;
	bool hit = is_hit(faulty, FAULTY_RENAMEAT);

	if (faulty->before_rename)
		faulty->before_rename();
	if (hit && faulty->done_anyway) {
		(void)real->renameat(NULL, folder, from, to);
		errno = faulty->error;
	}
	return hit ? -1 : real->renameat(NULL, folder, from, to);
}

static int
faulty_unlinkat(void *ctx, int folder, const char *name)
{
	struct faulty *faulty = ctx;

	if (is_hit(faulty, FAULTY_UNLINKAT))
		return -1;
	if (faulty->no_unlink) {
		errno = EPERM;
		return -1;
	}
	return real->unlinkat(NULL, folder, name);
}

struct ckpt_file_ops
faulty_ops(struct faulty *faulty)
{
	struct ckpt_file_ops ops = {
		.ctx = faulty,
		.openat = faulty_openat,
		.write = faulty_write,
		.pwrite = faulty_pwrite,
		.fsync = faulty_fsync,
		.close = faulty_close,
		.fstat = faulty_fstat,
		.fstatat = faulty_fstatat,
		.fchmod = faulty_fchmod,
		.fchown = faulty_fchown,
		.renameat = faulty_renameat,
		.unlinkat = faulty_unlinkat,
	};

	return ops;
}
