/* SPDX-License-Identifier: MIT */
/*
 * How the reading of an LLMCP35 file ends: at its last byte and not behind it,
 * at a size that no longer holds, at a listener that has heard enough, or
 * where memory is used up; and what is read across the edges of buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/llmcp35.h"
#include "support/build35.h"
#include "support/judged.h"

/* ---- what listeners hear ------------------------------------------------ */

struct heard {
	struct ckpt_sink sink;
	unsigned all, begins, ends, fields;
	unsigned last; /* the kind of the last event */
	enum ckpt_status at_data;
};

static enum ckpt_status
hear(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct heard *heard = (struct heard *)sink;

	if (event->kind == CKPT_EV_BEGIN)
		assert_int_equal(heard->all, 0);
	heard->all++;
	heard->begins += event->kind == CKPT_EV_BEGIN;
	heard->ends += event->kind == CKPT_EV_END;
	heard->fields += event->kind == CKPT_EV_FIELD;
	heard->last = event->kind;
	return event->kind == CKPT_EV_DATA ? heard->at_data : CKPT_OK;
}

static enum ckpt_verdict
listen(struct heard *heard, const void *bytes, size_t n, struct ckpt_run *run)
{
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	enum ckpt_verdict verdict;

	assert_true(run && source);
	heard->sink.event = hear;
	ckpt_run_listen(run, &heard->sink);
	verdict = ckpt_verify(run, source);
	ckpt_source_close(source);
	return verdict;
}

/* A file that is claimed begins and ends, also one that is not understood; of
 * one that nobody claims there is only the end. */
static void
test_llmcp35_ends_begin_and_end(void **state)
{
	static const uint8_t zeros[100];

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct ckpt_run *run = ckpt_run_new(NULL);
		struct heard heard = { 0 };
		enum ckpt_verdict verdict;
		struct b35 b;

		b35_small(&b);
		if (kind == 1)
			b.version = 2;
		if (kind == 2)
			b.descriptors = B35_TELL(99);
		b35_build(&b);
		verdict = kind == 3 ? listen(&heard, zeros, sizeof zeros, run)
				    : listen(&heard, b.bytes, b.n, run);
		assert_int_equal(verdict, kind == 0   ? CKPT_VALID
					  : kind == 1 ? CKPT_UNSUPPORTED
						      : CKPT_INVALID);
		assert_int_equal(heard.begins, kind < 3);
		assert_int_equal(heard.ends, 1);
		assert_int_equal(heard.last, CKPT_EV_END);
		/* Only those who want fields are told of them. */
		assert_int_equal(heard.fields, 0);
		ckpt_run_free(run);
		b35_free(&b);
	}
}

/* Who stops at a fault has a verdict; who stops without one has none. */
static void
test_llmcp35_ends_where_a_listener_stops(void **state)
{
	(void)state;
	for (int bad = 0; bad < 2; bad++) {
		struct ckpt_run *run = ckpt_run_new(NULL);
		struct heard heard = { .at_data = CKPT_STOP };
		struct b35 b;

		b35_small(&b);
		b.learning_rate = bad ? 0.0 : b.learning_rate;
		b35_build(&b);
		assert_int_equal(listen(&heard, b.bytes, b.n, run),
			bad ? CKPT_INVALID : CKPT_NOT_VERIFIED);
		assert_int_equal(ckpt_run_finding_count(run), 1);
		assert_string_equal(ckpt_run_primary(run)->rule->id,
			bad ? "CK5101" : "CK9006");
		assert_int_equal(heard.ends, 0);
		ckpt_run_free(run);
		b35_free(&b);
	}
}

static bool
go_on(void *ctx, uint64_t done, uint64_t total)
{
	unsigned *left = ctx;

	(void)done;
	(void)total;
	return (*left)-- > 0;
}

/* A fault that was found before does not make a cancelled run a verdict. */
static void
test_llmcp35_ends_where_it_is_cancelled(void **state)
{
	unsigned left = 2;
	struct ckpt_options options = { .progress = go_on,
		.progress_ctx = &left };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct heard heard = { 0 };
	struct judged j = { .run = run };
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_literal(&b, 2);
	b35_model(&b, 100000, 2, 1, 0);
	b.learning_rate = 0.0;
	b35_build(&b);
	j.verdict = listen(&heard, b.bytes, b.n, run);
	assert_int_equal(j.verdict, CKPT_NOT_VERIFIED);
	assert_string_equal(judged_primary(&j), "CK9006");
	assert_non_null(judged_find(&j, "CK5101"));
	assert_true(judged_find(&j, "CK9006")->off > 0);
	judged_free(&j);
	b35_free(&b);
}

/* ---- the end of the file ------------------------------------------------ */

