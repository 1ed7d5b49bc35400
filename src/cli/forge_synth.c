/* SPDX-License-Identifier: MIT */
/*
 * ckforge synth: a valid checkpoint of any shape, tokenizer, groups and seed.
 * The options are the fields of the header, in their words; what no valid
 * file can have is a usage error that says why. Files that are not valid are
 * made from valid ones, by ckforge mutate.
 */
#include "cli/forge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ckpt.h"

#include "base/real.h"
#include "model/synth.h"

enum { VOCABULARY = 5 }; /* of a literal tokenizer, when it is not given */

static const char *const formats[] = { "llmcp35", "safetensors", NULL };
static const char *const tokenizers[] = { "literal", "byte-bpe", NULL };
static const char *const merge_shapes[] = { "chain", "doubling", NULL };
static const char *const group_words[] = { "none", "gains", NULL };

#define SLOT(member) .slot = offsetof(struct forge_synth_options, member)
#define NUMBER(n, m, a, l, d, h)                                               \
	{                                                                      \
		.name = n, .kind = CKPT_OPT_U64, .arg = a, .least = l,         \
		.preset = d, SLOT(m), .help = h                                \
	}
#define REAL(n, m, d, h)                                                       \
	{                                                                      \
		.name = n, .kind = CKPT_OPT_TEXT, .arg = "REAL", .preset = d,  \
		SLOT(m), .help = h                                             \
	}

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .letter = 'o', .name = "output", .kind = CKPT_OPT_TEXT,
		.arg = "FILE", SLOT(output),
		.help = "write to FILE, atomically, or to standard output if "
			"it is -; needed" },
	{ .name = "format", .kind = CKPT_OPT_CHOICE, .words = formats,
		.preset = "llmcp35", SLOT(format),
		.help = "what is written; safetensors holds the weights "
			"alone" },
	{ .kind = CKPT_OPT_HEADING, .help = "Tokenizer" },
	{ .name = "tokenizer", .kind = CKPT_OPT_CHOICE, .words = tokenizers,
		.preset = "literal", SLOT(tokenizer),
		.help = "what token ids stand for: pieces of bytes, or bytes "
			"and merges of them" },
	NUMBER("vocabulary", vocabulary, "N", 1, NULL,
		"number of literal pieces, 5 if it is not given; a byte-BPE "
		"vocabulary is 258 + merges"),
	NUMBER("token-bytes", token_bytes, "N", 1, NULL,
		"bytes of every literal piece; otherwise as few as keep them "
		"distinct, and up to 26 are a, b, and so on"),
	NUMBER("merges", merges, "N", 0, "0", "number of byte-BPE merges"),
	{ .name = "merge-shape", .kind = CKPT_OPT_CHOICE,
		.words = merge_shapes, .preset = "chain", SLOT(merge_shape),
		.help = "each merge adds one byte to the one before, or "
			"doubles it" },
	{ .kind = CKPT_OPT_HEADING, .help = "Decoder" },
	NUMBER("width", width, "N", 1, "8", "a multiple of twice the heads"),
	NUMBER("heads", heads, "N", 1, "2", "attention heads"),
	NUMBER("feed-forward-width", feed_forward_width, "N", 1, "16",
		"width of the gated layer"),
	NUMBER("layers", layers, "N", 0, "1", "blocks; there may be none"),
	NUMBER("positions", positions, "N", 1, "16",
		"the longest context, in tokens"),
	REAL("rope-base", rope_base, "10000",
		"base of the rotary angles; finite and above 0"),
	REAL("rms-epsilon", rms_epsilon, "1e-6", "finite and at least 0"),
	{ .kind = CKPT_OPT_HEADING, .help = "Optimizer" },
	REAL("learning-rate", learning_rate, "0.001", "finite and above 0"),
	REAL("beta1", beta1, "0.9", "at least 0 and below 1"),
	REAL("beta2", beta2, "0.999", "at least 0 and below 1"),
	REAL("epsilon", epsilon, "1e-8", "finite and above 0"),
	REAL("weight-decay", weight_decay, "0.01", "finite and at least 0"),
	{ .name = "groups", .kind = CKPT_OPT_CHOICE, .words = group_words,
		.preset = "none", SLOT(groups),
		.help = "parameter groups: none, or two in which the gains do "
			"not decay and all else does" },
	NUMBER("step", step, "N", 0, "0",
		"updates that the file claims; with 0 it has no moments"),
	{ .kind = CKPT_OPT_HEADING, .help = "Values" },
	NUMBER("seed", seed, "N", 0, "1",
		"of weights and moments; decimal, or hexadecimal after 0x"),
	NUMBER("rng-state", rng_state, "N", 0, "1",
		"state of the sampling random numbers"),
	{ 0 },
};
/* clang-format on */

