/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: from a decoded file to a neutral state and back (format section
 * 7). Encoding fills the decoded structure and lets the emitter write it by
 * the same rows: first with offsets from zero, to learn how long the header
 * is, then as it stays. The checksum is known last and patched in.
 */
#include "format/llmcp35.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/try.h"
#include "wire/emit.h"

/* ---- bind --------------------------------------------------------------- */

struct payload {
	const uint8_t *p;
	uint64_t n;
	uint64_t begin; /* file offset of p */
};

static bool
bind_tensor(const struct payload *payload, const struct llmcp35_record *r,
	struct ckpt_tensor *tensor)
{
	uint64_t at;

	/* guards: tensor->data is read for len bytes. */
	if (!ckpt_sub_u64(r->offset, payload->begin, &at) ||
		!ckpt_within(at, r->byte_length, payload->n))
		return false;
	*tensor = (struct ckpt_tensor){
		.name = { r->name.p, r->name.n },
		.rank = r->dims.n,
		.dims = LLMCP35_DIMS(r),
		.len = r->byte_length,
		.data = payload->p + at,
	};
	return true;
}

/* n tensors, every step-th record from first on. */
static enum ckpt_status
bind_tensors(struct ckpt_run *run, const struct payload *payload,
	uint64_t first, uint64_t n, unsigned step,
	const struct ckpt_tensor **out)
{
	const struct llmcp35_file *file = run->decoded;
	uint64_t bytes;
	size_t size;
	struct ckpt_tensor *tensors;

	if (!ckpt_mul_u64(n, sizeof *tensors, &bytes) ||
		!ckpt_to_size(bytes, &size) ||
		!(tensors = ckpt_arena_alloc(&run->arena, size)))
		return ckpt_run_memory(run);
	for (uint64_t i = 0; i < n; i++)
		if (!bind_tensor(payload,
			    &LLMCP35_RECORDS(file)[first + i * step],
			    &tensors[i]))
			return CKPT_REJECTED;
	*out = tensors;
	return CKPT_OK;
}

static enum ckpt_status
bind_names(struct ckpt_run *run, const struct ckpt_array *array,
	const struct ckpt_name **out, uint32_t *n)
{
	const struct ckpt_str *str = array->p;
	struct ckpt_name *names =
		ckpt_arena_alloc(&run->arena, (size_t)array->n * sizeof *names);

	if (!names)
		return ckpt_run_memory(run);
	for (uint32_t i = 0; i < array->n; i++)
		names[i] = (struct ckpt_name){ str[i].p, str[i].n };
	*out = names;
	*n = array->n;
	return CKPT_OK;
}

/* What has a twin in the state is copied by the rows; this is the rest. */
static void
bind_settings(const struct llmcp35_header *h, struct ckpt_state *state)
{
	*state = (struct ckpt_state){
		.tokenizer.kind = h->tokenizer_kind == LLMCP35_KIND_BPE
					  ? CKPT_BYTE_BPE
					  : CKPT_LITERAL,
		.groups = h->groups.flag == 1,
	};
	ckpt_twins_bind(&llmcp35_header_rec, h, state);
}

enum ckpt_status
llmcp35_bind(struct ckpt_run *run, const uint8_t *bytes, uint64_t n,
	struct ckpt_state *state)
{
	const struct llmcp35_file *file = run->decoded;
	const struct llmcp35_header *h = &file->header;
	struct payload payload = { bytes, n, file->fixed_header.header_bytes };
	uint64_t tokens = h->tokenizer_kind == LLMCP35_KIND_BPE
				  ? 1
				  : h->tokenizer_vocabulary;
	uint64_t first = tokens + h->counts.parameters;

	bind_settings(h, state);
	state->tokenizer.npieces = tokens;
	CKPT_TRY(bind_tensors(
		run, &payload, 0, tokens, 1, &state->tokenizer.pieces));
	CKPT_TRY(bind_tensors(run, &payload, tokens, h->counts.parameters, 1,
		&state->parameters));
	CKPT_TRY(bind_tensors(
		run, &payload, first, h->counts.optimizer, 2, &state->first));
	CKPT_TRY(bind_tensors(run, &payload, first + 1, h->counts.optimizer, 2,
		&state->second));
	CKPT_TRY(bind_names(
		run, &h->groups.decay, &state->decay, &state->ndecay));
	return bind_names(
		run, &h->groups.no_decay, &state->no_decay, &state->nno_decay);
}

