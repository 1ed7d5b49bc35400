/* SPDX-License-Identifier: MIT */
/*
 * Results of jobs, printed. The object is made once; the text is a rendering
 * of it, so the two formats cannot say different things. In JSON every
 * character beyond ASCII is escaped, which is how text reads back as it was
 * and yet no terminal is moved by it.
 */
#include "cli/replay_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { COLUMNS = 78 };

/* ---- text --------------------------------------------------------------- */

/* "loss_scale" is "loss scale". */
static void
add_key(struct ckpt_buf *out, const char *key)
{
	for (; *key; key++)
		ckpt_buf_add(out, *key == '_' ? " " : key, 1);
}

/* {"value": x, "bits": b} is one number. */
static bool
is_real(const json_t *v)
{
	return json_is_object(v) && json_object_size(v) == 2 &&
	       json_object_get(v, "value") && json_object_get(v, "bits");
}

static bool
is_plain(const json_t *v)
{
	return !json_is_object(v) && !json_is_array(v);
}

/* With as few digits as read back to the same bits. */
static void
add_double(struct ckpt_buf *out, double x)
{
	char text[40];
	int digits = 15;

	do
		snprintf(text, sizeof text, "%.*g", digits++, x);
	while (digits <= 17 && strtod(text, NULL) != x);
	ckpt_buf_puts(out, text);
}

static void
add_plain(struct ckpt_buf *out, const json_t *v)
{
	char *text;

	if (json_is_real(v)) {
		add_double(out, json_real_value(v));
		return;
	}

	if (json_is_string(v)) {
		ckpt_buf_escape(
			out, json_string_value(v), json_string_length(v), 0);
		return;
	}
	if (json_is_null(v)) {
		ckpt_buf_puts(out, "none");
		return;
	}
	text = json_dumps(v, JSON_ENCODE_ANY);
	ckpt_buf_puts(out, text ? text : "");
	out->failed = out->failed || !text;
	free(text);
}

static void
add_short(struct ckpt_buf *out, const json_t *v)
{
	size_t i;
	const json_t *item;

	if (is_real(v)) {
		add_plain(out, json_object_get(v, "value"));
		ckpt_buf_puts(out, " (");
		add_plain(out, json_object_get(v, "bits"));
		ckpt_buf_puts(out, ")");
		return;
	}
	if (!json_is_array(v)) {
		add_plain(out, v);
		return;
	}
	ckpt_buf_puts(out, "[");
	json_array_foreach((json_t *)(uintptr_t)v, i, item)
	{
		ckpt_buf_puts(out, i ? ", " : "");
		add_short(out, item);
	}
	ckpt_buf_puts(out, "]");
}

/* Fits behind its key: all but objects and lists of objects. */
static bool
is_short(const json_t *v)
{
	const json_t *first = json_array_get(v, 0);

	return is_plain(v) || is_real(v) ||
	       (json_is_array(v) &&
		       (!first || is_plain(first) || is_real(first)));
}

/* Members in a paragraph: "key value, key value". */
static void
add_paragraph(struct ckpt_buf *out, const json_t *object, int indent)
{
	struct ckpt_buf word = { 0 };
	size_t column = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		ckpt_buf_clear(&word);
		add_key(&word, key);
		ckpt_buf_puts(&word, " ");
		add_short(&word, value);
		if (column && column + word.n + 2 > COLUMNS) {
			ckpt_buf_printf(out, ",\n%*s", indent + 2, "");
			column = (size_t)indent + 2;
		} else if (column) {
			ckpt_buf_puts(out, ", ");
			column += 2;
		} else {
			ckpt_buf_printf(out, "%*s", indent, "");
			column = (size_t)indent;
		}
		ckpt_buf_add(out, word.p, word.n);
		column += word.n;
	}
	ckpt_buf_puts(out, "\n");
	out->failed = out->failed || word.failed;
	ckpt_buf_release(&word);
}

static void render(struct ckpt_buf *out, const json_t *object, int depth);

static void
add_member(struct ckpt_buf *out, const char *key, const json_t *v, int depth)
{
	size_t i;
	const json_t *item;

	ckpt_buf_printf(out, "%*s", 2 * depth, "");
	add_key(out, key);
	if (is_short(v)) {
		ckpt_buf_puts(out, " ");
		add_short(out, v);
		ckpt_buf_puts(out, "\n");
		return;
	}
	ckpt_buf_puts(out, "\n");
	if (json_is_object(v)) {
		render(out, v, depth + 1);
		return;
	}
	json_array_foreach((json_t *)(uintptr_t)v, i, item)
		add_paragraph(out, item, 2 * depth + 2);
}

/* Our own objects, three deep. */
static void
render(struct ckpt_buf *out, const json_t *object, int depth)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
		add_member(out, key, value, depth);
}

void
replay_render(struct ckpt_buf *out, const json_t *object)
{
	render(out, object, 0);
}

/* ---- JSON --------------------------------------------------------------- */

/* DEL is the one control that JSON leaves alone. */
static int
append(const char *text, size_t n, void *out)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\x7f')
			ckpt_buf_puts(out, "\\u007f");
		else
			ckpt_buf_add(out, &text[i], 1);
	return 0;
}

json_t *
replay_raw_json(const void *bytes, size_t n)
{
	struct ckpt_buf buf = { 0 };
	json_t *text;

	if (ckpt_utf8_valid(bytes, n, NULL))
		return json_stringn(n ? bytes : "", n);
	ckpt_buf_escape(&buf, bytes, n, 0);
	text = buf.failed ? NULL : json_stringn(buf.p, buf.n);
	ckpt_buf_release(&buf);
	return text;
}

int
replay_emit(int format, json_t *object, const char *verdict, int status,
	const char *notes)
{
	struct ckpt_buf out = { 0 };
	json_t *whole = json_pack("{s:s, s:s, s:i}", "schema", "ckreplay/1",
		"verdict", verdict, "exit_code", status);

	out.failed = !object || !whole || json_object_update(whole, object);
	if (!out.failed && format == REPLAY_JSON) {
		json_dump_callback(
			whole, append, &out, JSON_COMPACT | JSON_ENSURE_ASCII);
		ckpt_buf_puts(&out, "\n");
	} else if (!out.failed) {
		ckpt_buf_printf(&out, "%s\n", verdict);
		replay_render(&out, object);
		ckpt_buf_puts(&out, notes ? notes : "");
	}
	json_decref(whole);
	json_decref(object);
	return replay_print(&out, status);
}
