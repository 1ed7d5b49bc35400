/* SPDX-License-Identifier: MIT */
/*
 * What prevents a verdict while a file is being read: it changes, reading
 * fails, a signal comes, the caller cancels. Each is the primary finding, and
 * what was found before stays listed.
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
#include <unistd.h>

#include "base/buf.h"
#include "diag/run.h"
#include "io/source_slow.h"
#include "sink/text.h"
#include "support/sample.h"

static const char *
primary_id(const struct ckpt_run *run)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);

	return primary ? primary->rule->id : "none";
}

/* ---- Change ------------------------------------------------------------- */

/* What happens to the file at the first question for progress. */
struct change {
	const char *path;
	enum { NOTHING, APPENDED, CUT, OVERWRITTEN, REPLACED, REMOVED } what;
	bool done;
};

static void
put(const char *path, const char *mode, long at)
{
	FILE *file = fopen(path, mode);

	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fputc('!', file), '!');
	assert_int_equal(fclose(file), 0);
}

static bool
change_file(void *ctx, uint64_t done, uint64_t total)
{
	struct change *change = ctx;

	(void)done;
	(void)total;
	if (change->done)
		return true;
	change->done = true;
	switch (change->what) {
	case NOTHING: break;
	case APPENDED: put(change->path, "ab", 0); break;
	case CUT: assert_int_equal(truncate(change->path, 400), 0); break;
	case OVERWRITTEN: put(change->path, "r+b", 700); break;
	case REPLACED:
		assert_true(sample_write(sample_find("plain"), "other.ckpt"));
		assert_int_equal(rename("other.ckpt", change->path), 0);
		break;
	case REMOVED: assert_int_equal(unlink(change->path), 0); break;
	}
	return true;
}

static void
test_trouble_changed_while_reading(void **state)
{
	static const struct {
		int what;
		const char *words;
	} cases[] = {
		{ NOTHING, NULL },
		{ APPENDED, "longer" },
		{ CUT, "shorter" },
		{ OVERWRITTEN, "written to" },
		{ REPLACED, "another file" },
		{ REMOVED, "removed" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct change change = { "changed.ckpt",
			(unsigned)cases[i].what, false };
		struct ckpt_options options = { .progress = change_file,
			.progress_ctx = &change };
		struct ckpt_run *run = ckpt_run_new(&options);
		struct ckpt_source *source;
		enum ckpt_verdict verdict;

		assert_true(sample_write(sample_find("plain"), change.path));
		source = ckpt_source_open(change.path);
		assert_non_null(source);
		verdict = ckpt_verify(run, source);
		assert_true(change.done);
		if (cases[i].words) {
			assert_int_equal(verdict, CKPT_NOT_VERIFIED);
			assert_string_equal(primary_id(run), "CK9002");
			assert_non_null(strstr(ckpt_run_primary(run)->found.p,
				cases[i].words));
		} else {
			assert_int_equal(verdict, CKPT_VALID);
		}
		ckpt_run_free(run);
		ckpt_source_close(source);
		unlink(change.path);
	}
}

/* ---- Sources that misbehave --------------------------------------------- */

/* Says EINTR before every read of another source. */
struct nervous {
	struct ckpt_source source;
	struct ckpt_source *inner;
	bool calm;
	unsigned interruptions;
};

static ptrdiff_t
nervous_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct nervous *nervous = (struct nervous *)source;

	nervous->calm = !nervous->calm;
	if (!nervous->calm)
		return nervous->inner->read(
			nervous->inner, bytes, n < 100 ? n : 100);
	nervous->interruptions++;
	errno = EINTR;
	return -1;
}

static bool
cancel_after(void *ctx, uint64_t done, uint64_t total)
{
	unsigned *left = ctx;

	(void)done;
	(void)total;
	return *left == 0 || --*left > 0;
}

/* Cancelled at the given question, 0: never. */
static enum ckpt_verdict
verify_nervously(unsigned questions, struct ckpt_run **run)
{
	unsigned left = questions;
	struct ckpt_options options = { .progress = cancel_after,
		.progress_ctx = &left };
	size_t n = 0;
	uint8_t *bytes = sample_make(sample_find("plain"), &n);
	struct nervous nervous = { .inner = ckpt_source_memory(bytes, n) };
	enum ckpt_verdict verdict;

	nervous.source.read = nervous_read;
	assert_non_null(nervous.inner);
	*run = ckpt_run_new(&options);
	verdict = ckpt_verify(*run, &nervous.source);
	assert_true(questions == 1 || nervous.interruptions > 0);
	ckpt_source_close(nervous.inner);
	free(bytes);
	return verdict;
}

