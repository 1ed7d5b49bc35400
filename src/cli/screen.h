/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_SCREEN_H
#define CKPT_CLI_SCREEN_H

/*
 * What the terminal may be sent: colours and characters beyond ASCII. The
 * meaning of a colour is always also in a word.
 */

#include <stdbool.h>

#include "cli/opt.h"

/* The value of --color and --progress. */
enum ckpt_when { CKPT_WHEN_AUTO, CKPT_WHEN_ALWAYS, CKPT_WHEN_NEVER };

/* "auto", "always", "never": the words of such a row. */
extern const char *const ckpt_when_words[];

/* The variables that ckpt_screen_init looks at, and that of base/simd.h, for
 * the manual pages. */
extern const struct ckpt_entry ckpt_screen_environment[];

/* What the rule of colours looks at; NULL for variables that are not set. */
struct ckpt_screen_facts {
	bool terminal;
	const char *no_color, *clicolor_force, *term;
};

/* The first that applies decides: always or never; NO_COLOR not empty: no;
 * CLICOLOR_FORCE neither empty nor "0": yes; TERM unset, empty or "dumb": no;
 * otherwise, whether it is a terminal. */
bool ckpt_screen_color(
	enum ckpt_when when, const struct ckpt_screen_facts *facts);

/* True if the locale's codeset, as nl_langinfo names it, is UTF-8. */
bool ckpt_screen_utf8(const char *codeset);

struct ckpt_screen {
	bool color;
	bool utf8; /* otherwise draw with ASCII */
};

/* Asks the environment, and whether fd is a terminal. Leaves the program's
 * locale as it is: it need not have been set. */
void ckpt_screen_init(struct ckpt_screen *screen, enum ckpt_when color, int fd);

#endif
