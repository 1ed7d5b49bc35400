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

/* One tensor of a decoded file, as an editor has to know it. */
struct ckpt_draft_tensor {
	enum ckpt_type type; /* of an element; CKPT_REC if unknown */
	const uint64_t *dims;
	uint32_t rank;
	uint64_t off, len; /* as declared */
};

/* What the rows do not say and an editor of files must know. */
struct ckpt_draft_rules {
	const char *header_extent, *payload_extent; /* paths */
	void (*tensor)(const void *root, uint64_t record,
		struct ckpt_draft_tensor *tensor);
	/* Makes extents, offsets, lengths and the number of records those of
	 * payloads of len[i] bytes that follow each other; where fresh[i] the
	 * payload is another one, so the first dimension is too. */
	void (*relayout)(void *root, const uint64_t *len, const bool *fresh);
};

/* Where a path leads in a file whose header is text. */
struct ckpt_text_place {
	enum {
		CKPT_TEXT_STRING, /* in quotes, with escapes */
		CKPT_TEXT_NUMBER,
		CKPT_TEXT_ENTRY,   /* of an object or an array */
		CKPT_TEXT_BINARY,  /* u64, little-endian */
		CKPT_TEXT_PAYLOAD, /* bytes of a tensor */
		CKPT_TEXT_ELEMENT, /* one value of it, of type */
	} kind;
	const struct ckpt_field *field; /* or NULL */
	uint64_t off, len;              /* in the file */
	bool real;                      /* ELEMENT: a float of 4 or 8 bytes */
};

/* What an editor of files must know where rows do not say where fields are. */
struct ckpt_text_rules {
	/* The header's length in front of it is kept right. */
	uint64_t length_off;
	bool (*locate)(const void *root, const char *path,
		struct ckpt_text_place *place);
};

/* One thing that a file holds, where the rows say nothing of it. */
struct ckpt_listed {
	char name[80], type[120];
	const char *doc; /* static */
};

/* A section of plain text; a paragraph that begins with a tab is shown as it
 * is. */
struct ckpt_chapter {
	const char *title;
	const char *const *paragraphs; /* NULL-terminated */
};

/* What the manual page of a format says beyond its rows, and the words with a
 * meaning that a file may hold, for the dictionary of the fuzzer. */
struct ckpt_manual {
	const char *date; /* "May 1, 2025" */
	const char *const *about;
	const struct ckpt_chapter *chapters; /* end with { 0 } */
	/* Item i of the list that follows the paragraphs of a chapter, false
	 * behind the last; or NULL: no chapter has one. */
	bool (*item)(size_t chapter, size_t i, struct ckpt_listed *item);
	const char *const *words;
};

/* What a report of evidence says of this format in its own words. */
struct ckpt_evidence_words {
	const char *magic;  /* as text */
	const char *endian; /* "little" */
	/* Paths of fields. */
	const char *version, *tokenizer_kind, *tokenizer_layout, *sampling_rng;
	const char *validated; /* of the whole state, while loading */
	const char *creation;  /* required when a file is made */
	const char *after;     /* required after an update */
	/* Kinds of error with which the reference loader stops. */
	const char *bad_version, *bad_vocabulary, *bad_step, *cut;
	const char *bad_checksum;
};

