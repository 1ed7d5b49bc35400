/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_LLMCP35_H
#define CKPT_FORMAT_LLMCP35_H

/*
 * LLMCP35 version 1: the decoded structure and the pieces of its driver. The
 * structs have the specification's fields in file order; the rows that give
 * them their wire facts stand in llmcp35_schema.c.
 */

#include "format/format.h"

struct llmcp35_fixed_header {
	struct ckpt_magic magic;
	uint16_t version;
	uint32_t endian;
	uint64_t header_bytes;
	uint64_t payload_bytes;
	uint64_t checksum;
};

struct llmcp35_decoder {
	uint64_t vocabulary;
	uint64_t width;
	uint64_t heads;
	uint64_t feed_forward_width;
	uint64_t layers;
	uint64_t positions;
	double rope_base;
	double rms_epsilon;
};

struct llmcp35_adamw {
	double learning_rate;
	double beta1;
	double beta2;
	double epsilon;
	double weight_decay;
};

struct llmcp35_groups {
	uint8_t flag;
	struct ckpt_array decay;
	struct ckpt_array no_decay;
};

struct llmcp35_optimizer {
	uint64_t step;
	double beta1_power;
	double beta2_power;
};

struct llmcp35_counts {
	uint32_t parameters;
	uint32_t optimizer;
	uint32_t descriptors;
};

struct llmcp35_header {
	uint16_t tokenizer_layout;
	uint16_t rng_algorithm;
	uint64_t selected_step;
	uint64_t sampling_rng_state;
	uint8_t tokenizer_kind;
	uint64_t tokenizer_vocabulary;
	struct llmcp35_decoder decoder;
	struct llmcp35_adamw adamw;
	struct llmcp35_groups groups;
	struct llmcp35_optimizer optimizer;
	struct llmcp35_counts counts;
};

/* What is known of a record beyond its fields (llmcp35_record.known). */
enum {
	LLMCP35_SIZED = 1,  /* shape, dtype and byte length agree */
	LLMCP35_PLACED = 2, /* it begins where the one before it ends */
};

struct llmcp35_record {
	uint8_t role;
	uint8_t dtype;
	uint8_t known;
	uint32_t rank;
	struct ckpt_str name;
	struct ckpt_array dims;
	uint64_t offset;
	uint64_t byte_length;
	uint64_t at; /* file offset of the descriptor itself */
};

struct llmcp35_file {
	struct llmcp35_fixed_header fixed_header;
	struct llmcp35_header header;
	struct ckpt_array records;
};

enum {
	LLMCP35_LITERAL_TOKEN = 1,
	LLMCP35_BPE_PAIRS = 2,
	LLMCP35_PARAMETER = 3,
	LLMCP35_FIRST_MOMENT = 4,
	LLMCP35_SECOND_MOMENT = 5,
};

enum { LLMCP35_U8 = 1, LLMCP35_U32 = 2, LLMCP35_F64 = 3 };

enum { LLMCP35_KIND_LITERAL = 1, LLMCP35_KIND_BPE = 2 };

#define LLMCP35_MAGIC    "LLMCP35" /* and its NUL: eight bytes */
#define LLMCP35_BPE_NAME "training-pairs"

enum {
	LLMCP35_FIXED_BYTES = 38,
	LLMCP35_CHECKSUM_AT = 30,
	LLMCP35_ENDIAN = 0x01020304,
};

/* The order within a rank of names of the second list of groups, behind all
 * of the first. */
#define LLMCP35_SECOND_LIST ((uint64_t)1 << 33)

/* Phases at which rows of legal values are judged (ckpt_want.at). */
enum {
	LLMCP35_AT_READ,
	LLMCP35_AT_ADAMW,   /* 6.2 */
	LLMCP35_AT_DECODER, /* 6.1 */
};

extern const struct ckpt_record llmcp35_file_rec;
extern const struct ckpt_record llmcp35_fixed_rec;
extern const struct ckpt_record llmcp35_header_rec;
extern const struct ckpt_record llmcp35_decoder_rec;
extern const struct ckpt_record llmcp35_adamw_rec;
extern const struct ckpt_record llmcp35_groups_rec;
extern const struct ckpt_record llmcp35_optimizer_rec;
extern const struct ckpt_record llmcp35_counts_rec;
extern const struct ckpt_record llmcp35_descriptor_rec;

/* Tag tables that give roles and dtypes their names. */
extern const struct ckpt_want llmcp35_want_role, llmcp35_want_dtype;

extern const struct ckpt_check llmcp35_checks[];
extern const size_t llmcp35_nchecks;

/* Which part of the table a record belongs to. */
enum llmcp35_segment {
	LLMCP35_SEG_TOKENIZER,
	LLMCP35_SEG_PARAMETER,
	LLMCP35_SEG_MOMENT,
	LLMCP35_SEG_NONE,
};

/* Where records have to begin. After one wrong offset or length there are two
 * candidates for the next record: what the declared lengths add up to, and
 * what it would be had the wrong field been right. So one wrong field gives
 * one finding and not one for every record behind it. */
struct llmcp35_layout {
	uint64_t running;
	uint64_t other;
	bool lost;         /* an end overflowed: no expectation any more */
	bool length_fault; /* the record before had a wrong length */
};

