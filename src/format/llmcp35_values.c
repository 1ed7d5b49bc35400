/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the payload, once, in file order (format section 6: E5, F4, and
 * the tokenizer contents). Values are scanned in the buffer in which they
 * arrive, while they are in the cache. Tensors begin at any offset, so an
 * element may straddle two buffers: up to seven bytes are carried over.
 *
 * Only records whose place and size are certain are read; what lies between
 * or behind them is passed over.
 */
#include "format/llmcp35.h"

#include <string.h>

#include "base/bytes.h"
#include "format/f64_block.h"

#define EXPONENT CKPT_F64_EXPONENT
#define SIGN     CKPT_F64_SIGN

/* First places and counts over one tensor. */
struct scan {
	ckpt_f64_look *look;
	uint64_t at; /* elements so far */
	uint64_t not_finite, first_not_finite, bits_not_finite;
	uint64_t negative, first_negative, bits_negative;
	bool nonzero;
	uint8_t carry[8];
	size_t carried;
};

static void
scan_one(struct scan *s, uint64_t bits)
{
	if ((bits & EXPONENT) == EXPONENT) {
		if (s->not_finite++ == 0) {
			s->first_not_finite = s->at;
			s->bits_not_finite = bits;
		}
	} else if (bits & SIGN && bits != SIGN) {
		if (s->negative++ == 0) {
			s->first_negative = s->at;
			s->bits_negative = bits;
		}
	}
	s->nonzero |= (bits & ~SIGN) != 0;
	s->at++;
}

/* Most blocks need no closer look. A sign is odd only in second moments
 * (watch is SIGN there and 0 elsewhere): the others are half negative. */
static void
scan_block(struct scan *s, const uint8_t *p, uint64_t watch)
{
	struct ckpt_f64_glance g = s->look(p);

	if (!g.special && (g.any & watch) == 0) {
		s->nonzero |= (g.any & ~SIGN) != 0;
		s->at += CKPT_F64_BLOCK / 8;
		return;
	}
	for (size_t i = 0; i < CKPT_F64_BLOCK; i += 8)
		scan_one(s, ckpt_load_u64(p + i));
}

static void
scan_data(struct scan *s, const uint8_t *p, size_t n, bool second)
{
	while (n > 0 && s->carried > 0) {
		s->carry[s->carried++] = *p++;
		n--;
		if (s->carried == 8) {
			s->carried = 0;
			scan_one(s, ckpt_load_u64(s->carry));
		}
	}
	for (; n >= CKPT_F64_BLOCK; p += CKPT_F64_BLOCK, n -= CKPT_F64_BLOCK)
		scan_block(s, p, second ? SIGN : 0);
	for (; n >= 8; p += 8, n -= 8)
		scan_one(s, ckpt_load_u64(p));
	if (n > 0)
		memcpy(s->carry, p, n);
	s->carried += n;
}

/* "records[7].data[2,3]": element i of a row-major tensor. */
static const char *
element_path(struct llmcp35_judge *j, const struct llmcp35_record *r,
	uint64_t record, uint64_t i)
{
	if (r->dims.n == 2 && LLMCP35_DIMS(r)[1] > 0)
		return ckpt_walk_text(&j->walk, "records[%llu].data[%llu,%llu]",
			(unsigned long long)record,
			(unsigned long long)(i / LLMCP35_DIMS(r)[1]),
			(unsigned long long)(i % LLMCP35_DIMS(r)[1]));
	return ckpt_walk_text(&j->walk, "records[%llu].data[%llu]",
		(unsigned long long)record, (unsigned long long)i);
}

struct value_fault {
	enum ckpt_code code;
	uint64_t record, k;
	unsigned sub;
	uint64_t first, bits, count;
	const char *expected;
};

static void
report_value(struct llmcp35_judge *j, const struct value_fault *v)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[v->record];
	struct ckpt_buf name;

	ckpt_buf_init(&name);
	ckpt_buf_escape(&name, r->name.p, r->name.n, CKPT_BUF_SHOWN);
	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = v->code,
			.unit = v->k,
			.sub = v->sub,
			.path = element_path(j, r, v->record, v->first),
			.placed = true,
			.off = r->offset + 8 * v->first,
			.len = 8,
			.expected = ckpt_v_text(v->expected),
			.found = ckpt_v_f64(v->bits),
			.note = ckpt_walk_text(&j->walk,
				"%s, flat index %llu, %llu of %llu values",
				name.p ? name.p : "",
				(unsigned long long)v->first,
				(unsigned long long)v->count,
				(unsigned long long)(r->byte_length / 8)),
			.count = v->count,
		});
	ckpt_buf_release(&name);
}

