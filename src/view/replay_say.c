/* SPDX-License-Identifier: MIT */
/*
 * What the page of replays says of a run above its table, in the words of
 * ckreplay step.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "view/replay.h"
#include "wire/value.h"

/* ---- Facts -------------------------------------------------------------- */

static void
add_ids(struct view_lines *lines, const char *label, const struct ckpt_batch *b,
	const uint32_t *ids)
{
	size_t off = lines->text.n, n = b->batch * b->tokens;

	for (size_t i = 0; i < n; i++) {
		if (i == 64) {
			ckpt_buf_printf(&lines->text, " ... %zu ids in all", n);
			break;
		}
		/* A blank behind the sign, for the line to be broken at. */
		ckpt_buf_printf(&lines->text, "%s%" PRIu32,
			i == 0               ? ""
			: i % b->tokens == 0 ? "; "
					     : ",",
			ids[i]);
	}
	if (!lines->text.failed && lines->text.p)
		view_lines_wrap(lines, VIEW_PLAIN, label, off);
}

/* A fingerprint of both branches. */
static void
add_both(struct view_lines *lines, const struct ckpt_step *s, const char *label,
	uint64_t a, uint64_t b)
{
	if (a == b || !s->loads_again)
		view_lines_add(lines, VIEW_PLAIN, label,
			"fnv1a64:%016" PRIx64 "%s", a,
			a == b ? ", equal" : ", not compared");
	else
		view_lines_add(lines, VIEW_ERROR, label,
			"different: fnv1a64:%016" PRIx64
			" and fnv1a64:%016" PRIx64,
			a, b);
}

static void
add_counts(struct view_lines *lines, const struct ckpt_step *s)
{
	size_t equal[2] = { 0 }, n[2] = { 0 };

	for (size_t i = 0; i < s->nrows; i++) {
		n[s->rows[i].is_f64]++;
		equal[s->rows[i].is_f64] += s->rows[i].equal;
	}
	view_lines_add(lines,
		equal[1] == n[1] && equal[0] == n[0] ? VIEW_GOOD : VIEW_ERROR,
		"records",
		"%zu of %zu parameters and moments equal, %zu of %zu of the "
		"tokenizer",
		equal[1], n[1], equal[0], n[0]);
	if (!s->loads_again)
		view_lines_add(lines, VIEW_ERROR, "",
			"the re-encoded bytes are not valid");
	else if (!s->header_equal)
		view_lines_add(lines, VIEW_ERROR, "", "the headers differ");
}

static void
add_step(struct view_lines *lines, const struct ckpt_step *s)
{
	const struct ckpt_branch *a = &s->branch[0], *b = &s->branch[1];
	struct ckpt_buf loss = { 0 };

	view_lines_add(lines, VIEW_PLAIN, "step", "%" PRIu64 " -> %" PRIu64,
		s->step_before, s->step_after);
	ckpt_f64_write(&loss, ckpt_f64_bits(a->loss));
	view_lines_add(lines, VIEW_PLAIN, "loss", "%s", loss.p ? loss.p : "");
	ckpt_buf_release(&loss);
	add_both(lines, s, "gradients", a->gradients, b->gradients);
	add_both(lines, s, "logits before", a->before, b->before);
	add_both(lines, s, "logits after", a->after, b->after);
	add_both(lines, s, "state", a->state, b->state);
	view_lines_add(lines, VIEW_PLAIN, "updated file",
		"fnv1a64:%016" PRIx64 ", %" PRIu64 " bytes; not written",
		s->label, s->updated.n);
	view_lines_add(lines, VIEW_PLAIN, "next draw",
		"0x%016" PRIx64 " of the sampling stream 0x%016" PRIx64,
		a->rng_next, s->sampling_rng_state);
}

void
view_replay_say(struct view_lines *lines, const struct view_replay_run *run)
{
	const struct ckpt_step *s = &run->step;
	bool equal = !run->verdict && ckpt_step_equal(s);
	struct ckpt_buf rate = { 0 };

	view_lines_add(lines, equal ? VIEW_GOOD : VIEW_ERROR, "verdict", "%s",
		run->verdict ? run->verdict
		: equal      ? "bit-equal: both branches of the replay, the "
			       "decoded state and the re-encoded one"
			     : "mismatch: the two branches of the replay, the "
			       "decoded state and the re-encoded one, differ");
	if (run->verdict)
		view_lines_add(lines, VIEW_PLAIN, "reason", "%s%s%s",
			run->kind ? run->kind : "", run->kind ? ": " : "",
			run->why.p ? run->why.p : "out of memory");
	add_ids(lines, "inputs", s->batch, s->batch->ids);
	add_ids(lines, "targets", s->batch, s->batch->targets);
	ckpt_f64_write(&rate, ckpt_f64_bits(s->rate));
	view_lines_add(
		lines, VIEW_PLAIN, "learning rate", "%s", rate.p ? rate.p : "");
	ckpt_buf_release(&rate);
	if (run->verdict) {
		view_lines_add(lines, VIEW_PLAIN, "",
			"nothing was changed; r asks again");
		return;
	}
	add_counts(lines, s);
	add_step(lines, s);
	view_lines_add(lines, VIEW_PLAIN, "arithmetic",
		"%s, %s, fnv1a64:%016" PRIx64, run->env.profile, run->env.math,
		run->env.fingerprint);
	view_lines_add(lines, VIEW_PLAIN, "scope",
		"%s of this one update under this arithmetic environment, made "
		"from the decoded state and from that state encoded and loaded "
		"again; no more, and nothing of the run that made the file",
		equal ? "equality" : "difference");
}

/* ---- Where a row is in the open file ------------------------------------ */

static bool
is_record(const struct ckpt_span *span, const struct ckpt_step_row *row,
	struct ckpt_buf *name)
{
	static const struct {
		const char *words;
		enum ckpt_tensor_class class_;
		const char *in_role; /* a part of the span's role, or NULL */
	} roles[] = {
		{ "token ", CKPT_TENSOR_TOKENIZER, NULL },
		{ "merges ", CKPT_TENSOR_TOKENIZER, NULL },
		{ "parameter ", CKPT_TENSOR_PARAMETER, NULL },
		{ "first moment ", CKPT_TENSOR_MOMENT, "First" },
		{ "second moment ", CKPT_TENSOR_MOMENT, "Second" },
	};

	if (span->len != row->len)
		return false;
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
		size_t n = strlen(roles[i].words);

		if (strncmp(row->name, roles[i].words, n) != 0)
			continue;
		if (span->class_ != roles[i].class_ ||
			(roles[i].in_role &&
				!strstr(span->role, roles[i].in_role)))
			return false;
		/* The one record of merges has a name of its own. */
		if (i == 1)
			return true;
		ckpt_buf_clear(name);
		ckpt_buf_escape(name, span->name, span->name_len, 0);
		return strcmp(row->name + n, name->p ? name->p : "") == 0;
	}
	return false;
}

const struct ckpt_span *
view_replay_record(const struct ckpt_spans *spans, const struct ckpt_step *step,
	size_t row)
{
	const struct ckpt_step_row *r = &step->rows[row];
	const struct ckpt_span *found = NULL;
	struct ckpt_buf name = { 0 };

	/* The updated file has its records in the order of the open one. */
	if (spans && row < spans->ntensors &&
		is_record(&spans->tensors[row], r, &name))
		found = &spans->tensors[row];
	for (uint64_t i = 0; spans && !found && i < spans->ntensors; i++)
		if (is_record(&spans->tensors[i], r, &name))
			found = &spans->tensors[i];
	ckpt_buf_release(&name);
	return found;
}
