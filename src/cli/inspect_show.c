/* SPDX-License-Identifier: MIT */
/*
 * The table of sections, and what stands around each: nothing in text, one
 * object in JSON. Output gathers in a buffer that is written out when it has
 * become large, so a hex dump of any length needs little memory.
 */
#include "cli/inspect.h"

#include <string.h>

enum { FLUSH_AT = 1024 * 1024 };

static const char *const names[INSPECT_SECTIONS] = {
	[INSPECT_OVERVIEW] = "overview",
	[INSPECT_GROUPS] = "groups",
	[INSPECT_RECORDS] = "records",
	[INSPECT_FIELDS] = "fields",
	[INSPECT_MAP] = "map",
	[INSPECT_FINDINGS] = "findings",
	[INSPECT_HEX] = "hex",
	[INSPECT_STATS] = "stats",
	[INSPECT_AT] = "at",
};

const struct inspect_section inspect_sections[INSPECT_SECTIONS] = {
	[INSPECT_OVERVIEW] = { inspect_overview_text, inspect_overview_json },
	[INSPECT_GROUPS] = { inspect_groups_text, inspect_groups_json },
	[INSPECT_RECORDS] = { inspect_records_text, inspect_records_json },
	[INSPECT_FIELDS] = { inspect_fields_text, inspect_fields_json },
	[INSPECT_MAP] = { inspect_map_text, inspect_map_json },
	[INSPECT_FINDINGS] = { inspect_findings_text, inspect_findings_json },
	[INSPECT_HEX] = { inspect_hex_text, inspect_hex_json },
	[INSPECT_STATS] = { inspect_stats_text, inspect_stats_json },
	[INSPECT_AT] = { inspect_at_text, inspect_at_json },
};

static bool
write_out(struct inspect *in)
{
	if (in->saving)
		return ckpt_publish_write(in->saving, in->out.p, in->out.n) ==
		       CKPT_OK;
	return fwrite(in->out.p, 1, in->out.n, in->stream) == in->out.n;
}

void
inspect_flush(struct inspect *in, bool end)
{
	if ((!in->stream && !in->saving) || in->out.n == 0 ||
		(!end && in->out.n < FLUSH_AT))
		return;
	if (!write_out(in))
		in->write_failed = true;
	in->written += in->out.n;
	ckpt_buf_clear(&in->out);
	if (end && !in->saving && fflush(in->stream) != 0)
		in->write_failed = true;
}

/* What every section's object begins with. */
static json_t *
head(const struct inspect *in)
{
	unsigned version;
	const char *format = ckpt_run_format(in->run, &version);

	return json_pack("{s:s, s:s, s:{s:o, s:o}, s:s?, s:o, s:s?}", "schema",
		"ckinspect/1", "section", names[in->section], "file", "path",
		ckpt_json_escaped(in->path, strlen(in->path)), "size",
		in->run->size_known ? ckpt_json_u64(in->run->size)
				    : json_null(),
		"format", format, "format_version",
		format && (!in->run->format->named || version > 0)
			? json_integer((json_int_t)version)
			: json_null(),
		"verdict", in->partial ? NULL : ckpt_verdict_name(in->verdict));
}

static void
show_json(struct inspect *in)
{
	json_t *object = head(in);
	json_t *members = inspect_sections[in->section].json(in);

	if (!object || !members || json_object_update(object, members) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(members);
	ckpt_json_write(&in->out, object);
	ckpt_buf_puts(&in->out, "\n");
}

bool
inspect_show(struct inspect *in)
{
	if (in->json)
		show_json(in);
	else
		inspect_sections[in->section].text(in);
	if (in->out.failed)
		return false;
	inspect_flush(in, true);
	return true;
}
