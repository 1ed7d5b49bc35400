/* SPDX-License-Identifier: MIT */
/*
 * What a search found, as text and as JSON. Every explanation is a proposal
 * and said with its odds; that nothing explains the damage is said as plainly.
 * Paths and values were escaped by those who write them.
 */
#include "forensics/locate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "forensics/search.h"
#include "sink/json.h"
#include "sink/text.h"
#include "wire/value.h"

static const char *const kinds[] = {
	[CKPT_DAMAGE_BYTE] = "byte",
	[CKPT_DAMAGE_BURST] = "burst",
	[CKPT_DAMAGE_CHECKSUM] = "checksum",
};

static const char *const outcomes[] = {
	[CKPT_LOCATE_HOLDS] = "checksum-holds",
	[CKPT_LOCATE_FOUND] = "located",
	[CKPT_LOCATE_AMBIGUOUS] = "ambiguous",
	[CKPT_LOCATE_NOTHING] = "not-located",
	[CKPT_LOCATE_IMPOSSIBLE] = "not-searched",
};

static const char *
why_not_searched(const struct ckpt_located *l)
{
	switch (l->status) {
	case CKPT_EUNSUPPORTED:
		return l->format ? "files of this format have no checksum"
				 : "it is not a file of a format with a "
				   "checksum";
	case CKPT_REJECTED: return "the file ends before its checksum";
	case CKPT_EIO: return strerror(l->error);
	case CKPT_STOP: return "the search was interrupted";
	case CKPT_ELIMIT: return "the memory limit is used up";
	case CKPT_OK:
	case CKPT_ENOMEM:
	case CKPT_EDESTINATION:
	case CKPT_ENOATOMIC:
	case CKPT_ENOTSYNCED: break;
	}
	return "out of memory";
}

const char *
ckpt_located_doubt(const struct ckpt_located *l)
{
	switch (l->outcome) {
	case CKPT_LOCATE_HOLDS: return "the checksum holds";
	case CKPT_LOCATE_AMBIGUOUS: return "there are several explanations";
	case CKPT_LOCATE_NOTHING: return "nothing explains the damage";
	case CKPT_LOCATE_IMPOSSIBLE: return why_not_searched(l);
	case CKPT_LOCATE_FOUND: break;
	}
	return l->cases[0].damage.verdict == CKPT_VALID
		       ? NULL
		       : "the file would still not be valid";
}

/* ---- Text --------------------------------------------------------------- */

/* "1 in 1.1e13" */
static void
write_odds(struct ckpt_buf *buf, double chance)
{
	double times = chance > 0 ? 1 / chance : 0;
	char text[32], *e;

	if (times < 1e6) {
		ckpt_buf_printf(buf, "1 in %.0f", times);
		return;
	}
	snprintf(text, sizeof text, "%.1e", times);
	e = strchr(text, 'e');
	*e = '\0';
	for (e++; *e == '+' || *e == '0';)
		e++;
	ckpt_buf_printf(buf, "1 in %se%s", text, e);
}

static void
write_bytes(struct ckpt_buf *buf, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ckpt_buf_printf(buf, " 0x%02x", bytes[i]);
}

static void
write_where(struct ckpt_buf *buf, const struct ckpt_locate_case *c)
{
	const struct ckpt_damage *d = &c->damage;

	switch (d->kind) {
	case CKPT_DAMAGE_BYTE: ckpt_buf_puts(buf, "one damaged byte"); break;
	case CKPT_DAMAGE_BURST:
		ckpt_buf_puts(buf, "two damaged bytes side by side");
		break;
	case CKPT_DAMAGE_CHECKSUM:
		ckpt_buf_puts(buf, "the stored checksum is damaged, not the "
				   "data,");
		break;
	}
	ckpt_buf_printf(buf, " at 0x%" PRIx64 " (%" PRIu64 ")", d->off, d->off);
	for (size_t i = 0; i < c->nplaces; i++) {
		ckpt_buf_puts(buf, i ? " and " : ", ");
		ckpt_owner_write(buf, &c->spans, c->places[i].spot.owner,
			c->places[i].off);
	}
	ckpt_buf_puts(buf, "\n");
}

static unsigned
flipped_bits(const struct ckpt_damage *d)
{
	unsigned n = 0;

	for (size_t i = 0; i < d->len; i++)
		n += ckpt_bits_count(d->found[i] ^ d->original[i]);
	return n;
}

