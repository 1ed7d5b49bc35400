/* SPDX-License-Identifier: MIT */
/*
 * What the page of the comparison lists: facts of both files and of how far it
 * is, then what differs, what is not known, and what is the same.
 */
#include "view/compare_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ---------------------------------------------------------- */

static void
add(struct view_compare_page *p, enum view_compare_kind kind, uint64_t at)
{
	if (p->n < p->room)
		p->entries[p->n++] =
			(struct view_compare_entry){ kind, (uint32_t)at };
}

static void
add_records(struct view_compare_page *p, const struct view_compare *c,
	enum view_sameness sameness)
{
	if (p->counts[sameness] == 0)
		return;
	for (uint64_t i = 0; i < c->npairs; i++)
		if (atomic_load(&c->pairs[i].sameness) == (int)sameness)
			add(p, VIEW_COMPARE_RECORD, i);
}

static void
count_records(struct view_compare_page *p, const struct view_compare *c)
{
	memset(p->counts, 0, sizeof p->counts);
	for (uint64_t i = 0; i < c->npairs; i++)
		p->counts[atomic_load(&c->pairs[i].sameness)]++;
}

static bool
make_room(struct view_compare_page *p, const struct view_compare *c)
{
	size_t room = (size_t)(1 + c->npairs + c->nonly + c->nunlike);
	struct view_compare_entry *grown;
	uint32_t *rows;

	if (p->room >= room)
		return true;
	rows = realloc(p->rows, room * sizeof *rows);
	if (rows)
		p->rows = rows;
	grown = rows ? realloc(p->entries, room * sizeof *grown) : NULL;
	if (!grown)
		return false;
	p->entries = grown;
	p->room = room;
	return true;
}

/* The table as it is now. A record that becomes known meanwhile may be in it
 * not at all, or twice where there is room; the next time it is right. */
static void
list(struct view_compare_page *p, const struct view_compare *c)
{
	p->n = p->differing = 0;
	p->nrows = 0;
	count_records(p, c);
	if (!make_room(p, c) || !c->matched[0].there || !c->matched[1].there)
		return;
	add(p, VIEW_COMPARE_HEAD, 0);
	add_records(p, c, VIEW_DIFFERENT);
	add_records(p, c, VIEW_SHAPE);
	add_records(p, c, VIEW_UNREADABLE);
	add_records(p, c, VIEW_ABSENT);
	for (uint64_t i = 0; i < c->nonly; i++)
		add(p, VIEW_COMPARE_ONLY, c->only[i]);
	p->first_field = p->n;
	for (uint64_t i = 0; i < c->nunlike; i++)
		add(p, VIEW_COMPARE_FIELD, i);
	p->differing = p->n - 1;
	add_records(p, c, VIEW_NOT_COMPARED);
	add_records(p, c, VIEW_SAME);
	p->nrows = c->npairs;
	memset(p->rows, 0, c->npairs * sizeof *p->rows);
	for (size_t i = 1; i < p->n; i++)
		if (p->entries[i].kind == VIEW_COMPARE_RECORD)
			p->rows[p->entries[i].at] = (uint32_t)i;
}

