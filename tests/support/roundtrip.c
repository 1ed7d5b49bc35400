/* SPDX-License-Identifier: MIT */
/*
 * The promise about every file, however made: it is either refused for a
 * reason or encodes to itself again. A header that is text may say the same in
 * other words; then what it encodes to says it in the writer's.
 */
#include "support/roundtrip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sink/save.h"
#include "support/judged.h"

static void
encode_again(struct ckpt_run *run, const uint8_t *bytes, size_t n,
	struct ckpt_buf *again)
{
	struct ckpt_state state;

	assert_in_range(run->header_end, 1, n);
	assert_int_equal(run->format->bind(run, bytes + run->header_end,
				 n - run->header_end, &state),
		CKPT_OK);
	assert_int_equal(
		ckpt_encode(again, run->format, &state, NULL), CKPT_OK);
}

static bool
same(const struct ckpt_buf *again, const void *bytes, size_t n)
{
	return again->n == n && memcmp(again->p, bytes, n) == 0;
}

/* What it was encoded to is valid, and encodes to itself. */
static void
expect_settled(const char *what, const struct ckpt_buf *once)
{
	struct ckpt_buf again = { 0 };
	struct judged j;

	judged_bytes(&j, once->p, once->n);
	if (j.verdict != CKPT_VALID)
		fail_msg("%s: accepted, but encodes to what is not", what);
	encode_again(j.run, (const uint8_t *)once->p, once->n, &again);
	if (!same(&again, once->p, once->n))
		fail_msg("%s: encodes to another file each time", what);
	ckpt_buf_release(&again);
	judged_free(&j);
}

static void
expect_same(
	const char *what, struct ckpt_run *run, const uint8_t *bytes, size_t n)
{
	struct ckpt_buf again = { 0 };

	encode_again(run, bytes, n, &again);
	if (run->format->text)
		expect_settled(what, &again);
	else if (!same(&again, bytes, n))
		fail_msg("%s: accepted, but encodes to another file", what);
	ckpt_buf_release(&again);
}

bool
roundtrip_judge(const char *what, const void *bytes, size_t n)
{
	struct judged j;
	bool valid;

	judged_bytes(&j, bytes, n);
	valid = j.verdict == CKPT_VALID;
	/* A format may be one that is verified and never written. */
	if (valid && j.run->format->bind && j.run->format->encode)
		expect_same(what, j.run, bytes, n);
	if (j.verdict == CKPT_NOT_VERIFIED ||
		(!valid && !ckpt_run_primary(j.run)))
		fail_msg("%s: no verdict", what);
	judged_free(&j);
	return valid;
}
