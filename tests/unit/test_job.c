/* SPDX-License-Identifier: MIT */
/*
 * Job files: the published one is the one that is shipped, with its documents'
 * identity and ids; every section and every key is needed and nothing else is
 * taken; each range has a value on either side of its bound; messages name the
 * field.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/identity.h"
#include "replay/job.h"

static enum ckpt_status
read_text(struct ckpt_job *job, const char *text, struct ckpt_buf *why)
{
	return ckpt_job_read(job, text, strlen(text), why);
}

/* ---- the published job -------------------------------------------------- */

static void
test_job_published_is_shipped(void **state)
{
	char text[4096];
	FILE *f = fopen("corpus/jobs/demo.json", "r");
	size_t n;

	(void)state;
	assert_non_null(f);
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	assert_string_equal(text, ckpt_job_published_text);
}

static void
test_job_published_has_the_published_values(void **state)
{
	static const uint32_t ids[3][5] = { { 0, 259, 1 },
		{ 0, 264, 34, 259, 1 }, { 0, 258, 261, 1 } };
	static const size_t counts[3] = { 3, 5, 4 };
	struct ckpt_state first;
	char identity[CKPT_SHA256_TEXT];
	struct ckpt_job job;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_string_equal(job.training.data_sha256,
		"3c56c9c8d31bd0312dfd590917fe5842"
		"0b596f9169546a4fdbee86f9448f83ae");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(job.documents[i].n, counts[i]);
		assert_memory_equal(job.documents[i].ids, ids[i],
			counts[i] * sizeof ids[0][0]);
	}
	assert_int_equal(job.config.vocabulary, 266);
	assert_true(job.training.dropout_seed == 18446744073709551613u);
	assert_true(job.sampling_seed == 18446744073709551612u);
	assert_int_equal(ckpt_job_state(&job, &first), CKPT_OK);
	assert_int_equal(first.nparameters, 29);
	assert_true(ckpt_model_identity(&first, identity));
	assert_string_equal(identity, "dd4a73bee25011a0830ed6bd7b73e681"
				      "c5ac25381bab74620be70b735fd19f2b");
	ckpt_job_release(&job);
}

/* ---- edits of it -------------------------------------------------------- */

/* The object that holds the last part of a path like "plan.peak". */
static json_t *
holder(json_t *root, const char *path, const char **key)
{
	json_t *at = root;
	const char *dot;

	while ((dot = strchr(path, '.')) != NULL) {
		char part[64];

		snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
		at = json_is_array(at)
			     ? json_array_get(
				       at, (size_t)strtoul(part, NULL, 10))
			     : json_object_get(at, part);
		assert_non_null(at);
		path = dot + 1;
	}
	*key = path;
	return at;
}

/* Reads the published job with one value put in (NULL: taken out). */
static enum ckpt_status
read_edited(const char *path, const char *value, struct ckpt_job *job,
	struct ckpt_buf *why)
{
	json_t *root = json_loads(ckpt_job_published_text, 0, NULL);
	const char *key;
	json_t *at = holder(root, path, &key);
	enum ckpt_status status;
	char *text;

	if (!value) {
		assert_int_equal(json_object_del(at, key), 0);
	} else {
		json_t *put = json_loads(
			value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

		assert_non_null(put);
		assert_int_equal(json_object_set_new(at, key, put), 0);
	}
	text = json_dumps(root, 0);
	assert_non_null(text);
	status = read_text(job, text, why);
	free(text);
	json_decref(root);
	return status;
}

static void
assert_refused(const char *path, const char *value, const char *field)
{
	struct ckpt_buf why = { 0 };
	struct ckpt_job job;
	enum ckpt_status status = read_edited(path, value, &job, &why);

	if (status != CKPT_REJECTED)
		fail_msg("%s = %s is taken", path, value ? value : "nothing");
	if (!why.p || strstr(why.p, field) == NULL)
		fail_msg("%s = %s: '%s' does not name %s", path,
			value ? value : "nothing", why.p ? why.p : "", field);
	ckpt_buf_release(&why);
	ckpt_job_release(&job);
}

static void
assert_taken(const char *path, const char *value)
{
	struct ckpt_buf why = { 0 };
	struct ckpt_job job;

	if (read_edited(path, value, &job, &why) != CKPT_OK)
		fail_msg("%s = %s: %s", path, value, why.p ? why.p : "?");
	ckpt_buf_release(&why);
	ckpt_job_release(&job);
}

static const char *const every[] = { "schema", "model", "model.width",
	"model.heads", "model.kv_heads", "model.feed_forward_width",
	"model.layers", "model.max_positions", "model.context_window",
	"model.rope_base", "model.rms_epsilon", "model.init_seed", "tokenizer",
	"tokenizer.merges", "documents", "documents.0.id", "documents.2.text",
	"order", "plan", "plan.updates", "plan.warmup", "plan.peak",
	"plan.final", "plan.clip", "plan.microbatches", "plan.recompute_blocks",
	"optimizer", "optimizer.beta1", "optimizer.beta2", "optimizer.epsilon",
	"optimizer.weight_decay", "optimizer.groups", "dropout",
	"dropout.probability", "dropout.seed", "sampling", "sampling.seed",
	"scaler", "scaler.scale", "scaler.min", "scaler.max",
	"scaler.interval" };

/* The last part of its path. */
static const char *
leaf(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

static void
test_job_needs_every_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
		assert_refused(every[i], NULL, leaf(every[i]));
		assert_refused(every[i], "null", leaf(every[i]));
	}
}