/* Of the fields that differ the one with this number in the first file. */
static bool
find_field(const struct view_compare *c, uint64_t field, size_t *at)
{
	size_t low = 0, high = (size_t)c->nunlike;

	/* Those of the second file alone come last, with the largest. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->unlike[mid].first < field)
			low = mid + 1;
		else
			high = mid;
	}
	*at = low;
	return low < c->nunlike && c->unlike[low].first == field;
}

bool
view_compare_find(const struct view_compare_page *p, struct view *view,
	uint64_t off, size_t *entry)
{
	const struct view_compare *c = view->compare;
	const struct ckpt_span *span = view_doc_tensor(view->doc, off);
	struct view_owner owner;
	uint64_t record;

	*entry = 0;
	if (!c || c->plain || p->matchings != c->matchings || p->n == 0)
		return false;
	if (span) {
		record = (uint64_t)(span - view->doc->spans->tensors);
		*entry = record < p->nrows ? p->rows[record] : 0;
	} else if (view_doc_owner(view->doc, off, &owner) && owner.field &&
		   owner.spans == view->doc->spans &&
		   find_field(c, owner.owner.index, entry)) {
		*entry += p->first_field;
	} else {
		return false;
	}
	return *entry > 0 && *entry < p->n;
}

const struct view_compare_entry *
view_compare_selected(const struct view_compare_page *p)
{
	size_t i = p->selected - p->lines.n;

	return p->selected >= p->lines.n && i < p->n ? &p->entries[i] : NULL;
}

void
view_compare_list(struct view_compare_page *p, const struct view_compare *c)
{
	const struct view_compare_entry *now = view_compare_selected(p);
	struct view_compare_entry before = { 0 };

	if (now)
		before = *now;
	list(p, c);
	for (size_t i = 0; now && i < p->n; i++)
		if (p->entries[i].kind == before.kind &&
			p->entries[i].at == before.at) {
			p->selected = p->lines.n + i;
			return;
		}
}

/* ---- What stands above it ----------------------------------------------- */

static void
say_file(struct view_lines *l, const char *label, const struct view_doc *doc)
{
	size_t off = l->text.n;

	ckpt_buf_escape(&l->text, doc->path, strlen(doc->path), 400);
	ckpt_buf_printf(&l->text, ", %s, %" PRIu64 " bytes, %s",
		doc->format ? doc->format->name : "no known format", doc->size,
		doc->stage == VIEW_VERIFIED ? ckpt_verdict_name(doc->verdict)
		: doc->stage == VIEW_PAUSED ? "not verified"
					    : "being read");
	if (doc->changed)
		ckpt_buf_printf(
			&l->text, ", CHANGED meanwhile: %s", doc->changed);
	if (!l->text.failed)
		view_lines_wrap(l, VIEW_PLAIN, label, off);
}

static void
say_records(struct view_lines *l, const struct view_compare_page *p,
	const struct view_compare *c)
{
	const struct {
		uint64_t n;
		const char *words;
	} rows[] = {
		{ p->counts[VIEW_DIFFERENT], "different" },
		{ p->counts[VIEW_SHAPE], "of another shape" },
		{ p->counts[VIEW_UNREADABLE], "unreadable" },
		{ p->counts[VIEW_ABSENT], "only in A" },
		{ c->nonly, "only in B" },
		{ p->counts[VIEW_NOT_COMPARED], "not compared" },
	};
	size_t off = l->text.n;

	ckpt_buf_printf(&l->text, "%" PRIu64 " same", p->counts[VIEW_SAME]);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].n > 0)
			ckpt_buf_printf(&l->text, ", %" PRIu64 " %s", rows[i].n,
				rows[i].words);
	if (!l->text.failed)
		view_lines_wrap(l, VIEW_PLAIN, "records", off);
	view_lines_add(l, VIEW_PLAIN, "header fields",
		"%" PRIu64 " that differ outside of the records%s", c->nunlike,
		c->fields_cut ? "; not all were compared" : "");
}

static void
say_plain(struct view_lines *l)
{
	view_lines_add(l, VIEW_WARNING, "records",
		"one of the files has none, so bytes are compared at equal "
		"offsets");
}

unsigned
view_compare_percent(const struct view_compare *c)
{
	uint64_t done = atomic_load(&c->job.done);
	uint64_t total = atomic_load(&c->job.total);

	return total ? (unsigned)(100.0 * (double)done / (double)total) : 0;
}

/* Whether nothing at all was found to differ, and all was looked at. */
static bool
all_same(const struct view_compare_page *p, const struct view_compare *c)
{
	return p->counts[VIEW_SAME] == c->npairs && c->nonly == 0 &&
	       c->nunlike == 0 && !c->fields_cut && c->size[0] == c->size[1];
}

static void
say_state(struct view_lines *l, const struct view_compare_page *p,
	const struct view_compare *c)
{
	if (view_job_running(&c->job))
		view_lines_add(l, VIEW_BOLD, "at work",
			"%u%%; Esc or c stops it", view_compare_percent(c));
	else if (p->counts[VIEW_NOT_COMPARED] > 0)
		view_lines_add(l, VIEW_WARNING, "stopped",
			c->begun ? "at %u%%; c goes on" : "c begins",
			view_compare_percent(c));
	else if (all_same(p, c))
		view_lines_add(l, VIEW_GOOD, "verdict",
			c->plain ? "no byte differs"
				 : "no record and no header field differs");
	else
		view_lines_add(l, VIEW_ERROR, "verdict", "the files differ%s",
			p->differing > 0 ? "; ] goes to the next difference"
					 : "");
}

void
view_compare_say(struct view *view, struct view_compare_page *p, int cols)
{
	const struct view_compare *c = view->compare;
	struct view_lines *l = &p->lines;

	view_lines_begin(l, cols);
	if (!c) {
		view_lines_add(l, VIEW_PLAIN, "",
			"there is no second file; ckinspect A B opens two");
		return;
	}
	say_file(l, "A", view->doc);
	say_file(l, "B", &c->other);
	if (c->no_memory) {
		view_lines_add(l, VIEW_ERROR, "", "out of memory");
		return;
	}
	if (!c->matched[0].there || !c->matched[1].there) {
		view_lines_add(l, VIEW_PLAIN, "", "%s",
			view_doc_busy(view->doc) || view_doc_busy(&c->other)
				? "the headers are being read ..."
				: "one of the files has no index: out of "
				  "memory");
		return;
	}
	say_state(l, p, c);
	if (c->size[0] != c->size[1])
		view_lines_add(l, VIEW_ERROR, "sizes",
			"differ: %" PRIu64 " and %" PRIu64 " bytes", c->size[0],
			c->size[1]);
	if (c->plain)
		say_plain(l);
	else
		say_records(l, p, c);
}