/* Everything the rules of one file share. */
struct llmcp35_judge {
	struct ckpt_run *run;
	struct ckpt_walk walk;
	struct ckpt_reader *reader;
	struct llmcp35_file *file;
	bool extents_ok;             /* A5 passed */
	enum ckpt_code extent_fault; /* if not */
	uint64_t file_len; /* declared, or what there is if that is wrong */
	bool table_ok;     /* the records are as many as the counts say */
	bool header_ok;    /* decoded to its last descriptor */
	bool checksum_fault;
	struct llmcp35_layout layout; /* while descriptors arrive */
	/* Segments, when table_ok. */
	uint64_t ntokenizer;
	/* Values. */
	bool second_seen, second_nonzero;
	struct llmcp35_tokens *tokens;
};

/* One finding, by the members of struct ckpt_report. */
#define LLMCP35_REPORT(j, ...)                                                 \
	ckpt_walk_report(&(j)->walk, &(struct ckpt_report){ __VA_ARGS__ })

#define LLMCP35_RECORDS(file) ((struct llmcp35_record *)(file)->records.p)
#define LLMCP35_DIMS(record)  ((const uint64_t *)(record)->dims.p)

/* Where the record has to begin by what came before it, and whether it does;
 * then moves on behind it. required is the length that its shape needs, its
 * own where that is not known. */
bool llmcp35_layout_next(struct llmcp35_layout *layout,
	const struct llmcp35_record *record, uint64_t required,
	uint64_t *expected);

/* The bytes that shape and dtype need; false if they do not fit 64 bits. */
bool llmcp35_required(const struct llmcp35_record *record, uint64_t *bytes);

/* Segment of record i, and *k its number inside that segment. */
enum llmcp35_segment llmcp35_segment_of(
	const struct llmcp35_judge *judge, uint64_t i, uint64_t *k);

/* Bytes of an element, 0 if the dtype is unknown. */
unsigned llmcp35_width(uint8_t dtype);
bool llmcp35_same_shape(
	const struct llmcp35_record *a, const struct llmcp35_record *b);

/* "[5, 4]", for findings. */
const char *llmcp35_shape_text(
	struct llmcp35_judge *judge, const struct llmcp35_record *record);

/* Bytewise order of an array of struct ckpt_str, for ckpt_sorted(). */
int llmcp35_names_compare(const void *names, uint32_t a, uint32_t b);

/* A5: the file's length against the declared one. */
void llmcp35_judge_length(
	struct llmcp35_judge *judge, uint64_t length, bool at_least);

/* Sets of names. */
struct llmcp35_names {
	const struct ckpt_str *names; /* by index */
	const uint32_t *order;        /* bytewise */
	uint32_t n;
};

/* Name number i in bytewise order. */
const struct ckpt_str *llmcp35_name_at(
	const struct llmcp35_names *set, uint32_t i);
int llmcp35_name_compare(const struct ckpt_str *a, const struct ckpt_str *b);

/* The names of n records from record first on, step apart; of both groups,
 * decay first. False when memory is used up. */
bool llmcp35_record_names(struct llmcp35_judge *judge, uint64_t first,
	uint32_t n, unsigned step, struct llmcp35_names *set);
bool llmcp35_group_names(
	struct llmcp35_judge *judge, struct llmcp35_names *set);

/* The first place at which two sets differ; UINT32_MAX if nowhere. */
uint32_t llmcp35_names_difference(
	const struct llmcp35_names *a, const struct llmcp35_names *b);

/* "12 names, number 3 in order is x". */
const char *llmcp35_names_text(struct llmcp35_judge *judge,
	const struct llmcp35_names *set, uint32_t at);

/* The stages, in the order in which they run. Findings may come in any. */
enum ckpt_status llmcp35_judge_table(struct llmcp35_judge *judge); /* C, D, E */
enum ckpt_status llmcp35_judge_layout(struct llmcp35_judge *judge); /* 6.6 */
enum ckpt_status llmcp35_judge_values(struct llmcp35_judge *judge);
enum ckpt_status llmcp35_judge_state(struct llmcp35_judge *judge); /* F, G */
enum ckpt_status llmcp35_judge_warnings(struct llmcp35_judge *judge);

/* Tokenizer contents (stage D), fed while the payload streams by. */
enum ckpt_status llmcp35_tokens_begin(struct llmcp35_judge *judge);
enum ckpt_status llmcp35_tokens_data(struct llmcp35_judge *judge,
	uint64_t record, const uint8_t *p, size_t n);
enum ckpt_status llmcp35_tokens_record_end(
	struct llmcp35_judge *judge, uint64_t record);
enum ckpt_status llmcp35_tokens_end(struct llmcp35_judge *judge);
void llmcp35_tokens_release(struct llmcp35_judge *judge);

extern const struct ckpt_draft_rules llmcp35_draft_rules;
extern const struct ckpt_manual llmcp35_manual;

/* bind, encode and measure of the registry row. */
enum ckpt_status llmcp35_bind(struct ckpt_run *run, const uint8_t *payload,
	uint64_t payload_len, struct ckpt_state *state);
enum ckpt_status llmcp35_encode(
	const struct ckpt_state *state, struct ckpt_writer *writer);
enum ckpt_status llmcp35_measure(
	const struct ckpt_state *state, uint64_t *bytes);

#endif
