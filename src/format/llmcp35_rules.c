/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the rules over more than one field that can be judged while the
 * header streams by (format section 6: A4, A5, B4, B6, C2 to C5). Each is one
 * row of llmcp35_checks and runs when the record it names is complete, so a
 * header that ends too early still gets every judgement that its bytes allow.
 */
#include "format/llmcp35.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"

unsigned
llmcp35_width(uint8_t dtype)
{
	switch (dtype) {
	case LLMCP35_U8: return 1;
	case LLMCP35_U32: return 4;
	case LLMCP35_F64: return 8;
	}
	return 0;
}

/* ---- fixed header ------------------------------------------------------- */

/* A4: a swapped marker is another machine's, anything else is damage. */
static enum ckpt_status
check_endian(void *ctx, const void *rec, uint64_t index)
{
	struct llmcp35_judge *j = ctx;
	const struct llmcp35_fixed_header *h = rec;

	(void)index;
	if (h->endian == LLMCP35_ENDIAN)
		return CKPT_OK;
	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = h->endian == __builtin_bswap32(LLMCP35_ENDIAN)
					? CKPT_D_ENDIAN_SWAPPED
					: CKPT_D_ENDIAN,
			.path = "fixed_header.endian",
			.expected = ckpt_v_text("0x01020304"),
			.found = ckpt_v_text(ckpt_walk_text(
				&j->walk, "0x%08x", (unsigned)h->endian)),
		});
	return CKPT_REJECTED;
}

static void
extent_fault(struct llmcp35_judge *j, enum ckpt_code code, const char *path,
	struct ckpt_value expected, struct ckpt_value found, const char *note)
{
	j->extents_ok = false;
	j->extent_fault = code;
	ckpt_walk_report(&j->walk, &(struct ckpt_report){
					   .code = code,
					   .path = path,
					   .expected = expected,
					   .found = found,
					   .note = note,
				   });
}

/* A5 as far as the fixed header alone can tell; a length that is known only
 * at the end is compared there. */
static enum ckpt_status
check_extents(void *ctx, const void *rec, uint64_t index)
{
	struct llmcp35_judge *j = ctx;
	const struct llmcp35_fixed_header *h = rec;

	(void)index;
	j->extents_ok = true;
	if (h->header_bytes < LLMCP35_FIXED_BYTES) {
		extent_fault(j, CKPT_D_HEADER_EXTENT,
			"fixed_header.header_bytes",
			ckpt_v_text(ckpt_walk_text(
				&j->walk, "at least %d", LLMCP35_FIXED_BYTES)),
			ckpt_v_u64(h->header_bytes), NULL);
		return CKPT_REJECTED;
	}
	if (!ckpt_add_u64(h->header_bytes, h->payload_bytes, &j->file_len)) {
		j->file_len = UINT64_MAX;
		extent_fault(j, CKPT_D_EXTENT_OVERFLOW,
			"fixed_header.payload_bytes",
			ckpt_v_text("a sum below 2^64"),
			ckpt_v_text(ckpt_walk_text(&j->walk,
				"%llu header and %llu payload bytes",
				(unsigned long long)h->header_bytes,
				(unsigned long long)h->payload_bytes)),
			NULL);
		return CKPT_OK;
	}
	if (j->reader->source->has_size)
		llmcp35_judge_length(j, j->reader->source->size, false);
	return CKPT_OK;
}

void
llmcp35_judge_length(struct llmcp35_judge *j, uint64_t length, bool at_least)
{
	uint64_t declared = j->file_len;
	const struct llmcp35_fixed_header *h = &j->file->fixed_header;
	const char *wanted;

	if (length == declared)
		return;
	wanted = ckpt_walk_text(&j->walk,
		"%llu bytes (%llu header + %llu payload)",
		(unsigned long long)declared,
		(unsigned long long)h->header_bytes,
		(unsigned long long)h->payload_bytes);
	if (length < declared)
		extent_fault(j, CKPT_D_FILE_TRUNCATED,
			"fixed_header.payload_bytes", ckpt_v_text(wanted),
			ckpt_v_u64(length),
			ckpt_walk_text(&j->walk, "short by %llu bytes",
				(unsigned long long)(declared - length)));
	else
		extent_fault(j, CKPT_D_TRAILING_BYTES,
			"fixed_header.payload_bytes", ckpt_v_text(wanted),
			ckpt_v_u64(length),
			ckpt_walk_text(&j->walk,
				"%s%llu extra bytes from offset %llu",
				at_least ? "at least " : "",
				(unsigned long long)(length - declared),
				(unsigned long long)declared));
}

/* ---- AdamW settings: 6.2 ------------------------------------------------ */

