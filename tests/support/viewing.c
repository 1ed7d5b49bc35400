/* SPDX-License-Identifier: MIT */
#include "support/viewing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void
viewing_open(struct viewing *v, const char *path, int rows, int cols)
{
	const char *name = strrchr(path, '/');

	v->text = (struct ckpt_buf){ 0 };
	v->path[0] = '\0';
	assert_int_equal(view_doc_open(&v->doc, path, 0, -1), 0);
	/* The folder is another on every machine. */
	if (name)
		memmove(v->doc.path, v->doc.path + (name + 1 - path),
			strlen(name + 1) + 1);
	assert_true(view_init(&v->view, &v->doc, -1));
	view_resize(&v->view, rows, cols);
	view_settle(&v->view);
}

void
viewing_bytes(
	struct viewing *v, const void *bytes, size_t n, int rows, int cols)
{
	char path[] = "/tmp/viewing-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
	viewing_open(v, path, rows, cols);
	memcpy(v->path, path, sizeof path);
}

uint8_t
viewing_pattern_at(uint64_t off)
{
	return (uint8_t)(off ^ off >> 8);
}

void
viewing_pattern(struct viewing *v, size_t n, int rows, int cols)
{
	uint8_t *bytes = malloc(n + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = viewing_pattern_at(i);
	viewing_bytes(v, bytes, n, rows, cols);
	free(bytes);
}

void
viewing_close(struct viewing *v)
{
	view_release(&v->view);
	view_doc_release(&v->doc);
	ckpt_buf_release(&v->text);
	if (v->path[0])
		unlink(v->path);
}

void
viewing_keys(struct viewing *v, const char *script)
{
	uint32_t key;

	while ((key = view_key_next(&script)) != 0) {
		view_key(&v->view, key);
		view_settle(&v->view);
	}
}

const char *
viewing_screen(struct viewing *v)
{
	view_draw(&v->view);
	view_settle(&v->view);
	view_draw(&v->view);
	ckpt_buf_clear(&v->text);
	view_grid_write(&v->view.grid, &v->text);
	assert_false(v->text.failed);
	return v->text.p;
}

const struct view_cell *
viewing_cell(const struct viewing *v, enum view_pane_id pane, int row, int col)
{
	const struct view_area *a = &v->view.areas[pane];

	assert_true(row < a->rows && col < a->cols);
	return &v->view.grid.cells[(a->row + row) * v->view.grid.cols + a->col +
				   col];
}

const char *
viewing_row(struct viewing *v, enum view_pane_id pane, int row)
{
	struct ckpt_buf *text = &v->text;

	ckpt_buf_clear(text);
	for (int col = 0; col < v->view.areas[pane].cols; col++)
		ckpt_buf_puts(text, viewing_cell(v, pane, row, col)->text);
	assert_false(text->failed);
	while (text->n > 0 && text->p[text->n - 1] == ' ')
		text->p[--text->n] = '\0';
	return text->p;
}

uint64_t
viewing_field(const struct viewing *v, const char *path)
{
	for (uint64_t i = 0; i < v->doc.spans->nfields; i++)
		if (strcmp(v->doc.spans->fields[i].path, path) == 0)
			return v->doc.spans->fields[i].off;
	fail_msg("no %s", path);
	return 0;
}

void
viewing_shows(struct viewing *v, const char *words)
{
	const char *screen = viewing_screen(v);

	if (!strstr(screen, words))
		fail_msg("\"%s\" is not in\n%s", words, screen);
}

void
viewing_lacks(struct viewing *v, const char *words)
{
	const char *screen = viewing_screen(v);

	if (strstr(screen, words))
		fail_msg("\"%s\" is in\n%s", words, screen);
}

void
viewing_golden(struct viewing *v, const char *name)
{
	const char *screen = viewing_screen(v);
	char path[256], *want;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "tests/golden/%s.txt", name);
	if (getenv("UPDATE_GOLDEN")) {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(screen, f);
		assert_int_equal(fclose(f), 0);
		return;
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s cannot be read", path);
	want = calloc(1, 1 << 16);
	assert_non_null(want);
	n = fread(want, 1, (1 << 16) - 1, f);
	fclose(f);
	if (n != strlen(screen) || memcmp(want, screen, n) != 0)
		fail_msg("%s: wanted\n%s\ngot\n%s", path, want, screen);
	free(want);
}
