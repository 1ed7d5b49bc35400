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

static const struct view_note_row notes[] = {
	{ NULL, "After / (search)" },
	{ "embed", "names and roles of records and paths of fields with this "
		   "in them, in capitals or not" },
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
	{ "NAME[1,2] second:NAME[1,2]",
		"an element by the name of its tensor; NAME.offset: a field of "
		"its record" },
	{ "max min", "the greatest, the least element of the tensor under the "
		     "cursor" },
	{ "CK1006", "the first finding of a rule, by its id or name" },
	{ NULL, "While a line is asked for" },
	{ "Up Down", "lines that were entered before" },
	{ "Left Right",
		"keep the underlined text that is offered; any other key "
		"replaces it" },
	{ "Ctrl-A Ctrl-E", "to its beginning, to its end" },
	{ "Ctrl-U Ctrl-K Ctrl-W",
		"erase to the beginning, to the end, the word before" },
	{ "Esc Ctrl-G Ctrl-C",
		"ask no more; Backspace on an empty line does the same" },
	{ NULL, "Signs" },
	{ "h t p m o .",
		"before records, and in the second line of the screen, which "
		"is the whole file: header, tokenizer, parameters, moments, "
		"other tensors, bytes of nobody; m1 and m2 are the first and "
		"the second moment" },
	{ "0", "in that line: this part of the file looks all zero" },
	{ "!", "a finding is here, or in a row that is folded; findings (e) "
	       "says what it is" },
	{ "~", "before a row of bytes: the second file has other bytes here, "
	       "or none" },
	{ "--", "instead of a byte: the file does not give it" },
	{ ">", "the row that is selected" },
	{ NULL, "Mouse" },
	{ "click", "goes to a pane, a row, a byte, or in the second line of "
		   "the screen to that part of the file; two clicks open a "
		   "row as Enter does" },
	{ "wheel", "scrolls the pane that it is over" },
};

enum { NAMES = sizeof names / sizeof names[0] };

const struct view_key_row *
view_key_row(size_t i)
{
	return i < sizeof rows / sizeof rows[0] ? &rows[i] : NULL;
}

const struct view_note_row *
view_note_row(size_t i)
{
	return i < sizeof notes / sizeof notes[0] ? &notes[i] : NULL;
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

size_t
view_key_utf8(uint32_t key, char utf8[VIEW_KEY_UTF8])
{
	size_t n = 0;

	if (key < ' ' || key > 0x10ffff)
		return 0;
	if (key < 0x80) {
		utf8[n++] = (char)key;
	} else if (key < 0x800) {
		utf8[n++] = (char)(0xc0 | key >> 6);
	} else if (key < 0x10000) {
		utf8[n++] = (char)(0xe0 | key >> 12);
		utf8[n++] = (char)(0x80 | (key >> 6 & 0x3f));
	} else {
		utf8[n++] = (char)(0xf0 | key >> 18);
		utf8[n++] = (char)(0x80 | (key >> 12 & 0x3f));
		utf8[n++] = (char)(0x80 | (key >> 6 & 0x3f));
	}
	if (key >= 0x80)
		utf8[n++] = (char)(0x80 | (key & 0x3f));
	return n;
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
view_key_write(struct ckpt_buf *buf, uint32_t key)
{
	char utf8[VIEW_KEY_UTF8];
	size_t n = view_key_utf8(key, utf8);

	for (size_t i = 0; i < NAMES; i++)
		if (names[i].key == key) {
			ckpt_buf_puts(buf, names[i].shown);
			return;
		}
	if (key > 0 && key < ' ')
		ckpt_buf_printf(buf, "Ctrl-%c", (int)key + '@');
	else if (key == '\\')
		ckpt_buf_puts(buf, "\\");
	else if (n > 0)
		ckpt_buf_escape(buf, utf8, n, 0);
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
	const struct view_note_row *note;

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
	for (size_t i = 0; (note = view_note_row(i)) != NULL; i++) {
		if (note->what)
			man_item(buf, note->what, note->help);
		else
			man_heading(buf, note->help, false);
	}
	ckpt_buf_puts(buf, ".El\n");
}
