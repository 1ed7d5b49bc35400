/* SPDX-License-Identifier: MIT */
/*
 * What the file holds, in the words of ckinspect --batch=overview: the
 * verdict, facts, families of records with the bytes that they own, settings,
 * and the scope of the format. The bytes of the families add up to the file,
 * because every byte has one owner.
 */
#include "view/summary_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "sink/table.h"
#include "wire/value.h"

enum { SETTINGS_SHOWN = 200 };

/* ---- The file ----------------------------------------------------------- */

static void
write_format(struct ckpt_buf *out, const struct view_doc *doc)
{
	const struct ckpt_format *format = doc->format;

	ckpt_buf_puts(out, "format\t");
	if (format) {
		ckpt_buf_puts(out, format->name);
		if (doc->run && doc->run->format_version > 0)
			ckpt_buf_printf(out, " v%u", doc->run->format_version);
		ckpt_buf_printf(out, " (%s)\n", format->title);
	} else if (doc->stage == VIEW_READING) {
		ckpt_buf_puts(out, "reading the header ...\n");
	} else {
		ckpt_buf_puts(out, "none that is known");
		if (doc->primary && doc->primary->note)
			ckpt_buf_printf(out, "; %s", doc->primary->note);
		ckpt_buf_puts(out, "\n");
	}
}

static void
write_primary(struct ckpt_buf *out, const struct ckpt_diag *d)
{
	ckpt_buf_printf(out, ": %s %s at ", d->rule->id, d->rule->slug);
	ckpt_offset_write(out, d->off);
	if (d->path[0])
		ckpt_buf_printf(out, ", %s", d->path);
}

static void
write_verdict(struct ckpt_buf *out, const struct view_doc *doc)
{
	ckpt_buf_puts(out, "verdict\t");
	switch (doc->stage) {
	case VIEW_READING:
	case VIEW_VERIFYING: ckpt_buf_puts(out, "not yet"); break;
	case VIEW_PAUSED:
		ckpt_buf_puts(out, "none: the payload was not read to its "
				   "end (v verifies)");
		break;
	case VIEW_VERIFIED:
		ckpt_buf_puts(out, ckpt_verdict_name(doc->verdict));
		if (doc->verdict == CKPT_VALID)
			ckpt_buf_puts(out, " (integrity, not authenticity)");
		break;
	}
	if (doc->primary &&
		(doc->stage != VIEW_VERIFIED || doc->verdict != CKPT_VALID))
		write_primary(out, doc->primary);
	ckpt_buf_puts(out, "\n");
}

static void
write_findings(struct ckpt_buf *out, const struct view_doc *doc)
{
	static const char *const names[] = { [CKPT_NOTE] = "note",
		[CKPT_WARNING] = "warning",
		[CKPT_ERROR] = "error" };
	size_t counts[CKPT_ERROR + 1] = { 0 };
	const char *before = "findings\t";

	for (size_t i = 0; i < doc->nfindings; i++)
		counts[doc->findings[i].rule->severity]++;
	for (size_t i = CKPT_ERROR + 1; i-- > 0;) {
		if (counts[i] == 0)
			continue;
		ckpt_buf_printf(out, "%s%zu %s%s", before, counts[i], names[i],
			counts[i] == 1 ? "" : "s");
		before = ", ";
	}
	ckpt_buf_puts(
		out, doc->nfindings ? " (e shows them)\n" : "findings\tnone\n");
}

static void
write_facts(struct ckpt_buf *out, const struct ckpt_run *run)
{
	for (size_t i = 0; run && i < run->nfacts; i++) {
		ckpt_buf_printf(out, "%s\t", run->facts[i].name);
		ckpt_value_write(out, &run->facts[i].value);
		ckpt_buf_puts(out, "\n");
	}
}

/* ---- Families ----------------------------------------------------------- */

enum family {
	HEADER,
	TOKENIZER,
	PARAMETERS,
	MOMENTS,
	GRADIENTS,
	OTHER,
	GAPS,
	UNOWNED,
	FAMILIES
};

struct totals {
	uint64_t records, elements, bytes;
	bool elements_fit;
};

static const enum family families[] = {
	[CKPT_TENSOR_TOKENIZER] = TOKENIZER,
	[CKPT_TENSOR_PARAMETER] = PARAMETERS,
	[CKPT_TENSOR_MOMENT] = MOMENTS,
	[CKPT_TENSOR_OTHER] = OTHER,
};

static enum family
family_of(const struct ckpt_spans *spans, const struct ckpt_owner *o)
{
	switch (o->kind) {
	case CKPT_OWNER_FIELD:
	case CKPT_OWNER_HEADER: return HEADER;
	case CKPT_OWNER_GAP: return GAPS;
	case CKPT_OWNER_NONE: return UNOWNED;
	case CKPT_OWNER_TENSOR: break;
	}
	return families[spans->tensors[o->index].class_];
}

static void
add_up(struct totals totals[FAMILIES], const struct ckpt_spans *spans)
{
	for (size_t i = 0; i < FAMILIES; i++)
		totals[i] = (struct totals){ .elements_fit = true };
	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];
		struct totals *t = &totals[families[span->class_]];
		uint64_t n;

		t->records++;
		t->elements_fit = t->elements_fit &&
				  ckpt_span_elements(span, &n) &&
				  ckpt_add_u64(t->elements, n, &t->elements);
	}
	for (uint64_t i = 0; i < spans->nowners; i++) {
		const struct ckpt_owner *o = &spans->owners[i];

		totals[family_of(spans, o)].bytes += o->end - o->off;
	}
}

