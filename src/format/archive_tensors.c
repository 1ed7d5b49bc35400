/* SPDX-License-Identifier: MIT */
/*
 * Archives: which tensors there are. Names are taken apart, never made up for
 * a search, so that the work follows from the file and not from the number of
 * layers that it claims. A name stands once in a valid header, so what is
 * missing follows from what is there.
 */
#include "format/archive.h"

#include <string.h>

#include "base/checked.h"
#include "format/safetensors_dtype.h"
#include "model/params.h"

static const struct safetensors_tensor *
tensor_at(const struct safetensors_judge *j, uint32_t i)
{
	return &SAFETENSORS_TENSORS(j->file)[i];
}

/* ---- Names -------------------------------------------------------------- */

static bool
is(const struct ckpt_str *name, const char *word)
{
	return name->n == strlen(word) && memcmp(name->p, word, name->n) == 0;
}

/* Whether it begins so; then it is taken away. */
static bool
take(struct ckpt_str *name, const char *prefix)
{
	size_t n = strlen(prefix);

	if (name->n < n || memcmp(name->p, prefix, n) != 0)
		return false;
	name->p += n;
	name->n -= (uint32_t)n;
	return true;
}

/* "12." with no leading zeros. */
static bool
take_layer(struct ckpt_str *name, uint64_t *layer)
{
	uint32_t i = 0;

	*layer = 0;
	for (; i < name->n && name->p[i] >= '0' && name->p[i] <= '9'; i++)
		if (!ckpt_mul_u64(*layer, 10, layer) ||
			!ckpt_add_u64(
				*layer, (uint64_t)(name->p[i] - '0'), layer))
			return false;
	if (i == 0 || (name->p[0] == '0' && i > 1))
		return false;
	name->p += i;
	name->n -= i;
	return take(name, ".");
}

/* The number in model order of the parameter of this name. */
static bool
find_parameter(
	const struct archive *a, const struct ckpt_str *given, uint64_t *k)
{
	struct ckpt_str name = *given;
	uint64_t layer;

	*k = 0;
	if (is(&name, ckpt_param_row(CKPT_SLOT_EMBEDDING)->name))
		return a->kind != CKPT_ARCHIVE_BACKBONE;
	*k = a->count - 1;
	if (is(&name, ckpt_param_row(CKPT_SLOT_FINAL_NORM)->name))
		return true;
	if (!take(&name, "blocks.") || !take_layer(&name, &layer) ||
		layer >= a->config.layers)
		return false;
	for (unsigned s = CKPT_SLOT_ATTENTION_NORM; s <= CKPT_LAYER_PARAMS; s++)
		if (is(&name, ckpt_param_row((enum ckpt_slot)s)->name))
			return ckpt_mul_u64(layer, CKPT_LAYER_PARAMS, k) &&
			       ckpt_add_u64(*k, s, k);
	return false;
}

/* What the tables say of a name. k is not cut: there may be more parameters
 * than tensors. */
static enum archive_what
classify(const struct archive *a, const struct ckpt_str *given, uint64_t *k)
{
	struct ckpt_str name = *given;
	enum archive_what what = ARCHIVE_PARAMETER;

	for (*k = 0; *k < ARCHIVE_SMALL; ++*k)
		if (is(&name, archive_small[*k].name))
			return archive_small[*k].kinds & 1u << a->kind
				       ? ARCHIVE_VALUES
				       : ARCHIVE_NOTHING;
	if (a->kind == CKPT_ARCHIVE_TRAINING) {
		if (take(&name, ARCHIVE_FIRST))
			what = ARCHIVE_MOMENT_1;
		else if (take(&name, ARCHIVE_SECOND))
			what = ARCHIVE_MOMENT_2;
	}
	return find_parameter(a, &name, k) ? what : ARCHIVE_NOTHING;
}

/* ---- Findings ----------------------------------------------------------- */

static void
report_missing(struct safetensors_judge *j, const char *name, uint64_t sub,
	uint64_t count)
{
	SAFETENSORS_REPORT(j, .code = CKPT_D_ARCHIVE_TENSOR_MISSING, .sub = sub,
		.path = "header", .off = SAFETENSORS_LENGTH_BYTES,
		.expected = ckpt_v_text(name), .found = ckpt_v_text("nothing"),
		.count = count);
}

static void
report_tensor(struct safetensors_judge *j, enum ckpt_code code, uint32_t i,
	const char *rest, uint32_t at, const char *expected,
	struct ckpt_value found)
{
	const struct safetensors_tensor *t = tensor_at(j, i);

