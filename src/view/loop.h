/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_LOOP_H
#define CKPT_VIEW_LOOP_H

/* The viewer in a terminal. */

#include <stdint.h>

#include "view/term.h"

struct view_loop_options {
	const char *path;
	const char *other; /* to be compared with it, or NULL */
	uint64_t max_memory;
	struct view_term_options term;
};

#define VIEW_REFUSED (-1)

/* Shows the file until the viewer is left, and returns the program's exit
 * status; VIEW_REFUSED if nothing was shown, because the file cannot be opened
 * and read at any place, or the terminal is none or not able, or memory is
 * out. A signal ends the program here, once all is in order. So does a job
 * that does not stop soon: it is not waited for. The caller has set the
 * locale for characters. */
int view_loop_run(const struct view_loop_options *options);

#endif