static void
write_place(struct ckpt_buf *buf, const struct ckpt_locate_place *place)
{
	const struct ckpt_spot *spot = &place->spot;
	struct ckpt_buf value;

	if (spot->span) {
		ckpt_buf_puts(buf, "    of ");
		ckpt_span_name_write(buf, spot->span);
		ckpt_buf_printf(
			buf, ", %s, %s ", spot->span->role, spot->span->dtype);
		ckpt_span_shape_write(buf, spot->span);
		if (spot->has_element)
			ckpt_buf_printf(buf,
				", element %" PRIu64 ", byte %" PRIu64
				" of %" PRIu64,
				spot->element, place->off - spot->off,
				spot->len);
		ckpt_buf_puts(buf, "\n");
	}
	ckpt_buf_init(&value);
	ckpt_spot_write(&value, spot, place->found, place->n);
	if (value.n > 0) {
		ckpt_buf_printf(buf, "    value found %s, original ", value.p);
		ckpt_spot_write(buf, spot, place->original, place->n);
		ckpt_buf_puts(buf, "\n");
	}
	buf->failed = buf->failed || value.failed;
	ckpt_buf_release(&value);
}

static void
write_verdict(struct ckpt_buf *buf, const struct ckpt_locate_case *c)
{
	ckpt_buf_printf(buf, "    with the original in place the file is %s",
		ckpt_verdict_name(c->damage.verdict));
	if (c->damage.verdict == CKPT_VALID)
		ckpt_buf_puts(buf, "; integrity, not authenticity");
	else if (c->primary)
		ckpt_buf_printf(
			buf, ": %s %s", c->primary->id, c->primary->slug);
	if (c->more > 0)
		ckpt_buf_printf(buf, " and %" PRIu64 " more error%s", c->more,
			c->more == 1 ? "" : "s");
	ckpt_buf_puts(buf, "\n");
}

static void
write_case(struct ckpt_buf *buf, const struct ckpt_locate_case *c)
{
	static const char *const by[] = {
		[CKPT_DAMAGE_BYTE] = "some single byte",
		[CKPT_DAMAGE_BURST] = "some two bytes side by side",
		[CKPT_DAMAGE_CHECKSUM] = "damage to the checksum alone",
	};
	const struct ckpt_damage *d = &c->damage;

	ckpt_buf_puts(buf, "  located: ");
	write_where(buf, c);
	ckpt_buf_puts(buf, "    found");
	write_bytes(buf, d->found, d->len);
	ckpt_buf_puts(buf, ", original");
	write_bytes(buf, d->original, d->len);
	ckpt_buf_printf(buf, ": %u flipped bit%s\n", flipped_bits(d),
		flipped_bits(d) == 1 ? "" : "s");
	for (size_t i = 0; i < c->nplaces; i++)
		write_place(buf, &c->places[i]);
	write_verdict(buf, c);
	ckpt_buf_printf(buf,
		"    odds: a random checksum would be explained by %s with "
		"probability ",
		by[d->kind]);
	write_odds(buf, d->chance);
	ckpt_buf_puts(buf, "\n");
}

static void
write_nothing(struct ckpt_buf *buf, const struct ckpt_located *l)
{
	uint64_t have = l->length, want = l->declared;

	ckpt_buf_puts(buf, "  not located: no single byte and no two bytes "
			   "side by side explain the checksum, and it is not "
			   "the stored checksum that is damaged\n");
	if (l->length > CKPT_SEARCH_EDGES_MOST)
		ckpt_buf_puts(buf, "    two bytes of which one is the "
				   "checksum's are searched for in small files "
				   "only\n");
	if (l->resized)
		ckpt_buf_printf(buf,
			"    the file is %" PRIu64 " bytes %s than its "
			"extents say: where bytes are missing or came in "
			"cannot be computed\n",
			have < want ? want - have : have - want,
			have < want ? "shorter" : "longer");
	else
		ckpt_buf_puts(buf, "    more bytes than that are damaged; "
				   "where cannot be computed\n");
}

void
ckpt_located_write(
	struct ckpt_buf *buf, const struct ckpt_located *l, const char *path)
{
	const struct ckpt_diag none = { 0 };

