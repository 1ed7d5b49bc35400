/* SPDX-License-Identifier: MIT */
/*
 * Going to a place that is typed. What it is, is tried in this order: a
 * number, a path of a record or a field, a record by its role and name, a
 * tensor by its whole name or what is in it behind that, a rule, "max" and
 * "min", a part of a tensor's name, alone or behind its role, a part of a
 * field's path. Numbers are typed by people and compared with numbers of the
 * file: all of them are checked.
 */
#include "view/goto.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "view/stats.h"

enum view_went
view_went_nowhere(struct view *view, const char *words, const char *where)
{
	struct ckpt_buf text = { 0 };

	ckpt_buf_puts(&text, words);
	ckpt_buf_escape(&text, where, strlen(where), 80);
	view_say(view, VIEW_WARNING, "%s", text.p ? text.p : words);
	ckpt_buf_release(&text);
	return VIEW_WENT_NOWHERE;
}

/* ---- Numbers ------------------------------------------------------------ */

bool
view_number_read(const char *text, uint64_t *number)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t base = hex ? 16 : 10;

	if (hex)
		text += 2;
	if (*text == '\0')
		return false;
	for (*number = 0; *text; text++) {
		int c = tolower((unsigned char)*text);
		uint64_t digit;

		if (c >= '0' && c <= '9')
			digit = (uint64_t)(c - '0');
		else if (hex && c >= 'a' && c <= 'f')
			digit = (uint64_t)(c - 'a' + 10);
		else
			return false;
		if (!ckpt_mul_u64(*number, base, number) ||
			!ckpt_add_u64(*number, digit, number))
			*number = UINT64_MAX;
		if (*number == UINT64_MAX)
			base = 1; /* stays there */
	}
	return true;
}

enum view_went
view_went_to(struct view *view, uint64_t off)
{
	uint64_t size = view->doc->size;

	view_jump(view, off);
	if (off >= size)
		view_say(view, VIEW_WARNING,
			"%s%" PRIu64 " is behind the end; this is the last "
			"byte, %" PRIu64,
			off == UINT64_MAX ? "beyond " : "", off, size - 1);
	return VIEW_WENT;
}

/* "+16", "-0x10" */
static enum view_went
go_relative(struct view *view, const char *where)
{
	uint64_t by, off;

	if (where[0] != '+' && where[0] != '-')
		return VIEW_WENT_NOT;
	if (!view_number_read(where + 1, &by))
		return view_went_nowhere(
			view, "not a number of bytes: ", where);
	if (where[0] == '+')
		return view_went_to(view, ckpt_add_u64(view->cursor, by, &off)
						  ? off
						  : UINT64_MAX);
	if (ckpt_sub_u64(view->cursor, by, &off))
		return view_went_to(view, off);
	view_jump(view, 0);
	view_say(view, VIEW_WARNING,
		"that is before the start; this is the first byte");
	return VIEW_WENT;
}

/* "50%", "12.5%" */
static enum view_went
go_percent(struct view *view, const char *where)
{
	size_t n = strlen(where);
	double percent = 0, unit = 1, place;
	uint64_t off;
	bool point = false, digits = false;

	if (n == 0 || where[n - 1] != '%')
		return VIEW_WENT_NOT;
	for (size_t i = 0; i + 1 < n; i++) {
		if (where[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (where[i] == ' ' && digits)
			continue;
		if (where[i] < '0' || where[i] > '9')
			return view_went_nowhere(
				view, "not a percentage: ", where);
		digits = true;
		if (point)
			unit /= 10;
		else
			percent *= 10;
		percent += unit * (where[i] - '0');
	}
	if (!digits || percent > 100)
		return view_went_nowhere(
			view, "a percentage is from 0% to 100%, not ", where);
	/* The first byte of which the last line says so. */
	place = (double)(view->doc->size - 1) * (percent / 100);
	off = percent >= 100 ? view->doc->size - 1 : (uint64_t)place;
	view_jump(view, (double)off < place ? off + 1 : off);
	return VIEW_WENT;
}

static enum view_went
go_number(struct view *view, const char *where)
{
	enum view_went went = go_relative(view, where);
	uint64_t off;

	if (went == VIEW_WENT_NOT)
		went = go_percent(view, where);
	if (went != VIEW_WENT_NOT)
		return went;
	return view_number_read(where, &off) ? view_went_to(view, off)
					     : VIEW_WENT_NOT;
}

/* ---- Rules -------------------------------------------------------------- */

static enum view_went
go_rule(struct view *view, const char *where)
{
	const struct ckpt_rule *rule = ckpt_rule_find(where);
	const struct view_doc *doc = view->doc;
	bool any = false;

	for (size_t i = 0; rule && i < doc->nfindings; i++) {
		const struct ckpt_diag *d = &doc->findings[doc->by_offset[i]];

		if (d->rule != rule)
			continue;
		any = true;
		if (view_finding_placed(d))
			return view_went_to(view, d->off);
	}
	if (!rule)
		return VIEW_WENT_NOT;
	view_say(view, VIEW_WARNING, "%s %s: %s", rule->id, rule->slug,
		any ? "about the file as a whole, it has no place"
		: doc->stage == VIEW_VERIFIED
			? "there is no such finding"
			: "there is no such finding so far");
	return VIEW_WENT_NOWHERE;
}

/* ---- For the viewer ----------------------------------------------------- */

static enum view_went
go_whole_name(struct view *view, const char *where)
{
	return view_go_name(view, where, true);
}

static enum view_went
go_part_of_name(struct view *view, const char *where)
{
	return view_go_name(view, where, false);
}

static enum view_went
go_extreme(struct view *view, const char *where)
{
	if (strcmp(where, "max") != 0 && strcmp(where, "min") != 0)
		return VIEW_WENT_NOT;
	return view_stats_go(view, where[1] == 'a');
}

static enum view_went
go(struct view *view, const char *where)
{
	static enum view_went (*const ways[])(
		struct view * view, const char *where) = {
		go_number,
		view_go_path,
		view_go_alias,
		go_whole_name,
		view_go_behind_name,
		go_rule,
		go_extreme,
		go_part_of_name,
		view_go_part_of_alias,
		view_go_part_of_path,
	};
	enum view_went went = VIEW_WENT_NOT;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (went == VIEW_WENT_NOT)
			went = ways[i](view, where);
	return went;
}

bool
view_go_to(struct view *view, const char *where)
{
	size_t n;
	char *text;
	enum view_went went = VIEW_WENT_NOWHERE;

	where += strspn(where, " ");
	n = strlen(where);
	while (n > 0 && where[n - 1] == ' ')
		n--;
	if (n == 0)
		return false;
	if (view->doc->size == 0) {
		view_say(view, VIEW_WARNING, "the file is empty");
		return false;
	}
	text = strndup(where, n);
	if (text)
		went = go(view, text);
	if (went == VIEW_WENT_NOT &&
		text[strspn(text, "0123456789abcdefABCDEF")])
		view_went_nowhere(view,
			view->doc->spans
				? "no place is called "
				: "the header is not read yet; no place is "
				  "called ",
			text);
	else if (went == VIEW_WENT_NOT)
		view_went_nowhere(view,
			"hexadecimal offsets begin with 0x; no place is "
			"called ",
			text);
	free(text);
	return went == VIEW_WENT;
}

static void
accept(struct view *view, const char *text)
{
	view_go_to(view, text);
}

void
view_go_ask(struct view *view)
{
	view_ask(view, ":", "", accept);
}
