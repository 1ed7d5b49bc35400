/* SPDX-License-Identifier: MIT */
/*
 * Archives as files: what is said of them, that nothing shorter or otherwise
 * wrong is accepted, that reading in pieces changes nothing, and that memory
 * may end anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "cli/forge_edit.h"
#include "format/archive.h"
#include "format/draft.h"
#include "io/source_slow.h"
#include "model/identity.h"
#include "model/next.h"
#include "replay/known_job.h"
#include "replay/session.h"
#include "sink/save.h"
#include "sink/state.h"
#include "support/judged.h"
#include "support/published.h"

static const char *const corpus[] = { "corpus/archive/good/text.safetensors",
	"corpus/archive/good/backbone.safetensors",
	"corpus/archive/good/step-zero.safetensors",
	"corpus/archive/good/training.safetensors", NULL };

static void
read_file(const char *path, struct ckpt_buf *bytes)
{
	struct stat st;

	if (forge_read(path, bytes, &st) != 0)
		fail_msg("%s cannot be read: make corpus", path);
}

static const char *
fact(const struct ckpt_run *run, const char *name)
{
	for (size_t i = 0; i < run->nfacts; i++)
		if (strcmp(run->facts[i].name, name) == 0)
			return run->facts[i].value.p;
	return "";
}

static uint64_t
number(const struct ckpt_run *run, const char *name)
{
	for (size_t i = 0; i < run->nfacts; i++)
		if (strcmp(run->facts[i].name, name) == 0)
			return run->facts[i].value.u64;
	return UINT64_MAX;
}

/* Verified from a source that can go back. */
static struct ckpt_run *
verify_bytes(const struct ckpt_buf *bytes, const struct ckpt_options *options,
	enum ckpt_verdict *verdict)
{
	struct ckpt_source *source = ckpt_source_memory(bytes->p, bytes->n);
	struct ckpt_run *run = ckpt_run_new(options);

	assert_true(run && source);
	*verdict = ckpt_verify(run, source);
	ckpt_source_close(source);
	return run;
}

/* ---- what is said ------------------------------------------------------- */

static void
test_archive_says_what_comes_next(void **state)
{
	struct ckpt_buf bytes = { 0 };
	enum ckpt_verdict verdict;
	struct ckpt_run *run;

	(void)state;
	published_archive(&bytes);
	run = verify_bytes(&bytes, NULL, &verdict);
	assert_int_equal(verdict, CKPT_VALID);
	assert_int_equal(ckpt_run_finding_count(run), 0);
	assert_string_equal(run->format->name, "ckpt-archive");
	assert_string_equal(fact(run, "model_id"),
		"f99f6971f35a8c60902153b4d7253a181bdae1b1416b268f368803cf424499"
		"ea");
	assert_string_equal(fact(run, "optimizer_digest"),
		"423fab7889ff6a208afea53b4ebae38135844d4ec31523e12e06e50b333c61"
		"e9");
	assert_string_equal(fact(run, "entries"),
		"31 = 29 learned + constants + merges; the rest training state "
		"(74)");
	assert_int_equal(number(run, "parameter_scalars"), 1572);
	assert_string_equal(fact(run, "next"),
		"next update 3: documents 0, 1; rate 0.0003250000000000001; "
		"scale 8, 2 of 3 finite, 16 after success");
	ckpt_run_name_documents(run);
	assert_string_equal(fact(run, "next"),
		"next update 3: documents short/full (0), long/full (1); rate "
		"0.0003250000000000001; scale 8, 2 of 3 finite, 16 after "
		"success");
	ckpt_run_free(run);
	ckpt_buf_release(&bytes);
}

static void
test_archive_next_wraps_and_ends(void **state)
{
	const uint64_t order[] = { 1, 0 };
	struct ckpt_training t = {
		.schedule = { .peak = 1.0, .final = 0.5, .updates = 9 },
		.microbatches = 5,
		.order = order,
		.documents = 2,
		.cursor = 1,
		.scaler = { .scale = 0x1p40, .max = 0x1p40, .interval = 1 },
	};
	struct ckpt_buf text = { 0 };

	(void)state;
	ckpt_next_write(&text, &t, 8, NULL, NULL);
	assert_string_equal(text.p,
		"next update 9: documents 0, 1, 0, 1, 0; rate 0.5; scale "
		"1099511627776, 0 of 1 finite, 1099511627776 after "
		"success");
	t.microbatches = UINT64_MAX;
	t.scaler.interval = 2;
	t.scaler.scale = 0.5;
	ckpt_buf_clear(&text);
	ckpt_next_write(&text, &t, 8, NULL, NULL);
	assert_non_null(strstr(text.p,
		"0, 1, 0, 1, 0, 1, 0, 1, 18446744073709551607 more; rate 0.5; "
		"scale 0.5, 0 of 2 finite, 0.5 after success"));
	ckpt_buf_clear(&text);
	ckpt_next_write(&text, &t, 9, NULL, NULL);
	assert_string_equal(text.p, "no next update: all 9 are made");
	ckpt_buf_release(&text);
}

