/* SPDX-License-Identifier: MIT */
/*
 * Blocks that occur twice. Samples with equal hashes lead to two places; the
 * bytes around them are compared until they differ, so what is reported is
 * equal byte for byte. Weights may repeat on purpose: whole tensors (tied
 * weights, copies of a layer), rows (heads that share a key). Such repeats
 * begin where tensors or rows begin and are no trace of damage.
 */
#include "forensics/classify_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/sort.h"

enum {
	COMPARED = 64,     /* pairs of places that are compared */
	STEP = 16 * 1024,  /* bytes compared at a time */
	STEPS_MOST = 1024, /* to either side */
	LEAST = 512,
	VALUES_LEAST = 64, /* of bytes in it: fewer repeat by themselves */
};

/* Reads for comparing, as many as CKPT_CLASSIFY_AGAIN allows. */
static size_t
read_again(struct classify *c, uint64_t off, uint8_t *bytes, size_t n)
{
	if (c->repeats.again < n) {
		c->repeats.spent = true;
		return 0;
	}
	c->repeats.again -= n;
	return ckpt_classify_read(c, off, bytes, n);
}

struct repeat {
	uint64_t first, second, len;
};

static int
by_hash(const void *ctx, uint32_t a, uint32_t b)
{
	const struct content_sample *s = ctx;

	if (s[a].hash != s[b].hash)
		return s[a].hash < s[b].hash ? -1 : 1;
	return (s[a].end > s[b].end) - (s[a].end < s[b].end);
}

/* Equal bytes from a and b on; b is the later. */
static uint64_t
equal_behind(struct classify *c, uint64_t a, uint64_t b)
{
	uint8_t *p = c->chunk, *q = c->chunk + STEP;
	uint64_t len = 0;

	for (int i = 0; i < STEPS_MOST; i++) {
		size_t n = read_again(c, b + len, q, STEP), k = 0;

		if (read_again(c, a + len, p, n) != n)
			break;
		while (k < n && p[k] == q[k])
			k++;
		len += k;
		if (k < STEP)
			break;
	}
	return len;
}

static uint64_t
equal_before(struct classify *c, uint64_t a, uint64_t b)
{
	uint8_t *p = c->chunk, *q = c->chunk + STEP;
	uint64_t len = 0;

	for (int i = 0; i < STEPS_MOST && len < a; i++) {
		size_t n = a - len < STEP ? (size_t)(a - len) : STEP, k = 0;

		if (read_again(c, a - len - n, p, n) != n ||
			read_again(c, b - len - n, q, n) != n)
			break;
		while (k < n && p[n - 1 - k] == q[n - 1 - k])
			k++;
		len += k;
		if (k < n)
			break;
	}
	return len;
}

/* Whether the block has enough different bytes to be content. */
static bool
is_content(struct classify *c, const struct repeat *r)
{
	size_t want = r->len < 4096 ? (size_t)r->len : 4096;
	size_t n = ckpt_classify_read(c, r->first, c->chunk, want);

	return ckpt_classify_values(c->chunk, n) >= VALUES_LEAST;
}

/* The edge where a repeat begins, of which a few bytes are equal by chance. */
static enum classify_edge
edge_behind(const struct classify *c, uint64_t off)
{
	return ckpt_classify_edge_in(c, off, off + CLASSIFY_SLACK);
}

/* Tensors that are equal on purpose: both copies begin where tensors begin, or
 * lie at the same place in tensors of one size. */
static bool
is_meant(const struct classify *c, const struct repeat *r)
{
	const struct ckpt_span *a = ckpt_classify_tensor(c, r->first);
	const struct ckpt_span *b = ckpt_classify_tensor(c, r->second);

	if (edge_behind(c, r->first) == EDGE_TENSOR &&
		edge_behind(c, r->second) == EDGE_TENSOR)
		return true;
	return a && b && a != b && a->len == b->len &&
	       r->first - a->off == r->second - b->off;
}

/* The same of rows. */
static bool
is_of_rows(const struct classify *c, const struct repeat *r)
{
	return edge_behind(c, r->first) != EDGE_NONE &&
	       edge_behind(c, r->second) != EDGE_NONE;
}

/* The whole blocks in it: the unit, 0 if there are none. Up to a few bytes at
 * the edges are equal by chance. */
static uint64_t
blocks_of(const struct repeat *r, struct repeat *whole)
{
	static const uint64_t units[] = { 4096, 512 };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		uint64_t u = units[i], rest = r->second % u;
		uint64_t skip = rest ? u - rest : 0;
		uint64_t len = r->len > skip ? r->len - skip : 0;

		len -= len % u;
		if (len == 0 || skip > CLASSIFY_SLACK ||
			r->len - skip - len > CLASSIFY_SLACK)
			continue;
		*whole = (struct repeat){ r->first + skip, r->second + skip,
			len };
		return u;
	}
	*whole = *r;
	return 0;
}

