/* SPDX-License-Identifier: MIT */
/*
 * The content of made-up tensors, any piece at any time. The loops over
 * values run at a few gigabytes a second: whoever writes and hashes them is
 * the slower one.
 */
#include "model/synth_fill.h"

#include <string.h>

#include "base/bytes.h"

void
ckpt_synth_fill_values(void *ctx, const struct ckpt_tensor *tensor,
	uint64_t off, uint8_t *bytes, size_t n)
{
	const struct ckpt_synth_fill *f = ctx;
	struct ckpt_rng rng = f->rng;
	double scale = f->scale;

	(void)tensor;
	ckpt_rng_skip(&rng, off / 8);
	switch (f->values) {
	case CKPT_SYNTH_ONE:
		for (size_t i = 0; i < n; i += 8)
			ckpt_store_u64(bytes + i, ckpt_f64_bits(1.0));
		break;
	case CKPT_SYNTH_EVEN:
		for (size_t i = 0; i < n; i += 8) {
			double unit = ckpt_rng_unit(&rng);

			ckpt_store_u64(bytes + i,
				ckpt_f64_bits(scale * ((2.0 * unit) - 1.0)));
		}
		break;
	case CKPT_SYNTH_ABOVE_ZERO:
		for (size_t i = 0; i < n; i += 8) {
			double unit = ckpt_rng_unit(&rng);

			ckpt_store_u64(bytes + i,
				ckpt_f64_bits(scale * (unit + 0x1p-53)));
		}
		break;
	}
}

/* The piece's number in base 26, its last digit at digits - 1, and letters a
 * behind it. */
void
ckpt_synth_fill_piece(void *ctx, const struct ckpt_tensor *tensor, uint64_t off,
	uint8_t *bytes, size_t n)
{
	const struct ckpt_synth_fill *f = ctx;
	uint64_t number = f->number;

	(void)tensor;
	memset(bytes, 'a', n);
	for (uint64_t at = f->digits; at-- > 0 && number > 0; number /= 26)
		if (at >= off && at - off < n)
			bytes[at - off] = (uint8_t)('a' + number % 26);
}

/* Chain: (a, b), (256, c), (257, d), ...; doubling: (a, a), (256, 256), ... */
void
ckpt_synth_fill_pairs(void *ctx, const struct ckpt_tensor *tensor, uint64_t off,
	uint8_t *bytes, size_t n)
{
	const struct ckpt_synth_fill *f = ctx;

	(void)tensor;
	for (size_t i = 0; i < n; i += 4) {
		uint64_t word = off / 4 + i / 4, rank = word / 2;
		uint64_t left = rank ? CKPT_BPE_BYTES - 1 + rank : 'a';
		uint64_t right = f->shape == CKPT_MERGES_DOUBLING
					 ? left
					 : 'a' + (rank + 1) % 26;

		ckpt_store_u32(bytes + i, (uint32_t)(word % 2 ? right : left));
	}
}
