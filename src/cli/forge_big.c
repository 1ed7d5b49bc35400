/* SPDX-License-Identifier: MIT */
/*
 * ckforge big: a valid checkpoint of exactly the size that was asked for, made
 * while it is written, in memory that does not grow with it.
 *
 * How the size is reached: a literal tokenizer of 26 pieces, one update, no
 * groups. The width is the largest power of two for which a model with a
 * feed-forward width of 1 takes no more than half of the size (a layer for
 * each 64 of width, heads of width 64); the feed-forward width then grows as
 * far as it fits, and the rest makes the last piece longer. Only the measure
 * of the format is asked, so this holds for any of them in which values take
 * the same room wherever they stand.
 */
#include "cli/forge.h"

#include <stdio.h>
#include <string.h>

#include "ckpt.h"

#include "base/checked.h"
#include "cli/progress.h"
#include "model/synth.h"

enum { PIECES = 26, HEAD_WIDTH = 64 };

/* Beyond a pebibyte the names alone would need more memory than we promise. */
#define MOST_SIZE ((uint64_t)1 << 50)

#define SLOT(member) .slot = offsetof(struct forge_big_options, member)

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .letter = 'o', .name = "output", .kind = CKPT_OPT_TEXT,
		.arg = "FILE", SLOT(output),
		.help = "write to FILE, atomically; needed. Standard output "
			"will not do, since the checksum stands at the front "
			"and is known last" },
	{ .name = "size", .kind = CKPT_OPT_SIZE, .arg = "SIZE",
		.least = 1, .most = MOST_SIZE, SLOT(size),
		.help = "length of the file in bytes, exactly; k, M and G "
			"are powers of 1024; needed" },
	{ .name = "seed", .kind = CKPT_OPT_U64, .arg = "N", .preset = "1",
		SLOT(seed), .help = "of weights and moments" },
	{ .name = "progress", .kind = CKPT_OPT_CHOICE,
		.words = ckpt_when_words, .preset = "auto", SLOT(progress),
		.help = "say on standard error how far the work has come; "
			"auto does so on a terminal" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = { "[options] --size=SIZE -o FILE", NULL };

static const char *const about[] = {
	"The file has exactly SIZE bytes, which cannot be fewer than about "
	"5 kB; the message says how many. It has 26 tokens, one update and no "
	"groups. The width is the largest power of two for which all but the "
	"feed-forward weights take no more than half of SIZE, with a layer "
	"for each 64 of width and heads of width 64; the feed-forward width "
	"is as large as fits, and what is left makes the last token longer.",
	"Values are made as those of `synth`, while they are written: memory "
	"does not grow with the file.",
	NULL,
};

const struct ckpt_command forge_big_command = {
	.name = "big",
	.title = "make a valid checkpoint of any size",
	.use = use,
	.about = about,
	.opts = opts,
};

/* ---- Choosing the shape ------------------------------------------------- */

static struct ckpt_synth
shape(uint64_t width, uint64_t feed_forward_width, uint64_t seed)
{
	uint64_t heads = width < HEAD_WIDTH ? 1 : width / HEAD_WIDTH;

	return (struct ckpt_synth){
		.config = { PIECES, width, heads, feed_forward_width, heads,
			1024, 10000.0, 1e-6, 0, 0 },
		.adamw = { 0.001, 0.9, 0.999, 1e-8, 0.01 },
		.tokenizer = CKPT_LITERAL,
		.step = 1,
		.seed = seed,
		.sampling_rng_state = seed + 1,
	};
}

/* The length of the file; UINT64_MAX if there can be no such file. */
static uint64_t
measure(const struct ckpt_synth *synth)
{
	struct ckpt_arena arena;
	struct ckpt_state state;
	struct ckpt_buf why;
	uint64_t bytes = UINT64_MAX;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	ckpt_buf_init(&why);
	if (!ckpt_synth_check(synth, &why) ||
		ckpt_synth_state(&arena, synth, &state) != CKPT_OK ||
		ckpt_format_at(0)->measure(&state, &bytes) != CKPT_OK)
		bytes = UINT64_MAX;
	ckpt_buf_release(&why);
	ckpt_arena_release(&arena);
	return bytes;
}

bool
forge_big_shape(
	uint64_t size, uint64_t seed, struct ckpt_synth *synth, uint64_t *least)
{
	uint64_t width = 2, one, each;

	*synth = shape(width, 1, seed);
	*least = measure(synth);
	if (size < *least)
		return false;
	for (;;) {
		struct ckpt_synth wider = shape(2 * width, 1, seed);

		if (measure(&wider) > size / 2)
			break;
		width *= 2;
	}
	*synth = shape(width, 1, seed);
	one = measure(synth);
	*synth = shape(width, 2, seed);
	each = measure(synth) - one;
	*synth = shape(width, 1 + (size - one) / each, seed);
	synth->last_token_bytes = 1 + (size - one) % each;
	return true;
}

/* ---- The command line --------------------------------------------------- */

static bool
show(void *ctx, uint64_t done, uint64_t total)
{
	ckpt_progress_update(ctx, done, total);
	return !forge_interrupted();
}

static int
make(struct ckpt_args *args, const struct forge_big_options *o,
	const struct ckpt_synth *synth)
{
	const struct ckpt_format *format = ckpt_format_at(0);
	struct ckpt_progress progress;
	struct ckpt_save save = {
		.path = o->output,
		.progress = show,
		.progress_ctx = &progress,
	};
	struct ckpt_arena arena;
	struct ckpt_state state;
	enum ckpt_status status;
	int result;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	if (ckpt_synth_state(&arena, synth, &state) != CKPT_OK) {
		ckpt_arena_release(&arena);
		return forge_failed(args, "out of memory");
	}
	ckpt_progress_init(&progress, o->progress, stderr);
	ckpt_progress_begin(&progress, o->output);
	status = ckpt_save(&save, format, &state);
	ckpt_progress_end(&progress);
	ckpt_progress_release(&progress);
	result = forge_saved(args, &save, format, status);
	ckpt_arena_release(&arena);
	return result;
}

int
forge_big(struct ckpt_args *args, const void *options)
{
	const struct forge_big_options *o = options;
	struct ckpt_synth synth;
	char text[80];
	uint64_t least;

	if (!o->output || !o->size)
		ckpt_args_fail(args, "option ",
			o->output ? "--size" : "--output", " is missing");
	else if (strcmp(o->output, "-") == 0)
		ckpt_args_fail(args,
			"the checksum stands at the front of the file and is "
			"known last, so standard output will not do; name a "
			"file",
			NULL, "");
	else if (forge_big_shape(o->size, o->seed, &synth, &least))
		return make(args, o, &synth);
	else {
		snprintf(text, sizeof text,
			"the smallest such file has %llu bytes",
			(unsigned long long)least);
		ckpt_args_fail(args, text, NULL, "");
	}
	return ckpt_args_report(args);
}
