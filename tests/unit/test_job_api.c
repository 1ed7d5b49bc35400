/* SPDX-License-Identifier: MIT */
/*
 * The public interface of jobs, by itself: a program that has only the public
 * headers trains, saves, reads, goes on, and is refused what has to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ckpt_job.h>
#include <ckpt_train.h>

#include <stdlib.h>
#include <string.h>

static struct ckpt_train_fault fault;

static struct ckpt_session *
start(struct ckpt_job *job, int updates)
{
	struct ckpt_session *s;

	assert_int_equal(ckpt_train_start(job, NULL, &s, &fault), CKPT_OK);
	for (int i = 0; i < updates; i++)
		assert_int_equal(ckpt_train_update(s, NULL, &fault), CKPT_OK);
	return s;
}

static struct ckpt_job *
published(void)
{
	struct ckpt_job *job;

	assert_int_equal(ckpt_train_job(NULL, 0, &job, &fault), CKPT_OK);
	return job;
}

static void
assert_same(struct ckpt_checkpoint *a, struct ckpt_checkpoint *b)
{
	uint8_t *x, *y;
	size_t n, m;

	assert_int_equal(ckpt_checkpoint_encode(a, &x, &n), CKPT_OK);
	assert_int_equal(ckpt_checkpoint_encode(b, &y, &m), CKPT_OK);
	assert_int_equal(n, m);
	assert_memory_equal(x, y, n);
	free(x);
	free(y);
}

static void
test_job_api_goes_on(void **state)
{
	struct ckpt_job *job = published();
	struct ckpt_session *whole = start(job, 4), *s = start(job, 2);
	struct ckpt_checkpoint *end, *cut, *now, *model;
	struct ckpt_train_update update;
	char identity[65], other[65];

	(void)state;
	assert_int_equal(ckpt_train_capture(whole, &end, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_capture(s, &cut, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_model(s, &model, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_identity(cut, identity), CKPT_OK);
	assert_int_equal(ckpt_train_identity(model, other), CKPT_OK);
	assert_string_equal(identity, "f99f6971f35a8c60902153b4d7253a18"
				      "1bdae1b1416b268f368803cf424499ea");
	assert_string_equal(identity, other);
	ckpt_train_free(s);
	/* The checkpoint stands on its own. */
	assert_int_equal(
		ckpt_train_restore(job, cut, false, &s, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_step(s), 2);
	assert_int_equal(ckpt_train_planned(s), 4);
	assert_int_equal(ckpt_train_update(s, &update, &fault), CKPT_OK);
	assert_int_equal(update.step, 3);
	assert_false(update.skipped);
	assert_int_equal(update.monitored, 64);
	assert_true(update.next_loss_scale == 16.0);
	assert_int_equal(ckpt_train_update(s, &update, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_capture(s, &now, &fault), CKPT_OK);
	assert_same(now, end);
	assert_int_equal(ckpt_train_update(s, &update, &fault), CKPT_REJECTED);
	assert_string_equal(fault.kind, "NoUpdatesLeft");
	ckpt_train_free(s);
	/* Weights alone. */
	assert_int_equal(ckpt_train_start(job, model, &s, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_step(s), 0);
	ckpt_train_free(s);
	ckpt_train_free(whole);
	ckpt_checkpoint_free(end);
	ckpt_checkpoint_free(now);
	ckpt_train_job_free(job);
}

static void
test_job_api_refuses_in_the_middle(void **state)
{
	struct ckpt_job *job = published();
	struct ckpt_session *whole = start(job, 1), *s = start(job, 0);
	struct ckpt_checkpoint *end, *now;

	(void)state;
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(ckpt_train_accumulate(s, &fault), CKPT_OK);
		assert_int_equal(
			ckpt_train_capture(s, &now, &fault), CKPT_REJECTED);
		assert_null(now);
		assert_string_equal(fault.kind, "Pending");
		assert_int_equal(
			ckpt_train_model(s, &now, NULL), CKPT_REJECTED);
	}
	assert_int_equal(ckpt_train_accumulate(s, &fault), CKPT_REJECTED);
	/* Being asked has changed nothing. */
	assert_int_equal(ckpt_train_update(s, NULL, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_capture(s, &now, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_capture(whole, &end, &fault), CKPT_OK);
	assert_same(now, end);
	ckpt_checkpoint_free(now);
	ckpt_checkpoint_free(end);
	ckpt_train_free(s);
	ckpt_train_free(whole);
	ckpt_train_job_free(job);
}

/* The second chapter: an archive's model answers, bit for bit what a job's
 * own pass would; its training state is not for single steps. */
static void
test_job_api_archive_as_a_model(void **state)
{
	static const uint32_t ids[] = { 0, 99, 100 };
	const struct ckpt_tokens tokens = { 1, 3, ids, NULL };
	static double x[3 * 266], y[3 * 266];
	struct ckpt_job *job = published();
	struct ckpt_session *s = start(job, 2);
	struct ckpt_checkpoint *c, *model;
	struct ckpt_model *from_c, *from_model;
	struct ckpt_trainer *none;
	const double *values;
	size_t n;

	(void)state;
	assert_int_equal(ckpt_train_capture(s, &c, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_model(s, &model, &fault), CKPT_OK);
	ckpt_train_free(s);
	ckpt_train_job_free(job);
	assert_int_equal(ckpt_trainer_resume(c, &none), CKPT_REJECTED);
	assert_null(none);
	assert_int_equal(ckpt_checkpoint_restore_model(c, &from_c), CKPT_OK);
	assert_int_equal(
		ckpt_checkpoint_take_model(model, &from_model), CKPT_OK);
	ckpt_checkpoint_free(c);
	ckpt_checkpoint_free(model);
	values = ckpt_model_parameters(from_model, &n);
	assert_int_equal(n, 1572);
	assert_memory_equal(
		values, ckpt_model_parameters(from_c, &n), n * sizeof *values);
	assert_int_equal(ckpt_model_logits(from_c, &tokens, x), CKPT_OK);
	assert_int_equal(ckpt_model_logits(from_model, &tokens, y), CKPT_OK);
	assert_memory_equal(x, y, sizeof x);
	ckpt_model_free(from_c);
	ckpt_model_free(from_model);
}

static void
test_job_api_refuses_what_is_other(void **state)
{
	static const char bad[] = "{\"schema\": 1}";
	struct ckpt_job *job = published(), *none;
	struct ckpt_session *s = start(job, 1);
	struct ckpt_checkpoint *c, *model;
	char identity[65];

	(void)state;
	assert_int_equal(ckpt_train_job(bad, sizeof bad - 1, &none, &fault),
		CKPT_REJECTED);
	assert_null(none);
	assert_string_equal(fault.kind, "InvalidJob");
	assert_non_null(strstr(fault.text, "missing"));
	assert_int_equal(ckpt_train_capture(s, &c, &fault), CKPT_OK);
	assert_int_equal(ckpt_train_model(s, &model, &fault), CKPT_OK);
	ckpt_train_free(s);
	/* A model has nothing to go on from; a checkpoint is no model. */
	assert_int_equal(ckpt_train_restore(job, model, false, &s, &fault),
		CKPT_REJECTED);
	assert_null(s);
	assert_string_equal(fault.kind, "NotATrainingCheckpoint");
	assert_int_equal(ckpt_train_start(job, c, &s, &fault), CKPT_REJECTED);
	assert_null(s);
	assert_string_equal(fault.kind, "NotAModel");
	/* What was not read is nothing. */
	c = NULL;
	model = NULL;
	{
		struct ckpt_source *source = ckpt_source_memory("x", 1);

		assert_int_equal(
			ckpt_checkpoint_read(source, NULL, &c), CKPT_REJECTED);
		ckpt_source_close(source);
	}
	assert_int_equal(ckpt_train_identity(c, identity), CKPT_REJECTED);
	assert_int_equal(
		ckpt_train_restore(job, c, false, &s, &fault), CKPT_REJECTED);
	ckpt_train_job_free(job);
	ckpt_train_job_free(NULL);
	ckpt_train_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job_api_goes_on),
		cmocka_unit_test(test_job_api_refuses_in_the_middle),
		cmocka_unit_test(test_job_api_archive_as_a_model),
		cmocka_unit_test(test_job_api_refuses_what_is_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
