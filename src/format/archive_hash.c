/* SPDX-License-Identifier: MIT */
/*
 * Archives: the model's identity and the optimizer's digest. Both have an
 * order of their own. That of the identity is the order in which our writer
 * lays the tensors down, so it is made while they pass by; where a file has
 * another order, and for the digest always, the tensors are read once more
 * from a source that can go back. Of any other nothing is known then.
 */
#include "format/archive.h"

#include "base/sort.h"
#include "base/try.h"
#include "model/identity.h"
#include "model/params.h"

enum { PIECE = 64 * 1024, PIECES_ASKED = 256 };

struct archive_hash {
	struct ckpt_sha256 model;
	const uint32_t *order; /* tensors that identity is about */
	uint32_t n, next;      /* next: that is not begun */
	uint32_t current;      /* that is being added */
	bool lost;             /* the file has another order */
};

static const struct safetensors_tensor *
tensor_at(const struct safetensors_judge *j, uint32_t i)
{
	return &SAFETENSORS_TENSORS(j->file)[i];
}

/* ---- The beginning of an identity --------------------------------------- */

static bool
is_of_model(const struct archive_part *part)
{
	return part->what == ARCHIVE_PARAMETER ||
	       (part->what == ARCHIVE_VALUES && part->k <= ARCHIVE_MERGES);
}

static int
by_name(const void *ctx, uint32_t x, uint32_t y)
{
	const struct safetensors_tensor *tensors = ctx;

	return ckpt_bytes_compare(tensors[x].name.p, tensors[x].name.n,
		tensors[y].name.p, tensors[y].name.n);
}

/* The tensors of the model in bytewise order of their names. */
static bool
find_order(struct safetensors_judge *j, struct archive_hash *h)
{
	const struct archive *a = j->file->archive;
	uint32_t n = j->file->tensors.n;
	uint32_t *all = ckpt_sorted(
		&j->run->arena, n, by_name, SAFETENSORS_TENSORS(j->file));

	for (uint32_t i = 0; all && i < n; i++)
		if (is_of_model(&a->parts[all[i]]))
			all[h->n++] = all[i];
	h->order = all;
	return all != NULL;
}

static void
add_settings(struct ckpt_sha256 *hash, const struct archive *a)
{
	const struct ckpt_state state = { .archive = a->kind,
		.config = a->config };
	struct ckpt_setting settings[CKPT_SETTINGS_MOST];
	size_t n = ckpt_archive_settings(&state, settings);

	for (size_t i = 0; i < n; i++) {
		const struct ckpt_setting *s = &settings[i];

		ckpt_sha256_add(hash, s->key, strlen(s->key));
		ckpt_sha256_add(hash, "=", 1);
		ckpt_sha256_add(hash, s->value, strlen(s->value));
		ckpt_sha256_add(hash, "\n", 1);
	}
	ckpt_sha256_add(hash, "\n", 1);
}

static void
add_head(struct ckpt_sha256 *hash, const struct safetensors_tensor *t)
{
	ckpt_sha256_u64(hash, t->name.n);
	ckpt_sha256_add(hash, t->name.p, t->name.n);
	ckpt_sha256_u64(hash, strlen(t->dtype->name));
	ckpt_sha256_add(hash, t->dtype->name, strlen(t->dtype->name));
	ckpt_sha256_u64(hash, t->shape.n);
	for (uint32_t i = 0; i < t->shape.n; i++)
		ckpt_sha256_u64(hash, SAFETENSORS_SHAPE(t)[i]);
}

enum ckpt_status
archive_hash_begin(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	struct archive_hash *h = ckpt_arena_zalloc(&j->run->arena, sizeof *h);

	if (!h || !find_order(j, h))
		return ckpt_run_memory(j->run);
	a->hash = h;
	ckpt_sha256_begin(&h->model);
	add_settings(&h->model, a);
	return CKPT_OK;
}

/* Begins the tensors up to one, all of which but that one are empty. */
static void
begin_up_to(struct safetensors_judge *j, struct archive_hash *h, uint32_t one)
{
	while (h->next < h->n && !h->lost) {
		uint32_t i = h->order[h->next++];

		h->current = i;
		add_head(&h->model, tensor_at(j, i));
		if (i == one)
			return;
		h->lost = safetensors_len(tensor_at(j, i)) > 0;
	}
	h->lost |= one != UINT32_MAX;
}

