/* SPDX-License-Identifier: MIT */
/*
 * The findings table and the list of a run's findings. The primary finding is
 * the error of lowest rank (phase, unit, step), which is a property of the
 * finding and not of the moment at which it was met: a streaming reader sees
 * the payload after it has judged the header, and the checksum last of all.
 */
#include "diag/diag.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct rule_row {
	struct ckpt_rule rule;
	char phase;
	uint32_t step;
};

static const struct rule_row rows[] = {
#define X(name, id, slug, severity, class_, kind, check, phase, step, text,    \
	why, next)                                                             \
	[CKPT_D_##name] = { { id, slug, severity, class_, kind, check, text,   \
				    why, next },                               \
		phase, step },
#include "diag/diag.def"
#undef X
};

_Static_assert(
	sizeof rows / sizeof rows[0] == CKPT_D_COUNT, "one row for every code");

/* Room for an order inside the step of a row. */
enum { SUB_BITS = 40 };

/* Bytes of the file that a finding keeps as they are; of more it keeps what
 * will be shown. */
enum { BYTES_KEPT = 256 };

_Static_assert((int)BYTES_KEPT >= (int)CKPT_BUF_SHOWN,
	"what is kept as text looks like what is kept as bytes");

size_t
ckpt_rule_count(void)
{
	return CKPT_D_COUNT;
}

const struct ckpt_rule *
ckpt_rule_at(size_t i)
{
	return i < CKPT_D_COUNT ? &rows[i].rule : NULL;
}

const struct ckpt_rule *
ckpt_rule_find(const char *id_or_slug)
{
	for (size_t i = 0; i < CKPT_D_COUNT; i++)
		if (strcmp(rows[i].rule.id, id_or_slug) == 0 ||
			strcmp(rows[i].rule.slug, id_or_slug) == 0)
			return &rows[i].rule;
	return NULL;
}

const struct ckpt_rule *
ckpt_rule_row(enum ckpt_code code)
{
	return &rows[code].rule;
}

enum ckpt_code
ckpt_rule_code(const struct ckpt_rule *rule)
{
	/* rule is the first member of its row. */
	return (enum ckpt_code)((const struct rule_row *)rule - rows);
}

uint64_t
ckpt_rank_step(uint32_t step, uint64_t sub)
{
	return ((uint64_t)step << SUB_BITS) + sub;
}

struct ckpt_rank
ckpt_rank_of(enum ckpt_code code, uint64_t unit, uint64_t sub)
{
	const struct rule_row *row = &rows[code];

	/* The first and the last phase look at the file as a whole. */
	if (row->phase == 'A' || row->phase == 'G')
		unit = 0;
	return (struct ckpt_rank){ row->phase, unit,
		ckpt_rank_step(row->step, sub) };
}

int
ckpt_rank_compare(const struct ckpt_rank *a, const struct ckpt_rank *b)
{
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return 0;
}

void
ckpt_diags_init(struct ckpt_diags *diags, struct ckpt_arena *arena)
{
	memset(diags, 0, sizeof *diags);
	diags->arena = arena;
	ckpt_arena_init(&diags->apart, arena->budget);
}

void
ckpt_diags_release(struct ckpt_diags *diags)
{
	ckpt_arena_release(&diags->apart);
}

/* A name may be as long as the file; a thousand findings may name it. */
static void
shorten(struct ckpt_arena *arena, struct ckpt_value *value)
{
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	ckpt_buf_quote(&buf, value->p, value->n);
	*value = ckpt_v_text(
		buf.failed ? NULL : ckpt_arena_strndup(arena, buf.p, buf.n));
	ckpt_buf_release(&buf);
}

static bool
copy_value(struct ckpt_arena *arena, struct ckpt_value *value)
{
	if (value->kind == CKPT_V_BYTES && value->n > BYTES_KEPT)
		shorten(arena, value);
	else if (value->kind == CKPT_V_TEXT && value->p)
		value->p =
			ckpt_arena_strndup(arena, value->p, strlen(value->p));
	else if (value->kind == CKPT_V_BYTES)
		value->p = ckpt_arena_strndup(arena, value->p, value->n);
	else
		return true;
	return value->p != NULL;
}

static bool
copy_diag(struct ckpt_arena *arena, struct ckpt_diag *diag)
{
	diag->path = ckpt_arena_strndup(arena, diag->path, strlen(diag->path));
	if (!diag->path)
		return false;
	if (diag->note) {
		diag->note = ckpt_arena_strndup(
			arena, diag->note, strlen(diag->note));
		if (!diag->note)
			return false;
	}
	return copy_value(arena, &diag->expected) &&
	       copy_value(arena, &diag->found);
}

static void
count_severity(struct ckpt_diags *diags, enum ckpt_severity severity)
{
	switch (severity) {
	case CKPT_NOTE: diags->notes++; break;
	case CKPT_WARNING: diags->warnings++; break;
	case CKPT_ERROR: diags->errors++; break;
	}
}