static enum ckpt_status
check_adamw(void *ctx, const void *rec, uint64_t index)
{
	struct llmcp35_judge *j = ctx;
	const struct llmcp35_adamw *a = rec;
	uint64_t unit = ckpt_reader_offset(j->reader);
	double product = a->learning_rate * a->weight_decay;

	(void)index;
	ckpt_walk_wants(&j->walk, LLMCP35_AT_ADAMW, unit);
	/* With an illegal factor the product says nothing new. */
	if (!(isfinite(a->learning_rate) && a->learning_rate > 0.0) ||
		!(isfinite(a->weight_decay) && a->weight_decay > 0.0))
		return CKPT_OK;
	if (product > 0.0 && product < 1.0)
		return CKPT_OK;
	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = CKPT_D_DECAY_PRODUCT,
			.unit = unit,
			.path = "header.adamw.weight_decay",
			.expected = ckpt_v_text(
				"learning rate x decay above 0 and below 1"),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				"%.17g x %.17g = %.17g", a->learning_rate,
				a->weight_decay, product)),
		});
	return CKPT_OK;
}

/* ---- parameter groups: 6.3 ---------------------------------------------- */

static const struct ckpt_str *
names_of(const struct ckpt_array *array)
{
	return array->p;
}

int
llmcp35_names_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_str *names = ctx;

	return ckpt_bytes_compare(
		names[a].p, names[a].n, names[b].p, names[b].n);
}

static bool
same_str(const struct ckpt_str *a, const struct ckpt_str *b)
{
	return ckpt_bytes_compare(a->p, a->n, b->p, b->n) == 0;
}

/* The two faults of one list: its empty names and its repeats, each with the
 * first place and the count. list orders decay before no-decay. */
static void
report_list(struct llmcp35_judge *j, const struct ckpt_array *array,
	const uint32_t *order, const char *list, uint64_t sub, uint64_t unit)
{
	const struct ckpt_str *names = names_of(array);
	uint64_t empties = 0, repeats = 0;
	uint32_t first_empty = 0, first_repeat = 0;

	for (uint32_t i = array->n; i-- > 0;) {
		uint32_t at = order[i];

		if (names[i].n == 0) {
			empties++;
			first_empty = i;
		}
		if (i > 0 && names[at].n > 0 &&
			same_str(&names[at], &names[order[i - 1]]) &&
			(repeats++ == 0 || at < first_repeat))
			first_repeat = at;
	}
	if (empties)
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_GROUP_NAME_EMPTY,
				.unit = unit,
				.sub = sub + first_empty,
				.path = ckpt_walk_text(&j->walk,
					"header.groups.%s[%u]", list,
					first_empty),
				.expected = ckpt_v_text("a parameter name"),
				.found = ckpt_v_text("an empty name"),
				.count = empties,
			});
	if (repeats)
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_GROUP_NAME_REPEATED,
				.unit = unit,
				.sub = sub + first_repeat,
				.path = ckpt_walk_text(&j->walk,
					"header.groups.%s[%u]", list,
					first_repeat),
				.expected = ckpt_v_text("each name once"),
				.found = ckpt_v_bytes(names[first_repeat].p,
					names[first_repeat].n),
				.count = repeats,
			});
}

/* Names of both sorted lists; the smallest is the one to name. */
static void
report_overlap(struct llmcp35_judge *j, const struct llmcp35_groups *g,
	const uint32_t *decay, const uint32_t *no_decay, uint64_t unit)
{
	const struct ckpt_str *a = names_of(&g->decay);
	const struct ckpt_str *b = names_of(&g->no_decay);
	uint64_t count = 0;
	uint32_t i = 0, k = 0, at = 0;

	while (i < g->decay.n && k < g->no_decay.n) {
		const struct ckpt_str *x = &a[decay[i]], *y = &b[no_decay[k]];
		int c = ckpt_bytes_compare(x->p, x->n, y->p, y->n);

		if (c == 0 && x->n > 0 && count++ == 0)
			at = no_decay[k];
		if (c <= 0)
			i++;
		if (c >= 0)
			k++;
	}
	if (count)
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_GROUPS_OVERLAP,
				.unit = unit,
				.path = ckpt_walk_text(&j->walk,
					"header.groups.no_decay[%u]", at),
				.expected =
					ckpt_v_text("each name in one group"),
				.found = ckpt_v_bytes(b[at].p, b[at].n),
				.count = count,
			});
}

static enum ckpt_status
check_groups(void *ctx, const void *rec, uint64_t index)
{
	struct llmcp35_judge *j = ctx;
	const struct llmcp35_groups *g = rec;
	uint64_t unit = ckpt_reader_offset(j->reader);
	uint32_t *decay, *no_decay;

	(void)index;
	if (g->flag != 1)
		return CKPT_OK;
	decay = ckpt_sorted(&j->run->arena, g->decay.n, llmcp35_names_compare,
		names_of(&g->decay));
	no_decay = ckpt_sorted(&j->run->arena, g->no_decay.n,
		llmcp35_names_compare, names_of(&g->no_decay));
	if (!decay || !no_decay)
		return ckpt_run_memory(j->run);
	report_list(j, &g->decay, decay, "decay", 0, unit);
	report_list(j, &g->no_decay, no_decay, "no_decay", LLMCP35_SECOND_LIST,
		unit);
	if (g->decay.n == 0 && g->no_decay.n == 0)
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_GROUPS_EMPTY,
				.unit = unit,
				.path = "header.groups.decay.count",
				.expected = ckpt_v_text("a name in a group"),
				.found = ckpt_v_text("two empty groups"),
			});
	report_overlap(j, g, decay, no_decay, unit);
	return CKPT_OK;
}

