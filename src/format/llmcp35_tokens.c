/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: what the tokenizer records hold (format section 6: D3, D6), judged
 * while the payload streams by. Of a literal token no more is kept than its
 * bytes or, when it is longer than its SHA-256, that digest: a repeat decides
 * the verdict, so a digest that can be made to collide would not do. Of merges
 * the pairs are kept. Expansions are never built: n merges can expand to 2^n
 * bytes, and no limit on them exists.
 */
#include "format/llmcp35.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/sort.h"

enum { DIGEST = 32 };

struct piece {
	const uint8_t *kept; /* n bytes, or the digest if n > DIGEST */
	uint32_t n;          /* DIGEST + 1 for all that are longer */
	uint32_t record;
};

struct llmcp35_tokens {
	/* The record being read. */
	uint64_t have; /* bytes of it so far */
	uint8_t carry[DIGEST];
	EVP_MD_CTX *md; /* of a long token */
	bool odd;       /* a record of it could not be read as its kind */
	/* Literal. */
	struct piece *pieces;
	uint32_t npieces;
	/* Byte-BPE. */
	uint64_t *pairs; /* left << 32 | right */
	uint64_t npairs;
	uint64_t unknown; /* merges with an unknown operand */
	uint64_t unknown_rank;
	unsigned unknown_side;
	uint32_t unknown_id;
};

enum ckpt_status
llmcp35_tokens_begin(struct llmcp35_judge *j)
{
	j->tokens = ckpt_arena_zalloc(&j->run->arena, sizeof *j->tokens);
	return j->tokens ? CKPT_OK : ckpt_run_memory(j->run);
}

void
llmcp35_tokens_release(struct llmcp35_judge *j)
{
	if (j->tokens)
		EVP_MD_CTX_free(j->tokens->md);
}

/* ---- literal ------------------------------------------------------------ */

static enum ckpt_status
start_digest(struct llmcp35_tokens *t)
{
	if (!t->md && !(t->md = EVP_MD_CTX_new()))
		return CKPT_ENOMEM;
	return EVP_DigestInit_ex(t->md, EVP_sha256(), NULL) == 1 &&
			       EVP_DigestUpdate(t->md, t->carry, DIGEST) == 1
		       ? CKPT_OK
		       : CKPT_ENOMEM;
}

static enum ckpt_status
literal_data(struct llmcp35_tokens *t, const uint8_t *p, size_t n)
{
	if (t->have < DIGEST) {
		size_t k = DIGEST - (size_t)t->have;

		if (k > n)
			k = n;
		memcpy(t->carry + t->have, p, k);
		t->have += k;
		p += k;
		n -= k;
	}
	if (n == 0)
		return CKPT_OK;
	if (t->have == DIGEST && start_digest(t) != CKPT_OK)
		return CKPT_ENOMEM;
	t->have += n;
	return EVP_DigestUpdate(t->md, p, n) == 1 ? CKPT_OK : CKPT_ENOMEM;
}

static enum ckpt_status
literal_end(struct llmcp35_judge *j, uint64_t record)
{
	struct llmcp35_tokens *t = j->tokens;
	struct ckpt_arena *arena = &j->run->arena;
	size_t keep = t->have < DIGEST ? (size_t)t->have : DIGEST;
	struct piece *pieces =
		ckpt_arena_push(arena, t->pieces, t->npieces, sizeof *pieces);
	uint8_t *kept = ckpt_arena_bytes(arena, keep);

	if (!pieces || !kept)
		return ckpt_run_memory(j->run);
	if (t->have > DIGEST && EVP_DigestFinal_ex(t->md, t->carry, NULL) != 1)
		return CKPT_ENOMEM;
	memcpy(kept, t->carry, keep);
	t->pieces = pieces;
	pieces[t->npieces++] = (struct piece){ kept,
		t->have > DIGEST ? DIGEST + 1 : (uint32_t)t->have,
		(uint32_t)record };
	t->have = 0;
	return CKPT_OK;
}

static int
by_piece(const void *ctx, uint32_t a, uint32_t b)
{
	const struct piece *x = (const struct piece *)ctx + a;
	const struct piece *y = (const struct piece *)ctx + b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return memcmp(x->kept, y->kept, x->n < DIGEST ? x->n : DIGEST);
}

