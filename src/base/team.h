/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_TEAM_H
#define CKPT_BASE_TEAM_H

/*
 * A few threads that share loops over independent items. Which thread takes
 * which items never shows in a result, because no two items touch the same
 * memory. A team of NULL is the caller alone.
 */

#include <stddef.h>

struct ckpt_team;

/* Works on items [from, to). */
typedef void ckpt_team_work(void *ctx, size_t from, size_t to);

/* jobs threads in all, the caller counted. NULL when jobs is 1 or when threads
 * cannot be had; that is no failure, only slower. */
struct ckpt_team *ckpt_team_new(unsigned jobs);
void ckpt_team_free(struct ckpt_team *team);

/* Does all items [0, n), each range but the last a multiple of grain; returns
 * when all are done. Not to be called from inside of work. */
void ckpt_team_run(struct ckpt_team *team, size_t n, size_t grain,
	ckpt_team_work *work, void *ctx);

#endif
