/* SPDX-License-Identifier: MIT */
/*
 * Whole checkpoints in and out: what is read and written again has the same
 * bytes, however it arrives; what is not valid never becomes a checkpoint;
 * memory that runs out anywhere is said and leaves nothing behind; and the
 * statuses of saving reach the caller with the old file intact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/faulty_ops.h"
#include "../support/saving.h"
#include "format/format.h"
#include "io/source_slow.h"
#include "model/synth.h"
#include "sink/save.h"
#include "sink/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADAMW                                                                  \
	{                                                                      \
		0.02, 0.9, 0.99, 1e-8, 0.1                                     \
	}

static const struct ckpt_synth shapes[] = {
	{ .config = { 7, 6, 3, 5, 3, 5, 500.0, 1e-5, 0, 0 },
		.adamw = ADAMW,
		.seed = 1 },
	{ .config = { 5, 4, 2, 4, 1, 2, 10000.0, 1e-6, 0, 0 },
		.adamw = ADAMW,
		.step = 8,
		.gain_groups = true,
		.sampling_rng_state = UINT64_MAX },
	/* blocks.10 is stored before blocks.2. */
	{ .config = { 9, 4, 2, 3, 11, 3, 500.0, 0.0, 0, 0 },
		.adamw = ADAMW,
		.step = 1,
		.gain_groups = true },
	{ .config = { 1, 2, 1, 1, 0, 1, 0x1p-1000, 0.0, 0, 0 },
		.adamw = ADAMW },
	{ .config = { 3, 2, 1, 1, 0, 1, 1.0, 0.0, 0, 0 },
		.adamw = { 1.0, 0.0, 0.0, 1e-300, 0.0 },
		.step = 1 },
	{ .config = { 0, 12, 3, 10, 2, 6, 500.0, 1e-5, 0, 0 },
		.adamw = ADAMW,
		.tokenizer = CKPT_BYTE_BPE,
		.merges = 3,
		.step = 2,
		.gain_groups = true },
	{ .config = { 0, 2, 1, 1, 1, 1, 500.0, 1e-5, 0, 0 },
		.adamw = ADAMW,
		.tokenizer = CKPT_BYTE_BPE },
	{ .config = { 0, 2, 1, 1, 1, 1, 500.0, 1e-5, 0, 0 },
		.adamw = ADAMW,
		.tokenizer = CKPT_BYTE_BPE,
		.merges = 200,
		.merge_shape = CKPT_MERGES_DOUBLING,
		.gain_groups = true },
	{ .config = { 700, 2, 1, 1, 1, (uint64_t)1 << 40, 500.0, 1e-5, 0, 0 },
		.adamw = ADAMW,
		.token_bytes = 40,
		.last_token_bytes = 70000 },
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* The bytes of a shape's file; release them. */
static struct ckpt_buf
file_of(const struct ckpt_synth *synth)
{
	struct ckpt_arena arena;
	struct ckpt_state made;
	struct ckpt_buf bytes, why;

	ckpt_buf_init(&bytes);
	ckpt_buf_init(&why);
	if (!ckpt_synth_check(synth, &why))
		fail_msg("%s", why.p);
	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	assert_int_equal(ckpt_synth_state(&arena, synth, &made), CKPT_OK);
	assert_int_equal(
		ckpt_encode(&bytes, ckpt_format_at(0), &made, NULL), CKPT_OK);
	ckpt_arena_release(&arena);
	return bytes;
}

/* Reads from memory in chunks of at most most (0: at once). */
static enum ckpt_status
read_chunks(const struct ckpt_buf *bytes, size_t most, bool pipe,
	const struct ckpt_options *options, struct ckpt_checkpoint **out)
{
	struct ckpt_source *source = ckpt_source_memory(bytes->p, bytes->n);
	enum ckpt_status status;

	if (most)
		source = ckpt_source_slow(source, most, pipe, UINT64_MAX);
	assert_non_null(source);
	status = ckpt_checkpoint_read(source, options, out);
	ckpt_source_close(source);
	return status;
}

