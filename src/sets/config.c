/* SPDX-License-Identifier: MIT */
/*
 * config.json against the tensors. Only what is said can be wrong: a value
 * that is absent, null or of another type is never compared, and one tensor
 * that fits is enough, because a file may hold several models. All of it is a
 * warning: loaders take the files as they are.
 */
#include "sets/set_parts.h"

#include <inttypes.h>
#include <string.h>

/* What is to be known of the tensors of all weights. */
struct seen {
	bool embedding, rows_fit, columns_fit;
	uint64_t rows, columns; /* of the largest embedding, by rows */
	bool floating, dtype_fits;
	bool head;
};

/* NULL: not said. A number that no tensor can have is said all the same. */
struct wanted {
	const struct ckpt_doc_value *rows, *columns;
	const char *dtype;
};

/* ---- Names and dtypes --------------------------------------------------- */

/* Whether the last parts of a name are these. */
static bool
ends_in(const struct ckpt_set_tensor *t, const char *const *tails)
{
	for (; *tails; tails++) {
		size_t n = strlen(*tails);

		if (t->name_n >= n &&
			memcmp(t->name + t->name_n - n, *tails, n) == 0 &&
			(t->name_n == n || t->name[t->name_n - n - 1] == '.'))
			return true;
	}
	return false;
}

static bool
is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

static bool
is_embedding(const struct ckpt_set_tensor *t)
{
	static const char *const tails[] = { "embed_tokens.weight",
		"wte.weight", "word_embeddings.weight", "tok_embeddings.weight",
		"embed_in.weight", "shared.weight", NULL };
	static const char *const dtypes[] = { "F16", "BF16", "F32", "F64",
		NULL };

	return t->rank == 2 && is_one_of(t->dtype, dtypes) && ends_in(t, tails);
}

static bool
is_head(const struct ckpt_set_tensor *t)
{
	static const char *const tails[] = { "embed_out.weight",
		"output.weight", "output_layer.weight", "head.weight",
		"ff_out.weight", "proj_out.weight", NULL };
	static const char part[] = "lm_head";

	return memmem(t->name, t->name_n, part, sizeof part - 1) ||
	       ends_in(t, tails);
}

static bool
is_floating(const char *dtype)
{
	static const char *const others[] = { "BF16", "C64", NULL };

	return dtype[0] == 'F' || is_one_of(dtype, others);
}

/* ---- Looking at the tensors --------------------------------------------- */

static bool
is_number(const struct ckpt_doc_value *said, uint64_t n)
{
	uint64_t wanted;

	return ckpt_doc_u64(said, &wanted) && wanted == n;
}

static void
see(struct seen *seen, const struct wanted *wanted,
	const struct ckpt_set_tensor *t)
{
	bool floating = is_floating(t->dtype);

	seen->floating |= floating;
	seen->dtype_fits |=
		wanted->dtype && strcmp(t->dtype, wanted->dtype) == 0;
	seen->head |= is_head(t);
	if (!is_embedding(t))
		return;
	if (!seen->embedding || t->rows > seen->rows) {
		seen->rows = t->rows;
		seen->columns = t->columns;
	}
	seen->embedding = true;
	seen->rows_fit |= is_number(wanted->rows, t->rows);
	seen->columns_fit |= is_number(wanted->columns, t->columns);
}

static struct seen
see_all(const struct ckpt_set *set, const struct wanted *wanted)
{
	struct seen seen = { 0 };

	for (uint64_t i = 0; i < set->nshards; i++) {
		const struct ckpt_shard *shard = set->shards[i];

		if (ckpt_role_resumes(shard->role))
			continue;
		for (uint64_t k = 0; k < shard->n; k++)
			see(&seen, wanted, &shard->tensors[k]);
	}
	return seen;
}

/* ---- What the settings say ---------------------------------------------- */

/* The part about the text model, where there is one. */
static const struct ckpt_doc_value *
settings_of(const struct ckpt_doc_value *root)
{
	const struct ckpt_doc_value *text = ckpt_doc_get(root, "text_config");

	return text && text->kind == CKPT_DOC_OBJECT ? text : root;
}

static const char *
dtype_of(const struct ckpt_doc_value *root)
{
	static const char *const words[][2] = { { "float16", "F16" },
		{ "bfloat16", "BF16" }, { "float32", "F32" },
		{ "float64", "F64" } };
	const struct ckpt_doc_value *said = ckpt_doc_get(root, "torch_dtype");

	if (!said)
		said = ckpt_doc_get(root, "dtype");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (ckpt_doc_is(said, words[i][0]))
			return words[i][1];
	return NULL;
}

static bool
is_quantized(const struct ckpt_doc_value *root,
	const struct ckpt_doc_value *settings)
{
	static const char *const keys[] = { "quantization_config",
		"quantization" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (ckpt_doc_get(root, keys[i]) ||
			ckpt_doc_get(settings, keys[i]))
			return true;
	return false;
}

static bool
names_head(const struct ckpt_doc_value *name)
{
	static const char *const tails[] = { "ForCausalLM", "LMHeadModel",
		"ForConditionalGeneration" };

	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
		size_t n = strlen(tails[i]);

		if (name->kind == CKPT_DOC_STRING && name->n >= n &&
			memcmp(name->p + name->n - n, tails[i], n) == 0)
			return true;
	}
	return false;
}

