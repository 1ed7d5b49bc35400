/* SPDX-License-Identifier: MIT */
/*
 * Sets of files, and whole trees. A set is said first: its findings, and the
 * worst verdict of all; its members below it, each with a result of its own,
 * although they are what is verified first. Below a tree each file stands on its own, and the folder is only
 * said if there is something to say of it.
 */
#include "cli/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verify_walk.h"
#include "io/temporary_name.h"
#include "sets/set.h"

/* Several files of which one result is made. */
struct group {
	struct ckpt_verify_session *session;
	struct ckpt_set *set; /* NULL: a tree */
	struct ckpt_result members;
	size_t verdicts[CKPT_NOT_VERIFIED + 1];
};

static void
hear(void *ctx, size_t job, const struct ckpt_result *result)
{
	struct group *g = ctx;
	struct ckpt_shard *shard = g->set ? ckpt_set_shard(g->set, job) : NULL;

	ckpt_result_add(&g->members, result);
	g->verdicts[result->verdict]++;
	if (shard)
		ckpt_shard_judged(shard, result->verdict);
}

static void
verify_members(struct group *g, const struct ckpt_verify_job *jobs, size_t n)
{
	const struct ckpt_verify_heard heard = { hear, g };

	ckpt_verify_batch(g->session, jobs, n, &heard);
}

static size_t
add_counts(struct ckpt_run *run, const size_t *n)
{
	uint64_t all = n[CKPT_VALID] + n[CKPT_INVALID] + n[CKPT_UNSUPPORTED] +
		       n[CKPT_NOT_VERIFIED];

	ckpt_run_fact(run, "checkpoints", ckpt_v_u64(all));
	ckpt_run_fact(run, "valid", ckpt_v_u64(n[CKPT_VALID]));
	ckpt_run_fact(run, "invalid", ckpt_v_u64(n[CKPT_INVALID]));
	ckpt_run_fact(run, "unsupported", ckpt_v_u64(n[CKPT_UNSUPPORTED]));
	ckpt_run_fact(run, "not_verified", ckpt_v_u64(n[CKPT_NOT_VERIFIED]));
	return (size_t)all;
}

static void
say_group(struct group *g, const char *path, const char *kind,
	const struct ckpt_run *run, enum ckpt_verdict verdict)
{
	static const char *const brief[] = { "checkpoints", "invalid",
		"unsupported", "not_verified", "subfolders", NULL };
	struct ckpt_result result;

	ckpt_result_init(&result, path, run, verdict,
		g->session->options->fail_on == CKPT_FAIL_ON_WARNING);
	result.kind = kind;
	result.sets = g->set != NULL;
	result.brief = brief;
	ckpt_result_add(&result, &g->members);
	ckpt_verify_say(g->session, &result);
}

static bool
can_be_said(const struct ckpt_verify_session *s)
{
	return !s->memory && !s->output_error && !s->refused;
}

/* ---- Sets --------------------------------------------------------------- */

void
ckpt_verify_set(struct ckpt_verify_session *s, const char *path, bool index)
{
	const struct ckpt_options options = {
		.max_memory = s->options->max_memory,
		.profile = s->options->profile,
	};
	struct group g = { .session = s };
	struct ckpt_verify_job *jobs;
	size_t n;

	g.set = index ? ckpt_set_index(path, &options)
		      : ckpt_set_folder(path, &options);
	n = g.set ? ckpt_set_shard_count(g.set) : 0;
	jobs = g.set ? calloc(n + 1, sizeof *jobs) : NULL;
	if (!jobs) {
		s->memory = true;
		ckpt_set_free(g.set);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct ckpt_shard *shard = ckpt_set_shard(g.set, i);

		jobs[i].path = shard->path;
		jobs[i].sink = &shard->sink;
	}
	s->in_set = true;
	verify_members(&g, jobs, n);
	s->in_set = false;
	if (s->cut)
		ckpt_set_add(g.set, CKPT_D_CANCELLED, "", NULL);
	if (can_be_said(s)) {
		enum ckpt_verdict verdict;

		add_counts(ckpt_set_run(g.set), g.verdicts);
		verdict = ckpt_set_judge(g.set);
		say_group(&g, path, index ? "index" : "folder",
			ckpt_set_run(g.set), verdict);
		ckpt_verify_say_members(s);
	}
	free(jobs);
	ckpt_set_free(g.set);
}

