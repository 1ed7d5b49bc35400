/* SPDX-License-Identifier: MIT */
/*
 * Bookmarks: a letter and a byte. They are kept beside no checkpoint but in a
 * file of their own, below the folder for state of the XDG base directories,
 * named by a digest of the real path. What stands in that file is read again
 * before each use, so that two viewers of one checkpoint share it, and a file
 * that is not ours to understand is left alone until a new bookmark replaces
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/hash.h"
#include "io/publish.h"
#include "view/view.h"

enum { LETTERS = 52, SIDECAR_MOST = 64 * 1024 };

struct view_marks {
	bool set[LETTERS];
	bool ours[LETTERS]; /* set by this viewer: the file does not count */
	uint64_t off[LETTERS];
	struct ckpt_buf real; /* the checkpoint's path, escaped */
	struct ckpt_buf path; /* of the sidecar; empty: there is none */
	bool damaged;         /* it is there, but cannot be understood */
	uint64_t size;        /* that it was made for, if it was read */
	bool has_size;
};

/* -1 if it is none. */
static int
letter_index(uint32_t letter)
{
	if (letter >= 'a' && letter <= 'z')
		return (int)(letter - 'a');
	if (letter >= 'A' && letter <= 'Z')
		return (int)(letter - 'A' + 26);
	return -1;
}

static char
index_letter(int i)
{
	return (char)(i < 26 ? 'a' + i : 'A' + i - 26);
}

/* ---- The sidecar's place ------------------------------------------------ */

/* "/home/me/.local/state"; false if there is no such place. Relative paths
 * are to be ignored, says the standard. */
static bool
state_folder(struct ckpt_buf *buf)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && state[0] == '/')
		ckpt_buf_puts(buf, state);
	else if (home && home[0] == '/')
		ckpt_buf_printf(buf, "%s/.local/state", home);
	return buf->n > 0;
}

static bool
find_place(struct view_marks *marks, const char *checkpoint)
{
	char *real = realpath(checkpoint, NULL);
	const char *path = real ? real : checkpoint;
	uint64_t digest = ckpt_fnv1a64(CKPT_FNV1A64_START, path, strlen(path));

	ckpt_buf_escape(&marks->real, path, strlen(path), 0);
	if (state_folder(&marks->path))
		ckpt_buf_printf(&marks->path,
			"/ckpt/bookmarks/%016" PRIx64 ".json", digest);
	free(real);
	return !marks->real.failed && !marks->path.failed;
}

/* Makes the folders of path, for us alone. */
static bool
make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		bool made;

		*p = '\0';
		made = mkdir(path, 0700) == 0 || errno == EEXIST;
		*p = '/';
		if (!made)
			return false;
	}
	return true;
}

/* ---- Reading ------------------------------------------------------------ */

/* The file's bytes, or NULL with errno. Nothing but a small regular file is
 * read. */
static char *
read_sidecar(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *bytes = NULL;
	struct stat st;
	ssize_t got = -1;

	*n = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size <= SIDECAR_MOST)
		bytes = malloc(SIDECAR_MOST);
	while (bytes && *n < SIDECAR_MOST &&
		(got = read(fd, bytes + *n, SIDECAR_MOST - *n)) > 0)
		*n += (size_t)got;
	close(fd);
	if (bytes && got == 0)
		return bytes;
	free(bytes);
	errno = EINVAL;
	return NULL;
}

/* A decimal number in a string, as it is written. */
static bool
read_offset(const json_t *value, uint64_t *off)
{
	const char *text = json_string_value(value);
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*off = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

/* Takes over what the object holds, if all of it is as it should be. */
static bool
take(struct view_marks *marks, const json_t *object, uint64_t size)
{
	const char *path = json_string_value(json_object_get(object, "path"));
	json_t *list = json_object_get(object, "marks"), *value;
	const char *key;
	uint64_t off;

	if (!path || strcmp(path, marks->real.p) != 0 ||
		!read_offset(json_object_get(object, "size"), &marks->size) ||
		!json_is_object(list))
		return false;
	json_object_foreach(
		list, key, value) if (letter_index((unsigned char)key[0]) < 0 ||
				      key[1] != '\0' ||
				      !read_offset(value, &off)) return false;
	marks->has_size = true;
	json_object_foreach(list, key, value)
	{
		int i = letter_index((unsigned char)key[0]);

		if (marks->ours[i] || !read_offset(value, &off) || off >= size)
			continue;
		marks->set[i] = true;
		marks->off[i] = off;
	}
	return true;
}

static void
load(struct view_marks *marks, uint64_t size)
{
	char *bytes = NULL;
	json_t *object;
	size_t n;

	marks->damaged = marks->has_size = false;
	for (int i = 0; i < LETTERS; i++)
		marks->set[i] = marks->ours[i];
	if (marks->path.n == 0)
		return;
	bytes = read_sidecar(marks->path.p, &n);
	if (!bytes) {
		marks->damaged = errno != ENOENT && errno != ENOTDIR;
		return;
	}
	object = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL);
	free(bytes);
	marks->damaged = !object || !take(marks, object, size);
	json_decref(object);
}

/* What is known of the viewer's bookmarks, read again; NULL if out of
 * memory, which was said. */
