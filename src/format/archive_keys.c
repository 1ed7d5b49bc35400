/* SPDX-License-Identifier: MIT */
/*
 * Archives: the metadata. Kind, version and composition say which keys and
 * tensors belong to the file; nothing else can be judged before they are
 * understood. Then every key, and the settings that are integers.
 */
#include "format/archive.h"

#include <string.h>

#include "base/checked.h"
#include "base/try.h"

/* Keys that begin so are of the tables or unknown. */
static const struct {
	const char *prefix;
	unsigned kinds;
} reserved[] = {
	{ "backbone.", ARCHIVE_IN_ALL },
	{ ARCHIVE_PREFIX, ARCHIVE_IN_ALL },
	{ "data.", ARCHIVE_IN_TRAINING },
	{ "encoder.", ARCHIVE_IN_ALL },
	{ "envelope.", ARCHIVE_IN_TRAINING },
	{ "head.", ARCHIVE_IN_ALL },
	{ "optimizer.", ARCHIVE_IN_TRAINING },
	{ "plan.", ARCHIVE_IN_TRAINING },
};

static bool
is(const struct ckpt_str *text, const char *word)
{
	return text->n == strlen(word) && memcmp(text->p, word, text->n) == 0;
}

static const struct safetensors_entry *
entry_at(const struct safetensors_judge *j, uint32_t i)
{
	return &SAFETENSORS_ENTRIES(j->file)[i];
}

static unsigned
kind_bit(const struct archive *a)
{
	return 1u << a->kind;
}

/* ---- Findings ----------------------------------------------------------- */

void
archive_report_key(struct safetensors_judge *j, enum ckpt_code code,
	enum archive_key key, const char *expected)
{
	const struct archive_text *t = &j->file->archive->keys[key];
	const struct safetensors_entry *e = entry_at(j, t->entry);

	SAFETENSORS_REPORT(j, .code = code, .sub = t->entry,
		.path = ckpt_walk_text(
			&j->walk, "metadata[%u].value", t->entry),
		.off = safetensors_at(e->value_at),
		.len = e->after - e->value_at,
		.expected = ckpt_v_text(expected),
		.found = ckpt_v_bytes(t->text.p, t->text.n),
		.note = archive_keys[key].name);
}

static void
report_missing(struct safetensors_judge *j, enum archive_key key)
{
	SAFETENSORS_REPORT(j, .code = CKPT_D_ARCHIVE_KEY_MISSING, .sub = key,
		.path = "metadata", .off = safetensors_at(entry_at(j, 0)->at),
		.expected = ckpt_v_text(archive_keys[key].name),
		.found = ckpt_v_text("nothing"));
}

static void
report_unknown(
	struct safetensors_judge *j, uint32_t i, const struct ckpt_str *key)
{
	const struct safetensors_entry *e = entry_at(j, i);

	SAFETENSORS_REPORT(j, .code = CKPT_D_ARCHIVE_KEY_UNKNOWN,
		.path = ckpt_walk_text(&j->walk, "metadata[%u].key", i),
		.off = safetensors_at(e->at), .len = e->value_at - e->at,
		.expected = ckpt_v_text("no key of this name"),
		.found = ckpt_v_bytes(key->p, key->n));
}

/* ---- Taking them in ----------------------------------------------------- */

/* The string whose quote is at at. */
static bool
text_at(struct safetensors_judge *j, uint32_t at, struct ckpt_str *text)
{
	struct ckpt_scan scan;
	struct ckpt_token token;

	ckpt_scan_init(&scan, j->file->json, (size_t)j->file->header_bytes, 1);
	scan.at = at;
	/* A value that is no text was reported by the container. */
	if (ckpt_scan_next(&scan, &token) != CKPT_SCAN_STRING) {
		*text = (struct ckpt_str){ 0 };
		return true;
	}
	return ckpt_scan_text(&scan, &token, &j->run->arena, text);
}

static enum archive_key
find_key(const struct ckpt_str *key)
{
	enum archive_key i = 0;

	while (i < ARCHIVE_KEYS && !is(key, archive_keys[i].name))
		i++;
	return i;
}

static bool
begins(const struct ckpt_str *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return text->n >= n && memcmp(text->p, prefix, n) == 0;
}

enum ckpt_status
archive_take_keys(struct safetensors_judge *j, struct archive *a, bool *found)
{
	*found = false;
	for (uint32_t i = 0; i < j->file->metadata.n; i++) {
		const struct safetensors_entry *e = entry_at(j, i);
		struct ckpt_str key;
		enum archive_key k;

		if (!text_at(j, e->at, &key))
			return ckpt_run_memory(j->run);
		*found |= begins(&key, ARCHIVE_PREFIX);
		k = find_key(&key);
		if (k == ARCHIVE_KEYS)
			continue;
		if (!text_at(j, e->value_at, &a->keys[k].text))
			return ckpt_run_memory(j->run);
		a->keys[k].entry = i;
		a->keys[k].there = true;
	}
	return CKPT_OK;
}

/* ---- What the file is --------------------------------------------------- */

static bool
judge_kind(struct safetensors_judge *j, bool *training)
{
	struct archive *a = j->file->archive;
	const struct archive_text *kind = &a->keys[ARCHIVE_KIND];

	*training = is(&kind->text, "training-checkpoint");
	if (!kind->there)
		report_missing(j, ARCHIVE_KIND);
	else if (!*training && !is(&kind->text, "portable-model"))
		archive_report_key(j, CKPT_D_ARCHIVE_KIND, ARCHIVE_KIND,
			"portable-model or training-checkpoint");
	else
		return true;
	return false;
}