static void
report_scan(struct llmcp35_judge *j, const struct scan *s, uint64_t record,
	uint64_t k, uint8_t role)
{
	bool second = role == LLMCP35_SECOND_MOMENT;
	struct value_fault v = { .record = record,
		.k = k,
		.code = role == LLMCP35_PARAMETER ? CKPT_D_PARAMETER_NOT_FINITE
						  : CKPT_D_MOMENT_NOT_FINITE,
		.sub = second ? 1 : 0,
		.first = s->first_not_finite,
		.bits = s->bits_not_finite,
		.count = s->not_finite,
		.expected = "a finite number" };

	if (second) {
		j->second_seen = true;
		j->second_nonzero |= s->nonzero;
	}
	if (s->not_finite)
		report_value(j, &v);
	if (!second || !s->negative)
		return;
	v.code = CKPT_D_SECOND_MOMENT_NEGATIVE;
	v.sub = 2;
	v.first = s->first_negative;
	v.bits = s->bits_negative;
	v.count = s->negative;
	v.expected = "at least 0";
	report_value(j, &v);
}

/* One record's payload: to the scan, the tokenizer, and the listeners. */
static enum ckpt_status
stream_record(struct llmcp35_judge *j, uint64_t i, enum llmcp35_segment segment,
	struct scan *scan, bool *whole)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];
	uint64_t left = r->byte_length;

	while (left > 0) {
		enum ckpt_status status = CKPT_OK;
		struct ckpt_event event = { .kind = CKPT_EV_DATA,
			.index = i,
			.off = ckpt_reader_offset(j->reader) };
		size_t n = ckpt_reader_peek(j->reader, 1, &event.data);

		if (n == 0)
			break;
		if (n > left)
			n = (size_t)left;
		event.len = n;
		if (scan)
			scan_data(scan, event.data, n,
				r->role == LLMCP35_SECOND_MOMENT);
		if (segment == LLMCP35_SEG_TOKENIZER)
			status = llmcp35_tokens_data(j, i, event.data, n);
		if (status == CKPT_OK)
			status = ckpt_run_event(j->run, &event);
		if (status != CKPT_OK)
			return status;
		ckpt_reader_skip(j->reader, n);
		left -= n;
	}
	*whole = left == 0;
	return j->reader->status;
}

/* Whether the values of a record are judged, and its number for the rank.
 * With a sound table the place decides, else the record's own role. */
static bool
scanned(const struct llmcp35_judge *j, uint64_t i, enum llmcp35_segment segment,
	uint64_t seen[6], uint64_t *k)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];

	if (r->role < LLMCP35_PARAMETER || r->role > LLMCP35_SECOND_MOMENT ||
		r->dtype != LLMCP35_F64)
		return false;
	if (segment == LLMCP35_SEG_NONE)
		*k = seen[r->role]++;
	else if (segment == LLMCP35_SEG_PARAMETER)
		return r->role == LLMCP35_PARAMETER;
	else if (segment == LLMCP35_SEG_MOMENT)
		return r->role != LLMCP35_PARAMETER;
	return segment == LLMCP35_SEG_NONE;
}

static enum ckpt_status
judge_record(struct llmcp35_judge *j, uint64_t i, uint64_t seen[6], bool *whole)
{
	const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];
	struct scan scan = { .look = ckpt_f64_looking() };
	enum llmcp35_segment segment;
	enum ckpt_status status;
	uint64_t k;
	bool values;

	segment = llmcp35_segment_of(j, i, &k);
	values = scanned(j, i, segment, seen, &k);
	status = stream_record(j, i, segment, values ? &scan : NULL, whole);
	if (status != CKPT_OK)
		return status;
	/* Of a cut tensor what was there counts as well. */
	if (values)
		report_scan(j, &scan, i, k, r->role);
	if (segment == LLMCP35_SEG_TOKENIZER && *whole)
		return llmcp35_tokens_record_end(j, i);
	return CKPT_OK;
}

static void
mark_values(struct llmcp35_judge *j, bool all, bool tokens)
{
	static const char some[] =
		"some tensors could not be read at a certain place";

	if (all) {
		ckpt_diags_ran(&j->run->diags, "E5 F4");
	} else {
		ckpt_diags_skipped(&j->run->diags, "E5 F4", some);
	}
	if (!tokens) {
		ckpt_diags_skipped(&j->run->diags, "D3 D6", some);
	}
}

enum ckpt_status
llmcp35_judge_values(struct llmcp35_judge *j)
{
	uint64_t seen[6] = { 0 };
	bool all = true, tokens = true;
	enum ckpt_status status = llmcp35_tokens_begin(j);

	for (uint64_t i = 0; i < j->file->records.n && status == CKPT_OK; i++) {
		const struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];
		uint64_t at = ckpt_reader_offset(j->reader);
		bool whole = false;

		if (r->known == (LLMCP35_SIZED | LLMCP35_PLACED) &&
			r->offset >= at) {
			ckpt_reader_drop(j->reader, r->offset - at);
			status = judge_record(j, i, seen, &whole);
		}
		all &= whole;
		if (i < j->ntokenizer)
			tokens &= whole;
	}
	if (status == CKPT_OK)
		status = j->reader->status;
	if (status != CKPT_OK)
		return status;
	mark_values(j, all, tokens);
	j->second_seen &= all;
	return j->table_ok && tokens ? llmcp35_tokens_end(j) : CKPT_OK;
}
