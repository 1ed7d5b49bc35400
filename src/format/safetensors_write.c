/* SPDX-License-Identifier: MIT */
/*
 * The writer. The header is made in memory, since its length stands in front
 * of it; the tensors' bytes pass by in pieces. Order is bytewise, of names as
 * of keys, so nothing depends on who made the meaning.
 */
#include "format/safetensors_write.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/sort.h"
#include "base/try.h"
#include "diag/diag.h"

enum { ALIGN = 8, STEP = 64 * 1024 };

static void
add_string(struct ckpt_buf *json, const struct ckpt_name *text)
{
	size_t from = 0;

	ckpt_buf_puts(json, "\"");
	for (size_t i = 0; i < text->n; i++) {
		uint8_t c = text->p[i];

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		ckpt_buf_add(json, text->p + from, i - from);
		if (c < ' ')
			ckpt_buf_printf(json, "\\u%04x", c);
		else
			ckpt_buf_printf(json, "\\%c", c);
		from = i + 1;
	}
	ckpt_buf_add(json, text->p + from, text->n - from);
	ckpt_buf_puts(json, "\"");
}

static int
by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const struct safetensors_pair *pairs = ctx;

	return ckpt_bytes_compare(
		pairs[a].key.p, pairs[a].key.n, pairs[b].key.p, pairs[b].key.n);
}

static int
by_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct safetensors_part *parts = ctx;
	const struct ckpt_name *na = &parts[a].tensor.name;
	const struct ckpt_name *nb = &parts[b].tensor.name;

	return ckpt_bytes_compare(na->p, na->n, nb->p, nb->n);
}

static bool
add_metadata(const struct safetensors_meaning *m, struct ckpt_arena *arena,
	struct ckpt_buf *json)
{
	uint32_t *order = ckpt_sorted(arena, m->nmetadata, by_key, m->metadata);

	if (!order)
		return false;
	ckpt_buf_puts(json, "\"__metadata__\":{");
	for (uint32_t i = 0; i < m->nmetadata; i++) {
		const struct safetensors_pair *pair = &m->metadata[order[i]];

		ckpt_buf_puts(json, i ? "," : "");
		add_string(json, &pair->key);
		ckpt_buf_puts(json, ":");
		add_string(json, &pair->value);
	}
	ckpt_buf_puts(json, "}");
	return true;
}

static void
add_part(struct ckpt_buf *json, const struct safetensors_part *part,
	uint64_t begin, uint64_t end)
{
	const struct ckpt_tensor *t = &part->tensor;

	add_string(json, &t->name);
	ckpt_buf_printf(
		json, ":{\"dtype\":\"%s\",\"shape\":[", part->dtype->name);
	for (uint32_t i = 0; i < t->rank; i++)
		ckpt_buf_printf(json, "%s%llu", i ? "," : "",
			(unsigned long long)t->dims[i]);
	ckpt_buf_printf(json, "],\"data_offsets\":[%llu,%llu]}",
		(unsigned long long)begin, (unsigned long long)end);
}

/* The header with its length in front. */
static enum ckpt_status
make_header(const struct safetensors_meaning *m, const uint32_t *order,
	struct ckpt_arena *arena, struct ckpt_buf *json)
{
	uint8_t length[ALIGN] = { 0 };
	uint64_t at = 0, end;

	ckpt_buf_add(json, length, sizeof length);
	ckpt_buf_puts(json, "{");
	if (m->nmetadata > 0 && !add_metadata(m, arena, json))
		return ckpt_arena_status(arena);
	for (uint32_t i = 0; i < m->nparts; i++) {
		const struct safetensors_part *part = &m->parts[order[i]];

		if (!ckpt_add_u64(at, part->tensor.len, &end))
			return CKPT_REJECTED;
		ckpt_buf_puts(json, i || m->nmetadata ? "," : "");
		add_part(json, part, at, end);
		at = end;
	}
	ckpt_buf_puts(json, "}");
	while (json->n % ALIGN != 0 && !json->failed)
		ckpt_buf_puts(json, " ");
	if (json->failed)
		return CKPT_ENOMEM;
	ckpt_store_u64(length, json->n - sizeof length);
	memcpy(json->p, length, sizeof length);
	return CKPT_OK;
}

static enum ckpt_status
write_values(
	const struct ckpt_tensor *t, uint8_t *piece, struct ckpt_writer *writer)
{
	if (t->data)
		return t->len ? writer->write(writer, t->data, (size_t)t->len)
			      : CKPT_OK;
	for (uint64_t at = 0; at < t->len;) {
		size_t n = t->len - at < STEP ? (size_t)(t->len - at) : STEP;

		t->fill(t->fill_ctx, t, at, piece, n);
		CKPT_TRY(writer->write(writer, piece, n));
		at += n;
	}
	return CKPT_OK;
}

enum ckpt_status
safetensors_write(const struct safetensors_meaning *m, struct ckpt_arena *arena,
	struct ckpt_writer *writer)
{
	uint32_t *order = ckpt_sorted(arena, m->nparts, by_name, m->parts);
	uint8_t *piece = ckpt_arena_alloc(arena, STEP);
	struct ckpt_buf json;
	enum ckpt_status status;

	if (!order || !piece)
		return ckpt_arena_status(arena);
	ckpt_buf_init(&json);
	status = make_header(m, order, arena, &json);
	if (status == CKPT_OK)
		status = writer->write(writer, json.p, json.n);
	ckpt_buf_release(&json);
	for (uint32_t i = 0; i < m->nparts && status == CKPT_OK; i++)
		status =
			write_values(&m->parts[order[i]].tensor, piece, writer);
	writer->label = ckpt_v_none();
	return status;
}
