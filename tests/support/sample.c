/* SPDX-License-Identifier: MIT */
/*
 * One state: three tokens, two parameters, no layers. What a test wants
 * otherwise goes through struct sample.
 */
#include "support/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "format/format.h"

static const struct {
	const char *kind;
	struct sample sample;
} kinds[] = {
	{ "plain", { .step = 3, .rng_state = 7 } },
	{ "fresh", { .rng_state = 7 } },
	{ "noted", { .step = 3 } },
	{ "warned", { .step = 3, .rng_state = 7, .weight_decay = -0.0 } },
	{ "hostile",
		{ .rng_state = 7, .group = "a\033[2Jb\n\xe2\x80\xae\\c" } },
	{ "huge",
		{ .step = 3, .rng_state = 7, .positions = UINT64_C(1) << 53 } },
};

const struct sample *
sample_find(const char *kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return &kinds[i].sample;
	return NULL;
}

enum { TOKENS = 3, WIDTH = 2, SCALARS = TOKENS * WIDTH };

/* The tensors of a state and their memory. */
struct parts {
	uint8_t values[SCALARS * 8], ones[WIDTH * 8];
	uint64_t piece_dims[TOKENS][1], matrix[2], vector[1];
	struct ckpt_tensor pieces[TOKENS], parameters[2], moments[2];
	struct ckpt_name group;
};

static struct ckpt_name
name_of(const char *text)
{
	return (struct ckpt_name){ (const uint8_t *)text,
		(uint32_t)strlen(text) };
}

static void
fill(uint8_t *bytes, size_t n, double first)
{
	for (size_t i = 0; i < n; i++)
		ckpt_store_u64(
			bytes + 8 * i, ckpt_f64_bits(first + (double)i / 4));
}

static void
make_parts(struct parts *p)
{
	static const char *const texts[TOKENS] = { "a", "b", "cd" };
	struct ckpt_tensor embedding, norm;

	fill(p->values, SCALARS, 0.25);
	fill(p->ones, WIDTH, 1);
	for (size_t i = 0; i < TOKENS; i++) {
		p->piece_dims[i][0] = strlen(texts[i]);
		p->pieces[i] = (struct ckpt_tensor){
			.rank = 1,
			.dims = p->piece_dims[i],
			.len = strlen(texts[i]),
			.data = (const uint8_t *)texts[i],
		};
	}
	p->matrix[0] = TOKENS;
	p->matrix[1] = p->vector[0] = WIDTH;
	embedding = (struct ckpt_tensor){
		.name = name_of("token_embedding.weight"),
		.rank = 2,
		.dims = p->matrix,
		.len = sizeof p->values,
		.data = p->values,
	};
	norm = (struct ckpt_tensor){
		.name = name_of("final_norm.gain"),
		.rank = 1,
		.dims = p->vector,
		.len = sizeof p->ones,
		.data = p->ones,
	};
	p->parameters[0] = embedding;
	p->parameters[1] = norm;
	/* In the order of their names. */
	p->moments[0] = norm;
	p->moments[1] = embedding;
}

static double
power(double beta, uint64_t step)
{
	double x = 1;

	while (step--)
		x *= beta;
	return x;
}

static void
make_state(
	struct ckpt_state *state, struct parts *p, const struct sample *sample)
{
	uint32_t moments = sample->step ? 2 : 0;

	make_parts(p);
	*state = (struct ckpt_state){
		.config = { TOKENS, WIDTH, 1, 1, 0,
			sample->positions ? sample->positions : 1, 10000, 1e-5,
			0, 0 },
		.adamw = { 0.125, 0.5, 0.75, 1e-8, sample->weight_decay },
		.tokenizer = { CKPT_LITERAL, TOKENS, p->pieces, TOKENS },
		.selected_step = sample->step,
		.sampling_rng_state = sample->rng_state,
		.optimizer_step = sample->step,
		.beta1_power = power(0.5, sample->step),
		.beta2_power = power(0.75, sample->step),
		.parameters = p->parameters,
		.nparameters = 2,
		.first = p->moments,
		.second = p->moments,
		.nmoments = moments,
	};
	if (!sample->group)
		return;
	p->group = name_of(sample->group);
	state->groups = true;
	state->decay = &p->group;
	state->ndecay = 1;
}

struct memory_writer {
	struct ckpt_writer writer;
	struct ckpt_buf buf;
};

static enum ckpt_status
memory_write(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	struct memory_writer *memory = (struct memory_writer *)writer;

	ckpt_buf_add(&memory->buf, bytes, n);
	return memory->buf.failed ? CKPT_ENOMEM : CKPT_OK;
}

static enum ckpt_status
memory_patch(
	struct ckpt_writer *writer, uint64_t off, const void *bytes, size_t n)
{
	struct memory_writer *memory = (struct memory_writer *)writer;

	memcpy(memory->buf.p + off, bytes, n);
	return CKPT_OK;
}

uint8_t *
sample_encode(const struct ckpt_state *state, size_t *n)
{
	const struct ckpt_format *format = ckpt_format_find("llmcp35");
	struct memory_writer memory = { .writer = { .write = memory_write,
						.patch = memory_patch } };

	ckpt_buf_init(&memory.buf);
	if (!format || format->encode(state, &memory.writer) != CKPT_OK) {
		ckpt_buf_release(&memory.buf);
		return NULL;
	}
	*n = memory.buf.n;
	return (uint8_t *)memory.buf.p;
}

uint8_t *
sample_make(const struct sample *sample, size_t *n)
{
	struct ckpt_state state;
	struct parts parts;

	make_state(&state, &parts, sample);
	return sample_encode(&state, n);
}

bool
sample_write(const struct sample *sample, const char *path)
{
	size_t n = 0;
	uint8_t *bytes = sample_make(sample, &n);
	FILE *file = bytes ? fopen(path, "wb") : NULL;
	bool ok = file && fwrite(bytes, 1, n, file) == n;

	if (file && fclose(file) != 0)
		ok = false;
	free(bytes);
	return ok;
}
