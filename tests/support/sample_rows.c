/* SPDX-License-Identifier: MIT */
/*
 * The sample schema and its bytes. The bytes and their places are written out
 * and not computed: they are what the walker, the emitter and the paths are
 * compared with.
 */
#include "support/sample_rows.h"

#include <assert.h>
#include <string.h>

#include "io/source_slow.h"

static const struct ckpt_want want_kind = {
	.kind = CKPT_WANT_RANGE,
	.max = 9,
	.code = CKPT_D_ROLE,
};
static const struct ckpt_want want_text = {
	.kind = CKPT_WANT_UTF8,
	.min = 1,
	.code = CKPT_D_NAME_UTF8,
	.short_code = CKPT_D_NAME_EMPTY,
};
static const struct ckpt_want want_u8 = {
	.kind = CKPT_WANT_RANGE,
	.min = 0x11,
	.max = 0x11,
	.code = CKPT_D_TOKENIZER_LAYOUT,
	.stops = true,
};
static const struct ckpt_want want_later = {
	.kind = CKPT_WANT_F64_POSITIVE,
	.code = CKPT_D_EPSILON,
	.at = 3,
};

static const struct ckpt_field inner_fields[] = {
	CKPT_FIELD(struct sample_inner, a, .doc = ""),
	CKPT_FIELD(struct sample_inner, x, .want = &want_later),
};
static const struct ckpt_record inner_rec = {
	.name = "inner",
	.size = sizeof(struct sample_inner),
	.fields = inner_fields,
	.nfields = 2,
};

static const struct ckpt_field point_fields[] = {
	CKPT_FIELD(struct sample_point, kind, .want = &want_kind),
	CKPT_FIELD(struct sample_point, label, .doc = ""),
	CKPT_FIELD(struct sample_point, n, .doc = ""),
	CKPT_ARRAY(struct sample_point, coords, n, CKPT_U64,
		.title = "coordinate"),
};
const struct ckpt_record sample_point_rec = {
	.name = "point",
	.size = sizeof(struct sample_point),
	.fields = point_fields,
	.nfields = 4,
	.at_slot = offsetof(struct sample_point, at),
};

static const struct ckpt_field sample_fields[] = {
	CKPT_FIELD(struct sample, magic, .doc = ""),
	CKPT_FIELD(struct sample, u8, .want = &want_u8),
	CKPT_FIELD(struct sample, u16, .doc = ""),
	CKPT_FIELD(struct sample, u32, .title = "a wide number"),
	CKPT_FIELD(struct sample, u64, .doc = ""),
	CKPT_FIELD(struct sample, f64, .want = &want_later),
	CKPT_FIELD(struct sample, text, .want = &want_text),
	CKPT_FIELD(struct sample, flag, .doc = ""),
	CKPT_ARRAY(struct sample, names, flag, CKPT_STR, .prefixed = true,
		.when = { true, offsetof(struct sample, flag), CKPT_U8, 1 },
		.title = "a name"),
	CKPT_FIELD(struct sample, inner, .rec = &inner_rec),
	CKPT_ARRAY(struct sample, words, flag, CKPT_U16, .prefixed = true),
	CKPT_FIELD(struct sample, npoints, .doc = ""),
	CKPT_ARRAY(struct sample, points, npoints, CKPT_REC,
		.rec = &sample_point_rec),
	CKPT_ARRAY(struct sample, inners, flag, CKPT_REC, .prefixed = true,
		.rec = &inner_rec),
	CKPT_FIELD(struct sample, tail, .doc = ""),
};
const struct ckpt_record sample_rec = {
	.name = "sample",
	.size = sizeof(struct sample),
	.fields = sample_fields,
	.nfields = sizeof sample_fields / sizeof sample_fields[0],
};

