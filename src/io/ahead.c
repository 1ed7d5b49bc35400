/* SPDX-License-Identifier: MIT */
/*
 * A ring of blocks between two threads, with a semaphore for those that are
 * full and one for those that are free, half of the ring at a time: to wake a
 * thread takes longer than to read a block. A block belongs to the side whose
 * semaphore counted it, so nothing else is shared. A digest of the whole file
 * is made on this thread, because it takes longer than all the rest. After a
 * read that gave nothing, or failed, the thread ends; what it gave is given
 * again for ever.
 *
 * The reading side holds two blocks: the one in use, and the one before it,
 * of which the last bytes may still be wanted.
 */
#include "io/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PAGE = 4096, STRIDE = CKPT_AHEAD_BEFORE + CKPT_AHEAD_BLOCK };

/* Blocks that are given back at once. */
enum { TOGETHER = CKPT_AHEAD_BLOCKS / 2 };

_Static_assert((int)CKPT_AHEAD_BLOCKS >= 2 + (int)TOGETHER,
	"two in use and those not given back leave one to read into");

struct block {
	ptrdiff_t got;
	int error;
};

struct ckpt_ahead {
	struct ckpt_source *source; /* borrowed */
	struct ckpt_sha256 *whole;  /* borrowed, or NULL */
	uint8_t *memory;            /* owned; blocks of STRIDE bytes */
	struct block blocks[CKPT_AHEAD_BLOCKS];
	sem_t empty, full;
	pthread_t thread;
	atomic_bool quit;
	unsigned next;  /* block that is given next */
	unsigned given; /* at most 2: in use */
	unsigned done;  /* how many no longer are */
	bool over;      /* the last block was given */
};

static uint8_t *
bytes_of(const struct ckpt_ahead *a, unsigned i)
{
	return a->memory + (size_t)i * STRIDE + CKPT_AHEAD_BEFORE;
}

static void
wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		;
}

static void *
serve(void *arg)
{
	struct ckpt_ahead *a = arg;

	for (unsigned i = 0;; i = (i + 1) % CKPT_AHEAD_BLOCKS) {
		struct block *b = &a->blocks[i];

		if (i % TOGETHER == 0)
			wait_for(&a->empty);
		if (atomic_load(&a->quit))
			return NULL;
		do {
			b->got = a->source->read(
				a->source, bytes_of(a, i), CKPT_AHEAD_BLOCK);
			b->error = b->got < 0 ? errno : 0;
		} while (b->got < 0 && b->error == EINTR);
		if (a->whole && b->got > 0)
			ckpt_sha256_add(
				a->whole, bytes_of(a, i), (size_t)b->got);
		sem_post(&a->full);
		if (b->got <= 0)
			return NULL;
	}
}

/* Signals are for the thread that asks whether it was cancelled. */
static int
start(struct ckpt_ahead *a)
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&a->thread, NULL, serve, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

struct ckpt_ahead *
ckpt_ahead_new(struct ckpt_source *source, struct ckpt_sha256 *whole)
{
	struct ckpt_ahead *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	a->source = source;
	a->whole = whole;
	a->memory = aligned_alloc(PAGE, (size_t)CKPT_AHEAD_BLOCKS * STRIDE);
	if (!a->memory)
		goto no_memory;
	if (sem_init(&a->empty, 0, CKPT_AHEAD_BLOCKS / TOGETHER) != 0)
		goto no_empty;
	if (sem_init(&a->full, 0, 0) != 0)
		goto no_full;
	if (start(a) == 0)
		return a;
	sem_destroy(&a->full);
no_full:
	sem_destroy(&a->empty);
no_empty:
	free(a->memory);
no_memory:
	free(a);
	return NULL;
}

void
ckpt_ahead_free(struct ckpt_ahead *a)
{
	if (!a)
		return;
	atomic_store(&a->quit, true);
	sem_post(&a->empty);
	pthread_join(a->thread, NULL);
	sem_destroy(&a->full);
	sem_destroy(&a->empty);
	free(a->memory);
	free(a);
}

ptrdiff_t
ckpt_ahead_next(struct ckpt_ahead *a, uint8_t **p)
{
	const struct block *b = &a->blocks[a->next];

	*p = bytes_of(a, a->next);
	if (!a->over) {
		if (sem_wait(&a->full) != 0)
			return -1;
		if (a->given < 2)
			a->given++;
		else if (++a->done % TOGETHER == 0)
			sem_post(&a->empty);
		if (b->got <= 0)
			a->over = true;
		else
			a->next = (a->next + 1) % CKPT_AHEAD_BLOCKS;
	}
	if (b->got < 0)
		errno = b->error;
	return b->got;
}
