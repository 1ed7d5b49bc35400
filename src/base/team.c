/* SPDX-License-Identifier: MIT */
/*
 * Threads wait on a condition, take their range of the loop that is posted,
 * and count themselves done. Nobody spins: on a busy machine a spinning thread
 * takes the time that the working one needs.
 */
#include "base/team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct member {
	struct ckpt_team *team;
	unsigned number;
	pthread_t thread;
};

struct ckpt_team {
	pthread_mutex_t lock;
	pthread_cond_t posted, done;
	unsigned jobs, started; /* members that run, the caller apart */
	unsigned long round;    /* loops posted so far */
	unsigned left;          /* members that are not done with it */
	bool quit;
	ckpt_team_work *work;
	void *ctx;
	size_t n, grain;
	struct member members[];
};

/* Range number i of the team's loop. */
static void
do_range(const struct ckpt_team *team, unsigned i)
{
	size_t grains = team->n / team->grain + (team->n % team->grain != 0);
	size_t from = grains * i / team->jobs * team->grain;
	size_t to = grains * (i + 1) / team->jobs * team->grain;

	if (to > team->n)
		to = team->n;
	if (from < to)
		team->work(team->ctx, from, to);
}

static void *
serve(void *arg)
{
	struct member *me = arg;
	struct ckpt_team *team = me->team;
	unsigned long seen = 0;

	pthread_mutex_lock(&team->lock);
	for (;;) {
		while (team->round == seen && !team->quit)
			pthread_cond_wait(&team->posted, &team->lock);
		if (team->quit)
			break;
		seen = team->round;
		pthread_mutex_unlock(&team->lock);
		do_range(team, me->number);
		pthread_mutex_lock(&team->lock);
		if (--team->left == 0)
			pthread_cond_signal(&team->done);
	}
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

struct ckpt_team *
ckpt_team_new(unsigned jobs)
{
	struct ckpt_team *team;

	if (jobs < 2)
		return NULL;
	team = calloc(1, sizeof *team + jobs * sizeof team->members[0]);
	if (!team)
		return NULL;
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->posted, NULL);
	pthread_cond_init(&team->done, NULL);
	for (unsigned i = 1; i < jobs; i++) {
		struct member *m = &team->members[team->started];

		*m = (struct member){ .team = team,
			.number = team->started + 1 };
		if (pthread_create(&m->thread, NULL, serve, m) != 0)
			break;
		team->started++;
	}
	team->jobs = team->started + 1;
	if (team->started > 0)
		return team;
	ckpt_team_free(team);
	return NULL;
}

void
ckpt_team_free(struct ckpt_team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->lock);
	team->quit = true;
	pthread_cond_broadcast(&team->posted);
	pthread_mutex_unlock(&team->lock);
	for (unsigned i = 0; i < team->started; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_cond_destroy(&team->done);
	pthread_cond_destroy(&team->posted);
	pthread_mutex_destroy(&team->lock);
	free(team);
}

void
ckpt_team_run(struct ckpt_team *team, size_t n, size_t grain,
	ckpt_team_work *work, void *ctx)
{
	if (!team || n <= grain) {
		if (n > 0)
			work(ctx, 0, n);
		return;
	}
	pthread_mutex_lock(&team->lock);
	team->work = work;
	team->ctx = ctx;
	team->n = n;
	team->grain = grain;
	team->left = team->started;
	team->round++;
	pthread_cond_broadcast(&team->posted);
	pthread_mutex_unlock(&team->lock);
	do_range(team, 0);
	pthread_mutex_lock(&team->lock);
	while (team->left > 0)
		pthread_cond_wait(&team->done, &team->lock);
	pthread_mutex_unlock(&team->lock);
}
