/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_FORMAT_H
#define CKPT_FORMAT_FORMAT_H

/*
 * The registry: one row a format. Tools and sinks speak to a format through
 * its row only; nothing else in the project knows which formats there are.
 */

#include "io/reader.h"
#include "model/state.h"
#include "wire/walk.h"

/* A second way to write the path of a record: "param:NAME", "token[0]". */
struct ckpt_alias {
	const char *prefix; /* up to and with ':', or before '[' */
	uint64_t role;      /* value of the record's role field */
	enum { CKPT_ALIAS_BY_NAME, CKPT_ALIAS_BY_INDEX, CKPT_ALIAS_ONLY } by;
};

/* What a file of this format holds and what it does not: lists of words. */
struct ckpt_scope {
	const char *const *stored;
	const char *const *supplied; /* by the caller, for one update */
	const char *const *required; /* to continue training */
	const char *const *outside;
};

struct ckpt_format {
	const char *name;            /* "llmcp35" */
	const char *title;           /* for people */
	const char *const *suffixes; /* file names, NULL-terminated */
	/* Names of the checks that the format runs, NULL-terminated: the
	 * column "check" of the findings table. */
	const char *const *checks;
	/* Whether the first n bytes are of this format; n may be less than
	 * needed to be sure. */
	bool (*sniff)(const uint8_t *head, size_t n);
	/* Reads the file, judges it, tells the listeners. Sets run->decoded
	 * as soon as there is something decoded. */
	enum ckpt_status (*parse)(
		struct ckpt_run *run, struct ckpt_reader *reader);
	const struct ckpt_record *root; /* of the decoded structure */
	const struct ckpt_alias *aliases;
	size_t naliases;
	const struct ckpt_scope *scope;
	/* Fills a neutral state from a decoded file; tensors borrow payload,
	 * which holds the bytes from header_end on. */
	enum ckpt_status (*bind)(struct ckpt_run *run, const uint8_t *payload,
		uint64_t payload_len, struct ckpt_state *state);
	/* Writes a state. */
	enum ckpt_status (*encode)(
		const struct ckpt_state *state, struct ckpt_writer *writer);
};

extern const struct ckpt_format ckpt_format_llmcp35;

/* Formats by position, NULL behind the last. The first one judges files that
 * nobody claims. */
const struct ckpt_format *ckpt_format_at(size_t i);
const struct ckpt_format *ckpt_format_find(const char *name);
const struct ckpt_format *ckpt_format_sniff(const uint8_t *head, size_t n);

/* What a file that is no checkpoint seems to be, in words, or NULL. text is
 * filled when the words hold a fact of the file. */
const char *ckpt_foreign_name(
	const uint8_t *head, size_t n, char *text, size_t text_size);

#endif
