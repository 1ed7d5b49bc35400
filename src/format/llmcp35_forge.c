/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35 for the editor of files: where the extents stand, what a record's
 * elements are, and how records follow each other once their payloads have
 * changed (format section 1: first offset = header_bytes, each next one where
 * the one before it ends).
 */
#include "format/llmcp35.h"

static void
tensor(const void *root, uint64_t record, struct ckpt_draft_tensor *tensor)
{
	const struct llmcp35_file *file = root;
	const struct llmcp35_record *r = &LLMCP35_RECORDS(file)[record];
	enum ckpt_type type = CKPT_REC;

	if (r->dtype == LLMCP35_U8)
		type = CKPT_U8;
	else if (r->dtype == LLMCP35_U32)
		type = CKPT_U32;
	else if (r->dtype == LLMCP35_F64)
		type = CKPT_F64;
	*tensor = (struct ckpt_draft_tensor){ type, LLMCP35_DIMS(r), r->dims.n,
		r->offset, r->byte_length };
}

/* The first dimension that gives len bytes, if there is one. */
static void
resize(struct llmcp35_record *r, uint64_t len)
{
	struct llmcp35_record row = *r;
	uint64_t *dims = r->dims.p;
	uint64_t one, bytes;

	if (r->dims.n == 0)
		return;
	row.dims.p = dims + 1;
	row.dims.n--;
	if (llmcp35_required(&row, &one) && one > 0 && len % one == 0 &&
		!(llmcp35_required(r, &bytes) && bytes == len))
		dims[0] = len / one;
}

static void
relayout(void *root, const uint64_t *len, const bool *fresh)
{
	struct llmcp35_file *file = root;
	struct llmcp35_fixed_header *fixed = &file->fixed_header;
	struct llmcp35_record *records = LLMCP35_RECORDS(file);

	fixed->header_bytes = ckpt_record_wire(&llmcp35_file_rec, file);
	fixed->payload_bytes = 0;
	file->header.counts.descriptors = file->records.n;
	for (uint32_t i = 0; i < file->records.n; i++) {
		if (fresh[i])
			resize(&records[i], len[i]);
		records[i].offset = fixed->header_bytes + fixed->payload_bytes;
		records[i].byte_length = len[i];
		fixed->payload_bytes += len[i];
	}
}

const struct ckpt_draft_rules llmcp35_draft_rules = {
	.header_extent = "fixed_header.header_bytes",
	.payload_extent = "fixed_header.payload_bytes",
	.tensor = tensor,
	.relayout = relayout,
};