static enum ckpt_status
judge_pieces(struct llmcp35_judge *j)
{
	struct llmcp35_tokens *t = j->tokens;
	uint32_t *order =
		ckpt_sorted(&j->run->arena, t->npieces, by_piece, t->pieces);
	uint64_t first = UINT64_MAX, earlier = 0, count = 0;

	if (!order)
		return ckpt_run_memory(j->run);
	for (uint32_t i = 1; i < t->npieces; i++) {
		const struct piece *p = &t->pieces[order[i]];

		if (by_piece(t->pieces, order[i - 1], order[i]) != 0)
			continue;
		count++;
		if (p->record < first) {
			first = p->record;
			earlier = t->pieces[order[i - 1]].record;
		}
	}
	if (count == 0)
		return CKPT_OK;
	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = CKPT_D_TOKEN_REPEATED,
			.unit = CKPT_UNIT_LAST,
			.path = ckpt_walk_text(&j->walk, "records[%llu].data",
				(unsigned long long)first),
			.placed = true,
			.off = LLMCP35_RECORDS(j->file)[first].offset,
			.len = LLMCP35_RECORDS(j->file)[first].byte_length,
			.expected = ckpt_v_text("each token once"),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				"token %llu is token %llu again",
				(unsigned long long)first,
				(unsigned long long)earlier)),
			.count = count,
		});
	return CKPT_OK;
}

/* ---- byte-BPE ----------------------------------------------------------- */

static enum ckpt_status
add_pair(struct llmcp35_judge *j, const uint8_t *p)
{
	struct llmcp35_tokens *t = j->tokens;
	uint32_t left = ckpt_load_u32(p), right = ckpt_load_u32(p + 4);
	uint64_t known = CKPT_BPE_BYTES + t->npairs;
	uint64_t *pairs = ckpt_arena_push(
		&j->run->arena, t->pairs, t->npairs, sizeof *pairs);

	if (!pairs)
		return ckpt_run_memory(j->run);
	if ((left >= known || right >= known) && t->unknown++ == 0) {
		t->unknown_rank = t->npairs;
		t->unknown_side = left >= known ? 0 : 1;
		t->unknown_id = left >= known ? left : right;
	}
	t->pairs = pairs;
	pairs[t->npairs++] = (uint64_t)left << 32 | right;
	return CKPT_OK;
}

static enum ckpt_status
bpe_data(struct llmcp35_judge *j, const uint8_t *p, size_t n)
{
	struct llmcp35_tokens *t = j->tokens;
	enum ckpt_status status = CKPT_OK;

	/* Merges straddle the pieces in which the payload arrives. */
	while (n > 0 && t->have > 0) {
		t->carry[t->have++] = *p++;
		n--;
		if (t->have < 8)
			continue;
		t->have = 0;
		status = add_pair(j, t->carry);
		if (status != CKPT_OK)
			return status;
	}
	for (; n >= 8; p += 8, n -= 8) {
		status = add_pair(j, p);
		if (status != CKPT_OK)
			return status;
	}
	if (n > 0)
		memcpy(t->carry, p, n);
	t->have += n;
	return CKPT_OK;
}

static int
by_value(const void *pa, const void *pb)
{
	uint64_t a, b;

	memcpy(&a, pa, sizeof a);
	memcpy(&b, pb, sizeof b);
	return (a > b) - (a < b);
}

/* The first rank whose pair an earlier rank has, of at least two: the pairs
 * are walked in order until one is met for the second time, at the latest at
 * the last. Of equal values the search gives always the same. */
static uint64_t
first_repeat(
	const struct llmcp35_tokens *t, const uint64_t *sorted, uint8_t *seen)
{
	uint64_t r = 0;

	for (; r < t->npairs - 1; r++) {
		const uint64_t *at = bsearch(&t->pairs[r], sorted,
			(size_t)t->npairs, sizeof *sorted, by_value);

		if (seen[at - sorted]++)
			break;
	}
	return r;
}

static void
report_merge(struct llmcp35_judge *j, enum ckpt_code code, uint64_t rank,
	unsigned side, unsigned elements, const char *expected,
	const char *found, uint64_t count)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[0];

	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = code,
			.unit = rank,
			.path = ckpt_walk_text(&j->walk,
				"records[0].data[%llu,%u]",
				(unsigned long long)rank, side),
			.placed = true,
			.off = r->offset + rank * 8 + side * 4,
			.len = elements * 4,
			.expected = ckpt_v_text(expected),
			.found = ckpt_v_text(found),
			.note = ckpt_walk_text(&j->walk, "merge rank %llu",
				(unsigned long long)rank),
			.count = count,
		});
}