/* The same identities as of the state that the file becomes. */
static void
test_archive_identities_are_those_of_the_state(void **state)
{
	(void)state;
	for (size_t i = 0; corpus[i]; i++) {
		struct ckpt_buf bytes = { 0 };
		struct ckpt_source *source;
		struct ckpt_checkpoint *c;
		char id[CKPT_SHA256_TEXT];

		read_file(corpus[i], &bytes);
		source = ckpt_source_memory(bytes.p, bytes.n);
		assert_int_equal(
			ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
		assert_true(ckpt_model_identity(&c->state, id));
		assert_string_equal(fact(c->run, "model_id"), id);
		if (c->state.archive == CKPT_ARCHIVE_TRAINING) {
			assert_true(ckpt_optimizer_digest(&c->state, id));
			assert_string_equal(
				fact(c->run, "optimizer_digest"), id);
		}
		ckpt_checkpoint_free(c);
		ckpt_source_close(source);
		ckpt_buf_release(&bytes);
	}
}

/* The two small tensors of a text model change places in the file. */
static void
swap_places(struct ckpt_buf *bytes)
{
	static const char *const edits[] = {
		"tensor:final_norm.gain.data_offsets[0]=16",
		"tensor:final_norm.gain.data_offsets[1]=32",
		"tensor:model.constants.data_offsets[0]=0",
		"tensor:model.constants.data_offsets[1]=16",
	};
	struct ckpt_draft d;
	uint8_t swap[16], *data;

	assert_int_equal(ckpt_draft_open(&d, bytes->p, bytes->n), CKPT_EDIT_OK);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ckpt_draft_apply(&d, CKPT_DRAFT_SET, edits[i]),
			CKPT_EDIT_OK);
	ckpt_buf_clear(bytes);
	ckpt_buf_add(bytes, d.bytes.p, d.bytes.n);
	ckpt_draft_release(&d);
	data = (uint8_t *)bytes->p + 8 + ckpt_load_u64((uint8_t *)bytes->p);
	memcpy(swap, data, 16);
	memmove(data, data + 16, 16);
	memcpy(data + 16, swap, 16);
}

static void
test_archive_identity_in_another_order(void **state)
{
	struct ckpt_buf bytes = { 0 };
	struct ckpt_run *plain, *swapped;
	enum ckpt_verdict verdict;
	struct judged pipe;

	(void)state;
	read_file(corpus[0], &bytes);
	plain = verify_bytes(&bytes, NULL, &verdict);
	judged_slowly(&pipe, bytes.p, bytes.n, 100, true, UINT64_MAX);
	assert_string_equal(
		fact(pipe.run, "model_id"), fact(plain, "model_id"));
	assert_int_equal(strlen(fact(plain, "model_id")), 64);
	judged_free(&pipe);

	swap_places(&bytes);
	swapped = verify_bytes(&bytes, NULL, &verdict);
	judged_slowly(&pipe, bytes.p, bytes.n, 100, true, UINT64_MAX);
	assert_int_equal(verdict, CKPT_VALID);
	assert_int_equal(pipe.verdict, CKPT_VALID);
	assert_string_equal(fact(swapped, "model_id"), fact(plain, "model_id"));
	/* A pipe cannot go back, and then nothing is claimed. */
	assert_string_equal(fact(pipe.run, "model_id"), "");
	judged_free(&pipe);
	ckpt_run_free(swapped);
	ckpt_run_free(plain);
	ckpt_buf_release(&bytes);
}

/* ---- shorter, slower, with less memory ---------------------------------- */

static void
test_archive_prefixes_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; corpus[i]; i++) {
		struct ckpt_buf bytes = { 0 };

		read_file(corpus[i], &bytes);
		for (size_t n = 0; n < bytes.n; n++) {
			struct judged j;

			judged_named(&j, "x.safetensors", bytes.p, n);
			assert_int_equal(j.verdict, CKPT_INVALID);
			assert_string_equal(judged_primary(&j),
				n < 8 ? "CK1101"
				: n < 8 + ckpt_load_u64((uint8_t *)bytes.p)
					? "CK1103"
					: "CK1106");
			judged_free(&j);
		}
		ckpt_buf_release(&bytes);
	}
}

