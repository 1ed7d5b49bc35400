/* SPDX-License-Identifier: MIT */
/*
 * Words that several sections share: the format, why a table is empty, and
 * ranges, shapes, findings and reals as JSON.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

/* What a file is that nobody claimed stands in the note of its finding. */
void
inspect_format_write(struct ckpt_buf *buf, const struct inspect *in)
{
	const struct ckpt_diag *primary = ckpt_run_primary(in->run);
	unsigned version;
	const char *name = ckpt_run_format(in->run, &version);

	if (name) {
		ckpt_buf_puts(buf, name);
		if (version > 0) /* else the file ends before it */
			ckpt_buf_printf(buf, " v%u", version);
		ckpt_buf_printf(buf, " (%s)", in->run->format->title);
		return;
	}
	ckpt_buf_puts(buf, "none that is known");
	if (primary && primary->note)
		ckpt_buf_printf(buf, "; %s", primary->note);
}

void
inspect_empty_write(struct inspect *in, const char *what, uint64_t n)
{
	if (n > 0)
		return;
	ckpt_buf_printf(&in->out, "no %s: ", what);
	if (!in->run->format) {
		ckpt_buf_puts(&in->out, "the format is ");
		inspect_format_write(&in->out, in);
		ckpt_buf_puts(&in->out, "\n");
	} else if (ckpt_run_primary(in->run)) {
		ckpt_buf_puts(&in->out,
			"the header could not be read that far (see "
			"--batch=findings)\n");
	} else {
		ckpt_buf_puts(&in->out, "the file has none\n");
	}
}

json_t *
inspect_json_range(uint64_t off, uint64_t len)
{
	uint64_t end;

	return json_pack("[o, o]", ckpt_json_u64(off),
		ckpt_add_u64(off, len, &end) ? ckpt_json_u64(end)
					     : json_null());
}

json_t *
inspect_json_shape(const struct ckpt_span *span)
{
	json_t *shape = json_array();

	for (uint32_t i = 0; i < span->rank; i++)
		if (json_array_append_new(
			    shape, ckpt_json_u64(span->dims[i])) != 0) {
			json_decref(shape);
			return NULL;
		}
	return shape;
}

json_t *
inspect_json_marks(const struct inspect *in, uint64_t record)
{
	const struct inspect_mark *mark = inspect_marks_of(in, record);
	json_t *ids = json_array();

	for (; mark && mark < in->marks + in->nmarks && mark->record == record;
		mark++) {
		const struct ckpt_diag *d =
			ckpt_run_finding(in->run, (size_t)mark->finding);

		if (json_array_append_new(ids, json_string(d->rule->id)) != 0) {
			json_decref(ids);
			return NULL;
		}
	}
	return ids;
}

json_t *
inspect_json_f64(double value)
{
	struct ckpt_value v = ckpt_v_f64(ckpt_f64_bits(value));

	return ckpt_json_value(&v);
}
