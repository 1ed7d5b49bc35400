/* SPDX-License-Identifier: MIT */
/*
 * What findings say: paths, names, shapes, pieces of the text. All of it is
 * escaped here and lives until the next report.
 */
#include "format/safetensors.h"

#include <inttypes.h>

enum { SHOWN = 16 };

const char *
safetensors_path(struct safetensors_judge *j, uint64_t i, const char *rest)
{
	return ckpt_walk_text(
		&j->walk, "tensors[%llu]%s", (unsigned long long)i, rest);
}

const char *
safetensors_quote(struct safetensors_judge *j, const struct ckpt_str *name)
{
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_quote(&buf, name->p, name->n);
	text = ckpt_walk_text(&j->walk, "%s", buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
	return text;
}

const char *
safetensors_raw(struct safetensors_judge *j, uint64_t at, uint64_t end)
{
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_escape(
		&buf, j->file->json + at, (size_t)(end - at), CKPT_BUF_SHOWN);
	text = ckpt_walk_text(&j->walk, "%s", buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
	return text;
}

const char *
safetensors_count(struct safetensors_judge *j, uint64_t n, const char *noun)
{
	return ckpt_walk_text(
		&j->walk, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

const char *
safetensors_readers(
	struct safetensors_judge *j, const char *first, const char *last)
{
	return ckpt_walk_text(&j->walk,
		"readers that keep the first load %s, readers that keep the "
		"last load %s",
		first, last);
}

/* Reads the text again from at on, where something is known to stand. */
static void
scan_from(
	const struct safetensors_judge *j, struct ckpt_scan *scan, uint64_t at)
{
	ckpt_scan_init(scan, j->file->json, (size_t)j->file->header_bytes,
		SAFETENSORS_LOADER_DEPTH);
	scan->at = (size_t)at;
}

uint64_t
safetensors_string_end(const struct safetensors_judge *j, uint64_t at)
{
	struct ckpt_scan scan;
	struct ckpt_token token;

	scan_from(j, &scan, at);
	ckpt_scan_next(&scan, &token);
	return token.end;
}

const char *
safetensors_string(struct safetensors_judge *j, uint64_t at)
{
	struct ckpt_scan scan;
	struct ckpt_token token;
	struct ckpt_str text;

	scan_from(j, &scan, at);
	ckpt_scan_next(&scan, &token);
	if (!ckpt_scan_text(&scan, &token, &j->run->texts, &text))
		return "";
	return safetensors_quote(j, &text);
}

uint64_t
safetensors_value_end(const struct safetensors_judge *j, uint64_t at)
{
	struct ckpt_scan scan;
	struct ckpt_token token;

	scan_from(j, &scan, at);
	ckpt_scan_next(&scan, &token);
	(void)ckpt_scan_pass(&scan, &token);
	return token.end;
}

uint64_t
safetensors_value_of(
	const struct safetensors_judge *j, uint64_t at, uint64_t *end)
{
	struct ckpt_scan scan;
	struct ckpt_token token;
	uint64_t begin;

	scan_from(j, &scan, at);
	scan.next = CKPT_SCAN_NAME_OR_END;
	ckpt_scan_next(&scan, &token);
	ckpt_scan_next(&scan, &token);
	begin = token.at;
	(void)ckpt_scan_pass(&scan, &token);
	*end = token.end;
	return begin;
}

const char *
safetensors_shape_text(
	struct safetensors_judge *j, const struct safetensors_tensor *tensor)
{
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_puts(&buf, "[");
	for (uint32_t i = 0; i < tensor->shape.n && i < SHOWN; i++)
		ckpt_buf_printf(&buf, "%s%llu", i ? ", " : "",
			(unsigned long long)SAFETENSORS_SHAPE(tensor)[i]);
	ckpt_buf_puts(&buf, tensor->shape.n > SHOWN ? ", ...]" : "]");
	text = ckpt_walk_text(&j->walk, "%s", buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
	return text;
}

const char *
safetensors_kind_text(enum ckpt_scan_kind kind)
{
	switch (kind) {
	case CKPT_SCAN_OBJECT: return "an object";
	case CKPT_SCAN_ARRAY: return "an array";
	case CKPT_SCAN_STRING: return "a string";
	case CKPT_SCAN_NUMBER: return "a number";
	case CKPT_SCAN_TRUE: return "true";
	case CKPT_SCAN_FALSE: return "false";
	case CKPT_SCAN_NULL: return "null";
	case CKPT_SCAN_KEY:
	case CKPT_SCAN_OBJECT_END:
	case CKPT_SCAN_ARRAY_END:
	case CKPT_SCAN_DONE:
	case CKPT_SCAN_FAULT: break;
	}
	return "nothing";
}
