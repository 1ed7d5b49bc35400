/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a file, a pipe or standard input, by read(2) only: a mapping would
 * turn a file that is cut while it is read into SIGBUS. The identity of the
 * file is taken at the start and compared at the end, so that a verdict about
 * bytes that changed underneath is never given.
 */
#include <ckpt.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_source {
	struct ckpt_source source;
	int fd;
	bool close_fd;
	char *path; /* owned; NULL for standard input */
	struct stat start;
};

static ptrdiff_t
file_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct file_source *file = (struct file_source *)source;

	return read(file->fd, bytes, n);
}

static ptrdiff_t
file_read_at(struct ckpt_source *source, void *bytes, size_t n, uint64_t off)
{
	struct file_source *file = (struct file_source *)source;
	ssize_t got;

	if (off > INT64_MAX)
		return 0;
	do
		got = pread(file->fd, bytes, n, (off_t)off);
	while (got < 0 && errno == EINTR);
	return got;
}

static enum ckpt_status
file_unchanged(struct ckpt_source *source, const char **what)
{
	struct file_source *file = (struct file_source *)source;
	const struct stat *a = &file->start;
	struct stat b;

	if (!S_ISREG(a->st_mode))
		return CKPT_OK;
	if (fstat(file->fd, &b) != 0)
		return CKPT_EIO;
	*what = NULL;
	if (b.st_size < a->st_size)
		*what = "it became shorter";
	else if (b.st_size > a->st_size)
		*what = "it became longer";
	else if (a->st_mtim.tv_sec != b.st_mtim.tv_sec ||
		 a->st_mtim.tv_nsec != b.st_mtim.tv_nsec)
		*what = "its contents were written to";
	else if (file->path &&
		 (stat(file->path, &b) != 0 || b.st_ino != a->st_ino ||
			 b.st_dev != a->st_dev))
		*what = "another file took its name, or it was removed";
	return *what ? CKPT_EIO : CKPT_OK;
}

static void
file_close(struct ckpt_source *source)
{
	struct file_source *file = (struct file_source *)source;

	if (file->close_fd)
		close(file->fd);
	free(file->path);
	free(file);
}

/* FIFOs are opened without waiting for a writer, then read like any pipe. */
static int
open_file(struct file_source *file, const char *path)
{
	int flags;

	file->close_fd = true;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file->fd < 0)
		return -1;
	flags = fcntl(file->fd, F_GETFL);
	if (flags < 0 || fcntl(file->fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		return -1;
	file->path = strdup(path);
	file->source.name = file->path;
	return file->path ? 0 : -1;
}

struct ckpt_source *
ckpt_source_open(const char *path)
{
	struct file_source *file = calloc(1, sizeof *file);
	int error;

	if (!file)
		return NULL;
	file->source.read = file_read;
	file->source.unchanged = file_unchanged;
	file->source.close = file_close;
	file->fd = STDIN_FILENO;
	if ((strcmp(path, "-") != 0 && open_file(file, path) != 0) ||
		fstat(file->fd, &file->start) != 0)
		goto fail;
	if (S_ISDIR(file->start.st_mode)) {
		errno = EISDIR;
		goto fail;
	}
	file->source.is_pipe = S_ISFIFO(file->start.st_mode);
	if (S_ISREG(file->start.st_mode)) {
		off_t at = lseek(file->fd, 0, SEEK_CUR);

		/* Standard input may be a file that was read in part. */
		file->source.has_size = at == 0;
		file->source.any_thread = true;
		file->source.size = (uint64_t)file->start.st_size;
		if (at == 0)
			file->source.read_at = file_read_at;
	}
	return &file->source;
fail:
	error = errno;
	if (file->fd >= 0)
		file_close(&file->source);
	else
		free(file);
	errno = error;
	return NULL;
}

void
ckpt_source_close(struct ckpt_source *source)
{
	if (source)
		source->close(source);
}