static const char *const use[] = { "[options] -o FILE", NULL };

static const char *const about[] = {
	"Weights are the ones a training run starts from: one SplitMix64 "
	"stream from --seed, tensors in model order, each value even in "
	"[-limit, limit) with limit the square root of 6 / (rows + columns). "
	"Gains are 1. With --step above 0 there are moments, small and made "
	"from the same stream, and the powers of beta1 and beta2 are "
	"multiplied that often.",
	"Settings that no valid file can have are usage errors. REAL is a "
	"decimal or a hexadecimal number, as `1e-5` or `0x1p-3`.",
	NULL,
};

const struct ckpt_command forge_synth_command = {
	.name = "synth",
	.title = "make a valid checkpoint of any shape",
	.use = use,
	.about = about,
	.opts = opts,
};

/* ---- Options to settings ------------------------------------------------ */

static bool
read_reals(const struct forge_synth_options *o, struct ckpt_synth *s,
	struct ckpt_buf *why)
{
	const struct {
		const char *name, *text;
		double *out;
	} reals[] = {
		{ "rope-base", o->rope_base, &s->config.rope_base },
		{ "rms-epsilon", o->rms_epsilon, &s->config.rms_epsilon },
		{ "learning-rate", o->learning_rate, &s->adamw.learning_rate },
		{ "beta1", o->beta1, &s->adamw.beta1 },
		{ "beta2", o->beta2, &s->adamw.beta2 },
		{ "epsilon", o->epsilon, &s->adamw.epsilon },
		{ "weight-decay", o->weight_decay, &s->adamw.weight_decay },
	};

	for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
		if (ckpt_real_parse(reals[i].text, reals[i].out))
			continue;
		ckpt_buf_printf(why, "option '--%s': '", reals[i].name);
		ckpt_buf_escape(why, reals[i].text, strlen(reals[i].text), 120);
		ckpt_buf_puts(why, "' is not a finite real number");
		return false;
	}
	return true;
}

static bool
settings(const struct forge_synth_options *o, struct ckpt_synth *s,
	struct ckpt_buf *why)
{
	*s = (struct ckpt_synth){
		.config = {
			.vocabulary = o->vocabulary ? o->vocabulary
						    : VOCABULARY,
			.width = o->width,
			.heads = o->heads,
			.feed_forward_width = o->feed_forward_width,
			.layers = o->layers,
			.positions = o->positions,
		},
		.tokenizer = o->tokenizer ? CKPT_BYTE_BPE : CKPT_LITERAL,
		.token_bytes = o->token_bytes,
		.merges = o->merges,
		.merge_shape = o->merge_shape ? CKPT_MERGES_DOUBLING
					      : CKPT_MERGES_CHAIN,
		.step = o->step,
		.gain_groups = o->groups != 0,
		.seed = o->seed,
		.sampling_rng_state = o->rng_state,
	};
	return read_reals(o, s, why) && ckpt_synth_check(s, why);
}

/* ---- Making it ---------------------------------------------------------- */

static const struct ckpt_format *
format_of(const struct forge_synth_options *o)
{
	return ckpt_format_find(formats[o->format]);
}

int
forge_synth_bytes(const struct forge_synth_options *o, struct ckpt_buf *bytes,
	struct ckpt_buf *why)
{
	struct ckpt_arena arena;
	struct ckpt_synth synth;
	struct ckpt_state state;
	enum ckpt_status status;

	if (!settings(o, &synth, why))
		return CKPT_EXIT_USAGE;
	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	status = ckpt_synth_state(&arena, &synth, &state);
	if (status == CKPT_OK)
		status = ckpt_encode(bytes, format_of(o), &state, NULL);
	ckpt_arena_release(&arena);
	if (status == CKPT_OK)
		return CKPT_EXIT_OK;
	ckpt_buf_puts(why, "out of memory");
	return CKPT_EXIT_TROUBLE;
}