/* ---- Trees -------------------------------------------------------------- */

/* A folder with all that is below it. */
struct tree {
	struct group group;
	struct ckpt_run *run; /* of the findings about folders */
	struct ckpt_arena arena;
	struct ckpt_verify_job *jobs;
	uint64_t n;
	uint64_t finds; /* findings so far: their order */
};

/* A finding about the file called name in the folder. */
static void
add(struct tree *t, enum ckpt_code code, const char *name, const char *found)
{
	struct ckpt_buf path;

	ckpt_buf_init(&path);
	ckpt_buf_escape(&path, name, strlen(name), 0);
	if (path.failed)
		t->group.session->memory = true;
	else
		ckpt_run_add(t->run, code, t->finds++,
			&(struct ckpt_diag){
				.path = path.p ? path.p : "",
				.found = found ? ckpt_v_text(found)
					       : ckpt_v_none(),
			});
	ckpt_buf_release(&path);
}

/* By its name, which the walk knows to be one. */
static void
add_temporary(struct tree *t, const char *name)
{
	const char *slash = strrchr(name, '/');
	struct ckpt_buf found;

	ckpt_buf_init(&found);
	(void)ckpt_set_temporary(&found, slash ? slash + 1 : name);
	add(t, CKPT_D_ORPHAN_TEMPORARY, name, found.p);
	t->group.session->memory |= found.failed;
	ckpt_buf_release(&found);
}

static bool
visit(void *ctx, const struct ckpt_found *found)
{
	struct tree *t = ctx;
	struct ckpt_verify_session *s = t->group.session;
	struct ckpt_verify_job *jobs;
	const char *path;

	if (s->interrupted())
		s->cut = true;
	switch (found->kind) {
	case CKPT_FOUND_MEMBER:
		jobs = ckpt_arena_push(&t->arena, t->jobs, t->n, sizeof *jobs);
		path = ckpt_arena_strndup(
			&t->arena, found->path, strlen(found->path));
		s->memory |= !jobs || !path;
		if (!jobs || !path)
			return false;
		t->jobs = jobs;
		jobs[t->n++] = (struct ckpt_verify_job){ .path = path };
		break;
	case CKPT_FOUND_TEMPORARY: add_temporary(t, found->name); break;
	case CKPT_FOUND_TROUBLE:
		add(t, CKPT_D_IO, found->name, strerror(found->error));
		break;
	}
	return ckpt_verify_going(s);
}

static void
say_tree(struct tree *t, const char *path)
{
	struct ckpt_verify_session *s = t->group.session;

	if (s->cut)
		add(t, CKPT_D_CANCELLED, "", NULL);
	if (add_counts(t->run, t->group.verdicts) == 0 &&
		!ckpt_run_primary(t->run))
		add(t, CKPT_D_NOTHING_TO_VERIFY, "", NULL);
	ckpt_diags_close(&t->run->diags);
	s->memory |= t->run->diags.lost;
	if (ckpt_run_finding_count(t->run) > 0)
		say_group(&t->group, path, "folder", t->run,
			ckpt_diags_verdict(&t->run->diags));
}

void
ckpt_verify_tree(struct ckpt_verify_session *s, const char *path)
{
	struct tree t = { .group.session = s, .run = ckpt_run_new(NULL) };

	if (!t.run) {
		s->memory = true;
		return;
	}
	ckpt_arena_init(&t.arena, UINT64_MAX);
	if (ckpt_verify_walk(path, true, visit, &t) != CKPT_OK)
		add(&t, CKPT_D_IO, "", strerror(errno));
	if (ckpt_verify_going(s))
		verify_members(&t.group, t.jobs, (size_t)t.n);
	if (can_be_said(s))
		say_tree(&t, path);
	ckpt_arena_release(&t.arena);
	ckpt_run_free(t.run);
}
