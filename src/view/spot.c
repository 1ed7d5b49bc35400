/* SPDX-License-Identifier: MIT */
/*
 * The value at a byte: the whole field, or one half of a string (its length,
 * its bytes), or one element of a tensor. Where nothing is known, a byte is
 * its own value.
 */
#include "view/spot.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

bool
view_spot_at(struct view_doc *doc, uint64_t off, struct view_spot *spot)
{
	const struct ckpt_span_field *f;

	*spot = (struct view_spot){ .off = off, .len = 1 };
	if (!view_doc_owner(doc, off, &spot->owner))
		return false;
	f = spot->owner.field;
	if (f && f->type == CKPT_STR && off - f->off < 4) {
		spot->off = f->off;
		spot->len = 4;
	} else if (f && f->type == CKPT_STR) {
		spot->off = f->off + 4;
		spot->len = f->len - 4;
	} else if (f) {
		spot->off = f->off;
		spot->len = f->len;
	} else if (spot->owner.span) {
		spot->has_element = ckpt_span_element(
			spot->owner.span, off, &spot->element, &spot->off);
		if (spot->has_element)
			spot->len = spot->owner.span->width;
	}
	return true;
}

bool
view_spot_has(const struct view_spot *spot, uint64_t off)
{
	return off >= spot->off && off - spot->off < spot->len;
}

void
view_spot_open(struct view *view)
{
	const struct ckpt_span *tensor =
		view_doc_tensor(view->doc, view->cursor);
	struct view_owner owner;
	uint64_t to;

	if (!view_doc_owner(view->doc, view->cursor, &owner))
		return;
	if (owner.field && owner.field->flags & CKPT_IS_OFFSET &&
		owner.field->value.kind == CKPT_V_U64) {
		to = owner.field->value.u64;
	} else if (tensor && !owner.span) {
		to = tensor->off;
	} else {
		view_say(view, VIEW_WARNING,
			"this byte points nowhere; u goes to what describes "
			"it");
		return;
	}
	if (to < view->doc->size)
		view_jump(view, to);
	else
		view_say(view, VIEW_WARNING,
			"it points to %llu, behind the end of the file",
			(unsigned long long)to);
}

bool
view_spot_faulty(
	const struct view_doc *doc, const struct ckpt_diag *diag, uint64_t off)
{
	uint64_t len = diag->len ? diag->len : 1;

	if (!view_finding_placed(diag))
		return false;
	if (diag->off >= doc->size)
		return off + 1 == doc->size;
	return off >= diag->off && off - diag->off < len;
}

const char *
view_finding_visit(const struct ckpt_diag *diag)
{
	double found;

	/* Rules of values, not of settings in the header. */
	if (strncmp(diag->rule->id, "CK40", 4) != 0 &&
		strncmp(diag->rule->id, "CK42", 4) != 0)
		return NULL;
	if (diag->found.kind != CKPT_V_F64)
		return NULL;
	found = ckpt_f64_from_bits(diag->found.u64);
	if (isnan(found))
		return "/f nan";
	if (isinf(found))
		return found < 0 ? "/f -inf" : "/f inf";
	return NULL;
}
