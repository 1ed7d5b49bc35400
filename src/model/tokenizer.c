/* SPDX-License-Identifier: MIT */
/*
 * Tokenizers (tokenizer and generation, sections 1 and 2). Pairs are stored in
 * training space, where ids are smaller by two: bytes from 0, merges from 256.
 *
 * A merge refers to lower ranks only, which is checked when a file is read, so
 * an expansion ends. It is walked with a stack of our own that holds, for each
 * level that was gone down, the right half still to come.
 */
#include "model/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static uint64_t
merges_of(const struct ckpt_tokenizer *t)
{
	return t->npieces ? t->pieces[0].len / 8 : 0;
}

/* Token id of one side of a merge. */
static uint32_t
side_of(const struct ckpt_tokenizer *t, uint64_t rank, unsigned side)
{
	return ckpt_load_u32(t->pieces[0].data + 8 * rank + 4 * side) +
	       CKPT_TOKEN_BYTES;
}

/* ---- encoding ----------------------------------------------------------- */

/* One pass of one rank, left to right; matches do not overlap. */
static size_t
merge(uint32_t *ids, size_t n, uint32_t left, uint32_t right, uint32_t id)
{
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		bool match = ids[i] == left && i + 1 < n && ids[i + 1] == right;

		ids[to++] = match ? id : ids[i];
		i += match;
	}
	return to;
}

size_t
ckpt_bpe_encode(const struct ckpt_tokenizer *t, const uint8_t *bytes, size_t n,
	uint32_t *ids)
{
	uint64_t merges = merges_of(t);

	for (size_t i = 0; i < n; i++)
		ids[i] = bytes[i] + (uint32_t)CKPT_TOKEN_BYTES;
	for (uint64_t r = 0; r < merges && n > 1; r++)
		n = merge(ids, n, side_of(t, r, 0), side_of(t, r, 1),
			(uint32_t)(CKPT_TOKEN_MERGES + r));
	return n;
}

size_t
ckpt_bpe_encode_document(const struct ckpt_tokenizer *t, const uint8_t *bytes,
	size_t n, uint32_t *ids)
{
	ids[0] = CKPT_TOKEN_BOS;
	n = 1 + ckpt_bpe_encode(t, bytes, n, ids + 1);
	ids[n] = CKPT_TOKEN_EOS;
	return n + 1;
}

/* ---- decoding ----------------------------------------------------------- */

/* What is still to be expanded, the next one on top. */
struct stack {
	uint32_t *ids;
	size_t n, room;
};

static bool
push(struct stack *s, uint32_t id)
{
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		uint32_t *ids = realloc(s->ids, room * sizeof *ids);

		if (!ids)
			return false;
		s->ids = ids;
		s->room = room;
	}
	s->ids[s->n++] = id;
	return true;
}

/* Appends bytes as far as most allows. */
static enum ckpt_decoding
emit(struct ckpt_buf *out, const void *bytes, uint64_t n, size_t *most)
{
	enum ckpt_decoding done = CKPT_DECODED;

	if (n > *most) {
		n = *most;
		done = CKPT_DECODED_PART;
	}
	ckpt_buf_add(out, bytes, (size_t)n);
	*most -= (size_t)n;
	return out->failed ? CKPT_DECODE_NO_MEMORY : done;
}

/* Appends the expansion of one id that is known not to be a control. */
static enum ckpt_decoding
expand(const struct ckpt_tokenizer *t, struct stack *s, uint32_t id,
	size_t *most, struct ckpt_buf *out)
{
	enum ckpt_decoding done = CKPT_DECODED;

	s->n = 0;
	if (!push(s, id))
		return CKPT_DECODE_NO_MEMORY;
	while (s->n > 0 && done == CKPT_DECODED) {
		uint8_t byte;

		id = s->ids[--s->n];
		if (id >= CKPT_TOKEN_MERGES) {
			uint64_t rank = id - CKPT_TOKEN_MERGES;

			if (!push(s, side_of(t, rank, 1)) ||
				!push(s, side_of(t, rank, 0)))
				return CKPT_DECODE_NO_MEMORY;
			continue;
		}
		byte = (uint8_t)(id - CKPT_TOKEN_BYTES);
		done = emit(out, &byte, 1, most);
	}
	return done;
}

/* Controls are looked for in the whole list before unknown ids are. */
static enum ckpt_decoding
judge(const struct ckpt_tokenizer *t, const uint32_t *ids, size_t n,
	struct ckpt_decode_fault *fault)
{
	for (size_t i = 0; t->kind == CKPT_BYTE_BPE && i < n; i++)
		if (ids[i] < CKPT_TOKEN_BYTES) {
			*fault = (struct ckpt_decode_fault){ i, ids[i] };
			return CKPT_DECODE_CONTROL;
		}
	for (size_t i = 0; i < n; i++)
		if (ids[i] >= t->vocabulary) {
			*fault = (struct ckpt_decode_fault){ i, ids[i] };
			return CKPT_DECODE_UNKNOWN;
		}
	return CKPT_DECODED;
}

enum ckpt_decoding
ckpt_decode_content(const struct ckpt_tokenizer *t, const uint32_t *ids,
	size_t n, size_t most, struct ckpt_buf *out,
	struct ckpt_decode_fault *fault)
{
	struct stack s = { 0 };
	enum ckpt_decoding done = judge(t, ids, n, fault);

	for (size_t i = 0; i < n && done == CKPT_DECODED; i++) {
		const struct ckpt_tensor *piece = &t->pieces[ids[i]];

		if (t->kind == CKPT_LITERAL)
			done = emit(out, piece->data, piece->len, &most);
		else
			done = expand(t, &s, ids[i], &most, out);
	}
	free(s.ids);
	return done;
}

enum ckpt_decoding
ckpt_decode_document(const struct ckpt_tokenizer *t, const uint32_t *ids,
	size_t n, size_t most, struct ckpt_buf *out,
	struct ckpt_decode_fault *fault)
{
	enum ckpt_decoding done;

	*fault = (struct ckpt_decode_fault){ 0 };
	if (n < 2)
		return CKPT_DECODE_TOO_FEW;
	if (ids[0] != CKPT_TOKEN_BOS) {
		fault->id = ids[0];
		return CKPT_DECODE_NO_BOS;
	}
	if (ids[n - 1] != CKPT_TOKEN_EOS) {
		*fault = (struct ckpt_decode_fault){ n - 1, ids[n - 1] };
		return CKPT_DECODE_NO_EOS;
	}
	done = ckpt_decode_content(t, ids + 1, n - 2, most, out, fault);
	/* Positions are those in the document. */
	if (done == CKPT_DECODE_CONTROL || done == CKPT_DECODE_UNKNOWN)
		fault->position++;
	return done;
}
