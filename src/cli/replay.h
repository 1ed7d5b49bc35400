/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_H
#define CKPT_CLI_REPLAY_H

/*
 * ckreplay: what its subcommands share. A subcommand is a struct ckpt_command,
 * a struct for its options and a function that gets both and returns the exit
 * status, all in replay_NAME.c; declared here and named in a row of
 * ckreplay.c.
 */

#include <ckpt.h>
#include <jansson.h>

#include "cli/opt.h"
#include "num/decoder.h"
#include "replay/step.h"

typedef int replay_function(struct ckpt_args *args, const void *options);

enum replay_format { REPLAY_TEXT, REPLAY_JSON };

struct replay_step_options {
	int format;
	const char *inputs, *targets, *rate, *output;
	const char *expect, *expect_arithmetic;
	bool self_check;
	uint64_t max_memory, jobs;
};

struct replay_evidence_options {
	int format;
	const char *inputs, *targets, *rate;
	uint64_t max_memory;
};

struct replay_infer_options {
	int format;
	const char *model, *ids, *prompt, *temperature;
	uint64_t tokens, top_k, eos;
	uint64_t max_memory;
};

struct replay_env_options {
	int format;
};

union replay_options {
	struct replay_infer_options infer;
	struct replay_env_options env;
	struct replay_evidence_options evidence;
	struct replay_step_options step;
};

extern const struct ckpt_command replay_step_command;
extern const struct ckpt_command replay_infer_command;
extern const struct ckpt_command replay_env_command;
replay_function replay_step;
replay_function replay_infer;
replay_function replay_env;

extern const struct ckpt_command replay_evidence_command;
replay_function replay_evidence;

/* A batch from "0,1;2,3": rows between semicolons, all equally long. False is
 * a usage error that has been said to args. ids is owned by the caller. */
bool replay_parse_ids(struct ckpt_args *args, const char *option,
	const char *text, uint32_t **ids, size_t *batch, size_t *tokens);

/* A real number: decimal, hexadecimal, also nan and inf, which are refused
 * later as values and not as words. what begins the message: "not a learning
 * rate: ". */
bool replay_parse_real(struct ckpt_args *args, const char *what,
	const char *text, double *real);

/* What arithmetic the result was made with. */
json_t *replay_arithmetic_json(void);
void replay_arithmetic_text(struct ckpt_buf *out);

/* Prints and releases out; status, or that of trouble. */
int replay_print(struct ckpt_buf *out, int status);

/* Opens and loads FILE. On failure *status is the exit status, and why was
 * said on standard error, or as JSON. */
struct ckpt_checkpoint *replay_load(struct ckpt_args *args, const char *path,
	uint64_t max_memory, int format, int *status);

/* A refusal in either format; returns the exit status. Commands that write
 * files say that they wrote none. */
int replay_refused(const struct ckpt_args *args, const char *path, int format,
	enum ckpt_status status, const struct ckpt_refusal *refusal);

#endif
