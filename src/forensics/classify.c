/* SPDX-License-Identifier: MIT */
/*
 * The classifier: one scan gathers traces, judges turn them into causes, the
 * causes are ranked. This file has what they share. Likelihoods follow fixed
 * rules that each judge states as the reason of its cause; none is a number,
 * because nobody has counted how often files are damaged in which way.
 */
#include "forensics/classify_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"
#include "format/format.h"
#include "io/source_read.h"
#include "sink/number.h"
#include "sink/words.h"

enum {
	BUDGET = 64 * 1024 * 1024,
	SHOWN = 40, /* bytes that are shown at most */
};

/* ---- Reading ------------------------------------------------------------ */

size_t
ckpt_classify_read(struct classify *c, uint64_t off, void *bytes, size_t n)
{
	size_t got = 0;

	if (c->status == CKPT_OK)
		c->status =
			ckpt_source_read_up_to(c->source, off, bytes, n, &got);
	return got;
}

bool
ckpt_classify_go_on(struct classify *c, uint64_t done)
{
	const struct ckpt_options *o = &c->run->options;

	if (o->progress && !o->progress(o->progress_ctx, done, c->size))
		c->status = CKPT_STOP;
	return c->status == CKPT_OK;
}

/* ---- Where things are --------------------------------------------------- */

const struct ckpt_span *
ckpt_classify_tensor(const struct classify *c, uint64_t off)
{
	const struct ckpt_owner *owner = ckpt_spans_at(c->spans, off);

	return owner && owner->kind == CKPT_OWNER_TENSOR
		       ? &c->spans->tensors[owner->index]
		       : NULL;
}

/* Bytes of a row: what the first dimension counts. */
static uint64_t
row_of(const struct ckpt_span *span)
{
	if (span->rank < 2 || span->dims[0] == 0)
		return 0;
	return span->len / span->dims[0];
}

/* Rows that end in the last dimension: masks have zeros there, too. */
static uint64_t
line_of(const struct ckpt_span *span)
{
	uint64_t line;

	if (span->rank < 2 ||
		!ckpt_mul_u64(span->dims[span->rank - 1], span->width, &line))
		return 0;
	return line;
}

enum classify_edge
ckpt_classify_edge_at(const struct classify *c, uint64_t off)
{
	const struct ckpt_span *t = ckpt_classify_tensor(c, off);
	uint64_t in, row, line;

	if (!t) /* where the last tensor ends, and what is no tensor */
		return EDGE_TENSOR;
	in = off - t->off;
	if (in == 0)
		return EDGE_TENSOR;
	row = row_of(t);
	line = line_of(t);
	if ((row > 0 && in % row == 0) || (line > 0 && in % line == 0))
		return EDGE_ROW;
	return EDGE_NONE;
}

enum classify_edge
ckpt_classify_edge_in(const struct classify *c, uint64_t from, uint64_t to)
{
	enum classify_edge best = EDGE_NONE;

	for (uint64_t i = from; i <= to; i++) {
		enum classify_edge edge = ckpt_classify_edge_at(c, i);

		if (edge > best)
			best = edge;
	}
	return best;
}

bool
ckpt_classify_is_float(const struct ckpt_span *t)
{
	return t && ckpt_number_of(t) == CKPT_NUMBER_FLOAT && t->width > 1;
}

size_t
ckpt_classify_values(const uint8_t *p, size_t n)
{
	bool seen[256] = { false };
	size_t values = 0;

	for (size_t i = 0; i < n; i++) {
		values += !seen[p[i]];
		seen[p[i]] = true;
	}
	return values;
}

bool
ckpt_classify_found(const struct classify *c, enum ckpt_code code)
{
	return c->run->diags.per_rule[code] > 0;
}

uint64_t
ckpt_classify_block(uint64_t x, const char **words)
{
	static const struct {
		uint64_t size;
		const char *words;
	} blocks[] = {
		{ (uint64_t)1 << 32, "4 GiB" },
		{ (uint64_t)1 << 31, "2 GiB" },
		{ (uint64_t)1 << 30, "1 GiB" },
		{ (uint64_t)64 << 20, "64 MiB" },
		{ (uint64_t)16 << 20, "16 MiB" },
		{ (uint64_t)10 << 20, "10 MiB" },
		{ (uint64_t)8 << 20, "8 MiB" },
		{ (uint64_t)5 << 20, "5 MiB" },
		{ (uint64_t)1 << 20, "1 MiB" },
		{ (uint64_t)64 << 10, "64 KiB" },
		{ 4096, "4096 bytes" },
		{ 512, "512 bytes" },
	};

	for (size_t i = 0; x > 0 && i < sizeof blocks / sizeof blocks[0]; i++)
		if (x % blocks[i].size == 0) {
			*words = blocks[i].words;
			return blocks[i].size;
		}
	*words = "";
	return 0;
}

