/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORENSICS_COMPARE_H
#define CKPT_FORENSICS_COMPARE_H

/*
 * Two states, bit for bit. Values may lie in memory or be made piece by piece
 * (struct ckpt_tensor), so one of the two need not be in memory.
 */

#include "model/state.h"

/* How many doubles lie between two, counted in units in the last place; 0 for
 * equal values, so also for the two zeros. UINT64_MAX if one is not a
 * number. */
uint64_t ckpt_ulps(uint64_t a, uint64_t b);

/* A setting or a counter that differs. */
struct ckpt_setting_difference {
	const char *name;       /* static, the word of the format */
	struct ckpt_value a, b; /* NONE where there are no short values */
};

enum ckpt_tensor_fault {
	CKPT_TENSOR_VALUES, /* an element differs */
	CKPT_TENSOR_NAME,   /* other names at the same place */
	CKPT_TENSOR_SHAPE,
	CKPT_TENSOR_ABSENT, /* one of the two does not have it */
};

/* The first tensor that differs: tokenizer, parameters in model order, then
 * first and second moment of each. */
struct ckpt_tensor_difference {
	enum ckpt_tensor_fault fault;
	const char *role;      /* "parameter"; static */
	struct ckpt_name name; /* borrowed; n = 0 for the tokenizer */
	uint64_t index;        /* among those of its role */
	/* VALUES: the first element that differs, a byte if not f64. */
	uint64_t element;
	bool f64;
	uint64_t bits[2];
	uint64_t ulps;
};

enum { CKPT_COMPARED_SETTINGS = 24 };

struct ckpt_comparison {
	struct ckpt_setting_difference settings[CKPT_COMPARED_SETTINGS];
	size_t nsettings;
	struct ckpt_tensor_difference first; /* if tensors > 0 */
	uint64_t tensors;                    /* that differ */
	uint64_t elements; /* doubles that differ, in tensors of one shape */
	uint64_t most_ulps;
};

void ckpt_compare(const struct ckpt_state *a, const struct ckpt_state *b,
	struct ckpt_comparison *comparison);

/* Whether nothing differs. */
bool ckpt_comparison_equal(const struct ckpt_comparison *comparison);

#endif
