/* SPDX-License-Identifier: MIT */
/*
 * The header's JSON text, token by token, into the decoded file. Nothing is
 * repaired: what is not JSON ends the reading, what is JSON but not a header
 * is reported and passed over, so that one look finds all faults. Sound
 * entries are kept; of faulty ones no more than where their names are, because
 * a hostile header could multiply what they cost.
 */
#include "format/safetensors.h"

#include <string.h>

#include "base/checked.h"
#include "base/utf8.h"

enum { SHOWN = 16 };

static const struct {
	enum ckpt_code code;
	const char *expected;
} faults[] = {
	[CKPT_FAULT_ENDS] = { CKPT_D_ST_SYNTAX, "more of the header" },
	[CKPT_FAULT_SYNTAX] = { CKPT_D_ST_SYNTAX, NULL },
	[CKPT_FAULT_CONTROL] = { CKPT_D_ST_CONTROL, "an escape" },
	[CKPT_FAULT_ESCAPE] = { CKPT_D_ST_ESCAPE,
		"\\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four digits" },
	[CKPT_FAULT_SURROGATE] = { CKPT_D_ST_SURROGATE,
		"a high and a low surrogate" },
	[CKPT_FAULT_NUMBER] = { CKPT_D_ST_NUMBER, "a number" },
	[CKPT_FAULT_RANGE] = { CKPT_D_ST_RANGE, "at most 1.8e308" },
	[CKPT_FAULT_COMMA] = { CKPT_D_ST_COMMA, "no comma" },
	[CKPT_FAULT_LITERAL] = { CKPT_D_ST_LITERAL, "true, false or null" },
	[CKPT_FAULT_DEPTH] = { CKPT_D_ST_DEPTH, NULL },
	[CKPT_FAULT_TRAILING] = { CKPT_D_ST_TRAILING_TEXT,
		"white space or the end" },
};

/* What could stand where the text breaks. */
static const char *
expected_at(const struct ckpt_scan *scan)
{
	switch (scan->next) {
	case CKPT_SCAN_VALUE: return "a value";
	case CKPT_SCAN_VALUE_OR_END: return "a value or ]";
	case CKPT_SCAN_NAME_OR_END: return "a key in quotes or }";
	case CKPT_SCAN_COMMA_OR_END:
		return "a comma and what follows it, or "
		       "a closing bracket";
	case CKPT_SCAN_NOTHING: break;
	}
	return "the end";
}

