/* SPDX-License-Identifier: MIT */
#include "support/comparing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sink/save.h"
#include "view/compare.h"

const struct ckpt_synth comparing_usual = {
	.config = { 5, 8, 2, 12, 1, 4, 500.0, 1e-5, 0, 0 },
	.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
	.step = 7,
	.gain_groups = true,
	.seed = 11,
	.sampling_rng_state = 1,
};

void
comparing_make(struct ckpt_buf *bytes, const struct ckpt_synth *synth)
{
	struct ckpt_arena arena;
	struct ckpt_state state;

	ckpt_arena_init(&arena, UINT64_MAX);
	ckpt_buf_init(bytes);
	assert_int_equal(ckpt_synth_state(&arena, synth, &state), CKPT_OK);
	assert_int_equal(
		ckpt_encode(bytes, ckpt_format_at(0), &state, NULL), CKPT_OK);
	ckpt_arena_release(&arena);
}

void
comparing_open(struct viewing *v, const void *a, size_t na, const void *b,
	size_t nb, int rows, int cols)
{
	char path[] = "/tmp/viewing-b-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b, nb), nb);
	close(fd);
	viewing_bytes(v, a, na, rows, cols);
	assert_int_equal(view_compare_open(&v->view, path), 0);
	/* It is read through what is open. */
	unlink(path);
	strcpy(v->doc.path, "a");
	strcpy(v->view.compare->other.path, "b");
	view_settle(&v->view);
}

uint64_t
comparing_find(const struct viewing *v, const char *role, const char *name)
{
	const struct ckpt_spans *spans = v->doc.spans;

	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[i];

		if (strstr(s->role, role) && s->name_len == strlen(name) &&
			memcmp(s->name, name, s->name_len) == 0)
			return i;
	}
	fail_msg("no %s %s", role, name);
	return 0;
}

uint64_t
comparing_payload(
	const struct ckpt_buf *file, const char *role, const char *name)
{
	struct viewing v;
	uint64_t off;

	viewing_bytes(&v, file->p, file->n, 24, 80);
	off = v.doc.spans->tensors[comparing_find(&v, role, name)].off;
	viewing_close(&v);
	return off;
}

bool
comparing_selected(struct viewing *v, const char *words)
{
	const char *row = strstr(viewing_screen(v), "\n> ");
	const char *at = row ? strstr(row, words) : NULL;

	return at && at < strchr(row + 1, '\n');
}

void
comparing_select(struct viewing *v, const char *words)
{
	for (int i = 0; i < 200; i++) {
		if (comparing_selected(v, words))
			return;
		viewing_keys(v, "j");
	}
	fail_msg("no line with \"%s\"", words);
}
