/* SPDX-License-Identifier: MIT */
/*
 * Atomic publication of a file: write aside, sync, rename, sync the folder.
 *
 * Everything happens relative to a descriptor of the folder, so a folder that
 * is renamed meanwhile does no harm. Invariant: while pub->open, both
 * descriptors are ours, and pub->has_temporary says whether the temporary
 * name is. Every failure goes through fail(), which gives all of it back
 * before it returns; so no caller can forget to.
 *
 * Called by whoever saves a checkpoint. What may be replaced is decided in
 * destination.c.
 */
#include "io/publish.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "io/temporary_name.h"

/* Some systems refuse more than INT_MAX bytes in one call. */
static const size_t most_at_once = (size_t)1 << 30;

/* ---- Giving up ---------------------------------------------------------- */

static void
release(struct ckpt_publish *pub)
{
	const struct ckpt_file_ops *ops = pub->ops;

	if (pub->fd >= 0)
		(void)ops->close(ops->ctx, pub->fd);
	pub->fd = -1;
	if (pub->has_temporary &&
		ops->unlinkat(ops->ctx, pub->folder, pub->temporary) != 0 &&
		errno != ENOENT)
		pub->fault.leftover = errno;
	pub->has_temporary = false;
	if (pub->folder >= 0)
		(void)ops->close(ops->ctx, pub->folder);
	pub->folder = -1;
	pub->open = false;
}

/* Without a reason, errno is the reason. */
static enum ckpt_status
fail(struct ckpt_publish *pub, enum ckpt_status status, const char *action,
	const char *reason)
{
	pub->status = status;
	pub->fault.action = action;
	pub->fault.reason = reason;
	pub->fault.error = reason ? 0 : errno;
	release(pub);
	errno = pub->fault.error;
	return status;
}

bool
ckpt_publish_abort(struct ckpt_publish *pub)
{
	if (pub->open) {
		pub->status = CKPT_STOP;
		pub->fault.action = "save";
		pub->fault.reason = "it was given up";
		release(pub);
	}
	return pub->fault.leftover == 0;
}

/* ---- The temporary file ------------------------------------------------- */

