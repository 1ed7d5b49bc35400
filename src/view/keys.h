/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_KEYS_H
#define CKPT_VIEW_KEYS_H

/*
 * Keys and actions. A key is a code point of Unicode (control characters
 * included) or one of the numbers below; view/keys.def binds them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum view_action {
	VIEW_DO_NOTHING,
#define VIEW_HEADING(title)
#define VIEW_ACTION(id, keys, help) VIEW_DO_##id,
#include "view/keys.def"
#undef VIEW_HEADING
#undef VIEW_ACTION
	VIEW_ACTIONS
};

enum view_key {
	VIEW_KEY_UP = 0x110000,
	VIEW_KEY_DOWN,
	VIEW_KEY_LEFT,
	VIEW_KEY_RIGHT,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_HOME,
	VIEW_KEY_END,
	VIEW_KEY_DELETE,
	VIEW_KEY_BACKSPACE,
	VIEW_KEY_BACKTAB,
	VIEW_KEY_F5,
};

#define VIEW_CTRL(letter) ((letter)&0x1f)
enum { VIEW_KEY_ENTER = '\r', VIEW_KEY_TAB = '\t', VIEW_KEY_ESCAPE = 0x1b };

/* One row of keys.def; a heading has no id. */
struct view_key_row {
	enum view_action action;
	const char *id;   /* "PAGE_UP"; NULL: help is a heading */
	const char *keys; /* as in keys.def */
	const char *help;
};

/* Rows by position, in the order of the file; NULL behind the last. */
const struct view_key_row *view_key_row(size_t i);

/* What a key does. */
enum view_action view_key_action(uint32_t key);

/* The next key of a script such as "jj<Enter>/embed<Enter>"; moves *script
 * behind it. "<Lt>" is '<'. 0 at the end, and for a name that there is not. */
uint32_t view_key_next(const char **script);

/* The keys of a row as people write them: "Up or k", "Ctrl-F". */
void view_keys_write(struct ckpt_buf *buf, const struct view_key_row *row);

/* The character of a key in UTF-8; its length, 0 if it is none. */
enum { VIEW_KEY_UTF8 = 4 };
size_t view_key_utf8(uint32_t key, char utf8[VIEW_KEY_UTF8]);

/* A key as people write it, one that there is not included. */
void view_key_write(struct ckpt_buf *buf, uint32_t key);

/* What may be typed where a key asks for a line ("0.5"), what signs on the
 * screen mean, and what the mouse does, for the same readers. A heading has no what. NULL behind the last. */
struct view_note_row {
	const char *what;
	const char *help;
};
const struct view_note_row *view_note_row(size_t i);

/* "ckinspect(1)": all rows as mdoc, a list a heading. */
void view_keys_man(struct ckpt_buf *buf);

#endif
