/* SPDX-License-Identifier: MIT */
/*
 * The samples are what the tests take them for. Called as
 * `test_sample KIND FILE ...` it runs no test but writes samples, for the
 * scripts of tests/cli.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ckpt.h>

#include "support/sample.h"

/* What the one finding of a sample is, or NULL. */
static void
assert_sample(const char *kind, const char *slug)
{
	size_t n = 0;
	uint8_t *bytes = sample_make(sample_find(kind), &n);
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	struct ckpt_run *run = ckpt_run_new(NULL);
	const struct ckpt_diag *finding;

	assert_non_null(bytes);
	assert_non_null(source);
	assert_int_equal(ckpt_verify(run, source), CKPT_VALID);
	assert_string_equal(ckpt_run_format(run, NULL), "llmcp35");
	assert_int_equal(ckpt_run_finding_count(run), slug ? 1 : 0);
	finding = ckpt_run_finding(run, 0);
	if (slug)
		assert_string_equal(finding->rule->slug, slug);
	ckpt_run_free(run);
	ckpt_source_close(source);
	free(bytes);
}

static void
test_sample_is_valid(void **state)
{
	(void)state;
	assert_sample("plain", NULL);
	assert_sample("fresh", NULL);
	assert_sample("huge", NULL);
}

static void
test_sample_is_warned_of(void **state)
{
	(void)state;
	assert_sample("noted", "sampling-rng-state-zero");
	assert_sample("warned", "negative-zero");
	assert_sample("hostile", "group-names-unknown-parameter");
	assert_null(sample_find("unheard-of"));
}

static int
write_samples(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const struct sample *sample = sample_find(argv[i]);

		if (!sample || !sample_write(sample, argv[i + 1])) {
			fprintf(stderr, "no sample %s\n", argv[i]);
			return 1;
		}
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_is_valid),
		cmocka_unit_test(test_sample_is_warned_of),
	};

	if (argc > 1)
		return write_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
