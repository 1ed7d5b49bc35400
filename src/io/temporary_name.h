/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_TEMPORARY_NAME_H
#define CKPT_IO_TEMPORARY_NAME_H

/*
 * The names of temporary files, .NAME.tmp-PID-SERIAL: made for each file that
 * is being saved, recognised where a kill left one behind. SERIAL is any
 * number of 32 bits and is drawn: in a container every saver may be process
 * 1, and what killed ones left must not stand in the way for ever.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt.h"

/* How many serials are tried for one file. */
enum { CKPT_TEMPORARY_SERIALS = 128 };

/* The parts of such a name. */
struct ckpt_temporary_name {
	const char *name; /* NAME, n bytes; borrowed from the whole */
	size_t n;
	uint64_t pid;
	uint32_t serial;
	bool whole; /* false: NAME may have been cut to fit */
};

/* A serial to try, the next one for each attempt from 0; no secret. */
uint32_t ckpt_temporary_serial(unsigned int attempt);

/* Writes the name for saving the file called name, which is not empty. NAME
 * is cut where the whole would pass NAME_MAX bytes, between two characters if
 * it is UTF-8 there. */
void ckpt_temporary_name_make(
	char out[NAME_MAX + 1], const char *name, int pid, uint32_t serial);

/* True if file, a name without folder, is that of a temporary file of ours;
 * out is written only then. */
CKPT_MUST_USE bool ckpt_temporary_name_parse(
	const char *file, struct ckpt_temporary_name *out);

#endif