/* Nothing is read behind the last byte of a file whose size is known. */
static void
test_llmcp35_ends_at_the_last_byte(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	judged_slowly(&j, b.bytes, b.n, SIZE_MAX, false, b.n);
	assert_int_equal(j.verdict, CKPT_VALID);
	judged_free(&j);
	/* Nor where more was declared. */
	b.payload_bytes = B35_TELL(b.n - b.header_end + 1);
	b35_build(&b);
	judged_slowly(&j, b.bytes, b.n, SIZE_MAX, false, b.n);
	assert_int_equal(j.verdict, CKPT_INVALID);
	assert_string_equal(judged_primary(&j), "CK1005");
	judged_free(&j);
	b35_free(&b);
}

/* Of extents without a sum nobody waits for the end. */
static void
test_llmcp35_ends_of_a_pipe_without_extents(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.payload_bytes = B35_TELL(UINT64_MAX);
	b35_build(&b);
	judged_slowly(&j, b.bytes, b.n, SIZE_MAX, true, UINT64_MAX);
	assert_string_equal(judged_primary(&j), "CK1009");
	assert_int_equal(judged_count(&j, "CK1009"), 1);
	assert_int_equal(judged_count(&j, "CK1005"), 0);
	assert_int_equal(judged_count(&j, "CK1007"), 0);
	judged_free(&j);
	b35_free(&b);
}

static enum ckpt_status
changed_somehow(struct ckpt_source *source, const char **what)
{
	(void)source;
	(void)what;
	errno = ESTALE;
	return CKPT_EIO;
}

/* A file that was cut while it was read, and one of which no more is known
 * than that it is another one. */
static void
test_llmcp35_ends_of_a_file_that_changes(void **state)
{
	const struct ckpt_diag *d;
	struct ckpt_source *source;
	struct judged j = { 0 };
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	j.run = ckpt_run_new(NULL);
	source = ckpt_source_memory(b.bytes, b.n - 10);
	assert_true(j.run && source);
	source->size = b.n;
	j.verdict = ckpt_verify(j.run, source);
	assert_int_equal(j.verdict, CKPT_INVALID);
	assert_string_equal(judged_primary(&j), "CK1005");
	assert_string_equal(ckpt_run_primary(j.run)->note, "short by 10 bytes");
	assert_null(judged_find(&j, "CK1006"));
	ckpt_source_close(source);
	judged_free(&j);

	j.run = ckpt_run_new(NULL);
	source = ckpt_source_memory(b.bytes, b.n);
	assert_true(j.run && source);
	source->unchanged = changed_somehow;
	j.verdict = ckpt_verify(j.run, source);
	assert_int_equal(j.verdict, CKPT_NOT_VERIFIED);
	d = judged_find(&j, "CK9002");
	assert_non_null(d);
	assert_string_equal(d->found.p, strerror(ESTALE));
	ckpt_source_close(source);
	judged_free(&j);
	b35_free(&b);
}

/* The size is that of the source, also of a file of which little was read. */
static void
test_llmcp35_ends_leave_the_size_alone(void **state)
{
	enum { LARGE = 1024 * 1024 };
	uint8_t *bytes = calloc(1, LARGE);
	struct judged j;

	(void)state;
	judged_bytes(&j, bytes, LARGE);
	assert_string_equal(judged_primary(&j), "CK1002");
	assert_true(j.run->size_known);
	assert_int_equal(j.run->size, LARGE);
	judged_free(&j);
	free(bytes);
}

/* ---- whose file it is --------------------------------------------------- */

static void
test_llmcp35_ends_where_the_magic_does(void **state)
{
	/* The NUL at the end is the eighth byte. */
	static const char magic[] = LLMCP35_MAGIC;
	struct judged j;

	(void)state;
	assert_true(ckpt_format_llmcp35.sniff((const uint8_t *)magic, 8));
	assert_false(ckpt_format_llmcp35.sniff((const uint8_t *)magic, 7));
	judged_bytes(&j, magic, 8);
	assert_string_equal(ckpt_run_format(j.run, NULL), "llmcp35");
	assert_string_equal(judged_primary(&j), "CK1001");
	judged_free(&j);
	judged_bytes(&j, magic, 7);
	assert_null(ckpt_run_format(j.run, NULL));
	assert_string_equal(judged_primary(&j), "CK1001");
	judged_free(&j);
}

