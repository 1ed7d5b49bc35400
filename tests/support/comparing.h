/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_COMPARING_H
#define CKPT_TESTS_COMPARING_H

/* Two files in one viewer, and the page that compares them. */

#include "model/synth.h"
#include "support/viewing.h"

/* Eleven parameters and their moments, five tokens. */
extern const struct ckpt_synth comparing_usual;

/* A file of it; owned by the caller. */
void comparing_make(struct ckpt_buf *bytes, const struct ckpt_synth *synth);

/* Opens b beside a. The names of both are "a" and "b". viewing_close() closes
 * them. */
void comparing_open(struct viewing *v, const void *a, size_t na, const void *b,
	size_t nb, int rows, int cols);

/* The record of a with this name and a role that has the word. */
uint64_t comparing_find(
	const struct viewing *v, const char *role, const char *name);
/* Where its bytes begin in a file. */
uint64_t comparing_payload(
	const struct ckpt_buf *file, const char *role, const char *name);

/* Whether the selected row has the words. */
bool comparing_selected(struct viewing *v, const char *words);
/* Presses j until it has. */
void comparing_select(struct viewing *v, const char *words);

#endif
