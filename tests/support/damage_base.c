/* SPDX-License-Identifier: MIT */
/*
 * Healthy files with values as training leaves them: weights about normal,
 * gains near 1, second moments over many binades. Tensors begin and rows end
 * where they happen to, mostly not where pages do.
 */
#include "support/damage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/synth.h"
#include "support/content.h"
#include "support/sample.h"

void
damage_release(struct damage_file *file)
{
	free(file->p);
	memset(file, 0, sizeof *file);
}

void
damage_base_llmcp35(struct damage_file *file)
{
	struct ckpt_synth synth = { .config = { 61, 36, 2, 70, 1, 20, 10000.0,
					    1e-6, 0, 0 },
		.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
		.step = 5,
		.gain_groups = true,
		.seed = 5,
		.sampling_rng_state = 9 };
	struct ckpt_state state;
	struct ckpt_arena arena;
	enum ckpt_status status;

	ckpt_arena_init(&arena, UINT64_MAX);
	status = ckpt_synth_state(&arena, &synth, &state);
	assert(status == CKPT_OK);
	(void)status;
	file->p = sample_encode(&state, &file->n);
	assert(file->p);
	file->data = ckpt_load_u64(file->p + 14);
	file->name = NULL;
	ckpt_arena_release(&arena);
}

/* About normal, with a standard deviation of 1/50. */
static float
weight(struct ckpt_rng *rng)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += ckpt_rng_unit(rng);
	return (float)(sum / 50);
}

static uint32_t
half(float x)
{
	uint32_t bits = content_single(x), exponent = bits >> 23 & 0xff;

	if (exponent < 113) /* denormals are of no importance here */
		return bits >> 16 & 0x8000;
	return (bits >> 16 & 0x8000) | (exponent - 112) << 10 |
	       (bits >> 13 & 0x3ff);
}

enum value { WEIGHT, SQUARE, ZERO, GAIN };

static void
add(struct content *f, const char *name, const char *dtype, const char *shape,
	size_t n, enum value value)
{
	static struct ckpt_rng rng = { 77 };
	unsigned width = dtype[0] == 'F' && dtype[1] == '3' ? 4 : 2;
	uint8_t *p = calloc(n, width);

	assert(p);
	for (size_t i = 0; i < n; i++) {
		float x = weight(&rng);
		uint32_t bits;

		if (value == SQUARE) /* and ten rows of zeros */
			x = i % 9000 < 1000 ? 0 : x * x * 0.001f;
		else if (value == ZERO)
			x = 0;
		else if (value == GAIN)
			x = 1 + x;
		bits = content_single(x);
		if (width == 4)
			ckpt_store_u32(p + 4 * i, bits);
		else if (dtype[0] == 'B')
			memcpy(p + 2 * i,
				(uint8_t[]){ (uint8_t)(bits >> 16),
					(uint8_t)(bits >> 24) },
				2);
		else
			memcpy(p + 2 * i,
				(uint8_t[]){ (uint8_t)half(x),
					(uint8_t)(half(x) >> 8) },
				2);
	}
	content_add(f, name, dtype, shape, p, n * width);
	free(p);
}

void
damage_base_safetensors(struct damage_file *file)
{
	struct content f;

	content_begin(&f);
	add(&f, "embed.weight", "BF16", "[301,100]", 30100, WEIGHT);
	add(&f, "a.weight", "F32", "[120,131]", 15720, WEIGHT);
	add(&f, "a.bias", "F32", "[131]", 131, ZERO);
	add(&f, "b.weight", "F32", "[100,90]", 9000, WEIGHT);
	add(&f, "c.weight", "F16", "[150,100]", 15000, WEIGHT);
	add(&f, "norm.weight", "F32", "[100]", 100, GAIN);
	add(&f, "v.b", "F32", "[180,100]", 18000, SQUARE);
	add(&f, "z.weight", "F32", "[77,101]", 7777, WEIGHT);
	file->p = content_whole(&f, &file->n);
	file->data = 8 + ckpt_load_u64(file->p);
	file->name = "model.safetensors";
	ckpt_buf_release(&f.header);
	ckpt_buf_release(&f.data);
}
