/* SPDX-License-Identifier: MIT */
/*
 * The keymap, read from the rows of keys.def whenever a key is pressed: there
 * are few, and so nothing has to be built or kept in step.
 */
#include "view/keys.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"
#include "sink/mdoc.h"

static const struct view_key_row rows[] = {
#define VIEW_HEADING(title)         { VIEW_DO_NOTHING, NULL, "", title },
#define VIEW_ACTION(id, keys, help) { VIEW_DO_##id, #id, keys, help },
#include "view/keys.def"
#undef VIEW_HEADING
#undef VIEW_ACTION
};

static const struct {
	const char *name;
	uint32_t key;
	const char *shown;
} names[] = {
	{ "Up", VIEW_KEY_UP, "Up" },
	{ "Down", VIEW_KEY_DOWN, "Down" },
	{ "Left", VIEW_KEY_LEFT, "Left" },
	{ "Right", VIEW_KEY_RIGHT, "Right" },
	{ "PgUp", VIEW_KEY_PAGE_UP, "PgUp" },
	{ "PgDn", VIEW_KEY_PAGE_DOWN, "PgDn" },
	{ "Home", VIEW_KEY_HOME, "Home" },
	{ "End", VIEW_KEY_END, "End" },
	{ "Del", VIEW_KEY_DELETE, "Del" },
	{ "BS", VIEW_KEY_BACKSPACE, "Backspace" },
	{ "S-Tab", VIEW_KEY_BACKTAB, "Shift-Tab" },
	{ "F5", VIEW_KEY_F5, "F5" },
	{ "Enter", VIEW_KEY_ENTER, "Enter" },
	{ "Tab", VIEW_KEY_TAB, "Tab" },
	{ "Esc", VIEW_KEY_ESCAPE, "Esc" },
	{ "Space", ' ', "Space" },
	{ "Lt", '<', "<" },
};

static const struct view_typed_row typed[] = {
	{ NULL, "After / (search)" },
	{ "embed", "names of records and paths of fields with this in them, "
		   "in capitals or not" },
	{ "x 0a ?? f?", "bytes in hexadecimal; ? is any digit" },
	{ "f 0.5",
		"elements of float tensors with exactly this value, decimal or "
		"as 0x1p-1; 0 finds -0 too, nan any NaN; inf, -inf" },
	{ "t text", "the bytes of a text" },
	{ NULL, "After : (go to)" },
	{ "0xb36 2870", "an offset, hexadecimal or decimal" },
	{ "+16 -0x10", "that many bytes from here" },
	{ "50%", "a part of the way through the file" },
	{ "second:NAME", "a tensor: its name, a part of it, or its name behind "
			 "its role" },
	{ "records[3].data[1,2]",
		"an element, a record, or a field by its path" },
	{ "CK1006", "the first finding of a rule, by its id or name" },
	{ NULL, "While a line is asked for" },
	{ "Up Down", "lines that were entered before" },
	{ "Left Right",
		"keep the underlined text that is offered; any other key "
		"replaces it" },
	{ "Ctrl-A Ctrl-E", "to its beginning, to its end" },
	{ "Ctrl-U Ctrl-K Ctrl-W",
		"erase to the beginning, to the end, the word before" },
	{ "Esc Ctrl-G", "ask no more" },
};

enum { NAMES = sizeof names / sizeof names[0] };

const struct view_key_row *
view_key_row(size_t i)
{
	return i < sizeof rows / sizeof rows[0] ? &rows[i] : NULL;
}

const struct view_typed_row *
view_typed_row(size_t i)
{
	return i < sizeof typed / sizeof typed[0] ? &typed[i] : NULL;
}

/* The name between the brackets. */
static uint32_t
named(const char *name, size_t n)
{
	if (n == 3 && name[0] == 'C' && name[1] == '-')
		return VIEW_CTRL((uint32_t)name[2]);
	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i].name) == n &&
			memcmp(names[i].name, name, n) == 0)
			return names[i].key;
	return 0;
}

