/* SPDX-License-Identifier: MIT */
/*
 * Colour and character set of the output. The rules are pure functions of
 * facts, so that their precedence can be tested as a table; ckpt_screen_init
 * alone gathers the facts. See https://no-color.org and
 * https://bixense.com/clicolors for the two variables.
 */
#include "cli/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *const ckpt_when_words[] = { "auto", "always", "never", NULL };

const struct ckpt_entry ckpt_screen_environment[] = {
	{ "NO_COLOR", "Not empty: no colours, unless --color=always." },
	{ "CLICOLOR_FORCE",
		"Neither empty nor 0: colours also where standard output is "
		"not a terminal, unless NO_COLOR or --color=never." },
	{ "TERM", "Unset, empty or `dumb`: no colours, unless CLICOLOR_FORCE "
		  "or --color=always." },
	{ "LC_ALL",
		"This, else LC_CTYPE, else LANG: lines are drawn with ASCII "
		"characters unless this locale has UTF-8." },
	{ "CKPT_SIMD",
		"The vector instructions to use at most: off, portable, sse2, "
		"avx2, avx512, or auto, as if unset. It changes the speed, not "
		"the results." },
	{ 0 },
};

static bool
empty(const char *value)
{
	return !value || !value[0];
}

bool
ckpt_screen_color(enum ckpt_when when, const struct ckpt_screen_facts *facts)
{
	switch (when) {
	case CKPT_WHEN_ALWAYS: return true;
	case CKPT_WHEN_NEVER: return false;
	case CKPT_WHEN_AUTO: break;
	}
	if (!empty(facts->no_color))
		return false;
	if (!empty(facts->clicolor_force) &&
		strcmp(facts->clicolor_force, "0") != 0)
		return true;
	if (empty(facts->term) || strcmp(facts->term, "dumb") == 0)
		return false;
	return facts->terminal;
}

bool
ckpt_screen_utf8(const char *codeset)
{
	return codeset && (strcasecmp(codeset, "UTF-8") == 0 ||
				  strcasecmp(codeset, "UTF8") == 0);
}

void
ckpt_screen_init(struct ckpt_screen *screen, enum ckpt_when color, int fd)
{
	struct ckpt_screen_facts facts = {
		.terminal = isatty(fd) == 1,
		.no_color = getenv("NO_COLOR"),
		.clicolor_force = getenv("CLICOLOR_FORCE"),
		.term = getenv("TERM"),
	};
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

	screen->color = ckpt_screen_color(color, &facts);
	screen->utf8 = false;
	if (locale == (locale_t)0)
		return;
	screen->utf8 = ckpt_screen_utf8(nl_langinfo_l(CODESET, locale));
	freelocale(locale);
}
