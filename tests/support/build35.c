/* SPDX-License-Identifier: MIT */
/*
 * The builder of LLMCP35 test files. One call a field, in file order, with
 * the section of the specification it comes from. Nothing here is shared with
 * the code under test, the checksum included.
 */
#include "support/build35.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
grown(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	assert(p);
	return p;
}

static void
put(struct b35 *b, const void *p, size_t n)
{
	if (b->n + n > b->cap) {
		b->cap = (b->n + n) * 2;
		b->bytes = grown(b->bytes, b->cap);
	}
	if (p && n)
		memcpy(b->bytes + b->n, p, n);
	else
		memset(b->bytes + b->n, 0, n);
	b->n += n;
}

static void
put_le(struct b35 *b, uint64_t v, size_t width)
{
	uint8_t raw[8];

	for (size_t i = 0; i < width; i++)
		raw[i] = (uint8_t)(v >> (8 * i));
	put(b, raw, width);
}

static void
put_u8(struct b35 *b, unsigned v)
{
	put_le(b, v, 1);
}

static void
put_u16(struct b35 *b, unsigned v)
{
	put_le(b, v, 2);
}

static void
put_u32(struct b35 *b, uint64_t v)
{
	put_le(b, v, 4);
}

static void
put_u64(struct b35 *b, uint64_t v)
{
	put_le(b, v, 8);
}

static uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, 8);
	return bits;
}

static void
put_f64(struct b35 *b, double x)
{
	put_u64(b, bits_of(x));
}

static uint64_t
told(struct b35_lie lie, uint64_t truth)
{
	return lie.told ? lie.v : truth;
}

static void
put_string(struct b35 *b, const void *p, uint32_t n, struct b35_lie declared)
{
	put_u32(b, told(declared, n));
	if (n)
		put(b, p, n);
}

static void
put_names(struct b35 *b, const struct b35_str *names, uint32_t n,
	struct b35_lie count)
{
	put_u32(b, told(count, n));
	for (uint32_t i = 0; i < n; i++)
		put_string(b, names[i].p, names[i].n, names[i].declared);
}

/* Section 1.1; the extents and the checksum are filled in later. */
static void
put_fixed(struct b35 *b)
{
	put(b, b->magic, 8);    /* 0: magic */
	put_u16(b, b->version); /* 8: schema version */
	put_u32(b, b->endian);  /* 10: endian marker */
	put_u64(b, 0);          /* 14: header_bytes */
	put_u64(b, 0);          /* 22: payload_bytes */
	put_u64(b, 0);          /* 30: checksum */
}

/* Section 1.2 up to the descriptor table. */
static void
put_header(struct b35 *b)
{
	put_u16(b, b->tokenizer_layout);     /* 38: tokenizer layout version */
	put_u16(b, b->rng_algorithm);        /* 40: sampling RNG algorithm */
	put_u64(b, b->selected_step);        /* 42: selected step */
	put_u64(b, b->rng_state);            /* 50: sampling RNG state */
	put_u8(b, b->tokenizer_kind);        /* 58: tokenizer kind */
	put_u64(b, b->tokenizer_vocabulary); /* 59: tokenizer vocabulary */
	put_u64(b, b->vocabulary);           /* 67: decoder vocabulary */
	put_u64(b, b->width);                /* 75: decoder width */
	put_u64(b, b->heads);                /* 83: decoder heads */
	put_u64(b, b->feed_forward);         /* 91: feed-forward width */
	put_u64(b, b->layers);               /* 99: decoder layers */
	put_u64(b, b->positions);            /* 107: decoder positions */
	put_f64(b, b->rope_base);            /* 115: RoPE base */
	put_f64(b, b->rms_epsilon);          /* 123: RMS epsilon */
	put_f64(b, b->learning_rate);        /* 131: learning rate */
	put_f64(b, b->beta1);                /* 139: beta1 */
	put_f64(b, b->beta2);                /* 147: beta2 */
	put_f64(b, b->epsilon);              /* 155: epsilon */
	put_f64(b, b->weight_decay);         /* 163: weight decay */
	put_u8(b, b->groups_flag);           /* 171: optimizer groups flag */
	b->groups_at = b->n;
	b->no_decay_at = b->n;
	if (b->groups_flag == 1) {
		put_names(b, b->decay, b->ndecay, b->decay_count);
		b->no_decay_at = b->n;
		put_names(b, b->no_decay, b->nno_decay, b->no_decay_count);
	}
	b->optimizer_at = b->n;
	put_u64(b, b->optimizer_step); /* +0: optimizer step */
	put_f64(b, b->beta1_power);    /* +8: beta1 power */
	put_f64(b, b->beta2_power);    /* +16: beta2 power */
	put_u32(b, b->parameters);     /* +24: model parameter count */
	put_u32(b, b->optimizer);      /* +28: optimizer state count */
	put_u32(b, told(b->descriptors, b->nrecords)); /* +32: descriptors */
}

