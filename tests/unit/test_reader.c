/* SPDX-License-Identifier: MIT */
/*
 * The reader: the same bytes, the same hash and the same findings whatever
 * the chunks; what a failing, cancelled or changing source becomes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/reader.h"
#include "io/source_slow.h"
#include "support/build35.h"
#include "support/judged.h"

enum { BUFFER = CKPT_READER_BUFFER };

struct reading {
	struct ckpt_run *run;
	struct ckpt_source *source;
	struct ckpt_reader reader;
};

static void
begin(struct reading *r, const uint8_t *bytes, size_t n, size_t most,
	uint64_t fail_at)
{
	r->run = ckpt_run_new(NULL);
	r->source = ckpt_source_slow(
		ckpt_source_memory(bytes, n), most, false, fail_at);
	assert_int_equal(
		ckpt_reader_init(&r->reader, r->run, r->source), CKPT_OK);
}

static void
end(struct reading *r)
{
	ckpt_source_close(r->source);
	ckpt_run_free(r->run);
}

static uint8_t *
pattern(size_t n)
{
	uint8_t *p = malloc(n + 1);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 2654435761u >> 13);
	return p;
}

/* With the bytes of [zero, zero + 8) as zeros. */
static uint64_t
slow_hash(const uint8_t *p, size_t n, uint64_t zero)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (i >= zero && i < zero + 8 ? 0 : p[i])) *
		    1099511628211u;
	return h;
}

/* Read, peek, skip and drop in turns, of random lengths. */
static void
check_reading(const uint8_t *bytes, size_t n, size_t most, uint64_t zero)
{
	uint8_t *out = malloc(n + 1);
	uint32_t seed = (uint32_t)(most + zero);
	const uint8_t *p;
	struct reading r;
	size_t at = 0;

	begin(&r, bytes, n, most, UINT64_MAX);
	ckpt_reader_peek(&r.reader, 100, &p);
	r.reader.hashing = true;
	r.reader.zero_off = zero;
	r.reader.zero_len = 8;
	while (at < n) {
		size_t want;

		seed = seed * 1664525 + 1013904223;
		want = (seed >> 8) % (seed >> 28 ? 4000 : 200000);
		assert_int_equal(ckpt_reader_offset(&r.reader), at);
		if (seed >> 30 == 0) {
			want = ckpt_reader_read(&r.reader, out, want);
			assert_memory_equal(out, bytes + at, want);
		} else if (seed >> 30 == 1) {
			want = (size_t)ckpt_reader_drop(&r.reader, want);
		} else {
			size_t got;

			want = want > BUFFER / 2 ? BUFFER / 2 : want;
			got = ckpt_reader_peek(&r.reader, want, &p);
			assert_true(got >= want || got == n - at);
			assert_memory_equal(p, bytes + at, got);
			want = got < want ? got : want;
			ckpt_reader_skip(&r.reader, want);
		}
		at += want;
		if (seed % 5 == 0)
			assert_true(ckpt_reader_hash(&r.reader) ==
				    slow_hash(bytes, at, zero));
	}
	assert_int_equal(ckpt_reader_read(&r.reader, out, 1), 0);
	assert_true(r.reader.eof);
	assert_int_equal(r.reader.status, CKPT_OK);
	assert_true(ckpt_reader_hash(&r.reader) == slow_hash(bytes, n, zero));
	end(&r);
	free(out);
}

static void
test_reader_gives_the_same_in_any_chunks(void **state)
{
	static const size_t lengths[] = { 0, 1, 37, 5000, BUFFER - 1, BUFFER,
		BUFFER + 1, 2 * BUFFER, 2 * BUFFER + 13 };
	static const size_t chunks[] = { 1, 3, 7, 4096, BUFFER - 1, BUFFER,
		SIZE_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		uint8_t *bytes = pattern(lengths[i]);

		for (size_t k = 0; k < sizeof chunks / sizeof chunks[0]; k++)
			if (lengths[i] <= 5000 || chunks[k] >= 7)
				check_reading(bytes, lengths[i], chunks[k], 30);
		free(bytes);
	}
}

