/* SPDX-License-Identifier: MIT */
/*
 * The manual page of a format: its fields by the rows that decode them, its
 * checks by the findings table, and between them what only words can say.
 */
#include "cli/describe.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sink/mdoc.h"
#include "wire/value.h"

struct page {
	struct ckpt_buf *buf;
	const struct ckpt_record *rec; /* whose list is open */
	char rec_path[128];
};

static void
arg(struct ckpt_buf *buf, const char *text)
{
	ckpt_mdoc_arg(buf, text, strlen(text));
}

/* Text that is put together, as a paragraph. */
static void
flush(struct ckpt_buf *buf, struct ckpt_buf *text)
{
	if (text->failed)
		buf->failed = true;
	else if (text->n)
		ckpt_describe_sentence(buf, text->p);
	ckpt_buf_release(text);
}

/* A heading wherever another record begins. */
static void
open_record(struct page *page, const struct ckpt_described *d)
{
	struct ckpt_buf *buf = page->buf;

	if (page->rec == d->rec && strcmp(page->rec_path, d->rec_path) == 0)
		return;
	if (page->rec)
		ckpt_buf_puts(buf, ".El\n");
	page->rec = d->rec;
	ckpt_buf_puts(buf, ".Ss");
	arg(buf, d->rec_path);
	ckpt_buf_puts(buf, "\n");
	(void)snprintf(
		page->rec_path, sizeof page->rec_path, "%s", d->rec_path);
	if (d->rec->doc)
		ckpt_describe_sentence(buf, d->rec->doc);
	ckpt_buf_puts(buf, ".Bl -tag -width Ds\n");
}

/* The field of the same record that stands at slot. */
static const char *
sibling(const struct ckpt_record *rec, size_t slot)
{
	for (size_t i = 0; i < rec->nfields; i++)
		if (rec->fields[i].slot == slot)
			return rec->fields[i].name;
	return "";
}

static void
write_doc(struct ckpt_buf *buf, const struct ckpt_described *d)
{
	const struct ckpt_field *field = d->field;
	struct ckpt_buf text;

	ckpt_buf_init(&text);
	if (d->is_count)
		ckpt_buf_printf(&text, "the number of strings that follow");
	else if (field->title && field->doc)
		ckpt_buf_printf(&text, "%s: %s", field->title, field->doc);
	else if (field->doc)
		ckpt_buf_puts(&text, field->doc);
	else if (field->title)
		ckpt_buf_puts(&text, field->title);
	flush(buf, &text);
	if (!field->when.set)
		return;
	ckpt_buf_init(&text);
	ckpt_buf_printf(&text, "only there if `%s.%s` is %" PRIu64, d->rec_path,
		sibling(d->rec, field->when.slot), field->when.value);
	flush(buf, &text);
}

static void
write_legal(struct ckpt_buf *buf, const struct ckpt_want *want)
{
	struct ckpt_buf text;

	if (want->kind == CKPT_WANT_TAGS) {
		ckpt_buf_puts(buf, ".Bl -tag -width Ds -compact\n");
		for (size_t i = 0; i < want->ntags; i++) {
			ckpt_buf_printf(
				buf, ".It %" PRIu64, want->tags[i].value);
			arg(buf, want->tags[i].name);
			ckpt_buf_puts(buf, "\n");
			ckpt_describe_sentence(buf, want->tags[i].doc);
		}
		ckpt_buf_puts(buf, ".El\n");
		return;
	}
	ckpt_buf_init(&text);
	ckpt_buf_puts(&text, "legal: ");
	ckpt_want_write(&text, want);
	flush(buf, &text);
}

static const char *
type_name(const struct ckpt_described *d)
{
	if (d->field->flags & CKPT_IS_JSON)
		return d->field->type == CKPT_STR ? "JSON string"
						  : "JSON number";
	return d->is_count ? "u32" : ckpt_type_name(d->field->type);
}

static void
write_field(void *ctx, const struct ckpt_described *d)
{
	struct page *page = ctx;
	struct ckpt_buf *buf = page->buf;

	open_record(page, d);
	ckpt_buf_puts(buf, ".It Sy");
	arg(buf, d->path);
	ckpt_buf_printf(buf, " Pq %s", type_name(d));
	if (d->placed && !(d->field->flags & CKPT_IS_JSON))
		ckpt_buf_printf(buf, " at %s%" PRIu64,
			strchr(d->rec_path, '[') ? "+" : "", d->off);
	ckpt_buf_puts(buf, "\n");
	write_doc(buf, d);
	if (d->field->want && !d->is_count)
		write_legal(buf, d->field->want);
}

static void
write_fields(struct ckpt_buf *buf, const struct ckpt_format *format)
{
	struct page page = { .buf = buf };

	ckpt_buf_puts(buf, ".Sh FIELDS\n");
	ckpt_mdoc_text(buf,
		"In the order in which they stand in the file. Behind the path "
		"of a field stand its type and, where that is the same in "
		"every file, its offset; with a plus sign, the offset in the "
		"record.",
		NULL);
	if (!ckpt_describe_fields(format, write_field, &page))
		buf->failed = true;
	if (page.rec)
		ckpt_buf_puts(buf, ".El\n");
}

