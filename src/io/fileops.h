/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_FILEOPS_H
#define CKPT_IO_FILEOPS_H

/*
 * The system calls that saving a file needs, as a table, so that a test can
 * make any one of them fail. Each returns what the call of the same name
 * returns and sets errno; ctx is handed through.
 */

#include <sys/stat.h>
#include <sys/types.h>

struct ckpt_file_ops {
	void *ctx; /* borrowed */
	int (*openat)(void *ctx, int folder, const char *name, int flags,
		mode_t mode);
	ssize_t (*write)(void *ctx, int fd, const void *p, size_t n);
	ssize_t (*pwrite)(
		void *ctx, int fd, const void *p, size_t n, off_t off);
	int (*fsync)(void *ctx, int fd);
	int (*close)(void *ctx, int fd);
	int (*fstat)(void *ctx, int fd, struct stat *st);
	int (*fstatat)(void *ctx, int folder, const char *name, struct stat *st,
		int flags);
	int (*fchmod)(void *ctx, int fd, mode_t mode);
	int (*fchown)(void *ctx, int fd, uid_t uid, gid_t gid);
	/* Both names are in the one folder. */
	int (*renameat)(
		void *ctx, int folder, const char *from, const char *to);
	int (*unlinkat)(void *ctx, int folder, const char *name);
};

/* The system's own calls; ctx is not used. */
extern const struct ckpt_file_ops ckpt_file_ops_posix;

#endif
