/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_TOKENIZER_H
#define CKPT_MODEL_TOKENIZER_H

/*
 * Text to token ids and back. Ids of a byte-BPE tokenizer: the two controls,
 * then 256 bytes, then the merges by rank. A literal tokenizer has only its
 * pieces: no controls, and nothing that encodes.
 */

#include "base/buf.h"
#include "model/state.h"

enum {
	CKPT_TOKEN_BOS = 0,
	CKPT_TOKEN_EOS = 1,
	CKPT_TOKEN_BYTES = 2,    /* the id of byte 0 */
	CKPT_TOKEN_MERGES = 258, /* the id of merge 0 */
};

/* Encodes n bytes of any kind into ids, which has room for n of them, and
 * returns how many there are. BYTE_BPE only; the values of the tokenizer lie
 * in memory. */
size_t ckpt_bpe_encode(const struct ckpt_tokenizer *tokenizer,
	const uint8_t *bytes, size_t n, uint32_t *ids);

/* The same between the two controls; room for n + 2. */
size_t ckpt_bpe_encode_document(const struct ckpt_tokenizer *tokenizer,
	const uint8_t *bytes, size_t n, uint32_t *ids);

enum ckpt_decoding {
	CKPT_DECODED,
	CKPT_DECODED_PART,   /* cut after the most bytes that were allowed */
	CKPT_DECODE_TOO_FEW, /* a document has at least two tokens */
	CKPT_DECODE_NO_BOS,  /* the first is not BOS */
	CKPT_DECODE_NO_EOS,  /* the last is not EOS */
	CKPT_DECODE_CONTROL, /* a control where content has to be */
	CKPT_DECODE_UNKNOWN, /* an id that the vocabulary does not have */
	CKPT_DECODE_NO_MEMORY,
};

/* The token at fault, of those handed in. */
struct ckpt_decode_fault {
	size_t position;
	uint32_t id;
};

/* Appends the bytes of n ids to out, no more than most of them: merges can
 * double with every rank, so a few ids may stand for more bytes than there is
 * memory. A literal tokenizer has no controls and decodes by concatenation;
 * documents are for byte-BPE. Bytes need not be UTF-8. Nothing is appended
 * when the ids are refused. */
enum ckpt_decoding ckpt_decode_content(const struct ckpt_tokenizer *tokenizer,
	const uint32_t *ids, size_t n, size_t most, struct ckpt_buf *out,
	struct ckpt_decode_fault *fault);
enum ckpt_decoding ckpt_decode_document(const struct ckpt_tokenizer *tokenizer,
	const uint32_t *ids, size_t n, size_t most, struct ckpt_buf *out,
	struct ckpt_decode_fault *fault);

#endif