static void
test_archive_pieces_change_nothing(void **state)
{
	static const size_t most[] = { 1, 3, 7, 1000 };

	(void)state;
	for (size_t i = 0; corpus[i]; i++) {
		struct ckpt_buf bytes = { 0 };
		struct judged whole;

		read_file(corpus[i], &bytes);
		judged_bytes(&whole, bytes.p, bytes.n);
		for (size_t k = 0; k < 4; k++) {
			struct judged j;

			judged_slowly(&j, bytes.p, bytes.n, most[k], false,
				UINT64_MAX);
			assert_int_equal(j.verdict, CKPT_VALID);
			assert_int_equal(j.run->nfacts, whole.run->nfacts);
			assert_string_equal(fact(j.run, "model_id"),
				fact(whole.run, "model_id"));
			judged_free(&j);
		}
		judged_free(&whole);
		ckpt_buf_release(&bytes);
	}
}

/* Each allocation in turn fails: never a verdict that was not earned. */
static void
test_archive_memory_may_end_anywhere(void **state)
{
	struct ckpt_buf bytes = { 0 };
	bool done = false;

	(void)state;
	read_file(corpus[3], &bytes);
	for (uint64_t at = 1; !done; at++) {
		struct ckpt_checkpoint *c = ckpt_checkpoint_new(NULL);
		struct ckpt_source *source =
			ckpt_source_memory(bytes.p, bytes.n);
		enum ckpt_status status;

		assert_true(c && source);
		c->run->arena.fail_at = at;
		status = ckpt_checkpoint_load(c, source);
		done = c->run->arena.count < at;
		if (done)
			assert_int_equal(status, CKPT_OK);
		else if (status != CKPT_ENOMEM)
			/* A fact alone may be lost. */
			assert_int_equal(status, CKPT_OK);
		ckpt_checkpoint_free(c);
		ckpt_source_close(source);
	}
	ckpt_buf_release(&bytes);
}

static void
set(struct ckpt_draft *d, const char *path, uint64_t value)
{
	char words[128];

	snprintf(words, sizeof words, "%s=%" PRIu64, path, value);
	assert_int_equal(
		ckpt_draft_apply(d, CKPT_DRAFT_SET, words), CKPT_EDIT_OK);
}

/* A count that no bytes follow takes no memory, also where the size of the
 * file is not known. */
static void
test_archive_hostile_counts(void **state)
{
	const uint64_t places = ((uint64_t)1 << 58) - 1;
	struct ckpt_buf bytes = { 0 };
	struct ckpt_draft d;
	struct judged j;

	(void)state;
	read_file("corpus/archive/good/order-last.safetensors", &bytes);
	assert_int_equal(ckpt_draft_open(&d, bytes.p, bytes.n), CKPT_EDIT_OK);
	set(&d, "tensor:data.order.shape[0]", places);
	set(&d, "tensor:data.order.data_offsets[1]",
		bytes.n - 8 - ckpt_load_u64((const uint8_t *)bytes.p) - 24 +
			8 * places);
	judged_slowly(&j, d.bytes.p, d.bytes.n, 1000, true, UINT64_MAX);
	assert_int_equal(j.verdict, CKPT_INVALID);
	assert_string_equal(judged_primary(&j), "CK1106");
	assert_string_equal(fact(j.run, "kind"), "training-checkpoint");
	assert_true(j.run->arena.used < 1024 * 1024);
	judged_free(&j);
	ckpt_draft_release(&d);
	ckpt_buf_release(&bytes);
}

/* ---- options ------------------------------------------------------------ */

static enum ckpt_verdict
verify_with(const struct ckpt_options *options, const char *path,
	struct ckpt_run **run)
{
	struct ckpt_buf bytes = { 0 };
	enum ckpt_verdict verdict;

	read_file(path, &bytes);
	*run = verify_bytes(&bytes, options, &verdict);
	ckpt_buf_release(&bytes);
	return verdict;
}

static void
test_archive_options(void **state)
{
	const struct ckpt_options off = { .values = CKPT_VALUES_OFF };
	const struct ckpt_options finite = { .values = CKPT_VALUES_FINITE };
	const struct ckpt_options loader = { .profile =
						     CKPT_PROFILE_REFERENCE };
	struct ckpt_run *run;

	(void)state;
	assert_int_equal(verify_with(&off, corpus[1], &run), CKPT_NOT_VERIFIED);
	assert_string_equal(ckpt_run_primary(run)->rule->id, "CK9007");
	ckpt_run_free(run);
	assert_int_equal(
		verify_with(&finite,
			"corpus/archive/bad/weight-nan.safetensors", &run),
		CKPT_INVALID);
	ckpt_run_free(run);
	/* The format's own loader knows nothing of archives. */
	assert_int_equal(verify_with(&loader,
				 "corpus/archive/bad/kind.safetensors", &run),
		CKPT_VALID);
	assert_string_equal(run->format->name, "safetensors");
	ckpt_run_free(run);
}

