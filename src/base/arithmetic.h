/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ARITHMETIC_H
#define CKPT_BASE_ARITHMETIC_H

/*
 * The arithmetic environment: which bits this build makes on this machine.
 * Results of two environments can be compared bit for bit only if their
 * fingerprints are the same.
 */

#include <stdbool.h>
#include <stdint.h>

struct ckpt_arithmetic {
	/* "llmcp35-f64-v1": binary64, rounded to the nearest, each operation
	 * by itself, subnormal numbers kept. "other" if any of these fails. */
	const char *profile;
	bool nearest;    /* rounds to the nearest, ties to even */
	bool subnormals; /* are kept, as operands and as results */
	bool separate;   /* no fused multiply-add */
	/* What the math library's results are those of: "libm-fma" and
	 * "libm-plain" are glibc's two builds, else "libm-other". */
	const char *math;
	uint64_t fingerprint; /* over the bits of many results */
};

/* Tries it out, each time anew. */
struct ckpt_arithmetic ckpt_arithmetic_probe(void);

#endif
