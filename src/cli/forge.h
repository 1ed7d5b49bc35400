/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_FORGE_H
#define CKPT_CLI_FORGE_H

/*
 * ckforge: what its subcommands share. A subcommand is a struct ckpt_command,
 * a struct for its options and a function that gets both and returns the exit
 * status, all in forge_NAME.c; declared here and named in a row of ckforge.c.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/opt.h"
#include "cli/screen.h"
#include "format/format.h"
#include "model/synth.h"
#include "sink/save.h"

/* The function of a subcommand. options is its own struct. */
typedef int forge_function(struct ckpt_args *args, const void *options);

struct forge_synth_options {
	uint64_t vocabulary, width, heads, feed_forward_width, layers;
	uint64_t positions;
	const char *rope_base, *rms_epsilon;
	const char *learning_rate, *beta1, *beta2, *epsilon, *weight_decay;
	int format, tokenizer, merge_shape, groups;
	uint64_t merges, token_bytes;
	uint64_t step, seed, rng_state;
	const char *output;
};

struct forge_big_options {
	uint64_t size, seed;
	enum ckpt_when progress;
	const char *output;
};

struct forge_mutate_options {
	bool relayout, fix_extents, fix_checksum;
	const char *output;
};

struct forge_fixture_options {
	const char *output;
};

struct forge_describe_options {
	int as;
};

/* Room for the options of whichever subcommand is called; all zero before
 * the presets of its rows are set. */
union forge_options {
	struct forge_synth_options synth;
	struct forge_big_options big;
	struct forge_mutate_options mutate;
	struct forge_fixture_options fixture;
	struct forge_describe_options describe;
};

extern const struct ckpt_command forge_synth_command;
forge_function forge_synth;

/* The bytes that forge_synth would write; options->output is not looked at.
 * For the recipes of the corpus. An exit status, with a message in why. */
int forge_synth_bytes(const struct forge_synth_options *options,
	struct ckpt_buf *bytes, struct ckpt_buf *why);

extern const struct ckpt_command forge_big_command;
forge_function forge_big;

/* Settings of a file of exactly size bytes, up to 2^50; false if the smallest
 * such file, of *least bytes, is larger. */
bool forge_big_shape(uint64_t size, uint64_t seed, struct ckpt_synth *synth,
	uint64_t *least);

extern const struct ckpt_command forge_mutate_command;
forge_function forge_mutate;

extern const struct ckpt_command forge_fixture_command;
forge_function forge_fixture;

/* The bytes of a fixture and what the format calls them by. An exit status,
 * with a message in why. */
int forge_fixture_bytes(const char *name, struct ckpt_buf *bytes,
	struct ckpt_value *label, struct ckpt_buf *why);

extern const struct ckpt_command forge_corpus_command;
forge_function forge_corpus;

extern const struct ckpt_command forge_describe_command;
forge_function forge_describe;

/* Answers SIGINT and SIGTERM by setting a flag; the work looks at it. */
void forge_catch_signals(void);
bool forge_interrupted(void);

/* "PATH: forged: no training lineage (llmcp35, 6330 bytes, fnv1a64:...)". */
void forge_made(struct ckpt_buf *out, const char *path,
	const struct ckpt_format *format, uint64_t size,
	const struct ckpt_value *label);

/* Says what came of a save; returns the status to exit with. */
int forge_saved(struct ckpt_args *args, const struct ckpt_save *save,
	const struct ckpt_format *format, enum ckpt_status status);

/* Reports trouble that is no usage error; returns the status to exit with. */
int forge_failed(struct ckpt_args *args, const char *what);

#endif
