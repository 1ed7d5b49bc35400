/* SPDX-License-Identifier: MIT */
/*
 * Targets: format/llmcp35*, wire/walk, wire/emit, diag/diag, io/reader.
 *
 * Verifies the bytes and holds the verifier to its promises: the verdict is a
 * function of the primary finding, the findings are in order, all of them lie
 * inside the file, and what was accepted encodes to the same bytes again.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/target.h"
#include "base/checked.h"
#include "format/format.h"
#include "sink/save.h"

/* Accepted means canonical: decoding and encoding gives the same file. */
static void
check_roundtrip(struct ckpt_run *run, const uint8_t *data, size_t size)
{
	struct ckpt_state state;
	struct ckpt_buf buf;

	assert(run->header_end <= size);
	assert(run->format->bind(run, data + run->header_end,
		       size - run->header_end, &state) == CKPT_OK);
	ckpt_buf_init(&buf);
	assert(ckpt_encode(&buf, run->format, &state, NULL) == CKPT_OK);
	assert(buf.n == size);
	assert(memcmp(buf.p, data, size) == 0);
	ckpt_buf_release(&buf);
}

static enum ckpt_verdict
verdict_of(const struct ckpt_diag *primary)
{
	if (!primary)
		return CKPT_VALID;
	switch (primary->rule->class_) {
	case CKPT_CLASS_UNSUPPORTED: return CKPT_UNSUPPORTED;
	case CKPT_LIMIT:
	case CKPT_IO: return CKPT_NOT_VERIFIED;
	case CKPT_SUSPICIOUS:
	case CKPT_CORRUPT: return CKPT_INVALID;
	}
	abort();
}

static void
check_finding(const struct ckpt_diag *d, size_t size)
{
	uint64_t end;

	assert(d->count >= 1);
	assert(d->path);
	assert(d->off <= size);
	assert(ckpt_add_u64(d->off, d->len, &end));
	assert(d->caused_by != d->rule);
	assert(d->rule->severity == CKPT_ERROR || d->rank.phase == 'H');
}

static void
check_findings(const struct ckpt_run *run, size_t size)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);
	const struct ckpt_diag *before = NULL, *first = NULL;

	for (size_t i = 0; i < ckpt_run_finding_count(run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(run, i);

		check_finding(d, size);
		if (before) {
			int c = ckpt_rank_compare(&before->rank, &d->rank);

			assert(c < 0 || (c == 0 && before->off <= d->off));
		}
		if (!first && d->rule->severity == CKPT_ERROR)
			first = d;
		before = d;
	}
	assert(!primary || primary->rule->severity == CKPT_ERROR);
	/* Only what no longer fits the list may rank below its first error. */
	assert((first == NULL) == (primary == NULL));
	if (!first)
		return;
	assert(ckpt_rank_compare(&primary->rank, &first->rank) <= 0);
	if (run->diags.suppressed == 0)
		assert(primary->rule == first->rule &&
			primary->off == first->off &&
			ckpt_rank_compare(&primary->rank, &first->rank) == 0);
}

void
ckpt_fuzz_llmcp35(const uint8_t *data, size_t size)
{
	struct ckpt_options options = { .max_memory = CKPT_FUZZ_MEMORY };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct ckpt_source *source = ckpt_source_memory(data, size);
	enum ckpt_verdict verdict;

	assert(run && source);
	verdict = ckpt_verify(run, source);
	assert(verdict == verdict_of(ckpt_run_primary(run)));
	check_findings(run, size);
	/* Headers that are text can say the same in many ways. */
	if (verdict == CKPT_VALID && run->format->bind && !run->format->text)
		check_roundtrip(run, data, size);
	ckpt_source_close(source);
	ckpt_run_free(run);
}