static int
open_folder(struct ckpt_publish *pub)
{
	const struct ckpt_file_ops *ops = pub->ops;
	size_t n = (size_t)(pub->name - pub->fault.path);
	char folder[PATH_MAX] = ".";

	if (n >= sizeof folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (n > 0) {
		memcpy(folder, pub->fault.path, n);
		folder[n] = '\0';
	}
	do
		pub->folder = ops->openat(ops->ctx, AT_FDCWD, folder,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	while (pub->folder < 0 && errno == EINTR);
	return pub->folder;
}

/* Looks at what the rename is going to replace. Done first and again at the
 * end, as saving takes a while. */
static enum ckpt_status
inspect(struct ckpt_publish *pub)
{
	enum ckpt_status status = ckpt_destination_inspect(
		&pub->destination, pub->ops, pub->folder, pub->name);

	if (status == CKPT_OK)
		return CKPT_OK;
	return fail(pub, status, "look at the destination",
		pub->destination.reason);
}

/* A file that replaces none gets its mode from the system, which knows the
 * umask and the folder's default access list; asking for the umask would
 * change it for all threads. One that replaces another is private until its
 * mode can be copied. */
static int
create_temporary(struct ckpt_publish *pub)
{
	const struct ckpt_file_ops *ops = pub->ops;
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	const mode_t mode = pub->destination.has_old ? 0600 : 0666;

	for (unsigned int i = 0; i < CKPT_TEMPORARY_SERIALS; i++) {
		ckpt_temporary_name_make(pub->temporary, pub->name, getpid(),
			ckpt_temporary_serial(i));
		do
			pub->fd = ops->openat(ops->ctx, pub->folder,
				pub->temporary, flags, mode);
		while (pub->fd < 0 && errno == EINTR);
		if (pub->fd >= 0 || errno != EEXIST)
			break;
	}
	if (pub->fd < 0)
		return -1;
	pub->has_temporary = true;
	pub->fault.temporary = pub->temporary;
	return ops->fstat(ops->ctx, pub->fd, &pub->own);
}

enum ckpt_status
ckpt_publish_begin(struct ckpt_publish *pub, const struct ckpt_file_ops *ops,
	const char *path)
{
	enum ckpt_status status;

	memset(pub, 0, sizeof *pub);
	pub->ops = ops;
	pub->folder = -1;
	pub->fd = -1;
	pub->fault.path = path;
	pub->name = ckpt_destination_name(path);
	if (!pub->name)
		return fail(pub, CKPT_EDESTINATION, "look at the destination",
			"it has no file name");
	if (open_folder(pub) < 0)
		return fail(pub, CKPT_EIO, "open the folder", NULL);
	pub->open = true;
	status = inspect(pub);
	if (status != CKPT_OK)
		return status;
	if (create_temporary(pub) < 0)
		return fail(pub, CKPT_EIO, "create the temporary file", NULL);
	return CKPT_OK;
}

enum ckpt_status
ckpt_publish_rehearse(struct ckpt_publish *pub, const struct ckpt_file_ops *ops,
	const char *path)
{
	enum ckpt_status status = ckpt_publish_begin(pub, ops, path);

	if (status != CKPT_OK || ckpt_publish_abort(pub))
		return status;
	errno = pub->fault.leftover;
	return fail(pub, CKPT_EIO, "remove the temporary file", NULL);
}

/* ---- Content ------------------------------------------------------------ */

/* Writes all n bytes at off, or at the end if off is negative. */
static int
write_all(struct ckpt_publish *pub, const void *bytes, size_t n, off_t off)
{
	const struct ckpt_file_ops *ops = pub->ops;
	const char *p = bytes;

	while (n > 0) {
		size_t k = n < most_at_once ? n : most_at_once;
		ssize_t done =
			off < 0 ? ops->write(ops->ctx, pub->fd, p, k)
				: ops->pwrite(ops->ctx, pub->fd, p, k, off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done == 0)
			errno = ENOSPC;
		if (done <= 0)
			return -1;
		p += done;
		n -= (size_t)done;
		if (off >= 0)
			off += done;
	}
	return 0;
}

enum ckpt_status
ckpt_publish_write(struct ckpt_publish *pub, const void *bytes, size_t n)
{
	assert(pub->open || pub->status != CKPT_OK);
	if (!pub->open)
		return pub->status;
	if (write_all(pub, bytes, n, -1) < 0)
		return fail(pub, CKPT_EIO, "write the temporary file", NULL);
	pub->size += n;
	return CKPT_OK;
}

enum ckpt_status
ckpt_publish_patch(
	struct ckpt_publish *pub, uint64_t off, const void *bytes, size_t n)
{
	assert(pub->open || pub->status != CKPT_OK);
	if (!pub->open)
		return pub->status;
	assert(ckpt_within(off, n, pub->size));
	if (write_all(pub, bytes, n, (off_t)off) < 0)
		return fail(pub, CKPT_EIO, "patch the temporary file", NULL);
	return CKPT_OK;
}

/* ---- Putting it in place ------------------------------------------------ */

/* The group comes first, as the mode means nothing without it: if it cannot
 * be kept, the new group may do no more than everybody. The owner comes last,
 * as changing the mode may need us to be that. */
static int
copy_mode(struct ckpt_publish *pub)
{
	const struct ckpt_file_ops *ops = pub->ops;
	const struct stat *old = &pub->destination.old;
	mode_t mode = old->st_mode & 0777;

	if (!pub->destination.has_old)
		return 0;
	if (old->st_gid != pub->own.st_gid &&
		ops->fchown(ops->ctx, pub->fd, (uid_t)-1, old->st_gid) != 0)
		mode &= ~(mode_t)070 | (mode & 07) << 3;
	/* EPERM and the like: this file system keeps no modes. */
	if (mode != (pub->own.st_mode & 0777) &&
		ops->fchmod(ops->ctx, pub->fd, mode) != 0 && errno != EPERM &&
		errno != ENOSYS && errno != EOPNOTSUPP)
		return -1;
	if (old->st_uid != pub->own.st_uid)
		(void)ops->fchown(ops->ctx, pub->fd, old->st_uid, (gid_t)-1);
	return 0;
}

static int
sync_fd(const struct ckpt_file_ops *ops, int fd)
{
	int result;

	do
		result = ops->fsync(ops->ctx, fd);
	while (result != 0 && errno == EINTR);
	return result;
}

/* Interrupted or not, the descriptor is gone, and the bytes were synced. */
static int
close_temporary(struct ckpt_publish *pub)
{
	int fd = pub->fd;

	pub->fd = -1;
	if (pub->ops->close(pub->ops->ctx, fd) == 0 || errno == EINTR)
		return 0;
	return -1;
}

/* Over a network a rename can be done and its answer lost. Then the name
 * leads to our file, and nothing may be undone. */
static int
rename_temporary(struct ckpt_publish *pub)
{
	const struct ckpt_file_ops *ops = pub->ops;
	struct stat st;
	int error;

	if (ops->renameat(ops->ctx, pub->folder, pub->temporary, pub->name) ==
		0)
		return 0;
	error = errno;
	if (ops->fstatat(ops->ctx, pub->folder, pub->name, &st,
		    AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_dev == pub->own.st_dev && st.st_ino == pub->own.st_ino)
		return 0;
	errno = error;
	return -1;
}

static enum ckpt_status
rename_failure(struct ckpt_publish *pub)
{
	static const char action[] = "rename the temporary file";

	switch (errno) {
	case EBUSY: /* The destination is a mount point, as in containers. */
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
	case EXDEV: return fail(pub, CKPT_ENOATOMIC, action, NULL);
	case EISDIR:
		return fail(pub, CKPT_EDESTINATION, action, "it is a folder");
	default: return fail(pub, CKPT_EIO, action, NULL);
	}
}

enum ckpt_status
ckpt_publish_commit(struct ckpt_publish *pub)
{
	enum ckpt_status status;

	if (!pub->open)
		return pub->status;
	status = inspect(pub);
	if (status != CKPT_OK)
		return status;
	if (copy_mode(pub) < 0)
		return fail(pub, CKPT_EIO, "set the mode", NULL);
	if (sync_fd(pub->ops, pub->fd) < 0)
		return fail(pub, CKPT_EIO, "sync the temporary file", NULL);
	if (close_temporary(pub) < 0)
		return fail(pub, CKPT_EIO, "close the temporary file", NULL);
	if (rename_temporary(pub) < 0)
		return rename_failure(pub);
	pub->has_temporary = false;
	if (sync_fd(pub->ops, pub->folder) < 0)
		return fail(pub, CKPT_ENOTSYNCED, "sync the folder", NULL);
	release(pub);
	return CKPT_OK;
}
