/* SPDX-License-Identifier: MIT */
/*
 * A training checkpoint and the model that was saved with it: two operands
 * that each are valid may still not belong together, which their identities
 * tell. Where there are more archives than these two, or a backbone, nothing is
 * said, because nothing says which of them belong together.
 */
#include "cli/verify.h"

#include <stdio.h>
#include <string.h>

static const char *
text_fact(const struct ckpt_run *run, const char *name)
{
	for (size_t i = 0; i < run->nfacts; i++)
		if (strcmp(run->facts[i].name, name) == 0 &&
			run->facts[i].value.kind == CKPT_V_TEXT)
			return run->facts[i].value.p;
	return "";
}

void
ckpt_verify_pair_hear(
	struct ckpt_verify_pair *pair, const struct ckpt_result *result)
{
	const char *kind = text_fact(result->run, "kind");
	const char *composition = text_fact(result->run, "composition");
	struct ckpt_verify_half *half = strcmp(kind, "training-checkpoint") == 0
						? &pair->checkpoint
						: &pair->model;

	if (!composition[0])
		return; /* no archive */
	if (result->verdict != CKPT_VALID ||
		strcmp(composition, "text-decoder-v1") != 0 || half->path) {
		pair->others = true;
		return;
	}
	half->path = result->path;
	snprintf(half->model_id, sizeof half->model_id, "%s",
		text_fact(result->run, "model_id"));
}

/* The identities are not the same, or one of them is not known. False if memory
 * ran out. */
static bool
judge(struct ckpt_run *run, const struct ckpt_verify_pair *pair)
{
	const struct ckpt_verify_half *c = &pair->checkpoint, *m = &pair->model;
	struct ckpt_buf path;
	bool kept;

	ckpt_buf_init(&path);
	ckpt_buf_escape(&path, m->path, strlen(m->path), 0);
	if (!c->model_id[0] || !m->model_id[0])
		ckpt_run_add(run, CKPT_D_IO, 0,
			&(struct ckpt_diag){ .path = path.p,
				.note = "the identity of a model is not known "
					"of a pipe in which tensors are not in "
					"the order of their names" });
	else
		ckpt_run_add(run, CKPT_D_OTHER_MODEL, 0,
			&(struct ckpt_diag){ .path = path.p,
				.expected = ckpt_v_text(c->model_id),
				.found = ckpt_v_text(m->model_id) });
	ckpt_diags_close(&run->diags);
	kept = !path.failed && !run->diags.lost;
	ckpt_buf_release(&path);
	return kept;
}

void
ckpt_verify_pair_say(
	struct ckpt_verify_session *s, const struct ckpt_verify_pair *pair)
{
	const struct ckpt_verify_half *c = &pair->checkpoint, *m = &pair->model;
	struct ckpt_run *run;
	struct ckpt_result result;
	struct ckpt_buf paths;

	if (pair->others || !c->path || !m->path ||
		(c->model_id[0] && strcmp(c->model_id, m->model_id) == 0))
		return;
	run = ckpt_run_new(NULL);
	ckpt_buf_init(&paths);
	ckpt_buf_printf(&paths, "%s, %s", c->path, m->path);
	if (run && !paths.failed && judge(run, pair)) {
		ckpt_result_init(&result, paths.p, run,
			ckpt_diags_verdict(&run->diags), false);
		result.kind = "pair";
		ckpt_verify_say(s, &result);
	} else {
		s->memory = true;
	}
	ckpt_buf_release(&paths);
	ckpt_run_free(run);
}
