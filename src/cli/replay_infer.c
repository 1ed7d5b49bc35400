/* SPDX-License-Identifier: MIT */
/*
 * ckreplay infer: what the model says next. A checkpoint stores no prompt, no
 * temperature and no choice of EOS, only the state of the sampling stream; the
 * rest comes from the command line.
 *
 * A prompt as text is encoded as a document without the EOS at its end: BOS,
 * then the content.
 */
#include "cli/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/replay_model.h"
#include "model/tokenizer.h"
#include "replay/infer.h"
#include "sink/json.h"

#define SLOT(member) .slot = offsetof(struct replay_infer_options, member)

/* Bytes of generated text that are shown; merges can stand for any number. */
enum { TEXT_MOST = 65536, TOKENS = 16 };

static const char *const formats[] = { "text", "json", NULL };

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .name = "model", .kind = CKPT_OPT_TEXT, .arg = "MODEL",
		SLOT(model),
		.help = "a portable model in place of FILE: greedy, from a "
			"prompt, up to EOS" },
	{ .name = "ids", .kind = CKPT_OPT_TEXT, .arg = "IDS", SLOT(ids),
		.help = "the prompt as token ids with commas" },
	{ .name = "prompt", .kind = CKPT_OPT_TEXT, .arg = "TEXT",
		SLOT(prompt),
		.help = "the prompt as text, for a byte-BPE tokenizer; it is "
			"encoded as a document without EOS; `ab` with --model "
			"if it is not given" },
	{ .name = "tokens", .kind = CKPT_OPT_U64, .arg = "N", SLOT(tokens),
		.help = "generate at most N tokens; 16, or 3 with --model, if "
			"it is not given" },
	{ .name = "temperature", .kind = CKPT_OPT_TEXT, .arg = "REAL",
		SLOT(temperature),
		.help = "draw from the stored sampling stream at this "
			"temperature; without it, the best token is taken and "
			"nothing is drawn" },
	{ .name = "top-k", .kind = CKPT_OPT_U64, .arg = "K", SLOT(top_k),
		.help = "draw among the K best tokens; all of them if it is "
			"not given" },
	{ .name = "eos", .kind = CKPT_OPT_U64, .arg = "ID", SLOT(eos),
		.help = "stop behind this token; 1 for a byte-BPE tokenizer, "
			"none for a literal one if it is not given" },
	{ .name = "format", .kind = CKPT_OPT_CHOICE, .words = formats,
		.preset = "text", SLOT(format),
		.help = "how to print the result" },
	{ .name = "max-memory", .kind = CKPT_OPT_SIZE, .arg = "SIZE",
		.preset = "64G", SLOT(max_memory),
		.help = "memory for the checkpoint's contents" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = {
	"[options] --model=MODEL",
	"[options] --ids=IDS FILE",
	"[options] --prompt=TEXT FILE",
	NULL,
};

static const char *const about[] = {
	"lets the model of a checkpoint continue a prompt and prints the "
	"token ids, the text, why it stopped, and the state of the sampling "
	"stream afterwards.",
	"The whole prefix is computed for each token. The checkpoint is not "
	"changed.",
	"With --model, a portable model answers a prompt from its archive "
	"alone.",
	NULL,
};

const struct ckpt_command replay_infer_command = {
	.name = "infer",
	.title = "continue a prompt with the model of a checkpoint",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "FILE",
	.most = 1,
};

/* The text of what was generated. */
struct said {
	struct ckpt_buf bytes;
	enum ckpt_decoding decoding;
	struct ckpt_decode_fault fault;
	bool utf8;
};

/* The EOS of a byte-BPE tokenizer that ended the generation is no content. */
static void
decode(struct said *said, const struct ckpt_infer *f,
	const struct ckpt_tokenizer *t)
{
	const uint32_t *ids = f->ids + f->prompt_n;
	size_t n = f->n - f->prompt_n;

	if (t->kind == CKPT_BYTE_BPE && n > 0 && ids[n - 1] == CKPT_TOKEN_EOS)
		n--;
	said->decoding = ckpt_decode_content(
		t, ids, n, TEXT_MOST, &said->bytes, &said->fault);
	said->utf8 = ckpt_utf8_valid(said->bytes.p, said->bytes.n, NULL);
}

/* Why there is no text, or NULL. */
static const char *
decode_error(const struct said *said, char *room, size_t n)
{
	const char *what = "";

	switch (said->decoding) {
	case CKPT_DECODED:
	case CKPT_DECODED_PART: return NULL;
	case CKPT_DECODE_TOO_FEW:
	case CKPT_DECODE_NO_BOS:
	case CKPT_DECODE_NO_EOS: break;
	case CKPT_DECODE_CONTROL: what = "control"; break;
	case CKPT_DECODE_UNKNOWN: what = "unknown"; break;
	case CKPT_DECODE_NO_MEMORY: return "out of memory";
	}
	snprintf(room, n, "%s token %" PRIu32 " at position %zu", what,
		said->fault.id, said->fault.position);
	return room;
}

/* ---- output ------------------------------------------------------------- */

static void
add_ids(struct ckpt_buf *out, const uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ckpt_buf_printf(out, i ? ",%" PRIu32 : "%" PRIu32, ids[i]);
	ckpt_buf_puts(out, n ? "\n" : "(none)\n");
}

static void
text_result(struct ckpt_buf *out, const char *path, const struct ckpt_infer *f,
	const struct said *said)
{
	char room[96];
	const char *error = decode_error(said, room, sizeof room);

	ckpt_buf_escape(out, path, strlen(path), 0);
	ckpt_buf_puts(out, f->sample ? ": sampled\n" : ": greedy\n");
	ckpt_buf_puts(out, "  prompt ids ");
	add_ids(out, f->ids, f->prompt_n);
	ckpt_buf_puts(out, "  generated ids ");
	add_ids(out, f->ids + f->prompt_n, f->n - f->prompt_n);
	if (error) {
		ckpt_buf_printf(out, "  no text: %s\n", error);
	} else {
		ckpt_buf_puts(out, "  text \"");
		ckpt_buf_escape(out, said->bytes.p, said->bytes.n, 0);
		ckpt_buf_printf(out, "\"%s%s\n",
			said->utf8 ? "" : " (not UTF-8)",
			said->decoding == CKPT_DECODED_PART ? " (cut)" : "");
	}
	ckpt_buf_printf(out,
		"  stopped: %s\n  draws %" PRIu64
		"\n  sampling stream 0x%016" PRIx64 " -> 0x%016" PRIx64 "\n",
		ckpt_infer_stop_name(f->stop), f->draws, f->rng_before,
		f->rng_after);
	replay_arithmetic_text(out);
}

static json_t *
json_ids(const uint32_t *ids, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(ids[i]));
	return list;
}

