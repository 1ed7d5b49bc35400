/* SPDX-License-Identifier: MIT */
/*
 * Results for people. A valid file is one line; any other has its findings
 * below the verdict, each with what is wrong, where, what was expected and
 * found, the likely cause and the next step. Cause and next step belong to
 * the rule and are said once a rule. Text that came from the file was escaped
 * when the finding was made; the path is escaped here.
 */
#include "sink/text.h"

#include <inttypes.h>
#include <string.h>

#include "wire/value.h"

static const char *
verdict_color(enum ckpt_verdict verdict)
{
	switch (verdict) {
	case CKPT_VALID: return "32";
	case CKPT_INVALID: return "31";
	case CKPT_UNSUPPORTED:
	case CKPT_NOT_VERIFIED: return "35";
	}
	return "0";
}

static const char *
severity_color(enum ckpt_severity severity)
{
	switch (severity) {
	case CKPT_NOTE: return "36";
	case CKPT_WARNING: return "33";
	case CKPT_ERROR: return "31";
	}
	return "0";
}

static void
colored(struct ckpt_buf *buf, const struct ckpt_text_style *style,
	const char *color, const char *word)
{
	if (style->color)
		ckpt_buf_printf(buf, "\033[1;%sm%s\033[0m", color, word);
	else
		ckpt_buf_puts(buf, word);
}

static const struct ckpt_fact *
find_fact(const struct ckpt_run *run, const char *name)
{
	for (size_t i = 0; i < run->nfacts; i++)
		if (strcmp(run->facts[i].name, name) == 0)
			return &run->facts[i];
	return NULL;
}

/* "38 records", "1 record", "fnv1a64:..." */
static void
write_fact(struct ckpt_buf *buf, const struct ckpt_fact *fact)
{
	size_t n = strlen(fact->name);

	ckpt_value_write(buf, &fact->value);
	if (fact->value.kind != CKPT_V_U64)
		return;
	ckpt_buf_puts(buf, " ");
	if (fact->value.u64 == 1 && n > 1 && fact->name[n - 1] == 's')
		n--;
	for (size_t i = 0; i < n; i++)
		ckpt_buf_add(
			buf, fact->name[i] == '_' ? "-" : fact->name + i, 1);
}

/* The brief facts that are checksums, or those that are not. A count of
 * nothing is not worth a word. */
static bool
write_brief(struct ckpt_buf *buf, const struct ckpt_result *result, bool hashes)
{
	const char *const *name = result->brief;
	bool any = false;

	for (; name && *name; name++) {
		const struct ckpt_fact *fact = find_fact(result->run, *name);

		if (!fact || (fact->value.kind == CKPT_V_HASH) != hashes)
			continue;
		if (fact->value.kind == CKPT_V_U64 && fact->value.u64 == 0)
			continue;
		ckpt_buf_puts(buf, ", ");
		write_fact(buf, fact);
		any = true;
	}
	return any;
}

static void
write_what(struct ckpt_buf *buf, const struct ckpt_result *result)
{
	unsigned version;
	const char *format = ckpt_run_format(result->run, &version);

	ckpt_buf_printf(buf, " (%s", result->kind ? result->kind : format);
	if (!result->kind && !result->run->format->named)
		ckpt_buf_printf(buf, " v%u", version);
	write_brief(buf, result, false);
	if (result->run->size_known)
		ckpt_buf_printf(buf, ", %" PRIu64 " bytes", result->run->size);
	/* A checksum without a key finds accidents, not intentions. */
	if (write_brief(buf, result, true))
		ckpt_buf_puts(buf, "; integrity, not authenticity");
	ckpt_buf_puts(buf, ")");
}

static void
write_verdict(struct ckpt_buf *buf, const struct ckpt_result *result,
	const struct ckpt_text_style *style)
{
	uint64_t warnings = result->run->diags.warnings;
	bool good = result->verdict == CKPT_VALID;

	ckpt_buf_escape(buf, result->path, strlen(result->path), 0);
	ckpt_buf_puts(buf, ": ");
	colored(buf, style, verdict_color(result->verdict),
		ckpt_verdict_name(result->verdict));
	if (good && warnings > 0)
		ckpt_buf_printf(buf, " with %" PRIu64 " warning%s", warnings,
			warnings == 1 ? "" : "s");
	if (result->failed_on_warning)
		ckpt_buf_puts(buf, ", failed on warning");
	if (result->kind || (good && result->run->format))
		write_what(buf, result);
	ckpt_buf_puts(buf, "\n");
}

/* Whether a shell and a reader take the path as one plain word. */
static bool
plain_word(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+@%:,=-";

	return path[0] && path[0] != '-' && !path[strspn(path, plain)];
}

