/* SPDX-License-Identifier: MIT */
/*
 * The environment is found by computing, not by asking which processor or
 * library this is: what counts is the bits. glibc has two builds of its
 * functions, with and without fused multiply-add, which differ in the last bit
 * of some results; a few arguments where they do are written down here with
 * both results (glibc 2.36, x86-64), three for each function.
 *
 * The fingerprint hashes, for each function, the results for those arguments
 * and then for PROBES others, whose values come from a linear congruential
 * sequence; it is a fact of machine and library alone.
 */
#include "base/arithmetic.h"

#include <float.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/fmath.h"
#include "base/hash.h"

enum { PROBES = 2048 };

enum function { EXP, LOG, LOG1P, POW, SIN, COS };

static double
call(enum function f, double x, double y)
{
	switch (f) {
	case EXP: return ckpt_exp(x);
	case LOG: return ckpt_log(x);
	case LOG1P: return ckpt_log1p(x);
	case POW: return ckpt_pow(x, y);
	case SIN: return ckpt_sin(x);
	case COS: return ckpt_cos(x);
	}
	return 0.0;
}

static const struct {
	enum function f;
	double x, y;
	double fma, plain;
} telling[] = {
	{ EXP, -0x1.0201p+4, 0, 0x1.aa6ffb0ba519fp-24, 0x1.aa6ffb0ba51ap-24 },
	{ EXP, -0x1.4344p+3, 0, 0x1.57e4f17f16815p-15, 0x1.57e4f17f16814p-15 },
	{ EXP, 0x1.586p-1, 0, 0x1.f59745da0e2a3p+0, 0x1.f59745da0e2a2p+0 },
	{ LOG, 0x1.7762p-1, 0, -0x1.3dd3ce3673b8ap-2, -0x1.3dd3ce3673b89p-2 },
	{ LOG, 0x1.c9f4p-1, 0, -0x1.c8f0d31f19096p-4, -0x1.c8f0d31f19095p-4 },
	{ LOG, 0x1.ff61cp+2, 0, 0x1.0a038dd546e89p+1, 0x1.0a038dd546e88p+1 },
	{ LOG1P, 0x1.22288p+2, 0, 0x1.b5faf65bfd8bfp+0, 0x1.b5faf65bfd8bep+0 },
	{ LOG1P, 0x1.24ddcp+2, 0, 0x1.b7ee2a65d4dcep+0, 0x1.b7ee2a65d4dcdp+0 },
	{ LOG1P, 0x1.e8acp+0, 0, 0x1.115920db4ffd5p+0, 0x1.115920db4ffd4p+0 },
	{ POW, 0x1.7d2p+12, -0x1.bf8p-3, 0x1.30f604fa039f3p-3,
		0x1.30f604fa039f4p-3 },
	{ POW, 0x1.ceep+11, -0x1.276p-1, 0x1.1e3e6453cf699p-7,
		0x1.1e3e6453cf698p-7 },
	{ POW, 0x1.f54p+12, -0x1.486p-1, 0x1.9ab697dd9ff93p-9,
		0x1.9ab697dd9ff94p-9 },
	{ SIN, 0x1.5b43p+4, 0, 0x1.2227ede91fa64p-2, 0x1.2227ede91fa65p-2 },
	{ SIN, 0x1.95d8p+1, 0, -0x1.dc143594ee01bp-6, -0x1.dc143594ee01ap-6 },
	{ SIN, 0x1.be318p+5, 0, -0x1.661226cccf3adp-1, -0x1.661226cccf3aep-1 },
	{ COS, 0x1.37f18p+5, 0, 0x1.1805e1da017ep-2, 0x1.1805e1da017e1p-2 },
	{ COS, 0x1.4e1d8p+5, 0, -0x1.34abb2a03f667p-1, -0x1.34abb2a03f666p-1 },
	{ COS, 0x1.df7p+2, 0, 0x1.6b61fbb461e64p-2, 0x1.6b61fbb461e65p-2 },
};

enum { TELLING = sizeof telling / sizeof telling[0] };

/* Arguments as the replay has them: differences of logits, mean squares, tails
 * of softmax, rotary bases and exponents, angles. */
static const struct {
	enum function f;
	double low, high;
} ranges[] = {
	{ EXP, -40.0, 8.0 },
	{ LOG, 0x1p-20, 64.0 },
	{ LOG1P, 0.0, 16.0 },
	{ POW, 2.0, 20000.0 },
	{ SIN, 0.0, 2048.0 },
	{ COS, 0.0, 2048.0 },
};

static uint64_t
add_result(uint64_t h, double result)
{
	uint8_t bytes[8];

	ckpt_store_u64(bytes, ckpt_f64_bits(result));
	return ckpt_fnv1a64(h, bytes, sizeof bytes);
}

/* In [0, 1), a multiple of 2^-53. Wraps on purpose. */
static double
next_unit(uint64_t *sequence)
{
	*sequence = *sequence * 6364136223846793005u + 1442695040888963407u;
	return (double)(*sequence >> 11) * 0x1p-53;
}

static uint64_t
fingerprint(void)
{
	uint64_t h = CKPT_FNV1A64_START, sequence = 1;

	for (size_t i = 0; i < TELLING; i++)
		h = add_result(
			h, call(telling[i].f, telling[i].x, telling[i].y));
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		for (size_t k = 0; k < PROBES; k++) {
			double unit = next_unit(&sequence);
			double width = ranges[i].high - ranges[i].low;
			double x = ranges[i].low + unit * width;

			h = add_result(
				h, call(ranges[i].f, x, -next_unit(&sequence)));
		}
	return h;
}

static const char *
math_variant(void)
{
	bool fma = true, plain = true;

	for (size_t i = 0; i < TELLING; i++) {
		uint64_t bits = ckpt_f64_bits(
			call(telling[i].f, telling[i].x, telling[i].y));

		fma = fma && bits == ckpt_f64_bits(telling[i].fma);
		plain = plain && bits == ckpt_f64_bits(telling[i].plain);
	}
	return fma ? "libm-fma" : plain ? "libm-plain" : "libm-other";
}

/* Operands are volatile so that nothing is worked out while compiling. */
static void
try_operations(struct ckpt_arithmetic *a)
{
	volatile double one = 1.0, half_ulp = 0x1p-53, least = DBL_TRUE_MIN;
	volatile double normal = DBL_MIN, three = 3.0;
	double x = one, e = half_ulp, tick, square;

	a->nearest = x + e == 1.0 && (x + 2 * e) + e == 1.0 + 0x1p-51 &&
		     -x - e == -1.0;
	/* Halved, the smallest normal number is subnormal; doubled, the
	 * smallest subnormal one is not zero. */
	a->subnormals = normal / 2 > 0.0 && least * 2 > 0.0;
	/* (1 + 2^-52)^2 = 1 + 2^-51 + 2^-104: only if it was rounded before
	 * the subtraction, nothing is left of the last term. */
	tick = x + 2 * e;
	square = tick * tick - (1.0 + 0x1p-51);
	a->separate = square == 0.0 && x / three * three == 1.0;
}

struct ckpt_arithmetic
ckpt_arithmetic_probe(void)
{
	struct ckpt_arithmetic a = { .math = math_variant(),
		.fingerprint = fingerprint() };

	try_operations(&a);
	a.profile = a.nearest && a.subnormals && a.separate ? "llmcp35-f64-v1"
							    : "other";
	return a;
}