/* ---- one descriptor: C2 to C5 ------------------------------------------- */

bool
llmcp35_required(const struct llmcp35_record *r, uint64_t *bytes)
{
	uint64_t product = 1;

	for (uint32_t i = 0; i < r->dims.n; i++)
		if (!ckpt_mul_u64(product, LLMCP35_DIMS(r)[i], &product))
			return false;
	return ckpt_mul_u64(product, llmcp35_width(r->dtype), bytes);
}

bool
llmcp35_layout_next(struct llmcp35_layout *layout,
	const struct llmcp35_record *r, uint64_t required, uint64_t *expected)
{
	bool placed = r->offset == layout->running;

	if (r->offset == layout->other) {
		layout->running = layout->other;
		placed = true;
	}
	*expected = layout->running;
	if (!ckpt_add_u64(r->offset, required, &layout->other) ||
		!ckpt_add_u64(
			layout->running, r->byte_length, &layout->running))
		layout->lost = true;
	layout->length_fault = r->byte_length != required;
	return placed;
}

static void
report_size(struct llmcp35_judge *j, const struct llmcp35_record *r, uint64_t i,
	bool fits, uint64_t required)
{
	if (!fits)
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_SHAPE_OVERFLOW,
				.unit = i,
				.path = ckpt_walk_text(&j->walk,
					"records[%llu].dims",
					(unsigned long long)i),
				.expected = ckpt_v_text(
					"dimensions times width below 2^64"),
				.found = ckpt_v_text(llmcp35_shape_text(j, r)),
			});
	else
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_BYTE_LENGTH,
				.unit = i,
				.path = ckpt_walk_text(&j->walk,
					"records[%llu].byte_length",
					(unsigned long long)i),
				.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
					"%llu (%s x %u bytes)",
					(unsigned long long)required,
					llmcp35_shape_text(j, r),
					llmcp35_width(r->dtype))),
				.found = ckpt_v_u64(r->byte_length),
			});
}

static void
report_offset(struct llmcp35_judge *j, const struct llmcp35_record *r,
	uint64_t i, uint64_t expected, bool after_length)
{
	bool gap = r->offset > expected;
	uint64_t n = gap ? r->offset - expected : expected - r->offset;

	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = CKPT_D_OFFSET,
			.unit = i,
			.path = ckpt_walk_text(&j->walk, "records[%llu].offset",
				(unsigned long long)i),
			.expected = ckpt_v_u64(expected),
			.found = ckpt_v_u64(r->offset),
			.note = ckpt_walk_text(&j->walk, "%s of %llu bytes",
				gap ? "a gap" : "an overlap",
				(unsigned long long)n),
			.caused = after_length,
			.cause = CKPT_D_BYTE_LENGTH,
		});
}

static enum ckpt_status
check_descriptor(void *ctx, const void *rec, uint64_t i)
{
	struct llmcp35_judge *j = ctx;
	struct llmcp35_record *r = &LLMCP35_RECORDS(j->file)[i];
	bool known = llmcp35_width(r->dtype) != 0;
	bool after_length = j->layout.length_fault;
	uint64_t required, expected, end;
	bool fits = llmcp35_required(r, &required);

	(void)rec;
	/* Of an unknown dtype nobody knows what is needed. */
	if (known && !(fits && r->byte_length == required))
		report_size(j, r, i, fits, required);
	else if (known)
		r->known |= LLMCP35_SIZED;
	if (!known || !fits)
		required = r->byte_length;
	if (!ckpt_add_u64(r->offset, r->byte_length, &end))
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_END_OVERFLOW,
				.unit = i,
				.path = ckpt_walk_text(&j->walk,
					"records[%llu].byte_length",
					(unsigned long long)i),
				.expected = ckpt_v_text("an end below 2^64"),
				.found = ckpt_v_text(ckpt_walk_text(&j->walk,
					"%llu + %llu",
					(unsigned long long)r->offset,
					(unsigned long long)r->byte_length)),
			});
	if (j->layout.lost)
		return CKPT_OK;
	if (!llmcp35_layout_next(&j->layout, r, required, &expected))
		report_offset(j, r, i, expected, after_length);
	else
		r->known |= LLMCP35_PLACED;
	return CKPT_OK;
}

const struct ckpt_check llmcp35_checks[] = {
	{ "A3 A4", &llmcp35_fixed_rec, check_endian },
	{ "A5", &llmcp35_fixed_rec, check_extents },
	{ "B1 B2 B3 B4", &llmcp35_adamw_rec, check_adamw },
	{ "B5 B6", &llmcp35_groups_rec, check_groups },
	/* C2 to C5 have been made when all descriptors are there. */
	{ "", &llmcp35_descriptor_rec, check_descriptor },
};
const size_t llmcp35_nchecks = sizeof llmcp35_checks / sizeof llmcp35_checks[0];