uint32_t
view_key_next(const char **script)
{
	const char *s = *script, *end = s[0] == '<' ? strchr(s, '>') : NULL;
	uint32_t point;
	size_t n;

	if (*s == '\0')
		return 0;
	if (end) {
		*script = end + 1;
		return named(s + 1, (size_t)(end - s - 1));
	}
	n = ckpt_utf8_decode((const uint8_t *)s, strlen(s), &point);
	*script = s + (n ? n : 1);
	return n ? point : '?';
}

enum view_action
view_key_action(uint32_t key)
{
	if (key == '\n')
		key = VIEW_KEY_ENTER;
	for (size_t i = 0; view_key_row(i); i++) {
		const char *s = rows[i].keys;
		uint32_t bound;

		while ((bound = view_key_next(&s)) != 0)
			if (bound != ' ' ? bound == key
					 : key == ' ' && s[-1] == '>')
				return rows[i].action;
	}
	return VIEW_DO_NOTHING;
}

static void
key_write(struct ckpt_buf *buf, uint32_t key, const char *as_written, size_t n)
{
	for (size_t i = 0; i < NAMES; i++)
		if (names[i].key == key && n > 1) {
			ckpt_buf_puts(buf, names[i].shown);
			return;
		}
	if (key < ' ')
		ckpt_buf_printf(buf, "Ctrl-%c", (int)key + '@');
	else
		ckpt_buf_add(buf, as_written, n);
}

void
view_keys_write(struct ckpt_buf *buf, const struct view_key_row *row)
{
	const char *s = row->keys;
	bool first = true;

	while (*s) {
		const char *start = s;
		uint32_t key = view_key_next(&s);

		if (s - start == 1 && key == ' ')
			continue;
		if (!first)
			ckpt_buf_puts(buf, " ");
		first = false;
		key_write(buf, key, start, (size_t)(s - start));
	}
}

/* ---- The manual page ---------------------------------------------------- */

/* A macro with words that stand apart by blanks. */
static void
man_macro(struct ckpt_buf *buf, const char *macro, const char *words)
{
	ckpt_buf_puts(buf, macro);
	for (words += strspn(words, " "); *words;) {
		size_t n = strcspn(words, " ");

		ckpt_mdoc_arg(buf, words, n);
		words += n + strspn(words + n, " ");
	}
	ckpt_buf_puts(buf, "\n");
}

/* The rows below a heading are a list. */
static void
man_heading(struct ckpt_buf *buf, const char *title, bool first)
{
	if (!first)
		ckpt_buf_puts(buf, ".El\n");
	man_macro(buf, ".Ss", title);
	ckpt_buf_puts(buf, ".Bl -tag -width Ds\n");
}

static void
man_item(struct ckpt_buf *buf, const char *what, const char *help)
{
	struct ckpt_buf text = { 0 };

	man_macro(buf, ".It Cm", what);
	ckpt_buf_printf(
		&text, "%c%s.", toupper((unsigned char)help[0]), help + 1);
	if (text.failed)
		buf->failed = true;
	else
		ckpt_mdoc_text(buf, text.p, NULL);
	ckpt_buf_release(&text);
}

void
view_keys_man(struct ckpt_buf *buf)
{
	const struct view_typed_row *typed_row;

	for (size_t i = 0; view_key_row(i); i++) {
		struct ckpt_buf keys = { 0 };

		if (!rows[i].id) {
			man_heading(buf, rows[i].help, i == 0);
			continue;
		}
		view_keys_write(&keys, &rows[i]);
		if (keys.p)
			man_item(buf, keys.p, rows[i].help);
		else
			buf->failed = true;
		ckpt_buf_release(&keys);
	}
	for (size_t i = 0; (typed_row = view_typed_row(i)) != NULL; i++) {
		if (typed_row->what)
			man_item(buf, typed_row->what, typed_row->help);
		else
			man_heading(buf, typed_row->help, false);
	}
	ckpt_buf_puts(buf, ".El\n");
}
