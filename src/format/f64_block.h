/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_F64_BLOCK_H
#define CKPT_FORMAT_F64_BLOCK_H

/*
 * A block of F64 from a distance: whether any of them is worth a closer look.
 * A block begins at any address; its values are little-endian.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CKPT_F64_BLOCK = 2048 }; /* bytes */

#define CKPT_F64_EXPONENT 0x7ff0000000000000u
#define CKPT_F64_SIGN     0x8000000000000000u

struct ckpt_f64_glance {
	uint64_t any; /* the bits that one value or another has */
	bool special; /* one of them is infinite or not a number */
};

typedef struct ckpt_f64_glance ckpt_f64_look(const uint8_t *p);

/* The fastest way to look that this processor has; all give the same. */
ckpt_f64_look *ckpt_f64_looking(void);

/* The one for any processor. */
struct ckpt_f64_glance ckpt_f64_look_plain(const uint8_t *p);

#endif
