/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target once over each file named on the command line: over the
 * corpus in `make check`, over a crash to see it again. Says how many files
 * that were, because a run over none has tested nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/target.h"

/* The whole file in a block of exactly its size, so that reading past its end
 * is an error that a sanitizer sees. */
static uint8_t *
read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	size_t room = 0, n = 0, got;
	uint8_t *bytes = NULL, *exact = NULL;

	if (!file)
		return NULL;
	do {
		uint8_t *more;

		room = room ? 2 * room : 65536;
		more = realloc(bytes, room);
		if (!more)
			goto out;
		bytes = more;
		got = fread(bytes + n, 1, room - n, file);
		n += got;
	} while (n == room);
	if (ferror(file) || !(exact = malloc(n ? n : 1)))
		goto out;
	memcpy(exact, bytes, n);
	*size = n;
out:
	free(bytes);
	(void)fclose(file);
	return exact;
}

int
main(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++) {
		size_t size = 0;
		uint8_t *bytes = read_file(argv[i], &size);

		if (!bytes) {
			perror(argv[i]);
			status = 1;
			continue;
		}
		CKPT_FUZZ_TARGET(bytes, size);
		free(bytes);
	}
	printf("%d files\n", argc - 1);
	return argc > 1 ? status : 1;
}
