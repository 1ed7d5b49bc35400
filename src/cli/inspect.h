/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_INSPECT_H
#define CKPT_CLI_INSPECT_H

/*
 * ckinspect in pieces: what was learnt of one file, and one section a file
 * that shows a side of it as text or as JSON. Sections know no format: they
 * see the registry row, events and spans.
 */

#include <jansson.h>
#include <stdio.h>

#include "cli/opt.h"
#include "cli/screen.h"
#include "format/format.h"
#include "io/publish.h"
#include "sink/json.h"
#include "sink/number.h"
#include "sink/spans.h"
#include "sink/stats.h"
#include "sink/table.h"
#include "sink/words.h"

enum inspect_section_id {
	INSPECT_OVERVIEW,
	INSPECT_GROUPS,
	INSPECT_RECORDS,
	INSPECT_FIELDS,
	INSPECT_MAP,
	INSPECT_FINDINGS,
	INSPECT_HEX,
	INSPECT_STATS,
	INSPECT_AT, /* not a word of --batch */
	INSPECT_SECTIONS,
	INSPECT_HTML = INSPECT_SECTIONS /* all of them, by inspect_html() */
};

/* A finding on a record. */
struct inspect_mark {
	uint64_t record;
	uint64_t finding; /* its place in the list, which is ranked */
};

/* Bytes of the file on demand: from a source that can go back, or, of a pipe,
 * its first bytes and one window, kept while they passed by. */
struct inspect_bytes {
	struct ckpt_source source; /* what the run reads; first member */
	struct ckpt_source *inner;
	uint64_t at;
	uint8_t *head;
	size_t nhead;
	uint64_t window_off, window_len; /* wanted */
	uint8_t *window;
	size_t nwindow;
};

struct inspect_range {
	uint64_t off, len;
};

struct inspect {
	const char *path;
	const char *other; /* the second file, or NULL */
	enum inspect_section_id section;
	bool json, verbose;
	uint64_t offset; /* of --at */
	bool has_range;
	struct inspect_range range; /* of --hex-range */
	struct ckpt_screen screen;
	uint64_t max_memory;
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;

	struct inspect_bytes bytes;
	struct ckpt_run *run;
	struct ckpt_spans spans;
	struct ckpt_sink stop; /* ends a run that knows enough */
	struct ckpt_sink stats_sink;
	struct ckpt_stats *stats; /* one a tensor, in spans.arena */
	uint64_t nstats;
	enum ckpt_verdict verdict;
	bool partial;               /* the payload was not read to its end */
	struct inspect_mark *marks; /* by record, then rank; in spans.arena */
	uint64_t nmarks;
	uint32_t *by_offset; /* findings, as numbers; in spans.arena */

	struct ckpt_buf out;
	FILE *stream; /* where out goes when it is large; NULL in tests */
	struct ckpt_publish *saving; /* or there; NULL but for --html */
	uint64_t written;            /* bytes that went there */
	bool write_failed;
};

/* One section. */
struct inspect_section {
	void (*text)(struct inspect *in);
	json_t *(*json)(struct inspect *in); /* members of the object */
};

/* What the command line sets, and its rows. */
struct inspect_options {
	int batch;  /* enum inspect_section_id */
	int format; /* 1: JSON */
	uint64_t at;
	const char *hex_range;
	const char *html;
	uint64_t max_memory;
	int color, progress; /* enum ckpt_when */
	bool verbose, no_mouse;
};

extern const struct ckpt_command inspect_command;

extern const struct inspect_section inspect_sections[INSPECT_SECTIONS];

/* Whether the options ask for something that is printed; otherwise the viewer
 * may show the file. */
bool inspect_prints(const struct ckpt_args *args);
/* Whether there is someone who could look at the files in the viewer, and they
 * are files that it can show (inspect_browse.c). */
bool inspect_can_browse(const struct inspect *in);
/* The first of the files that is not there or not to be read, errno says why;
 * NULL if there is none. */
const char *inspect_missing(const struct inspect *in);
/* Sets what the options mean together; false with the usage error noted. */
bool inspect_settle(struct inspect *in, struct ckpt_args *args,
	const struct inspect_options *options);

/* Learns what in->section needs of source, which is taken over. Findings are
 * never a failure; false if memory ran out. Release in any case. */
bool inspect_load(struct inspect *in, struct ckpt_source *source);
void inspect_release(struct inspect *in);

/* Text or JSON of the section into in->out. False if memory ran out. */
bool inspect_show(struct inspect *in);

/* Everything as one HTML page into in->out; in->section is INSPECT_HTML. False
 * if memory ran out. */
bool inspect_html(struct inspect *in);
/* Whether a page may be written to path without harm to the file that is
 * shown; otherwise the usage error is noted. */
