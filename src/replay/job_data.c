/* SPDX-License-Identifier: MIT */
/*
 * The lists of a job file: merges, documents, order. Everything is copied into
 * the job's arena, because the JSON goes.
 */
#include "replay/job_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "model/tokenizer.h"

/* n elements. */
static void *
room(struct ckpt_job_reader *r, size_t n, size_t size)
{
	uint64_t bytes;
	size_t fits;
	void *p = NULL;

	if (ckpt_mul_u64(n, size, &bytes) && ckpt_to_size(bytes, &fits))
		p = ckpt_arena_alloc(&r->job->arena, fits);
	return p;
}

/* ---- merges ------------------------------------------------------------- */

static int
by_pair(const void *ctx, uint32_t a, uint32_t b)
{
	const uint8_t *pairs = ctx;

	return memcmp(pairs + 8 * (size_t)a, pairs + 8 * (size_t)b, 8);
}

static bool
read_pair(struct ckpt_fields *f, const json_t *list, size_t rank, uint8_t *to)
{
	const json_t *pair = json_array_get(list, rank);

	if (json_array_size(pair) != 2)
		return ckpt_fields_refuse(
			f, "merges", "rank %zu is not a pair", rank);
	for (size_t side = 0; side < 2; side++) {
		const json_t *id = json_array_get(pair, side);
		json_int_t x = json_integer_value(id);

		/* guards: below 2^32 because ranks are. */
		if (!json_is_integer(id) || x < 0 ||
			(uint64_t)x >= CKPT_BPE_BYTES + (uint64_t)rank)
			return ckpt_fields_refuse(f, "merges",
				"rank %zu: each side is an integer from 0 to "
				"%zu, a byte or an earlier merge",
				rank, CKPT_BPE_BYTES + rank - 1);
		ckpt_store_u32(to + 4 * side, (uint32_t)x);
	}
	return true;
}

static bool
judge_pairs(struct ckpt_job_reader *r, struct ckpt_fields *f,
	const uint8_t *pairs, size_t n)
{
	uint32_t *order = ckpt_sorted(&r->job->arena, n, by_pair, pairs);

	if (!order)
		return false;
	for (size_t i = 1; i < n; i++)
		if (by_pair(pairs, order[i - 1], order[i]) == 0)
			return ckpt_fields_refuse(f, "merges",
				"rank %u merges the same pair as rank %u",
				order[i], order[i - 1]);
	return true;
}

static bool
make_tokenizer(struct ckpt_job_reader *r, const uint8_t *pairs, size_t n)
{
	struct ckpt_tensor *piece = room(r, 1, sizeof *piece);
	uint64_t *dims = room(r, 2, sizeof *dims);

	if (!piece || !dims)
		return false;
	dims[0] = n;
	dims[1] = 2;
	*piece = (struct ckpt_tensor){
		.rank = 2, .dims = dims, .len = 8 * (uint64_t)n, .data = pairs
	};
	r->job->tokenizer = (struct ckpt_tokenizer){ CKPT_BYTE_BPE,
		CKPT_BPE_BASE_IDS + (uint64_t)n, piece, 1 };
	r->job->config.vocabulary = r->job->tokenizer.vocabulary;
	return true;
}

bool
ckpt_job_read_merges(struct ckpt_job_reader *r, const json_t *root)
{
	static const char *const keys[] = { "merges", NULL };
	struct ckpt_fields f;
	const json_t *list;
	uint8_t *pairs;
	size_t n;

	if (!ckpt_fields_open(&f, r->why, json_object_get(root, "tokenizer"),
		    "tokenizer", keys) ||
		!ckpt_fields_list(&f, "merges", &list, &n))
		return false;
	if (n > CKPT_BPE_MOST_MERGES)
		return ckpt_fields_refuse(&f, "merges", "more than %llu",
			(unsigned long long)CKPT_BPE_MOST_MERGES);
	pairs = room(r, n, 8);
	if (!pairs)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!read_pair(&f, list, i, pairs + 8 * i))
			return false;
	return judge_pairs(r, &f, pairs, n) && make_tokenizer(r, pairs, n);
}

/* ---- documents ---------------------------------------------------------- */

static bool
keep(struct ckpt_job_reader *r, struct ckpt_fields *f, const char *key,
	const char *text, size_t n, struct ckpt_name *name)
{
	uint8_t *copy;

	if (n > UINT32_MAX)
		return ckpt_fields_refuse(f, key, "too long");
	copy = room(r, n, 1);
	if (!copy)
		return false;
	memcpy(copy, text, n);
	*name = (struct ckpt_name){ copy, (uint32_t)n };
	return true;
}

/* 0 to 15, or -1. */
static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool
keep_hex(struct ckpt_job_reader *r, struct ckpt_fields *f, const char *text,
	size_t n, struct ckpt_name *name)
{
	uint8_t *to;

	if (n % 2 != 0)
		return ckpt_fields_refuse(
			f, "hex", "%zu is not an even number of digits", n);
	if (n / 2 > UINT32_MAX)
		return ckpt_fields_refuse(f, "hex", "too long");
	to = room(r, n / 2, 1);
	if (!to)
		return false;
	for (size_t i = 0; i < n; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0)
			return ckpt_fields_refuse(f, "hex",
				"digits %zu and %zu are not hexadecimal", i,
				i + 1);
		to[i / 2] = (uint8_t)(high << 4 | low);
	}
	*name = (struct ckpt_name){ to, (uint32_t)(n / 2) };
	return true;
}