static void
check_same(const struct ckpt_checkpoint *c, const struct ckpt_buf *bytes)
{
	uint8_t *again;
	size_t n;

	assert_int_equal(ckpt_checkpoint_encode(c, &again, &n), CKPT_OK);
	assert_int_equal(n, bytes->n);
	assert_memory_equal(again, bytes->p, n);
	free(again);
}

/* ---- In and out --------------------------------------------------------- */

static void
test_load_then_encode_gives_the_same_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES; i++) {
		struct ckpt_buf bytes = file_of(&shapes[i]);
		struct ckpt_checkpoint *c;

		assert_int_equal(
			read_chunks(&bytes, 0, false, NULL, &c), CKPT_OK);
		assert_int_equal(ckpt_checkpoint_verdict(c), CKPT_VALID);
		assert_null(ckpt_run_primary(ckpt_checkpoint_run(c)));
		check_same(c, &bytes);
		ckpt_checkpoint_free(c);
		ckpt_buf_release(&bytes);
	}
}

static void
test_load_does_not_depend_on_chunks(void **state)
{
	static const size_t most[] = { 1, 3, 7, 4096 };

	(void)state;
	for (size_t i = 0; i < SHAPES * 8; i++) {
		struct ckpt_buf bytes = file_of(&shapes[i / 8]);
		struct ckpt_checkpoint *c;

		assert_int_equal(
			read_chunks(&bytes, most[i % 4], i % 8 < 4, NULL, &c),
			CKPT_OK);
		check_same(c, &bytes);
		ckpt_checkpoint_free(c);
		ckpt_buf_release(&bytes);
	}
}

static void
check_view(const struct ckpt_checkpoint *c, uint64_t i,
	enum ckpt_tensor_kind kind, const char *name, uint64_t len)
{
	struct ckpt_view view;

	assert_true(ckpt_checkpoint_tensor(c, i, &view));
	assert_int_equal(view.kind, kind);
	assert_int_equal(view.len, len);
	assert_int_equal(view.name_len, strlen(name));
	if (view.name_len)
		assert_memory_equal(view.name, name, strlen(name));
}

static void
test_load_tells_what_a_checkpoint_holds(void **state)
{
	struct ckpt_buf bytes = file_of(&shapes[1]);
	struct ckpt_checkpoint *c;
	struct ckpt_view view;

	(void)state;
	assert_int_equal(read_chunks(&bytes, 0, false, NULL, &c), CKPT_OK);
	assert_int_equal(ckpt_checkpoint_config(c)->width, 4);
	assert_int_equal(ckpt_checkpoint_config(c)->vocabulary, 5);
	assert_true(ckpt_checkpoint_adamw(c)->beta2 == 0.99);
	assert_int_equal(ckpt_checkpoint_step(c), 8);
	check_view(c, 0, CKPT_TENSOR_PIECE, "", 1);
	check_view(c, 5, CKPT_TENSOR_WEIGHT, "token_embedding.weight", 160);
	check_view(c, 15, CKPT_TENSOR_WEIGHT, "final_norm.gain", 32);
	check_view(
		c, 16, CKPT_TENSOR_FIRST, "blocks.0.attention.key.weight", 128);
	check_view(c, 37, CKPT_TENSOR_SECOND, "token_embedding.weight", 160);
	assert_true(ckpt_checkpoint_tensor(c, 4, &view));
	assert_memory_equal(view.bytes, "e", 1);
	assert_int_equal(view.dims[0], 1);
	assert_false(ckpt_checkpoint_tensor(c, 38, &view));
	assert_false(ckpt_checkpoint_tensor(c, UINT64_MAX, &view));
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&bytes);
}

/* ---- What must not become a checkpoint ---------------------------------- */

