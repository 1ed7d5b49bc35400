/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_DESCRIBE_H
#define CKPT_CLI_DESCRIBE_H

/*
 * What is generated from the tables: the manual page of a format and the
 * dictionary for its fuzzer from the schema rows, the manual page of the
 * rules from the findings table.
 */

#include "base/buf.h"
#include "format/format.h"

/* FORMAT(5). */
void ckpt_describe_manual(
	struct ckpt_buf *buf, const struct ckpt_format *format);

/* A dictionary in the syntax of AFL++. */
void ckpt_describe_dictionary(
	struct ckpt_buf *buf, const struct ckpt_format *format);

/* ckpt-rules(7). */
void ckpt_describe_rules(struct ckpt_buf *buf);

/* A phrase as a sentence, in a manual page. */
void ckpt_describe_sentence(struct ckpt_buf *buf, const char *phrase);

/* One field of a format, with the fields of its records below it. */
struct ckpt_described {
	const char *path; /* "records[i].dims[j]", "groups.decay.count" */
	const struct ckpt_field *field;
	const struct ckpt_record *rec; /* that holds the field */
	const char *rec_path;          /* of it; "" for the root */
	bool is_count;                 /* the count in front of an array */
	bool placed;                   /* off is the same in every file */
	uint64_t off; /* in the file, or in the element of an array */
};

/* Calls each for every field that has bytes of its own, in file order. False
 * when memory is used up. */
CKPT_MUST_USE bool ckpt_describe_fields(const struct ckpt_format *format,
	void (*each)(void *ctx, const struct ckpt_described *described),
	void *ctx);

#endif
