/* SPDX-License-Identifier: MIT */
#ifndef CKPT_DIAG_DIAG_H
#define CKPT_DIAG_DIAG_H

/*
 * Findings as data: built here, ranked, coalesced and kept. The list holds at
 * most one finding per (rule, record) and at most CKPT_DIAGS_PER_RULE of a
 * rule; the primary finding is kept apart, so no bound can lose it.
 */

#include <ckpt.h>

#include "base/arena.h"

enum ckpt_code {
#define X(name, ...) CKPT_D_##name,
#include "diag/diag.def"
#undef X
	CKPT_D_COUNT
};

enum { CKPT_DIAGS_PER_RULE = 1000 };

/* Whether a rule was evaluated; what is not evaluated says why. */
enum ckpt_ran { CKPT_NOT_RUN, CKPT_RAN };

struct ckpt_diags {
	struct ckpt_arena *arena; /* not the run's: findings must outlive a
				   * memory limit */
	struct ckpt_diag *list;   /* n, in the order of emission until
				   * ckpt_diags_close() */
	uint64_t n;
	struct ckpt_diag primary; /* rule NULL while there is none */
	uint32_t per_rule[CKPT_D_COUNT];
	uint64_t suppressed; /* findings beyond the bound of their rule */
	uint64_t errors, warnings, notes;
	uint8_t ran[CKPT_D_COUNT];
	const char *reason[CKPT_D_COUNT]; /* static; NULL: not reached */
	bool lost; /* memory ran out while a finding was being kept */
	struct ckpt_arena apart; /* words of a primary that is not on the list,
				  * so that a better one replaces them */
};

const struct ckpt_rule *ckpt_rule_row(enum ckpt_code code);
enum ckpt_code ckpt_rule_code(const struct ckpt_rule *rule);

/* The rank that a code's row gives, at a unit; sub orders within the step. */
struct ckpt_rank ckpt_rank_of(enum ckpt_code code, uint64_t unit, uint64_t sub);
uint64_t ckpt_rank_step(uint32_t step, uint64_t sub);
int ckpt_rank_compare(const struct ckpt_rank *a, const struct ckpt_rank *b);

/* Unit of a check that comes after all records. */
#define CKPT_UNIT_LAST UINT64_MAX

void ckpt_diags_init(struct ckpt_diags *diags, struct ckpt_arena *arena);
void ckpt_diags_release(struct ckpt_diags *diags);

/* Keeps a copy; path, note, TEXT and BYTES values are copied too. BYTES that
 * are longer than any line are kept as TEXT: their beginning, escaped, and
 * their number. */
void ckpt_diags_add(struct ckpt_diags *diags, const struct ckpt_diag *diag);

/* All rules of some checks ("E5", or "C2 C3") were evaluated, or were not and
 * why. A rule with a finding counts as evaluated by itself. */
void ckpt_diags_ran(struct ckpt_diags *diags, const char *checks);
void ckpt_diags_skipped(
	struct ckpt_diags *diags, const char *checks, const char *reason);

/* One rule of a check was not evaluated after all. */
void ckpt_diags_not_ran(
	struct ckpt_diags *diags, enum ckpt_code code, const char *reason);

/* What passed from phase B on was judged on bytes that may be others. */
void ckpt_diags_unverified(struct ckpt_diags *diags, const char *reason);

/* Sorts by rank, then offset. */
void ckpt_diags_close(struct ckpt_diags *diags);

enum ckpt_verdict ckpt_diags_verdict(const struct ckpt_diags *diags);

/* Values. */
static inline struct ckpt_value
ckpt_v_none(void)
{
	return (struct ckpt_value){ .kind = CKPT_V_NONE };
}

static inline struct ckpt_value
ckpt_v_u64(uint64_t v)
{
	return (struct ckpt_value){ .kind = CKPT_V_U64, .u64 = v };
}

static inline struct ckpt_value
ckpt_v_hash(uint64_t v)
{
	return (struct ckpt_value){ .kind = CKPT_V_HASH, .u64 = v };
}

static inline struct ckpt_value
ckpt_v_f64(uint64_t bits)
{
	return (struct ckpt_value){ .kind = CKPT_V_F64, .u64 = bits };
}

static inline struct ckpt_value
ckpt_v_text(const char *text)
{
	return (struct ckpt_value){ .kind = CKPT_V_TEXT, .p = text };
}

static inline struct ckpt_value
ckpt_v_bytes(const void *p, size_t n)
{
	return (struct ckpt_value){ .kind = CKPT_V_BYTES, .p = p, .n = n };
}

#endif