static void
check_nothing(struct ckpt_checkpoint *c, enum ckpt_verdict verdict)
{
	struct ckpt_save_fault fault;
	struct ckpt_view view;
	uint8_t *bytes;
	size_t n;

	assert_non_null(c);
	assert_int_equal(ckpt_checkpoint_verdict(c), verdict);
	assert_non_null(ckpt_run_primary(ckpt_checkpoint_run(c)));
	assert_null(ckpt_checkpoint_config(c));
	assert_null(ckpt_checkpoint_adamw(c));
	assert_int_equal(ckpt_checkpoint_step(c), 0);
	assert_false(ckpt_checkpoint_tensor(c, 0, &view));
	assert_int_equal(ckpt_checkpoint_encode(c, &bytes, &n), CKPT_REJECTED);
	assert_null(bytes);
	assert_int_equal(
		ckpt_checkpoint_save(c, "never", &fault), CKPT_REJECTED);
	assert_non_null(fault.reason);
	ckpt_checkpoint_free(c);
}

static void
test_load_rejects_every_damaged_byte(void **state)
{
	struct ckpt_buf bytes = file_of(&shapes[4]);

	(void)state;
	for (size_t i = 0; i < bytes.n; i++) {
		struct ckpt_checkpoint *c;
		enum ckpt_status status;

		bytes.p[i] ^= 1;
		status = read_chunks(&bytes, 0, false, NULL, &c);
		bytes.p[i] ^= 1;
		assert_true(
			status == CKPT_REJECTED || status == CKPT_EUNSUPPORTED);
		check_nothing(c, status == CKPT_REJECTED ? CKPT_INVALID
							 : CKPT_UNSUPPORTED);
	}
	ckpt_buf_release(&bytes);
}

static void
test_load_rejects_every_prefix(void **state)
{
	struct ckpt_buf bytes = file_of(&shapes[4]);

	(void)state;
	for (size_t n = 0; n < bytes.n; n++) {
		struct ckpt_buf cut = { .p = bytes.p, .n = n };
		struct ckpt_checkpoint *c;

		assert_int_equal(
			read_chunks(&cut, 0, false, NULL, &c), CKPT_REJECTED);
		check_nothing(c, CKPT_INVALID);
	}
	ckpt_buf_release(&bytes);
}

static bool
cancel(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	(void)done;
	(void)total;
	return false;
}

static void
test_load_says_why_there_is_no_verdict(void **state)
{
	const struct ckpt_options cancelled = { .progress = cancel };
	struct ckpt_buf bytes = file_of(&shapes[0]);
	struct ckpt_buf none = { .p = bytes.p, .n = 0 };
	struct ckpt_checkpoint *c;
	struct ckpt_source *source;

	(void)state;
	for (uint64_t at = 0; at < bytes.n; at += 101) {
		source = ckpt_source_slow(
			ckpt_source_memory(bytes.p, bytes.n), 50, false, at);
		assert_non_null(source);
		assert_int_equal(
			ckpt_checkpoint_read(source, NULL, &c), CKPT_EIO);
		ckpt_source_close(source);
		check_nothing(c, CKPT_NOT_VERIFIED);
	}
	assert_int_equal(
		read_chunks(&bytes, 0, false, &cancelled, &c), CKPT_STOP);
	check_nothing(c, CKPT_NOT_VERIFIED);
	assert_int_equal(read_chunks(&none, 5, true, NULL, &c), CKPT_EIO);
	check_nothing(c, CKPT_NOT_VERIFIED);
	ckpt_buf_release(&bytes);
}

/* ---- Memory ------------------------------------------------------------- */

/* Every allocation in turn: of the run, or of the words of its findings. */
static uint64_t
fail_each(const struct ckpt_buf *bytes, bool pipe, bool words)
{
	for (uint64_t n = 1;; n++) {
		struct ckpt_source *source =
			ckpt_source_slow(ckpt_source_memory(bytes->p, bytes->n),
				999, pipe, UINT64_MAX);
		struct ckpt_checkpoint *c = ckpt_checkpoint_new(NULL);
		enum ckpt_status status;
		uint64_t count;

		assert_true(source && c);
		if (words)
			c->run->words.fail_at = n;
		else
			c->run->arena.fail_at = n;
		status = ckpt_checkpoint_load(c, source);
		ckpt_source_close(source);
		count = words ? c->run->words.count : c->run->arena.count;
		if (count < n) {
			ckpt_checkpoint_free(c);
			return n;
		}
		assert_int_equal(status, CKPT_ENOMEM);
		check_nothing(c, CKPT_NOT_VERIFIED);
	}
}