/* The checksum stands in front and is known last, so a file that cannot be
 * gone back in is made in memory. */
static int
to_stdout(struct ckpt_args *args, const struct ckpt_format *format,
	const struct ckpt_state *state)
{
	struct ckpt_value label;
	struct ckpt_buf bytes;
	bool written = false;

	ckpt_buf_init(&bytes);
	if (ckpt_encode(&bytes, format, state, &label) != CKPT_OK) {
		ckpt_buf_release(&bytes);
		return forge_failed(args, "out of memory");
	}
	written = fwrite(bytes.p, 1, bytes.n, stdout) == bytes.n &&
		  fflush(stdout) == 0;
	if (written)
		forge_made(&args->err, "-", format, bytes.n, &label);
	ckpt_buf_release(&bytes);
	if (!written)
		return forge_failed(args, strerror(errno));
	args->status = CKPT_EXIT_OK;
	return ckpt_args_report(args);
}

static bool
go_on(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	(void)done;
	(void)total;
	return !forge_interrupted();
}

static int
make(struct ckpt_args *args, const struct ckpt_synth *synth,
	const struct forge_synth_options *o)
{
	const char *output = o->output;
	struct ckpt_save save = { .path = output, .progress = go_on };
	const struct ckpt_format *format = format_of(o);
	struct ckpt_arena arena;
	struct ckpt_state state;
	enum ckpt_status status;
	int result;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	status = ckpt_synth_state(&arena, synth, &state);
	if (status != CKPT_OK)
		result = forge_failed(args, "out of memory");
	else if (strcmp(output, "-") == 0)
		result = to_stdout(args, format, &state);
	else
		result = forge_saved(
			args, &save, format, ckpt_save(&save, format, &state));
	ckpt_arena_release(&arena);
	return result;
}

/* ---- The command line --------------------------------------------------- */

/* Options of the one tokenizer say nothing about the other. */
static bool
applicable(struct ckpt_args *args, const struct forge_synth_options *o)
{
	static const struct {
		const char *name, *spelt;
	} words[] = {
		{ "vocabulary", "--vocabulary" },
		{ "token-bytes", "--token-bytes" },
		{ "merges", "--merges" },
		{ "merge-shape", "--merge-shape" },
	};

	for (int i = 0; i < 4; i++)
		if ((i < 2) == (o->tokenizer != 0) &&
			ckpt_args_find(args, words[i].name))
			return ckpt_args_fail(args, "option ", words[i].spelt,
				o->tokenizer ? " belongs to a literal tokenizer"
					     : " belongs to a byte-BPE "
					       "tokenizer");
	return true;
}

/* Nor do those of what a file of weights does not hold. */
static bool
held(struct ckpt_args *args, const struct forge_synth_options *o)
{
	static const char *const words[] = { "--tokenizer", "--token-bytes",
		"--merges", "--merge-shape", "--positions", "--rope-base",
		"--rms-epsilon", "--learning-rate", "--beta1", "--beta2",
		"--epsilon", "--weight-decay", "--groups", "--step",
		"--rng-state" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (o->format == 1 && ckpt_args_find(args, words[i] + 2))
			return ckpt_args_fail(args, "option ", words[i],
				" says nothing about a file of weights");
	return true;
}

static bool
writable(struct ckpt_args *args, const char *output)
{
	if (!output)
		return ckpt_args_fail(
			args, "option ", "--output", " is missing");
	if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
		return ckpt_args_fail(
			args, "standard output is a terminal", NULL, "");
	return true;
}

int
forge_synth(struct ckpt_args *args, const void *options)
{
	const struct forge_synth_options *o = options;
	struct ckpt_synth synth;
	struct ckpt_buf why;
	int result;

	if (!applicable(args, o) || !held(args, o) ||
		!writable(args, o->output))
		return ckpt_args_report(args);
	ckpt_buf_init(&why);
	if (settings(o, &synth, &why)) {
		result = make(args, &synth, o);
	} else {
		ckpt_args_fail(args, why.p ? why.p : "", NULL, "");
		result = ckpt_args_report(args);
	}
	ckpt_buf_release(&why);
	return result;
}