static void
write_aliases(struct ckpt_buf *buf, const struct ckpt_format *format)
{
	static const char *const after[] = {
		[CKPT_ALIAS_BY_NAME] = "NAME",
		[CKPT_ALIAS_BY_INDEX] = "[i]",
		[CKPT_ALIAS_ONLY] = "",
	};

	if (format->naliases == 0)
		return;
	ckpt_buf_puts(buf, ".Pp\nA record may also be named by what it "
			   "holds:");
	for (size_t i = 0; i < format->naliases; i++) {
		const struct ckpt_alias *alias = &format->aliases[i];

		ckpt_buf_puts(buf, i ? ",\n\\fB" : "\n\\fB");
		ckpt_mdoc_literal(buf, alias->prefix, strlen(alias->prefix));
		ckpt_buf_printf(buf, "%s\\fP", after[alias->by]);
	}
	ckpt_buf_puts(buf, ".\n");
}

static void
write_items(
	struct ckpt_buf *buf, const struct ckpt_manual *manual, size_t chapter)
{
	struct ckpt_listed item;

	if (!manual->item || !manual->item(chapter, 0, &item))
		return;
	ckpt_buf_puts(buf, ".Bl -tag -width Ds\n");
	for (size_t i = 0; manual->item(chapter, i, &item); i++) {
		ckpt_buf_puts(buf, ".It Sy");
		arg(buf, item.name);
		ckpt_buf_puts(buf, "\n");
		ckpt_mdoc_text(buf, item.type, NULL);
		ckpt_buf_puts(buf, ".br\n");
		ckpt_describe_sentence(buf, item.doc);
	}
	ckpt_buf_puts(buf, ".El\n");
}

static void
write_chapter(struct ckpt_buf *buf, const struct ckpt_chapter *chapter)
{
	const char *const *p = chapter->paragraphs;

	ckpt_buf_printf(buf, ".Sh %s\n", chapter->title);
	for (size_t i = 0; p[i]; i++) {
		bool literal = p[i][0] == '\t';
		bool before = i && p[i - 1][0] == '\t';

		if (before && !literal)
			ckpt_buf_puts(buf, ".Ed\n");
		if (literal && !before)
			ckpt_buf_puts(buf, ".Bd -literal -offset indent\n");
		else if (!literal && i)
			ckpt_buf_puts(buf, ".Pp\n");
		if (literal)
			ckpt_mdoc_line(buf, p[i] + 1);
		else
			ckpt_mdoc_text(buf, p[i], NULL);
		if (literal && !p[i + 1])
			ckpt_buf_puts(buf, ".Ed\n");
	}
}

static void
write_checks(struct ckpt_buf *buf, const struct ckpt_format *format)
{
	ckpt_buf_puts(buf, ".Sh CHECKS\n");
	ckpt_mdoc_text(buf,
		"In their order. Causes and advice stand in the page on rules.",
		NULL);
	ckpt_buf_puts(buf, ".Bl -tag -width Ds\n");
	for (size_t i = 0; format->checks[i]; i++) {
		for (size_t k = 0; k < ckpt_rule_count(); k++) {
			const struct ckpt_rule *rule = ckpt_rule_at(k);

			if (strcmp(rule->check, format->checks[i]) != 0)
				continue;
			ckpt_buf_puts(buf, ".It Sy");
			arg(buf, rule->check);
			arg(buf, rule->id);
			arg(buf, rule->slug);
			ckpt_buf_puts(buf, "\n");
			ckpt_describe_sentence(buf, rule->text);
		}
	}
	ckpt_buf_puts(buf, ".El\n");
}

void
ckpt_describe_manual(struct ckpt_buf *buf, const struct ckpt_format *format)
{
	static const struct ckpt_manual none = { .date = "January 1, 1970" };
	const struct ckpt_manual *manual =
		format->manual ? format->manual : &none;

	ckpt_buf_printf(buf,
		".\\\" Made by ckforge describe %s; do not edit.\n.Dd %s\n"
		".Dt ",
		format->name, manual->date);
	for (const char *p = format->name; *p; p++)
		ckpt_buf_printf(buf, "%c", toupper((unsigned char)*p));
	ckpt_buf_printf(buf, " 5\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s file format\n",
		format->name, format->title);
	ckpt_buf_puts(buf, ".Sh DESCRIPTION\n");
	for (size_t i = 0; manual->about && manual->about[i]; i++) {
		if (i)
			ckpt_buf_puts(buf, ".Pp\n");
		ckpt_mdoc_text(buf, manual->about[i], NULL);
	}
	write_fields(buf, format);
	write_aliases(buf, format);
	for (size_t i = 0; manual->chapters && manual->chapters[i].title; i++) {
		write_chapter(buf, &manual->chapters[i]);
		write_items(buf, manual, i);
	}
	write_checks(buf, format);
	ckpt_buf_puts(buf, ".Sh SEE ALSO\n"
			   ".Xr ckforge 1 ,\n.Xr ckinspect 1 ,\n"
			   ".Xr ckverify 1 ,\n.Xr ckpt-rules 7\n");
}
