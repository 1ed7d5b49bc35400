/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_SAMPLE_ROWS_H
#define CKPT_TESTS_SAMPLE_ROWS_H

/*
 * A schema with one row of every kind, for tests of what reads the rows; and
 * one encoding of it, made by hand, with the place of every field.
 */

#include "io/reader.h"
#include "wire/schema.h"
#include "wire/walk.h"

struct sample_inner {
	uint16_t a;
	double x;
};

struct sample_point {
	uint8_t kind;
	struct ckpt_str label;
	uint32_t n;
	struct ckpt_array coords; /* n u64 */
	uint64_t at;
};

struct sample {
	struct ckpt_magic magic;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	double f64;
	struct ckpt_str text;
	uint8_t flag;
	struct ckpt_array names; /* strings, if flag is 1 */
	struct sample_inner inner;
	struct ckpt_array words; /* u16 */
	uint32_t npoints;
	struct ckpt_array points; /* npoints sample_point */
	struct ckpt_array inners; /* sample_inner */
	uint8_t tail;
};

extern const struct ckpt_record sample_rec, sample_point_rec;

enum { SAMPLE_BYTES = 127 };
extern const uint8_t sample_bytes[SAMPLE_BYTES];

/* Fields in file order; each begins where the one before it ends. */
struct sample_place {
	const char *path;
	const char *title;
	uint64_t off, len;
	const char *shown; /* as ckpt_value_write() has it */
};
extern const struct sample_place sample_places[];
extern const size_t sample_nplaces;

/* One walk over n bytes, in chunks of most. */
struct sample_walk {
	struct ckpt_run *run;
	struct ckpt_source *source;
	struct ckpt_reader reader;
	struct ckpt_walk walk;
	struct sample sample;
	enum ckpt_status status;
};

void sample_walk(struct sample_walk *w, const void *bytes, size_t n,
	size_t most, struct ckpt_sink *sink);

/* The same when the header is said to end at end. */
void sample_walk_to(struct sample_walk *w, const void *bytes, size_t n,
	uint64_t end, size_t most, struct ckpt_sink *sink);
void sample_walk_end(struct sample_walk *w);

#endif
