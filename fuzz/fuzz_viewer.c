/* SPDX-License-Identifier: MIT */
/*
 * Targets: view/ all but the terminal.
 *
 * The bytes are a file in the viewer, keys are pressed, and every screen must
 * be UTF-8 without control characters. A first line "keys:SCRIPT" is taken
 * off and pressed (view/keys.h; some bytes that are in no UTF-8 are the mouse
 * and the size of the screen); a file without it gets a walk through all
 * panes. No thread can be had here, so that the same bytes do the same.
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fuzz/target.h"
#include "base/utf8.h"
#include "view/compare.h"
#include "view/view.h"

enum { KEYS = 48, SCRIPT = 256 };

/* What a byte of the script is where it is no key. */
enum { CLICK = 0xf8, CLICK_TWICE, WHEEL_UP, WHEEL_DOWN, RESIZE, ASCII };

static const char walk[] = "j<Tab>lxG{ise]Sz/f nan<Enter>?q:50%<Enter>";

struct sight {
	struct view_doc doc;
	struct view view;
	struct ckpt_buf text;
	bool naming; /* a file to be written is being named */
};

/* Work that would go on in the background is done at once instead. */
int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
	void *(*start)(void *), void *arg)
{
	(void)thread;
	(void)attributes;
	(void)start;
	(void)arg;
	return EAGAIN;
}

/* ---- the file ----------------------------------------------------------- */

/* A file without a name, and a path to it. */
static int
put_aside(const uint8_t *p, size_t n, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	assert(fd >= 0);
	assert(write(fd, p, n) == (ssize_t)n);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Takes the script off the bytes. */
static void
take_script(const uint8_t **data, size_t *size, char script[SCRIPT])
{
	const uint8_t *end;
	size_t n, most = *size < SCRIPT + 5 ? *size : SCRIPT + 5;

	strcpy(script, walk);
	if (*size < 5 || memcmp(*data, "keys:", 5) != 0)
		return;
	end = memchr(*data, '\n', most);
	if (!end)
		return;
	n = (size_t)(end - *data) - 5;
	memcpy(script, *data + 5, n);
	script[n] = '\0';
	*data += n + 6;
	*size -= n + 6;
}

/* ---- the screen --------------------------------------------------------- */

static void
check_screen(struct sight *s)
{
	const char *p;

	view_draw(&s->view);
	ckpt_buf_clear(&s->text);
	view_grid_write(&s->view.grid, &s->text);
	assert(!s->text.failed);
	assert(ckpt_utf8_valid((const uint8_t *)s->text.p, s->text.n, NULL));
	for (p = s->text.p; *p; p++) {
		uint8_t c = (uint8_t)*p;

		assert((c >= ' ' && c != 0x7f) || c == '\n');
		/* C1 controls */
		assert(c != 0xc2 || (uint8_t)p[1] >= 0xa0);
	}
	assert((size_t)(p - s->text.p) == s->text.n);
}

/* A name that is typed must not lead out of the folder, which is one where
 * nothing can be made. */
static bool
may_type(uint32_t key)
{
	return key != '/' && key != '~' && key != VIEW_KEY_UP &&
	       key != VIEW_KEY_DOWN;
}

static void
press(struct sight *s, uint32_t key)
{
	bool asked = s->view.prompt != NULL;

	if (asked && s->naming && !may_type(key))
		return;
	view_key(&s->view, key);
	if (!s->view.prompt)
		s->naming = false;
	else if (!asked)
		s->naming = view_key_action(key) == VIEW_DO_EXPORT;
}

static void
one_event(struct sight *s, const char **script)
{
	static const int rows[] = { 24, 40, 10, 1, 60, 9, 18, 3 },
			 cols[] = { 80, 120, 40, 1, 220, 39, 72, 20 };
	const uint8_t *p = (const uint8_t *)*script;
	int row, col;

	if (p[0] < CLICK || !p[1] || !p[2]) {
		press(s, view_key_next(script));
		return;
	}
	*script += 3;
	row = p[1] - 1;
	col = p[2] - 1;
	switch (p[0]) {
	case CLICK:
	case CLICK_TWICE:
		view_click(&s->view, row, col, p[0] == CLICK_TWICE);
		break;
	case WHEEL_UP:
	case WHEEL_DOWN:
		view_wheel(&s->view, row, col, p[0] == WHEEL_UP ? -3 : 3);
		break;
	case RESIZE: view_resize(&s->view, rows[row % 8], cols[col % 8]); break;
	case ASCII: s->view.grid.utf8 = row % 2; break;
	}
}

static void
watch(struct sight *s, const char *script)
{
	check_screen(s);
	for (int i = 0; i < KEYS && *script; i++) {
		one_event(s, &script);
		view_settle(&s->view);
		s->view.quit = s->view.reload = false;
		check_screen(s);
	}
}

/* The second file differs in one byte. */
static int
compare_with(struct sight *s, const uint8_t *data, size_t size, char path[64])
{
	uint8_t *copy = malloc(size + 1);
	int fd;

	assert(copy);
	if (size)
		memcpy(copy, data, size);
	copy[size / 2] ^= 1;
	fd = put_aside(copy, size, path);
	free(copy);
	assert(view_compare_open(&s->view, path) == 0);
	return fd;
}

void
ckpt_fuzz_viewer(const uint8_t *data, size_t size)
{
	struct sight s = { 0 };
	char script[SCRIPT], path[64], second[64];
	int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd, other = -1;

	/* Bookmarks go nowhere. */
	assert(unsetenv("HOME") == 0 && unsetenv("XDG_STATE_HOME") == 0);
	take_script(&data, &size, script);
	fd = put_aside(data, size, path);
	assert(home >= 0 && chdir("/proc/self") == 0);
	assert(view_doc_open(&s.doc, path, CKPT_FUZZ_MEMORY, -1) == 0);
	assert(view_init(&s.view, &s.doc, -1));
	if (strchr(script, 'c'))
		other = compare_with(&s, data, size, second);
	view_resize(&s.view, 24, 80);
	view_settle(&s.view);
	watch(&s, script);
	view_release(&s.view);
	view_doc_release(&s.doc);
	ckpt_buf_release(&s.text);
	assert(fchdir(home) == 0);
	close(home);
	close(fd);
	if (other >= 0)
		close(other);
}