static enum ckpt_status
judge_repeated_pairs(struct llmcp35_judge *j)
{
	struct llmcp35_tokens *t = j->tokens;
	size_t bytes = (size_t)t->npairs * sizeof *t->pairs;
	uint64_t *sorted = ckpt_arena_alloc(&j->run->arena, bytes);
	uint64_t rank, count = 0;
	uint8_t *seen;

	if (!sorted)
		return ckpt_run_memory(j->run);
	if (t->npairs > 0)
		memcpy(sorted, t->pairs, bytes);
	qsort(sorted, (size_t)t->npairs, sizeof *sorted, by_value);
	for (uint64_t i = 1; i < t->npairs; i++)
		count += sorted[i] == sorted[i - 1];
	if (count == 0)
		return CKPT_OK;
	seen = ckpt_arena_zalloc(&j->run->arena, (size_t)t->npairs);
	if (!seen)
		return ckpt_run_memory(j->run);
	rank = first_repeat(t, sorted, seen);
	report_merge(j, CKPT_D_BPE_REPEATED, rank, 0, 2, "each pair once",
		ckpt_walk_text(&j->walk, "(%u, %u) again",
			(unsigned)(t->pairs[rank] >> 32),
			(unsigned)(t->pairs[rank] & UINT32_MAX)),
		count);
	return CKPT_OK;
}

static enum ckpt_status
judge_merges(struct llmcp35_judge *j)
{
	struct llmcp35_tokens *t = j->tokens;

	if (t->unknown)
		report_merge(j, CKPT_D_BPE_OPERAND, t->unknown_rank,
			t->unknown_side, 1,
			ckpt_walk_text(&j->walk, "an id below %llu",
				(unsigned long long)(CKPT_BPE_BYTES +
						     t->unknown_rank)),
			ckpt_walk_text(&j->walk, "%u", t->unknown_id),
			t->unknown);
	return judge_repeated_pairs(j);
}

/* ---- both --------------------------------------------------------------- */

static bool
is_bpe(const struct llmcp35_judge *j)
{
	return j->file->header.tokenizer_kind == LLMCP35_KIND_BPE;
}

/* Only a record of the right kind is read as tokens. */
static bool
readable(const struct llmcp35_judge *j, uint64_t record)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[record];

	if (is_bpe(j))
		return r->dtype == LLMCP35_U32 && r->dims.n == 2 &&
		       LLMCP35_DIMS(r)[1] == 2;
	return r->dtype == LLMCP35_U8;
}

enum ckpt_status
llmcp35_tokens_data(
	struct llmcp35_judge *j, uint64_t record, const uint8_t *p, size_t n)
{
	if (!readable(j, record))
		return CKPT_OK;
	return is_bpe(j) ? bpe_data(j, p, n) : literal_data(j->tokens, p, n);
}

enum ckpt_status
llmcp35_tokens_record_end(struct llmcp35_judge *j, uint64_t record)
{
	if (!readable(j, record)) {
		j->tokens->odd = true;
		return CKPT_OK;
	}
	return is_bpe(j) ? CKPT_OK : literal_end(j, record);
}

enum ckpt_status
llmcp35_tokens_end(struct llmcp35_judge *j)
{
	static const char odd[] =
		"not all tokenizer records could be read as tokens";
	const char *check = is_bpe(j) ? "D6" : "D3";

	ckpt_diags_skipped(&j->run->diags, is_bpe(j) ? "D3" : "D6",
		is_bpe(j) ? "the tokenizer is byte-BPE"
			  : "the tokenizer is literal");
	if (j->tokens->odd)
		ckpt_diags_skipped(&j->run->diags, check, odd);
	else
		ckpt_diags_ran(&j->run->diags, check);
	if (j->ntokenizer == 0)
		ckpt_walk_report(
			&j->walk, &(struct ckpt_report){
					  .code = CKPT_D_NO_TOKENS,
					  .unit = CKPT_UNIT_LAST,
					  .path = "header.tokenizer_vocabulary",
					  .expected = ckpt_v_text("at least 1"),
					  .found = ckpt_v_u64(0),
				  });
	return is_bpe(j) ? judge_merges(j) : judge_pieces(j);
}
