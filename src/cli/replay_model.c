/* SPDX-License-Identifier: MIT */
/*
 * ckreplay infer --model: what a portable model says to a prompt, from the
 * archive alone. Greedy, with keys and values kept; the text ends at EOS, at
 * the number of tokens that was asked for, or where the context is full.
 */
#include "cli/replay_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "cli/replay_model.h"
#include "model/identity.h"
#include "model/tokenizer.h"
#include "replay/infer.h"
#include "sink/json.h"

/* Bytes that generated tokens may stand for; merges can double with each
 * rank. */
enum { DECODED_MOST = 1 << 20 };

static void
hash_doubles(const double *x, size_t n, char out[CKPT_SHA256_TEXT])
{
	struct ckpt_sha256 hash;

	ckpt_sha256_begin(&hash);
	for (size_t i = 0; i < n; i++)
		ckpt_sha256_u64(&hash, ckpt_f64_bits(x[i]));
	(void)ckpt_sha256_end(&hash, out);
}

/* ---- what was generated, as text ---------------------------------------- */

static json_t *
bytes_json(const struct ckpt_buf *bytes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < bytes->n; i++)
		json_array_append_new(
			list, json_integer((unsigned char)bytes->p[i]));
	return list;
}

/* Why tokens have no bytes, or NULL. */
static const char *
decode_error(enum ckpt_decoding done, const struct ckpt_decode_fault *fault,
	char *room, size_t n)
{
	switch (done) {
	case CKPT_DECODED: return NULL;
	case CKPT_DECODED_PART: return "more than 1 MiB of bytes";
	case CKPT_DECODE_NO_MEMORY: return "out of memory";
	case CKPT_DECODE_TOO_FEW:
	case CKPT_DECODE_NO_BOS:
	case CKPT_DECODE_NO_EOS:
	case CKPT_DECODE_CONTROL:
	case CKPT_DECODE_UNKNOWN: break;
	}
	snprintf(room, n, "%s token %" PRIu32 " at position %zu",
		done == CKPT_DECODE_CONTROL ? "control" : "unknown", fault->id,
		fault->position);
	return room;
}

/* EOS ends the content and is none of it. */
static void
add_text(json_t *o, const struct ckpt_tokenizer *t, const uint32_t *ids,
	size_t n)
{
	struct ckpt_decode_fault fault = { 0 };
	struct ckpt_buf bytes = { 0 };
	enum ckpt_decoding done;
	const char *error;
	char room[96];
	bool utf8;

	if (n > 0 && ids[n - 1] == CKPT_TOKEN_EOS)
		n--;
	done = ckpt_decode_content(t, ids, n, DECODED_MOST, &bytes, &fault);
	error = decode_error(done, &fault, room, sizeof room);
	utf8 = !error && ckpt_utf8_valid(bytes.p, bytes.n, NULL);
	json_object_set_new(
		o, "generated_bytes", error ? json_null() : bytes_json(&bytes));
	json_object_set_new(o, "text",
		utf8 ? json_stringn(bytes.n ? bytes.p : "", bytes.n)
		     : json_null());
	json_object_set_new(
		o, "decode_error", error ? json_string(error) : json_null());
	ckpt_buf_release(&bytes);
}

/* ---- the run ------------------------------------------------------------ */

static enum ckpt_status
encode(const struct replay_inference *i, struct ckpt_infer *f, uint32_t **ids)
{
	size_t n = strlen(i->prompt);

	*ids = calloc(n + 2, sizeof **ids);
	if (!*ids)
		return CKPT_ENOMEM;
	f->prompt = *ids;
	f->prompt_n = ckpt_bpe_encode_document(&i->state->tokenizer,
			      (const uint8_t *)i->prompt, n, *ids) -
		      1;
	return CKPT_OK;
}

static json_t *
result_json(const struct replay_inference *i, const struct ckpt_infer *f,
	const struct ckpt_trainer *t)
{
	const struct ckpt_state *state = i->state;
	char model[CKPT_SHA256_TEXT], logits[CKPT_SHA256_TEXT];
	json_t *o;

	if (!ckpt_model_identity(state, model))
		return NULL;
	hash_doubles(f->prompt_logits, f->prompt_n * t->dims.vocab, logits);
	o = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "model_id", model,
		"device", "cpu", "precision", "f64", "prompt",
		replay_raw_json(i->prompt, strlen(i->prompt)), "prompt_ids",
		replay_ids_json(f->ids, f->prompt_n), "generated_ids",
		replay_ids_json(f->ids + f->prompt_n, f->n - f->prompt_n));
	if (!o)
		return NULL;
	add_text(
		o, &state->tokenizer, f->ids + f->prompt_n, f->n - f->prompt_n);
	json_object_set_new(o, "logit_bits_sha256", json_string(logits));
	json_object_set_new(o, "named_parameter_tensors",
		json_integer((json_int_t)state->nparameters));
	json_object_set_new(o, "parameter_scalars", ckpt_json_u64(t->scalars));
	/* The head is the embedding itself, not a copy of it. */
	json_object_set_new(o, "tied_alias", json_true());
	return o;
}