static bool
judge_version(struct safetensors_judge *j)
{
	const struct archive_text *version =
		&j->file->archive->keys[ARCHIVE_VERSION];

	if (!version->there)
		report_missing(j, ARCHIVE_VERSION);
	else if (!is(&version->text, "1"))
		archive_report_key(
			j, CKPT_D_ARCHIVE_VERSION, ARCHIVE_VERSION, "1");
	else
		return true;
	return false;
}

static bool
judge_composition(struct safetensors_judge *j, bool training)
{
	struct archive *a = j->file->archive;
	const struct archive_text *c = &a->keys[ARCHIVE_COMPOSITION];
	bool backbone = is(&c->text, "backbone-v1");

	if (!c->there)
		report_missing(j, ARCHIVE_COMPOSITION);
	else if (!backbone && !is(&c->text, "text-decoder-v1"))
		archive_report_key(j, CKPT_D_ARCHIVE_COMPOSITION,
			ARCHIVE_COMPOSITION, "text-decoder-v1 or backbone-v1");
	else if (backbone && training)
		archive_report_key(j, CKPT_D_ARCHIVE_TRAINING_BACKBONE,
			ARCHIVE_COMPOSITION, "text-decoder-v1");
	else
		a->understood = true;
	a->kind = training   ? CKPT_ARCHIVE_TRAINING
		  : backbone ? CKPT_ARCHIVE_BACKBONE
			     : CKPT_ARCHIVE_TEXT;
	return a->understood;
}

/* ---- Every key ---------------------------------------------------------- */

static enum ckpt_status
judge_unknown(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;

	for (uint32_t i = 0; i < j->file->metadata.n; i++) {
		struct ckpt_str key;
		enum archive_key k;

		if (!text_at(j, entry_at(j, i)->at, &key))
			return ckpt_run_memory(j->run);
		k = find_key(&key);
		if (k < ARCHIVE_KEYS && archive_keys[k].kinds & kind_bit(a))
			continue;
		for (size_t p = 0; p < sizeof reserved / sizeof *reserved; p++)
			if (reserved[p].kinds & kind_bit(a) &&
				begins(&key, reserved[p].prefix))
				report_unknown(j, i, &key);
	}
	return CKPT_OK;
}

static bool
is_integer(enum archive_key key)
{
	return key <= ARCHIVE_WIDTH || key == ARCHIVE_LAYOUT ||
	       key == ARCHIVE_VOCABULARY;
}

/* Decimal, without sign, leading zeros or anything else. */
static bool
read_integer(struct archive_text *t)
{
	const struct ckpt_str *text = &t->text;

	t->value = 0;
	t->counts = text->n > 0 && (text->p[0] != '0' || text->n == 1);
	for (uint32_t i = 0; t->counts && i < text->n; i++)
		t->counts = text->p[i] >= '0' && text->p[i] <= '9' &&
			    ckpt_mul_u64(t->value, 10, &t->value) &&
			    ckpt_add_u64(t->value, (uint64_t)(text->p[i] - '0'),
				    &t->value);
	return t->counts;
}

/* True if all that must be there is. */
static bool
judge_there(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	bool good = true;

	for (enum archive_key k = 0; k < ARCHIVE_KEYS; k++) {
		const struct archive_key_row *row = &archive_keys[k];
		struct archive_text *t = &a->keys[k];

		if (!(row->kinds & kind_bit(a))) {
			t->there = false; /* a stranger to this kind */
			continue;
		}
		if (!t->there && !row->optional) {
			report_missing(j, k);
			good = false;
		}
		if (t->there && is_integer(k) && !read_integer(t)) {
			archive_report_key(j, CKPT_D_ARCHIVE_INTEGER, k,
				"digits without leading zeros, at most "
				"18446744073709551615");
			good = false;
		}
	}
	return good;
}

/* The keys that have one value only. */
static void
judge_words(struct safetensors_judge *j)
{
	static const struct {
		enum archive_key key;
		enum ckpt_code code;
	} words[] = {
		{ ARCHIVE_ENCODER, CKPT_D_ARCHIVE_ENCODER },
		{ ARCHIVE_LAYOUT, CKPT_D_ARCHIVE_LAYOUT },
		{ ARCHIVE_HEAD, CKPT_D_ARCHIVE_HEAD },
		{ ARCHIVE_ALIAS, CKPT_D_ARCHIVE_ALIAS },
		{ ARCHIVE_SEMANTICS, CKPT_D_ARCHIVE_SEMANTICS },
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		enum archive_key key = words[i].key;
		const struct archive_text *t = &j->file->archive->keys[key];
		const char *word = archive_keys[key].word;

		/* What is no integer was said to be none. */
		if (t->there && !is(&t->text, word) &&
			(t->counts || !is_integer(key)))
			archive_report_key(j, words[i].code, key, word);
	}
}

enum ckpt_status
archive_judge_keys(struct safetensors_judge *j)
{
	struct ckpt_diags *diags = &j->run->diags;
	struct archive *a = j->file->archive;
	bool training, there;

	ckpt_diags_ran(diags, "archive");
	if (!judge_kind(j, &training) || !judge_version(j) ||
		!judge_composition(j, training))
		return CKPT_OK;
	j->run->format_version = 1;
	ckpt_diags_ran(diags, "settings");
	there = judge_there(j);
	CKPT_TRY(judge_unknown(j));
	judge_words(j);
	CKPT_TRY(archive_judge_texts(j));
	a->settled = there && archive_judge_settings(j);
	return CKPT_OK;
}
