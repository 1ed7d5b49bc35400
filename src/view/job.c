/* SPDX-License-Identifier: MIT */
/*
 * Background jobs. Signals are for the thread that draws, so the others block
 * them all but those of a crash, whose handler puts the terminal back and
 * would not be called where they are blocked.
 */
#include "view/job.h"

#include <signal.h>
#include <unistd.h>

void
view_job_wake(struct view_job *job)
{
	static const char byte = 0;

	/* A full pipe rings already. */
	if (job->bell >= 0 && write(job->bell, &byte, 1) < 0)
		return;
}

static void *
run(void *arg)
{
	struct view_job *job = arg;

	job->work(job);
	atomic_store(&job->ended, true);
	view_job_wake(job);
	return NULL;
}

void
view_job_start(
	struct view_job *job, int bell, void (*work)(struct view_job *job))
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
		SIGABRT };
	sigset_t all, before;

	view_job_stop(job);
	job->bell = bell;
	job->work = work;
	atomic_store(&job->cancel, false);
	atomic_store(&job->ended, false);
	atomic_store(&job->done, 0);
	atomic_store(&job->total, 0);
	sigfillset(&all);
	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
		sigdelset(&all, crashes[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	job->started = pthread_create(&job->thread, NULL, run, job) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (job->started)
		return;
	run(job);
	job->started = true;
	job->thread = pthread_self();
}

static void
join(struct view_job *job)
{
	if (!pthread_equal(job->thread, pthread_self()))
		pthread_join(job->thread, NULL);
	job->started = false;
}

void
view_job_stop(struct view_job *job)
{
	if (!job->started)
		return;
	atomic_store(&job->cancel, true);
	join(job);
}

bool
view_job_take(struct view_job *job)
{
	if (!job->started || !atomic_load(&job->ended))
		return false;
	join(job);
	return true;
}