/* A name claims a file of no kind by what stands before its suffix. */
static void
test_llmcp35_ends_of_names(void **state)
{
	static const char name[] = "a.safetensors";
	static const struct {
		const char *name;
		const char *format;
	} rows[] = {
		{ name, "safetensors" },
		{ name + 1, NULL }, /* all of it */
		{ name + 2, NULL }, /* less, and the rest stands before it */
		{ "", NULL },
		{ NULL, NULL },
	};
	uint8_t bytes[100];

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(0x93 + 0x4f * i);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *format;
		struct judged j;

		judged_named(&j, rows[i].name, bytes, sizeof bytes);
		format = ckpt_run_format(j.run, NULL);
		if (rows[i].format)
			assert_string_equal(format, rows[i].format);
		else
			assert_null(format);
		judged_free(&j);
	}
	/* With the suffix of a format that has a magic nothing more is said
	 * of the others. */
	for (int i = 0; i < 3; i++) {
		static const char ours[] = "a.ckpt";
		struct judged j;

		judged_named(&j, ours + i, bytes, sizeof bytes);
		assert_string_equal(judged_primary(&j), "CK1002");
		if (i == 0)
			assert_null(ckpt_run_primary(j.run)->note);
		else
			assert_non_null(strstr(ckpt_run_primary(j.run)->note,
				"no format is recognised"));
		judged_free(&j);
	}
}

/* ---- checks that were made ---------------------------------------------- */

/* A check of the format was made, or there is a reason why not: that of the
 * other tokenizer is given, and no check of its own. */
static void
test_llmcp35_ends_with_every_check(void **state)
{
	static const char *const own[2] = { " D1 D2 D3 ", " D4 D5 D6 " };

	(void)state;
	for (int bpe = 0; bpe < 2; bpe++) {
		struct judged j;
		struct b35 b;

		b35_init(&b);
		if (bpe)
			b35_bpe(&b, 3);
		else
			b35_literal(&b, 3);
		b35_model(&b, 4, 2, 6, 1);
		b35_moments(&b, 2);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		assert_int_equal(j.verdict, CKPT_VALID);
		for (size_t i = 0; i < ckpt_rule_count(); i++) {
			char check[20];
			bool ran = j.run->diags.ran[i] == CKPT_RAN;

			snprintf(check, sizeof check, " %s ",
				ckpt_rule_at(i)->check);
			if (strstr(own[bpe], check))
				assert_true(ran);
			if (strstr(own[!bpe], check)) {
				assert_false(ran);
				assert_non_null(strstr(j.run->diags.reason[i],
					"the tokenizer is"));
			}
		}
		judged_free(&j);
		b35_free(&b);
	}
}

/* ---- names -------------------------------------------------------------- */

/* Section 6.5, byte by byte. */
static void
test_llmcp35_ends_of_segments(void **state)
{
	struct b35 b;

	(void)state;
	b35_small(&b);
	for (int c = 1; c < 128; c++) {
		const char *good = "abcdefghijklmnopqrstuvwxyz0123456789_";
		char name[3] = { 'a', (char)c, 'b' };
		struct judged j;

		b35_rename(&b.records[5], name, 3);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		if (judged_count(&j, "CK5204") !=
			(c != '.' && !strchr(good, c)))
			fail_msg("byte %d", c);
		judged_free(&j);
	}
	b35_free(&b);
}

/* Names are read in pieces, whatever their length. */
static void
test_llmcp35_ends_of_long_names(void **state)
{
	static char text[40000];

	(void)state;
	memset(text, 'a', sizeof text);
	for (uint32_t n = 4090; n < sizeof text; n += n / 2 + 1)
		for (uint32_t more = 0; more < 7; more++) {
			const struct ckpt_diag *d;
			struct judged j;
			struct b35 b;

			b35_init(&b);
			b35_literal(&b, 2);
			b35_model(&b, 4, 2, 6, 0);
			b.groups_flag = 1;
			b.decay = calloc(2, sizeof *b.decay);
			b.ndecay = 2;
			b.decay[0].p = b.decay[1].p = text;
			b.decay[0].n = n + more - 1;
			b.decay[1].n = n + more;
			b35_build(&b);
			judged_slowly(&j, b.bytes, b.n, 1021, true, UINT64_MAX);
			assert_int_equal(j.verdict, CKPT_VALID);
			d = judged_find(&j, "CK5601");
			assert_int_equal(d->off, b.groups_at + 4);
			assert_int_equal(d->len, 4 + n + more - 1);
			assert_int_equal(d->count, 2);
			judged_free(&j);
			b35_free(&b);
		}
}

