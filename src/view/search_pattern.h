/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_SEARCH_PATTERN_H
#define CKPT_VIEW_SEARCH_PATTERN_H

/*
 * What a search is for, and where in a block of bytes it is.
 */

#include <ckpt.h>

#include "base/buf.h"

enum view_pattern_kind {
	VIEW_SEARCH_NAME,
	VIEW_SEARCH_BYTES,
	VIEW_SEARCH_VALUE
};

enum { VIEW_PATTERN_MOST = 1024 };

struct view_pattern {
	enum view_pattern_kind kind;
	const char *name; /* NAME: a part of the text that was parsed */
	uint8_t bytes[VIEW_PATTERN_MOST], mask[VIEW_PATTERN_MOST];
	size_t n;
	size_t anchor; /* a byte without wildcards, if there is one */
	double value;
};

/* Reads "x 0a ?? ff", "t text", "f 0.5", all also behind a '/', or else a part
 * of a name. False if it is none, and why in words that can be printed. */
CKPT_MUST_USE bool view_pattern_parse(
	struct view_pattern *pattern, const char *text, struct ckpt_buf *why);

/* BYTES: the first or last place below starts in n bytes where the pattern
 * stands; it may reach up to the end of the bytes. False if there is none. */
bool view_pattern_find(const struct view_pattern *pattern, const uint8_t *bytes,
	size_t n, size_t starts, bool last, size_t *at);

/* VALUE: whether the value of an element is the one that is looked for. */
bool view_pattern_equals(const struct view_pattern *pattern, double value);

#endif
