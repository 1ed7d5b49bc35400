/* SPDX-License-Identifier: MIT */
/*
 * What ckverify prints. Results go to standard output one by one, each
 * flushed, so that a reader of a pipe gets them as they come and a full disk
 * is noticed at once. Those of a set's files wait until the verdict of the set
 * is said, which stands before them. Where an operand may still turn out to be
 * a usage error everything is held back until the end, because then nothing may
 * have been printed.
 */
#include "cli/verify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/verify_locate.h"
#include "sink/json.h"
#include "sink/text.h"

static void
flush(struct ckpt_verify_session *s)
{
	struct ckpt_buf *out = &s->out;

	if (out->failed) {
		s->memory = true;
		return;
	}
	if (out->n == 0 || s->output_error)
		return;
	errno = 0;
	if (fwrite(out->p, 1, out->n, stdout) != out->n || fflush(stdout) != 0)
		s->output_error = errno ? errno : EIO;
	ckpt_buf_clear(out);
}

/* With -q only trouble is said, and not as a result. */
static void
say_trouble(const struct ckpt_result *result)
{
	const struct ckpt_diag *primary = ckpt_run_primary(result->run);
	struct ckpt_buf line;

	if (result->exit_code != CKPT_EXIT_TROUBLE || !primary)
		return;
	ckpt_buf_init(&line);
	ckpt_buf_printf(&line, "%s: ", ckpt_verify_command.name);
	ckpt_buf_escape(&line, result->path, strlen(result->path), 0);
	ckpt_buf_printf(&line, ": %s: ", ckpt_verdict_name(result->verdict));
	ckpt_diag_message(&line, primary);
	if (primary->found.kind == CKPT_V_TEXT)
		ckpt_buf_printf(&line, ": %s", (const char *)primary->found.p);
	if (!line.failed)
		fprintf(stderr, "%s\n", line.p);
	ckpt_buf_release(&line);
}

/* The one object of json opens with the first result and is closed at the
 * end, when the verdict of all is known. */
static void
add_json(const struct ckpt_verify_session *s, struct ckpt_buf *out,
	const struct ckpt_result *result)
{
	const struct ckpt_verify_options *o = s->options;
	json_t *object;

	/* A member stands behind its set. */
	if (o->format == CKPT_VERIFY_JSON)
		ckpt_buf_puts(
			out, s->any || s->in_set ? ",\n" : "{\"files\":[\n");
	object = ckpt_json_result(result, o->first, o->verbose);
	if (s->location && json_object_set_new(object, "locate",
				   ckpt_verify_location_json(s->location)) != 0)
		out->failed = true;
	ckpt_json_write(out, object);
	if (o->format == CKPT_VERIFY_JSONL)
		ckpt_buf_puts(out, "\n");
}

void
ckpt_verify_say(struct ckpt_verify_session *s, const struct ckpt_result *result)
{
	const struct ckpt_verify_options *o = s->options;
	struct ckpt_buf *out = s->in_set ? &s->members : &s->out;
	struct ckpt_text_style style = {
		.color = s->screen.color,
		.verbose = o->verbose,
		.first = o->first,
		.located = s->location != NULL,
	};

	s->verdict = ckpt_verdict_worse(s->verdict, result->verdict);
	s->exit_code = ckpt_exit_worse(s->exit_code, result->exit_code);
	if (o->quiet) {
		say_trouble(result);
		return;
	}
	switch (o->format) {
	case CKPT_VERIFY_TEXT:
		ckpt_text_result(out, result, &style);
		if (s->location)
			ckpt_verify_location_write(
				out, s->location, result->path);
		break;
	case CKPT_VERIFY_JSON:
	case CKPT_VERIFY_JSONL: add_json(s, out, result); break;
	}
	if (s->in_set)
		return;
	s->any = true;
	if (!s->held)
		flush(s);
}

void
ckpt_verify_say_members(struct ckpt_verify_session *s)
{
	struct ckpt_buf *members = &s->members;

	if (members->failed)
		s->out.failed = true;
	else if (members->n > 0)
		ckpt_buf_add(&s->out, members->p, members->n);
	ckpt_buf_clear(members);
	if (!s->held)
		flush(s);
}

/* The rest of the one object: everything but the files. */
static void
close_json(struct ckpt_verify_session *s)
{
	struct ckpt_buf rest;
	json_t *object = json_pack("{s:s, s:{s:s, s:s}, s:s, s:i}", "schema",
		CKPT_JSON_SCHEMA_VERIFY, "tool", "name",
		ckpt_verify_command.name, "version", CKPT_VERSION, "verdict",
		ckpt_verdict_name(s->verdict), "exit_code", s->exit_code);

	if (!s->any)
		ckpt_buf_puts(&s->out, "{\"files\":[");
	ckpt_buf_init(&rest);
	ckpt_json_write(&rest, object);
	if (rest.failed)
		s->out.failed = true;
	else
		ckpt_buf_printf(&s->out, "\n],%s\n", rest.p + 1);
	ckpt_buf_release(&rest);
}

void
ckpt_verify_close(struct ckpt_verify_session *s)
{
	if (s->cut) {
		s->verdict = CKPT_NOT_VERIFIED;
		s->exit_code = CKPT_EXIT_INTERRUPTED;
	}
	if (s->options->format == CKPT_VERIFY_JSON && !s->out.failed)
		close_json(s);
	flush(s);
}
