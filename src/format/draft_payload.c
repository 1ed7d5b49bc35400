/* SPDX-License-Identifier: MIT */
/*
 * Drafts: the payload of a record, as a whole and element by element. A new
 * payload of another length moves what stands behind it in the file and
 * nothing else; only a relayout makes the fields follow.
 */
#include "format/draft_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "wire/literal.h"

/* File offset of a piece; 0 for one that is not laid out yet. */
static uint64_t
piece_offset(const struct ckpt_draft *d, const struct ckpt_draft_piece *piece)
{
	uint64_t at = ckpt_record_wire(d->format->root, d->root);

	for (uint32_t i = 0; i < d->npieces; i++) {
		if (d->pieces[i] == piece)
			return at;
		at += d->pieces[i]->n;
	}
	return 0;
}

/* "[j]" or "[a,b]" up to the '='; the flat number of the element. */
static bool
element_number(const char *text, const struct ckpt_draft_tensor *tensor,
	uint64_t *flat, const char **equals)
{
	char *end;
	uint64_t row;

	*flat = strtoull(text + 1, &end, 10);
	if (*end == ',') {
		row = *flat;
		*flat = strtoull(end + 1, &end, 10);
		if (tensor->rank != 2 || *flat >= tensor->dims[1] ||
			!ckpt_mul_u64(row, tensor->dims[1], &row) ||
			!ckpt_add_u64(row, *flat, flat))
			return false;
	}
	*equals = end + 1;
	return end[0] == ']' && end[1] == '=';
}

static enum ckpt_edit_status
set_element(struct ckpt_draft *d, struct ckpt_draft_piece *piece,
	const struct ckpt_draft_tensor *tensor, const char *text)
{
	unsigned width = ckpt_type_width(tensor->type);
	uint64_t flat, at, bits, old = 0;
	uint8_t *copy;

	if (width == 0)
		return ckpt_draft_bad(
			d, "the record has no known type of elements");
	if (!element_number(text, tensor, &flat, &text) ||
		!ckpt_mul_u64(flat, width, &at) ||
		!ckpt_within(at, width, piece->n))
		return CKPT_EDIT_NO_PATH;
	if (!ckpt_number_read(tensor->type, NULL, text + 1, &bits))
		return ckpt_draft_bad(d, "not a number that fits the element");
	copy = ckpt_arena_bytes(&d->run->arena, (size_t)piece->n + 8);
	if (!copy)
		return CKPT_EDIT_NO_MEMORY;
	memcpy(copy, piece->p, (size_t)piece->n);
	for (unsigned i = 0; i < width; i++) {
		old |= (uint64_t)copy[at + i] << (8 * i);
		copy[at + i] = (uint8_t)(bits >> (8 * i));
	}
	piece->p = copy;
	d->change.off = piece_offset(d, piece) + at;
	d->change.before =
		tensor->type == CKPT_F64 ? ckpt_v_f64(old) : ckpt_v_u64(old);
	d->change.after =
		tensor->type == CKPT_F64 ? ckpt_v_f64(bits) : ckpt_v_u64(bits);
	return CKPT_EDIT_OK;
}

static enum ckpt_edit_status
set_payload(
	struct ckpt_draft *d, struct ckpt_draft_piece *piece, const char *text)
{
	struct ckpt_str bytes;

	if (!ckpt_bytes_read(&d->run->arena, text, &bytes))
		return ckpt_draft_bad(d,
			"neither hex: and pairs of digits nor text with "
			"\\xHH");
	if (!bytes.p)
		return CKPT_EDIT_NO_MEMORY;
	d->change.off = piece_offset(d, piece);
	d->change.before = ckpt_v_bytes(piece->p, (size_t)piece->n);
	d->change.after = ckpt_v_bytes(bytes.p, bytes.n);
	*piece = (struct ckpt_draft_piece){ bytes.p, bytes.n, true };
	return CKPT_EDIT_OK;
}

const char *
ckpt_draft_payload_path(
	const struct ckpt_draft *d, const char *words, uint32_t *record)
{
	size_t n = d->records ? strlen(d->records->name) : 0;
	unsigned long long i;
	char *end;

	if (n == 0 || strncmp(words, d->records->name, n) != 0 ||
		words[n] != '[' || words[n + 1] < '0' || words[n + 1] > '9')
		return NULL;
	i = strtoull(words + n + 1, &end, 10);
	*record = i < d->nown ? (uint32_t)i : UINT32_MAX;
	if (strncmp(end, "].data", 6) != 0 || !strchr("[=", end[6]))
		return NULL;
	return end + 6;
}

enum ckpt_edit_status
ckpt_draft_set_data(struct ckpt_draft *d, uint32_t record, const char *text)
{
	struct ckpt_draft_tensor tensor;

	if (record == UINT32_MAX)
		return CKPT_EDIT_NO_PATH;
	if (!d->own[record])
		return ckpt_draft_bad(d,
			"the record owns no bytes of the payload: its "
			"range lies outside or in that of another");
	if (*text == '=')
		return set_payload(d, d->own[record], text + 1);
	d->format->draft->tensor(d->root, record, &tensor);
	return set_element(d, d->own[record], &tensor, text);
}