static void
test_job_takes_no_other_key(void **state)
{
	static const char *const others[] = { "more", "model.more",
		"tokenizer.more", "documents.1.more", "plan.more",
		"optimizer.more", "dropout.more", "sampling.more",
		"scaler.more" };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_refused(others[i], "1", "more");
	/* A document is text or hex, not both. */
	assert_refused("documents.0.hex", "\"00\"", "text");
}

struct bound {
	const char *path, *taken, *refused;
};

static const struct bound bounds[] = {
	{ "schema", "\"ckpt-job/1\"", "\"ckpt-job/2\"" },
	{ "model.width", "8", "0" },
	{ "model.width", "2", "3" },
	{ "model.width", "6", "4.0" },
	{ "model.width", "4", "-4" },
	{ "model.heads", "2", "3" },
	{ "model.heads", "1", "0" },
	{ "model.kv_heads", "1", "0" },
	{ "model.kv_heads", "1", "2" },
	{ "model.feed_forward_width", "1", "0" },
	{ "model.layers", "0", "-1" },
	{ "model.layers", "1", "1e0" },
	{ "model.max_positions", "9", "7" },
	{ "model.context_window", "1", "0" },
	{ "model.context_window", "8", "9" },
	{ "model.rope_base", "1", "0" },
	{ "model.rope_base", "0.5", "-0.5" },
	{ "model.rms_epsilon", "0", "-1e-9" },
	{ "model.init_seed", "\"0\"", "\"\"" },
	{ "model.init_seed", "\"18446744073709551615\"",
		"\"18446744073709551616\"" },
	{ "model.init_seed", "\"7\"", "\"07\"" },
	{ "model.init_seed", "\"7\"", "\"+7\"" },
	{ "model.init_seed", "\"7\"", "7" },
	{ "plan.updates", "1", "0" },
	{ "plan.warmup", "0", "5" },
	{ "plan.warmup", "4", "-1" },
	{ "plan.peak", "1e-300", "0" },
	{ "plan.final", "1", "-1" },
	{ "plan.clip", "1e308", "0.0" },
	{ "plan.microbatches", "1", "0" },
	{ "plan.recompute_blocks", "false", "0" },
	{ "optimizer.beta1", "0", "1" },
	{ "optimizer.beta2", "0.5", "-0.5" },
	{ "optimizer.epsilon", "5e-324", "0" },
	{ "optimizer.weight_decay", "0", "-1" },
	/* Peak x decay has to be below 1. */
	{ "optimizer.weight_decay", "999", "1000" },
	{ "optimizer.groups", "\"none\"", "\"gain\"" },
	{ "dropout.probability", "0", "1" },
	{ "dropout.probability", "0.9999999999999999", "-0.1" },
	{ "dropout.seed", "\"0\"", "\"-1\"" },
	{ "sampling.seed", "\"0\"", "\"a\"" },
	{ "scaler.scale", "1", "0.5" },
	{ "scaler.scale", "32", "64" },
	{ "scaler.scale", "4", "3" },
	{ "scaler.min", "2.2250738585072014e-308", "1.1125369292536007e-308" },
	{ "scaler.max", "8.98846567431158e+307", "12" },
	{ "scaler.interval", "1", "0" },
};

