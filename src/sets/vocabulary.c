/* SPDX-License-Identifier: MIT */
/*
 * The tokenizer's files against the embedding: an id that has no row makes
 * the first such text fail, or read another tensor's memory. A file that is
 * laid out in another way than the usual ones says nothing.
 */
#include "sets/set_parts.h"

#include <inttypes.h>
#include <string.h>

/* The highest id so far; any is false while there is none. */
struct ids {
	bool any;
	uint64_t highest;
};

static void
take(struct ids *ids, uint64_t id)
{
	if (!ids->any || id > ids->highest)
		ids->highest = id;
	ids->any = true;
}

static bool
is_integer(const struct ckpt_doc_value *value)
{
	uint64_t i = 0;

	if (!value || value->kind != CKPT_DOC_NUMBER)
		return false;
	for (i = value->p[0] == '-'; i < value->n; i++)
		if (value->p[i] < '0' || value->p[i] > '9')
			return false;
	return true;
}

/* Those below 0 have no row to miss. False if it is no integer. */
static bool
take_id(struct ids *ids, const struct ckpt_doc_value *value)
{
	uint64_t id;

	if (!is_integer(value))
		return false;
	if (ckpt_doc_u64(value, &id))
		take(ids, id);
	else if (value->p[0] != '-')
		take(ids, UINT64_MAX);
	return true;
}

/* An object of integers; anything else leaves ids alone. */
static void
take_object(struct ids *ids, const struct ckpt_doc_value *object)
{
	struct ids found = { 0 };

	for (const struct ckpt_doc_value *v = object->first; v; v = v->next)
		if (!take_id(&found, v))
			return;
	if (found.any)
		take(ids, found.highest);
}

static void
take_vocabulary(struct ids *ids, const struct ckpt_doc_value *vocabulary)
{
	if (!vocabulary)
		return;
	if (vocabulary->kind == CKPT_DOC_OBJECT)
		take_object(ids, vocabulary);
	else if (vocabulary->kind == CKPT_DOC_ARRAY && vocabulary->n > 0)
		take(ids, vocabulary->n - 1);
}

static void
take_added(struct ids *ids, const struct ckpt_doc_value *added)
{
	if (!added || added->kind != CKPT_DOC_ARRAY)
		return;
	for (const struct ckpt_doc_value *v = added->first; v; v = v->next)
		(void)take_id(ids, ckpt_doc_get(v, "id"));
}

static void
judge_ids(struct ckpt_set *set, const char *name, const struct ids *ids,
	uint64_t rows)
{
	if (rows == 0 || ids->highest < rows)
		return;
	ckpt_set_report(set, CKPT_D_TOKENIZER_IDS, name,
		&(struct ckpt_diag){
			.expected =
				ckpt_set_text(set, "ids below %" PRIu64, rows),
			.found = ckpt_set_text(set, "%" PRIu64, ids->highest),
		});
}

static bool
is_file(const struct ckpt_set *set, const char *name)
{
	const struct ckpt_folder_entry *e =
		ckpt_folder_find(&set->folder, name);

	return e && e->kind == CKPT_ENTRY_FILE;
}

/* A file of the tokenizer; *doc stays without a root if it is not there, or
 * no JSON object, which is said. */
static enum ckpt_status
open_file(struct ckpt_set *set, const char *name, struct ckpt_doc *doc)
{
	enum ckpt_status status;
	struct ckpt_value found = ckpt_v_text("JSON, but no object");

	memset(doc, 0, sizeof *doc);
	if (!is_file(set, name))
		return CKPT_OK;
	status = ckpt_side_read(set, name, doc);
	if (status != CKPT_OK ||
		(doc->root && doc->root->kind == CKPT_DOC_OBJECT))
		return status;
	if (!doc->root)
		found = ckpt_set_text(set, "%s, at byte %llu", doc->fault,
			(unsigned long long)doc->fault_at);
	ckpt_set_report(set, CKPT_D_TOKENIZER_TORN, name,
		&(struct ckpt_diag){ .off = doc->fault_at, .found = found });
	doc->root = NULL;
	return CKPT_OK;
}

/* Lines that are merges: neither empty nor the version's. */
static uint64_t
count_merges(const uint8_t *text, size_t n)
{
	static const char version[] = "#version";
	uint64_t count = 0;

	for (size_t at = 0; at < n;) {
		const uint8_t *end = memchr(text + at, '\n', n - at);
		size_t k = end ? (size_t)(end - text) - at : n - at;
		size_t line = k > 0 && text[at + k - 1] == '\r' ? k - 1 : k;

		count += line > 0 && (line < sizeof version - 1 ||
					     memcmp(text + at, version,
						     sizeof version - 1) != 0);
		at += k + 1;
	}
	return count;
}

static enum ckpt_status
judge_merges(struct ckpt_set *set, uint64_t rows)
{
	static const char name[] = "merges.txt";
	const char *path;
	const uint8_t *text;
	enum ckpt_status status;
	uint64_t merges;
	size_t n;

	if (rows == 0 || !is_file(set, name))
		return CKPT_OK;
	path = ckpt_set_path(set, name);
	status = path ? ckpt_entry_read(&set->arena, path, &text, &n)
		      : ckpt_arena_status(&set->arena);
	if (status != CKPT_OK)
		return status;
	merges = count_merges(text, n);
	if (merges > rows)
		ckpt_set_report(set, CKPT_D_TOKENIZER_IDS, name,
			&(struct ckpt_diag){
				.expected = ckpt_set_text(set,
					"at most %" PRIu64 " merges", rows),
				.found = ckpt_v_u64(merges),
			});
	return CKPT_OK;
}

enum ckpt_status
ckpt_vocabulary_judge(struct ckpt_set *set, uint64_t rows)
{
	struct ids plain = { 0 }, full = { 0 };
	const struct ckpt_doc_value *model;
	struct ckpt_doc doc;
	enum ckpt_status status = open_file(set, "vocab.json", &doc);

	if (status != CKPT_OK)
		return status;
	if (doc.root)
		take_object(&plain, doc.root);
	judge_ids(set, "vocab.json", &plain, rows);
	status = open_file(set, "tokenizer.json", &doc);
	if (status != CKPT_OK)
		return status;
	model = ckpt_doc_get(doc.root, "model");
	take_vocabulary(&full, ckpt_doc_get(model, "vocab"));
	take_added(&full, ckpt_doc_get(doc.root, "added_tokens"));
	judge_ids(set, "tokenizer.json", &full, rows);
	return judge_merges(set, rows);
}