/* The zeroed range at the edges of what was read, and of the buffer. */
static void
test_reader_zeroed_range_straddles(void **state)
{
	size_t n = BUFFER + 100;
	uint8_t *bytes = pattern(n);

	(void)state;
	for (uint64_t zero = 0; zero < 40; zero++)
		for (size_t most = 1; most < 12; most++)
			check_reading(bytes, 60, most, zero);
	for (uint64_t zero = BUFFER - 9; zero < BUFFER + 2; zero++)
		check_reading(bytes, n, SIZE_MAX, zero);
	check_reading(bytes, 60, 7, 56); /* beyond the end */
	check_reading(bytes, 60, 7, 1000);
	free(bytes);
}

static void
test_reader_error_at_a_byte(void **state)
{
	uint8_t *bytes = pattern(2 * BUFFER);

	(void)state;
	for (uint64_t at = 0; at < 2 * BUFFER; at = at * 3 + 1) {
		uint8_t out[1000];
		struct reading r;
		uint64_t got = 0;
		size_t k;

		begin(&r, bytes, 2 * BUFFER, 999, at);
		while ((k = ckpt_reader_read(&r.reader, out, sizeof out)) > 0)
			got += k;
		assert_int_equal(got, at);
		assert_int_equal(r.reader.status, CKPT_EIO);
		assert_int_equal(r.reader.error, EIO);
		assert_false(r.reader.eof);
		end(&r);
	}
	free(bytes);
}

/* A whole verification: the same findings in any chunks, from a file or a
 * pipe, good and bad. */
static void
test_reader_verdicts_in_any_chunks(void **state)
{
	static const size_t chunks[] = { 1, 3, 7, 4096 };

	(void)state;
	for (int bad = 0; bad < 3; bad++) {
		struct judged j;
		struct b35 b;
		char *whole, *log;

		b35_small(&b);
		if (bad) {
			b.records[5].byte_length = B35_TELL(7);
			b35_rename(&b.records[7], "\xff", 1);
			b35_f64_bits(&b.records[9], 3, UINT64_MAX);
			b.checksum = B35_TELL(3);
		}
		if (bad == 2)
			b.payload_bytes = B35_TELL(100000);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		whole = judged_log(&j);
		judged_free(&j);
		for (size_t i = 0; i < 8; i++) {
			judged_slowly(&j, b.bytes, b.n, chunks[i / 2], i % 2,
				UINT64_MAX);
			log = judged_log(&j);
			assert_string_equal(log, whole);
			free(log);
			judged_free(&j);
		}
		free(whole);
		b35_free(&b);
	}
}

static void
test_reader_verdict_of_an_error_at_every_byte(void **state)
{
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.selected_step = 7; /* a finding that must not decide */
	b35_build(&b);
	for (uint64_t at = 0; at < b.n; at++) {
		const struct ckpt_diag *d;
		struct judged j;

		judged_slowly(&j, b.bytes, b.n, 100, at % 2, at);
		assert_int_equal(j.verdict, CKPT_NOT_VERIFIED);
		d = ckpt_run_primary(j.run);
		assert_string_equal(d->rule->id, "CK9001");
		assert_int_equal(d->off, at);
		assert_string_equal(d->found.p, strerror(EIO));
		/* Nothing from phase B on counts as passed. */
		assert_int_equal(
			j.run->diags.ran[CKPT_D_RNG_ALGORITHM], CKPT_NOT_RUN);
		judged_free(&j);
	}
	b35_free(&b);
}

struct budget {
	unsigned calls, most;
	uint64_t done, total;
};

static bool
count_calls(void *ctx, uint64_t done, uint64_t total)
{
	struct budget *b = ctx;

	assert_true(done >= b->done);
	b->done = done;
	b->total = total;
	return ++b->calls <= b->most;
}

static void
test_reader_cancelled_run(void **state)
{
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	for (unsigned most = 0; most < 60; most++) {
		struct budget budget = { 0, most, 0, 0 };
		struct ckpt_options options = { .progress = count_calls,
			.progress_ctx = &budget };
		struct ckpt_run *run = ckpt_run_new(&options);
		struct ckpt_source *source =
			ckpt_source_slow(ckpt_source_memory(b.bytes, b.n), 200,
				false, UINT64_MAX);

		if (ckpt_verify(run, source) == CKPT_VALID) {
			assert_true(budget.calls <= most);
			assert_in_range(budget.done, b.n - 200, b.n);
			assert_int_equal(budget.total, b.n);
		} else {
			assert_int_equal(budget.calls, most + 1);
			assert_string_equal(
				ckpt_run_primary(run)->rule->id, "CK9006");
		}
		ckpt_source_close(source);
		ckpt_run_free(run);
	}
	b35_free(&b);
}

