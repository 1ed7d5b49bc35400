/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_SAFETENSORS_H
#define CKPT_FORMAT_SAFETENSORS_H

/*
 * safetensors: the decoded header and the pieces of its driver. A file is a
 * length (u64), that many bytes of JSON, and the tensors' bytes side by side.
 * The header is read whole, because names and ranges may stand in any order;
 * texts without escapes are borrowed from it.
 */

#include "format/format.h"
#include "format/json.h"

struct safetensors_dtype; /* format/safetensors_dtype.h */
struct archive;           /* format/archive.h */

#define SAFETENSORS_METADATA "__metadata__"

enum {
	SAFETENSORS_LENGTH_BYTES = 8,
	SAFETENSORS_HEADER_MOST = 100000000, /* the format's own loader */
	SAFETENSORS_DEPTH = 8,               /* the root object is 1 */
	SAFETENSORS_LOADER_DEPTH = 127,
	/* Blocks of a tensor's data are multiples of this, so of every
	 * element (F6: four in three bytes; C64: eight bytes). */
	SAFETENSORS_BLOCK_UNIT = 24,
};

/* One entry of the header whose fields are all there and of their type. */
struct safetensors_tensor {
	struct ckpt_str name; /* unescaped */
	/* Of u64, outermost first; n of them are kept, declared are there. */
	struct ckpt_array shape;
	uint64_t begin, end;                   /* data_offsets */
	const struct safetensors_dtype *dtype; /* NULL: unknown */
	uint64_t elements;                     /* 0 if they overflow */
	/* Offsets in the JSON text: of the key's quote, of the fields' values,
	 * and behind the record. */
	uint32_t at, dtype_at, shape_at, offsets_at, after;
	uint32_t hash;   /* of the name */
	uint32_t number; /* among all entries; its index if all are sound */
	bool overflow;   /* elements or bits do not fit 64 bits */
	bool replaced;   /* a later one of the same name counts instead */
};

/* One entry of __metadata__ by offsets in the JSON text: of the key's and the
 * value's quote, and behind it. */
struct safetensors_entry {
	uint32_t at, value_at, after;
	uint32_t hash; /* of the key */
};

/* An entry of the header that has a fault: its name counts all the same. */
struct safetensors_faulty {
	uint32_t at; /* of the key's quote */
	uint32_t number;
};

/* A key of what the format does not know, to find repeats. */
struct safetensors_key {
	/* Number of the object that it stands in; whether that is the entry
	 * itself. Objects are less than half as many as bytes. */
	uint32_t object : 31, field : 1;
	uint32_t at;
	uint32_t hash;
	uint32_t record; /* number of the header's entry */
};

#define SAFETENSORS_IN_METADATA UINT32_MAX /* instead of such a number */

enum { SAFETENSORS_RANK_KEPT = 4096 };

struct safetensors_file {
	uint64_t header_bytes;
	struct ckpt_array metadata; /* of struct safetensors_entry */
	struct ckpt_array tensors;  /* in the order of the header */
	const uint8_t *json;        /* header_bytes of them, once read */
	uint64_t data_at;           /* file offset of the tensors' bytes */
	/* Indices of those that are not replaced, by (begin, end), then by
	 * place in the header; set before the tensors' bytes are read. */
	const uint32_t *order;
	uint32_t norder;
	struct archive *archive; /* NULL: it is none */
};

#define SAFETENSORS_TENSORS(file)                                              \
	((struct safetensors_tensor *)(file)->tensors.p)
#define SAFETENSORS_SHAPE(tensor) ((const uint64_t *)(tensor)->shape.p)
#define SAFETENSORS_ENTRIES(file)                                              \
	((const struct safetensors_entry *)(file)->metadata.p)

/* Bytes of a tensor of a file whose ranges were found to be right. */
static inline uint64_t
safetensors_len(const struct safetensors_tensor *tensor)
{
	return tensor->end - tensor->begin;
}

/* File offset of its first byte; of such a file, too. */
static inline uint64_t
safetensors_off(const struct safetensors_file *file,
	const struct safetensors_tensor *tensor)
{
	return file->data_at + tensor->begin;
}

/* Everything the rules of one file share. */
struct safetensors_judge {
	struct ckpt_run *run;
	struct ckpt_reader *reader;
	struct safetensors_file *file;
	struct ckpt_walk walk;   /* for reports and their words only */
	bool reference;          /* judge as the format's own loader does */
	bool is_utf8, begun;     /* the header; it begins with a JSON value */
	bool parsed;             /* the JSON text was understood to its end */
	bool in_metadata;        /* while it is read */
	uint32_t metadata_again; /* where it begins a second time, or 0 */
	uint32_t entries;        /* of the header, sound or not */
	uint32_t objects;        /* of what the format does not know */
	uint32_t nkeys, nfaulty;
	uint64_t nunknown;                   /* dtypes that nobody knows */
	struct safetensors_key *keys;        /* of those, nkeys */
	struct safetensors_faulty *faulty;   /* nfaulty of the entries */
	uint64_t faults;                     /* errors before the last stage */
	struct safetensors_content *content; /* while values stream by */
};

/* One finding, by the members of struct ckpt_report; off and len are absolute
 * in the file. Paths: "tensors[3].dtype", "tensors[3].data[17]". */
#define SAFETENSORS_REPORT(j, ...)                                             \
	ckpt_walk_report(&(j)->walk,                                           \
		&(struct ckpt_report){ .placed = true, __VA_ARGS__ })

/* "tensors[3]" and what follows it, until the next report. i is the number of
 * the entry in the header. */
const char *safetensors_path(
	struct safetensors_judge *judge, uint64_t i, const char *rest);

