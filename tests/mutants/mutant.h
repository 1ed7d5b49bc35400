/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_MUTANT_H
#define CKPT_TESTS_MUTANT_H

/*
 * Put before every file of a scratch copy by tests/mutants/mutants.py, which
 * also puts these macros around the conditions that decide a finding. One
 * build holds all mutants; CKPT_MUTANT=NUMBER:OP in the environment makes one
 * of them real. Without it the programs do what they do.
 */

#include <stdbool.h>
#include <stdint.h>

extern int ckpt_mutant_number; /* 0: none */
extern int ckpt_mutant_op;
extern unsigned char *ckpt_mutant_seen; /* of each number: what came by */

enum {
	CKPT_MUTANT_MOST = 1 << 18,
	CKPT_MUTANT_TRUE = 1,
	CKPT_MUTANT_FALSE = 2,
	CKPT_MUTANT_EDGE = 4, /* where another comparison says otherwise */
};

static inline bool
ckpt_mutant_bool(int number, bool value)
{
	ckpt_mutant_seen[number] |=
		value ? CKPT_MUTANT_TRUE : CKPT_MUTANT_FALSE;
	if (number != ckpt_mutant_number)
		return value;
	switch (ckpt_mutant_op) {
	case 'T': return true;
	case 'F': return false;
	case 'N': return !value;
	}
	return value;
}

static inline bool
ckpt_mutant_edge(int number)
{
	return number == ckpt_mutant_number && ckpt_mutant_op == 'B';
}

static inline bool
ckpt_mutant_saw(int number, bool edge)
{
	if (edge)
		ckpt_mutant_seen[number] |= CKPT_MUTANT_EDGE;
	return true;
}

static inline uint64_t
ckpt_mutant_u64(int number, uint64_t value, uint64_t other)
{
	if (value != other)
		ckpt_mutant_seen[number] |= CKPT_MUTANT_EDGE;
	return number == ckpt_mutant_number ? other : value;
}

/* A condition, one that compares by order with its neighbour, another code,
 * another unit. */
#define CKPT_M(n, ...) ckpt_mutant_bool(n, !!(__VA_ARGS__))
#define CKPT_MB(n, edge, other, ...)                                           \
	ckpt_mutant_bool(n, ckpt_mutant_saw(n, edge) && ckpt_mutant_edge(n)    \
				    ? (other)                                  \
				    : (__VA_ARGS__))
#define CKPT_MC(n, code, other)                                                \
	((enum ckpt_code)ckpt_mutant_u64(n, code, other))
#define CKPT_MU(n, ...) ckpt_mutant_u64(n, __VA_ARGS__, 0)

#endif