/* ---- encode ------------------------------------------------------------- */

struct encoder {
	const struct ckpt_state *state;
	struct ckpt_arena arena;
	struct llmcp35_file file;
	uint64_t next; /* offset of the next record's payload */
	uint64_t hash;
	struct ckpt_writer *writer;
};

static const uint8_t dtype_of_role[] = {
	[LLMCP35_LITERAL_TOKEN] = LLMCP35_U8,
	[LLMCP35_BPE_PAIRS] = LLMCP35_U32,
	[LLMCP35_PARAMETER] = LLMCP35_F64,
	[LLMCP35_FIRST_MOMENT] = LLMCP35_F64,
	[LLMCP35_SECOND_MOMENT] = LLMCP35_F64,
};

static enum ckpt_status
add_record(struct encoder *e, uint8_t role, const struct ckpt_tensor *tensor)
{
	struct ckpt_array *records = &e->file.records;
	struct llmcp35_record *r =
		ckpt_arena_push(&e->arena, records->p, records->n, sizeof *r);
	uint64_t *dims =
		ckpt_arena_alloc(&e->arena, tensor->rank * sizeof *dims);

	if (!r || !dims)
		return CKPT_ENOMEM;
	if (tensor->rank)
		memcpy(dims, tensor->dims, tensor->rank * sizeof *dims);
	records->p = r;
	r[records->n++] = (struct llmcp35_record){
		.role = role,
		.name = { tensor->name.p, tensor->name.n, tensor->name.n },
		.dtype = dtype_of_role[role],
		.rank = tensor->rank,
		.dims = { dims, tensor->rank, 0 },
		.offset = e->next,
		.byte_length = tensor->len,
	};
	return ckpt_add_u64(e->next, tensor->len, &e->next) ? CKPT_OK
							    : CKPT_REJECTED;
}

static enum ckpt_status
add_tokenizer(struct encoder *e)
{
	const struct ckpt_tokenizer *t = &e->state->tokenizer;

	for (uint64_t i = 0; i < t->npieces; i++) {
		struct ckpt_tensor tensor = t->pieces[i];
		bool bpe = t->kind == CKPT_BYTE_BPE;
		const char *name = bpe ? LLMCP35_BPE_NAME
				       : ckpt_arena_printf(&e->arena, "%llu",
						 (unsigned long long)i);

		if (!name)
			return CKPT_ENOMEM;
		tensor.name = (struct ckpt_name){ (const uint8_t *)name,
			(uint32_t)strlen(name) };
		CKPT_TRY(add_record(e,
			bpe ? LLMCP35_BPE_PAIRS : LLMCP35_LITERAL_TOKEN,
			&tensor));
	}
	return CKPT_OK;
}

static enum ckpt_status
add_records(struct encoder *e)
{
	const struct ckpt_state *s = e->state;

	CKPT_TRY(add_tokenizer(e));
	for (uint32_t i = 0; i < s->nparameters; i++)
		CKPT_TRY(add_record(e, LLMCP35_PARAMETER, &s->parameters[i]));
	for (uint32_t i = 0; i < s->nmoments; i++) {
		CKPT_TRY(add_record(e, LLMCP35_FIRST_MOMENT, &s->first[i]));
		CKPT_TRY(add_record(e, LLMCP35_SECOND_MOMENT, &s->second[i]));
	}
	return CKPT_OK;
}

static enum ckpt_status
fill_names(struct encoder *e, const struct ckpt_name *names, uint32_t n,
	struct ckpt_array *array)
{
	struct ckpt_str *str =
		ckpt_arena_alloc(&e->arena, (size_t)n * sizeof *str);

	if (!str)
		return CKPT_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		str[i] =
			(struct ckpt_str){ names[i].p, names[i].n, names[i].n };
	*array = (struct ckpt_array){ str, n, n };
	return CKPT_OK;
}

static enum ckpt_status
fill_header(struct encoder *e)
{
	const struct ckpt_state *s = e->state;
	struct llmcp35_header *h = &e->file.header;

	*h = (struct llmcp35_header){
		.tokenizer_layout = 1,
		.rng_algorithm = 1,
		.tokenizer_kind = s->tokenizer.kind == CKPT_BYTE_BPE
					  ? LLMCP35_KIND_BPE
					  : LLMCP35_KIND_LITERAL,
		.groups.flag = s->groups ? 1 : 0,
	};
	ckpt_twins_fill(&llmcp35_header_rec, h, s);
	CKPT_TRY(fill_names(e, s->decay, s->ndecay, &h->groups.decay));
	return fill_names(e, s->no_decay, s->nno_decay, &h->groups.no_decay);
}

