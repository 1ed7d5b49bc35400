/* SPDX-License-Identifier: MIT */
/*
 * ckreplay backbone: a model without its tokenizer, embedding and head, as an
 * archive of its own, and what it makes of embeddings that come from
 * elsewhere.
 */
#include "cli/replay_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "diag/run.h"
#include "model/identity.h"
#include "sink/json.h"
#include "wire/value.h"

#define SLOT(member) .slot = offsetof(struct replay_backbone_options, member)

static const char *const formats[] = { "text", "json", NULL };

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .letter = 'o', .name = "output", .kind = CKPT_OPT_TEXT,
		.arg = "FILE", SLOT(output),
		.help = "export: write the backbone here, atomically; needed" },
	{ .name = "embeddings", .kind = CKPT_OPT_TEXT, .arg = "FILE",
		SLOT(embeddings),
		.help = "run: a safetensors file whose tensor `embeddings` is "
			"F64 of [rows, tokens, width]; needed" },
	{ .name = "format", .kind = CKPT_OPT_CHOICE, .words = formats,
		.preset = "text", SLOT(format),
		.help = "how to print the result" },
	{ .name = "max-memory", .kind = CKPT_OPT_SIZE, .arg = "SIZE",
		.preset = "64G", SLOT(max_memory),
		.help = "memory for the contents of an archive" },
	{ .letter = 'j', .name = "jobs", .kind = CKPT_OPT_U64, .arg = "N",
		.preset = "1", .least = 1, .most = 256, SLOT(jobs),
		.help = "threads to compute with; their number changes no "
			"bit" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = {
	"export [options] MODEL -o FILE",
	"run [options] BACKBONE --embeddings=FILE",
	NULL,
};

static const char *const about[] = {
	"takes the blocks and the final norm out of a portable text model "
	"(export), and computes the hidden features that such a backbone makes "
	"of embeddings (run): rows are independent, and a token sees itself "
	"and those before it.",
	NULL,
};

const struct ckpt_command replay_backbone_command = {
	.name = "backbone",
	.title = "export the blocks of a model, or run them on embeddings",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "export or run, and a file",
	.least = 2,
	.most = 2,
};

/* ---- export ------------------------------------------------------------- */

static int
export_backbone(struct ckpt_args *args, const struct replay_backbone_options *o)
{
	const char *path = args->operands[1];
	char whole[CKPT_SHA256_TEXT], own[CKPT_SHA256_TEXT];
	struct ckpt_checkpoint *c;
	struct ckpt_state backbone;
	json_t *result = NULL;
	int status;
	bool saved;

	if (!replay_needs(args, "--output", o->output) ||
		!replay_outputs_apart(args, &o->output, 1, &path, 1))
		return ckpt_args_report(args);
	c = replay_archive_load(args, path, CKPT_ARCHIVE_TEXT, o->max_memory,
		o->format, &status);
	if (!c)
		return status;
	backbone = ckpt_state_backbone(&c->state);
	saved = replay_archive_save(args, o->output, &backbone);
	if (ckpt_model_identity(&backbone, own) &&
		ckpt_model_identity(&c->state, whole))
		result = json_pack("{s:s, s:s, s:b}", "model_id", own,
			"source_model_id", whole, "backbone_saved", saved);
	ckpt_checkpoint_free(c);
	return replay_emit(o->format, result, saved ? "valid" : "not-verified",
		saved ? CKPT_EXIT_OK : CKPT_EXIT_TROUBLE, NULL);
}

/* ---- embeddings --------------------------------------------------------- */

/* Keeps the values of one tensor while the file is verified. */
struct keeper {
	struct ckpt_sink sink;
	bool found, fits; /* fits: F64 of three dimensions */
	uint64_t index;
	uint64_t dims[3];
	struct ckpt_buf bytes;
};

static enum ckpt_status
on_event(struct ckpt_sink *sink, const struct ckpt_event *e)
{
	static const char name[] = "embeddings";
	struct keeper *k = (struct keeper *)(void *)sink;
	const struct ckpt_span *span = e->span;

	if (e->kind == CKPT_EV_SPAN && span->name_len == sizeof name - 1 &&
		memcmp(span->name, name, sizeof name - 1) == 0) {
		k->found = true;
		k->index = span->index;
		k->fits =
			strcasecmp(span->dtype, "F64") == 0 && span->rank == 3;
		for (uint32_t i = 0; k->fits && i < 3; i++)
			k->dims[i] = span->dims[i];
	}
	if (e->kind == CKPT_EV_DATA && k->fits && e->index == k->index)
		ckpt_buf_add(&k->bytes, e->data, (size_t)e->len);
	return k->bytes.failed ? CKPT_ENOMEM : CKPT_OK;
}

static enum ckpt_status
reject(struct ckpt_refusal *r, const char *kind, const char *text)
{
	r->kind = kind;
	ckpt_buf_puts(&r->text, text);
	return CKPT_REJECTED;
}

static enum ckpt_status
read_embeddings(const char *path, uint64_t max_memory, struct keeper *k,
	struct ckpt_refusal *r)
{
	struct ckpt_options options = { .max_memory = max_memory };
	struct ckpt_source *source = ckpt_source_open(path);
	struct ckpt_run *run;
	enum ckpt_verdict verdict;
	const struct ckpt_diag *primary;

	if (!source)
		return CKPT_EIO;
	run = ckpt_run_new(&options);
	if (!run) {
		ckpt_source_close(source);
		return CKPT_ENOMEM;
	}
	k->sink.event = on_event;
	ckpt_run_listen(run, &k->sink);
	verdict = ckpt_verify(run, source);
	ckpt_source_close(source);
	primary = ckpt_run_primary(run);
	if (verdict != CKPT_VALID) {
		r->kind = "InvalidFile";
		ckpt_buf_printf(&r->text, "the embeddings: %s %s",
			primary ? primary->rule->id : "",
			primary ? primary->rule->text
				: ckpt_verdict_name(verdict));
	}
	ckpt_run_free(run);
	if (verdict != CKPT_VALID)
		return verdict == CKPT_INVALID       ? CKPT_REJECTED
		       : k->bytes.failed             ? CKPT_ENOMEM
		       : verdict == CKPT_UNSUPPORTED ? CKPT_EUNSUPPORTED
						     : CKPT_EIO;
	if (!k->found)
		return reject(r, "NoEmbeddings",
			"the file has no tensor `embeddings`");
	return k->fits ? CKPT_OK
		       : reject(r, "Shape",
				 "`embeddings` is not F64 of [rows, tokens, "
				 "width]");
}

/* ---- run ---------------------------------------------------------------- */

static enum ckpt_status
judge_shape(const struct keeper *k, const struct ckpt_config *c,
	struct ckpt_refusal *r)
{
	uint64_t rows = k->dims[0], tokens = k->dims[1], width = k->dims[2];

	if (rows > 0 && tokens > 0 && tokens <= c->positions &&
		width == c->width)
		return CKPT_OK;
	r->kind = tokens > c->positions ? "TooManyPositions" : "Shape";
	ckpt_buf_printf(&r->text,
		"embeddings of [%llu, %llu, %llu]; the backbone takes [rows, 1 "
		"to %llu, %llu]",
		(unsigned long long)rows, (unsigned long long)tokens,
		(unsigned long long)width, (unsigned long long)c->positions,
		(unsigned long long)c->width);
	return CKPT_REJECTED;
}

static enum ckpt_status
compute(struct ckpt_trainer *t, struct keeper *k, double *hidden, size_t n,
	struct ckpt_refusal *r)
{
	struct ckpt_batch batch = { (size_t)k->dims[0], (size_t)k->dims[1],
		NULL, NULL };
	struct ckpt_not_finite fault = { 0 };
	double *space;
	size_t doubles;
	bool finite;

	for (size_t i = 0; i < n; i++)
		hidden[i] = ckpt_f64_from_bits(
			ckpt_load_u64((const uint8_t *)k->bytes.p + 8 * i));
	if (!ckpt_decoder_space(&t->dims, batch.batch, batch.tokens,
		    CKPT_PASS_FORWARD, &doubles))
		return CKPT_ELIMIT;
	space = calloc(doubles, sizeof *space);
	if (!space)
		return CKPT_ENOMEM;
	finite = ckpt_decoder_hidden(
		&t->dims, t->parameters, &batch, hidden, space, hidden, &fault);
	free(space);
	if (finite)
		return CKPT_OK;
	r->kind = "NonFinite";
	ckpt_buf_printf(&r->text,
		"%s of layer %zu is not finite at flat index %zu",
		fault.operation ? fault.operation : "the input", fault.layer,
		fault.index);
	return CKPT_REJECTED;
}

static json_t *
hidden_json(const struct ckpt_state *state, const struct keeper *k,
	const double *hidden, size_t n)
{
	char model[CKPT_SHA256_TEXT], digest[CKPT_SHA256_TEXT];
	struct ckpt_sha256 hash;

	ckpt_sha256_begin(&hash);
	for (size_t i = 0; i < n; i++)
		ckpt_sha256_u64(&hash, ckpt_f64_bits(hidden[i]));
	if (!ckpt_sha256_end(&hash, digest) ||
		!ckpt_model_identity(state, model))
		return NULL;
	return json_pack("{s:s, s:[o, o, o], s:s}", "model_id", model, "shape",
		ckpt_json_u64(k->dims[0]), ckpt_json_u64(k->dims[1]),
		ckpt_json_u64(k->dims[2]), "hidden_bits_sha256", digest);
}

static enum ckpt_status
make_hidden(const struct ckpt_state *state, struct keeper *k,
	struct ckpt_team *team, json_t **result, struct ckpt_refusal *r)
{
	/* A valid file: so many bytes are in memory. */
	size_t n = k->bytes.n / sizeof(double);
	struct ckpt_trainer *t = ckpt_trainer_start(state);
	double *hidden = calloc(n, sizeof *hidden);
	enum ckpt_status s = CKPT_ENOMEM;

	if (t && hidden) {
		t->dims.team = team;
		t->dims.only_seen = true;
		s = compute(t, k, hidden, n, r);
	}
	if (s == CKPT_OK) {
		*result = hidden_json(state, k, hidden, n);
		s = *result ? CKPT_OK : CKPT_ENOMEM;
	}
	ckpt_trainer_free(t);
	free(hidden);
	return s;
}

static int
run_backbone(struct ckpt_args *args, const struct replay_backbone_options *o)
{
	const char *path = args->operands[1];
	struct ckpt_refusal refusal = { 0 };
	struct keeper k = { 0 };
	struct ckpt_checkpoint *c;
	struct ckpt_team *team;
	json_t *result = NULL;
	enum ckpt_status s;
	int status;

	if (!replay_needs(args, "--embeddings", o->embeddings))
		return ckpt_args_report(args);
	c = replay_archive_load(args, path, CKPT_ARCHIVE_BACKBONE,
		o->max_memory, o->format, &status);
	if (!c)
		return status;
	team = ckpt_team_new((unsigned)o->jobs);
	s = read_embeddings(o->embeddings, o->max_memory, &k, &refusal);
	if (s == CKPT_OK)
		s = judge_shape(&k, &c->state.config, &refusal);
	if (s == CKPT_OK)
		s = make_hidden(&c->state, &k, team, &result, &refusal);
	status = s == CKPT_OK ? replay_emit(o->format, result, "valid",
					CKPT_EXIT_OK, NULL)
			      : replay_refused(args, o->embeddings, o->format,
					s, &refusal);
	ckpt_team_free(team);
	ckpt_buf_release(&k.bytes);
	ckpt_buf_release(&refusal.text);
	ckpt_checkpoint_free(c);
	return status;
}

int
replay_backbone(struct ckpt_args *args, const void *options)
{
	const struct replay_backbone_options *o = options;
	const char *verb = args->operands[0];
	bool exports = strcmp(verb, "export") == 0;

	if (!exports && strcmp(verb, "run") != 0)
		ckpt_args_fail(args, "neither export nor run: ", verb, "");
	else if (exports ? o->embeddings != NULL : o->output != NULL)
		ckpt_args_fail(args, "the option does not apply to ", verb, "");
	else
		return exports ? export_backbone(args, o)
			       : run_backbone(args, o);
	return ckpt_args_report(args);
}
