/* SPDX-License-Identifier: MIT */
/*
 * A mutator for AFL++ that knows the fields, loaded by afl-fuzz itself.
 *
 * post_process repairs what would stop a changed file at the door: checksum,
 * extents, offsets and lengths. How much it repairs is decided by the values
 * that it never changes, so the same bytes always give the same file, a
 * repaired file is left as it is, and broken files are tried too. fuzz makes
 * one or a few edits by field, record or tensor element.
 *
 * All of this goes by the events of a parse and the flags of the schema rows;
 * no format is named here, and nothing in src is switched for fuzzing.
 */
#include "postproc.h"

#include <stdlib.h>
#include <string.h>

void *afl_custom_init(void *afl, unsigned int seed);
void afl_custom_deinit(void *data);
size_t afl_custom_post_process(
	void *data, uint8_t *buf, size_t size, uint8_t **out);
size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **out,
	uint8_t *add, size_t add_size, size_t most);

void
afl_custom_deinit(void *data)
{
	struct fuzz_mutator *m = data;

	if (!m)
		return;
	free(m->fixed);
	free(m->other);
	free(m->edited);
	free(m);
}

void *
afl_custom_init(void *afl, unsigned int seed)
{
	struct fuzz_mutator *m = calloc(1, sizeof *m);

	(void)afl;
	if (!m)
		return NULL;
	m->rng.state = seed;
	m->fixed = malloc(FUZZ_LARGEST);
	m->other = malloc(FUZZ_LARGEST);
	m->edited = malloc(FUZZ_LARGEST);
	if (!m->fixed || !m->other || !m->edited) {
		afl_custom_deinit(m);
		return NULL;
	}
	return m;
}

size_t
afl_custom_post_process(void *data, uint8_t *buf, size_t size, uint8_t **out)
{
	struct fuzz_mutator *m = data;
	uint8_t *fixed = buf == m->fixed ? m->other : m->fixed;
	size_t n = 0;

	if (size > 0 && size <= FUZZ_LARGEST) {
		m->scan.text = fuzz_text_rules(buf, size);
		n = m->scan.text ? fuzz_repair_text(&m->scan, buf, size, fixed)
				 : fuzz_repair(&m->scan, buf, size, fixed);
	}
	*out = n ? fixed : buf;
	return n ? n : size;
}

size_t
afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **out,
	uint8_t *add, size_t add_size, size_t most)
{
	struct fuzz_mutator *m = data;
	uint8_t *bytes = m->edited;
	uint64_t edits = 1 + fuzz_below(m, 3);

	(void)add;
	(void)add_size;
	*out = buf;
	if (most > FUZZ_LARGEST)
		most = FUZZ_LARGEST;
	if (size == 0 || size > most)
		return size;
	memcpy(bytes, buf, size);
	*out = bytes;
	for (uint64_t i = 0; i < edits && size > 0; i++) {
		/* The edit before may have moved everything. */
		fuzz_scan(&m->scan, bytes, size);
		if (m->scan.nfields == 0)
			break;
		fuzz_edit(m, bytes, &size, most);
	}
	return size;
}
