/* SPDX-License-Identifier: MIT */
/*
 * The published job, built in; a test holds it against corpus/jobs/demo.json,
 * which is the same text.
 */
#include "replay/job.h"

#include <string.h>

/* clang-format off */
const char ckpt_job_published_text[] =
	"{\n"
	"  \"schema\": \"ckpt-job/1\",\n"
	"  \"model\": {\n"
	"    \"width\": 4, \"heads\": 1, \"kv_heads\": 1, \"feed_forward_width\": 8,\n"
	"    \"layers\": 3, \"max_positions\": 8, \"context_window\": 8,\n"
	"    \"rope_base\": 10000.0, \"rms_epsilon\": 1e-6, \"init_seed\": \"39\"\n"
	"  },\n"
	"  \"tokenizer\": {\n"
	"    \"merges\": [\n"
	"      [116, 104], [256, 101], [105, 110], [258, 103],\n"
	"      [101, 114], [97, 110], [261, 100], [111, 117]\n"
	"    ]\n"
	"  },\n"
	"  \"documents\": [\n"
	"    { \"id\": \"short/full\", \"text\": \"the\" },\n"
	"    { \"id\": \"long/full\", \"text\": \"and the\" },\n"
	"    { \"id\": \"medium/full\", \"text\": \"thing\" }\n"
	"  ],\n"
	"  \"order\": [2, 0, 1],\n"
	"  \"plan\": {\n"
	"    \"updates\": 4, \"warmup\": 1, \"peak\": 0.001, \"final\": 0.0001,\n"
	"    \"clip\": 1.0, \"microbatches\": 2, \"recompute_blocks\": true\n"
	"  },\n"
	"  \"optimizer\": {\n"
	"    \"beta1\": 0.9, \"beta2\": 0.999, \"epsilon\": 1e-8,\n"
	"    \"weight_decay\": 0.01, \"groups\": \"gains\"\n"
	"  },\n"
	"  \"dropout\": { \"probability\": 0.25, \"seed\": \"18446744073709551613\" },\n"
	"  \"sampling\": { \"seed\": \"18446744073709551612\" },\n"
	"  \"scaler\": { \"scale\": 8, \"min\": 1, \"max\": 32, \"interval\": 3 }\n"
	"}\n";
/* clang-format on */

enum ckpt_status
ckpt_job_published(struct ckpt_job *job)
{
	struct ckpt_buf why = { 0 };
	enum ckpt_status status = ckpt_job_read(job, ckpt_job_published_text,
		strlen(ckpt_job_published_text), &why);

	ckpt_buf_release(&why);
	return status;
}