static enum ckpt_status
generate(const struct replay_inference *i, struct ckpt_infer *f,
	struct ckpt_trainer *t, json_t **result)
{
	uint64_t cells;
	size_t bytes;
	enum ckpt_status s;

	/* A prompt that does not fit is refused before its logits matter. */
	if (f->prompt_n <= i->state->config.positions) {
		if (!ckpt_mul_u64(f->prompt_n, t->dims.vocab, &cells) ||
			!ckpt_mul_u64(cells, sizeof(double), &cells) ||
			!ckpt_to_size(cells, &bytes))
			return CKPT_ELIMIT;
		f->prompt_logits = malloc(bytes);
		if (!f->prompt_logits)
			return CKPT_ENOMEM;
	}
	f->most = i->tokens;
	f->has_eos = true;
	f->eos = CKPT_TOKEN_EOS;
	f->cache = true;
	t->dims.only_seen = true;
	s = ckpt_infer_run(f, t);
	if (s != CKPT_OK)
		return s;
	*result = result_json(i, f, t);
	return *result ? CKPT_OK : CKPT_ENOMEM;
}

enum ckpt_status
replay_inference_run(const struct replay_inference *i, json_t **result,
	struct ckpt_refusal *refusal)
{
	struct ckpt_trainer *t = ckpt_trainer_start(i->state);
	struct ckpt_infer f = { 0 };
	uint32_t *ids = NULL;
	enum ckpt_status s = CKPT_ENOMEM;

	*result = NULL;
	if (t)
		s = encode(i, &f, &ids);
	if (s == CKPT_OK)
		s = generate(i, &f, t, result);
	if (f.refusal.text.p) {
		refusal->kind = f.refusal.kind;
		ckpt_buf_clear(&refusal->text);
		ckpt_buf_puts(&refusal->text, f.refusal.text.p);
	}
	free(f.prompt_logits);
	ckpt_infer_release(&f);
	ckpt_trainer_free(t);
	free(ids);
	return s;
}

/* ---- the command -------------------------------------------------------- */

static bool
usage(struct ckpt_args *args, const struct replay_infer_options *o)
{
	static const char *const others[] = { "ids", "temperature", "top-k",
		"eos" };

	if (args->operand_count > 0)
		return ckpt_args_fail(
			args, "give one of FILE and --model", NULL, "");
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (ckpt_args_find(args, others[i]))
			return ckpt_args_fail(args,
				"with --model there is no option ", others[i],
				": it is greedy, from a prompt");
	return !o->prompt ||
	       ckpt_utf8_valid(o->prompt, strlen(o->prompt), NULL) ||
	       ckpt_args_fail(args, "the prompt is not UTF-8: ", o->prompt, "");
}

static bool
tokens_fit(struct ckpt_args *args, uint64_t tokens, uint64_t positions)
{
	char text[32], after[96];

	if (tokens >= 1 && tokens < positions)
		return true;
	snprintf(text, sizeof text, "%" PRIu64, tokens);
	snprintf(after, sizeof after,
		"; the model's %" PRIu64 " positions allow 1 to %" PRIu64,
		positions, positions - 1);
	return ckpt_args_fail(args, "--tokens is ", text, after);
}

int
replay_infer_model(struct ckpt_args *args, const struct replay_infer_options *o)
{
	struct replay_inference i = { .prompt = o->prompt ? o->prompt : "ab",
		.tokens = ckpt_args_find(args, "tokens") ? o->tokens : 3 };
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_checkpoint *c;
	enum ckpt_status s;
	json_t *result;
	int status;

	if (!usage(args, o))
		return ckpt_args_report(args);
	c = replay_archive_load(args, o->model, CKPT_ARCHIVE_TEXT,
		o->max_memory, o->format, &status);
	if (!c)
		return status;
	i.state = &c->state;
	if (!tokens_fit(args, i.tokens, c->state.config.positions)) {
		status = ckpt_args_report(args);
	} else {
		s = replay_inference_run(&i, &result, &refusal);
		status = s == CKPT_OK ? replay_emit(o->format, result, "valid",
						CKPT_EXIT_OK, NULL)
				      : replay_refused(args, o->model,
						o->format, s, &refusal);
	}
	ckpt_buf_release(&refusal.text);
	ckpt_checkpoint_free(c);
	return status;
}