	SAFETENSORS_REPORT(j, .code = code, .sub = i,
		.path = safetensors_path(j, t->number, rest),
		.off = safetensors_at(at), .len = t->after - at,
		.expected = ckpt_v_text(expected), .found = found,
		.note = ckpt_walk_text(
			&j->walk, "tensor %s", safetensors_quote(j, &t->name)));
}

static void
report_unknown(struct safetensors_judge *j, uint32_t i)
{
	struct ckpt_str name = tensor_at(j, i)->name;
	bool head = take(&name, "head.") || take(&name, "lm_head.");

	report_tensor(j,
		head ? CKPT_D_ARCHIVE_SECOND_HEAD
		     : CKPT_D_ARCHIVE_TENSOR_UNKNOWN,
		i, ".name", tensor_at(j, i)->at,
		head ? "none: the embedding is the head"
		     : "no tensor of this name",
		ckpt_v_bytes(tensor_at(j, i)->name.p, tensor_at(j, i)->name.n));
}

/* ---- Shapes ------------------------------------------------------------- */

/* What dtype and shape have to be; a dimension that is free is the file's. */
static void
wanted(const struct archive *a, const struct archive_part *part,
	const struct safetensors_tensor *t, const char **dtype,
	struct ckpt_array *shape, uint64_t dims[2])
{
	const struct archive_small_row *small;
	const struct ckpt_param *row;

	*shape = (struct ckpt_array){ .p = dims };
	*dtype = "F64";
	if (part->what == ARCHIVE_VALUES) {
		small = &archive_small[part->k];
		*dtype = small->dtype;
		shape->n = small->rank;
		for (uint32_t i = 0; i < small->rank; i++)
			dims[i] = small->dims[i]   ? small->dims[i]
				  : i < t->shape.n ? SAFETENSORS_SHAPE(t)[i]
						   : 0;
		return;
	}
	row = ckpt_param_row(ckpt_param_slot(part->k, a->count, NULL));
	shape->n = row->rank;
	for (uint32_t i = 0; i < row->rank; i++)
		dims[i] = ckpt_param_dim(row, i, &a->config);
}

static bool
same_shape(const struct safetensors_tensor *t, const struct ckpt_array *want)
{
	const uint64_t *dims = want->p;

	if (t->shape.declared != want->n)
		return false;
	for (uint32_t i = 0; i < want->n; i++)
		if (SAFETENSORS_SHAPE(t)[i] != dims[i])
			return false;
	return true;
}

static bool
judge_shape(struct safetensors_judge *j, uint32_t i)
{
	const struct archive *a = j->file->archive;
	const struct safetensors_tensor *t = tensor_at(j, i);
	struct safetensors_tensor other = { 0 };
	const char *dtype;
	uint64_t dims[2];
	bool good = true;

	wanted(a, &a->parts[i], t, &dtype, &other.shape, dims);
	if (!t->dtype || strcmp(t->dtype->name, dtype) != 0) {
		report_tensor(j, CKPT_D_ARCHIVE_TENSOR_DTYPE, i, ".dtype",
			t->dtype_at, dtype,
			ckpt_v_text(t->dtype ? t->dtype->name : "unknown"));
		good = false;
	}
	if (!same_shape(t, &other.shape)) {
		report_tensor(j, CKPT_D_ARCHIVE_TENSOR_SHAPE, i, ".shape",
			t->shape_at, safetensors_shape_text(j, &other),
			ckpt_v_text(safetensors_shape_text(j, t)));
		good = false;
	}
	return good;
}

/* ---- The tables --------------------------------------------------------- */

/* A backbone's first parameter is number 1. */
static uint64_t
base_of(const struct archive *a)
{
	return a->kind == CKPT_ARCHIVE_BACKBONE;
}

static bool
make_room(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	struct ckpt_arena *arena = &j->run->arena;
	size_t n = j->file->tensors.n;
	size_t room = a->count <= n ? (size_t)a->count : n + 1;

	a->nparameters = a->count - base_of(a);
	a->parts = ckpt_arena_zalloc(arena, n * sizeof *a->parts);
	a->parameters = ckpt_arena_zalloc(arena, room * sizeof(uint32_t));
	if (a->kind != CKPT_ARCHIVE_TRAINING)
		return a->parts && a->parameters;
	a->first = ckpt_arena_zalloc(arena, room * sizeof(uint32_t));
	a->second = ckpt_arena_zalloc(arena, room * sizeof(uint32_t));
	return a->parts && a->parameters && a->first && a->second;
}

