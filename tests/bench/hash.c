/* SPDX-License-Identifier: MIT */
/*
 * Times every kernel of FNV-1a that runs here on buffers of some sizes, in
 * turn, with the thread's processor time, and prints of each the median in
 * GB/s and its ratio to the plain loop in the same run. Fails if two do not
 * give the same hash.
 * usage: hash KIB...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fnv1a.h"
#include "base/hash.h"

enum { ROUNDS = 15, WORK_KIB = 8192 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Seconds for a byte; the hash goes on through all times, so all are needed. */
static double
time_once(ckpt_fnv1a64_kernel *kernel, const uint8_t *p, size_t n, uint64_t *h)
{
	size_t times = n < WORK_KIB << 10 ? (WORK_KIB << 10) / n : 1;
	double start = now();

	for (size_t i = 0; i < times; i++)
		*h = kernel(*h, p, n);
	return (now() - start) / (double)(times * n);
}

static int
time_size(size_t kib)
{
	static double seconds[CKPT_SIMD_LEVELS][ROUNDS];
	uint64_t h[CKPT_SIMD_LEVELS], state = 1;
	size_t n = kib << 10;
	uint8_t *p = malloc(n);
	unsigned levels = ckpt_simd_best() + 1u;

	if (!p)
		return 1;
	for (size_t i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		p[i] = (uint8_t)(state >> 56);
	}
	for (unsigned k = 0; k < levels; k++)
		h[k] = CKPT_FNV1A64_START;
	for (int r = 0; r < ROUNDS; r++)
		for (unsigned k = 0; k < levels; k++)
			seconds[k][r] =
				time_once(ckpt_fnv1a64_of((enum ckpt_simd)k), p,
					n, &h[k]);
	free(p);
	for (unsigned k = 0; k < levels; k++) {
		double *mine = seconds[k];

		qsort(mine, ROUNDS, sizeof *mine, compare);
		printf("%zu %s %.2f %.2f\n", kib,
			ckpt_simd_name((enum ckpt_simd)k),
			1e-9 / mine[ROUNDS / 2],
			seconds[0][ROUNDS / 2] / mine[ROUNDS / 2]);
		if (h[k] != h[0]) {
			fprintf(stderr, "hash: %s is not the plain loop\n",
				ckpt_simd_name((enum ckpt_simd)k));
			return 1;
		}
	}
	return 0;
}

int
main(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++) {
		size_t kib = strtoul(argv[i], NULL, 10);

		status |= kib == 0 || time_size(kib) != 0;
	}
	return status;
}
