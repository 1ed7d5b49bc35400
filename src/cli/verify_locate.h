/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_VERIFY_LOCATE_H
#define CKPT_CLI_VERIFY_LOCATE_H

/* --locate and --propose-repair: what is done once a file was verified. */

#include "cli/verify.h"
#include "forensics/repair.h"

struct ckpt_verify_location {
	struct ckpt_located located;
	const char *copy; /* where to, borrowed; NULL: not asked for */
	struct ckpt_repair repair;
};

/* Whether what is at path passes only once, so that it cannot be searched. */
bool ckpt_verify_reads_once(const char *path);
/* Whether files of a format have no checksum that could be searched by; not
 * of NULL, which is no format. */
bool ckpt_verify_no_checksum(const struct ckpt_format *format);

/* Whether --propose-repair goes with the operands: false with the usage error
 * noted. */
bool ckpt_verify_repair_settle(
	struct ckpt_args *args, const struct ckpt_verify_options *options);

/* Searches a file whose verification with these options was run, and writes
 * the copy if there is to be one. NULL if memory ran out. */
struct ckpt_verify_location *ckpt_verify_location_new(
	const struct ckpt_verify_options *wanted, struct ckpt_source *source,
	const struct ckpt_options *options, const struct ckpt_run *run);
/* NULL is allowed. */
void ckpt_verify_location_free(struct ckpt_verify_location *location);

/* What was found, and what became of the copy: lines of text, or an object,
 * NULL if out of memory. */
void ckpt_verify_location_write(struct ckpt_buf *buf,
	const struct ckpt_verify_location *location, const char *path);
json_t *ckpt_verify_location_json(const struct ckpt_verify_location *location);

/* Whether a copy that should be there could not be written, and why. */
bool ckpt_verify_location_trouble(
	struct ckpt_buf *buf, const struct ckpt_verify_location *location);

#endif
