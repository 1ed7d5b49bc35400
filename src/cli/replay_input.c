/* SPDX-License-Identifier: MIT */
/*
 * What ckreplay reads from its command line and from files, and how it refuses
 * what it cannot use.
 */
#include "cli/replay.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "replay/request.h"
#include "sink/json.h"

bool
replay_parse_ids(struct ckpt_args *args, const char *option, const char *text,
	uint32_t **ids, size_t *batch, size_t *tokens)
{
	const char *why;

	return ckpt_ids_parse(text, ids, batch, tokens, &why) ||
	       ckpt_args_fail(args, why, *ids ? text : option, "");
}

bool
replay_parse_real(struct ckpt_args *args, const char *what, const char *text,
	double *real)
{
	return ckpt_replay_real_parse(text, real) ||
	       ckpt_args_fail(args, what, text, "");
}

/* Whether a subcommand replaces files, which its options tell. */
static bool
writes(const struct ckpt_args *args)
{
	static const char *const outputs[] = { "output", "checkpoint", "save" };
	const struct ckpt_opt *opt = args->sub ? args->sub->opts : NULL;

	for (; opt && opt->kind != CKPT_OPT_END; opt++)
		for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
			if (opt->name && strcmp(opt->name, outputs[i]) == 0)
				return true;
	return false;
}

/* Of where the program runs, not of what it was given. */
static bool
is_elsewhere(enum ckpt_status status, const char *kind)
{
	return status == CKPT_REJECTED && kind &&
	       (strcmp(kind, "OtherExecutable") == 0 ||
		       strcmp(kind, "OtherArithmetic") == 0);
}

int
replay_refused(const struct ckpt_args *args, const char *path, int format,
	enum ckpt_status status, const struct ckpt_refusal *refusal)
{
	struct ckpt_refused r = ckpt_replay_refused(status, refusal);
	int code = status == CKPT_REJECTED ? CKPT_EXIT_NEGATIVE
					   : CKPT_EXIT_TROUBLE;
	struct ckpt_buf out = { 0 };

	if (is_elsewhere(status, r.kind)) {
		r.verdict = "not-comparable";
		code = CKPT_EXIT_TROUBLE;
	}
	if (format == REPLAY_JSON) {
		json_t *o = json_pack("{s:s, s:s, s:i, s:o, s:s?, s:s}",
			"schema", "ckreplay/1", "verdict", r.verdict,
			"exit_code", code, "file",
			ckpt_json_escaped(path, strlen(path)), "kind", r.kind,
			"reason", r.why);

		ckpt_json_write(&out, o);
		ckpt_buf_puts(&out, "\n");
	} else {
		ckpt_buf_escape(&out, path, strlen(path), 0);
		ckpt_buf_printf(&out, ": %s\n  %s%s%s\n%s", r.verdict,
			r.kind ? r.kind : "", r.kind ? ": " : "", r.why,
			writes(args) ? "  nothing was written\n" : "");
	}
	return replay_print(&out, code);
}

struct ckpt_checkpoint *
replay_load(struct ckpt_args *args, const char *path, uint64_t max_memory,
	int format, int *status)
{
	struct ckpt_options options = { .max_memory = max_memory };
	struct ckpt_source *source = ckpt_source_open(path);
	struct ckpt_checkpoint *c = NULL;
	struct ckpt_refusal refusal = { 0 };
	enum ckpt_status s = CKPT_EIO;

	if (source)
		s = ckpt_replay_load(source, &options, &c, &refusal);
	ckpt_source_close(source);
	if (s == CKPT_OK)
		return c;
	*status = replay_refused(args, path, format, s, &refusal);
	ckpt_buf_release(&refusal.text);
	return NULL;
}