void
ckpt_diags_add(struct ckpt_diags *diags, const struct ckpt_diag *given)
{
	enum ckpt_code code = ckpt_rule_code(given->rule);
	struct ckpt_diag diag = *given;
	bool first =
		given->rule->severity == CKPT_ERROR &&
		(!diags->primary.rule || ckpt_rank_compare(&diag.rank,
						 &diags->primary.rank) < 0);
	bool listed = diags->per_rule[code] < CKPT_DIAGS_PER_RULE;
	struct ckpt_arena *arena = listed ? diags->arena : &diags->apart;
	struct ckpt_diag *list;

	count_severity(diags, given->rule->severity);
	diags->ran[code] = CKPT_RAN;
	if (!listed)
		diags->suppressed++;
	if (!listed && !first)
		return;
	diags->per_rule[code]++;
	if (!listed)
		ckpt_arena_reuse(arena);
	if (!copy_diag(arena, &diag)) {
		/* The rank and the rule survive even without their words. */
		diag.path = "";
		diag.note = NULL;
		diag.expected = diag.found = ckpt_v_none();
		diags->lost = true;
	}
	if (first)
		diags->primary = diag;
	if (!listed)
		return;
	list = ckpt_arena_push(
		diags->arena, diags->list, diags->n, sizeof *list);
	if (!list) {
		diags->lost = true;
		return;
	}
	diags->list = list;
	list[diags->n++] = diag;
}

/* The codes in the order of their checks. Written once. */
static enum ckpt_code by_check[CKPT_D_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int
compare_checks(const void *va, const void *vb)
{
	enum ckpt_code a = *(const enum ckpt_code *)va;
	enum ckpt_code b = *(const enum ckpt_code *)vb;

	return strcmp(rows[a].rule.check, rows[b].rule.check);
}

static void
sort_checks(void)
{
	for (size_t i = 0; i < CKPT_D_COUNT; i++)
		by_check[i] = (enum ckpt_code)i;
	qsort(by_check, CKPT_D_COUNT, sizeof by_check[0], compare_checks);
}

/* Of the i-th of by_check against the n letters of a name. */
static int
compare_name(size_t i, const char *name, size_t n)
{
	const char *check = rows[by_check[i]].rule.check;
	int c = check[0] - name[0];

	if (c == 0)
		c = strncmp(check, name, n);
	return c == 0 && check[n] != '\0' ? 1 : c;
}

/* The first that does not come before the name. */
static size_t
find_check(const char *name, size_t n)
{
	size_t low = 0, high = CKPT_D_COUNT;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_name(mid, name, n) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Calls judge for every rule of some checks, which stand with spaces between.
 * Small files spend most of their time here. */
static void
for_checks(struct ckpt_diags *diags, const char *checks,
	void (*judge)(struct ckpt_diags *, enum ckpt_code, const char *),
	const char *reason)
{
	size_t n;

	pthread_once(&once, sort_checks);
	for (; *checks; checks += n + strspn(checks + n, " ")) {
		n = strcspn(checks, " ");
		for (size_t i = find_check(checks, n);
			i < CKPT_D_COUNT && compare_name(i, checks, n) == 0;
			i++)
			judge(diags, by_check[i], reason);
	}
}

static void
set_ran(struct ckpt_diags *diags, enum ckpt_code code, const char *reason)
{
	(void)reason;
	diags->ran[code] = CKPT_RAN;
}

void
ckpt_diags_ran(struct ckpt_diags *diags, const char *checks)
{
	for_checks(diags, checks, set_ran, NULL);
}

void
ckpt_diags_not_ran(
	struct ckpt_diags *diags, enum ckpt_code code, const char *reason)
{
	if (diags->per_rule[code] > 0)
		return;
	diags->ran[code] = CKPT_NOT_RUN;
	diags->reason[code] = reason;
}

void
ckpt_diags_skipped(
	struct ckpt_diags *diags, const char *checks, const char *reason)
{
	for_checks(diags, checks, ckpt_diags_not_ran, reason);
}

void
ckpt_diags_unverified(struct ckpt_diags *diags, const char *reason)
{
	for (size_t i = 0; i < CKPT_D_COUNT; i++)
		if (rows[i].phase >= 'B' && diags->ran[i] == CKPT_RAN)
			ckpt_diags_not_ran(diags, (enum ckpt_code)i, reason);
}

static int
by_rank(const void *va, const void *vb)
{
	const struct ckpt_diag *a = va, *b = vb;
	int c = ckpt_rank_compare(&a->rank, &b->rank);

	if (c != 0)
		return c;
	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return a->rule < b->rule ? -1 : a->rule > b->rule;
}

void
ckpt_diags_close(struct ckpt_diags *diags)
{
	if (diags->n > 1)
		qsort(diags->list, diags->n, sizeof diags->list[0], by_rank);
}

enum ckpt_verdict
ckpt_diags_verdict(const struct ckpt_diags *diags)
{
	if (!diags->primary.rule)
		return CKPT_VALID;
	switch (diags->primary.rule->class_) {
	case CKPT_CLASS_UNSUPPORTED: return CKPT_UNSUPPORTED;
	case CKPT_LIMIT:
	case CKPT_IO: return CKPT_NOT_VERIFIED;
	case CKPT_SUSPICIOUS:
	case CKPT_CORRUPT: return CKPT_INVALID;
	}
	return CKPT_NOT_VERIFIED;
}

const char *
ckpt_verdict_name(enum ckpt_verdict verdict)
{
	static const char *const names[] = {
		[CKPT_VALID] = "valid",
		[CKPT_INVALID] = "invalid",
		[CKPT_UNSUPPORTED] = "unsupported",
		[CKPT_NOT_VERIFIED] = "not-verified",
	};

	return names[verdict];
}

int
ckpt_verdict_exit(enum ckpt_verdict verdict)
{
	static const int status[] = {
		[CKPT_VALID] = CKPT_EXIT_OK,
		[CKPT_INVALID] = CKPT_EXIT_NEGATIVE,
		[CKPT_UNSUPPORTED] = CKPT_EXIT_TROUBLE,
		[CKPT_NOT_VERIFIED] = CKPT_EXIT_TROUBLE,
	};

	return status[verdict];
}