struct ckpt_format {
	const char *name;            /* "llmcp35" */
	const char *title;           /* for people */
	const char *const *suffixes; /* file names, NULL-terminated */
	/* Names of the checks that the format runs, NULL-terminated: the
	 * column "check" of the findings table. */
	const char *const *checks;
	/* Names of the facts that stand for the file in one line. */
	const char *const *brief;
	bool named;          /* neither magic nor version: known by suffix */
	bool values_decide;  /* a verdict needs every value to be looked at */
	bool bounds_headers; /* options.max_header means something */
	/* Whether the first n bytes are of this format; n may be less than
	 * needed to be sure. */
	bool (*sniff)(const uint8_t *head, size_t n);
	/* Whether they are so even if they are damaged; asked only of files
	 * that neither sniffing nor a name tells, and that seem nothing else.
	 * NULL: no. */
	bool (*resembles)(const uint8_t *head, size_t n);
	const char *begins; /* with what such files do, in words */
	/* Reads the file, judges it, tells the listeners. Sets run->decoded
	 * as soon as there is something decoded. */
	enum ckpt_status (*parse)(
		struct ckpt_run *run, struct ckpt_reader *reader);
	const struct ckpt_record *root; /* of the decoded structure */
	const struct ckpt_alias *aliases;
	size_t naliases;
	const struct ckpt_scope *scope;
	const struct ckpt_manual *manual;
	const struct ckpt_evidence_words *evidence; /* NULL: no replay */
	const struct ckpt_draft_rules *draft; /* NULL: bytes can be edited */
	const struct ckpt_text_rules *text;   /* of a header that is text */
	/* Fills a neutral state from a decoded file; tensors borrow payload,
	 * which holds the bytes from header_end on. */
	enum ckpt_status (*bind)(struct ckpt_run *run, const uint8_t *payload,
		uint64_t payload_len, struct ckpt_state *state);
	/* Writes a state. CKPT_REJECTED if its lengths do not fit 64 bits. */
	enum ckpt_status (*encode)(
		const struct ckpt_state *state, struct ckpt_writer *writer);
	/* The bytes that encode would write; costs no payload. */
	enum ckpt_status (*measure)(
		const struct ckpt_state *state, uint64_t *bytes);
};

extern const struct ckpt_format ckpt_format_llmcp35;
extern const struct ckpt_format ckpt_format_safetensors;
extern const struct ckpt_format ckpt_format_archive;

/* What the file of a run holds and does not: the format's lists, or those of
 * the kind of file that the driver found it to be. NULL: nothing is said. */
const struct ckpt_scope *ckpt_run_scope(const struct ckpt_run *run);

/* Formats by position, NULL behind the last. The first one judges files that
 * nobody claims. */
const struct ckpt_format *ckpt_format_at(size_t i);
const struct ckpt_format *ckpt_format_find(const char *name);
const struct ckpt_format *ckpt_format_sniff(const uint8_t *head, size_t n);

/* The bytes that sniffing asks for. */
enum { CKPT_SNIFF = 4096 };

/* Points *head at as many of them as there are, never at more: how many a
 * source gives at once must not change what a file is taken for. */
size_t ckpt_format_head(struct ckpt_reader *reader, const uint8_t **head);

/* The option that cannot apply to files of this format, as on the command
 * line, or NULL. */
const char *ckpt_format_refuses(
	const struct ckpt_format *format, const struct ckpt_options *options);

/* The end of the file by its own extents, from its decoded structure. False
 * if the format names none, or if they add up beyond 64 bits. */
CKPT_MUST_USE bool ckpt_format_declared_end(
	const struct ckpt_format *format, void *root, uint64_t *end);

/* The first field with a flag that a decoded file has, and where it begins;
 * NULL if there is none. */
const struct ckpt_field *ckpt_format_flagged(const struct ckpt_format *format,
	const void *root, unsigned flag, uint64_t *off);

/* Where files of this format have the eight bytes of an FNV-1a 64 checksum
 * over all their bytes. False if they have none. */
CKPT_MUST_USE bool ckpt_format_checksum(
	const struct ckpt_format *format, uint64_t *off);

/* The format whose files these first bytes may begin, intact or not; name is
 * what the file is called, or NULL. NULL if it is something else. */
const struct ckpt_format *ckpt_format_guess(
	const uint8_t *head, size_t n, const char *name);

/* What a file that is no checkpoint seems to be, in words, or NULL. text is
 * filled when the words hold a fact of the file. */
const char *ckpt_foreign_name(
	const uint8_t *head, size_t n, char *text, size_t text_size);

/* Whether those words, which it gave, say that the file is a copy made as text:
 * a checkpoint that was changed all over, and no file of another kind. */
bool ckpt_foreign_is_text_copy(const char *name);

/* The same by a magic of at least four bytes alone, for places where anything
 * may stand. */
const char *ckpt_foreign_magic(const uint8_t *head, size_t n);

#endif