/* clang-format off */
const uint8_t sample_bytes[SAMPLE_BYTES] = {
	'S', 'A', 'M', 'P', 'L', 'E', 0, 1,
	0x11,
	0x21, 0x22,
	0x31, 0x32, 0x33, 0x34,
	0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
	0, 0, 0, 0, 0, 0, 0xf8, 0x3f,
	3, 0, 0, 0, 'a', 'b', 'c',
	1,
	2, 0, 0, 0,
	2, 0, 0, 0, 'n', '0',
	0, 0, 0, 0,
	0x51, 0x52,
	0, 0, 0, 0, 0, 0, 0xe0, 0xbf,
	3, 0, 0, 0,
	1, 0,
	2, 0,
	3, 1,
	2, 0, 0, 0,
	7,
	1, 0, 0, 0, 'p',
	2, 0, 0, 0,
	9, 0, 0, 0, 0, 0, 0, 0,
	8, 0, 0, 0, 0, 0, 0, 0x80,
	8,
	0, 0, 0, 0,
	0, 0, 0, 0,
	1, 0, 0, 0,
	0x61, 0,
	0, 0, 0, 0, 0, 0, 0, 0x40,
	0x77,
};

const struct sample_place sample_places[] = {
	{ "magic", "magic", 0, 8, "\"SAMPLE\\x00\\x01\"" },
	{ "u8", "u8", 8, 1, "17" },
	{ "u16", "u16", 9, 2, "8737" },
	{ "u32", "a wide number", 11, 4, "875770417" },
	{ "u64", "u64", 15, 8, "5208208757389214273" },
	{ "f64", "f64", 23, 8, "1.5 (bits 3ff8000000000000)" },
	{ "text", "text", 31, 7, "\"abc\"" },
	{ "flag", "flag", 38, 1, "1" },
	{ "names.count", "a name", 39, 4, "2" },
	{ "names[0]", "a name", 43, 6, "\"n0\"" },
	{ "names[1]", "a name", 49, 4, "\"\"" },
	{ "inner.a", "a", 53, 2, "21073" },
	{ "inner.x", "x", 55, 8, "-0.5 (bits bfe0000000000000)" },
	{ "words.count", "words", 63, 4, "3" },
	{ "words[0]", "words", 67, 2, "1" },
	{ "words[1]", "words", 69, 2, "2" },
	{ "words[2]", "words", 71, 2, "259" },
	{ "npoints", "npoints", 73, 4, "2" },
	{ "points[0].kind", "kind", 77, 1, "7" },
	{ "points[0].label", "label", 78, 5, "\"p\"" },
	{ "points[0].n", "n", 83, 4, "2" },
	{ "points[0].coords[0]", "coordinate", 87, 8, "9" },
	{ "points[0].coords[1]", "coordinate", 95, 8, "9223372036854775816" },
	{ "points[1].kind", "kind", 103, 1, "8" },
	{ "points[1].label", "label", 104, 4, "\"\"" },
	{ "points[1].n", "n", 108, 4, "0" },
	{ "inners.count", "inners", 112, 4, "1" },
	{ "inners[0].a", "a", 116, 2, "97" },
	{ "inners[0].x", "x", 118, 8, "2 (bits 4000000000000000)" },
	{ "tail", "tail", 126, 1, "119" },
};
/* clang-format on */
const size_t sample_nplaces = sizeof sample_places / sizeof sample_places[0];

void
sample_walk(struct sample_walk *w, const void *bytes, size_t n, size_t most,
	struct ckpt_sink *sink)
{
	sample_walk_to(w, bytes, n, n, most, sink);
}

void
sample_walk_to(struct sample_walk *w, const void *bytes, size_t n, uint64_t end,
	size_t most, struct ckpt_sink *sink)
{
	const struct ckpt_path top = { 0 };

	memset(w, 0, sizeof *w);
	w->run = ckpt_run_new(NULL);
	w->source = ckpt_source_slow(
		ckpt_source_memory(bytes, n), most, false, UINT64_MAX);
	assert(w->run && w->source);
	if (sink)
		ckpt_run_listen(w->run, sink);
	w->status = ckpt_reader_init(&w->reader, w->run, w->source);
	assert(w->status == CKPT_OK);
	w->walk = (struct ckpt_walk){ .run = w->run,
		.reader = &w->reader,
		.end = end,
		.truncated = CKPT_D_HEADER_TRUNCATED,
		.root = &sample_rec,
		.root_base = &w->sample };
	w->status = ckpt_walk_record(&w->walk, &sample_rec, &w->sample, &top);
}

void
sample_walk_end(struct sample_walk *w)
{
	ckpt_buf_release(&w->walk.scratch);
	ckpt_source_close(w->source);
	ckpt_run_free(w->run);
}