static bool
encode(struct ckpt_job_reader *r, struct ckpt_fields *f,
	struct ckpt_document *document)
{
	uint64_t positions = r->job->config.positions;
	uint32_t *ids = room(r, (size_t)document->bytes.n + 2, sizeof *ids);

	if (!ids)
		return false;
	document->ids = ids;
	document->n = ckpt_bpe_encode_document(
		&r->job->tokenizer, document->bytes.p, document->bytes.n, ids);
	if (document->n - 1 <= positions)
		return true;
	return ckpt_fields_refuse(f, NULL,
		"%zu tokens are %zu positions, and the model has %llu",
		document->n, document->n - 1, (unsigned long long)positions);
}

static bool
read_document(struct ckpt_job_reader *r, const json_t *value, size_t i,
	struct ckpt_document *document)
{
	static const char *const as_text[] = { "id", "text", NULL };
	static const char *const as_hex[] = { "id", "hex", NULL };
	bool hex = json_object_get(value, "hex") != NULL;
	const char *key = hex ? "hex" : "text", *text;
	struct ckpt_fields f;
	char path[64];
	size_t n;

	snprintf(path, sizeof path, "documents[%zu]", i);
	if (!ckpt_fields_open(
		    &f, r->why, value, path, hex ? as_hex : as_text) ||
		!ckpt_fields_text(&f, "id", &text, &n))
		return false;
	if (n == 0)
		return ckpt_fields_refuse(&f, "id", "empty");
	if (!keep(r, &f, "id", text, n, &document->id) ||
		!ckpt_fields_text(&f, key, &text, &n))
		return false;
	if (!(hex ? keep_hex(r, &f, text, n, &document->bytes)
		  : keep(r, &f, "text", text, n, &document->bytes)))
		return false;
	return encode(r, &f, document);
}

static int
by_id(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_document *documents = ctx;
	const struct ckpt_name *x = &documents[a].id, *y = &documents[b].id;

	return ckpt_bytes_compare(x->p, x->n, y->p, y->n);
}

static bool
judge_ids(struct ckpt_job_reader *r, struct ckpt_fields *f,
	const struct ckpt_document *documents, size_t n)
{
	uint32_t *order = ckpt_sorted(&r->job->arena, n, by_id, documents);

	if (!order)
		return false;
	for (size_t i = 1; i < n; i++)
		if (by_id(documents, order[i - 1], order[i]) == 0)
			return ckpt_fields_refuse(f, "documents",
				"numbers %u and %u have the same id",
				order[i - 1], order[i]);
	return true;
}

/* The identity of the documents (archives section 4). */
static bool
identify(struct ckpt_job_reader *r, const struct ckpt_document *documents,
	size_t n)
{
	struct ckpt_sha256 hash;

	ckpt_sha256_begin(&hash);
	ckpt_sha256_u64(&hash, n);
	for (size_t i = 0; i < n; i++) {
		const struct ckpt_document *d = &documents[i];

		ckpt_sha256_u64(&hash, d->id.n);
		ckpt_sha256_add(&hash, d->id.p, d->id.n);
		ckpt_sha256_u64(&hash, d->bytes.n);
		ckpt_sha256_add(&hash, d->bytes.p, d->bytes.n);
	}
	return ckpt_sha256_end(&hash, r->job->training.data_sha256);
}

bool
ckpt_job_read_documents(struct ckpt_job_reader *r, const json_t *root)
{
	struct ckpt_fields f = { .why = r->why, .object = root };
	struct ckpt_document *documents;
	const json_t *list;
	size_t n;

	if (!ckpt_fields_list(&f, "documents", &list, &n))
		return false;
	if (n == 0)
		return ckpt_fields_refuse(&f, "documents", "there is none");
	if (n >= UINT32_MAX)
		return ckpt_fields_refuse(&f, "documents", "too many");
	documents = room(r, n, sizeof *documents);
	if (!documents)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!read_document(
			    r, json_array_get(list, i), i, &documents[i]))
			return false;
	r->job->documents = documents;
	r->job->training.documents = n;
	return judge_ids(r, &f, documents, n) && identify(r, documents, n);
}

/* ---- order -------------------------------------------------------------- */

bool
ckpt_job_read_order(struct ckpt_job_reader *r, const json_t *root)
{
	struct ckpt_fields f = { .why = r->why, .object = root };
	uint64_t documents = r->job->training.documents, *order;
	const json_t *list;
	bool *seen;
	size_t n;

	if (!ckpt_fields_list(&f, "order", &list, &n))
		return false;
	if (n != documents)
		return ckpt_fields_refuse(&f, "order",
			"%zu places for %llu documents", n,
			(unsigned long long)documents);
	order = room(r, n, sizeof *order);
	seen = ckpt_arena_zalloc(&r->job->arena, n);
	if (!order || !seen)
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_t *place = json_array_get(list, i);
		json_int_t x = json_integer_value(place);

		if (!json_is_integer(place) || x < 0 || (uint64_t)x >= n)
			return ckpt_fields_refuse(&f, "order",
				"place %zu is not an integer from 0 to %zu", i,
				n - 1);
		if (seen[x])
			return ckpt_fields_refuse(&f, "order",
				"place %zu names document %lld again", i,
				(long long)x);
		seen[x] = true;
		order[i] = (uint64_t)x;
	}
	r->job->training.order = order;
	return true;
}