/* Of at least one byte. */
static bool
all_nul(const uint8_t *p, size_t n)
{
	return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

static void
report_fault(struct safetensors_judge *j, const struct ckpt_scan *scan,
	const struct ckpt_token *token)
{
	size_t len = token->end - token->at;
	enum ckpt_code code = faults[scan->fault].code;
	const char *expected = faults[scan->fault].expected;
	const char *note = j->run->foreign;

	if (scan->fault == CKPT_FAULT_TRAILING &&
		all_nul(scan->p + token->at, len)) {
		code = CKPT_D_ST_NUL_PADDING;
		note = "padding is spaces (0x20); the tensors are intact";
	}
	if (scan->fault == CKPT_FAULT_DEPTH)
		expected = ckpt_walk_text(
			&j->walk, "at most %u levels", scan->most);
	if (scan->fault == CKPT_FAULT_SYNTAX)
		expected = expected_at(scan);
	SAFETENSORS_REPORT(j, .code = code, .unit = safetensors_at(token->at),
		.path = "header", .off = safetensors_at(token->at), .len = len,
		.expected = ckpt_v_text(expected),
		.found = scan->fault == CKPT_FAULT_ENDS
				 ? ckpt_v_text("the header's last byte")
				 : ckpt_v_bytes(scan->p + token->at,
					   len < SHOWN ? len : SHOWN),
		.note = note);
}

/* ---- __metadata__ ------------------------------------------------------- */

static void
report_type(struct safetensors_judge *j, const struct ckpt_token *at,
	enum ckpt_code code, const char *path, const char *expected)
{
	SAFETENSORS_REPORT(j, .code = code, .unit = safetensors_at(at->at),
		.path = path, .off = safetensors_at(at->at),
		.len = at->end - at->at, .expected = ckpt_v_text(expected),
		.found = ckpt_v_text(safetensors_kind_text(at->kind)));
}

static bool
keep_entry(struct safetensors_judge *j, const struct ckpt_token *key,
	const struct ckpt_token *value)
{
	struct ckpt_array *list = &j->file->metadata;
	struct safetensors_entry *grown = ckpt_arena_push(
		&j->run->arena, list->p, list->n, sizeof *grown);

	if (!grown)
		return false;
	list->p = grown;
	grown[list->n++] = (struct safetensors_entry){
		.at = (uint32_t)key->at,
		.value_at = (uint32_t)value->at,
		.after = (uint32_t)value->end,
		.hash = ckpt_scan_hash(
			j->file->json, (size_t)j->file->header_bytes, key->at),
	};
	list->declared = list->n;
	return true;
}

static bool
parse_entries(struct safetensors_judge *j, struct ckpt_scan *scan,
	struct ckpt_token *token)
{
	uint64_t number = 0;

	while (ckpt_scan_next(scan, token) == CKPT_SCAN_KEY) {
		struct ckpt_token key = *token, value;

		if (ckpt_scan_next(scan, token) == CKPT_SCAN_FAULT)
			return false;
		value = *token;
		if (token->kind != CKPT_SCAN_STRING) {
			report_type(j, token, CKPT_D_ST_METADATA_VALUE,
				ckpt_walk_text(&j->walk, "metadata[%llu]",
					(unsigned long long)number),
				"a string");
			if (!safetensors_pass_unknown(j, scan, token))
				return false;
			value.end = token->end;
		}
		if (!keep_entry(j, &key, &value))
			return false;
		number++;
	}
	return token->kind == CKPT_SCAN_OBJECT_END;
}

static bool
parse_metadata_value(struct safetensors_judge *j, struct ckpt_scan *scan)
{
	struct ckpt_token token;

	if (ckpt_scan_next(scan, &token) == CKPT_SCAN_OBJECT)
		return parse_entries(j, scan, &token);
	if (token.kind == CKPT_SCAN_NULL)
		return true;
	if (token.kind == CKPT_SCAN_FAULT)
		return false;
	report_type(j, &token, CKPT_D_ST_METADATA_TYPE, "metadata",
		"an object or null");
	return safetensors_pass_unknown(j, scan, &token);
}

static void
report_metadata(struct safetensors_judge *j, uint64_t first, uint64_t last)
{
	uint64_t end[2], at[2] = { safetensors_value_of(j, first, &end[0]),
		safetensors_value_of(j, last, &end[1]) };

	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_METADATA_REPEATED,
		.unit = safetensors_at(last), .path = "metadata",
		.off = safetensors_at(last), .len = end[1] - last,
		.expected = ckpt_v_text("one " SAFETENSORS_METADATA),
		.found = ckpt_v_text(
			ckpt_walk_text(&j->walk, "another one at offset %llu",
				(unsigned long long)safetensors_at(first))),
		.note = ckpt_walk_text(&j->walk,
			"the format's own loader refuses this, %s",
			safetensors_readers(j,
				safetensors_raw(j, at[0], end[0]),
				safetensors_raw(j, at[1], end[1]))));
}

/* first is where __metadata__ was seen before, UINT64_MAX if it was not. */
static bool
parse_metadata(struct safetensors_judge *j, struct ckpt_scan *scan,
	const struct ckpt_token *key, uint64_t *first)
{
	bool on;

	if (*first != UINT64_MAX && j->metadata_again == 0)
		j->metadata_again = (uint32_t)key->at;
	j->in_metadata = true;
	on = parse_metadata_value(j, scan);
	j->in_metadata = false;
	if (on && *first != UINT64_MAX)
		report_metadata(j, *first, key->at);
	*first = key->at;
	return on;
}

/* ---- Keys of what the format does not know ------------------------------ */

void
safetensors_keep_key(struct safetensors_judge *j, struct ckpt_scan *scan,
	const struct ckpt_token *token, uint32_t object, bool field)
{
	struct safetensors_key *grown;

	if (j->reference)
		return;
	grown = ckpt_arena_push(
		&j->run->arena, j->keys, j->nkeys, sizeof *grown);
	if (!grown)
		return; /* the arena remembers */
	j->keys = grown;
	grown[j->nkeys++] = (struct safetensors_key){
		.object = object & INT32_MAX,
		.field = field,
		.at = (uint32_t)token->at,
		.hash = ckpt_scan_hash(scan->p, scan->n, token->at),
		.record = j->in_metadata ? SAFETENSORS_IN_METADATA : j->entries,
	};
}

bool
safetensors_pass_unknown(struct safetensors_judge *j, struct ckpt_scan *scan,
	struct ckpt_token *token)
{
	uint32_t objects[CKPT_SCAN_DEPTH_MOST + 1];
	unsigned outside = scan->depth;

