/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_TRY_H
#define CKPT_BASE_TRY_H

#include <ckpt.h>

/* Passes a failure on. The only macro that returns; for functions that own
 * nothing. */
#define CKPT_TRY(expr)                                                         \
	do {                                                                   \
		enum ckpt_status ckpt_try_ = (expr);                           \
		if (ckpt_try_ != CKPT_OK)                                      \
			return ckpt_try_;                                      \
	} while (0)

#endif
