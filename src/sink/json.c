/* SPDX-License-Identifier: MIT */
/*
 * The JSON of a result. Jansson takes no integers beyond 2^63 - 1 and refuses
 * text that is not UTF-8, and most readers of JSON lose integers from 2^53 on;
 * everything passes through the few functions that know this. An object that
 * could not be made is NULL, and so is whatever was to hold it: failures are
 * looked at once, at the end.
 */
#include "sink/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/value.h"

#define EXACT ((uint64_t)1 << 53)

json_t *
ckpt_json_u64(uint64_t value)
{
	if (value < EXACT)
		return json_integer((json_int_t)value);
	return json_sprintf("%" PRIu64, value);
}

json_t *
ckpt_json_take(struct ckpt_buf *buf)
{
	json_t *text =
		buf->failed ? NULL : json_stringn(buf->p ? buf->p : "", buf->n);

	ckpt_buf_clear(buf);
	return text;
}

/* The same at the end of a buffer's life. */
static json_t *
text_of(struct ckpt_buf *buf)
{
	json_t *text = ckpt_json_take(buf);

	ckpt_buf_release(buf);
	return text;
}

json_t *
ckpt_json_escaped(const void *bytes, size_t n)
{
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	ckpt_buf_escape(&buf, bytes, n, 0);
	return text_of(&buf);
}

static json_t *
double_object(uint64_t bits)
{
	double x = ckpt_f64_from_bits(bits);

	return json_pack("{s:o, s:o}", "value",
		isfinite(x) ? json_real(x) : json_null(), "bits",
		json_sprintf("%016" PRIx64, bits));
}

json_t *
ckpt_json_value(const struct ckpt_value *value)
{
	struct ckpt_buf buf;

	switch (value->kind) {
	case CKPT_V_NONE: return json_null();
	case CKPT_V_U64: return ckpt_json_u64(value->u64);
	case CKPT_V_F64: return double_object(value->u64);
	case CKPT_V_BYTES: return ckpt_json_escaped(value->p, value->n);
	case CKPT_V_HASH:
	case CKPT_V_TEXT: break;
	}
	ckpt_buf_init(&buf);
	ckpt_value_write(&buf, value);
	return text_of(&buf);
}

/* What was expected and found is for people: text, whatever the kind. */
static json_t *
shown(const struct ckpt_value *value)
{
	struct ckpt_buf buf;

	if (value->kind == CKPT_V_NONE)
		return json_null();
	ckpt_buf_init(&buf);
	ckpt_value_write(&buf, value);
	return text_of(&buf);
}

static json_t *
message(const struct ckpt_diag *diag)
{
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	ckpt_diag_message(&buf, diag);
	return text_of(&buf);
}

static json_t *
finding(const struct ckpt_diag *d)
{
	const struct ckpt_rule *r = d->rule;

	return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:s, s:o, "
			 "s:o, s:o, s:s?}",
		"rule", r->id, "slug", r->slug, "severity",
		ckpt_severity_name(r->severity), "class",
		ckpt_class_name(r->class_), "seed_kind", r->seed_kind, "count",
		ckpt_json_u64(d->count), "offset", ckpt_json_u64(d->off),
		"length", ckpt_json_u64(d->len), "path", d->path, "expected",
		shown(&d->expected), "found", shown(&d->found), "message",
		message(d), "caused_by",
		d->caused_by ? d->caused_by->id : NULL);
}

static json_t *
findings(const struct ckpt_run *run, bool first)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);
	json_t *list = json_array();
	bool ok = list != NULL;

	if (first) {
		if (ok && primary)
			ok = json_array_append_new(list, finding(primary)) == 0;
	} else {
		for (size_t i = 0; ok && i < ckpt_run_finding_count(run); i++)
			ok = json_array_append_new(list,
				     finding(ckpt_run_finding(run, i))) == 0;
	}
	if (!ok)
		json_decref(list);
	return ok ? list : NULL;
}

static json_t *
rules(const struct ckpt_result *result)
{
	json_t *passed = json_array(), *failed = json_array();
	json_t *not_evaluated = json_array();
	int bad = 0;

	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *id = ckpt_rule_at(i)->id, *reason = NULL;

		switch (ckpt_result_rule(result, i, &reason)) {
		case CKPT_RULE_NOT_APPLICABLE: break;
		case CKPT_RULE_PASSED:
			bad |= json_array_append_new(passed, json_string(id));
			break;
		case CKPT_RULE_FAILED:
			bad |= json_array_append_new(failed, json_string(id));
			break;
		case CKPT_RULE_NOT_EVALUATED:
			bad |= json_array_append_new(
				not_evaluated, json_pack("{s:s, s:s}", "rule",
						       id, "reason", reason));
			break;
		}
	}
	if (bad) {
		json_decref(passed);
		passed = NULL;
	}
	return json_pack("{s:o, s:o, s:o}", "passed", passed, "failed", failed,
		"not_evaluated", not_evaluated);
}

