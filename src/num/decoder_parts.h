/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_DECODER_PARTS_H
#define CKPT_NUM_DECODER_PARTS_H

/* What the files of the decoder share; for nobody else. */

#include "num/attn.h"
#include "num/decoder.h"
#include "num/norm.h"

/* What one block keeps for the backward pass; [N][D] unless said. */
struct ckpt_kept {
	double *x; /* input of the block */
	struct ckpt_norm norm;
	double *h, *q;
	double *k, *v; /* [N][Kd], rows of the cache if there is one */
	double *w;     /* [B][H][T][first + T] */
	double *merged, *u;
	struct ckpt_norm norm2;
	double *h2;
	double *gate, *up, *sig, *s, *p; /* [N][F] */
};

/* Everything of one pass, carved from the caller's space. */
struct ckpt_decoding {
	const struct ckpt_dims *m;
	double *parameters;
	const struct ckpt_batch *batch;
	size_t n;                        /* rows: B x T */
	size_t first;                    /* position of the first token */
	const struct ckpt_cache *cache;  /* of those before; NULL: none */
	const struct ckpt_dropout *drop; /* NULL: none */
	bool add;        /* gradients are added to, and never a fault */
	double *sn, *cs; /* [T][pairs] */
	double *base;    /* of the blocks' space */
	size_t stride;   /* doubles of a block; 0: all share one */
	double *inputs;  /* [L][N][D] of the blocks, to compute them again */
	double *x;       /* [N][D] */
	struct ckpt_norm final;
	double *y;  /* [N][D] */
	double *t1; /* [N][D] */
	/* Backward only. */
	double *dx, *t2, *t3; /* [N][D] */
	double *dm;           /* [2][N][D] */
	double *dp, *du;      /* [N][F] */
	double *scores;       /* [2][T][T] */
	double *dk1, *dv1;    /* [T][d] of one head */
	double *rows, *gain;  /* [N][D] and [D] of gradients */
	struct ckpt_not_finite *fault;
};

/* Carves the space; first, cache, drop, add and fault are the caller's to set
 * before. */
void ckpt_decoding_carve(
	struct ckpt_decoding *s, double *space, enum ckpt_pass pass);

struct ckpt_kept ckpt_decoding_kept(
	const struct ckpt_decoding *s, size_t layer);

/* Head h of batch row b. */
struct ckpt_head ckpt_decoding_head(const struct ckpt_decoding *s,
	const struct ckpt_kept *k, size_t layer, size_t b, size_t h);

/* True if n values are finite; otherwise the fault says which is not. */
bool ckpt_decoding_finite(const struct ckpt_decoding *s, const char *operation,
	size_t layer, const double *p, size_t n);

/* False, with a fault that has no value. */
bool ckpt_decoding_broken(const struct ckpt_decoding *s, const char *operation,
	size_t layer, size_t at);

/* Rotates, or back, heads vectors of each row. */
void ckpt_decoding_rotate(
	const struct ckpt_decoding *s, double *x, size_t heads, bool inverse);

/* From the ids to x; from x through all blocks to y; from y to logits. */
void ckpt_decoding_embed(struct ckpt_decoding *s);
bool ckpt_decoding_features(struct ckpt_decoding *s);
bool ckpt_decoding_logits(const struct ckpt_decoding *s, double *logits);

/* Computes again what the block keeps, from inputs. */
void ckpt_decoding_again(struct ckpt_decoding *s, size_t layer);

/* The first dropout word of a block's site (0: attention, 1: feed-forward),
 * counted from the pass's first. */
static inline uint64_t
ckpt_decoding_word(const struct ckpt_decoding *s, size_t layer, unsigned site)
{
	return (2 * (uint64_t)layer + site) * s->n * s->m->width;
}

#endif
