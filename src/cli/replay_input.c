/* SPDX-License-Identifier: MIT */
/*
 * What ckreplay reads from its command line and from files, and how it refuses
 * what it cannot use.
 */
#include "cli/replay.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/real.h"
#include "sink/json.h"
#include "sink/text.h"

/* One decimal id below 2^32; moves *text behind it. */
static bool
take_id(const char **text, uint32_t *id)
{
	uint64_t value = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint64_t)(*p - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*text = p;
	*id = (uint32_t)value;
	return true;
}

bool
replay_parse_ids(struct ckpt_args *args, const char *option, const char *text,
	uint32_t **ids, size_t *batch, size_t *tokens)
{
	size_t n = 0, row = 0;

	*batch = *tokens = 0;
	/* There are at most half as many ids as characters. */
	*ids = calloc(strlen(text) / 2 + 1, sizeof **ids);
	if (!*ids)
		return ckpt_args_fail(args, "out of memory for ", option, "");
	for (const char *p = text;; p++) {
		if (!take_id(&p, &(*ids)[n]))
			return ckpt_args_fail(args,
				"token ids are numbers below 4294967296 with "
				"commas, rows with semicolons between them: ",
				text, "");
		n++;
		row++;
		if (*p == ',')
			continue;
		if (*p != ';' && *p != '\0')
			return ckpt_args_fail(args,
				"no comma or semicolon after a token id: ",
				text, "");
		if (*batch > 0 && row != *tokens)
			return ckpt_args_fail(
				args, "rows of different length: ", text, "");
		*tokens = row;
		++*batch;
		row = 0;
		if (*p == '\0')
			return true;
	}
}

bool
replay_parse_real(struct ckpt_args *args, const char *what, const char *text,
	double *real)
{
	static const struct {
		const char *word;
		double value;
	} words[] = { { "nan", (double)NAN }, { "inf", (double)INFINITY },
		{ "-inf", -(double)INFINITY } };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(text, words[i].word) == 0) {
			*real = words[i].value;
			return true;
		}
	if (ckpt_real_parse(text, real))
		return true;
	return ckpt_args_fail(args, what, text, "");
}

bool
replay_parse_rate(struct ckpt_args *args, const char *text, double *rate)
{
	return replay_parse_real(args, "not a learning rate: ", text, rate);
}

int
replay_refused(const char *path, int format, enum ckpt_status status,
	const struct ckpt_refusal *refusal)
{
	bool input = status == CKPT_REJECTED;
	int code = input ? CKPT_EXIT_NEGATIVE : CKPT_EXIT_TROUBLE;
	const char *verdict = input                         ? "invalid-input"
			      : status == CKPT_EUNSUPPORTED ? "unsupported"
							    : "not-verified";
	const char *kind = refusal->text.p ? refusal->kind : NULL;
	const char *why = refusal->text.p         ? refusal->text.p
			  : status == CKPT_ENOMEM ? "out of memory"
			  : status == CKPT_ELIMIT
				  ? "more memory than allowed is needed"
			  : status == CKPT_EUNSUPPORTED
				  ? "not implemented for this format"
				  : strerror(errno);
	struct ckpt_buf out = { 0 };

	if (format == REPLAY_JSON) {
		json_t *o = json_pack("{s:s, s:s, s:i, s:o, s:s?, s:s}",
			"schema", "ckreplay/1", "verdict", verdict, "exit_code",
			code, "file", ckpt_json_escaped(path, strlen(path)),
			"kind", kind, "reason", why);

		ckpt_json_write(&out, o);
		ckpt_buf_puts(&out, "\n");
	} else {
		ckpt_buf_escape(&out, path, strlen(path), 0);
		ckpt_buf_printf(&out, ": %s\n  %s%s%s\n  nothing was written\n",
			verdict, kind ? kind : "", kind ? ": " : "", why);
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
	const struct ckpt_diag *primary;
	enum ckpt_status s = CKPT_EIO;

	(void)args;
	if (source)
		s = ckpt_checkpoint_read(source, &options, &c);
	ckpt_source_close(source);
	if (s == CKPT_OK)
		return c;
	primary = c ? ckpt_run_primary(ckpt_checkpoint_run(c)) : NULL;
	if (primary && (s == CKPT_EUNSUPPORTED || s == CKPT_REJECTED)) {
		refusal.kind =
			s == CKPT_REJECTED ? "InvalidFile" : "UnsupportedFile";
		ckpt_buf_printf(&refusal.text, "%s %s: %s", primary->rule->id,
			primary->rule->slug, primary->rule->text);
	}
	*status = replay_refused(path, format, s, &refusal);
	ckpt_buf_release(&refusal.text);
	ckpt_checkpoint_free(c);
	return NULL;
}