	if (token->kind != CKPT_SCAN_OBJECT && token->kind != CKPT_SCAN_ARRAY)
		return token->kind != CKPT_SCAN_FAULT;
	outside--;
	objects[scan->depth] = j->objects++;
	while (scan->depth > outside) {
		switch (ckpt_scan_next(scan, token)) {
		case CKPT_SCAN_FAULT: return false;
		case CKPT_SCAN_OBJECT:
			/* guards: depth <= CKPT_SCAN_DEPTH_MOST */
			objects[scan->depth] = j->objects++;
			break;
		case CKPT_SCAN_KEY:
			safetensors_keep_key(
				j, scan, token, objects[scan->depth], false);
			break;
		case CKPT_SCAN_OBJECT_END:
		case CKPT_SCAN_ARRAY:
		case CKPT_SCAN_ARRAY_END:
		case CKPT_SCAN_STRING:
		case CKPT_SCAN_NUMBER:
		case CKPT_SCAN_TRUE:
		case CKPT_SCAN_FALSE:
		case CKPT_SCAN_NULL:
		case CKPT_SCAN_DONE: break;
		}
	}
	return true;
}

/* ---- The text as a whole ------------------------------------------------ */

/* What no tokenizer should see; false if there is such a thing. */
static bool
judge_text(struct safetensors_judge *j, const uint8_t *p, size_t n)
{
	size_t valid;

	if (!ckpt_utf8_valid(p, n, &valid)) {
		SAFETENSORS_REPORT(j, .code = CKPT_D_ST_UTF8, .path = "header",
			.off = safetensors_at(valid), .len = 1,
			.expected = ckpt_v_text("UTF-8"),
			.found = ckpt_v_bytes(
				p + valid, n - valid < 4 ? n - valid : 4),
			.note = j->run->foreign);
		return false;
	}
	j->is_utf8 = true;
	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
		SAFETENSORS_REPORT(j, .code = CKPT_D_ST_BOM, .path = "header",
			.off = SAFETENSORS_LENGTH_BYTES, .len = 3,
			.expected = ckpt_v_text("{"),
			.found = ckpt_v_text("U+FEFF"));
		return false;
	}
	return true;
}

static void
judge_space_before(struct safetensors_judge *j, const struct ckpt_token *brace)
{
	if (brace->at > 0 && !j->reference)
		SAFETENSORS_REPORT(j, .code = CKPT_D_ST_SPACE_BEFORE,
			.path = "header", .off = SAFETENSORS_LENGTH_BYTES,
			.len = brace->at,
			.found = ckpt_v_text(
				safetensors_count(j, brace->at, "byte")));
}

static bool
parse_root(struct safetensors_judge *j, struct ckpt_scan *scan,
	struct ckpt_token *token)
{
	uint64_t metadata = UINT64_MAX;

	if (ckpt_scan_next(scan, token) == CKPT_SCAN_FAULT)
		return false;
	j->begun = true;
	if (token->kind != CKPT_SCAN_OBJECT) {
		report_type(
			j, token, CKPT_D_ST_NOT_OBJECT, "header", "an object");
		return false;
	}
	judge_space_before(j, token);
	while (ckpt_scan_next(scan, token) == CKPT_SCAN_KEY) {
		const struct ckpt_token key = *token;
		struct ckpt_str name;
		bool on;

		if (!ckpt_scan_text(scan, &key, &j->run->arena, &name))
			return false;
		on = name.n == strlen(SAFETENSORS_METADATA) &&
				     memcmp(name.p, SAFETENSORS_METADATA,
					     name.n) == 0
			     ? parse_metadata(j, scan, &key, &metadata)
			     : safetensors_parse_record(j, scan, &key, &name);
		if (!on || j->run->arena.failure)
			return false;
	}
	/* Behind the closing brace; or the fault, again. */
	return ckpt_scan_next(scan, token) == CKPT_SCAN_DONE;
}

enum ckpt_status
safetensors_parse_header(struct safetensors_judge *j)
{
	const uint8_t *p = j->file->json;
	size_t n = (size_t)j->file->header_bytes;
	struct ckpt_token token = { 0 };
	struct ckpt_scan scan;

	if (!judge_text(j, p, n))
		return CKPT_OK;
	ckpt_scan_init(&scan, p, n,
		j->reference ? SAFETENSORS_LOADER_DEPTH : SAFETENSORS_DEPTH);
	j->parsed = parse_root(j, &scan, &token);
	if (j->run->arena.failure)
		return ckpt_run_memory(j->run);
	if (scan.fault != CKPT_FAULT_NONE) {
		ckpt_scan_next(&scan, &token);
		report_fault(j, &scan, &token);
	}
	return CKPT_OK;
}