/* ---- writing ------------------------------------------------------------ */

static void
test_archive_refuses_to_make_what_cannot_be(void **state)
{
	struct ckpt_buf bytes = { 0 };
	struct ckpt_state s;
	struct ckpt_job job;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(ckpt_job_state(&job, &s), CKPT_OK);
	s = ckpt_state_model(&s);
	assert_int_equal(
		ckpt_encode(&bytes, &ckpt_format_archive, &s, NULL), CKPT_OK);
	s.config.vocabulary++;
	assert_int_equal(ckpt_encode(&bytes, &ckpt_format_archive, &s, NULL),
		CKPT_REJECTED);
	s.config.vocabulary--;
	s.config.kv_heads = 3;
	assert_int_equal(ckpt_encode(&bytes, &ckpt_format_archive, &s, NULL),
		CKPT_REJECTED);
	s.config.kv_heads = 1;
	s.archive = CKPT_ARCHIVE_TRAINING;
	assert_int_equal(ckpt_encode(&bytes, &ckpt_format_archive, &s, NULL),
		CKPT_REJECTED);
	ckpt_buf_release(&bytes);
	ckpt_job_release(&job);
}

/* More documents than are kept while a file passes by. */
static void
test_archive_long_order(void **state)
{
	enum { DOCUMENTS = ARCHIVE_ORDER_KEPT + 3 };
	uint64_t *order = malloc(DOCUMENTS * sizeof *order);
	struct ckpt_buf small = { 0 }, bytes = { 0 }, again = { 0 };
	struct ckpt_training training;
	struct ckpt_checkpoint *c, *long_one;
	struct ckpt_source *source;
	struct judged pipe;
	uint64_t measured;

	(void)state;
	assert_non_null(order);
	for (uint64_t i = 0; i < DOCUMENTS; i++)
		order[i] = DOCUMENTS - 1 - i;
	read_file(corpus[2], &small);
	source = ckpt_source_memory(small.p, small.n);
	assert_int_equal(ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
	ckpt_source_close(source);
	training = *c->state.training;
	training.order = order;
	training.documents = DOCUMENTS;
	training.cursor = DOCUMENTS - 1;
	c->state.training = &training;
	assert_int_equal(
		ckpt_encode(&bytes, &ckpt_format_archive, &c->state, NULL),
		CKPT_OK);
	assert_int_equal(archive_measure(&c->state, &measured), CKPT_OK);
	assert_int_equal(measured, bytes.n);
	source = ckpt_source_memory(bytes.p, bytes.n);
	assert_int_equal(
		ckpt_checkpoint_read(source, NULL, &long_one), CKPT_OK);
	ckpt_source_close(source);
	assert_memory_equal(long_one->state.training->order, order,
		DOCUMENTS * sizeof *order);
	assert_non_null(strstr(
		fact(long_one->run, "next"), "from place 65538 of the order"));
	assert_int_equal(ckpt_encode(&again, &ckpt_format_archive,
				 &long_one->state, NULL),
		CKPT_OK);
	assert_int_equal(again.n, bytes.n);
	assert_memory_equal(again.p, bytes.p, bytes.n);
	judged_slowly(&pipe, bytes.p, bytes.n, 4096, true, UINT64_MAX);
	assert_int_equal(pipe.verdict, CKPT_VALID);
	judged_free(&pipe);
	ckpt_checkpoint_free(long_one);
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&small);
	ckpt_buf_release(&bytes);
	ckpt_buf_release(&again);
	free(order);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive_says_what_comes_next),
		cmocka_unit_test(test_archive_next_wraps_and_ends),
		cmocka_unit_test(
			test_archive_identities_are_those_of_the_state),
		cmocka_unit_test(test_archive_identity_in_another_order),
		cmocka_unit_test(test_archive_prefixes_are_refused),
		cmocka_unit_test(test_archive_pieces_change_nothing),
		cmocka_unit_test(test_archive_memory_may_end_anywhere),
		cmocka_unit_test(test_archive_hostile_counts),
		cmocka_unit_test(test_archive_options),
		cmocka_unit_test(test_archive_refuses_to_make_what_cannot_be),
		cmocka_unit_test(test_archive_long_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
