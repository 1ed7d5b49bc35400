/* SPDX-License-Identifier: MIT */
/*
 * Targets: format/archive*.
 *
 * What is read as a checkpoint is written as an archive that is read as the
 * same checkpoint: what it is written as the second time has the same bytes.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/target.h"
#include "format/format.h"

static struct ckpt_checkpoint *
load(const void *p, size_t n, enum ckpt_status *status)
{
	struct ckpt_options options = { .max_memory = CKPT_FUZZ_MEMORY };
	struct ckpt_source *source = ckpt_source_memory(p, n);
	struct ckpt_checkpoint *c;

	assert(source);
	source->name = "fuzz.safetensors";
	*status = ckpt_checkpoint_read(source, &options, &c);
	assert(c);
	ckpt_source_close(source);
	return c;
}

void
ckpt_fuzz_archive(const uint8_t *data, size_t size)
{
	enum ckpt_status status;
	struct ckpt_checkpoint *c = load(data, size, &status), *again;
	uint8_t *once, *twice;
	size_t n, m;

	if (status == CKPT_OK &&
		strcmp(ckpt_run_format(ckpt_checkpoint_run(c), NULL),
			"ckpt-archive") == 0) {
		assert(ckpt_checkpoint_encode(c, &once, &n) == CKPT_OK);
		again = load(once, n, &status);
		assert(status == CKPT_OK);
		assert(ckpt_checkpoint_encode(again, &twice, &m) == CKPT_OK);
		assert(n == m && memcmp(once, twice, n) == 0);
		ckpt_checkpoint_free(again);
		free(once);
		free(twice);
	}
	ckpt_checkpoint_free(c);
}
