/* SPDX-License-Identifier: MIT */
/*
 * The registry and the one way to verify a source: find the driver, let it
 * judge, turn what stopped it into a finding, close the list.
 */
#include "format/format.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/checked.h"

static const struct ckpt_format *const formats[] = {
	&ckpt_format_llmcp35,
	&ckpt_format_safetensors,
	&ckpt_format_archive,
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

const struct ckpt_format *
ckpt_format_at(size_t i)
{
	return i < FORMATS ? formats[i] : NULL;
}

const struct ckpt_format *
ckpt_format_find(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

const struct ckpt_format *
ckpt_format_sniff(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i]->sniff(head, n))
			return formats[i];
	return NULL;
}

size_t
ckpt_format_head(struct ckpt_reader *reader, const uint8_t **head)
{
	size_t n = ckpt_reader_peek(reader, CKPT_SNIFF, head);

	return n < CKPT_SNIFF ? n : CKPT_SNIFF;
}

/* The format that a name's suffix asks for; only those without magic, or
 * any. */
static const struct ckpt_format *
by_name(const char *name, bool any)
{
	size_t n;

	if (!name)
		return NULL;
	n = strlen(name);
	for (size_t i = 0; i < FORMATS; i++) {
		const char *const *s = formats[i]->suffixes;

		for (; (any || formats[i]->named) && *s; s++)
			if (n > strlen(*s) &&
				strcasecmp(name + n - strlen(*s), *s) == 0)
				return formats[i];
	}
	return NULL;
}

/* What is of no kind that has a name may be a damaged file of ours. */
static const struct ckpt_format *
by_resemblance(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i]->resembles && formats[i]->resembles(head, n))
			return formats[i];
	return NULL;
}

static const struct ckpt_format *
claim(const uint8_t *head, size_t n, const char *name, const char *foreign)
{
	const struct ckpt_format *format = ckpt_format_sniff(head, n);

	if (!format)
		format = by_name(name, false);
	if (!format && !foreign)
		format = by_resemblance(head, n);
	return format;
}

/* The first bytes of the first field, where the rows say what they are. */
static const struct ckpt_want *
magic_of(const struct ckpt_format *format)
{
	const struct ckpt_field *field = format->root->fields;

	while (field->type == CKPT_REC)
		field = field->rec->fields;
	return field->want && field->want->kind == CKPT_WANT_BYTES ? field->want
								   : NULL;
}

/* Whether a file begins with all but two bytes of the magic. */
static bool
nearly(const struct ckpt_format *format, const uint8_t *head, size_t n)
{
	const struct ckpt_want *magic = magic_of(format);
	unsigned same = 0;

	for (size_t i = 0; magic && i < 8 && i < n; i++)
		same += head[i] == magic->bytes[i];
	return same >= 6;
}

const struct ckpt_format *
ckpt_format_guess(const uint8_t *head, size_t n, const char *name)
{
	char text[160];
	const char *foreign = ckpt_foreign_name(head, n, text, sizeof text);
	const struct ckpt_format *format = claim(head, n, name, foreign);

	if (format || (foreign && !nearly(formats[0], head, n)))
		return format;
	return formats[0];
}

/* "no format is recognised: llmcp35 files begin with ...; ..." */
static const char *
unrecognised(struct ckpt_run *run)
{
	const char *text = "";

	for (size_t i = 0; text && i < FORMATS; i++) {
		/* Some are of files that another one has recognised. */
		if (!formats[i]->begins)
			continue;
		text = ckpt_arena_printf(&run->words,
			"%s%s%s files begin with %s", text,
			i ? "; " : "no format is recognised: ",
			formats[i]->name, formats[i]->begins);
	}
	return text;
}

const char *
ckpt_run_format(const struct ckpt_run *run, unsigned *version)
{
	if (version)
		*version = run->format ? run->format_version : 0;
	return run->format ? run->format->name : NULL;
}

const struct ckpt_scope *
ckpt_run_scope(const struct ckpt_run *run)
{
	if (!run || !run->format)
		return NULL;
	return run->scope ? run->scope : run->format->scope;
}

const char *
ckpt_format_refuses(
	const struct ckpt_format *format, const struct ckpt_options *options)
{
	if (format->values_decide && options->values == CKPT_VALUES_OFF)
		return "--values=off";
	if (!format->bounds_headers && options->max_header != 0)
		return "--max-header";
	if (!format->named && options->align != 0)
		return "--align";
	return NULL;
}

bool
ckpt_format_declared_end(
	const struct ckpt_format *format, void *root, uint64_t *end)
{
	const struct ckpt_draft_rules *rules = format->draft;
	const char *const paths[] = { rules ? rules->header_extent : NULL,
		rules ? rules->payload_extent : NULL };

	*end = 0;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct ckpt_place place;

		if (!paths[i] ||
			!ckpt_path_find(
				format->root, root, 0, paths[i], &place) ||
			!ckpt_add_u64(*end,
				ckpt_slot_load(
					place.value, 0, place.field->type),
				end))
			return false;
	}
	return true;
}

