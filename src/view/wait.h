/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_WAIT_H
#define CKPT_VIEW_WAIT_H

/* Waiting for whatever comes first. */

enum {
	VIEW_CAME_INPUT = 1,
	VIEW_CAME_BELL = 2,
	VIEW_CAME_SIGNAL = 4,
	VIEW_CAME_HANGUP = 8, /* there is no terminal any more */
};

/* What came through these file descriptors within some milliseconds; one that
 * is -1 is not waited for. What rang the bell is taken out. */
unsigned view_wait(int input, int signals, int bell, int milliseconds);

#endif
