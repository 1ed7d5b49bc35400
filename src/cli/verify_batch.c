/* SPDX-License-Identifier: MIT */
/*
 * Several files at once. Threads take files in their order and may finish in
 * any; the caller's thread waits for each in turn and says it, so that output
 * does not depend on the number of threads. No more than twice as many results
 * as threads are held, whatever the number of files.
 */
#include "cli/verify.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/verify_locate.h"
#include "replay/known_job.h"

/* A file that is being verified, or was. */
struct work {
	struct pool *pool; /* NULL: on the caller's thread */
	struct ckpt_verify_session *session;
	struct ckpt_run *run;                  /* NULL: memory ran out */
	struct ckpt_digest *digest;            /* owned; NULL: not asked for */
	struct ckpt_verify_location *location; /* owned; NULL: not searched */
	bool lost; /* there is no location because memory ran out */
	struct ckpt_verify_witness *witness; /* NULL: causes are not asked */
	bool cancelled;                      /* while looking for them */
	enum ckpt_verdict verdict;
	uint64_t size, seen; /* bytes of the file; those the pool counted */
	bool done;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t moved; /* something was done or said, or stop */
	struct ckpt_verify_session *session;
	const struct ckpt_verify_job *jobs;
	struct work *works; /* one a job */
	size_t n, next, said, ahead;
	uint64_t bytes, total; /* read so far; of all files */
	char name[32];         /* of all of them, for the progress */
	bool stop;
};

/* ---- One file ----------------------------------------------------------- */

/* The progress of a run, which is also where it can be cancelled. */
static bool
on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct work *work = ctx;
	struct ckpt_verify_session *s = work->session;
	struct pool *pool = work->pool;
	bool stop = false;

	if (!total)
		total = CKPT_PROGRESS_UNKNOWN;
	if (pool) {
		pthread_mutex_lock(&pool->lock);
		if (done < work->seen)
			work->seen = 0; /* another pass over the file */
		pool->bytes += done - work->seen;
		work->seen = done;
		done = pool->bytes;
		total = pool->total;
		stop = pool->stop;
	}
	ckpt_progress_update(&s->progress, done, total);
	if (pool)
		pthread_mutex_unlock(&pool->lock);
	return !stop && !s->interrupted();
}

static void
verify(struct work *work, const struct ckpt_verify_job *job)
{
	const struct ckpt_verify_options *o = work->session->options;
	const struct ckpt_options options = {
		.max_memory = o->max_memory,
		.max_header = o->max_header,
		.align = o->align,
		.values = o->values,
		.profile = o->profile,
		.progress = on_progress,
		.progress_ctx = work,
	};
	struct ckpt_source *source;

	work->digest = o->digests ? calloc(1, sizeof *work->digest) : NULL;
	if (o->digests && !work->digest)
		return;
	work->run = ckpt_run_new(&options);
	if (!work->run)
		return;
	if (job->sink)
		ckpt_run_listen(work->run, job->sink);
	if (work->digest)
		ckpt_digest_init(work->digest, work->run, o->max_memory);
	if (o->what_happened)
		work->witness = ckpt_verify_witness_new(work->run);
	source = ckpt_source_open(job->path);
	ckpt_verify_opened(work->session);
	work->verdict = source ? ckpt_verify(work->run, source)
			       : ckpt_run_trouble(work->run, errno);
	ckpt_run_name_documents(work->run);
	if (o->locate && source && work->verdict != CKPT_NOT_VERIFIED) {
		work->location = ckpt_verify_location_new(
			o, source, &options, work->run);
		work->lost = !work->location;
	}
	if (work->witness)
		work->cancelled = !ckpt_verify_witness_ask(
			work->witness, work->run, source);
	ckpt_source_close(source);
	if (work->digest)
		ckpt_digest_close(work->digest);
}

static void
forget(struct work *work)
{
	if (work->digest && work->run)
		ckpt_digest_release(work->digest);
	free(work->digest);
	ckpt_verify_location_free(work->location);
	ckpt_verify_witness_free(work->witness);
	ckpt_run_free(work->run);
	work->witness = NULL;
	work->digest = NULL;
	work->location = NULL;
	work->run = NULL;
}

static bool
was(const struct ckpt_run *run, enum ckpt_code code)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);

	return primary && primary->rule == ckpt_rule_row(code);
}

/* The result, and what the search found. */
static void
say_result(struct ckpt_verify_session *s, const struct work *work,
	const struct ckpt_result *result)
{
	const struct ckpt_verify_location *location = work->location;
	struct ckpt_buf trouble;

	s->location = location;
	ckpt_verify_say(s, result);
	s->location = NULL;
	s->memory = s->memory || work->lost;
	if (!location)
		return;
	s->cut = s->cut || location->located.status == CKPT_STOP ||
		 location->repair.status == CKPT_STOP;
	ckpt_buf_init(&trouble);
	if (ckpt_verify_location_trouble(&trouble, location)) {
		fprintf(stderr, "%s: %s\n", ckpt_verify_command.name,
			trouble.failed ? "cannot write the copy" : trouble.p);
		s->exit_code = ckpt_exit_worse(s->exit_code, CKPT_EXIT_TROUBLE);
	}
	ckpt_buf_release(&trouble);
}

