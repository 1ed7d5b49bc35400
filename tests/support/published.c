/* SPDX-License-Identifier: MIT */
#include "support/published.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/archive.h"
#include "replay/session.h"
#include "sink/save.h"

void
published_archive(struct ckpt_buf *bytes)
{
	static const struct ckpt_envelope here = {
		.executable = "0000000000000000000000000000000000000000000000"
			      "000000000000000000",
		.arithmetic = { (const uint8_t *)"test", 4 },
	};
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session_record record;
	struct ckpt_session s;
	struct ckpt_state state;
	struct ckpt_job job;

	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(
		ckpt_session_start(&s, &job, NULL, &here, &refusal), CKPT_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			ckpt_session_update(&s, &record, &refusal), CKPT_OK);
	assert_int_equal(ckpt_session_capture(&s, &state, &refusal), CKPT_OK);
	assert_int_equal(ckpt_encode(bytes, &ckpt_format_archive, &state, NULL),
		CKPT_OK);
	ckpt_session_release(&s);
	ckpt_job_release(&job);
}
