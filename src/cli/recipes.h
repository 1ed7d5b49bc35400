/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_RECIPES_H
#define CKPT_CLI_RECIPES_H

/*
 * recipes.tsv: one line a file of the corpus, its columns separated by tabs.
 *
 *	path    below the corpus folder
 *	text    one sentence
 *	base    the path of another recipe, `synth` and its options, `fixture`
 *	        and its name, `safetensors` with the header's text and the
 *	        data in hexadecimal (HEX*COUNT,...), or `-` for an empty file
 *	edits   options of `ckforge mutate`, or `-`
 *	expect  `valid`, `valid+` and the id of a warning or note, or the id of
 *	        the primary finding
 *	at      the path of that finding, or `-` if it has none
 *
 * Lines that begin with # and empty lines are passed over. Words of base and
 * edits are separated by blanks; a blank in a value is written \x20.
 */

#include <stddef.h>

#include "base/buf.h"

struct forge_recipe {
	const char *path, *text, *base, *edits, *expect, *at;
};

struct forge_recipes {
	char *words;               /* owned; what the recipes point into */
	struct forge_recipe *list; /* owned */
	size_t n;
};

/* An exit status, with a message in why. Release in any case. */
int forge_recipes_read(
	struct forge_recipes *recipes, const char *path, struct ckpt_buf *why);
void forge_recipes_release(struct forge_recipes *recipes);

/* The bytes of one file. An exit status, with a message in why. */
int forge_recipe_make(const struct forge_recipes *recipes,
	const struct forge_recipe *recipe, struct ckpt_buf *bytes,
	struct ckpt_buf *why);

/* The base `safetensors HEADER DATA`. */
int forge_recipe_safetensors(
	const char *words, struct ckpt_buf *bytes, struct ckpt_buf *why);

#endif