/* ---- Causes ------------------------------------------------------------- */

static void
fail(struct classify *c)
{
	if (c->status == CKPT_OK)
		c->status = ckpt_arena_status(&c->causes->arena);
}

struct ckpt_hint *
ckpt_classify_add(struct classify *c, const char *slug, const char *title,
	enum ckpt_likelihood likelihood, const char *reason)
{
	static const struct ckpt_hint none;
	struct ckpt_hints *causes = c->causes;
	struct ckpt_hint *grown = ckpt_arena_push(
		&causes->arena, causes->list, causes->n, sizeof *grown);

	if (!grown) {
		fail(c);
		c->spare = none;
		return &c->spare;
	}
	causes->list = grown;
	grown += causes->n++;
	*grown = (struct ckpt_hint){
		.slug = slug,
		.title = title,
		.likelihood = likelihood,
		.reason = reason,
		.path = "",
	};
	return grown;
}

const char *
ckpt_classify_at(struct classify *c, uint64_t off)
{
	const char *text = ckpt_arena_printf(
		&c->causes->arena, "0x%" PRIx64 " (%" PRIu64 ")", off, off);

	if (!text)
		fail(c);
	return text ? text : "";
}

void
ckpt_classify_where(
	struct classify *c, struct ckpt_hint *cause, uint64_t off, uint64_t len)
{
	const struct ckpt_span *span = ckpt_classify_tensor(c, off);
	struct ckpt_buf buf;
	const char *path;

	cause->off = off;
	cause->len = len;
	ckpt_buf_init(&buf);
	if (span) {
		ckpt_span_path_write(&buf, c->spans, span, off);
		ckpt_buf_puts(&buf, " of ");
		ckpt_span_name_write(&buf, span);
	} else if (off < c->run->header_end) {
		ckpt_buf_puts(&buf, "(header)");
	}
	path = buf.p ? ckpt_arena_strndup(&c->causes->arena, buf.p, buf.n) : "";
	if (path && !buf.failed)
		cause->path = path;
	else
		fail(c);
	ckpt_buf_release(&buf);
}

void
ckpt_classify_say(
	struct classify *c, struct ckpt_hint *cause, const char *format, ...)
{
	struct ckpt_arena *arena = &c->causes->arena;
	const char **grown = ckpt_arena_push(arena, cause->evidence,
		cause->nevidence, sizeof *cause->evidence);
	va_list args;

	if (!grown) {
		fail(c);
		return;
	}
	cause->evidence = grown;
	va_start(args, format);
	grown[cause->nevidence] = ckpt_arena_vprintf(arena, format, args);
	va_end(args);
	if (grown[cause->nevidence])
		cause->nevidence++;
	else
		fail(c);
}

void
ckpt_classify_say_bytes(struct classify *c, struct ckpt_hint *cause,
	const char *what, uint64_t off, uint64_t len)
{
	uint8_t bytes[SHOWN];
	size_t n = ckpt_classify_read(
		c, off, bytes, len < SHOWN ? (size_t)len : SHOWN);
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	ckpt_buf_escape(&buf, bytes, n, 0);
	ckpt_classify_say(c, cause, "%s \"%s\"", what, buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
}

/* ---- All of it ---------------------------------------------------------- */

/* Where the file says that it ends: by its own extents, or by its tensors. */
static void
find_declared(struct classify *c)
{
	const struct ckpt_run *run = c->run;
	const struct ckpt_spans *spans = c->spans;

	if (run->format && run->format->draft && run->decoded &&
		ckpt_format_declared_end(
			run->format, run->decoded, &c->declared)) {
		c->has_declared = c->declared > 0;
		return;
	}
	c->declared = run->header_end;
	c->has_declared = spans->ntensors > 0;
	for (uint64_t i = 0; i < spans->ntensors; i++) {
		uint64_t end;

		if (!ckpt_span_end(&spans->tensors[i], &end))
			c->has_declared = false;
		else if (end > c->declared)
			c->declared = end;
	}
}

/* A checksum that holds leaves nothing to explain. */
static bool
is_proved(const struct ckpt_run *run)
{
	if (ckpt_run_primary(run) || run->diags.warnings > 0)
		return false;
	for (size_t i = 0; i < run->nfacts; i++)
		if (run->facts[i].value.kind == CKPT_V_HASH &&
			strcmp(run->facts[i].name, "checksum") == 0)
			return true;
	return false;
}

static const char *
why_not(const struct ckpt_run *run, const struct ckpt_source *source)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);

	if (!source->read_at || !source->has_size)
		return "it cannot be read twice, as a pipe cannot";
	if (primary && primary->rule->class_ == CKPT_IO)
		return "it could not be read, or changed meanwhile";
	if (is_proved(run))
		return "its checksum holds, so nothing happened to it";
	return NULL;
}