static json_t *
summary(const struct ckpt_run *run)
{
	json_t *object = json_object();
	int bad = 0;

	for (size_t i = 0; i < run->nfacts; i++)
		bad |= json_object_set_new(object, run->facts[i].name,
			ckpt_json_value(&run->facts[i].value));
	if (bad) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *
words(const char *const *list)
{
	json_t *array = json_array();
	int bad = 0;

	for (; list && *list; list++)
		bad |= json_array_append_new(array, json_string(*list));
	if (bad) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *
scope_object(const struct ckpt_scope *scope)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "stored", words(scope->stored),
		"supplied", words(scope->supplied), "required",
		words(scope->required), "outside", words(scope->outside));
}

static json_t *
primary_of(const struct ckpt_run *run)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);

	return primary ? finding(primary) : json_null();
}

static json_t *
file_object(const struct ckpt_result *result)
{
	const struct ckpt_run *run = result->run;

	return json_pack("{s:o, s:o}", "path",
		ckpt_json_escaped(result->path, strlen(result->path)), "size",
		run->size_known ? ckpt_json_u64(run->size) : json_null());
}

static json_t *
record_digests(const struct ckpt_digest *d)
{
	json_t *list = json_array();
	struct ckpt_buf path;
	int bad = 0;

	ckpt_buf_init(&path);
	for (uint64_t i = 0; i < d->nrecords; i++) {
		const struct ckpt_record_digest *r = &d->records[i];

		ckpt_digest_path_write(&path, d, r);
		bad |= json_array_append_new(list,
			json_pack("{s:o, s:o, s:s?}", "path",
				ckpt_json_take(&path), "name",
				ckpt_json_escaped(r->name, r->name_len),
				"sha256", r->sha256[0] ? r->sha256 : NULL));
	}
	ckpt_buf_release(&path);
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *
digests(const struct ckpt_digest *d)
{
	json_t *object = json_pack("{s:s?, s:o}", "sha256",
		d->sha256[0] ? d->sha256 : NULL, "records", record_digests(d));

	if (object && d->missing &&
		json_object_set_new(
			object, "reason", json_string(d->missing)) != 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *
cause(const struct ckpt_hint *c)
{
	json_t *evidence = json_array();
	int bad = 0;

	for (uint64_t i = 0; i < c->nevidence; i++)
		bad |= json_array_append_new(
			evidence, json_string(c->evidence[i]));
	if (bad) {
		json_decref(evidence);
		evidence = NULL;
	}
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:o}", "cause",
		c->slug, "title", c->title, "likelihood",
		ckpt_likelihood_name(c->likelihood), "reason", c->reason,
		"offset", ckpt_json_u64(c->off), "length",
		ckpt_json_u64(c->len), "path", c->path, "evidence", evidence);
}

static json_t *
causes(const struct ckpt_hints *all)
{
	json_t *list = json_array();
	int bad = 0;

	for (uint64_t i = 0; i < all->n; i++)
		bad |= json_array_append_new(list, cause(&all->list[i]));
	if (bad) {
		json_decref(list);
		return NULL;
	}
	return list;
}

/* What is said only where there is something to say. */
static bool
add_extras(json_t *object, const struct ckpt_result *result, bool scope)
{
	const struct ckpt_run *run = result->run;
	int bad = 0;

	if (result->failed_on_warning)
		bad |= json_object_set_new(
			object, "failed_on", json_string("warning"));
	if (run->diags.suppressed > 0)
		bad |= json_object_set_new(object, "suppressed",
			ckpt_json_u64(run->diags.suppressed));
	if (result->digest)
		bad |= json_object_set_new(
			object, "digests", digests(result->digest));
	if (result->causes) {
		bad |= json_object_set_new(
			object, "causes", causes(result->causes));
		bad |= json_object_set_new(object, "causes_scope",
			json_pack("{s:o, s:s?}", "examined",
				ckpt_json_u64(result->causes->examined),
				"limit", result->causes->limit));
	}
	if (scope && ckpt_run_scope(run))
		bad |= json_object_set_new(
			object, "scope", scope_object(ckpt_run_scope(run)));
	return bad == 0;
}

json_t *
ckpt_json_result(const struct ckpt_result *result, bool first, bool scope)
{
	const struct ckpt_run *run = result->run;
	unsigned version;
	const char *format = ckpt_run_format(run, &version);
	json_t *object = json_pack("{s:s, s:o, s:s?, s:o, s:s, s:i, s:o, s:o, "
				   "s:o, s:o}",
		"schema", CKPT_JSON_SCHEMA_VERIFY, "file", file_object(result),
		"format", result->kind ? result->kind : format,
		"format_version",
		format && (!run->format->named || version > 0)
			? json_integer((json_int_t)version)
			: json_null(),
		"verdict", ckpt_verdict_name(result->verdict), "exit_code",
		result->exit_code, "primary", primary_of(run), "findings",
		findings(run, first), "rules", rules(result), "summary",
		summary(run));

	if (object && !add_extras(object, result, scope)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static int
append(const char *bytes, size_t n, void *buf)
{
	ckpt_buf_add(buf, bytes, n);
	return 0;
}

void
ckpt_json_write(struct ckpt_buf *buf, json_t *object)
{
	if (!object ||
		json_dump_callback(object, append, buf, JSON_COMPACT) != 0)
		buf->failed = true;
	json_decref(object);
}