void
archive_hash_data(struct safetensors_judge *j, uint32_t tensor, uint64_t at,
	const uint8_t *p, size_t n)
{
	struct archive_hash *h = j->file->archive->hash;

	if (!h || h->lost || !is_of_model(&j->file->archive->parts[tensor]))
		return;
	if (at == 0)
		begin_up_to(j, h, tensor);
	if (!h->lost)
		ckpt_sha256_add(&h->model, p, n);
}

/* ---- Reading once more -------------------------------------------------- */

/* Adds the bytes of a tensor. False if they cannot be had. */
static bool
add_again(struct safetensors_judge *j, uint32_t i, struct ckpt_sha256 *hash,
	uint8_t *piece)
{
	const struct safetensors_tensor *t = tensor_at(j, i);
	const struct ckpt_options *options = &j->run->options;
	struct ckpt_source *source = j->reader->source;
	uint64_t off = safetensors_off(j->file, t), left = safetensors_len(t);

	for (unsigned asked = 1; left > 0; asked++) {
		size_t want = left < PIECE ? (size_t)left : PIECE;
		ptrdiff_t n = source->read_at(source, piece, want, off);

		if (n <= 0 || (asked % PIECES_ASKED == 0 && options->progress &&
				      !options->progress(options->progress_ctx,
					      j->run->size, j->run->size)))
			return false;
		ckpt_sha256_add(hash, piece, (size_t)n);
		off += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return true;
}

static bool
identify_again(struct safetensors_judge *j, uint8_t *piece)
{
	struct archive *a = j->file->archive;
	struct archive_hash *h = a->hash;
	bool good = true;

	(void)ckpt_sha256_end(&h->model, a->model_id);
	ckpt_sha256_begin(&h->model);
	add_settings(&h->model, a);
	for (uint32_t i = 0; i < h->n && good; i++) {
		add_head(&h->model, tensor_at(j, h->order[i]));
		good = add_again(j, h->order[i], &h->model, piece);
	}
	return good;
}

static int
by_parameter(const void *ctx, uint32_t x, uint32_t y)
{
	const struct safetensors_judge *j = ctx;
	const uint32_t *tensors = j->file->archive->parameters;

	return by_name(
		SAFETENSORS_TENSORS(j->file), tensors[x] - 1, tensors[y] - 1);
}

static enum ckpt_status
digest_optimizer(struct safetensors_judge *j, uint8_t *piece)
{
	struct archive *a = j->file->archive;
	struct ckpt_sha256 hash;
	bool good = true;
	uint32_t *order =
		ckpt_sorted(&j->run->arena, a->nparameters, by_parameter, j);

	if (!order)
		return ckpt_run_memory(j->run);
	ckpt_sha256_begin(&hash);
	for (unsigned i = 0; i < 5; i++)
		ckpt_sha256_u64(&hash, a->words[ARCHIVE_SETTINGS][i]);
	for (unsigned i = 0; i < 2; i++)
		ckpt_sha256_u64(&hash, a->words[ARCHIVE_POWERS][i]);
	ckpt_sha256_u64(&hash, a->words[ARCHIVE_STEP][0]);
	for (uint64_t i = 0; i < a->nparameters && a->nfirst && good; i++)
		good = add_again(j, a->first[order[i]] - 1, &hash, piece) &&
		       add_again(j, a->second[order[i]] - 1, &hash, piece);
	(void)ckpt_sha256_end(&hash, a->optimizer_digest);
	if (!good)
		a->optimizer_digest[0] = '\0';
	return CKPT_OK;
}

enum ckpt_status
archive_hash_end(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	struct archive_hash *h = a->hash;
	bool again = j->reader->source->read_at != NULL;
	uint8_t *piece = ckpt_arena_alloc(&j->run->arena, PIECE);
	bool good;

	if (!piece)
		return ckpt_run_memory(j->run);
	begin_up_to(j, h, UINT32_MAX);
	good = !h->lost || (again && identify_again(j, piece));
	(void)ckpt_sha256_end(&h->model, a->model_id);
	if (!good)
		a->model_id[0] = '\0';
	if (a->kind == CKPT_ARCHIVE_TRAINING && (again || a->nfirst == 0))
		return digest_optimizer(j, piece);
	return CKPT_OK;
}

void
archive_hash_release(struct safetensors_judge *j)
{
	struct archive *a = j->file ? j->file->archive : NULL;
	char unused[CKPT_SHA256_TEXT];

	if (a && a->hash)
		(void)ckpt_sha256_end(&a->hash->model, unused);
}
