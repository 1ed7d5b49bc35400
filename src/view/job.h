/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_JOB_H
#define CKPT_VIEW_JOB_H

/*
 * Work in the background: one thread a job. The work looks at cancel now and
 * then and writes how far it is; what it makes is taken only after the job
 * has ended, so nothing else is shared. When it ends, and when it says so
 * with view_job_wake(), a byte is written to the bell, on which the loop of
 * the viewer waits.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct view_job {
	pthread_t thread;
	bool started; /* and not taken yet */
	atomic_bool cancel, ended;
	atomic_uint_fast64_t done, total; /* progress; total 0: not known */
	int bell;                         /* fd to write to, or -1 */
	void (*work)(struct view_job *job);
};

/* Starts work(job), after the job before it was stopped. Where no thread can
 * be had, the work is done at once. Members of the job's owner that the work
 * reads must be set before. */
void view_job_start(
	struct view_job *job, int bell, void (*work)(struct view_job *job));

/* Cancels it and waits for its end; what it made may be half done. */
void view_job_stop(struct view_job *job);

/* True once, when the job has ended; its results may be taken then. */
bool view_job_take(struct view_job *job);

/* Started and not taken. */
static inline bool
view_job_running(const struct view_job *job)
{
	return job->started;
}

/* For the work: whether it shall end. */
static inline bool
view_job_cancelled(struct view_job *job)
{
	return atomic_load_explicit(&job->cancel, memory_order_relaxed);
}

/* For the work: there is something new to be drawn. */
void view_job_wake(struct view_job *job);

#endif
