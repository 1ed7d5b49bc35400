/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_PUBLISHED_H
#define CKPT_TESTS_PUBLISHED_H

#include "base/buf.h"

/* The training checkpoint of the published job after two updates, which has
 * layers, added to an empty buf. Its envelope is one of no machine. */
void published_archive(struct ckpt_buf *bytes);

#endif