static void
test_load_survives_each_failing_allocation(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES; i++) {
		struct ckpt_buf bytes = file_of(&shapes[i]);

		assert_true(fail_each(&bytes, false, false) > 2);
		assert_true(fail_each(&bytes, true, false) > 2);
		ckpt_buf_release(&bytes);
	}
}

static void
test_load_says_when_findings_are_lost(void **state)
{
	struct ckpt_buf bytes = file_of(&shapes[0]);

	(void)state;
	bytes.p[bytes.n - 1] ^= 0x40;
	assert_true(fail_each(&bytes, false, true) > 1);
	ckpt_buf_release(&bytes);
}

static void
test_load_keeps_to_its_memory_limit(void **state)
{
	struct ckpt_buf bytes = file_of(&shapes[8]);
	struct ckpt_options options = { .max_memory = 1 };
	struct ckpt_checkpoint *c = NULL;
	unsigned int refused = 0;

	(void)state;
	for (;; options.max_memory += 20011, refused++) {
		enum ckpt_status status =
			read_chunks(&bytes, 999, refused % 2, &options, &c);

		if (status == CKPT_OK)
			break;
		assert_int_equal(status, CKPT_ELIMIT);
		check_nothing(c, CKPT_NOT_VERIFIED);
	}
	assert_true(refused > 20);
	assert_true(options.max_memory >= bytes.n);
	check_same(c, &bytes);
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&bytes);
}

/* ---- Saving ------------------------------------------------------------- */

static struct ckpt_checkpoint *
loaded(struct ckpt_buf *bytes)
{
	struct ckpt_checkpoint *c;

	*bytes = file_of(&shapes[1]);
	assert_int_equal(read_chunks(bytes, 0, false, NULL, &c), CKPT_OK);
	return c;
}

static bool
holds_checkpoint(const char *path, const struct ckpt_buf *bytes)
{
	struct ckpt_source *source = ckpt_source_open(path);
	struct ckpt_checkpoint *c = NULL;
	uint8_t *again = NULL;
	size_t n = 0;
	bool same;

	assert_non_null(source);
	same = ckpt_checkpoint_read(source, NULL, &c) == CKPT_OK &&
	       ckpt_checkpoint_encode(c, &again, &n) == CKPT_OK &&
	       n == bytes->n && memcmp(again, bytes->p, n) == 0;
	ckpt_source_close(source);
	ckpt_checkpoint_free(c);
	free(again);
	return same;
}

static void
test_save_writes_what_was_read(void **state)
{
	struct ckpt_save_fault fault;
	struct ckpt_buf bytes;
	struct ckpt_checkpoint *c = loaded(&bytes);

	(void)state;
	saving_put("f", saving_old_text);
	assert_int_equal(ckpt_checkpoint_save(c, "f", &fault), CKPT_OK);
	assert_true(holds_checkpoint("f", &bytes));
	assert_null(fault.action);
	/* Over the file that it came from. */
	ckpt_checkpoint_free(c);
	{
		struct ckpt_source *source = ckpt_source_open("f");

		assert_non_null(source);
		assert_int_equal(
			ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
		assert_int_equal(ckpt_checkpoint_save(c, "f", NULL), CKPT_OK);
		ckpt_source_close(source);
	}
	assert_true(holds_checkpoint("f", &bytes));
	assert_int_equal(saving_temporaries(false), 0);
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&bytes);
}

