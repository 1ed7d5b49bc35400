/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_DAMAGE_H
#define CKPT_TESTS_DAMAGE_H

/*
 * Files as training makes them, and what happens to files: each kind of damage
 * at a place that a random stream chooses, with the causes that are right
 * answers.
 */

#include <stddef.h>
#include <stdint.h>

#include "model/rng.h"

struct damage_file {
	uint8_t *p; /* owned */
	size_t n;
	uint64_t data;    /* where tensors begin */
	const char *name; /* of the file, for formats without magic; static */
};

/* f64, a few hundred kilobytes, with moments. */
void damage_base_llmcp35(struct damage_file *file);
/* BF16, F32 and F16, with a bias of zeros, gains of ones and moments some of
 * whose rows are zero. */
void damage_base_safetensors(struct damage_file *file);
void damage_release(struct damage_file *file);

struct damage_kind {
	const char *name;
	/* The causes that explain it, of which the first is best; "" for
	 * none. */
	const char *causes[3];
	/* Makes *out, which is fresh, from base. */
	void (*damage)(struct damage_file *out, const struct damage_file *base,
		struct ckpt_rng *rng);
};

/* NULL behind the last. */
const struct damage_kind *damage_kind_at(size_t i);
const struct damage_kind *damage_kind_find(const char *name);

#endif
