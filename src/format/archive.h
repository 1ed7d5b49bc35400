/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_ARCHIVE_H
#define CKPT_FORMAT_ARCHIVE_H

/*
 * Archives: portable models, backbones and training checkpoints, each an
 * ordinary safetensors file with metadata keys that begin "ckpt.". The driver
 * of safetensors judges the container, and hands what it reads to the stages
 * below: keys and tensors once the header was read, values as they pass by,
 * the rest at the end. Of values only what decides is kept: the small tensors,
 * the merges, one bit for each place of the data order.
 */

#include <string.h>

#include "base/bytes.h"
#include "format/safetensors.h"
#include "format/safetensors_dtype.h"
#include "model/training.h"

#define ARCHIVE_PREFIX "ckpt."

/* Kinds of archives as bits, for rows. */
enum {
	ARCHIVE_IN_TEXT = 1 << CKPT_ARCHIVE_TEXT,
	ARCHIVE_IN_BACKBONE = 1 << CKPT_ARCHIVE_BACKBONE,
	ARCHIVE_IN_TRAINING = 1 << CKPT_ARCHIVE_TRAINING,
	ARCHIVE_WITH_TEXT = ARCHIVE_IN_TEXT | ARCHIVE_IN_TRAINING,
	ARCHIVE_IN_ALL = ARCHIVE_WITH_TEXT | ARCHIVE_IN_BACKBONE,
};

/* ---- Metadata ----------------------------------------------------------- */

/* Keys in bytewise order, as they are written. */
enum archive_key {
	ARCHIVE_WINDOW, /* these are integers ... */
	ARCHIVE_FEED_FORWARD,
	ARCHIVE_HEADS,
	ARCHIVE_KV_HEADS,
	ARCHIVE_LAYERS,
	ARCHIVE_POSITIONS,
	ARCHIVE_WIDTH, /* ... up to this one */
	ARCHIVE_KIND,
	ARCHIVE_VERSION,
	ARCHIVE_COMPOSITION,
	ARCHIVE_DATA,
	ARCHIVE_ENCODER,
	ARCHIVE_LAYOUT,     /* an integer */
	ARCHIVE_VOCABULARY, /* an integer */
	ARCHIVE_ARITHMETIC,
	ARCHIVE_EXECUTABLE,
	ARCHIVE_OVERRIDES,
	ARCHIVE_SEMANTICS,
	ARCHIVE_ALIAS,
	ARCHIVE_HEAD,
	ARCHIVE_DECAY,
	ARCHIVE_NO_DECAY,
	ARCHIVE_RECOMPUTE,
	ARCHIVE_KEYS
};

struct archive_key_row {
	const char *name;
	unsigned kinds;   /* archives that have it */
	const char *word; /* the only value that there is, or NULL */
	bool optional;
	const char *doc;
};
extern const struct archive_key_row archive_keys[ARCHIVE_KEYS];

/* The value of a key. */
struct archive_text {
	struct ckpt_str text;
	uint32_t entry; /* of the metadata */
	bool there;
	bool counts; /* an integer that could be read */
	uint64_t value;
};

/* ---- Tensors ------------------------------------------------------------ */

/* Tensors whose values are kept; the first is of every archive. */
enum archive_small {
	ARCHIVE_CONSTANTS,
	ARCHIVE_MERGES, /* kept apart */
	ARCHIVE_SETTINGS,
	ARCHIVE_POWERS,
	ARCHIVE_STEP,
	ARCHIVE_RATES,
	ARCHIVE_STEPS,
	ARCHIVE_CLIP,
	ARCHIVE_ORDER, /* a bit for each place */
	ARCHIVE_CURSOR,
	ARCHIVE_TRAVERSALS,
	ARCHIVE_PROBABILITY,
	ARCHIVE_SEED,
	ARCHIVE_COUNTER,
	ARCHIVE_SAMPLING,
	ARCHIVE_BOUNDS,
	ARCHIVE_PROGRESS,
	ARCHIVE_MICROBATCHES,
	ARCHIVE_SMALL
};

enum { ARCHIVE_WORDS = 5 };

struct archive_small_row {
	const char *name;
	unsigned kinds;
	const char *dtype;
	uint32_t rank;
	uint64_t dims[2]; /* 0: as many as there are */
	const char *doc;
};
extern const struct archive_small_row archive_small[ARCHIVE_SMALL];

#define ARCHIVE_FIRST  "optimizer.first."
#define ARCHIVE_SECOND "optimizer.second."

/* What a tensor of the file is. */
enum archive_what {
	ARCHIVE_NOTHING,   /* of the tables */
	ARCHIVE_PARAMETER, /* number k in model order */
	ARCHIVE_MOMENT_1,  /* of parameter k */
	ARCHIVE_MOMENT_2,
	ARCHIVE_VALUES, /* row k of the small ones */
};

struct archive_part {
	uint8_t what;
	uint32_t k;
};

/* Values of one kind that are wrong: how many, and the first. */
struct archive_fault {
	uint64_t count;
	uint32_t tensor;
	uint64_t at; /* element */
	uint64_t bits;
};

enum { ARCHIVE_ORDER_KEPT = 1 << 16 };

