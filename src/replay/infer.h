/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_INFER_H
#define CKPT_REPLAY_INFER_H

/*
 * Generation (tokenizer and generation, section 4): the whole prefix is
 * computed again for every token, or, with a cache, each token once, which
 * gives the same bits. What is drawn continues the sampling stream of the
 * checkpoint.
 */

#include "replay/trainer.h"

enum ckpt_infer_stop {
	CKPT_INFER_EOS,     /* the EOS token came; it is the last one */
	CKPT_INFER_TOKENS,  /* as many as were asked for */
	CKPT_INFER_CONTEXT, /* the prefix fills the context */
};

struct ckpt_infer {
	/* Given. */
	const uint32_t *prompt;
	size_t prompt_n;
	uint64_t most; /* new tokens */
	bool has_eos;
	uint64_t eos;
	bool sample; /* else greedy */
	double temperature;
	uint64_t keep; /* of the best tokens, 1 to the vocabulary */
	/* Keep keys and values. Scores that the mask hides are not looked at
	 * then, and may be what they want. */
	bool cache;
	/* Of [prompt_n][vocabulary], to be filled in unless most is 0; or
	 * NULL. */
	double *prompt_logits;
	/* Found. */
	uint32_t *ids; /* owned: the prompt, then what was generated */
	size_t n;
	enum ckpt_infer_stop stop;
	uint64_t draws;
	uint64_t rng_before, rng_after; /* states */
	struct ckpt_refusal refusal;
};

/* "eos", "token-limit", "context". */
const char *ckpt_infer_stop_name(enum ckpt_infer_stop stop);

/* Generates. The trainer's state is not changed, its work space is.
 * CKPT_REJECTED: refusal says why nothing, or nothing more, is generated. */
CKPT_MUST_USE enum ckpt_status ckpt_infer_run(
	struct ckpt_infer *infer, struct ckpt_trainer *trainer);

void ckpt_infer_release(struct ckpt_infer *infer);

#endif
