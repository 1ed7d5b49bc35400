/* SPDX-License-Identifier: MIT */
/*
 * The lists of a result: digests, one a line; in filled lines what a file of a
 * format holds and how each rule fared, which are part of the verbose text.
 */
#include "sink/text.h"

#include <string.h>

enum { COLUMNS = 79 };

/* Words in filled lines, the first after what is on the line already. */
struct fill {
	struct ckpt_buf *buf;
	size_t column, indent;
};

static void
fill_word(struct fill *fill, const char *word, size_t n, const char *after)
{
	size_t width = n + strlen(after);

	if (fill->column + 1 + width > COLUMNS) {
		ckpt_buf_printf(fill->buf, "\n%*s", (int)fill->indent, "");
		fill->column = fill->indent;
	} else {
		ckpt_buf_puts(fill->buf, " ");
		fill->column++;
	}
	ckpt_buf_add(fill->buf, word, n);
	ckpt_buf_puts(fill->buf, after);
	fill->column += width;
}

static void
write_list(struct ckpt_buf *buf, const char *indent, const char *title,
	const char *const *list)
{
	struct fill fill = { buf, strlen(indent) + strlen(title) + 1,
		strlen(indent) + 2 };

	ckpt_buf_printf(buf, "%s%s:", indent, title);
	if (!list || !list[0])
		fill_word(&fill, "nothing", strlen("nothing"), "");
	for (; list && *list; list++) {
		const char *word = *list;

		while (*word) {
			size_t n = strcspn(word, " ");
			const char *next = word + n + strspn(word + n, " ");

			fill_word(&fill, word, n, !*next && list[1] ? "," : "");
			word = next;
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
		fill_word(&fill, ckpt_rule_at(i)->id,
			strlen(ckpt_rule_at(i)->id), "");
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

void
ckpt_text_rulings(struct ckpt_buf *buf, const struct ckpt_result *result)
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

void
ckpt_text_digests(struct ckpt_buf *buf, const struct ckpt_result *result)
{
	const struct ckpt_digest *d = result->digest;

	ckpt_buf_printf(
		buf, "  sha256 %s  ", d->sha256[0] ? d->sha256 : "not given");
	ckpt_buf_escape(buf, result->path, strlen(result->path), 0);
	if (d->missing)
		ckpt_buf_printf(buf, ": %s", d->missing);
	ckpt_buf_puts(buf, "\n");
	for (uint64_t i = 0; i < d->nrecords; i++) {
		const struct ckpt_record_digest *r = &d->records[i];

		ckpt_buf_printf(buf, "    sha256 %s  ",
			r->sha256[0] ? r->sha256 : "not given");
		ckpt_digest_path_write(buf, d, r);
		ckpt_buf_puts(buf, " ");
		ckpt_buf_escape(buf, r->name, r->name_len, 0);
		ckpt_buf_puts(
			buf, r->sha256[0] ? "\n" : ": not all was read\n");
	}
}
