/* SPDX-License-Identifier: MIT */
/*
 * Decides what a saved file may replace. The rename that publish.c does would
 * replace anything but a folder, a device as readily as a checkpoint; so the
 * kind of what is there is asked first. The question is put twice, before and
 * after the long work of writing; what is left in between is the system's.
 */
#include "io/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

const char *
ckpt_destination_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return NULL;
	return name;
}

/* Why something of this kind is not replaced, or NULL if it may be. */
static const char *
refusal(mode_t mode, bool link)
{
	static const struct {
		mode_t kind;
		const char *direct;
		const char *linked;
	} kinds[] = {
		{ S_IFREG, NULL, NULL },
		{ S_IFDIR, "it is a folder", "it is a link to a folder" },
		{ S_IFCHR, "it is a device", "it is a link to a device" },
		{ S_IFBLK, "it is a device", "it is a link to a device" },
		{ S_IFIFO, "it is a FIFO", "it is a link to a FIFO" },
		{ S_IFSOCK, "it is a socket", "it is a link to a socket" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if ((mode & S_IFMT) == kinds[i].kind)
			return link ? kinds[i].linked : kinds[i].direct;
	}
	return "it is not a regular file";
}

/* Nothing in /dev itself is a saved file, whatever it seems to be: with its
 * output sent to a file, /dev/stdout is a link to a regular file, and root
 * could replace it. /dev/shm and others below are folders like any other. */
static bool
is_outside_dev(const struct ckpt_file_ops *ops, int folder)
{
	struct stat st;
	struct stat dev;

	return ops->fstat(ops->ctx, folder, &st) != 0 ||
	       ops->fstatat(ops->ctx, AT_FDCWD, "/dev", &dev, 0) != 0 ||
	       st.st_dev != dev.st_dev || st.st_ino != dev.st_ino;
}

enum ckpt_status
ckpt_destination_inspect(struct ckpt_destination *destination,
	const struct ckpt_file_ops *ops, int folder, const char *name)
{
	struct stat st;

	destination->over_link = false;
	destination->reason = NULL;
	if (!is_outside_dev(ops, folder)) {
		destination->reason = "it is in the folder of devices";
		return CKPT_EDESTINATION;
	}
	if (ops->fstatat(ops->ctx, folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? CKPT_OK : CKPT_EIO;
	destination->over_link = S_ISLNK(st.st_mode);
	if (destination->over_link &&
		ops->fstatat(ops->ctx, folder, name, &st, 0) != 0)
		/* The link leads nowhere, or round in a circle. */
		return errno == ENOENT || errno == ELOOP ? CKPT_OK : CKPT_EIO;
	destination->reason = refusal(st.st_mode, destination->over_link);
	if (destination->reason)
		return CKPT_EDESTINATION;
	destination->old = st;
	destination->has_old = true;
	return CKPT_OK;
}

/* What says of the path itself that nothing can be saved there. Any other
 * failure may pass, and then the path may lead to an input after all. */
static bool
leads_nowhere(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP ||
	       error == ENAMETOOLONG || error == EACCES;
}

bool
ckpt_destination_is_apart(
	const struct ckpt_file_ops *ops, const char *path, dev_t dev, ino_t ino)
{
	static const int flags[] = { AT_SYMLINK_NOFOLLOW, 0 };

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		struct stat st;

		if (ops->fstatat(ops->ctx, AT_FDCWD, path, &st, flags[i]) != 0)
			return leads_nowhere(errno);
		if (st.st_dev == dev && st.st_ino == ino)
			return false;
	}
	return true;
}