/* The list that a tensor belongs to, and its number there. */
static uint32_t *
list_of(struct archive *a, enum archive_what what, uint64_t *k,
	uint64_t **count)
{
	switch (what) {
	case ARCHIVE_PARAMETER:
		*k -= base_of(a);
		*count = &a->npresent;
		return a->parameters;
	case ARCHIVE_MOMENT_1: *count = &a->nfirst; return a->first;
	case ARCHIVE_MOMENT_2: *count = &a->nsecond; return a->second;
	case ARCHIVE_VALUES:
	case ARCHIVE_NOTHING: break;
	}
	return NULL;
}

/* Takes tensor i in. False if something is wrong with it. */
static bool
place(struct safetensors_judge *j, uint32_t i)
{
	struct archive *a = j->file->archive;
	uint64_t k, n = j->file->tensors.n, *count;
	enum archive_what what = classify(a, &tensor_at(j, i)->name, &k);
	uint64_t number = k;
	uint32_t *list;

	if (what == ARCHIVE_NOTHING) {
		report_unknown(j, i);
		return false;
	}
	list = list_of(a, what, &number, &count);
	if (list) {
		++*count;
		/* Of so many parameters some are missing anyway. */
		if (number > n || number >= a->nparameters)
			return true;
		list[number] = i + 1;
	} else {
		a->small[k] = i + 1;
	}
	a->parts[i] = (struct archive_part){ (uint8_t)what, (uint32_t)k };
	return judge_shape(j, i);
}

/* The first of a list that is missing. */
static bool
judge_list(struct safetensors_judge *j, const char *prefix,
	const uint32_t *list, uint64_t present, uint64_t sub)
{
	struct archive *a = j->file->archive;
	char name[CKPT_PARAM_NAME];
	uint64_t k = 0;

	if (present == a->nparameters)
		return true;
	while (list[k] != 0)
		k++;
	ckpt_param_name(k + base_of(a), a->count, name);
	report_missing(j, ckpt_walk_text(&j->walk, "%s%s", prefix, name), sub,
		a->nparameters - present);
	return false;
}

static bool
judge_missing(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	bool good = judge_list(j, "", a->parameters, a->npresent, 0);

	for (uint64_t k = 0; k < ARCHIVE_SMALL; k++) {
		if (a->small[k] || !(archive_small[k].kinds & 1u << a->kind))
			continue;
		report_missing(j, archive_small[k].name, 3 + k, 1);
		good = false;
	}
	if (a->nfirst + a->nsecond == 0)
		return good;
	good &= judge_list(j, ARCHIVE_FIRST, a->first, a->nfirst, 1);
	return judge_list(j, ARCHIVE_SECOND, a->second, a->nsecond, 2) && good;
}

/* Whatever else is wrong, as long as there are merges. */
static void
judge_vocabulary(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	const struct safetensors_tensor *t;
	uint64_t merges;

	if (!a->small[ARCHIVE_MERGES])
		return;
	t = archive_tensor(j->file, ARCHIVE_MERGES);
	if (t->shape.n != 2)
		return;
	merges = SAFETENSORS_SHAPE(t)[0];
	if (merges <= CKPT_BPE_MOST_MERGES &&
		a->config.vocabulary == CKPT_BPE_BASE_IDS + merges)
		return;
	archive_report_key(j, CKPT_D_ARCHIVE_VOCABULARY, ARCHIVE_VOCABULARY,
		ckpt_walk_text(&j->walk, "258 and the %llu merges",
			(unsigned long long)merges));
	a->fits = false;
}

enum ckpt_status
archive_judge_tensors(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	bool good = true;

	/* No file has so many that it matters how many they are. */
	if (!ckpt_param_count(a->config.layers, &a->count))
		a->count = UINT64_MAX;
	if (!make_room(j))
		return ckpt_run_memory(j->run);
	for (uint32_t i = 0; i < j->file->tensors.n; i++)
		good &= place(j, i);
	a->fits = judge_missing(j) && good;
	ckpt_diags_ran(&j->run->diags, "tensors");
	judge_vocabulary(j);
	return CKPT_OK;
}

void
archive_report_empty(struct safetensors_judge *j)
{
	uint32_t i = j->file->archive->small[ARCHIVE_ORDER] - 1;

	report_tensor(j, CKPT_D_ARCHIVE_ORDER, i, ".shape",
		tensor_at(j, i)->shape_at, "at least 1", ckpt_v_u64(0));
}
