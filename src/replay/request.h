/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_REQUEST_H
#define CKPT_REPLAY_REQUEST_H

/*
 * What people ask of a replay, in words: ids and numbers as they are typed, a
 * file to begin with, and why it cannot be had.
 */

#include "replay/trainer.h"

/* The one update that is supplied. */
struct ckpt_supplied {
	struct ckpt_batch batch;
	double rate;
	uint32_t *inputs, *targets; /* owned; the batch points into them */
};

/* A batch from "0,1;2,3": rows between semicolons, all equally long. False:
 * *why says what is wrong with the text, static, up to a colon and a blank
 * behind which the text belongs. ids is owned by the caller in any case. */
CKPT_MUST_USE bool ckpt_ids_parse(const char *text, uint32_t **ids,
	size_t *batch, size_t *tokens, const char **why);

/* A real number: decimal, hexadecimal, also nan and inf, which are refused
 * later as values and not as words. */
CKPT_MUST_USE bool ckpt_replay_real_parse(const char *text, double *real);

/* From the words for inputs, targets and rate; what *why says is about
 * *text. Release it in any case. */
CKPT_MUST_USE bool ckpt_supplied_parse(const char *inputs, const char *targets,
	const char *rate, struct ckpt_supplied *supplied, const char **why,
	const char **text);
void ckpt_supplied_release(struct ckpt_supplied *supplied);

/* Reads a whole checkpoint of one kind. Any
 * status of ckpt_checkpoint_read(); CKPT_REJECTED also for another kind; *out
 * is NULL unless it is CKPT_OK, and refusal says what is wrong. */
CKPT_MUST_USE enum ckpt_status ckpt_archive_load(struct ckpt_source *source,
	const struct ckpt_options *options, enum ckpt_archive kind,
	struct ckpt_checkpoint **out, struct ckpt_refusal *refusal);

/* The same of one that is no archive. Any status of ckpt_checkpoint_read(); *out is
 * NULL unless it is CKPT_OK, and refusal says what is wrong with a file that
 * is invalid or unsupported. */
CKPT_MUST_USE enum ckpt_status ckpt_replay_load(struct ckpt_source *source,
	const struct ckpt_options *options, struct ckpt_checkpoint **out,
	struct ckpt_refusal *refusal);

/* Why nothing was done. */
struct ckpt_refused {
	const char *verdict; /* "invalid-input" */
	const char *kind;    /* the specification's word, or NULL */
	const char *why;     /* borrowed from the refusal */
};

/* Words for a status that is not CKPT_OK, right after it was had: trouble of
 * the system is read from errno. */
struct ckpt_refused ckpt_replay_refused(
	enum ckpt_status status, const struct ckpt_refusal *refusal);

#endif
