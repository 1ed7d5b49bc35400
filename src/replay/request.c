/* SPDX-License-Identifier: MIT */
/*
 * Requests for a replay in words, for the command line and for the viewer
 * alike. Whether a file can carry an update out is for the trainer to say.
 */
#include "replay/request.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"

/* ---- Words to numbers --------------------------------------------------- */

/* One decimal id below 2^32; moves *text behind it. */
static bool
take_id(const char **text, uint32_t *id)
{
	uint64_t value = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint64_t)(*p - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*text = p;
	*id = (uint32_t)value;
	return true;
}

static bool
fail(const char **why, const char *words)
{
	*why = words;
	return false;
}

bool
ckpt_ids_parse(const char *text, uint32_t **ids, size_t *batch, size_t *tokens,
	const char **why)
{
	size_t n = 0, row = 0;

	*batch = *tokens = 0;
	/* There are at most half as many ids as characters. */
	*ids = calloc(strlen(text) / 2 + 1, sizeof **ids);
	if (!*ids)
		return fail(why, "out of memory for ");
	for (const char *p = text;; p++) {
		if (!take_id(&p, &(*ids)[n]))
			return fail(why,
				"token ids are numbers below 4294967296 with "
				"commas, rows with semicolons between them: ");
		n++;
		row++;
		if (*p == ',')
			continue;
		if (*p != ';' && *p != '\0')
			return fail(why,
				"no comma or semicolon after a token id: ");
		if (*batch > 0 && row != *tokens)
			return fail(why, "rows of different length: ");
		*tokens = row;
		++*batch;
		row = 0;
		if (*p == '\0')
			return true;
	}
}

bool
ckpt_replay_real_parse(const char *text, double *real)
{
	static const struct {
		const char *word;
		double value;
	} words[] = { { "nan", (double)NAN }, { "inf", (double)INFINITY },
		{ "-inf", -(double)INFINITY } };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(text, words[i].word) == 0) {
			*real = words[i].value;
			return true;
		}
	return ckpt_real_parse(text, real);
}

bool
ckpt_supplied_parse(const char *inputs, const char *targets, const char *rate,
	struct ckpt_supplied *supplied, const char **why, const char **text)
{
	struct ckpt_batch *batch = &supplied->batch;
	size_t b, t;

	*supplied = (struct ckpt_supplied){ 0 };
	*text = inputs;
	if (!ckpt_ids_parse(inputs, &supplied->inputs, &batch->batch,
		    &batch->tokens, why))
		return false;
	*text = targets;
	if (!ckpt_ids_parse(targets, &supplied->targets, &b, &t, why))
		return false;
	batch->ids = supplied->inputs;
	batch->targets = supplied->targets;
	*text = rate;
	if (!ckpt_replay_real_parse(rate, &supplied->rate))
		return fail(why, "not a learning rate: ");
	*text = targets;
	if (b != batch->batch || t != batch->tokens)
		return fail(why, "inputs and targets of different shape: ");
	return true;
}

void
ckpt_supplied_release(struct ckpt_supplied *supplied)
{
	free(supplied->inputs);
	free(supplied->targets);
	*supplied = (struct ckpt_supplied){ 0 };
}

/* ---- The file ----------------------------------------------------------- */

/* Why a file was not loaded, as far as its primary finding says it. */
static void
refuse_file(struct ckpt_refusal *refusal, enum ckpt_status status,
	const struct ckpt_diag *primary)
{
	const struct ckpt_rule *rule = primary->rule;

	if (status == CKPT_REJECTED || status == CKPT_EUNSUPPORTED) {
		refusal->kind = status == CKPT_REJECTED ? "InvalidFile"
							: "UnsupportedFile";
		ckpt_buf_printf(&refusal->text, "%s %s: %s", rule->id,
			rule->slug, rule->text);
	} else if (status == CKPT_EIO && ckpt_rule_code(rule) != CKPT_D_IO &&
		   primary->found.kind == CKPT_V_TEXT) {
		/* No system call failed, so errno is of something else. */
		ckpt_buf_printf(&refusal->text, "%s: %s", rule->text,
			(const char *)primary->found.p);
	}
}

/* What can be done with an archive that is no part of a replay. */
static const char *
hint_text(enum ckpt_archive kind)
{
	switch (kind) {
	case CKPT_ARCHIVE_NONE: break;
	case CKPT_ARCHIVE_TEXT: return "ask it with infer --model";
	case CKPT_ARCHIVE_BACKBONE: return "use it with backbone run";
	case CKPT_ARCHIVE_TRAINING:
		return "go on from it with resume, check it with audit";
	}
	return "";
}

/* What a state is, for a message. */
static const char *
kind_text(enum ckpt_archive kind)
{
	switch (kind) {
	case CKPT_ARCHIVE_NONE: return "a checkpoint that is no archive";
	case CKPT_ARCHIVE_TEXT: return "a portable text model";
	case CKPT_ARCHIVE_BACKBONE: return "a backbone";
	case CKPT_ARCHIVE_TRAINING: return "a training checkpoint";
	}
	return "";
}

enum ckpt_status
ckpt_archive_load(struct ckpt_source *source,
	const struct ckpt_options *options, enum ckpt_archive kind,
	struct ckpt_checkpoint **out, struct ckpt_refusal *refusal)
{
	enum ckpt_status s = ckpt_checkpoint_read(source, options, out);
	const struct ckpt_diag *primary;
	int error = errno;

	if (s == CKPT_OK && (*out)->state.archive == kind)
		return s;
	primary = *out ? ckpt_run_primary(ckpt_checkpoint_run(*out)) : NULL;
	if (s == CKPT_OK) {
		refusal->kind = "OtherKind";
		if (kind == CKPT_ARCHIVE_NONE)
			ckpt_buf_printf(&refusal->text, "this is %s: %s",
				kind_text((*out)->state.archive),
				hint_text((*out)->state.archive));
		else
			ckpt_buf_printf(&refusal->text, "%s where %s has to be",
				kind_text((*out)->state.archive),
				kind_text(kind));
		s = CKPT_REJECTED;
	} else if (primary) {
		refuse_file(refusal, s, primary);
	}
	ckpt_checkpoint_free(*out);
	*out = NULL;
	errno = error;
	return s;
}

enum ckpt_status
ckpt_replay_load(struct ckpt_source *source, const struct ckpt_options *options,
	struct ckpt_checkpoint **out, struct ckpt_refusal *refusal)
{
	return ckpt_archive_load(
		source, options, CKPT_ARCHIVE_NONE, out, refusal);
}

struct ckpt_refused
ckpt_replay_refused(enum ckpt_status status, const struct ckpt_refusal *refusal)
{
	struct ckpt_refused r = { "not-verified", NULL, NULL };

	if (status == CKPT_REJECTED)
		r.verdict = "invalid-input";
	else if (status == CKPT_EUNSUPPORTED)
		r.verdict = "unsupported";
	if (refusal->text.p) {
		r.kind = refusal->kind;
		r.why = refusal->text.p;
	} else if (status == CKPT_ENOMEM) {
		r.why = "out of memory";
	} else if (status == CKPT_ELIMIT) {
		r.why = "more memory than allowed is needed";
	} else if (status == CKPT_EUNSUPPORTED) {
		r.why = "not implemented for this format";
	} else {
		r.why = strerror(errno);
	}
	return r;
}