static struct view_marks *
marks_of(struct view *view)
{
	struct view_marks *marks = view->marks;

	if (!marks) {
		marks = view->marks = calloc(1, sizeof *marks);
		if (marks && !find_place(marks, view->doc->path)) {
			view_bookmark_free(marks);
			marks = view->marks = NULL;
		}
	}
	if (marks)
		load(marks, view->doc->size);
	else
		view_say(view, VIEW_ERROR, "out of memory");
	return marks;
}

/* ---- Writing ------------------------------------------------------------ */

static char *
as_json(const struct view_marks *marks, uint64_t size)
{
	json_t *list = json_object(), *object;
	bool ok = list != NULL;
	char *text = NULL;

	for (int i = 0; ok && i < LETTERS; i++) {
		const char key[2] = { index_letter(i), '\0' };

		if (marks->set[i])
			ok = json_object_set_new(list, key,
				     json_sprintf("%" PRIu64, marks->off[i])) ==
			     0;
	}
	object = json_pack("{s:s, s:s, s:o, s:o}", "schema", "ckpt-bookmarks/1",
		"path", marks->real.p, "size", json_sprintf("%" PRIu64, size),
		"marks", list);
	if (object && ok)
		text = json_dumps(object, JSON_INDENT(2) | JSON_SORT_KEYS);
	json_decref(object);
	return text;
}

/* False with the reason in why. */
static bool
save(struct view_marks *marks, uint64_t size, const char **why)
{
	char *text = as_json(marks, size);
	struct ckpt_publish pub = { 0 };
	enum ckpt_status status = CKPT_ENOMEM;

	if (text && !make_folders(marks->path.p)) {
		*why = strerror(errno);
		free(text);
		return false;
	}
	if (text)
		status = ckpt_publish_begin(
			&pub, &ckpt_file_ops_posix, marks->path.p);
	if (status == CKPT_OK)
		status = ckpt_publish_write(&pub, text, strlen(text));
	if (status == CKPT_OK)
		status = ckpt_publish_write(&pub, "\n", 1);
	if (status == CKPT_OK)
		status = ckpt_publish_commit(&pub);
	free(text);
	*why = status == CKPT_ENOMEM ? "out of memory"
	       : pub.fault.reason    ? pub.fault.reason
				     : strerror(pub.fault.error);
	return status == CKPT_OK || status == CKPT_ENOTSYNCED;
}

/* ---- For the viewer ----------------------------------------------------- */

/* What has to be said of the sidecar beside anything else. */
static const char *
remark(const struct view_marks *marks, uint64_t size)
{
	if (marks->damaged)
		return "; the saved bookmarks are damaged and were ignored";
	if (marks->has_size && marks->size != size)
		return "; the saved bookmarks are of a file of another size";
	return "";
}

void
view_bookmark_set(struct view *view, uint32_t letter)
{
	int i = letter_index(letter);
	struct view_marks *marks;
	const char *why = "", *said;
	bool damaged;

	if (letter == VIEW_KEY_ESCAPE || letter == VIEW_CTRL('g'))
		return;
	if (i < 0) {
		view_say(view, VIEW_WARNING,
			"bookmarks are letters, a to z and A to Z");
		return;
	}
	marks = marks_of(view);
	if (!marks)
		return;
	damaged = marks->damaged;
	said = remark(marks, view->doc->size);
	marks->set[i] = marks->ours[i] = true;
	marks->off[i] = view->cursor;
	if (marks->path.n == 0)
		view_say(view, VIEW_WARNING,
			"bookmark %c, until the viewer ends: there is no HOME "
			"to keep it in",
			(char)letter);
	else if (!save(marks, view->doc->size, &why))
		view_say(view, VIEW_WARNING,
			"bookmark %c, until the viewer ends: it cannot be "
			"saved: %s",
			(char)letter, why);
	else
		view_say(view, damaged ? VIEW_WARNING : VIEW_BAR,
			"bookmark %c at %" PRIu64 "%s%s", (char)letter,
			view->cursor, said, damaged ? ", now replaced" : "");
}

void
view_bookmark_go(struct view *view, uint32_t letter)
{
	int i = letter_index(letter);
	struct view_marks *marks;
	const char *said;

	if (letter == VIEW_KEY_ESCAPE || letter == VIEW_CTRL('g'))
		return;
	if (letter == '\'') {
		view_jump(view, view->before);
		return;
	}
	if (i < 0) {
		view_say(view, VIEW_WARNING,
			"bookmarks are letters, a to z and A to Z");
		return;
	}
	marks = marks_of(view);
	if (!marks)
		return;
	said = remark(marks, view->doc->size);
	if (!marks->set[i]) {
		view_say(view, VIEW_WARNING, "there is no bookmark %c%s",
			(char)letter, said);
		return;
	}
	view_jump(view, marks->off[i]);
	if (said[0])
		view_say(view, VIEW_WARNING, "bookmark %c%s", (char)letter,
			said);
}

void
view_bookmark_free(struct view_marks *marks)
{
	if (!marks)
		return;
	ckpt_buf_release(&marks->real);
	ckpt_buf_release(&marks->path);
	free(marks);
}
