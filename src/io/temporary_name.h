/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_TEMPORARY_NAME_H
#define CKPT_IO_TEMPORARY_NAME_H

/*
 * The names of temporary files, .NAME.tmp-PID-SERIAL: made for each file that
 * is being saved, recognised where a kill left one behind.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt.h"

/* The serials that are tried for one file, from 0. */
enum { CKPT_TEMPORARY_SERIALS = 128 };

/* The parts of such a name. */
struct ckpt_temporary_name {
	const char *name; /* NAME, n bytes; borrowed from the whole */
	size_t n;
	uint64_t pid;
	unsigned int serial;
	bool whole; /* false: NAME may have been cut to fit */
};

/* Writes the name for saving the file called name, which is not empty. NAME
 * is cut where the whole would pass NAME_MAX bytes, between two characters if
 * it is UTF-8 there. */
void ckpt_temporary_name_make(
	char out[NAME_MAX + 1], const char *name, int pid, unsigned int serial);

/* True if file, a name without folder, is that of a temporary file of ours;
 * out is written only then. */
CKPT_MUST_USE bool ckpt_temporary_name_parse(
	const char *file, struct ckpt_temporary_name *out);

#endif
