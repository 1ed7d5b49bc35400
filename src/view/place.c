/* SPDX-License-Identifier: MIT */
/*
 * Where a byte is. A name says more than a number of a record, and the end of
 * a name as much as its beginning, so the name comes first and loses its
 * middle when there is no room for it.
 */
#include "view/place.h"

#include <string.h>

#include "format/format.h"

/* Adds text, cut in the middle to cols columns. */
static void
put_cut(struct ckpt_buf *buf, const struct ckpt_buf *text, int cols,
	const char *more)
{
	size_t head, tail, n = text->n;

	if (n == 0 || cols < 1)
		return;
	if (view_width(text->p, n) <= cols) {
		ckpt_buf_add(buf, text->p, n);
		return;
	}
	head = view_fit(text->p, n, (cols - 1) / 2);
	cols -= 1 + view_width(text->p, head);
	tail = view_fit_end(text->p, n, cols);
	ckpt_buf_add(buf, text->p, head);
	ckpt_buf_puts(buf, more);
	ckpt_buf_add(buf, text->p + tail, n - tail);
}

/* "norm.gain[3]"; a moment has the name of its parameter, so what it is
 * stands in front of it. */
static void
write_element(
	struct ckpt_buf *buf, const struct view_owner *owner, uint64_t off)
{
	const struct ckpt_span *span = owner->span;
	const struct ckpt_alias *alias = ckpt_span_alias(owner->spans, span);
	uint64_t element, start;

	if (span->class_ == CKPT_TENSOR_MOMENT) {
		if (alias && alias->by == CKPT_ALIAS_BY_NAME)
			ckpt_buf_puts(buf, alias->prefix);
		else
			ckpt_buf_printf(buf, "%s ", span->role);
	}
	ckpt_span_name_write(buf, span);
	if (ckpt_span_element(span, off, &element, &start))
		ckpt_span_index_write(buf, span, element);
}

void
view_place_write(
	struct ckpt_buf *buf, struct view *view, uint64_t off, int cols)
{
	const char *more = view_sign(&view->grid, VIEW_SIGN_ELLIPSIS);
	struct ckpt_buf name = { 0 }, path = { 0 };
	struct view_owner owner;
	int used;

	if (!view_doc_owner(view->doc, off, &owner) || !owner.spans)
		return;
	ckpt_owner_write(&path, owner.spans, &owner.owner, off);
	if (owner.span && (owner.span->name_len > 0 || owner.span->label[0]))
		write_element(&name, &owner, off);
	if (name.n == 0) {
		put_cut(buf, &path, cols, more);
	} else {
		put_cut(buf, &name, cols, more);
		used = view_width(name.p, name.n) + 2;
		if (path.n > 0 && used + view_width(path.p, path.n) <= cols)
			ckpt_buf_printf(buf, "  %s", path.p);
	}
	ckpt_buf_release(&name);
	ckpt_buf_release(&path);
}