static void
test_job_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		const struct bound *b = &bounds[i];

		char section[32];

		snprintf(section, sizeof section, "%.*s",
			(int)strcspn(b->path, "."), b->path);
		assert_taken(b->path, b->taken);
		assert_refused(b->path, b->refused, section);
	}
}

/* Reads the published job with other text in one place; the refusal, or "". */
static void
read_replaced(const char *was, const char *now, struct ckpt_job *job,
	struct ckpt_buf *why)
{
	const char *at = strstr(ckpt_job_published_text, was);
	struct ckpt_buf text = { 0 };

	if (!at)
		fail_msg("the published job has no %s", was);
	ckpt_buf_add(&text, ckpt_job_published_text,
		(size_t)(at - ckpt_job_published_text));
	ckpt_buf_puts(&text, now);
	ckpt_buf_puts(&text, at + strlen(was));
	(void)!ckpt_job_read(job, text.p, text.n, why);
	ckpt_buf_release(&text);
}

/* Jansson has no integers beyond 2^63 - 1; as reals they are read, alone or
 * beside text that only looks like them. Where an integer has to be they are
 * refused by name, and what is no JSON stays none. */
static void
test_job_wide_numbers(void **state)
{
	static const char max[] = "\"max\": 32";
	static const struct {
		const char *was, *now, *refused;
	} cases[] = {
		{ max, "\"max\":18446744073709551616", NULL },
		{ max, "\"max\": 27670116110564327424", "scaler.max" },
		{ max, "\"max\": -18446744073709551616", "scaler.max" },
		{ max, "\"max\": 018446744073709551616", "line 30" },
		{ max, "\"max\": 18446744073709551616x", "line 30" },
		{ max, "\"max\": 1e-18446744073709551616", "scaler.max" },
		{ "\"rope_base\": 10000.0",
			"\"rope_base\": 100000000000000000000", NULL },
		{ "\"width\": 4", "\"width\": 18446744073709551616",
			"model.width: 1.8446744073709552e+19 is not from 1" },
		{ "\"width\": 4", "\"width\": -9223372036854775809",
			"model.width: -9.2233720368547758e+18 is not from" },
		{ "\"microbatches\": 2",
			"\"microbatches\": 9223372036854775808",
			"plan.microbatches" },
		{ "\"microbatches\": 2",
			"\"microbatches\": 9223372036854775807", NULL },
	};
	struct ckpt_buf why = { 0 };
	struct ckpt_job job;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *refused = cases[i].refused;

		read_replaced(cases[i].was, cases[i].now, &job, &why);
		if (refused ? !why.n || !strstr(why.p, refused) : why.n > 0)
			fail_msg("%s: '%s'", cases[i].now, why.p ? why.p : "");
		if (i == 0)
			assert_true(job.training.scaler.max == 0x1p64);
		ckpt_job_release(&job);
	}
	/* Strings stay what they are, behind an escaped quote as well. */
	read_replaced(
		"\"id\": \"medium/full\", \"text\": \"thing\" }\n  ],\n"
		"  \"order\": [2, 0, 1],\n  \"plan\": {\n    \"updates\": 4,"
		" \"warmup\": 1, \"peak\": 0.001, \"final\": 0.0001,\n"
		"    \"clip\": 1.0",
		"\"id\":\"\\\"20000000000000000000\",\"text\":\"\"}],"
		"\"order\":[2,0,1],\"plan\":{\"updates\":4,\"warmup\":1,"
		"\"peak\":1,\"final\":1,\"clip\":20000000000000000000",
		&job, &why);
	assert_int_equal(why.n, 0);
	assert_int_equal(job.documents[2].id.n, 21);
	assert_true(job.training.clip == 2e19);
	ckpt_job_release(&job);
	ckpt_buf_release(&why);
}

static void
test_job_lists(void **state)
{
	(void)state;
	assert_taken("tokenizer.merges", "[]");
	assert_refused("tokenizer.merges", "[[256, 1]]", "merges");
	assert_refused("tokenizer.merges", "[[1, 2], [1, 2]]", "rank 1");
	assert_refused("tokenizer.merges", "[[1, 2], [3]]", "rank 1");
	assert_refused("tokenizer.merges", "[[1, 2.0]]", "rank 0");
	assert_refused("tokenizer.merges", "[[-1, 2]]", "rank 0");
	assert_refused("documents", "[]", "documents");
	assert_refused("documents.1.id", "\"short/full\"", "same id");
	assert_refused("documents.1.id", "\"\"", "documents[1].id");
	/* Ten bytes are more positions than eight. */
	assert_refused("documents.1.text", "\"0123456789\"", "documents[1]");
	assert_taken("documents.1.text", "\"0123456\"");
	assert_taken("documents.1.text", "\"\"");
	assert_taken("documents.1.text", "\"\\u0000\"");
	assert_refused("order", "[0, 1]", "order");
	assert_refused("order", "[0, 1, 1]", "order");
	assert_refused("order", "[0, 1, 3]", "order");
	assert_refused("order", "[0, 1, 2.0]", "order");
}