static void
add_row(struct ckpt_table *table, enum family family, const struct totals *t,
	const struct ckpt_spans *spans, uint64_t size)
{
	static const char *const names[FAMILIES] = { "header", "tokenizer",
		"parameters", "moments", "gradients", "other records", "gaps",
		"bytes of nobody" };
	bool records = family != HEADER && family < GAPS;

	/* Where records have no roles they are no others. */
	ckpt_table_cell(
		table, family == OTHER && strcmp(spans->records, "records") != 0
			       ? spans->records
			       : names[family]);
	if (records)
		ckpt_table_cellf(table, "%" PRIu64, t->records);
	else
		ckpt_table_cell(table, "-");
	if (records && t->elements_fit)
		ckpt_table_cellf(table, "%" PRIu64, t->elements);
	else
		ckpt_table_cell(table, records ? "beyond 64 bits" : "-");
	ckpt_table_cellf(table, "%" PRIu64, t->bytes);
	ckpt_table_cellf(table, "%.1f%%",
		size ? 100.0 * (double)t->bytes / (double)size : 0.0);
	if (family == GRADIENTS)
		ckpt_table_cell(table, "none at a clean boundary");
	ckpt_table_row(table, NULL, NULL);
}

static const struct ckpt_scope *
scope_of(const struct view_doc *doc)
{
	if (doc->run)
		return ckpt_run_scope(doc->run);
	return doc->format ? doc->format->scope : NULL;
}

static void
write_families(struct ckpt_buf *out, const struct view_doc *doc)
{
	static const char *const titles[] = { "family", "records", "elements",
		"bytes", "share" };
	struct totals totals[FAMILIES], all = { 0 };
	struct ckpt_table table;
	bool always = doc->format != NULL;

	add_up(totals, doc->spans);
	ckpt_table_init(&table, "lrrrrl");
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		ckpt_table_cell(&table, titles[i]);
	ckpt_table_row(&table, NULL, NULL);
	for (enum family i = 0; i < FAMILIES; i++) {
		all.records += totals[i].records;
		all.bytes += totals[i].bytes;
		if (totals[i].records > 0 || totals[i].bytes > 0 ||
			(always && i < GRADIENTS) ||
			(i == GRADIENTS && scope_of(doc)))
			add_row(&table, i, &totals[i], doc->spans, doc->size);
	}
	ckpt_table_cell(&table, "file");
	ckpt_table_cellf(&table, "%" PRIu64, all.records);
	ckpt_table_cell(&table, "");
	ckpt_table_cellf(&table, "%" PRIu64, all.bytes);
	ckpt_table_row(&table, NULL, NULL);
	ckpt_table_write(&table, out, 0);
	ckpt_table_release(&table);
}

/* ---- Settings and scope ------------------------------------------------- */

/* Header fields that are neither of records nor of lists. */
static void
write_settings(struct ckpt_buf *out, const struct ckpt_spans *spans)
{
	size_t shown = 0;

	for (uint64_t i = 0; i < spans->nfields && shown < SETTINGS_SHOWN;
		i++) {
		const struct ckpt_span_field *f = &spans->fields[i];

		if (strchr(f->path, '['))
			continue;
		if (shown++ == 0)
			ckpt_buf_puts(out, "\nsettings\n");
		ckpt_buf_printf(out, "%s\t", f->path);
		ckpt_span_field_write(out, f);
		ckpt_buf_puts(out, "\n");
	}
}

static void
write_list(struct ckpt_buf *out, const char *title, const char *const *list)
{
	ckpt_buf_printf(out, "%s:\t", title);
	if (!list || !list[0])
		ckpt_buf_puts(out, "nothing");
	for (; list && *list; list++)
		ckpt_buf_printf(out, "%s%s", *list, list[1] ? ", " : "");
	ckpt_buf_puts(out, "\n");
}

void
view_summary_write(struct ckpt_buf *out, const struct view_doc *doc)
{
	const struct ckpt_scope *scope = scope_of(doc);

	ckpt_buf_puts(out, "file\t");
	ckpt_buf_escape(out, doc->path, strlen(doc->path), 0);
	ckpt_buf_puts(out, "\n");
	write_format(out, doc);
	ckpt_buf_printf(out, "size\t%" PRIu64 " bytes\n", doc->size);
	write_verdict(out, doc);
	write_findings(out, doc);
	write_facts(out, doc->run);
	ckpt_buf_puts(out, "\n");
	if (doc->spans)
		write_families(out, doc);
	else
		ckpt_buf_puts(
			out, doc->stage == VIEW_READING
				     ? "reading the header ...\n"
				     : "not enough memory for the records\n");
	if (doc->spans)
		write_settings(out, doc->spans);
	if (!scope)
		return;
	ckpt_buf_puts(out, "\n");
	write_list(out, "stored", scope->stored);
	write_list(
		out, "supplied by the caller for one update", scope->supplied);
	write_list(out, "still required to continue training", scope->required);
	write_list(out, "outside the file", scope->outside);
}