/* Section 2. */
static void
put_descriptor(struct b35 *b, struct b35_record *r)
{
	r->at = b->n;
	put_u8(b, r->role);
	put_string(b, r->name, r->name_len, r->name_declared);
	put_u8(b, r->dtype);
	put_u32(b, told(r->rank, r->ndims));
	for (unsigned i = 0; i < r->ndims; i++)
		put_u64(b, r->dims[i]);
	put_u64(b, told(r->offset, r->data_at));
	put_u64(b, told(r->byte_length, r->n));
}

static void
put_descriptors(struct b35 *b)
{
	uint64_t at = b->header_end;

	for (uint32_t i = 0; i < b->nrecords; i++) {
		b->records[i].data_at = at;
		at += b->records[i].n;
		put_descriptor(b, &b->records[i]);
	}
	put(b, NULL, b->extra_header);
}

static void
patch_u64(struct b35 *b, size_t at, uint64_t v)
{
	for (size_t i = 0; i < 8; i++)
		b->bytes[at + i] = (uint8_t)(v >> (8 * i));
}

void
b35_build(struct b35 *b)
{
	/* The header's length does not depend on the offsets in it. */
	for (int pass = 0; pass < 2; pass++) {
		b->n = 0;
		put_fixed(b);
		put_header(b);
		put_descriptors(b);
		b->header_end = b->n;
	}
	for (uint32_t i = 0; i < b->nrecords; i++)
		put(b, b->records[i].payload, (size_t)b->records[i].n);
	patch_u64(b, 14, told(b->header_bytes, b->header_end));
	patch_u64(b, 22, told(b->payload_bytes, b->n - b->header_end));
	b35_seal(b->bytes, b->n);
	if (b->checksum.told)
		patch_u64(b, 30, b->checksum.v);
}

/* Section 4. */
void
b35_seal(uint8_t *bytes, size_t n)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++) {
		uint8_t byte = i >= 30 && i < 38 ? 0 : bytes[i];

		h ^= byte;
		h *= 1099511628211u;
	}
	for (size_t i = 0; i < 8 && n >= 38; i++)
		bytes[30 + i] = (uint8_t)(h >> (8 * i));
}

void
b35_init(struct b35 *b)
{
	*b = (struct b35){
		.magic = { 0x4c, 0x4c, 0x4d, 0x43, 0x50, 0x33, 0x35, 0 },
		.version = 1,
		.endian = 0x01020304,
		.tokenizer_layout = 1,
		.rng_algorithm = 1,
		.rng_state = 42,
		.positions = 8,
		.rope_base = 10000.0,
		.rms_epsilon = 1e-5,
		.learning_rate = 0.01,
		.beta1 = 0.5,
		.beta2 = 0.75,
		.epsilon = 1e-8,
		.weight_decay = 0.1,
		.beta1_power = 1.0,
		.beta2_power = 1.0,
	};
}

void
b35_free(struct b35 *b)
{
	for (uint32_t i = 0; i < b->nrecords; i++)
		free(b->records[i].payload);
	free(b->records);
	free(b->decay);
	free(b->no_decay);
	free(b->bytes);
	memset(b, 0, sizeof *b);
}

void
b35_rename(struct b35_record *r, const void *name, uint32_t n)
{
	assert(n < sizeof r->name);
	if (n)
		memcpy(r->name, name, n);
	r->name[n] = '\0';
	r->name_len = n;
}

struct b35_record *
b35_add(struct b35 *b, unsigned role, const char *name, unsigned dtype,
	unsigned ndims, uint64_t d0, uint64_t d1, uint64_t n)
{
	struct b35_record *r;

	if (b->nrecords == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->records = grown(b->records, b->room * sizeof *b->records);
	}
	r = &b->records[b->nrecords++];
	*r = (struct b35_record){ .role = role,
		.dtype = dtype,
		.ndims = ndims,
		.dims = { d0, d1 },
		.n = n };
	b35_rename(r, name, (uint32_t)strlen(name));
	return r;
}

void
b35_drop(struct b35 *b, uint32_t i)
{
	free(b->records[i].payload);
	memmove(&b->records[i], &b->records[i + 1],
		(b->nrecords - i - 1) * sizeof *b->records);
	b->nrecords--;
}

void
b35_payload(struct b35_record *r, const void *p, uint64_t n)
{
	r->payload = grown(r->payload, (size_t)n);
	if (p)
		memcpy(r->payload, p, (size_t)n);
	else
		memset(r->payload, 0, (size_t)n);
	r->n = n;
}

void
b35_f64_bits(struct b35_record *r, uint64_t i, uint64_t bits)
{
	if (!r->payload)
		b35_payload(r, NULL, r->n);
	for (unsigned k = 0; k < 8; k++)
		r->payload[8 * i + k] = (uint8_t)(bits >> (8 * k));
}

void
b35_f64(struct b35_record *r, uint64_t i, double x)
{
	b35_f64_bits(r, i, bits_of(x));
}

/* Section 3: token i holds its own number and an x. */
void
b35_literal(struct b35 *b, uint32_t tokens)
{
	for (uint32_t i = 0; i < tokens; i++) {
		char name[16], text[16];
		int n = snprintf(text, sizeof text, "%ux", i);
		struct b35_record *r;

		snprintf(name, sizeof name, "%u", i);
		r = b35_add(b, 1, name, 1, 1, (uint64_t)n, 0, 0);
		b35_payload(r, text, (uint64_t)n);
	}
	b->tokenizer_kind = 1;
	b->tokenizer_vocabulary = tokens;
	b->vocabulary = tokens;
}