struct archive {
	enum ckpt_archive kind;
	bool understood; /* kind, version and composition */
	bool settled;    /* the integers are those of a model */
	bool fits;       /* the tensors are those of the tables */
	bool whole;      /* so are the values */
	struct archive_text keys[ARCHIVE_KEYS];
	struct ckpt_config config;
	/* Tensors of the file, as many as it has. */
	struct archive_part *parts;
	uint64_t count;       /* of parameters in model order, 9 L + 2 */
	uint64_t nparameters; /* that have to be there */
	uint64_t scalars;     /* in all of them, of a whole archive */
	/* By number in model order, of a backbone less 1: the tensor, plus 1,
	 * or 0 if it is not there; and how many are. */
	uint32_t *parameters, *first, *second;
	uint64_t npresent, nfirst, nsecond;
	uint32_t small[ARCHIVE_SMALL]; /* the tensor, plus 1 */
	uint64_t words[ARCHIVE_SMALL][ARCHIVE_WORDS];
	/* Pairs as they stand in the file. */
	uint8_t *pairs;
	uint64_t npairs;
	/* A bit for every document that was named, and the places, unless there
	 * are many of them in a file of known size (then NULL). */
	uint8_t *named;
	uint64_t *order;
	struct archive_fault weights, moments, negative, places;
	/* Group lists. */
	struct ckpt_name *groups[2]; /* decay, no decay */
	uint32_t ngroups[2];
	struct ckpt_name *overrides;
	uint32_t noverrides;
	struct archive_hash *hash;
	char model_id[CKPT_SHA256_TEXT];         /* "": not known */
	char optimizer_digest[CKPT_SHA256_TEXT]; /* "" */
	struct ckpt_training training;
};

static inline double
archive_f64(const struct archive *archive, enum archive_small row, unsigned i)
{
	double x;

	memcpy(&x, &archive->words[row][i], sizeof x);
	return x;
}

/* The small tensor of the file; it is there. */
static inline const struct safetensors_tensor *
archive_tensor(const struct safetensors_file *file, enum archive_small row)
{
	return &SAFETENSORS_TENSORS(file)[file->archive->small[row] - 1];
}

/* ---- Stages of the driver ----------------------------------------------- */

/* Whether the header makes the file an archive, and if so, and the container
 * is sound, everything that can be judged by the header; later stages look at
 * file->archive. CKPT_REJECTED if an option cannot apply. */
CKPT_MUST_USE enum ckpt_status archive_begin(
	struct safetensors_judge *judge, bool sound);

/* n bytes at at of a tensor, in whole elements. */
CKPT_MUST_USE enum ckpt_status archive_data(struct safetensors_judge *judge,
	uint32_t tensor, uint64_t at, const uint8_t *p, size_t n);

/* All values were there. */
CKPT_MUST_USE enum ckpt_status archive_end(struct safetensors_judge *judge);

/* Facts and scope, whatever became of the file; not only of archives. */
void archive_close(struct safetensors_judge *judge);

/* What tensor i is, for listeners. */
void archive_describe(
	const struct archive *archive, uint32_t i, struct ckpt_span *span);

/* ---- Pieces ------------------------------------------------------------- */

/* Takes in the keys of the tables; found: one begins as those of archives. */
CKPT_MUST_USE enum ckpt_status archive_take_keys(
	struct safetensors_judge *judge, struct archive *archive, bool *found);

/* Kind, keys and settings. */
CKPT_MUST_USE enum ckpt_status archive_judge_keys(
	struct safetensors_judge *judge);
CKPT_MUST_USE enum ckpt_status archive_judge_texts(
	struct safetensors_judge *judge);
CKPT_MUST_USE bool archive_judge_settings(struct safetensors_judge *judge);

/* Each tensor against the tables; then the lists of groups. */
CKPT_MUST_USE enum ckpt_status archive_judge_tensors(
	struct safetensors_judge *judge);
CKPT_MUST_USE enum ckpt_status archive_judge_groups(
	struct safetensors_judge *judge);

/* What only the values say. */
void archive_judge_constants(struct safetensors_judge *judge);
CKPT_MUST_USE enum ckpt_status archive_judge_merges(
	struct safetensors_judge *judge);
CKPT_MUST_USE enum ckpt_status archive_judge_order(
	struct safetensors_judge *judge);
void archive_judge_training(struct safetensors_judge *judge);

/* The data order, if it has no place at all. */
void archive_report_empty(struct safetensors_judge *judge);

/* A finding at the value of a key that is there, or at an element. */
void archive_report_key(struct safetensors_judge *judge, enum ckpt_code code,
	enum archive_key key, const char *expected);
void archive_report_value(struct safetensors_judge *judge, enum ckpt_code code,
	uint32_t tensor, uint64_t element, const char *expected,
	struct ckpt_value found, uint64_t count);

/* The two digests. */
CKPT_MUST_USE enum ckpt_status archive_hash_begin(
	struct safetensors_judge *judge);
void archive_hash_data(struct safetensors_judge *judge, uint32_t tensor,
	uint64_t at, const uint8_t *p, size_t n);
CKPT_MUST_USE enum ckpt_status archive_hash_end(
	struct safetensors_judge *judge);
void archive_hash_release(struct safetensors_judge *judge);

/* Of a whole training checkpoint: fills archive->training. */
void archive_take_training(struct archive *archive);

void archive_tell_facts(struct safetensors_judge *judge);

/* bind, encode and measure of the registry row. */
enum ckpt_status archive_bind(struct ckpt_run *run, const uint8_t *payload,
	uint64_t payload_len, struct ckpt_state *state);
enum ckpt_status archive_encode(
	const struct ckpt_state *state, struct ckpt_writer *writer);
enum ckpt_status archive_measure(
	const struct ckpt_state *state, uint64_t *bytes);

extern const struct ckpt_manual archive_manual;

#endif
