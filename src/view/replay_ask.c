/* SPDX-License-Identifier: MIT */
/*
 * Asking for an update: inputs, targets, rate, one after the other; what cannot
 * be used ends the questions, and the page says why.
 */
#include "view/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wire/value.h"

void
view_replay_meddle(struct view *view,
	enum ckpt_status (*meddle)(struct ckpt_spool *reencoded))
{
	view_replay_of(view)->meddle = meddle;
}

/* Why words cannot be used; what people typed is escaped like a file's. */
static void
say_trouble(struct view_replay *p, const char *why, const char *text)
{
	p->selected = p->top = 0;
	ckpt_buf_clear(&p->trouble);
	ckpt_buf_puts(&p->trouble, why);
	ckpt_buf_escape(&p->trouble, text, strlen(text), 200);
	if (p->trouble.failed) {
		ckpt_buf_release(&p->trouble);
		ckpt_buf_puts(&p->trouble, "out of memory");
	}
}

/* What is known to fail is not begun. */
static bool
fits(const struct view *view, struct view_replay *p)
{
	uint64_t most = view_replay_memory(view);
	struct ckpt_buf why = { 0 };

	if (view->doc->size <= most)
		return true;
	ckpt_buf_printf(&why,
		"the file has %" PRIu64 " bytes, and a replay holds it in "
		"memory, of which it may use %" PRIu64 "; --max-memory allows "
		"more",
		view->doc->size, most);
	say_trouble(p, why.p ? why.p : "out of memory", "");
	ckpt_buf_release(&why);
	return false;
}

static void
write_shape(struct ckpt_buf *buf, const char *what, size_t rows, size_t ids)
{
	ckpt_buf_printf(buf, "%s %zu %s of %zu", what, rows,
		rows == 1 ? "row" : "rows", ids);
}

/* False if both are lists of ids, but not of one shape; the page says which
 * has which. */
static bool
alike(struct view_replay *p, const char *inputs, const char *targets)
{
	uint32_t *a, *b;
	size_t rows[2], ids[2];
	struct ckpt_buf why = { 0 };
	const char *trouble;
	bool known = ckpt_ids_parse(inputs, &a, &rows[0], &ids[0], &trouble);
	bool same;

	known = ckpt_ids_parse(targets, &b, &rows[1], &ids[1], &trouble) &&
		known;
	free(a);
	free(b);
	same = !known || (rows[0] == rows[1] && ids[0] == ids[1]);
	if (same)
		return true;
	ckpt_buf_puts(&why, "each input needs its target, but ");
	write_shape(&why, "inputs are", rows[0], ids[0]);
	write_shape(&why, ", targets", rows[1], ids[1]);
	say_trouble(p, why.p ? why.p : "out of memory", "");
	ckpt_buf_release(&why);
	return false;
}

void
view_replay_start(struct view *view, const char *inputs, const char *targets,
	const char *rate)
{
	struct view_replay *p = view_replay_of(view);
	struct ckpt_supplied supplied;
	const char *why, *text;

	view_focus(view, VIEW_REPLAY);
	if (p->at_work)
		return;
	ckpt_buf_clear(&p->trouble);
	if (!alike(p, inputs, targets))
		return;
	if (!ckpt_supplied_parse(
		    inputs, targets, rate, &supplied, &why, &text)) {
		say_trouble(p, why, text);
	} else if (fits(view, p)) {
		view_replay_run_free(p->run);
		p->run = view_replay_run_new(view, &supplied, p->meddle);
		p->at_work = p->run != NULL;
		p->nentries = 0;
		p->selected = p->top = 0;
		if (!p->run)
			say_trouble(p, "out of memory", "");
	}
	ckpt_supplied_release(&supplied);
}

static void
keep(struct ckpt_buf *answer, const char *text)
{
	ckpt_buf_clear(answer);
	ckpt_buf_puts(answer, text);
}

static const char *
answer(const struct view_replay *p, size_t i)
{
	return p->answers[i].p ? p->answers[i].p : "";
}

static void
take_rate(struct view *view, const char *text)
{
	struct view_replay *p = view_replay_of(view);

	keep(&p->answers[2], text);
	view_replay_start(view, answer(p, 0), answer(p, 1), answer(p, 2));
}

static bool
are_ids(struct view_replay *p, const char *text)
{
	uint32_t *ids;
	size_t batch, tokens;
	const char *why;
	bool good = ckpt_ids_parse(text, &ids, &batch, &tokens, &why);

	free(ids);
	if (!good)
		say_trouble(p, why, text);
	return good;
}

/* The learning rate that the file names, without its bits; nothing if it has
 * none. */
static void
read_rate(const struct view *view, struct ckpt_buf *rate)
{
	const struct ckpt_spans *spans = view->doc->spans;

	for (uint64_t i = 0; spans && i < spans->nfields; i++) {
		const struct ckpt_span_field *f = &spans->fields[i];
		char *end;

		if (f->value.kind != CKPT_V_F64 || !f->name ||
			strcmp(f->name, "learning_rate") != 0)
			continue;
		ckpt_f64_write(rate, f->value.u64);
		end = rate->p ? strchr(rate->p, ' ') : NULL;
		if (end) {
			*end = '\0';
			rate->n = (size_t)(end - rate->p);
		}
		return;
	}
}

/* Offers the rate of the file first, later the last one; the question says
 * whose it is. */
static void
ask_rate(struct view *view, struct view_replay *p)
{
	struct ckpt_buf rate = { 0 };
	const char *label = "learning rate: ";

	read_rate(view, &rate);
	if (p->answers[2].n == 0 && rate.n > 0)
		keep(&p->answers[2], rate.p);
	if (rate.n > 0 && strcmp(answer(p, 2), rate.p) == 0)
		label = "learning rate (the file's): ";
	else if (p->answers[2].n > 0)
		label = "learning rate (as before): ";
	view_ask(view, label, answer(p, 2), take_rate);
	ckpt_buf_release(&rate);
}

static void
take_targets(struct view *view, const char *text)
{
	struct view_replay *p = view_replay_of(view);

	keep(&p->answers[1], text);
	if (are_ids(p, answer(p, 1)) && alike(p, answer(p, 0), answer(p, 1)))
		ask_rate(view, p);
}

static void
take_inputs(struct view *view, const char *text)
{
	struct view_replay *p = view_replay_of(view);

	keep(&p->answers[0], text);
	if (are_ids(p, answer(p, 0)))
		view_ask(view,
			"targets (as 1,2;2,3, rows apart by ;): ", answer(p, 1),
			take_targets);
}

void
view_replay_ask(struct view *view)
{
	struct view_replay *p = view_replay_of(view);

	view_focus(view, VIEW_REPLAY);
	if (p->at_work) {
		view_say(view, VIEW_WARNING,
			"a replay is at work; Esc stops it");
		return;
	}
	ckpt_buf_clear(&p->trouble);
	view_ask(view, "inputs (as 0,1;1,2, rows apart by ;): ", answer(p, 0),
		take_inputs);
}