/* Section 3: rank r joins byte r mod 256 and byte r / 256 mod 256, then ids
 * of earlier merges: every pair is another one. */
void
b35_bpe(struct b35 *b, uint32_t merges)
{
	struct b35_record *r = b35_add(
		b, 2, "training-pairs", 2, 2, merges, 2, 8 * (uint64_t)merges);

	b35_payload(r, NULL, r->n);
	for (uint32_t i = 0; i < merges; i++) {
		uint32_t pair[2] = { i % 256, i / 256 };

		for (unsigned k = 0; k < 8; k++)
			r->payload[8 * (size_t)i + k] =
				(uint8_t)(pair[k / 4] >> (8 * (k % 4)));
	}
	b->tokenizer_kind = 2;
	b->tokenizer_vocabulary = 258 + (uint64_t)merges;
	b->vocabulary = b->tokenizer_vocabulary;
}

static void
add_f64(struct b35 *b, unsigned role, const char *name, unsigned ndims,
	uint64_t d0, uint64_t d1, double x)
{
	uint64_t n = d0 * (ndims == 2 ? d1 : 1);
	struct b35_record *r = b35_add(b, role, name, 3, ndims, d0, d1, 8 * n);

	for (uint64_t i = 0; i < n; i++)
		b35_f64(r, i, x);
}

/* Section 2, record order 2. */
void
b35_model(struct b35 *b, uint64_t D, uint64_t heads, uint64_t F, uint64_t L)
{
	const struct {
		const char *name;
		unsigned ndims;
		uint64_t d0, d1;
	} layer[9] = {
		{ "attention_norm.gain", 1, D, 0 },
		{ "attention.query.weight", 2, D, D },
		{ "attention.key.weight", 2, D, D },
		{ "attention.value.weight", 2, D, D },
		{ "attention.output.weight", 2, D, D },
		{ "ffn_norm.gain", 1, D, 0 },
		{ "ffn.gate.weight", 2, D, F },
		{ "ffn.up.weight", 2, D, F },
		{ "ffn.down.weight", 2, F, D },
	};
	char name[48];

	b->width = D;
	b->heads = heads;
	b->feed_forward = F;
	b->layers = L;
	b->parameters = (uint32_t)(9 * L + 2);
	add_f64(b, 3, "token_embedding.weight", 2, b->vocabulary, D, 0.5);
	for (uint64_t l = 0; l < L; l++)
		for (size_t i = 0; i < 9; i++) {
			snprintf(name, sizeof name, "blocks.%llu.%s",
				(unsigned long long)l, layer[i].name);
			add_f64(b, 3, name, layer[i].ndims, layer[i].d0,
				layer[i].d1, -0.25);
		}
	add_f64(b, 3, "final_norm.gain", 1, D, 0, 1.0);
}

static int
by_name(const void *pa, const void *pb)
{
	const struct b35_record *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

/* Section 2, record order 3, and the powers of section 1.2. */
void
b35_moments(struct b35 *b, uint64_t step)
{
	uint32_t first = b->nrecords - b->parameters;
	size_t bytes = b->parameters * sizeof(struct b35_record);
	struct b35_record *sorted = grown(NULL, bytes);

	memcpy(sorted, b->records + first, bytes);
	qsort(sorted, b->parameters, sizeof *sorted, by_name);
	for (uint32_t i = 0; i < b->parameters; i++)
		for (unsigned role = 4; role <= 5; role++)
			add_f64(b, role, sorted[i].name, sorted[i].ndims,
				sorted[i].dims[0], sorted[i].dims[1],
				role == 4 ? -0.125 : 0.0625);
	free(sorted);
	b->optimizer = b->parameters;
	b->selected_step = b->optimizer_step = step;
	for (uint64_t i = 0; i < step; i++) {
		b->beta1_power *= b->beta1;
		b->beta2_power *= b->beta2;
	}
}

void
b35_small(struct b35 *b)
{
	b35_init(b);
	b35_literal(b, 3);
	b35_model(b, 4, 2, 6, 1);
	b35_moments(b, 2);
}

uint64_t
b35_at_name(const struct b35_record *r)
{
	return r->at + 1; /* behind the role */
}

uint64_t
b35_at_dtype(const struct b35_record *r)
{
	return b35_at_name(r) + 4 + r->name_len;
}

uint64_t
b35_at_rank(const struct b35_record *r)
{
	return b35_at_dtype(r) + 1;
}

uint64_t
b35_at_dim(const struct b35_record *r, unsigned i)
{
	return b35_at_rank(r) + 4 + 8 * (uint64_t)i;
}

uint64_t
b35_at_offset(const struct b35_record *r)
{
	return b35_at_dim(r, r->ndims);
}

uint64_t
b35_at_length(const struct b35_record *r)
{
	return b35_at_offset(r) + 8;
}
