/* SPDX-License-Identifier: MIT */
/*
 * ckreplay env: the arithmetic environment; and the same as part of every
 * other report, so that results of two machines can be told from mistakes.
 */
#include "cli/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "sink/json.h"

#define SLOT(member) .slot = offsetof(struct replay_env_options, member)

static const char *const formats[] = { "text", "json", NULL };

static const struct ckpt_opt opts[] = {
	{ .name = "format",
		.kind = CKPT_OPT_CHOICE,
		.words = formats,
		.preset = "text",
		SLOT(format),
		.help = "how to print the result" },
	{ 0 },
};

static const char *const use[] = { "[options]", NULL };

static const char *const about[] = {
	"tries out which bits the arithmetic of this build on this machine "
	"makes: rounding, subnormal numbers, fused operations, and the results "
	"of exp, log, log1p, pow, sin and cos, whose last bit depends on the "
	"math library and the processor.",
	"Results of two environments can be compared bit for bit only if their "
	"fingerprints are the same.",
	NULL,
};

const struct ckpt_command replay_env_command = {
	.name = "env",
	.title = "show the arithmetic environment",
	.use = use,
	.about = about,
	.opts = opts,
};

json_t *
replay_arithmetic_json(void)
{
	struct ckpt_arithmetic a = ckpt_arithmetic_probe();
	char text[32];

	snprintf(text, sizeof text, "fnv1a64:%016" PRIx64, a.fingerprint);
	return json_pack("{s:s, s:s, s:s}", "profile", a.profile, "math",
		a.math, "fingerprint", text);
}

void
replay_arithmetic_text(struct ckpt_buf *out)
{
	struct ckpt_arithmetic a = ckpt_arithmetic_probe();

	ckpt_buf_printf(out, "  arithmetic %s, %s, fnv1a64:%016" PRIx64 "\n",
		a.profile, a.math, a.fingerprint);
}

static void
text_result(struct ckpt_buf *out)
{
	struct ckpt_arithmetic a = ckpt_arithmetic_probe();

	ckpt_buf_printf(out,
		"profile      %s\n"
		"math         %s\n"
		"fingerprint  fnv1a64:%016" PRIx64 "\n"
		"rounding     %s\n"
		"subnormals   %s\n"
		"contraction  %s\n",
		a.profile, a.math, a.fingerprint,
		a.nearest ? "nearest-even" : "other",
		a.subnormals ? "kept" : "flushed", a.separate ? "off" : "on");
}

static json_t *
json_result(void)
{
	struct ckpt_arithmetic a = ckpt_arithmetic_probe();

	return json_pack("{s:s, s:o, s:s, s:s, s:s}", "schema", "ckreplay/1",
		"arithmetic", replay_arithmetic_json(), "rounding",
		a.nearest ? "nearest-even" : "other", "subnormals",
		a.subnormals ? "kept" : "flushed", "contraction",
		a.separate ? "off" : "on");
}

int
replay_print(struct ckpt_buf *out, int status)
{
	if (out->failed) {
		fputs("ckreplay: out of memory\n", stderr);
		status = CKPT_EXIT_TROUBLE;
	} else if (fwrite(out->p, 1, out->n, stdout) != out->n ||
		   fflush(stdout) != 0) {
		fprintf(stderr, "ckreplay: standard output: %s\n",
			strerror(errno));
		status = CKPT_EXIT_TROUBLE;
	}
	ckpt_buf_release(out);
	return status;
}

int
replay_env(struct ckpt_args *args, const void *options)
{
	const struct replay_env_options *o = options;
	struct ckpt_buf out = { 0 };

	(void)args;
	if (o->format == REPLAY_JSON) {
		ckpt_json_write(&out, json_result());
		ckpt_buf_puts(&out, "\n");
	} else {
		text_result(&out);
	}
	return replay_print(&out, CKPT_EXIT_OK);
}
