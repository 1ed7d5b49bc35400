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

enum { COLUMNS = 79 };

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
		const struct ckpt_fact *fact =
			ckpt_run_fact_find(result->run, *name);

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
	if (!result->kind)
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

/* The next step, FILE and OFFSET replaced by those of the finding. */
static void
write_next(struct ckpt_buf *buf, const char *next, const char *path,
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
	if (!next)
		return;
	ckpt_buf_puts(buf, "    next: ");
	write_next(buf, next, result->path, d);
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

/* Words in filled lines, the first after what is on the line already. */
struct fill {
	struct ckpt_buf *buf;
	size_t column, indent;
};

static void
fill_word(struct fill *fill, const char *word, const char *after)
{
	size_t n = strlen(word) + strlen(after);

	if (fill->column + 1 + n > COLUMNS) {
		ckpt_buf_printf(fill->buf, "\n%*s", (int)fill->indent, "");
		fill->column = fill->indent;
	} else {
		ckpt_buf_puts(fill->buf, " ");
		fill->column++;
	}
	ckpt_buf_puts(fill->buf, word);
	ckpt_buf_puts(fill->buf, after);
	fill->column += n;
}

static void
write_list(struct ckpt_buf *buf, const char *indent, const char *title,
	const char *const *list)
{
	struct fill fill = { buf, strlen(indent) + strlen(title) + 1,
		strlen(indent) + 2 };

	ckpt_buf_printf(buf, "%s%s:", indent, title);
	if (!list || !list[0])
		fill_word(&fill, "nothing", "");
	for (; list && *list; list++) {
		const char *item = *list;

		while (*item) {
			char word[64];
			size_t n = strcspn(item, " ");
			size_t kept = n < sizeof word ? n : sizeof word - 1;

			memcpy(word, item, kept);
			word[kept] = '\0';
			item += n + strspn(item + n, " ");
			fill_word(&fill, word, !*item && list[1] ? "," : "");
		}
	}
	ckpt_buf_puts(buf, "\n");
}

void
ckpt_text_scope(struct ckpt_buf *buf, const struct ckpt_scope *scope,
	const char *indent)
{
	write_list(buf, indent, "stored", scope->stored);
	write_list(buf, indent, "supplied by the caller for one update",
		scope->supplied);
	write_list(buf, indent, "still required to continue training",
		scope->required);
	write_list(buf, indent, "outside the file", scope->outside);
}

/* Every rule with this fate; of those not evaluated, only with this reason. */
static void
write_rules(struct ckpt_buf *buf, const struct ckpt_result *result,
	const char *title, enum ckpt_ruling ruling, const char *because)
{
	struct fill fill = { buf, COLUMNS, 6 };
	bool any = false;

	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *reason = NULL;

		if (ckpt_result_rule(result, i, &reason) != ruling)
			continue;
		if (because && strcmp(because, reason) != 0)
			continue;
		if (!any)
			ckpt_buf_printf(buf, "    %s%s%s:", title,
				because ? ", " : "", because ? because : "");
		any = true;
		fill_word(&fill, ckpt_rule_at(i)->id, "");
	}
	if (any)
		ckpt_buf_puts(buf, "\n");
}

/* Whether a rule before number n was left out for the same reason. */
static bool
reason_said(const struct ckpt_result *result, size_t n, const char *reason)
{
	for (size_t i = 0; i < n; i++) {
		const char *other = NULL;

		if (ckpt_result_rule(result, i, &other) ==
				CKPT_RULE_NOT_EVALUATED &&
			strcmp(other, reason) == 0)
			return true;
	}
	return false;
}

static void
write_all_rules(struct ckpt_buf *buf, const struct ckpt_result *result)
{
	size_t counts[4] = { 0 };

	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *reason = NULL;

		counts[ckpt_result_rule(result, i, &reason)]++;
	}
	ckpt_buf_printf(buf,
		"  rules: %zu passed, %zu failed, %zu not evaluated\n",
		counts[CKPT_RULE_PASSED], counts[CKPT_RULE_FAILED],
		counts[CKPT_RULE_NOT_EVALUATED]);
	write_rules(buf, result, "passed", CKPT_RULE_PASSED, NULL);
	write_rules(buf, result, "failed", CKPT_RULE_FAILED, NULL);
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *reason = NULL;

		if (ckpt_result_rule(result, i, &reason) ==
				CKPT_RULE_NOT_EVALUATED &&
			!reason_said(result, i, reason))
			write_rules(buf, result, "not evaluated",
				CKPT_RULE_NOT_EVALUATED, reason);
	}
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
	const struct ckpt_format *format = result->run->format;

	write_verdict(buf, result, style);
	write_findings(buf, result, style);
	if (!style->verbose)
		return;
	write_facts(buf, result->run);
	if (!result->kind)
		write_all_rules(buf, result);
	if (format && format->scope)
		ckpt_text_scope(buf, format->scope, "  ");
}
