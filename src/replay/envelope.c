/* SPDX-License-Identifier: MIT */
/*
 * The envelope (archives section 4). The program's file says which summation
 * order and which operations; it says nothing of the math library, so the
 * fingerprint of what the functions give stands beside it.
 */
#include "replay/envelope.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/arithmetic.h"

enum { PIECE = 65536 };

static enum ckpt_status
hash_file(int fd, struct ckpt_sha256 *hash)
{
	uint8_t piece[PIECE];
	ssize_t n;

	do {
		n = read(fd, piece, sizeof piece);
		if (n > 0)
			ckpt_sha256_add(hash, piece, (size_t)n);
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0 ? CKPT_OK : CKPT_EIO;
}

static enum ckpt_status
hash_program(const char *path, char out[CKPT_SHA256_TEXT])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct ckpt_sha256 hash;
	enum ckpt_status status;
	int error;

	if (fd < 0)
		return CKPT_EIO;
	ckpt_sha256_begin(&hash);
	status = hash_file(fd, &hash);
	error = errno;
	if (!ckpt_sha256_end(&hash, out) && status == CKPT_OK)
		status = CKPT_ENOMEM;
	close(fd);
	errno = error;
	return status;
}

enum ckpt_status
ckpt_envelope_here(struct ckpt_arena *arena, const char *program,
	struct ckpt_envelope *envelope)
{
	struct ckpt_arithmetic a = ckpt_arithmetic_probe();
	const char *text = ckpt_arena_printf(
		arena, "%s fnv1a64:%016" PRIx64, a.profile, a.fingerprint);

	*envelope = (struct ckpt_envelope){ 0 };
	if (!text)
		return ckpt_arena_status(arena);
	envelope->arithmetic = (struct ckpt_name){ (const uint8_t *)text,
		(uint32_t)strlen(text) };
	return hash_program(
		program ? program : "/proc/self/exe", envelope->executable);
}
