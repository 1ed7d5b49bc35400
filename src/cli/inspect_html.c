/* SPDX-License-Identifier: MIT */
/*
 * The page of --html from its head to its end: one file that needs no other,
 * that its own policy keeps from loading or running anything but what is
 * written here, and that is the same whenever it is made of the same file. The
 * policy names script and style by their hashes, so markup that got in by a
 * mistake of ours could still not run.
 */
#include "cli/inspect_html.h"

#include <inttypes.h>
#include <string.h>

#include "sink/report.h"
#include "wire/value.h"

void
inspect_html_count(struct ckpt_buf *buf, uint64_t n, const char *what)
{
	ckpt_buf_printf(buf, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* ---- Head --------------------------------------------------------------- */

static void
write_path(struct inspect *in)
{
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	ckpt_buf_escape(&words, in->path, strlen(in->path), 0);
	ckpt_html_take(&in->out, &words);
	ckpt_buf_release(&words);
}

static void
write_head(struct inspect *in)
{
	struct ckpt_buf *out = &in->out;

	ckpt_buf_puts(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\""
		"default-src 'none'; style-src ");
	ckpt_html_lines_hash(out, inspect_html_style);
	ckpt_buf_puts(out, "; script-src ");
	ckpt_html_lines_hash(out, inspect_html_script);
	ckpt_buf_puts(out,
		"; img-src data:; base-uri 'none'; "
		"form-action 'none'\">\n"
		"<meta name=\"viewport\" "
		"content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light "
		"dark\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"generator\" content=\"ckinspect " CKPT_VERSION
		"\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>");
	write_path(in);
	ckpt_buf_printf(
		out, ": %s</title>\n<style>", ckpt_verdict_name(in->verdict));
	ckpt_html_lines(out, inspect_html_style);
	ckpt_buf_puts(out, "</style>\n</head>\n");
}

/* ---- Verdict ------------------------------------------------------------ */

/* A sign beside the word, because not everybody sees the colour. */
static void
write_badge(struct inspect *in)
{
	static const char *const signs[] = {
		[CKPT_VALID] = "good\">\xe2\x9c\x93",
		[CKPT_INVALID] = "bad\">\xe2\x9c\x97",
		[CKPT_UNSUPPORTED] = "unsure\">?",
		[CKPT_NOT_VERIFIED] = "unsure\">?",
	};

	ckpt_buf_printf(&in->out, "<strong class=\"badge %s %s</strong>",
		signs[in->verdict], ckpt_verdict_name(in->verdict));
}

static void
write_verdict(struct inspect *in)
{
	const struct ckpt_diag *d = ckpt_run_primary(in->run);
	const struct ckpt_diags *diags = &in->run->diags;
	struct ckpt_buf words, *out = &in->out;

	ckpt_buf_init(&words);
	ckpt_buf_puts(out, "<p class=\"verdict\">");
	write_badge(in);
	ckpt_buf_puts(out, " <span>");
	if (in->verdict == CKPT_VALID) {
		if (diags->warnings > 0) {
			ckpt_buf_puts(&words, "with ");
			inspect_html_count(&words, diags->warnings, "warning");
			ckpt_buf_puts(&words, "; ");
		}
		ckpt_buf_puts(&words, "integrity, not authenticity");
	} else if (d) {
		ckpt_buf_printf(&words, "%s %s: ", d->rule->id, d->rule->slug);
		ckpt_diag_message(&words, d);
	}
	ckpt_html_take(out, &words);
	ckpt_buf_puts(out, "</span></p>\n");
	ckpt_buf_release(&words);
}

/* ---- Facts -------------------------------------------------------------- */

static void
write_fact(struct inspect *in, const char *name, struct ckpt_buf *words)
{
	ckpt_buf_puts(&in->out, "<div><dt>");
	for (; *name; name++)
		ckpt_html_add(&in->out, *name == '_' ? " " : name, 1);
	ckpt_buf_puts(&in->out, "</dt><dd>");
	ckpt_html_take(&in->out, words);
	ckpt_buf_puts(&in->out, "</dd></div>\n");
}

/* How the rules fared; what was not evaluated never looks like passed. */
static void
count_rules(struct inspect *in, struct ckpt_buf *words)
{
	uint64_t n[CKPT_RULE_NOT_EVALUATED + 1] = { 0 };
	struct ckpt_result result;

	ckpt_result_init(&result, in->path, in->run, in->verdict, false);
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *reason = NULL;

		n[ckpt_result_rule(&result, i, &reason)]++;
	}
	ckpt_buf_printf(words,
		"%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64
		" not evaluated",
		n[CKPT_RULE_PASSED], n[CKPT_RULE_FAILED],
		n[CKPT_RULE_NOT_EVALUATED]);
}

static void
write_facts(struct inspect *in)
{
	const struct ckpt_run *run = in->run;
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	ckpt_buf_puts(&in->out, "<dl class=\"facts\">\n");
	inspect_format_write(&words, in);
	write_fact(in, "format", &words);
	ckpt_buf_puts(&words, run->size_known ? "" : "at least ");
	inspect_html_count(&words, run->size, "byte");
	write_fact(in, "size", &words);
	for (size_t i = 0; i < run->nfacts; i++) {
		ckpt_value_write(&words, &run->facts[i].value);
		write_fact(in, run->facts[i].name, &words);
	}
	count_rules(in, &words);
	write_fact(in, "rules", &words);
	ckpt_buf_puts(&in->out, "</dl>\n");
	ckpt_buf_release(&words);
}

/* ---- What a file of this format is not ---------------------------------- */

static void
write_list(struct inspect *in, const char *title, const char *const *list)
{
	ckpt_buf_printf(&in->out, "<div><dt>%s</dt><dd>", title);
	if (!list || !list[0])
		ckpt_buf_puts(&in->out, "nothing");
	for (; list && *list; list++) {
		ckpt_html_puts(&in->out, *list);
		ckpt_buf_puts(&in->out, list[1] ? ", " : "");
	}
	ckpt_buf_puts(&in->out, "</dd></div>\n");
}

void
inspect_html_scope(struct inspect *in)
{
	const struct ckpt_scope *scope = ckpt_run_scope(in->run);

	if (!scope)
		return;
	ckpt_buf_puts(&in->out,
		"<section id=\"scope\">\n<h2>What such a file holds</h2>\n"
		"<dl class=\"scope\">\n");
	write_list(in, "stored", scope->stored);
	write_list(
		in, "supplied by the caller for one update", scope->supplied);
	write_list(in, "still required to continue training", scope->required);
	write_list(in, "outside the file", scope->outside);
	ckpt_buf_puts(&in->out, "</dl>\n</section>\n");
}

/* ---- The page ----------------------------------------------------------- */

static void
write_nav(struct inspect *in)
{
	struct ckpt_buf *out = &in->out;

	ckpt_buf_puts(out, "<nav aria-label=\"Sections\">"
			   "<a href=\"#map\">Byte map</a>");
	ckpt_buf_printf(out,
		"<a href=\"#findings\">Findings <b>%" PRIu64 "</b></a>",
		in->run->diags.n);
	ckpt_buf_printf(out,
		"<a href=\"#records\">Records <b>%" PRIu64 "</b></a>",
		in->spans.ntensors);
	ckpt_buf_puts(out, "<a href=\"#values\">Values</a>");
	ckpt_buf_printf(out,
		"<a href=\"#fields\">Header fields <b>%" PRIu64 "</b></a>",
		in->spans.nfields);
	if (ckpt_run_scope(in->run))
		ckpt_buf_puts(out, "<a href=\"#scope\">Scope</a>");
	ckpt_buf_puts(out, "</nav>\n");
}

bool
inspect_html(struct inspect *in)
{
	struct ckpt_buf *out = &in->out;

	write_head(in);
	ckpt_buf_puts(out, "<body>\n<header>\n<h1>");
	write_path(in);
	ckpt_buf_puts(out, "</h1>\n");
	write_verdict(in);
	write_facts(in);
	write_nav(in);
	ckpt_buf_puts(out, "</header>\n<main>\n");
	inspect_html_map(in);
	inspect_html_findings(in);
	inspect_html_records(in);
	inspect_html_histograms(in);
	inspect_html_fields(in);
	inspect_html_scope(in);
	ckpt_buf_puts(out, "</main>\n<footer>Made by ckinspect " CKPT_VERSION
			   ". This page loads nothing.</footer>\n<script>");
	ckpt_html_lines(out, inspect_html_script);
	ckpt_buf_puts(out, "</script>\n</body>\n</html>\n");
	if (out->failed)
		return false;
	inspect_flush(in, true);
	return true;
}
