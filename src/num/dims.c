/* SPDX-License-Identifier: MIT */
/*
 * Places of parameters in their one array (format section 2, "record order").
 */
#include "num/dims.h"

size_t
ckpt_dims_kv_width(const struct ckpt_dims *m)
{
	return m->kv_heads ? m->width / m->heads * m->kv_heads : m->width;
}

size_t
ckpt_dims_block_scalars(const struct ckpt_dims *m)
{
	return 2 * m->width + 2 * m->width * m->width +
	       2 * m->width * ckpt_dims_kv_width(m) + 3 * m->width * m->hidden;
}

size_t
ckpt_dims_scalars(const struct ckpt_dims *m)
{
	return m->vocab * m->width + m->layers * ckpt_dims_block_scalars(m) +
	       m->width;
}

struct ckpt_block
ckpt_dims_block(const struct ckpt_dims *m, double *p, size_t layer)
{
	size_t dd = m->width * m->width, df = m->width * m->hidden;
	size_t dk = m->width * ckpt_dims_kv_width(m);
	struct ckpt_block b;

	p += m->vocab * m->width + layer * ckpt_dims_block_scalars(m);
	b.attention_norm = p;
	b.query = b.attention_norm + m->width;
	b.key = b.query + dd;
	b.value = b.key + dk;
	b.output = b.value + dk;
	b.ffn_norm = b.output + dd;
	b.gate = b.ffn_norm + m->width;
	b.up = b.gate + df;
	b.down = b.up + df;
	return b;
}

double *
ckpt_dims_final(const struct ckpt_dims *m, double *p)
{
	return p + m->vocab * m->width + m->layers * ckpt_dims_block_scalars(m);
}
