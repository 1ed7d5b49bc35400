/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_SWIGLU_H
#define CKPT_NUM_SWIGLU_H

#include <stddef.h>

/* sig = sigmoid(gate), s = gate sig, p = s up; n values each. */
void ckpt_swiglu_forward(double *p, double *sig, double *s, const double *gate,
	const double *up, size_t n);

/* dgate and dup from dp; dgate may be dp. */
void ckpt_swiglu_backward(double *dgate, double *dup, const double *dp,
	const double *gate, const double *up, const double *sig,
	const double *s, size_t n);

#endif