static void
test_trouble_signals_are_not_errors(void **state)
{
	struct ckpt_run *run;

	(void)state;
	assert_int_equal(verify_nervously(0, &run), CKPT_VALID);
	assert_int_equal(ckpt_run_finding_count(run), 0);
	ckpt_run_free(run);
}

static void
test_trouble_cancelled_at_any_question(void **state)
{
	(void)state;
	for (unsigned questions = 1; questions < 12; questions++) {
		struct ckpt_run *run;

		assert_int_equal(
			verify_nervously(questions, &run), CKPT_NOT_VERIFIED);
		assert_string_equal(primary_id(run), "CK9006");
		ckpt_run_free(run);
	}
}

/* The sample with a fault in its header and many bytes behind its end. */
static uint8_t *
make_faulty(size_t n)
{
	size_t whole = 0;
	uint8_t *bytes = sample_make(sample_find("plain"), &whole);
	uint8_t *longer = realloc(bytes, n);

	assert_non_null(longer);
	assert_true(whole < n);
	memset(longer + whole, 0, n - whole);
	longer[171] = 3;
	return longer;
}

static void
test_trouble_read_error_at_any_byte(void **state)
{
	enum { N = 6000 };
	uint8_t *bytes = make_faulty(N);

	(void)state;
	for (uint64_t at = 0; at < N; at += 59) {
		struct ckpt_run *run = ckpt_run_new(NULL);
		struct ckpt_source *source = ckpt_source_slow(
			ckpt_source_memory(bytes, N), 64, true, at);
		struct ckpt_result result;
		struct ckpt_text_style style = { 0 };
		struct ckpt_buf buf;

		assert_non_null(source);
		assert_int_equal(ckpt_verify(run, source), CKPT_NOT_VERIFIED);
		assert_string_equal(primary_id(run), "CK9001");
		ckpt_result_init(&result, "a", run, CKPT_NOT_VERIFIED, false);
		assert_int_equal(result.exit_code, CKPT_EXIT_TROUBLE);
		ckpt_buf_init(&buf);
		ckpt_text_result(&buf, &result, &style);
		assert_non_null(strstr(buf.p, strerror(EIO)));
		/* What was found before the error stays listed. */
		if (at > CKPT_SNIFF)
			assert_non_null(strstr(buf.p, "bad-groups-flag"));
		ckpt_buf_release(&buf);
		ckpt_run_free(run);
		ckpt_source_close(source);
	}
	free(bytes);
}

static void
test_trouble_without_a_source(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);

	(void)state;
	assert_int_equal(ckpt_run_trouble(run, EACCES), CKPT_NOT_VERIFIED);
	assert_string_equal(primary_id(run), "CK9001");
	assert_string_equal(ckpt_run_primary(run)->found.p, strerror(EACCES));
	assert_int_equal(ckpt_run_finding_count(run), 1);
	assert_null(ckpt_run_format(run, NULL));
	ckpt_run_free(run);
}

/* The option that a format refuses is refused before anything is judged. */
static void
test_trouble_option_that_cannot_apply(void **state)
{
	static const struct ckpt_options cases[] = {
		{ .values = CKPT_VALUES_OFF },
		{ .max_header = 1000 },
	};
	size_t n = 0;
	uint8_t *bytes = sample_make(sample_find("plain"), &n);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ckpt_run *run = ckpt_run_new(&cases[i]);
		struct ckpt_source *source = ckpt_source_memory(bytes, n);

		assert_int_equal(ckpt_verify(run, source), CKPT_NOT_VERIFIED);
		assert_string_equal(primary_id(run), "CK9007");
		assert_int_equal(ckpt_run_finding_count(run), 1);
		ckpt_run_free(run);
		ckpt_source_close(source);
	}
	free(bytes);
}

/* ---- An empty folder for the files -------------------------------------- */

static char folder[] = "/tmp/ckpt-test-XXXXXX";

static int
enter(void **state)
{
	const char *parent = getenv("TMPDIR");

	(void)state;
	if (parent && chdir(parent) != 0)
		return -1;
	if (!parent && (!mkdtemp(folder) || chdir(folder) != 0))
		return -1;
	return 0;
}

static int
leave(void **state)
{
	(void)state;
	return getenv("TMPDIR") ? 0 : rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trouble_changed_while_reading),
		cmocka_unit_test(test_trouble_signals_are_not_errors),
		cmocka_unit_test(test_trouble_cancelled_at_any_question),
		cmocka_unit_test(test_trouble_read_error_at_any_byte),
		cmocka_unit_test(test_trouble_without_a_source),
		cmocka_unit_test(test_trouble_option_that_cannot_apply),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
