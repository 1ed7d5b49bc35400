/* SPDX-License-Identifier: MIT */
/*
 * Archives: whether the settings are those of a model. The integers are judged
 * by the header, since shapes follow from them; the two constants, which are a
 * tensor, when they were read.
 */
#include "format/archive.h"

#include "base/bytes.h"
#include "model/config.h"

/* Constants that spoil nothing, for judging the integers alone. */
enum { PLAIN_BASE = 10000 };

static void
fill_config(struct archive *a)
{
	const struct archive_text *k = a->keys;

	a->config = (struct ckpt_config){
		.vocabulary = k[ARCHIVE_VOCABULARY].value,
		.width = k[ARCHIVE_WIDTH].value,
		.heads = k[ARCHIVE_HEADS].value,
		.feed_forward_width = k[ARCHIVE_FEED_FORWARD].value,
		.layers = k[ARCHIVE_LAYERS].value,
		.positions = k[ARCHIVE_POSITIONS].value,
		.kv_heads = k[ARCHIVE_KV_HEADS].value,
		.context_window = k[ARCHIVE_WINDOW].value,
		.rope_base = PLAIN_BASE,
	};
}

/* Whether the model could be; why says what is wrong if not. A backbone has no
 * vocabulary, and that of others is judged by its merges. */
static bool
check(const struct archive *a, struct ckpt_buf *why)
{
	struct ckpt_config config = a->config;

	config.vocabulary = 1;
	return ckpt_config_check(&config, why);
}

/* A setting of its own that is wrong, and what it should be. */
static const char *
find_fault(struct safetensors_judge *j, enum archive_key *key)
{
	static const enum archive_key positive[] = { ARCHIVE_WIDTH,
		ARCHIVE_HEADS, ARCHIVE_KV_HEADS, ARCHIVE_FEED_FORWARD,
		ARCHIVE_POSITIONS, ARCHIVE_WINDOW };
	const struct ckpt_config *c = &j->file->archive->config;

	for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++) {
		*key = positive[i];
		if (j->file->archive->keys[*key].value == 0)
			return "at least 1";
	}
	*key = ARCHIVE_WIDTH;
	if (c->width % c->heads != 0)
		return ckpt_walk_text(&j->walk, "a multiple of the %llu heads",
			(unsigned long long)c->heads);
	if (c->width / c->heads % 2 != 0)
		return ckpt_walk_text(&j->walk,
			"an even number for each of the %llu heads",
			(unsigned long long)c->heads);
	*key = ARCHIVE_KV_HEADS;
	if (c->heads % c->kv_heads != 0)
		return ckpt_walk_text(&j->walk, "a divisor of the %llu heads",
			(unsigned long long)c->heads);
	*key = ARCHIVE_WINDOW;
	if (c->context_window > c->positions)
		return ckpt_walk_text(&j->walk, "at most the %llu positions",
			(unsigned long long)c->positions);
	return NULL;
}

bool
archive_judge_settings(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	enum archive_key key;
	const char *expected;
	struct ckpt_buf why;
	bool good;

	fill_config(a);
	expected = find_fault(j, &key);
	if (expected) {
		archive_report_key(j, CKPT_D_ARCHIVE_SETTING, key, expected);
		return false;
	}
	if (a->kind != CKPT_ARCHIVE_BACKBONE &&
		a->config.vocabulary < CKPT_BPE_BASE_IDS) {
		archive_report_key(j, CKPT_D_ARCHIVE_VOCABULARY,
			ARCHIVE_VOCABULARY, "258 and the number of merges");
		return false;
	}
	ckpt_buf_init(&why);
	good = check(a, &why);
	if (!good)
		archive_report_key(j, CKPT_D_ARCHIVE_SETTING, ARCHIVE_POSITIONS,
			ckpt_walk_text(
				&j->walk, "fewer: %s", why.p ? why.p : ""));
	ckpt_buf_release(&why);
	return good;
}

void
archive_judge_constants(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	uint32_t tensor = a->small[ARCHIVE_CONSTANTS] - 1;
	const double *values[] = { &a->config.rope_base,
		&a->config.rms_epsilon };
	struct ckpt_buf why;
	unsigned wrong = 0;

	a->config.rope_base = archive_f64(a, ARCHIVE_CONSTANTS, 0);
	ckpt_buf_init(&why);
	if (check(a, &why)) {
		a->config.rms_epsilon = archive_f64(a, ARCHIVE_CONSTANTS, 1);
		wrong = 1;
	}
	if (!check(a, &why))
		archive_report_value(j, CKPT_D_ARCHIVE_CONSTANT, tensor, wrong,
			wrong ? "finite and at least 0"
			      : "finite and above 0, with finite angles",
			ckpt_v_f64(ckpt_f64_bits(*values[wrong])), 1);
	ckpt_buf_release(&why);
}