static json_t *
json_hex(uint64_t v)
{
	char text[32];

	snprintf(text, sizeof text, "0x%016" PRIx64, v);
	return json_string(text);
}

static json_t *
json_result(
	const char *path, const struct ckpt_infer *f, const struct said *said)
{
	char room[96];
	const char *error = decode_error(said, room, sizeof room);
	json_t *o = json_pack(
		"{s:s, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:s?, s:b, s:s, s:o,"
		" s:{s:o, s:o}}",
		"schema", "ckreplay/1", "exit_code", CKPT_EXIT_OK, "arithmetic",
		replay_arithmetic_json(), "file",
		ckpt_json_escaped(path, strlen(path)), "mode",
		f->sample ? "sample" : "greedy", "prompt_ids",
		json_ids(f->ids, f->prompt_n), "generated_ids",
		json_ids(f->ids + f->prompt_n, f->n - f->prompt_n), "text",
		error ? json_null()
		      : ckpt_json_escaped(said->bytes.p, said->bytes.n),
		"decode_error", error, "text_cut",
		said->decoding == CKPT_DECODED_PART, "stop",
		ckpt_infer_stop_name(f->stop), "draws", ckpt_json_u64(f->draws),
		"sampling_rng", "state", json_hex(f->rng_before), "next_state",
		json_hex(f->rng_after));

	return o;
}

static int
report(const struct replay_infer_options *o, const char *path,
	const struct ckpt_infer *f, const struct ckpt_tokenizer *tokenizer)
{
	struct said said = { 0 };
	struct ckpt_buf out = { 0 };

	decode(&said, f, tokenizer);
	if (o->format == REPLAY_JSON) {
		ckpt_json_write(&out, json_result(path, f, &said));
		ckpt_buf_puts(&out, "\n");
	} else {
		text_result(&out, path, f, &said);
	}
	ckpt_buf_release(&said.bytes);
	return replay_print(&out, CKPT_EXIT_OK);
}