/* A name that claims 2 GiB takes no more than what arrives of it. */
static void
test_llmcp35_ends_of_names_that_are_not_there(void **state)
{
	static char text[9000];
	struct ckpt_options options = { .max_memory = 4 << 20 };

	(void)state;
	memset(text, 'a', sizeof text);
	for (uint32_t n = 3; n <= sizeof text; n *= 3) {
		struct ckpt_source *source;
		struct judged j = { .run = ckpt_run_new(&options) };
		struct b35 b;

		b35_init(&b);
		b35_literal(&b, 2);
		b.groups_flag = 1;
		b.decay = calloc(1, sizeof *b.decay);
		b.ndecay = 1;
		b.decay[0] =
			(struct b35_str){ text, n, B35_TELL(UINT32_MAX / 2) };
		b.header_bytes = B35_TELL((uint64_t)1 << 40);
		b35_build(&b);
		/* As of a pipe: nobody knows yet that there is no more. */
		source = ckpt_source_memory(
			b.bytes, (size_t)b.groups_at + 8 + n);
		assert_true(j.run && source);
		source->has_size = false;
		j.verdict = ckpt_verify(j.run, source);
		assert_int_equal(j.verdict, CKPT_INVALID);
		assert_string_equal(judged_primary(&j), "CK1005");
		assert_non_null(judged_find(&j, "CK2004"));
		assert_true(j.run->arena.used < 1 << 20);
		ckpt_source_close(source);
		judged_free(&j);
		b35_free(&b);
	}
}

/* ---- edges of buffers --------------------------------------------------- */

/* More merges than a buffer holds, at every place of a pair at its edge. */
static void
test_llmcp35_ends_of_buffers_in_merges(void **state)
{
	enum { MERGES = 40000, AT = MERGES - 2 };

	(void)state;
	for (uint32_t phase = 0; phase < 8; phase++) {
		const struct ckpt_diag *d;
		struct judged j;
		struct b35 b;

		b35_init(&b);
		b35_bpe(&b, MERGES);
		b35_model(&b, 2, 1, 1, 0);
		b.groups_flag = 1;
		b.decay = calloc(1, sizeof *b.decay);
		b.ndecay = 1;
		b.decay[0] = (struct b35_str){ "12345678", phase + 1, { 0 } };
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		assert_int_equal(j.verdict, CKPT_VALID);
		judged_free(&j);
		memcpy(b.records[0].payload + 8 * (AT + 1),
			b.records[0].payload + 8 * AT, 8);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		d = judged_find(&j, "CK5009");
		assert_non_null(d);
		assert_int_equal(d->count, 1);
		assert_int_equal(d->off, b.records[0].data_at + 8 * (AT + 1));
		judged_free(&j);
		b35_free(&b);
	}
}

/* ---- words that there is no memory for ---------------------------------- */

/* Findings can be shown even when their words could not be kept. */
static void
test_llmcp35_ends_without_words(void **state)
{
	(void)state;
	for (uint64_t n = 1;; n++) {
		struct judged j = { .run = ckpt_run_new(NULL) };
		struct ckpt_source *source;
		bool reached;
		struct b35 b;
		char *log;

		b35_small(&b);
		b.learning_rate = 0.0;
		b.records[5].byte_length = B35_TELL(9);
		b.records[6].dims[0] = 9;
		b.selected_step = 9;
		b35_build(&b);
		source = ckpt_source_memory(b.bytes, b.n);
		assert_true(j.run && source);
		j.run->texts.fail_at = n;
		j.verdict = ckpt_verify(j.run, source);
		reached = j.run->texts.count >= n;
		log = judged_log(&j);
		assert_non_null(strstr(log, "CK5101"));
		assert_int_equal(
			j.verdict, reached ? CKPT_NOT_VERIFIED : CKPT_INVALID);
		for (size_t i = 0; i < ckpt_run_finding_count(j.run); i++) {
			const struct ckpt_diag *d = ckpt_run_finding(j.run, i);

			assert_true(d->off + d->len <= b.n);
		}
		free(log);
		ckpt_source_close(source);
		judged_free(&j);
		b35_free(&b);
		if (!reached) {
			assert_true(n > 1);
			return;
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llmcp35_ends_begin_and_end),
		cmocka_unit_test(test_llmcp35_ends_where_a_listener_stops),
		cmocka_unit_test(test_llmcp35_ends_where_it_is_cancelled),
		cmocka_unit_test(test_llmcp35_ends_at_the_last_byte),
		cmocka_unit_test(test_llmcp35_ends_of_a_pipe_without_extents),
		cmocka_unit_test(test_llmcp35_ends_of_a_file_that_changes),
		cmocka_unit_test(test_llmcp35_ends_leave_the_size_alone),
		cmocka_unit_test(test_llmcp35_ends_where_the_magic_does),
		cmocka_unit_test(test_llmcp35_ends_of_names),
		cmocka_unit_test(test_llmcp35_ends_with_every_check),
		cmocka_unit_test(test_llmcp35_ends_of_segments),
		cmocka_unit_test(test_llmcp35_ends_of_long_names),
		cmocka_unit_test(test_llmcp35_ends_of_names_that_are_not_there),
		cmocka_unit_test(test_llmcp35_ends_of_buffers_in_merges),
		cmocka_unit_test(test_llmcp35_ends_without_words),
	};

	return cmocka_run_group_tests_name("LLMCP35 ends", tests, NULL, NULL);
}