/* The size is too large by the block that stands there once more. */
static bool
makes_longer(const struct classify *c, const struct repeat *r)
{
	return c->has_declared && c->size > c->declared &&
	       c->size - c->declared <= r->len &&
	       c->size - c->declared == r->second - r->first;
}

static void
judge(struct classify *c, const struct repeat *found)
{
	struct repeat r;
	uint64_t unit = blocks_of(found, &r);
	bool floats =
		ckpt_classify_is_float(ckpt_classify_tensor(c, r.first)) ||
		ckpt_classify_is_float(ckpt_classify_tensor(c, r.second));
	bool longer = makes_longer(c, found);
	enum ckpt_likelihood likelihood = CKPT_POSSIBLE;
	const char *reason = "no tensor of floats owns these bytes, so they "
			     "may repeat on purpose";
	struct ckpt_hint *cause;
	const char *words;

	if (longer) {
		likelihood = CKPT_STRONG;
		reason = "the file is too long by just the bytes that stand "
			 "there twice";
	} else if (is_of_rows(c, &r)) {
		/* Rows repeat where heads share a key. */
		likelihood = unit == 4096 && c->changed ? CKPT_LIKELY
							: CKPT_POSSIBLE;
		reason = c->changed
				 ? "both begin where rows begin, too, but the "
				   "checksum says that something changed"
				 : "both begin where rows begin, and rows may "
				   "repeat on purpose";
	} else if (floats && unit == 4096) {
		likelihood = CKPT_STRONG;
		reason = "it begins and ends where pages do, and not where "
			 "tensors or rows do";
	} else if (floats) {
		likelihood = CKPT_LIKELY;
		reason = "weights do not repeat byte for byte at such a place";
	}
	cause = ckpt_classify_add(c, "repeated-block",
		longer ? "a part was written twice"
		       : "a block was written to a second place",
		likelihood, reason);
	ckpt_classify_where(c, cause, r.second, r.len);
	ckpt_classify_say(c, cause,
		"%" PRIu64 " bytes at %s are those at %s, byte for byte", r.len,
		ckpt_classify_at(c, r.second), ckpt_classify_at(c, r.first));
	if (ckpt_classify_block(r.second, &words) > 0 && unit > 0)
		ckpt_classify_say(
			c, cause, "it begins at a multiple of %s", words);
	if (ckpt_classify_block(r.len, &words) > 0 && unit > 0)
		ckpt_classify_say(
			c, cause, "its length is a multiple of %s", words);
	if (longer)
		ckpt_classify_say(c, cause,
			"the file is %" PRIu64 " bytes longer than it says",
			c->size - c->declared);
	c->explained_size |= longer;
	c->explained |= likelihood != CKPT_POSSIBLE;
}

/* Whether the pair lies in one that was compared already. */
static bool
is_known(const struct repeat *known, size_t n, uint64_t a, uint64_t b)
{
	for (size_t i = 0; i < n; i++)
		if (known[i].second - known[i].first == b - a &&
			a >= known[i].first &&
			a <= known[i].first + known[i].len)
			return true;
	return false;
}

/* Compares around two places that may be equal, and judges what is. */
static void
look_at(struct classify *c, struct repeat *r, uint64_t a, uint64_t b,
	size_t *said)
{
	uint64_t before = equal_before(c, a, b);

	*r = (struct repeat){ a - before, b - before,
		before + equal_behind(c, a, b) };
	/* Where the bytes differ is not known of what was not read. */
	if (c->repeats.spent || c->status != CKPT_OK)
		return;
	if (r->len >= LEAST && *said < 4 && !is_meant(c, r) &&
		is_content(c, r)) {
		judge(c, r);
		++*said;
	}
}

void
ckpt_classify_judge_repeats(struct classify *c)
{
	const struct content_sample *s = c->repeats.samples;
	uint32_t *order =
		ckpt_sorted(&c->causes->arena, c->repeats.n, by_hash, s);
	struct repeat known[COMPARED];
	size_t n = 0, said = 0;

	if (!order) {
		c->status = ckpt_arena_status(&c->causes->arena);
		return;
	}
	c->repeats.again = CKPT_CLASSIFY_AGAIN;
	for (uint64_t i = 1; i < c->repeats.n && n < COMPARED; i++) {
		uint64_t a = s[order[i - 1]].end, b = s[order[i]].end;

		if (s[order[i - 1]].hash != s[order[i]].hash ||
			is_known(known, n, a, b))
			continue;
		if (!ckpt_classify_go_on(c, c->size))
			return;
		look_at(c, &known[n++], a, b, &said);
		if (c->repeats.spent || c->status != CKPT_OK)
			return;
	}
}
