/* SPDX-License-Identifier: MIT */
/*
 * ckreplay audit of checkpoints that were captured through the public
 * interface, also where the command line never saves: right after an attempt
 * that was skipped. An honest chain is proved; of a chain that is none the
 * first difference is named, and nothing says that the bits are equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ckpt_job.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/replay_job.h"

enum { UPDATES = 12 };

static char folder[] = "/tmp/ckpt-audit-XXXXXX";
static char paths[3][64], job_path[64];

/* The published job with another section of the scaler. */
static void
write_job(const char *scaler)
{
	FILE *f = fopen(job_path, "w");
	json_t *root = json_loads(ckpt_job_published_text, 0, NULL);

	assert_non_null(f);
	json_object_set_new(root, "scaler", json_loads(scaler, 0, NULL));
	json_object_set_new(json_object_get(root, "plan"), "updates",
		json_integer(UPDATES));
	assert_int_equal(json_dumpf(root, f, 0), 0);
	assert_int_equal(fclose(f), 0);
	json_decref(root);
}

static struct ckpt_job *
read_job(void)
{
	static char text[8192];
	struct ckpt_job *job;
	FILE *f = fopen(job_path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof text, f);
	fclose(f);
	assert_int_equal(ckpt_train_job(text, n, &job, NULL), CKPT_OK);
	return job;
}

static void
save(const struct ckpt_session *s, size_t place)
{
	struct ckpt_checkpoint *c;
	uint8_t *bytes;
	size_t n;
	FILE *f;

	assert_int_equal(ckpt_train_capture(s, &c, NULL), CKPT_OK);
	assert_int_equal(ckpt_checkpoint_encode(c, &bytes, &n), CKPT_OK);
	f = fopen(paths[place], "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	free(bytes);
	ckpt_checkpoint_free(c);
}

/* Runs audit over n checkpoints; its JSON. */
static json_t *
audit(size_t n, int status)
{
	const char *operands[3] = { paths[0], paths[1], paths[2] };
	struct replay_audit_options options = { .format = REPLAY_JSON,
		.job = job_path,
		.max_memory = UINT64_MAX,
		.jobs = 1 };
	struct ckpt_args args = { .sub = &replay_audit_command,
		.operands = operands,
		.operand_count = n };
	FILE *out = tmpfile();
	int kept = dup(STDOUT_FILENO), got;
	json_t *result;

	assert_non_null(out);
	fflush(stdout);
	dup2(fileno(out), STDOUT_FILENO);
	got = replay_audit(&args, &options);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	rewind(out);
	result = json_loadf(out, 0, NULL);
	fclose(out);
	assert_non_null(result);
	assert_int_equal(got, status);
	return result;
}

static json_t *
transition(const json_t *result, size_t i)
{
	return json_array_get(json_object_get(result, "transitions"), i);
}

static void
assert_equal(const json_t *result, size_t i, int skipped)
{
	json_t *t = transition(result, i);

	assert_true(json_is_true(json_object_get(t, "bit_equal")));
	assert_true(json_is_null(json_object_get(t, "first_difference")));
	assert_int_equal(
		json_integer_value(json_object_get(t, "skipped")), skipped);
}

static void
assert_differs(const json_t *result, size_t i, const char *what)
{
	json_t *t = transition(result, i);
	const char *text =
		json_string_value(json_object_get(t, "first_difference"));

	assert_true(json_is_false(json_object_get(t, "bit_equal")));
	assert_non_null(text);
	assert_ptr_equal(strstr(text, what), text);
	assert_string_equal(
		json_string_value(json_object_get(result, "verdict")),
		"mismatch");
}

static const char high[] = "{\"scale\": 8.98846567431158e+307, \"min\": 1,"
			   " \"max\": 8.98846567431158e+307, \"interval\": 1}";

/* From nothing over all skips in a row; and, because the interval is 1, from
 * an update over a skip behind it. */
static void
test_replay_audit_after_a_skip(void **state)
{
	struct ckpt_train_update update;
	struct ckpt_session *s;
	struct ckpt_job *job;
	json_t *result;
	int skips = 0;

	(void)state;
	write_job(high);
	job = read_job();
	assert_int_equal(ckpt_train_start(job, NULL, &s, NULL), CKPT_OK);
	save(s, 0);
	do {
		assert_int_equal(ckpt_train_update(s, &update, NULL), CKPT_OK);
		skips += update.skipped;
		if (update.skipped)
			save(s, 1);
	} while (update.skipped);
	assert_true(skips > 0);
	save(s, 2);
	result = audit(3, CKPT_EXIT_OK);
	assert_equal(result, 0, skips);
	assert_equal(result, 1, 0);
	json_decref(result);
	/* Later, where the scale has been doubled before. */
	do {
		save(s, 0);
		assert_int_equal(ckpt_train_update(s, &update, NULL), CKPT_OK);
	} while (!update.skipped);
	save(s, 1);
	while (update.skipped)
		assert_int_equal(ckpt_train_update(s, &update, NULL), CKPT_OK);
	save(s, 2);
	result = audit(3, CKPT_EXIT_OK);
	assert_equal(result, 0, 1);
	json_decref(result);
	ckpt_train_free(s);
	ckpt_train_job_free(job);
}

/* A smaller scale that no skip explains. */
static void
test_replay_audit_of_another_scale(void **state)
{
	static const char *const scalers[] = {
		"{\"scale\": 4, \"min\": 1, \"max\": 32, \"interval\": 9}",
		"{\"scale\": 16, \"min\": 1, \"max\": 32, \"interval\": 9}",
		"{\"scale\": 8, \"min\": 1, \"max\": 32, \"interval\": 9}",
	};
	json_t *result;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct ckpt_session *s;
		struct ckpt_job *job;

		write_job(scalers[i]);
		job = read_job();
		assert_int_equal(
			ckpt_train_start(job, NULL, &s, NULL), CKPT_OK);
		for (size_t k = 0; k < 1 + i / 2; k++)
			assert_int_equal(
				ckpt_train_update(s, NULL, NULL), CKPT_OK);
		save(s, i == 0 ? 1 : i == 1 ? 0 : 2);
		ckpt_train_free(s);
		ckpt_train_job_free(job);
	}
	result = audit(3, CKPT_EXIT_NEGATIVE);
	assert_differs(result, 0, "loss scale: 16 ");
	assert_int_equal(json_integer_value(json_object_get(
				 transition(result, 0), "skipped")),
		0);
	/* From 4 on to a stored 8. */
	assert_differs(result, 1, "loss scale: 4 ");
	json_decref(result);
}

static int
set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < 3; i++)
		snprintf(paths[i], sizeof paths[i], "%s/%zu", folder, i);
	snprintf(job_path, sizeof job_path, "%s/job", folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		unlink(paths[i]);
	unlink(job_path);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_audit_after_a_skip),
		cmocka_unit_test(test_replay_audit_of_another_scale),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
