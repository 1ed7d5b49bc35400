/* SPDX-License-Identifier: MIT */
/*
 * The spool: a file that is unlinked before the first byte is written.
 */
#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int
open_unnamed(const char *folder)
{
	char path[4096];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	/* Not every file system can make a file without a name. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	if (snprintf(path, sizeof path, "%s/ckpt-XXXXXX", folder) >=
		(int)sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

enum ckpt_status
ckpt_spool_open(struct ckpt_spool *spool)
{
	const char *folder = getenv("TMPDIR");

	spool->n = 0;
	spool->fd = open_unnamed(folder && *folder ? folder : "/tmp");
	return spool->fd >= 0 ? CKPT_OK : CKPT_EIO;
}

void
ckpt_spool_close(struct ckpt_spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
}

enum ckpt_status
ckpt_spool_patch(
	struct ckpt_spool *spool, uint64_t off, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n > 0) {
		ssize_t k = pwrite(spool->fd, p, n, (off_t)off);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return CKPT_EIO;
		p += k;
		off += (uint64_t)k;
		n -= (size_t)k;
	}
	return CKPT_OK;
}

enum ckpt_status
ckpt_spool_write(struct ckpt_spool *spool, const void *bytes, size_t n)
{
	enum ckpt_status status = ckpt_spool_patch(spool, spool->n, bytes, n);

	if (status == CKPT_OK)
		spool->n += n;
	return status;
}

static ptrdiff_t
read_some(const struct ckpt_spool *spool, uint64_t off, void *bytes, size_t n)
{
	ssize_t k;

	do
		k = pread(spool->fd, bytes, n, (off_t)off);
	while (k < 0 && errno == EINTR);
	return k;
}

enum ckpt_status
ckpt_spool_read(
	const struct ckpt_spool *spool, uint64_t off, void *bytes, size_t n)
{
	uint8_t *p = bytes;

	while (n > 0) {
		ptrdiff_t k = read_some(spool, off, p, n);

		if (k <= 0)
			return CKPT_EIO;
		p += k;
		off += (uint64_t)k;
		n -= (size_t)k;
	}
	return CKPT_OK;
}

struct spool_source {
	struct ckpt_source source;
	const struct ckpt_spool *spool;
	uint64_t at;
};

static ptrdiff_t
source_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct spool_source *s = (struct spool_source *)source;
	ptrdiff_t k = read_some(s->spool, s->at, bytes, n);

	if (k > 0)
		s->at += (uint64_t)k;
	return k;
}

static void
source_close(struct ckpt_source *source)
{
	free(source);
}

struct ckpt_source *
ckpt_spool_source(const struct ckpt_spool *spool)
{
	struct spool_source *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->source = (struct ckpt_source){
		.read = source_read,
		.close = source_close,
		.has_size = true,
		.size = spool->n,
	};
	s->spool = spool;
	return &s->source;
}
