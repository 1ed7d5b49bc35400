/* SPDX-License-Identifier: MIT */
/*
 * Names for the documents of a training checkpoint. Only the identity of the
 * documents decides; that of the built-in job is the only one that is known
 * without being told.
 */
#include "replay/known_job.h"

#include <string.h>

#include "model/next.h"
#include "replay/job.h"

/* For one call after the other. */
struct names {
	const struct ckpt_job *job;
	struct ckpt_buf shown;
};

static const char *
name_of(void *ctx, uint64_t document)
{
	struct names *names = ctx;
	const struct ckpt_job *job = names->job;

	if (document >= job->training.documents)
		return NULL;
	ckpt_buf_clear(&names->shown);
	ckpt_buf_escape(&names->shown, job->documents[document].id.p,
		job->documents[document].id.n, CKPT_BUF_SHOWN);
	return names->shown.p;
}

static void
put_names(struct ckpt_run *run, struct ckpt_fact *fact, struct names *names)
{
	struct ckpt_buf text;
	const char *kept = NULL;

	ckpt_buf_init(&text);
	ckpt_next_write(&text, run->training, run->step, name_of, names);
	if (!text.failed && !names->shown.failed)
		kept = ckpt_arena_strndup(&run->arena, text.p, text.n);
	if (kept)
		fact->value = ckpt_v_text(kept);
	ckpt_buf_release(&text);
}

void
ckpt_run_name_documents(struct ckpt_run *run)
{
	struct ckpt_job job = { 0 };
	struct names names = { .job = &job };

	if (!run->training)
		return;
	ckpt_buf_init(&names.shown);
	if (ckpt_job_published(&job) == CKPT_OK &&
		strcmp(job.training.data_sha256, run->training->data_sha256) ==
			0)
		for (size_t i = 0; i < run->nfacts; i++)
			if (strcmp(run->facts[i].name, "next") == 0)
				put_names(run, &run->facts[i], &names);
	ckpt_buf_release(&names.shown);
	ckpt_job_release(&job);
}