static void
test_job_hex_documents(void **state)
{
	static const struct {
		const char *value;
		bool taken;
	} hex[] = { { "", true }, { "00fF", true }, { "0", false },
		{ "0g", false }, { "0x00", false } };

	(void)state;
	for (size_t i = 0; i < sizeof hex / sizeof hex[0]; i++) {
		json_t *root = json_loads(ckpt_job_published_text, 0, NULL);
		json_t *d =
			json_array_get(json_object_get(root, "documents"), 0);
		struct ckpt_buf why = { 0 };
		struct ckpt_job job;
		char *text;

		json_object_del(d, "text");
		json_object_set_new(d, "hex", json_string(hex[i].value));
		text = json_dumps(root, 0);
		assert_int_equal(
			read_text(&job, text, &why) == CKPT_OK, hex[i].taken);
		if (i == 1) {
			assert_int_equal(job.documents[0].n, 4);
			assert_int_equal(job.documents[0].ids[1], 2);
			assert_int_equal(job.documents[0].ids[2], 257);
		}
		ckpt_job_release(&job);
		ckpt_buf_release(&why);
		free(text);
		json_decref(root);
	}
}

static void
test_job_text_is_strict_json(void **state)
{
	static const char *const bad[] = { "", "[]", "{", "{} {}",
		"{\"schema\":\"ckpt-job/1\",\"schema\":\"ckpt-job/1\"}",
		"{\"schema\":\"\\ud800\"}", "{\"schema\":\"\xff\"}",
		"{\"schema\":1e999}" };
	struct ckpt_buf said = { 0 };
	struct ckpt_job nul;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct ckpt_buf why = { 0 };
		struct ckpt_job job;

		assert_int_equal(read_text(&job, bad[i], &why), CKPT_REJECTED);
		assert_true(why.n > 0);
		ckpt_buf_release(&why);
		ckpt_job_release(&job);
	}
	/* A NUL byte, which jansson takes for the end of the number. */
	assert_int_equal(
		ckpt_job_read(&nul, "{\"a\":4\0}", 8, &said), CKPT_REJECTED);
	assert_non_null(strstr(said.p, "NUL byte at offset 6"));
	ckpt_buf_release(&said);
	ckpt_job_release(&nul);
}

/* Neither order, plan nor the file's form is in the identity; the documents'
 * own order and the border between id and text are. */
static void
test_job_identity_is_of_documents(void **state)
{
	static const struct bound edits[] = {
		{ "plan.clip", "2.0", "same" },
		{ "order", "[0, 1, 2]", "same" },
		{ "documents.0.id", "\"x\"", "other" },
		{ "documents.0.text", "\"tha\"", "other" },
	};
	struct ckpt_job published;

	(void)state;
	assert_int_equal(ckpt_job_published(&published), CKPT_OK);
	for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
		struct ckpt_buf why = { 0 };
		struct ckpt_job job;

		assert_int_equal(
			read_edited(edits[i].path, edits[i].taken, &job, &why),
			CKPT_OK);
		assert_int_equal(strcmp(job.training.data_sha256,
					 published.training.data_sha256) == 0,
			strcmp(edits[i].refused, "same") == 0);
		ckpt_job_release(&job);
		ckpt_buf_release(&why);
	}
	ckpt_job_release(&published);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job_published_is_shipped),
		cmocka_unit_test(test_job_published_has_the_published_values),
		cmocka_unit_test(test_job_needs_every_key),
		cmocka_unit_test(test_job_takes_no_other_key),
		cmocka_unit_test(test_job_bounds),
		cmocka_unit_test(test_job_wide_numbers),
		cmocka_unit_test(test_job_lists),
		cmocka_unit_test(test_job_hex_documents),
		cmocka_unit_test(test_job_text_is_strict_json),
		cmocka_unit_test(test_job_identity_is_of_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