static enum ckpt_status
changed(struct ckpt_source *source, const char **what)
{
	(void)source;
	*what = "it became another one";
	return CKPT_EIO;
}

static void
test_reader_changed_source(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_source *source;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.selected_step = 9;
	b35_build(&b);
	source = ckpt_source_memory(b.bytes, b.n);
	source->unchanged = changed;
	assert_int_equal(ckpt_verify(run, source), CKPT_NOT_VERIFIED);
	assert_string_equal(ckpt_run_primary(run)->rule->id, "CK9002");
	assert_string_equal(
		ckpt_run_primary(run)->found.p, "it became another one");
	assert_int_equal(ckpt_run_finding_count(run), 2);
	ckpt_source_close(source);
	ckpt_run_free(run);
	b35_free(&b);
}

static bool
say_stop(void *ctx, uint64_t done, uint64_t all)
{
	(void)ctx;
	(void)done;
	(void)all;
	return false;
}

/* What hid the bytes decides, and then that they are others now: this before
 * what ended here may be of the reader alone. */
static void
test_reader_changed_source_and_more(void **state)
{
	static const struct {
		struct ckpt_options options;
		uint64_t fail_at, nth_allocation;
		bool pipe;
		const char *ids;
	} rows[] = {
		{ .fail_at = 100, .ids = "CK9001 CK9002" },
		{ .options.values = CKPT_VALUES_OFF, .ids = "CK9007 CK9002" },
		{ .options.max_memory = 4096, .ids = "CK9002 CK9003" },
		{ .nth_allocation = 1, .ids = "CK9002 CK9004" },
		{ .pipe = true, .ids = "CK9002 CK9005" },
		{ .options.progress = say_stop, .ids = "CK9002 CK9006" },
	};
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_run *run = ckpt_run_new(&rows[i].options);
		struct ckpt_source *source = ckpt_source_slow(
			ckpt_source_memory(b.bytes, rows[i].pipe ? 0 : b.n),
			b.n, rows[i].pipe,
			rows[i].fail_at ? rows[i].fail_at : UINT64_MAX);
		struct ckpt_buf ids = { 0 };

		assert_true(run && source);
		source->unchanged = changed;
		run->arena.fail_at = rows[i].nth_allocation;
		assert_int_equal(ckpt_verify(run, source), CKPT_NOT_VERIFIED);
		for (size_t k = 0; k < run->diags.n; k++)
			ckpt_buf_printf(&ids, "%s%s", k ? " " : "",
				run->diags.list[k].rule->id);
		assert_string_equal(ids.p, rows[i].ids);
		assert_string_equal(ckpt_run_primary(run)->rule->id,
			run->diags.list[0].rule->id);
		ckpt_buf_release(&ids);
		ckpt_source_close(source);
		ckpt_run_free(run);
	}
	b35_free(&b);
}

static enum ckpt_status
stop(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	(void)sink;
	return event->kind == CKPT_EV_SPAN ? CKPT_STOP : CKPT_OK;
}

/* A listener that stops a run that found nothing leaves no verdict. */
static void
test_reader_stopped_by_a_listener(void **state)
{
	(void)state;
	for (int bad = 0; bad < 2; bad++) {
		struct ckpt_sink sink = { .event = stop };
		struct ckpt_run *run = ckpt_run_new(NULL);
		struct ckpt_source *source;
		struct b35 b;

		b35_small(&b);
		b.tokenizer_kind = bad ? 3 : 1;
		b35_build(&b);
		source = ckpt_source_memory(b.bytes, b.n);
		ckpt_run_listen(run, &sink);
		assert_int_equal(ckpt_verify(run, source),
			bad ? CKPT_INVALID : CKPT_NOT_VERIFIED);
		ckpt_source_close(source);
		ckpt_run_free(run);
		b35_free(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_gives_the_same_in_any_chunks),
		cmocka_unit_test(test_reader_zeroed_range_straddles),
		cmocka_unit_test(test_reader_error_at_a_byte),
		cmocka_unit_test(test_reader_verdicts_in_any_chunks),
		cmocka_unit_test(test_reader_verdict_of_an_error_at_every_byte),
		cmocka_unit_test(test_reader_cancelled_run),
		cmocka_unit_test(test_reader_changed_source),
		cmocka_unit_test(test_reader_changed_source_and_more),
		cmocka_unit_test(test_reader_stopped_by_a_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
