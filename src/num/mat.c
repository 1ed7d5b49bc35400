/* SPDX-License-Identifier: MIT */
/*
 * Products, blocked for the cache. Blocking changes which element is worked
 * on when, never the order of the terms of one element: a partial sum is
 * stored and picked up again exactly as a longer loop would have kept it.
 */
#include "num/mat.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	COLUMNS = 256, /* of a block whose rows stay in the first cache */
	LANES = 8,     /* outputs that are summed side by side */
	DEPTH = 128,   /* terms of a transposed block */
};

/* Work below this many multiplications is not worth waking anybody for. */
enum { SHARED = 1 << 18 };

/* The operands of one product. */
struct product {
	double *y;
	const double *x, *w;
	size_t rows, in, out;
	size_t batch, tokens;
	bool add;
};

static void
share(struct ckpt_team *team, const struct product *p, size_t n, size_t grain,
	ckpt_team_work *work)
{
	if ((double)p->rows * (double)p->in * (double)p->out < SHARED)
		team = NULL;
	ckpt_team_run(team, n, grain, work, (void *)(uintptr_t)p);
}

/* y[0..n) = (..((y + x0 w0) + x1 w1)..): four terms of every column, in
 * order. */
static void
add_four(double *restrict y, const double *x, const double *restrict w0,
	const double *restrict w1, const double *restrict w2,
	const double *restrict w3, size_t n)
{
	double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];

	for (size_t o = 0; o < n; o++) {
		double s = y[o];

		s = s + x0 * w0[o];
		s = s + x1 * w1[o];
		s = s + x2 * w2[o];
		s = s + x3 * w3[o];
		y[o] = s;
	}
}

static void
add_one(double *restrict y, double x, const double *restrict w, size_t n)
{
	for (size_t o = 0; o < n; o++)
		y[o] = y[o] + x * w[o];
}

/* Columns [from, to) of every row. */
static void
mul_columns(void *ctx, size_t from, size_t to)
{
	const struct product *q = ctx;
	size_t in = q->in, out = q->out;

	for (size_t at = from; at < to; at += COLUMNS) {
		size_t n = to - at < COLUMNS ? to - at : COLUMNS;
		size_t k = 0;

		for (size_t r = 0; r < q->rows; r++)
			memset(q->y + r * out + at, 0, n * sizeof *q->y);
		for (; k + 4 <= in; k += 4) {
			const double *p = q->w + k * out + at;

			for (size_t r = 0; r < q->rows; r++)
				add_four(q->y + r * out + at, q->x + r * in + k,
					p, p + out, p + 2 * out, p + 3 * out,
					n);
		}
		for (; k < in; k++)
			for (size_t r = 0; r < q->rows; r++)
				add_one(q->y + r * out + at, q->x[r * in + k],
					q->w + k * out + at, n);
	}
}

void
ckpt_mat_mul(struct ckpt_team *team, double *y, const double *x,
	const double *w, size_t rows, size_t in, size_t out)
{
	const struct product p = { y, x, w, rows, in, out, 0, 0, false };

	share(team, &p, out, LANES, mul_columns);
}

/* LANES outputs of one row take depth terms more. */
static void
add_lanes(double *restrict y, const double *restrict x,
	double (*restrict tile)[LANES], size_t depth)
{
	double s[LANES];

	memcpy(s, y, sizeof s);
	for (size_t o = 0; o < depth; o++)
		for (size_t i = 0; i < LANES; i++)
			s[i] = s[i] + x[o] * tile[o][i];
	memcpy(y, s, sizeof s);
}

/* LANES rows of w, turned so that they lie side by side. */
static void
fill_tile(double (*restrict tile)[LANES], const double *restrict w,
	size_t stride, size_t n)
{
	for (size_t i = 0; i < LANES; i++)
		for (size_t o = 0; o < n; o++)
			tile[o][i] = w[i * stride + o];
}

static double
dot(const double *x, const double *w, size_t n)
{
	double s = 0.0;

	for (size_t o = 0; o < n; o++)
		s = s + x[o] * w[o];
	return s;
}

/* Outputs [from, to) of every row. */
static void
mul_lanes(void *ctx, size_t from, size_t to)
{
	const struct product *q = ctx;
	size_t in = q->in, out = q->out, k = from;
	double tile[DEPTH][LANES];

	for (size_t r = 0; r < q->rows && from < to; r++)
		memset(q->y + r * out + from, 0, (to - from) * sizeof *q->y);
	for (; k + LANES <= to; k += LANES) {
		for (size_t at = 0; at < in; at += DEPTH) {
			size_t n = in - at < DEPTH ? in - at : DEPTH;

			fill_tile(tile, q->w + k * in + at, in, n);
			for (size_t r = 0; r < q->rows; r++)
				add_lanes(q->y + r * out + k,
					q->x + r * in + at, tile, n);
		}
	}
	for (; k < to; k++)
		for (size_t r = 0; r < q->rows; r++)
			q->y[r * out + k] =
				dot(q->x + r * in, q->w + k * in, in);
}

void
ckpt_mat_mul_transposed(struct ckpt_team *team, double *y, const double *x,
	const double *w, size_t rows, size_t in, size_t out)
{
	const struct product p = { y, x, w, rows, in, out, 0, 0, false };

	share(team, &p, out, LANES, mul_lanes);
}

/* g[0..n) = g + SUM(t) x[t] d[t][0..n), x and d with their row strides. */
static void
outer_row(double *restrict g, const double *restrict x, size_t x_stride,
	const double *restrict d, size_t d_stride, size_t tokens, size_t n)
{
	double s[COLUMNS];

	memset(s, 0, n * sizeof *s);
	for (size_t t = 0; t < tokens; t++) {
		double a = x[t * x_stride];
		const double *p = d + t * d_stride;

		for (size_t o = 0; o < n; o++)
			s[o] = s[o] + a * p[o];
	}
	for (size_t o = 0; o < n; o++)
		g[o] = g[o] + s[o];
}

/* Rows [from, to) of the gradient. */
static void
outer_rows(void *ctx, size_t from, size_t to)
{
	const struct product *q = ctx;
	size_t in = q->in, out = q->out, tokens = q->tokens;

	if (!q->add)
		memset(q->y + from * out, 0, (to - from) * out * sizeof *q->y);
	for (size_t at = 0; at < out; at += COLUMNS) {
		size_t n = out - at < COLUMNS ? out - at : COLUMNS;

		for (size_t k = from; k < to; k++)
			for (size_t b = 0; b < q->batch; b++)
				outer_row(q->y + k * out + at,
					q->x + b * tokens * in + k, in,
					q->w + b * tokens * out + at, out,
					tokens, n);
	}
}

void
ckpt_mat_outer(struct ckpt_team *team, double *g, const double *x,
	const double *d, size_t batch, size_t tokens, size_t in, size_t out)
{
	const struct product p = { g, x, d, batch * tokens, in, out, batch,
		tokens, false };

	share(team, &p, in, 1, outer_rows);
}

void
ckpt_mat_outer_add(struct ckpt_team *team, double *g, const double *x,
	const double *d, size_t tokens, size_t in, size_t out)
{
	const struct product p = { g, x, d, tokens, in, out, 1, tokens, true };

	share(team, &p, in, 1, outer_rows);
}
