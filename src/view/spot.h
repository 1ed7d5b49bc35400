/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_SPOT_H
#define CKPT_VIEW_SPOT_H

/* A byte and the value that it is part of, for the panes that show bytes. */

#include "view/view.h"

struct view_spot {
	struct view_owner owner; /* its pointers as long as the index; a field
				  * until another byte is asked for */
	uint64_t off, len;       /* the value */
	uint64_t element;        /* its number in the tensor */
	bool has_element;
};

/* False behind the end; the value is the byte alone then. */
bool view_spot_at(struct view_doc *doc, uint64_t off, struct view_spot *spot);

/* Whether the byte is of the value. */
bool view_spot_has(const struct view_spot *spot, uint64_t off);

/* What Enter does on a byte: from a field that holds an offset to where it
 * points, from the rest of a record in the header to its payload. */
void view_spot_open(struct view *view);

/* Whether a finding is about the byte; those about what is missing behind the
 * end are about the last one. */
bool view_spot_faulty(
	const struct view_doc *doc, const struct ckpt_diag *diag, uint64_t off);

/* What is typed to visit each of the values of which a finding names only the
 * first: "/f nan"; NULL if it is about no such values. */
const char *view_finding_visit(const struct ckpt_diag *diag);

#endif
