/* SPDX-License-Identifier: MIT */
/*
 * Comparison of states: settings and counters one by one, tensors by their
 * place, values in pieces. Everything is compared even after a difference was
 * found, so that the counts hold; the first one is kept.
 */
#include "forensics/compare.h"

#include <string.h>

#include "base/bytes.h"

enum { PIECE = 4096 };

/* Doubles as whole numbers in their order; both zeros are 2^63. */
static uint64_t
ordinal(uint64_t bits)
{
	const uint64_t sign = (uint64_t)1 << 63;

	return bits & sign ? sign - (bits & ~sign) : sign + bits;
}

static bool
is_number(uint64_t bits)
{
	return (bits & ~((uint64_t)1 << 63)) <= 0x7ff0000000000000u;
}

uint64_t
ckpt_ulps(uint64_t a, uint64_t b)
{
	uint64_t x = ordinal(a), y = ordinal(b);

	if (!is_number(a) || !is_number(b))
		return UINT64_MAX;
	return x > y ? x - y : y - x;
}

/* ---- settings ----------------------------------------------------------- */

static void
note_setting(struct ckpt_comparison *c, const char *name,
	enum ckpt_value_kind kind, uint64_t a, uint64_t b)
{
	struct ckpt_setting_difference *d = &c->settings[c->nsettings];

	if (a == b || c->nsettings == CKPT_COMPARED_SETTINGS)
		return;
	c->nsettings++;
	*d = (struct ckpt_setting_difference){ .name = name };
	d->a.kind = d->b.kind = kind;
	d->a.u64 = a;
	d->b.u64 = b;
}

static void
note_u64(struct ckpt_comparison *c, const char *name, uint64_t a, uint64_t b)
{
	note_setting(c, name, CKPT_V_U64, a, b);
}

static void
note_f64(struct ckpt_comparison *c, const char *name, double a, double b)
{
	note_setting(c, name, CKPT_V_F64, ckpt_f64_bits(a), ckpt_f64_bits(b));
}

static bool
same_names(const struct ckpt_name *a, uint32_t na, const struct ckpt_name *b,
	uint32_t nb)
{
	bool same = na == nb;

	for (uint32_t i = 0; same && i < na; i++)
		same = a[i].n == b[i].n &&
		       (a[i].n == 0 || memcmp(a[i].p, b[i].p, a[i].n) == 0);
	return same;
}

static void
compare_settings(struct ckpt_comparison *c, const struct ckpt_state *a,
	const struct ckpt_state *b)
{
	const struct ckpt_config *x = &a->config, *y = &b->config;
	const struct ckpt_adamw *u = &a->adamw, *v = &b->adamw;

	note_u64(c, "selected_step", a->selected_step, b->selected_step);
	note_u64(c, "optimizer_step", a->optimizer_step, b->optimizer_step);
	note_f64(c, "beta1_power", a->beta1_power, b->beta1_power);
	note_f64(c, "beta2_power", a->beta2_power, b->beta2_power);
	note_setting(c, "sampling_rng_state", CKPT_V_U64, a->sampling_rng_state,
		b->sampling_rng_state);
	note_u64(c, "tokenizer_kind", a->tokenizer.kind, b->tokenizer.kind);
	note_u64(c, "tokenizer_vocabulary", a->tokenizer.vocabulary,
		b->tokenizer.vocabulary);
	note_u64(c, "vocabulary", x->vocabulary, y->vocabulary);
	note_u64(c, "width", x->width, y->width);
	note_u64(c, "heads", x->heads, y->heads);
	note_u64(c, "feed_forward_width", x->feed_forward_width,
		y->feed_forward_width);
	note_u64(c, "layers", x->layers, y->layers);
	note_u64(c, "positions", x->positions, y->positions);
	note_f64(c, "rope_base", x->rope_base, y->rope_base);
	note_f64(c, "rms_epsilon", x->rms_epsilon, y->rms_epsilon);
	note_f64(c, "learning_rate", u->learning_rate, v->learning_rate);
	note_f64(c, "beta1", u->beta1, v->beta1);
	note_f64(c, "beta2", u->beta2, v->beta2);
	note_f64(c, "epsilon", u->epsilon, v->epsilon);
	note_f64(c, "weight_decay", u->weight_decay, v->weight_decay);
	if (a->groups != b->groups ||
		!same_names(a->decay, a->ndecay, b->decay, b->ndecay) ||
		!same_names(
			a->no_decay, a->nno_decay, b->no_decay, b->nno_decay))
		note_setting(c, "parameter_groups", CKPT_V_NONE, 0, 1);
}

