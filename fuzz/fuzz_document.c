/* SPDX-License-Identifier: MIT */
/*
 * Targets: sets/document*.
 *
 * Reads the bytes as JSON of Python's kind. Whatever jansson takes is taken
 * too, with as many members in the outermost value and no key twice where
 * jansson saw none; every key lies inside the text.
 */
#undef NDEBUG
#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "../fuzz/target.h"
#include "sets/document.h"

static void
check_members(const struct ckpt_doc_value *box, size_t size)
{
	uint64_t n = 0;

	if (box->kind != CKPT_DOC_ARRAY && box->kind != CKPT_DOC_OBJECT)
		return;
	for (const struct ckpt_doc_value *v = box->first; v; v = v->next) {
		uint64_t u;
		double x;

		n++;
		assert(v->key_at < size);
		assert((v->key != NULL) == (box->kind == CKPT_DOC_OBJECT));
		assert(!ckpt_doc_u64(v, &u) || v->kind == CKPT_DOC_NUMBER);
		assert(!ckpt_doc_f64(v, &x) || v->kind == CKPT_DOC_NUMBER);
	}
	assert(n == box->n);
}

static void
compare(const struct ckpt_doc *doc, const json_t *theirs)
{
	const struct ckpt_doc_value *ours = doc->root;

	if (!ours) {
		/* jansson goes deeper. */
		assert(strstr(doc->fault, "512"));
		return;
	}
	assert(!doc->twice);
	if (json_is_object(theirs))
		assert(ours->n == json_object_size(theirs));
	else if (json_is_array(theirs))
		assert(ours->n == json_array_size(theirs));
	else if (json_is_string(theirs))
		assert(ours->n == json_string_length(theirs) &&
			memcmp(ours->p, json_string_value(theirs),
				(size_t)ours->n) == 0);
}

void
ckpt_fuzz_document(const uint8_t *data, size_t size)
{
	struct ckpt_arena arena;
	struct ckpt_doc doc;
	enum ckpt_status status;
	json_t *theirs;

	ckpt_arena_init(&arena, CKPT_FUZZ_MEMORY);
	status = ckpt_doc_read(&doc, &arena, data, size, true);
	theirs = json_loadb((const char *)data, size,
		JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES,
		NULL);
	if (status == CKPT_OK) {
		assert((doc.root == NULL) == (doc.fault != NULL));
		assert(doc.fault_at <= size);
		if (doc.root)
			check_members(doc.root, size);
		/* jansson takes a NUL byte for the end of a number. */
		if (theirs && !memchr(data, 0, size))
			compare(&doc, theirs);
	}
	json_decref(theirs);
	ckpt_arena_release(&arena);
}