/* Whether the model is of a kind that has an output layer: by its name, which
 * may stand outside of the part about the text model. */
static bool
wants_head(const struct ckpt_doc_value *root,
	const struct ckpt_doc_value *settings)
{
	const struct ckpt_doc_value *tied =
		ckpt_doc_get(settings, "tie_word_embeddings");
	const struct ckpt_doc_value *kinds =
		ckpt_doc_get(settings, "architectures");

	if (!tied || tied->kind != CKPT_DOC_FALSE)
		return false;
	if (!kinds)
		kinds = ckpt_doc_get(root, "architectures");
	if (!kinds || kinds->kind != CKPT_DOC_ARRAY)
		return !kinds || names_head(kinds);
	for (const struct ckpt_doc_value *v = kinds->first; v; v = v->next)
		if (names_head(v))
			return true;
	return false;
}

/* ---- Findings ----------------------------------------------------------- */

static void
report(struct ckpt_set *set, enum ckpt_code code, struct ckpt_value expected,
	struct ckpt_value found)
{
	ckpt_set_report(set, code, "config.json",
		&(struct ckpt_diag){ .expected = expected, .found = found });
}

/* Why there was nothing to compare. */
static const char not_said[] =
	"config.json does not say, or there is no such tensor";

static void
judge_embedding(struct ckpt_set *set, const struct wanted *wanted,
	const struct seen *seen)
{
	if (!seen->embedding || !wanted->rows)
		ckpt_diags_not_ran(
			&set->run->diags, CKPT_D_CONFIG_VOCAB, not_said);
	if (!seen->embedding || !wanted->columns)
		ckpt_diags_not_ran(
			&set->run->diags, CKPT_D_CONFIG_HIDDEN, not_said);
	if (!seen->embedding)
		return;
	if (wanted->rows && !seen->rows_fit)
		report(set, CKPT_D_CONFIG_VOCAB,
			ckpt_set_text(set, "%s rows (vocab_size)",
				ckpt_set_number(set, wanted->rows)),
			ckpt_set_text(set, "%" PRIu64, seen->rows));
	if (wanted->columns && !seen->columns_fit)
		report(set, CKPT_D_CONFIG_HIDDEN,
			ckpt_set_text(set, "%s columns (hidden_size)",
				ckpt_set_number(set, wanted->columns)),
			ckpt_set_text(set, "%" PRIu64, seen->columns));
}

static enum ckpt_status
judge_settings(struct ckpt_set *set, struct seen *seen)
{
	const struct ckpt_doc_value *root = set->config.root;
	const struct ckpt_doc_value *settings = settings_of(root);
	struct wanted wanted = { .dtype = dtype_of(root),
		.rows = ckpt_doc_number(settings, "vocab_size"),
		.columns = ckpt_doc_number(settings, "hidden_size") };
	enum ckpt_status status;

	if (ckpt_doc_get(settings, "embedding_size") ||
		ckpt_doc_get(settings, "word_embed_proj_dim"))
		wanted.columns = NULL;
	*seen = see_all(set, &wanted);
	judge_embedding(set, &wanted, seen);
	status = ckpt_layers_judge(set, settings);
	if (wanted.dtype && seen->floating && !seen->dtype_fits &&
		!is_quantized(root, settings))
		report(set, CKPT_D_CONFIG_DTYPE,
			ckpt_set_text(
				set, "a tensor of dtype %s", wanted.dtype),
			ckpt_v_none());
	if (seen->embedding && !seen->head && wants_head(root, settings))
		report(set, CKPT_D_CONFIG_HEAD,
			ckpt_v_text("an output layer (lm_head.weight), as "
				    "tie_word_embeddings is false"),
			ckpt_v_none());
	return status;
}

/* Why settings are not compared with tensors, or NULL. */
static const char *
why_not(const struct ckpt_set *set)
{
	if (set->run->diags.errors > 0)
		return "not every file of the set is valid";
	for (uint64_t i = 0; i < set->nshards; i++)
		if (!set->shards[i]->judged ||
			set->shards[i]->verdict != CKPT_VALID)
			return "not every file of the set is valid";
	if (ckpt_folder_find(&set->folder, "adapter_config.json"))
		return "an adapter is not the whole model";
	return NULL;
}

static void
skip(struct ckpt_set *set, enum ckpt_code first, enum ckpt_code last,
	const char *why)
{
	for (enum ckpt_code code = first; code <= last; code++)
		ckpt_diags_not_ran(&set->run->diags, code, why);
}

void
ckpt_config_judge(struct ckpt_set *set)
{
	const char *why = why_not(set);
	struct seen seen = { 0 };
	enum ckpt_status status = CKPT_OK;

	if (why) {
		skip(set, CKPT_D_CONFIG_VOCAB, CKPT_D_TOKENIZER_TORN, why);
		return;
	}
	if (set->config.root) {
		status = judge_settings(set, &seen);
	} else {
		skip(set, CKPT_D_CONFIG_VOCAB, CKPT_D_CONFIG_HEAD,
			"there is no config.json");
		seen = see_all(set, &(struct wanted){ 0 });
	}
	if (status == CKPT_OK)
		status = ckpt_vocabulary_judge(set, seen.rows);
	ckpt_set_trouble(set, status, "");
}