static enum ckpt_status
put(struct encoder *e, const void *bytes, size_t n)
{
	e->hash = ckpt_fnv1a64(e->hash, bytes, n);
	return e->writer->write(e->writer, bytes, n);
}

static enum ckpt_status
put_tensor(struct encoder *e, const struct ckpt_tensor *tensor)
{
	uint8_t piece[8192];

	if (tensor->data || tensor->len == 0)
		return put(e, tensor->data, (size_t)tensor->len);
	for (uint64_t off = 0; off < tensor->len; off += sizeof piece) {
		uint64_t left = tensor->len - off;
		size_t n = left < sizeof piece ? (size_t)left : sizeof piece;

		tensor->fill(tensor->fill_ctx, tensor, off, piece, n);
		CKPT_TRY(put(e, piece, n));
	}
	return CKPT_OK;
}

static enum ckpt_status
put_payload(struct encoder *e)
{
	const struct ckpt_state *s = e->state;

	for (uint64_t i = 0; i < s->tokenizer.npieces; i++)
		CKPT_TRY(put_tensor(e, &s->tokenizer.pieces[i]));
	for (uint32_t i = 0; i < s->nparameters; i++)
		CKPT_TRY(put_tensor(e, &s->parameters[i]));
	for (uint32_t i = 0; i < s->nmoments; i++) {
		CKPT_TRY(put_tensor(e, &s->first[i]));
		CKPT_TRY(put_tensor(e, &s->second[i]));
	}
	return CKPT_OK;
}

/* Everything but the bytes: the records, and with them the extents. */
static enum ckpt_status
plan(struct encoder *e)
{
	struct llmcp35_fixed_header *f = &e->file.fixed_header;

	*f = (struct llmcp35_fixed_header){
		.magic = { LLMCP35_MAGIC },
		.version = 1,
		.endian = LLMCP35_ENDIAN,
	};
	CKPT_TRY(fill_header(e));
	CKPT_TRY(add_records(e));
	e->file.header.counts.descriptors = e->file.records.n;
	f->header_bytes = ckpt_record_wire(&llmcp35_file_rec, &e->file);
	f->payload_bytes = e->next;
	return CKPT_OK;
}

/* The header as it stays: its own length shifts every offset. */
static enum ckpt_status
put_header(struct encoder *e)
{
	struct llmcp35_record *records = LLMCP35_RECORDS(&e->file);
	struct ckpt_buf buf;
	enum ckpt_status status;

	for (uint32_t i = 0; i < e->file.records.n; i++)
		records[i].offset += e->file.fixed_header.header_bytes;
	ckpt_buf_init(&buf);
	ckpt_emit_record(&buf, &llmcp35_file_rec, &e->file);
	status = buf.failed ? CKPT_ENOMEM : put(e, buf.p, buf.n);
	ckpt_buf_release(&buf);
	return status;
}

static enum ckpt_status
encode(struct encoder *e)
{
	uint8_t checksum[8];

	CKPT_TRY(plan(e));
	CKPT_TRY(put_header(e));
	CKPT_TRY(put_payload(e));
	ckpt_store_u64(checksum, e->hash);
	e->writer->label = ckpt_v_hash(e->hash);
	return e->writer->patch(
		e->writer, LLMCP35_CHECKSUM_AT, checksum, sizeof checksum);
}

enum ckpt_status
llmcp35_encode(const struct ckpt_state *state, struct ckpt_writer *writer)
{
	struct encoder e = {
		.state = state, .writer = writer, .hash = CKPT_FNV1A64_START
	};
	enum ckpt_status status;

	ckpt_arena_init(&e.arena, UINT64_MAX);
	status = encode(&e);
	ckpt_arena_release(&e.arena);
	return status;
}

enum ckpt_status
llmcp35_measure(const struct ckpt_state *state, uint64_t *bytes)
{
	struct encoder e = { .state = state };
	const struct llmcp35_fixed_header *f = &e.file.fixed_header;
	enum ckpt_status status;

	ckpt_arena_init(&e.arena, UINT64_MAX);
	status = plan(&e);
	if (status == CKPT_OK &&
		!ckpt_add_u64(f->header_bytes, f->payload_bytes, bytes))
		status = CKPT_REJECTED;
	ckpt_arena_release(&e.arena);
	return status;
}
