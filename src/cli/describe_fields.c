/* SPDX-License-Identifier: MIT */
/*
 * The rows of a format as one list, in file order, with the path of every
 * field and its offset where no file can have it elsewhere. Used by what is
 * generated from the rows.
 */
#include "cli/describe.h"

struct listing {
	void (*each)(void *ctx, const struct ckpt_described *described);
	void *ctx;
	uint64_t off;
	bool placed;
	unsigned arrays; /* around the field: i, then j */
	bool failed;     /* out of memory */
};

static void list_record(
	struct listing *list, const struct ckpt_record *rec, const char *path);

static void
list_field(struct listing *list, const struct ckpt_record *rec,
	const char *rec_path, const struct ckpt_field *field, const char *path,
	bool is_count)
{
	struct ckpt_described described = {
		.path = path,
		.field = field,
		.rec = rec,
		.rec_path = rec_path,
		.is_count = is_count,
		.placed = list->placed && !field->when.set,
		.off = list->off,
	};
	unsigned width = is_count ? 4 : ckpt_type_width(field->type);

	list->each(list->ctx, &described);
	/* Nothing stands firm behind what may be missing or have any length. */
	if (width == 0 || field->when.set || (field->is_array && !is_count))
		list->placed = false;
	list->off += width;
}

static void
list_array(struct listing *list, const struct ckpt_record *rec,
	const char *rec_path, const struct ckpt_field *field, const char *path)
{
	struct ckpt_buf count, element;

	ckpt_buf_init(&count);
	ckpt_buf_init(&element);
	ckpt_buf_printf(&count, "%s.count", path);
	ckpt_buf_printf(&element, "%s[%c]", path, "ijkl"[list->arrays % 4]);
	if (count.failed || element.failed) {
		list->failed = true;
		goto out;
	}
	if (field->prefixed)
		list_field(list, rec, rec_path, field, count.p, true);
	if (field->type != CKPT_REC) {
		list_field(list, rec, rec_path, field, element.p, false);
		goto out;
	}
	/* Offsets of an element's fields count from its own begin. */
	list->arrays++;
	list->placed = true;
	list->off = 0;
	list_record(list, field->rec, element.p);
	list->placed = false;
	list->arrays--;
out:
	ckpt_buf_release(&count);
	ckpt_buf_release(&element);
}

static void
list_record(
	struct listing *list, const struct ckpt_record *rec, const char *path)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i];
		struct ckpt_buf below;

		ckpt_buf_init(&below);
		ckpt_buf_printf(&below, "%s%s%s", path, path[0] ? "." : "",
			field->name);
		if (below.failed)
			list->failed = true;
		else if (field->is_array)
			list_array(list, rec, path, field, below.p);
		else if (field->type == CKPT_REC)
			list_record(list, field->rec, below.p);
		else
			list_field(list, rec, path, field, below.p, false);
		ckpt_buf_release(&below);
	}
}

bool
ckpt_describe_fields(const struct ckpt_format *format,
	void (*each)(void *ctx, const struct ckpt_described *described),
	void *ctx)
{
	struct listing list = { .each = each, .ctx = ctx, .placed = true };

	list_record(&list, format->root, "");
	return !list.failed;
}
