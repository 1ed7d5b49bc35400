/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SIMD_H
#define CKPT_BASE_SIMD_H

/*
 * Which vector instructions the fast paths may use. One answer for the whole
 * program and all of its life: the best that processor and system offer,
 * unless the environment variable CKPT_SIMD names another level. It changes
 * how fast something is done, never what comes out.
 */

enum ckpt_simd {
	CKPT_SIMD_OFF,      /* the plain loops */
	CKPT_SIMD_PORTABLE, /* vectors of the compiler, for any processor */
	CKPT_SIMD_SSE2,     /* every x86-64 has it */
	CKPT_SIMD_AVX2,
	CKPT_SIMD_AVX512, /* with its byte and dot product instructions */
	CKPT_SIMD_LEVELS
};

/* The level to use. Asks the first time; any thread may be the first. */
enum ckpt_simd ckpt_simd_level(void);

/* The highest level that runs here, whatever CKPT_SIMD says. */
enum ckpt_simd ckpt_simd_best(void);

/* The level meant by a value of CKPT_SIMD where best is the highest: one that
 * is higher gives best; so do auto, an unknown word and null. */
enum ckpt_simd ckpt_simd_choose(const char *word, enum ckpt_simd best);

/* As CKPT_SIMD names it. */
const char *ckpt_simd_name(enum ckpt_simd level);

#endif
