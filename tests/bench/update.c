/* SPDX-License-Identifier: MIT */
/*
 * Times one update of eight tokens on a synthetic model whose checkpoint has
 * about the size given in MiB, moments included: forward, forward with
 * backward, AdamW. Prints seconds of each, the processor's time, and the
 * fingerprint of the parameters, which must not depend on how it was built.
 * usage: update MIB THREADS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "model/rng.h"
#include "num/adamw.h"
#include "num/decoder.h"

enum { TOKENS = 8, LAYERS = 4 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double *
numbers(size_t n, double scale)
{
	struct ckpt_rng rng = { 1 };
	double *p = calloc(n ? n : 1, sizeof *p);

	for (size_t i = 0; p && scale != 0.0 && i < n; i++)
		p[i] = scale * (2.0 * ckpt_rng_unit(&rng) - 1.0);
	return p;
}

int
main(int argc, char **argv)
{
	size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	struct ckpt_dims m = { .vocab = 1000,
		.width = 64,
		.heads = 4,
		.hidden = 256,
		.layers = LAYERS,
		.rope_base = 10000.0,
		.epsilon = 1e-6 };
	uint32_t ids[TOKENS], targets[TOKENS];
	struct ckpt_batch batch = { 1, TOKENS, ids, targets };
	struct ckpt_adamw_update u = { 0.006, 0.9, 0.999, 1e-8, 0.1, 0.001 };
	struct ckpt_not_finite fault;
	double *x, *g, *m1, *m2, *space, *logits, loss, t[4];
	size_t n, doubles;

	while (ckpt_dims_scalars(&m) * 24 < mib << 20) {
		m.width += 32;
		m.hidden = 4 * m.width;
	}
	m.team = ckpt_team_new(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	n = ckpt_dims_scalars(&m);
	for (uint32_t i = 0; i < TOKENS; i++) {
		ids[i] = 7 * i;
		targets[i] = 5 * i + 1;
	}
	if (!ckpt_decoder_space(&m, 1, TOKENS, CKPT_PASS_BACKWARD, &doubles))
		return 1;
	x = numbers(n, 0.05);
	g = numbers(n, 0.0);
	m1 = numbers(n, 0.0);
	m2 = numbers(n, 0.0);
	space = numbers(doubles, 0.0);
	logits = numbers(TOKENS * m.vocab, 0.0);
	if (!x || !g || !m1 || !m2 || !space || !logits)
		return 1;
	/* Pages are touched before the clock starts. */
	for (size_t i = 0; i < n; i += 512)
		g[i] = m1[i] = m2[i] = 1e-9;
	t[0] = now();
	if (!ckpt_decoder_forward(&m, x, &batch, space, logits, &fault))
		return 1;
	t[1] = now();
	if (!ckpt_decoder_gradients(
		    &m, x, &batch, space, logits, g, &loss, &fault))
		return 1;
	t[2] = now();
	ckpt_adamw(x, m1, m2, g, n, 0.01, &u);
	t[3] = now();
	printf("%zu %.4f %.4f %.4f %.4f fnv1a64:%016" PRIx64 "\n", n,
		t[1] - t[0], t[2] - t[1], t[3] - t[2],
		2 * (t[1] - t[0]) + t[3] - t[1],
		ckpt_fnv1a64(CKPT_FNV1A64_START, x, n * sizeof *x));
	ckpt_team_free(m.team);
	free(x);
	free(g);
	free(m1);
	free(m2);
	free(space);
	free(logits);
	return 0;
}