/* Saves over the old text with these faults. */
static void
check_fault(struct faulty *faulty, enum ckpt_status want, const char *action)
{
	struct ckpt_buf bytes;
	struct ckpt_checkpoint *c = loaded(&bytes);
	struct ckpt_file_ops ops = faulty_ops(faulty);
	struct ckpt_save save = { .path = "f", .ops = &ops };

	saving_put("f", saving_old_text);
	assert_int_equal(ckpt_checkpoint_save_by(c, &save), want);
	assert_int_equal(faulty->open, 0);
	assert_int_equal(saving_temporaries(false), 0);
	if (want == CKPT_OK || want == CKPT_ENOTSYNCED)
		assert_true(holds_checkpoint("f", &bytes));
	else
		assert_true(saving_holds("f", saving_old_text));
	if (action) {
		assert_string_equal(save.fault.action, action);
		assert_int_equal(save.fault.error, faulty->error);
		assert_null(save.fault.reason);
	}
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&bytes);
}

static void
test_save_passes_statuses_on(void **state)
{
	(void)state;
	check_fault(
		&(struct faulty){ .op = FAULTY_FSYNC, .at = 2, .error = EIO },
		CKPT_ENOTSYNCED, "sync the folder");
	check_fault(
		&(struct faulty){
			.op = FAULTY_RENAMEAT, .at = 1, .error = EXDEV },
		CKPT_ENOATOMIC, "rename the temporary file");
	check_fault(
		&(struct faulty){
			.op = FAULTY_WRITE, .at = 1, .error = ENOSPC },
		CKPT_EIO, "write the temporary file");
	check_fault(
		&(struct faulty){ .op = FAULTY_PWRITE, .at = 1, .error = EIO },
		CKPT_EIO, "patch the temporary file");
	check_fault(
		&(struct faulty){ .op = FAULTY_FSYNC, .at = 1, .error = EIO },
		CKPT_EIO, "sync the temporary file");
	check_fault(
		&(struct faulty){
			.op = FAULTY_OPENAT, .at = 2, .error = EACCES },
		CKPT_EIO, "create the temporary file");
	check_fault(&(struct faulty){ .most = 13 }, CKPT_OK, NULL);
}

static void
test_save_refuses_what_is_no_file(void **state)
{
	struct ckpt_save_fault fault;
	struct ckpt_buf bytes;
	struct ckpt_checkpoint *c = loaded(&bytes);

	(void)state;
	assert_int_equal(
		ckpt_checkpoint_save(c, "", &fault), CKPT_EDESTINATION);
	assert_string_equal(fault.reason, "it has no file name");
	assert_int_equal(ckpt_checkpoint_save(c, ".", NULL), CKPT_EDESTINATION);
	assert_int_equal(ckpt_checkpoint_save(c, "no/f", &fault), CKPT_EIO);
	assert_int_equal(fault.error, ENOENT);
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&bytes);
}

static void
test_save_can_be_given_up(void **state)
{
	struct ckpt_save save = { .path = "f", .progress = cancel };
	struct ckpt_buf bytes;
	struct ckpt_checkpoint *c = loaded(&bytes);

	(void)state;
	saving_put("f", saving_old_text);
	assert_int_equal(ckpt_checkpoint_save_by(c, &save), CKPT_STOP);
	assert_true(saving_holds("f", saving_old_text));
	assert_int_equal(saving_temporaries(false), 0);
	assert_string_equal(save.fault.reason, "it was given up");
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&bytes);
}

#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(                                       \
		test, saving_enter_folder, saving_leave_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_then_encode_gives_the_same_bytes),
		cmocka_unit_test(test_load_does_not_depend_on_chunks),
		cmocka_unit_test(test_load_tells_what_a_checkpoint_holds),
		IN_FOLDER(test_load_rejects_every_damaged_byte),
		IN_FOLDER(test_load_rejects_every_prefix),
		IN_FOLDER(test_load_says_why_there_is_no_verdict),
		IN_FOLDER(test_load_survives_each_failing_allocation),
		IN_FOLDER(test_load_says_when_findings_are_lost),
		IN_FOLDER(test_load_keeps_to_its_memory_limit),
		IN_FOLDER(test_save_writes_what_was_read),
		IN_FOLDER(test_save_passes_statuses_on),
		IN_FOLDER(test_save_refuses_what_is_no_file),
		IN_FOLDER(test_save_can_be_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