/* A name in quotes as it may be shown; "[2, 3]"; until the next report. */
const char *safetensors_quote(
	struct safetensors_judge *judge, const struct ckpt_str *name);
const char *safetensors_shape_text(struct safetensors_judge *judge,
	const struct safetensors_tensor *tensor);

/* A piece of the JSON text as it may be shown; where the string, or another
 * value, ends that begins at at. */
const char *safetensors_raw(
	struct safetensors_judge *judge, uint64_t at, uint64_t end);
uint64_t safetensors_string_end(
	const struct safetensors_judge *judge, uint64_t at);
uint64_t safetensors_value_end(
	const struct safetensors_judge *judge, uint64_t at);

/* A name, or another string, by its quote: in quotes and without the escapes
 * that the text has. */
const char *safetensors_string(struct safetensors_judge *judge, uint64_t at);

/* Where the value begins, and where it ends, whose key's quote is at at. */
uint64_t safetensors_value_of(
	const struct safetensors_judge *judge, uint64_t at, uint64_t *end);

/* "1 byte"; "5 bytes". */
const char *safetensors_count(
	struct safetensors_judge *judge, uint64_t n, const char *noun);

/* What readers take that keep the first, or the last, of two definitions. */
const char *safetensors_readers(
	struct safetensors_judge *judge, const char *first, const char *last);

/*
 * The values, in one pass (safetensors_content*.c). Called only for a file
 * whose structure has no error, and never in the reference profile:
 *   begin  once; file->order has the tensors by offset
 *   data   for every block of every tensor that is not empty, in that order;
 *          at bytes of the tensor came before. A block is a multiple of
 *          SAFETENSORS_BLOCK_UNIT unless it is the tensor's last
 *   end    once all bytes were there; all findings are reported here, so
 *          that a file that turns out to be cut off has none about values
 *   release always, also when end was never reached
 */
enum ckpt_status safetensors_content_begin(struct safetensors_judge *judge);
enum ckpt_status safetensors_content_data(struct safetensors_judge *judge,
	uint64_t tensor, uint64_t at, const uint8_t *p, size_t n);
enum ckpt_status safetensors_content_end(struct safetensors_judge *judge);
void safetensors_content_release(struct safetensors_judge *judge);

/* ---- The driver's stages ------------------------------------------------ */

/* File offset of an offset in the JSON text. */
static inline uint64_t
safetensors_at(uint64_t in_json)
{
	return SAFETENSORS_LENGTH_BYTES + in_json;
}

/* The header's bytes by its length, which was read; ready says whether they
 * are there. What is wrong with the length is reported. */
CKPT_MUST_USE enum ckpt_status safetensors_read_header(
	struct safetensors_judge *judge, bool *ready);

/* The JSON text: decodes it into the file, reports what is wrong. */
enum ckpt_status safetensors_parse_header(struct safetensors_judge *judge);

/* One entry of the header whose key was just read, up to its end. False if
 * the text ends or breaks inside it. */
CKPT_MUST_USE bool safetensors_parse_record(struct safetensors_judge *judge,
	struct ckpt_scan *scan, const struct ckpt_token *key,
	const struct ckpt_str *name);

/* "an array". */
const char *safetensors_kind_text(enum ckpt_scan_kind kind);

/* Passes over a value that the format does not know; its keys are kept. */
CKPT_MUST_USE bool safetensors_pass_unknown(struct safetensors_judge *judge,
	struct ckpt_scan *scan, struct ckpt_token *token);
void safetensors_keep_key(struct safetensors_judge *judge,
	struct ckpt_scan *scan, const struct ckpt_token *token, uint32_t object,
	bool field);

/* Names and keys that are there twice. */
enum ckpt_status safetensors_judge_repeats(struct safetensors_judge *judge);

/* Each tensor's size against its range. */
void safetensors_judge_sizes(struct safetensors_judge *judge);

/* That the tensors lie side by side from 0 on; sets the order. */
enum ckpt_status safetensors_judge_tiling(struct safetensors_judge *judge);

/* That they end where the file ends; at_least: there may be more of it. tail
 * are n bytes from the end of the last tensor on. */
void safetensors_judge_end(struct safetensors_judge *judge, uint64_t size,
	bool at_least, const uint8_t *tail, size_t n);

/* Where the last tensor ends, from the beginning of the data. */
uint64_t safetensors_data_end(const struct safetensors_file *file);

/* Warnings about names and shapes. */
void safetensors_judge_names(struct safetensors_judge *judge);

/* A warning that must be asked for; only if the tensors lie side by side. */
void safetensors_judge_alignment(struct safetensors_judge *judge);

/* Header fields and tensors as events. */
enum ckpt_status safetensors_tell(struct safetensors_judge *judge);

extern const struct ckpt_record safetensors_file_rec;

/* Rows of an entry's fields, in the order of the enumerators. */
enum {
	SAFETENSORS_NAME,
	SAFETENSORS_DTYPE,
	SAFETENSORS_DIMENSION,
	SAFETENSORS_RANGE
};
extern const struct ckpt_field safetensors_tensor_fields[];
enum { SAFETENSORS_KEY, SAFETENSORS_VALUE };
extern const struct ckpt_field safetensors_entry_fields[];
extern const struct ckpt_field safetensors_syntax_field;
/* encode and measure of the registry row. */
enum ckpt_status safetensors_encode(
	const struct ckpt_state *state, struct ckpt_writer *writer);
enum ckpt_status safetensors_measure(
	const struct ckpt_state *state, uint64_t *bytes);

extern const struct ckpt_text_rules safetensors_text_rules;
extern const struct ckpt_manual safetensors_manual;

#endif