static void
say(struct work *work, const struct ckpt_verify_job *jobs, size_t i,
	const struct ckpt_verify_heard *heard)
{
	struct ckpt_verify_session *s = work->session;
	struct ckpt_run *run = work->run;
	struct ckpt_result result;

	if (!run) {
		s->memory = true;
		forget(work);
		return;
	}
	ckpt_result_init(&result, jobs[i].path, run, work->verdict,
		s->options->fail_on == CKPT_FAIL_ON_WARNING);
	result.digest = work->digest;
	if (s->options->what_happened)
		result.causes = ckpt_verify_witness_hints(work->witness);
	if (was(run, CKPT_D_OPTION)) {
		ckpt_verify_refuse(s,
			ckpt_format_refuses(run->format, &run->options),
			jobs[i].path, run->format->name);
	} else if (s->options->locate && ckpt_verify_no_checksum(run->format)) {
		ckpt_verify_refuse(
			s, "--locate", jobs[i].path, run->format->name);
	} else {
		s->cut =
			s->cut || work->cancelled || was(run, CKPT_D_CANCELLED);
		say_result(s, work, &result);
		if (heard)
			heard->result(heard->ctx, i, &result);
	}
	forget(work);
}

static void
one_by_one(struct ckpt_verify_session *s, const struct ckpt_verify_job *jobs,
	size_t n, const struct ckpt_verify_heard *heard)
{
	for (size_t i = 0; i < n && ckpt_verify_going(s); i++) {
		struct work work = { .session = s };

		if (s->interrupted()) {
			s->cut = true;
			return;
		}
		ckpt_progress_begin(&s->progress, jobs[i].path);
		verify(&work, &jobs[i]);
		ckpt_progress_end(&s->progress);
		say(&work, jobs, i, heard);
	}
}

/* ---- Many --------------------------------------------------------------- */

/* Not every file is read to its end. */
static void
count_rest(struct pool *pool, const struct work *work)
{
	if (work->seen < work->size)
		pool->bytes += work->size - work->seen;
}

static void *
serve(void *arg)
{
	struct pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		size_t i;

		while (!pool->stop && pool->next < pool->n &&
			pool->next - pool->said >= pool->ahead)
			pthread_cond_wait(&pool->moved, &pool->lock);
		if (pool->stop || pool->next == pool->n)
			break;
		i = pool->next++;
		pthread_mutex_unlock(&pool->lock);
		verify(&pool->works[i], &pool->jobs[i]);
		pthread_mutex_lock(&pool->lock);
		count_rest(pool, &pool->works[i]);
		pool->works[i].done = true;
		pthread_cond_broadcast(&pool->moved);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Says what is done as it becomes its turn. What was begun is always waited
 * for: an interrupted run has something to say, too. */
static void
say_in_order(struct pool *pool, const struct ckpt_verify_heard *heard)
{
	struct ckpt_verify_session *s = pool->session;
	pthread_mutex_lock(&pool->lock);
	while (pool->said < pool->n && ckpt_verify_going(s)) {
		size_t i = pool->said;

		while (!pool->works[i].done)
			pthread_cond_wait(&pool->moved, &pool->lock);
		ckpt_progress_clear(&s->progress);
		say(&pool->works[i], pool->jobs, i, heard);
		pool->said++;
		pthread_cond_broadcast(&pool->moved);
	}
	pool->stop = true;
	pthread_cond_broadcast(&pool->moved);
	ckpt_progress_end(&s->progress);
	pthread_mutex_unlock(&pool->lock);
}

static size_t
start(struct pool *pool, pthread_t *threads, size_t wanted)
{
	size_t n = 0;

	while (n < wanted &&
		pthread_create(&threads[n], NULL, serve, pool) == 0)
		n++;
	return n;
}

static void
together(struct pool *pool, pthread_t *threads, size_t wanted,
	const struct ckpt_verify_heard *heard)
{
	struct ckpt_verify_session *s = pool->session;
	size_t started;

	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->moved, NULL);
	snprintf(pool->name, sizeof pool->name, "%zu files", pool->n);
	ckpt_progress_begin(&s->progress, pool->name);
	started = start(pool, threads, wanted);
	if (started > 0)
		say_in_order(pool, heard);
	else
		one_by_one(s, pool->jobs, pool->n, heard);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < pool->n; i++)
		forget(&pool->works[i]);
	pthread_cond_destroy(&pool->moved);
	pthread_mutex_destroy(&pool->lock);
}

/* 0 if it is no file or cannot be looked at. */
static uint64_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode)
		       ? (uint64_t)st.st_size
		       : 0;
}

void
ckpt_verify_batch(struct ckpt_verify_session *s,
	const struct ckpt_verify_job *jobs, size_t n,
	const struct ckpt_verify_heard *heard)
{
	size_t wanted = s->options->jobs < n ? (size_t)s->options->jobs : n;
	struct pool pool = { .session = s, .jobs = jobs, .n = n };
	pthread_t *threads;

	if (wanted < 2) {
		one_by_one(s, jobs, n, heard);
		return;
	}
	pool.ahead = 2 * wanted;
	threads = calloc(wanted, sizeof *threads);
	pool.works = calloc(n, sizeof *pool.works);
	for (size_t i = 0; pool.works && i < n; i++) {
		pool.works[i] = (struct work){ .pool = &pool,
			.session = s,
			.size = size_of(jobs[i].path) };
		pool.total += pool.works[i].size;
	}
	/* Which files are read again only their verdicts tell. */
	if (s->options->locate || s->options->what_happened)
		pool.total = CKPT_PROGRESS_UNKNOWN;
	if (threads && pool.works)
		together(&pool, threads, wanted, heard);
	else
		s->memory = true;
	free(threads);
	free(pool.works);
}