static void
judge(struct classify *c)
{
	void (*const judges[])(struct classify *) = {
		ckpt_classify_judge_head,
		ckpt_classify_judge_text,
		ckpt_classify_judge_phases,
		ckpt_classify_judge_repeats,
		ckpt_classify_judge_zeros,
		ckpt_classify_judge_extent,
		ckpt_classify_judge_flips,
	};

	for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++)
		if (c->status == CKPT_OK)
			judges[i](c);
}

static int
by_likelihood(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_hint *list = ctx;

	return (list[a].likelihood > list[b].likelihood) -
	       (list[a].likelihood < list[b].likelihood);
}

/* Those of one likelihood stay in the order of the judges. */
static void
rank(struct classify *c)
{
	struct ckpt_hints *causes = c->causes;
	struct ckpt_arena *arena = &causes->arena;
	uint32_t *order =
		ckpt_sorted(arena, causes->n, by_likelihood, causes->list);
	struct ckpt_hint *ranked =
		ckpt_arena_zalloc(arena, (size_t)causes->n * sizeof *ranked);

	if (!order || !ranked) {
		fail(c);
		return;
	}
	for (uint64_t i = 0; i < causes->n; i++)
		ranked[i] = causes->list[order[i]];
	causes->list = ranked;
}

static enum ckpt_status
prepare(struct classify *c)
{
	struct ckpt_arena *arena = &c->causes->arena;
	enum ckpt_status status =
		ckpt_spans_close(c->spans, c->run->header_end, c->size);

	if (status != CKPT_OK)
		return status;
	c->chunk = ckpt_arena_alloc(arena, CLASSIFY_CHUNK);
	c->zeros.runs =
		ckpt_arena_alloc(arena, CLASSIFY_RUNS * sizeof *c->zeros.runs);
	c->phases.runs =
		ckpt_arena_alloc(arena, CLASSIFY_ODD * sizeof *c->phases.runs);
	c->repeats.samples = ckpt_arena_alloc(
		arena, CLASSIFY_SAMPLES * sizeof *c->repeats.samples);
	if (!c->chunk || !c->zeros.runs || !c->phases.runs ||
		!c->repeats.samples)
		return ckpt_arena_status(arena);
	find_declared(c);
	c->changed = ckpt_classify_found(c, CKPT_D_CHECKSUM);
	c->data = c->spans->ntensors > 0 ? c->run->header_end : 0;
	c->nhead = ckpt_classify_read(c, 0, c->head, sizeof c->head);
	return c->status;
}

enum ckpt_status
ckpt_classify(struct ckpt_hints *causes, const struct ckpt_run *run,
	struct ckpt_spans *spans, struct ckpt_source *source)
{
	struct classify c = {
		.causes = causes,
		.run = run,
		.spans = spans,
		.source = source,
		.size = source->size,
	};

	memset(causes, 0, sizeof *causes);
	ckpt_arena_init(&causes->arena, BUDGET);
	causes->limit = why_not(run, source);
	if (causes->limit)
		return CKPT_OK;
	c.status = prepare(&c);
	if (c.status == CKPT_OK)
		ckpt_classify_scan(&c);
	judge(&c);
	rank(&c);
	if (c.sampled)
		causes->limit = "pieces that are spread over it evenly";
	return c.status;
}

void
ckpt_hints_release(struct ckpt_hints *causes)
{
	ckpt_arena_release(&causes->arena);
	memset(causes, 0, sizeof *causes);
}
