/* SPDX-License-Identifier: MIT */
/*
 * The run behind the page of replays: it loads the checkpoint through the file
 * that the viewer has open, so that what is replayed is what is shown, and
 * makes the update. Trouble becomes words in the thread that met it, because
 * errno is that thread's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/team.h"
#include "view/replay.h"

enum {
	MOST_THREADS = 8,
	SMALL = 1024 * 1024, /* checkpoints that one thread does at once */
};

static struct view_replay_run *
of_source(struct ckpt_source *source)
{
	return (struct view_replay_run *)(void
			*)((char *)source -
			   offsetof(struct view_replay_run, source));
}

static ptrdiff_t
source_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct view_replay_run *run = of_source(source);
	ptrdiff_t got = run->inner->read_at(run->inner, bytes, n, run->at);

	if (got > 0)
		run->at += (uint64_t)got;
	return got;
}

static enum ckpt_status
source_unchanged(struct ckpt_source *source, const char **what)
{
	struct view_replay_run *run = of_source(source);

	return run->inner->unchanged(run->inner, what);
}

static bool
loading(void *ctx, uint64_t done, uint64_t total)
{
	struct view_replay_run *run = ctx;

	atomic_store(&run->job.done, done);
	atomic_store(&run->job.total, total);
	return !view_job_cancelled(&run->job);
}

static bool
next_part(void *ctx, const char *part)
{
	struct view_replay_run *run = ctx;

	atomic_store(&run->job.total, 0);
	if (atomic_exchange(&run->part, part) != part)
		view_job_wake(&run->job);
	return !view_job_cancelled(&run->job);
}

static struct ckpt_team *
new_team(uint64_t size)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (size < SMALL || n < 2)
		return NULL;
	return ckpt_team_new(n < MOST_THREADS ? (unsigned)n : MOST_THREADS);
}

static void
refuse(struct view_replay_run *run, const struct ckpt_refusal *refusal)
{
	struct ckpt_refused r = ckpt_replay_refused(run->status, refusal);

	run->verdict = run->status == CKPT_STOP ? "cancelled" : r.verdict;
	run->kind = r.kind;
	ckpt_buf_puts(&run->why, run->status == CKPT_STOP
					 ? "it was stopped before it was done"
					 : r.why);
}

static void
work(struct view_job *job)
{
	struct view_replay_run *run = (struct view_replay_run *)job;
	struct ckpt_options options = { .max_memory = run->step.max_memory,
		.progress = loading,
		.progress_ctx = run };
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_checkpoint *c = NULL;

	run->env = ckpt_arithmetic_probe();
	errno = 0;
	run->status = ckpt_replay_load(&run->source, &options, &c, &refusal);
	if (run->status != CKPT_OK) {
		refuse(run, &refusal);
		ckpt_buf_release(&refusal.text);
		return;
	}
	run->step.team = new_team(run->source.size);
	run->status = ckpt_step_run(&run->step, c);
	if (run->status != CKPT_OK)
		refuse(run, &run->step.refusal);
	ckpt_team_free(run->step.team);
	run->step.team = NULL;
}

uint64_t
view_replay_memory(const struct view *view)
{
	return view->max_memory ? view->max_memory : CKPT_MAX_MEMORY;
}

struct view_replay_run *
view_replay_run_new(const struct view *view, struct ckpt_supplied *supplied,
	enum ckpt_status (*meddle)(struct ckpt_spool *reencoded))
{
	struct view_replay_run *run = calloc(1, sizeof *run);
	struct ckpt_source *inner = view->doc->source;

	if (!run)
		return NULL;
	run->inner = inner;
	run->source = (struct ckpt_source){ .read = source_read,
		.unchanged = inner->unchanged ? source_unchanged : NULL,
		.has_size = true,
		.size = inner->size };
	run->supplied = *supplied;
	*supplied = (struct ckpt_supplied){ 0 };
	run->step = (struct ckpt_step){ .batch = &run->supplied.batch,
		.rate = run->supplied.rate,
		.max_memory = view_replay_memory(view),
		.go_on = next_part,
		.go_on_ctx = run,
		.meddle = meddle };
	/* What is closed must be known to be so, whatever comes. */
	run->step.reencoded.fd = run->step.updated.fd = -1;
	atomic_store(&run->part, "loading the checkpoint");
	view_job_start(&run->job, view->bell, work);
	return run;
}

void
view_replay_run_free(struct view_replay_run *run)
{
	if (!run)
		return;
	view_job_stop(&run->job);
	ckpt_step_release(&run->step);
	ckpt_supplied_release(&run->supplied);
	ckpt_buf_release(&run->why);
	free(run);
}