bool inspect_html_apart(
	struct ckpt_args *args, const char *input, const char *path);
/* The page to in->stream if path is "-", else to a file that replaces path
 * whole. Says on standard error what failed; the exit status. */
int inspect_html_save(struct inspect *in, const char *path);

/* Writes in->out to the stream when there is much of it, or at the end. */
void inspect_flush(struct inspect *in, bool end);

/* n bytes at off; fewer where the file ends or they were not kept. */
void inspect_bytes_init(
	struct inspect_bytes *bytes, struct ckpt_source *source);
void inspect_bytes_release(struct inspect_bytes *bytes);
size_t inspect_bytes_get(
	struct inspect_bytes *bytes, uint64_t off, uint8_t *to, size_t n);

/* The record that a path leads into, "records[12].name". */
bool inspect_record_of(
	const struct inspect *in, const char *path, uint64_t *record);

/* The first mark of a record, or NULL; they stand together. */
const struct inspect_mark *inspect_marks_of(
	const struct inspect *in, uint64_t record);

/* The first finding, by offset, that begins in [off, off + len), or NULL.
 * Findings about the file as a whole are nowhere. */
const struct ckpt_diag *inspect_finding_in(
	const struct inspect *in, uint64_t off, uint64_t len);
/* True if the finding is about bytes of the file. */
bool inspect_finding_placed(const struct ckpt_diag *diag);

/* Owners that lie side by side and belong together: the fields that share the
 * first element of their path, or one tensor, or bytes that nobody owns. */
struct inspect_stretch {
	const struct ckpt_owner *first;
	uint64_t off, end;
	const char *part; /* of fields: where the shared path begins */
	size_t part_len;
};

/* The stretch that begins with owner i; the number of the owner behind it. */
uint64_t inspect_stretch_next(
	const struct inspect *in, uint64_t i, struct inspect_stretch *s);
void inspect_stretch_write(struct ckpt_buf *buf, const struct inspect *in,
	const struct inspect_stretch *s);
const char *inspect_stretch_kind(const struct inspect_stretch *s);

/* Of the tensor at i, or NULL if none of its bytes were read. */
const struct ckpt_stats *inspect_stats_of(const struct inspect *in, uint64_t i);

/* ---- Words -- */

static inline const char *
inspect_color(const struct inspect *in, const char *color)
{
	return in->screen.color ? color : "";
}

#define INSPECT_RED  "\033[31m"
#define INSPECT_BOLD "\033[1m"
#define INSPECT_OFF  "\033[0m"

/* Name, version and title of the format, or what the file seems to be. */
void inspect_format_write(struct ckpt_buf *buf, const struct inspect *in);
/* Why a table is empty, or nothing. */
void inspect_empty_write(struct inspect *in, const char *what, uint64_t n);

/* ---- JSON -- */

json_t *inspect_json_f64(double value);
json_t *inspect_json_range(uint64_t off, uint64_t len);
json_t *inspect_json_shape(const struct ckpt_span *span);
/* The ids of the rules that a record broke. */
json_t *inspect_json_marks(const struct inspect *in, uint64_t record);

/* ---- Sections -- */

void inspect_overview_text(struct inspect *in);
json_t *inspect_overview_json(struct inspect *in);
void inspect_groups_text(struct inspect *in);
json_t *inspect_groups_json(struct inspect *in);
/* The groups of a format that has no roles: its names as a tree. */
void inspect_tree_text(struct inspect *in);
json_t *inspect_tree_json(struct inspect *in);
void inspect_records_text(struct inspect *in);
json_t *inspect_records_json(struct inspect *in);
void inspect_fields_text(struct inspect *in);
json_t *inspect_fields_json(struct inspect *in);
void inspect_map_text(struct inspect *in);
json_t *inspect_map_json(struct inspect *in);
void inspect_findings_text(struct inspect *in);
json_t *inspect_findings_json(struct inspect *in);
void inspect_hex_text(struct inspect *in);
json_t *inspect_hex_json(struct inspect *in);
void inspect_stats_text(struct inspect *in);
json_t *inspect_stats_json(struct inspect *in);
void inspect_at_text(struct inspect *in);
json_t *inspect_at_json(struct inspect *in);

/* The listener that gathers statistics. */
enum ckpt_status inspect_stats_event(
	struct ckpt_sink *sink, const struct ckpt_event *event);

/* Gives up what is not needed any more once the file is open; page is where a
 * page is to be saved, or NULL. */
void inspect_confine(const struct ckpt_args *args, const char *page);

/* The same for the viewer, before it opens anything; other may be NULL. */
void inspect_confine_viewer(
	const struct ckpt_args *args, const char *path, const char *other);

#endif
