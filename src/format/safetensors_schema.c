/* SPDX-License-Identifier: MIT */
/*
 * Rows of the header. The wire is JSON, so the rows say what the members mean
 * and not how they are stored; nothing is decoded or encoded by them.
 */
#include "format/safetensors.h"

const struct ckpt_field safetensors_entry_fields[] = {
	{ .name = "key",
		.title = "metadata key",
		.type = CKPT_STR,
		.flags = CKPT_IS_JSON,
		.doc = "any text" },
	{ .name = "value",
		.title = "metadata value",
		.type = CKPT_STR,
		.flags = CKPT_IS_JSON,
		.doc = "any text; never anything but text" },
};
static const struct ckpt_record entry_rec = {
	.name = "metadata entry",
	.size = sizeof(struct safetensors_entry),
	.fields = safetensors_entry_fields,
	.nfields = sizeof safetensors_entry_fields /
		   sizeof safetensors_entry_fields[0],
	.doc = "one entry of __metadata__",
};

const struct ckpt_field safetensors_tensor_fields[] = {
	[SAFETENSORS_NAME] = CKPT_FIELD(struct safetensors_tensor, name,
		.title = "tensor name", .flags = CKPT_IS_JSON,
		.doc = "the key: any text, also none; each once"),
	[SAFETENSORS_DTYPE] = { .name = "dtype",
		.title = "tensor dtype",
		.type = CKPT_STR,
		.slot = offsetof(struct safetensors_tensor, name),
		.flags = CKPT_IS_JSON,
		.doc = "type of the elements, by its exact name" },
	[SAFETENSORS_DIMENSION] = CKPT_ARRAY(struct safetensors_tensor, shape,
		shape.n, CKPT_U64, .title = "tensor dimension",
		.flags = CKPT_IS_JSON,
		.doc = "row-major extents; none means one element, a 0 means "
		       "no bytes"),
	[SAFETENSORS_RANGE] = { .name = "data_offsets",
		.title = "tensor range",
		.type = CKPT_U64,
		.slot = offsetof(struct safetensors_tensor, begin),
		.flags = CKPT_IS_JSON | CKPT_IS_OFFSET | CKPT_IS_LENGTH,
		.doc = "first byte, and the one behind the last, counted from "
		       "the end of the header" },
};
static const struct ckpt_record tensor_rec = {
	.name = "tensor",
	.size = sizeof(struct safetensors_tensor),
	.fields = safetensors_tensor_fields,
	.nfields = sizeof safetensors_tensor_fields /
		   sizeof safetensors_tensor_fields[0],
	.doc = "one tensor; an object with exactly these fields",
};

static const struct ckpt_field file_fields[] = {
	CKPT_FIELD(struct safetensors_file, header_bytes,
		.title = "header length", .flags = CKPT_IS_LENGTH,
		.doc = "bytes of JSON text that follow"),
	CKPT_ARRAY(struct safetensors_file, metadata, metadata.n, CKPT_REC,
		.title = "metadata", .rec = &entry_rec,
		.doc = "the object __metadata__; may be null or absent"),
	CKPT_ARRAY(struct safetensors_file, tensors, tensors.n, CKPT_REC,
		.title = "tensors", .rec = &tensor_rec,
		.doc = "every other key of the header"),
};
const struct ckpt_record safetensors_file_rec = {
	.name = "safetensors",
	.size = sizeof(struct safetensors_file),
	.fields = file_fields,
	.nfields = sizeof file_fields / sizeof file_fields[0],
	.doc = "safetensors file",
};

const struct ckpt_field safetensors_syntax_field = {
	.name = "text",
	.title = "JSON text between values",
	.type = CKPT_STR,
	.flags = CKPT_IS_JSON | CKPT_IS_SYNTAX,
	.doc = "braces, field names, commas, white space, and what the format "
	       "does not know",
};
