/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_SAMPLE_H
#define CKPT_TESTS_SAMPLE_H

/*
 * Tiny valid checkpoints for tests, made from a state by the encoder of a
 * registered format. All of it is fixed: the same wish gives the same bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t step;       /* 0: no moments */
	uint64_t rng_state;  /* 0 is worth a note */
	uint64_t positions;  /* 0: one */
	const char *group;   /* at step 0, the name of a parameter that does
			      * not exist: a warning. NULL: no groups */
	double weight_decay; /* -0.0 is worth a warning */
};

/* The kinds that have a name: "plain", "fresh" (step 0), "noted" (a random
 * state of 0), "warned" (a setting of -0.0), "hostile" (control characters in
 * a name, and a warning for it), "huge" (2^53 positions). NULL if there is
 * none of that name. */
const struct sample *sample_find(const char *kind);

/* The bytes, from malloc; NULL if the encoder fails. */
uint8_t *sample_make(const struct sample *sample, size_t *n);

/* The same of any state. */
struct ckpt_state;
uint8_t *sample_encode(const struct ckpt_state *state, size_t *n);

/* The same as sample_make() into a file. */
bool sample_write(const struct sample *sample, const char *path);

#endif
