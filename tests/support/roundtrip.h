/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_ROUNDTRIP_H
#define CKPT_TESTS_ROUNDTRIP_H

#include <stdbool.h>
#include <stddef.h>

/* True if the bytes are a valid file. Fails the test if one encodes to other
 * bytes, or if one that is not valid has no finding that says so. */
bool roundtrip_judge(const char *what, const void *bytes, size_t n);

#endif