/* ---- tensors ------------------------------------------------------------ */

static const uint8_t *
piece_of(const struct ckpt_tensor *t, uint64_t off, size_t n, uint8_t *room)
{
	if (t->data)
		return t->data + off;
	t->fill(t->fill_ctx, t, off, room, n);
	return room;
}

/* The doubles of two pieces that differ somewhere. */
static void
compare_doubles(struct ckpt_comparison *c, struct ckpt_tensor_difference *d,
	bool *found, const uint8_t *a, const uint8_t *b, uint64_t off, size_t n)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t x = ckpt_load_u64(a + i), y = ckpt_load_u64(b + i);
		uint64_t ulps = ckpt_ulps(x, y);

		if (x == y)
			continue;
		c->elements++;
		if (ulps > c->most_ulps)
			c->most_ulps = ulps;
		if (*found)
			continue;
		*found = true;
		d->element = (off + i) / 8;
		d->bits[0] = x;
		d->bits[1] = y;
		d->ulps = ulps;
	}
}

/* Whether values of one length are equal; where they are not goes to d. */
static bool
compare_values(struct ckpt_comparison *c, struct ckpt_tensor_difference *d,
	const struct ckpt_tensor *a, const struct ckpt_tensor *b)
{
	uint8_t room[2][PIECE];
	bool found = false;

	for (uint64_t off = 0; off < a->len;) {
		size_t n =
			a->len - off < PIECE ? (size_t)(a->len - off) : PIECE;
		const uint8_t *p = piece_of(a, off, n, room[0]);
		const uint8_t *q = piece_of(b, off, n, room[1]);
		size_t i = 0;

		if (memcmp(p, q, n) == 0) {
			off += n;
			continue;
		}
		if (d->f64) {
			compare_doubles(c, d, &found, p, q, off, n);
		} else if (!found) {
			while (p[i] == q[i])
				i++;
			found = true;
			d->element = off + i;
			d->bits[0] = p[i];
			d->bits[1] = q[i];
		}
		off += n;
	}
	return !found;
}

static bool
same_shape(const struct ckpt_tensor *a, const struct ckpt_tensor *b)
{
	return a->rank == b->rank && a->len == b->len &&
	       (a->rank == 0 || memcmp(a->dims, b->dims,
					a->rank * sizeof *a->dims) == 0);
}

/* Tensors number i of a role; NULL where there is none. */
static void
compare_tensor(struct ckpt_comparison *c, const char *role, uint64_t i,
	const struct ckpt_tensor *a, const struct ckpt_tensor *b)
{
	struct ckpt_tensor_difference d = {
		.role = role, .index = i, .f64 = strcmp(role, "token") != 0
	};

	d.name = a ? a->name : b->name;
	if (!a || !b)
		d.fault = CKPT_TENSOR_ABSENT;
	else if (!same_names(&a->name, 1, &b->name, 1))
		d.fault = CKPT_TENSOR_NAME;
	else if (!same_shape(a, b))
		d.fault = CKPT_TENSOR_SHAPE;
	else if (compare_values(c, &d, a, b))
		return;
	if (c->tensors++ == 0)
		c->first = d;
}

static const struct ckpt_tensor *
at(const struct ckpt_tensor *tensors, uint64_t n, uint64_t i)
{
	return i < n ? &tensors[i] : NULL;
}

void
ckpt_compare(const struct ckpt_state *a, const struct ckpt_state *b,
	struct ckpt_comparison *c)
{
	const struct ckpt_tokenizer *t = &a->tokenizer, *u = &b->tokenizer;

	memset(c, 0, sizeof *c);
	compare_settings(c, a, b);
	for (uint64_t i = 0; i < t->npieces || i < u->npieces; i++)
		compare_tensor(c, "token", i, at(t->pieces, t->npieces, i),
			at(u->pieces, u->npieces, i));
	for (uint64_t i = 0; i < a->nparameters || i < b->nparameters; i++)
		compare_tensor(c, "parameter", i,
			at(a->parameters, a->nparameters, i),
			at(b->parameters, b->nparameters, i));
	for (uint64_t i = 0; i < a->nmoments || i < b->nmoments; i++) {
		compare_tensor(c, "first moment", i,
			at(a->first, a->nmoments, i),
			at(b->first, b->nmoments, i));
		compare_tensor(c, "second moment", i,
			at(a->second, a->nmoments, i),
			at(b->second, b->nmoments, i));
	}
}

bool
ckpt_comparison_equal(const struct ckpt_comparison *c)
{
	return c->nsettings == 0 && c->tensors == 0;
}