static void
add(struct ckpt_run *run, enum ckpt_code code, uint64_t off, const char *found,
	const char *note)
{
	ckpt_run_add(run, code, 0,
		&(struct ckpt_diag){
			.off = off,
			.found = ckpt_v_text(found),
			.note = note,
		});
}

/* What kept the driver from reaching the end. */
static void
add_trouble(struct ckpt_run *run, enum ckpt_status status,
	const struct ckpt_reader *reader)
{
	uint64_t off = ckpt_reader_offset(reader);
	const char *text;

	switch (status) {
	case CKPT_EIO:
		off = reader->base + reader->fill; /* not what was consumed */
		add(run, CKPT_D_IO, off, strerror(reader->error),
			"reading stopped here");
		break;
	case CKPT_STOP:
		/* Who stops at a finding has a verdict, else there is none. */
		if (reader->cancelled || !run->diags.primary.rule)
			add(run, CKPT_D_CANCELLED, off, "cancelled", NULL);
		break;
	case CKPT_ELIMIT:
		text = ckpt_arena_printf(&run->words,
			"more than %llu bytes needed",
			(unsigned long long)run->arena.budget);
		add(run, CKPT_D_MEMORY_LIMIT, off, text ? text : "", NULL);
		break;
	case CKPT_ENOMEM:
		add(run, CKPT_D_OUT_OF_MEMORY, off, strerror(ENOMEM), NULL);
		break;
	case CKPT_OK:
	case CKPT_REJECTED:
	case CKPT_EUNSUPPORTED:
	case CKPT_EDESTINATION:
	case CKPT_ENOATOMIC:
	case CKPT_ENOTSYNCED: break;
	}
}

static void
add_change(struct ckpt_run *run, struct ckpt_source *source)
{
	const char *what = NULL;

	if (!source->unchanged || source->unchanged(source, &what) == CKPT_OK)
		return;
	run->not_whole = "the file changed while it was read";
	add(run, CKPT_D_CHANGED, 0, what ? what : strerror(errno),
		"findings are about the bytes that were read");
}

/* Finds the driver and lets it judge. text is for the words of
 * run->foreign. */
static enum ckpt_status
judge(struct ckpt_run *run, struct ckpt_reader *reader,
	struct ckpt_source *source, char *text, size_t text_size)
{
	const struct ckpt_format *format;
	struct ckpt_event event = { .kind = CKPT_EV_BEGIN };
	const char *refused;
	const uint8_t *head;
	size_t n = ckpt_format_head(reader, &head);
	enum ckpt_status status = reader->status;

	if (status != CKPT_OK)
		return status;
	if (n == 0 && source->is_pipe) {
		add(run, CKPT_D_EMPTY_PIPE, 0, "no bytes", NULL);
		return CKPT_OK;
	}
	run->foreign = ckpt_foreign_name(head, n, text, text_size);
	run->format = claim(head, n, source->name, run->foreign);
	refused = run->format ? ckpt_format_refuses(run->format, &run->options)
			      : NULL;
	if (refused) {
		add(run, CKPT_D_OPTION, 0, refused, NULL);
		return CKPT_OK;
	}
	if (!run->format && !run->foreign && !by_name(source->name, true))
		run->foreign = unrecognised(run);
	format = run->format ? run->format : formats[0];
	if (run->format)
		status = ckpt_run_event(run, &event);
	if (status == CKPT_OK)
		status = format->parse(run, reader);
	return status;
}

/* Reads what no driver wanted. What fails here fails for the run, as it would
 * have while the file was judged. */
static enum ckpt_status
read_whole(struct ckpt_run *run, struct ckpt_reader *reader,
	enum ckpt_status status)
{
	run->not_whole = "reading ended before the end of the file";
	if (!reader->buf || reader->status != CKPT_OK)
		return status;
	if (ckpt_reader_finish(reader))
		run->not_whole = NULL;
	else if (reader->status == CKPT_OK)
		run->not_whole = "the input goes on long after what was judged";
	return reader->status != CKPT_OK ? reader->status : status;
}

enum ckpt_verdict
ckpt_verify(struct ckpt_run *run, struct ckpt_source *source)
{
	struct ckpt_event end = { .kind = CKPT_EV_END };
	struct ckpt_reader reader;
	char text[160];
	enum ckpt_status status = ckpt_reader_init(&reader, run, source);

	run->size_known = source->has_size;
	run->size = source->size;
	if (status == CKPT_OK)
		status = judge(run, &reader, source, text, sizeof text);
	if (run->whole)
		status = read_whole(run, &reader, status);
	ckpt_reader_release(&reader);
	if (!run->size_known && reader.buf) {
		run->size = reader.base + reader.fill;
		run->size_known = reader.eof;
	}
	run->foreign = NULL; /* its text lives in this frame */
	add_trouble(run, status, &reader);
	add_change(run, source);
	if (run->diags.lost)
		add(run, CKPT_D_OUT_OF_MEMORY, 0, strerror(ENOMEM),
			"not all findings could be kept");
	ckpt_diags_close(&run->diags);
	if (status == CKPT_OK) {
		add_trouble(run, ckpt_run_event(run, &end), &reader);
		ckpt_diags_close(&run->diags);
	}
	return ckpt_diags_verdict(&run->diags);
}
