/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_LOSS_H
#define CKPT_NUM_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* Mean negative log likelihood of targets[rows] under logits[rows][vocab];
 * prob[rows][vocab] becomes the probabilities and may be logits. The result
 * is not finite when the loss is not. */
double ckpt_loss_forward(double *prob, const double *logits,
	const uint32_t *targets, size_t rows, size_t vocab);

/* The same of some rows of a larger update: their terms are added to *total,
 * one after the other. */
void ckpt_loss_terms(double *prob, const double *logits,
	const uint32_t *targets, size_t rows, size_t vocab, double *total);

/* dz[rows][vocab] from prob, times factor; dz may be prob. */
void ckpt_loss_backward(double *dz, const double *prob, const uint32_t *targets,
	size_t rows, size_t vocab, double factor);

#endif
