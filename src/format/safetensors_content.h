/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_SAFETENSORS_CONTENT_H
#define CKPT_FORMAT_SAFETENSORS_CONTENT_H

/*
 * What the values of a safetensors file say, in pieces: the scan of one
 * tensor, what it leaves behind, and the rules over all of them. Memory grows
 * with the tensors, never with their elements.
 */

#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "format/safetensors.h"
#include "format/safetensors_block.h"
#include "format/safetensors_dtype.h"

/* Values of one kind: how many, and the first. */
struct safetensors_places {
	uint64_t count, at; /* at: lane in the tensor */
	uint64_t bits;
};

/* The magnitudes of one tensor; what is not finite and the lowest value of
 * the dtype, with which masks are filled, are left out. */
struct safetensors_spread {
	uint64_t n;
	double max;
	uint64_t max_at; /* lane */
	double min;      /* that is not 0; infinite if there is none */
	/* Sum of the squares of all but one of the highest, and the same of
	 * those too small to be squared, times 2^1200. */
	double rest, tiny;
};

/* How the numbers of a dtype are looked at. C64 is two F32; of integers and of
 * dtypes of less than a byte the bytes are looked at. */
enum safetensors_lane { LANE_8, LANE_16, LANE_32, LANE_64 };

/* One tensor while it passes by. */
struct safetensors_scan {
	const struct safetensors_kernels *kernels;
	const struct safetensors_dtype *dtype; /* of a lane; NULL: bytes */
	enum safetensors_lane lane;
	unsigned width;   /* bytes of a lane */
	unsigned element; /* bytes of an element, 0: less than one */
	struct safetensors_byte_test test;
	double (*squares)(const uint8_t *p); /* NULL: the spread is not asked */
	void (*widen)(const uint8_t *p, uint32_t *bits); /* NULL: not an F32 */
	uint64_t odd; /* the block's top from which on it is looked at */
	uint64_t
		square; /* columns if the last two dimensions are equal, or 0 */
	bool is_bool, never_zero;

	uint64_t at;          /* bytes before */
	uint64_t nonzero_end; /* behind the last lane that is not zero */
	struct safetensors_places nan, infinite, not_bool;
	uint64_t negative; /* of the infinite ones */
	bool mask;         /* each infinity is -inf above the diagonal */
	struct safetensors_spread spread;
	bool narrow;   /* F32: no low half of a value is other than 0 */
	bool fraction; /* F32: while narrow, a value that is no integer */
	bool constant; /* every element is the first one again */
	uint8_t first[8];
};

void safetensors_scan_begin(struct safetensors_scan *scan,
	const struct safetensors_tensor *tensor,
	const struct safetensors_kernels *kernels, bool stats);

/* The next bytes of the tensor: whole lanes and whole elements. */
void safetensors_scan_data(
	struct safetensors_scan *scan, const uint8_t *p, size_t n);

/* Bytes at the end of a tensor of len bytes that are elements of value 0. */
uint64_t safetensors_scan_zero_tail(const struct safetensors_scan *scan,
	const struct safetensors_tensor *tensor, uint64_t len);

/* Root mean square of all magnitudes but the highest. */
double safetensors_spread_rms(const struct safetensors_spread *spread);

/* The bits of a lane, and the highest of them. */
static inline uint64_t
safetensors_lane_bits(const struct safetensors_scan *scan, const uint8_t *p)
{
	uint8_t wide[8] = { 0 };

	memcpy(wide, p, scan->width);
	return ckpt_load_u64(wide);
}

static inline uint64_t
safetensors_lane_sign(const struct safetensors_scan *scan)
{
	return (uint64_t)1 << (8 * scan->width - 1);
}

/* One more magnitude; true if it is higher than all before. */
bool safetensors_spread_add(struct safetensors_spread *spread, double x);

/* The n bytes at scan->at, value by value. */
void safetensors_scan_values(
	struct safetensors_scan *scan, const uint8_t *p, size_t n);

/* The same of what can be widened, all at once; a block is at p, of which n
 * bytes count. */
void safetensors_scan_tally(
	struct safetensors_scan *scan, const uint8_t *p, size_t n);

/* ---- What names and shapes say ------------------------------------------ */

bool safetensors_is_weight(const struct safetensors_tensor *tensor);

/* By its name, whatever its rank. */
bool safetensors_is_bias(const struct safetensors_tensor *tensor);

/* The matrix of an adapter that begins as zero. */
bool safetensors_is_adapter_up(const struct safetensors_tensor *tensor);

/* ---- What is left of the tensors ---------------------------------------- */

/* A finding over several tensors. */
struct safetensors_sum {
	uint64_t count, tensors;
	uint64_t first; /* tensor */
	struct safetensors_places place;
	uint64_t negative; /* infinities */
};

/* The zeros at the end of what was read so far. */
struct safetensors_tail {
	bool inside;      /* it begins inside of a tensor: */
	uint64_t tensor;  /* this one, */
	uint64_t zeros;   /* with so many bytes of it */
	uint64_t whole;   /* tensors that are zero and not empty */
	uint64_t begin;   /* the first of them */
	bool matrix;      /* one of them is a weight of rank >= 2 */
	uint64_t weights; /* bytes in weights */
};

/* A tensor with absurd magnitudes. */
struct safetensors_absurd {
	uint64_t tensor;
	struct safetensors_spread spread;
	struct safetensors_absurd *next;
};

/* A tensor that may have a twin. */
struct safetensors_twin {
	uint32_t tensor;
	bool kept; /* another one has its dtype and size */
	bool constant;
	uint64_t digest;
};

struct safetensors_content {
	bool stats;
	const struct safetensors_kernels *kernels;
	struct safetensors_scan scan;
	uint64_t tensor; /* that is being scanned, */
	bool scanning;   /* if one is */
	uint8_t *zero;   /* by tensor: not empty and all zero */
	bool any, nonzero;
	struct safetensors_sum nan, infinite, mask, not_bool, narrow;
	uint64_t singles; /* F32 tensors */
	struct safetensors_tail tail;
	struct safetensors_absurd *absurd, **absurd_end;
	uint64_t nabsurd;
	struct safetensors_twin *twins; /* in the order of the file */
	uint32_t ntwins, next_twin;
	XXH3_state_t *digest; /* owned; NULL unless there are twins */
	bool digesting;
};

/* Elements from which on F32 that hold only BF16 values are told. */
enum { SAFETENSORS_NARROW_LEAST = 4096 };

CKPT_MUST_USE enum ckpt_status safetensors_content_report(
	struct safetensors_judge *judge);

/* Fills twins; then calls say for each tensor that is an earlier one again. */
CKPT_MUST_USE enum ckpt_status safetensors_find_twins(
	struct safetensors_judge *judge);
CKPT_MUST_USE enum ckpt_status safetensors_each_twin(
	struct safetensors_judge *judge,
	void (*say)(struct safetensors_judge *judge, uint32_t first,
		uint32_t again));

/* The rules over more than one value. */
bool safetensors_spread_absurd(const struct safetensors_spread *spread);
bool safetensors_tail_torn(const struct safetensors_judge *judge);

#endif