void
ckpt_text_next(struct ckpt_buf *buf, const char *next, const char *path,
	const struct ckpt_diag *d)
{
	while (*next) {
		if (strncmp(next, "FILE", 4) == 0 && plain_word(path)) {
			ckpt_buf_puts(buf, path);
			next += 4;
		} else if (strncmp(next, "OFFSET", 6) == 0) {
			ckpt_buf_printf(buf, "%" PRIu64, d->off);
			next += 6;
		} else {
			ckpt_buf_add(buf, next++, 1);
		}
	}
}

static void
write_where(struct ckpt_buf *buf, const struct ckpt_result *result,
	const struct ckpt_diag *d)
{
	bool whole = !d->path[0] && d->off == 0;

	if (!whole && !result->kind)
		ckpt_buf_printf(
			buf, " at 0x%" PRIx64 " (%" PRIu64 ")", d->off, d->off);
	if (d->path[0])
		ckpt_buf_printf(buf, ", %s", d->path);
	if (d->count > 1)
		ckpt_buf_printf(buf, ", %" PRIu64 " times", d->count);
	if (d->caused_by)
		ckpt_buf_printf(buf, ", caused by %s", d->caused_by->id);
	ckpt_buf_puts(buf, "\n");
}

static void
write_values(struct ckpt_buf *buf, const struct ckpt_diag *d)
{
	bool expected = d->expected.kind != CKPT_V_NONE;
	bool found = d->found.kind != CKPT_V_NONE;

	if (!expected && !found)
		return;
	ckpt_buf_puts(buf, "    ");
	if (expected) {
		ckpt_buf_puts(buf, "expected ");
		ckpt_value_write(buf, &d->expected);
	}
	if (found) {
		ckpt_buf_puts(buf, expected ? ", found " : "found ");
		ckpt_value_write(buf, &d->found);
	}
	ckpt_buf_puts(buf, "\n");
}

static void
write_finding(struct ckpt_buf *buf, const struct ckpt_result *result,
	const struct ckpt_diag *d, const struct ckpt_text_style *style,
	bool advice)
{
	const struct ckpt_rule *rule = d->rule;
	const char *next = rule->next;

	ckpt_buf_puts(buf, "  ");
	colored(buf, style, severity_color(rule->severity),
		ckpt_severity_name(rule->severity));
	ckpt_buf_printf(buf, " %s %s", rule->id, rule->slug);
	write_where(buf, result, d);
	ckpt_buf_puts(buf, "    ");
	ckpt_diag_message(buf, d);
	ckpt_buf_puts(buf, "\n");
	write_values(buf, d);
	if (!advice)
		return;
	ckpt_buf_printf(buf, "    likely cause: %s\n", rule->why);
	if (!next && result->run->format && d->path[0])
		next = "see the place: `ckinspect --at OFFSET FILE`";
	if (!next || (style->located && rule == ckpt_rule_row(CKPT_D_CHECKSUM)))
		return;
	ckpt_buf_puts(buf, "    next: ");
	ckpt_text_next(buf, next, result->path, d);
	ckpt_buf_puts(buf, "\n");
}

static void
write_findings(struct ckpt_buf *buf, const struct ckpt_result *result,
	const struct ckpt_text_style *style)
{
	const struct ckpt_run *run = result->run;
	const struct ckpt_diag *primary = ckpt_run_primary(run);
	bool said[CKPT_D_COUNT] = { false };

	if (style->first) {
		if (primary)
			write_finding(buf, result, primary, style, true);
		return;
	}
	for (size_t i = 0; i < ckpt_run_finding_count(run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(run, i);
		enum ckpt_code code = ckpt_rule_code(d->rule);

		if (d->rule->severity == CKPT_NOTE && !style->verbose)
			continue;
		write_finding(buf, result, d, style, !said[code]);
		said[code] = true;
	}
	if (run->diags.suppressed > 0)
		ckpt_buf_printf(buf,
			"  %" PRIu64 " more findings are not shown: at most "
			"%d of a rule are\n",
			run->diags.suppressed, (int)CKPT_DIAGS_PER_RULE);
}

static void
write_facts(struct ckpt_buf *buf, const struct ckpt_run *run)
{
	for (size_t i = 0; i < run->nfacts; i++) {
		ckpt_buf_printf(buf, "  %-20s ", run->facts[i].name);
		ckpt_value_write(buf, &run->facts[i].value);
		ckpt_buf_puts(buf, "\n");
	}
}

void
ckpt_text_result(struct ckpt_buf *buf, const struct ckpt_result *result,
	const struct ckpt_text_style *style)
{
	const struct ckpt_scope *scope = ckpt_run_scope(result->run);

	write_verdict(buf, result, style);
	write_findings(buf, result, style);
	if (result->digest)
		ckpt_text_digests(buf, result);
	if (result->causes)
		ckpt_text_hints(buf, result->causes);
	if (!style->verbose)
		return;
	write_facts(buf, result->run);
	if (!result->kind || result->sets)
		ckpt_text_rulings(buf, result);
	if (scope)
		ckpt_text_scope(buf, scope, "  ");
}