/* ---- the request -------------------------------------------------------- */

static bool
usage(struct ckpt_args *args, const struct replay_infer_options *o,
	struct ckpt_infer *f, uint32_t **ids)
{
	size_t batch;

	if (args->operand_count != 1)
		return ckpt_args_fail(
			args, "give one of FILE and --model", NULL, "");
	if (!o->ids == !o->prompt)
		return ckpt_args_fail(
			args, "give one of --ids and --prompt", NULL, "");
	if (!o->temperature && ckpt_args_find(args, "top-k"))
		return ckpt_args_fail(
			args, "--top-k needs --temperature", NULL, "");
	/* No ids at all is a list, and a prompt that is refused later. */
	if (o->ids && *o->ids) {
		if (!replay_parse_ids(
			    args, "--ids", o->ids, ids, &batch, &f->prompt_n))
			return false;
		if (batch > 1)
			return ckpt_args_fail(
				args, "a prompt is one row: ", o->ids, "");
	}
	f->sample = o->temperature != NULL;
	return !f->sample ||
	       replay_parse_real(args, "not a temperature: ", o->temperature,
		       &f->temperature);
}

/* The prompt as text becomes ids. False: there is no encoder, or no memory. */
static enum ckpt_status
encode_prompt(struct ckpt_infer *f, const struct replay_infer_options *o,
	const struct ckpt_tokenizer *t, uint32_t **ids)
{
	size_t n = strlen(o->prompt);

	if (t->kind != CKPT_BYTE_BPE) {
		f->refusal.kind = "NoEncoder";
		ckpt_buf_puts(&f->refusal.text,
			"a literal tokenizer does not encode text; give "
			"--ids");
		return CKPT_REJECTED;
	}
	*ids = calloc(n + 2, sizeof **ids);
	if (!*ids)
		return CKPT_ENOMEM;
	f->prompt_n = ckpt_bpe_encode_document(
			      t, (const uint8_t *)o->prompt, n, *ids) -
		      1;
	return CKPT_OK;
}

static enum ckpt_status
run(struct ckpt_args *args, const struct replay_infer_options *o,
	struct ckpt_infer *f, struct ckpt_trainer *t, uint32_t **ids)
{
	const struct ckpt_tokenizer *tokenizer = &t->state.tokenizer;
	enum ckpt_status status = CKPT_OK;

	f->most = ckpt_args_find(args, "tokens") ? o->tokens : TOKENS;
	f->has_eos = tokenizer->kind == CKPT_BYTE_BPE;
	f->eos = CKPT_TOKEN_EOS;
	if (ckpt_args_find(args, "eos")) {
		f->has_eos = true;
		f->eos = o->eos;
	}
	f->keep = ckpt_args_find(args, "top-k") ? o->top_k
						: tokenizer->vocabulary;
	if (o->prompt)
		status = encode_prompt(f, o, tokenizer, ids);
	f->prompt = *ids;
	return status == CKPT_OK ? ckpt_infer_run(f, t) : status;
}

int
replay_infer(struct ckpt_args *args, const void *options)
{
	const struct replay_infer_options *o = options;
	const char *path;
	struct ckpt_infer f = { 0 };
	struct ckpt_trainer *t = NULL;
	struct ckpt_checkpoint *c;
	uint32_t *ids = NULL;
	enum ckpt_status s = CKPT_ENOMEM;
	int status;

	if (o->model)
		return replay_infer_model(args, o);
	if (!usage(args, o, &f, &ids)) {
		free(ids);
		return ckpt_args_report(args);
	}
	path = args->operands[0];
	c = replay_load(args, path, o->max_memory, o->format, &status);
	if (c) {
		t = ckpt_trainer_take(c);
		if (t)
			s = run(args, o, &f, t, &ids);
		status = s == CKPT_OK ? report(o, path, &f, &t->state.tokenizer)
				      : replay_refused(args, path, o->format, s,
						&f.refusal);
	}
	ckpt_infer_release(&f);
	ckpt_trainer_free(t);
	free(ids);
	return status;
}