	switch (l->outcome) {
	case CKPT_LOCATE_HOLDS:
		ckpt_buf_printf(buf,
			"  nothing to locate: the checksum holds over all "
			"%" PRIu64 " bytes\n",
			l->length);
		return;
	case CKPT_LOCATE_NOTHING: write_nothing(buf, l); return;
	case CKPT_LOCATE_IMPOSSIBLE:
		ckpt_buf_printf(
			buf, "  not located: %s\n", why_not_searched(l));
		return;
	case CKPT_LOCATE_AMBIGUOUS:
		ckpt_buf_printf(buf,
			"  there are %" PRIu64 " explanations, and at most one "
			"of them is right\n",
			l->location.count);
		break;
	case CKPT_LOCATE_FOUND: break;
	}
	for (size_t i = 0; i < l->location.n; i++)
		write_case(buf, &l->cases[i]);
	if (!path || ckpt_located_doubt(l))
		return;
	ckpt_buf_puts(buf, "    a proposal, nothing was changed; next: ");
	ckpt_text_next(
		buf, "`ckverify --propose-repair OUT FILE`", path, &none);
	ckpt_buf_puts(buf, "\n");
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *
hex(const uint8_t *bytes, size_t n)
{
	struct ckpt_buf buf;
	json_t *text;

	ckpt_buf_init(&buf);
	for (size_t i = 0; i < n; i++)
		ckpt_buf_printf(&buf, "%02x", bytes[i]);
	text = ckpt_json_take(&buf);
	ckpt_buf_release(&buf);
	return text;
}

static json_t *
place_json(const struct ckpt_locate_case *c, const struct ckpt_locate_place *p)
{
	const struct ckpt_spot *spot = &p->spot;
	struct ckpt_buf path, alias;
	json_t *object;

	ckpt_buf_init(&path);
	ckpt_buf_init(&alias);
	ckpt_owner_write(&path, &c->spans, spot->owner, p->off);
	if (spot->span)
		ckpt_span_alias_write(&alias, &c->spans, spot->span, p->off);
	object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "path",
		ckpt_json_take(&path), "alias",
		alias.n ? ckpt_json_take(&alias) : json_null(), "record",
		spot->span ? ckpt_json_u64(spot->span->index) : json_null(),
		"element",
		spot->has_element ? ckpt_json_u64(spot->element) : json_null(),
		"found", ckpt_spot_json(spot, p->found, p->n), "original",
		ckpt_spot_json(spot, p->original, p->n));
	ckpt_buf_release(&path);
	ckpt_buf_release(&alias);
	return object;
}

static json_t *
case_json(const struct ckpt_locate_case *c)
{
	const struct ckpt_damage *d = &c->damage;
	json_t *values = json_array();
	int bad = 0;

	for (size_t i = 0; i < c->nplaces; i++)
		bad |= json_array_append_new(
			values, place_json(c, &c->places[i]));
	if (bad) {
		json_decref(values);
		values = NULL;
	}
	return json_pack("{s:s, s:o, s:i, s:o, s:o, s:i, s:o, s:s, s:s?, s:f}",
		"kind", kinds[d->kind], "offset", ckpt_json_u64(d->off),
		"length", (int)d->len, "found", hex(d->found, d->len),
		"original", hex(d->original, d->len), "flipped_bits",
		(int)flipped_bits(d), "values", values, "verdict",
		ckpt_verdict_name(d->verdict), "primary",
		c->primary ? c->primary->id : NULL, "chance", d->chance);
}

static json_t *
hash_json(const struct ckpt_located *l, uint64_t hash)
{
	const struct ckpt_value value = ckpt_v_hash(hash);

	return l->outcome == CKPT_LOCATE_IMPOSSIBLE ? json_null()
						    : ckpt_json_value(&value);
}

json_t *
ckpt_located_json(const struct ckpt_located *l)
{
	bool searched = l->outcome != CKPT_LOCATE_IMPOSSIBLE;
	json_t *cases = json_array();
	int bad = 0;

	for (size_t i = 0; searched && i < l->location.n; i++)
		bad |= json_array_append_new(cases, case_json(&l->cases[i]));
	if (bad) {
		json_decref(cases);
		cases = NULL;
	}
	return json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o}", "outcome",
		outcomes[l->outcome], "reason",
		searched ? NULL : why_not_searched(l), "stored",
		hash_json(l, l->location.stored), "computed",
		hash_json(l, l->location.computed), "count",
		ckpt_json_u64(searched ? l->location.count : 0), "explanations",
		cases);
}
