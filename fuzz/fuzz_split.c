/* SPDX-License-Identifier: MIT */
/*
 * Targets: io/reader, io/source_slow, wire/walk, format/ all.
 *
 * Verifies the bytes three times: from memory at once, and through a pipe of
 * unknown length in two sizes of chunk, one of them 1 to 7 bytes. How bytes
 * arrive must not change anything that is said about them.
 */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "../fuzz/target.h"
#include "diag/run.h"
#include "io/source_slow.h"

/* The bytes under a name that makes them safetensors, or without one. */
static struct ckpt_source *
in_memory(const uint8_t *data, size_t size)
{
	struct ckpt_source *source = ckpt_source_memory(data, size);

	assert(source);
	if (data[size - 1] & 64)
		source->name = "fuzz.safetensors";
	return source;
}

static struct ckpt_run *
verify(struct ckpt_source *source, enum ckpt_verdict *verdict)
{
	struct ckpt_options options = { .max_memory = CKPT_FUZZ_MEMORY };
	struct ckpt_run *run = ckpt_run_new(&options);

	assert(run && source);
	*verdict = ckpt_verify(run, source);
	ckpt_source_close(source);
	return run;
}

static bool
same(const struct ckpt_diag *a, const struct ckpt_diag *b)
{
	return a->rule == b->rule &&
	       ckpt_rank_compare(&a->rank, &b->rank) == 0 && a->off == b->off &&
	       a->len == b->len && a->count == b->count &&
	       a->caused_by == b->caused_by && strcmp(a->path, b->path) == 0;
}

static void
compare(const struct ckpt_run *a, const struct ckpt_run *b)
{
	const struct ckpt_diag *pa = ckpt_run_primary(a);
	const struct ckpt_diag *pb = ckpt_run_primary(b);

	assert((pa == NULL) == (pb == NULL));
	assert(!pa || same(pa, pb));
	assert(ckpt_run_finding_count(a) == ckpt_run_finding_count(b));
	for (size_t i = 0; i < ckpt_run_finding_count(a); i++)
		assert(same(ckpt_run_finding(a, i), ckpt_run_finding(b, i)));
	assert(a->diags.suppressed == b->diags.suppressed);
	for (size_t i = 0; i < CKPT_D_COUNT; i++)
		assert(a->diags.ran[i] == b->diags.ran[i]);
}

static void
check_chunks(const struct ckpt_run *whole, enum ckpt_verdict verdict,
	const uint8_t *data, size_t size, size_t most)
{
	struct ckpt_source *memory = in_memory(data, size);
	enum ckpt_verdict piped;
	struct ckpt_run *run;

	run = verify(ckpt_source_slow(memory, most, true, UINT64_MAX), &piped);
	assert(piped == verdict);
	compare(whole, run);
	ckpt_run_free(run);
}

void
ckpt_fuzz_split(const uint8_t *data, size_t size)
{
	enum ckpt_verdict verdict;
	struct ckpt_run *run;

	/* An empty pipe is another fault than an empty file, and said so. */
	if (size == 0)
		return;
	run = verify(in_memory(data, size), &verdict);
	check_chunks(run, verdict, data, size, 1 + data[size - 1] % 7);
	check_chunks(run, verdict, data, size, 4096);
	ckpt_run_free(run);
}
