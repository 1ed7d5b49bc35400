/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_REAL_H
#define CKPT_BASE_REAL_H

#include <stdbool.h>

/* Reads a whole word as a number: decimal ("1e-5") or hexadecimal ("0x1p-3"),
 * with a sign or without, rounded to the nearest double. False for anything
 * else: blanks, "nan", "inf", what is too large for a double, and what is not
 * 0 but would become 0. */
bool ckpt_real_parse(const char *text, double *out);

#endif
