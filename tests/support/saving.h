/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_SAVING_H
#define CKPT_TESTS_SAVING_H

/*
 * What the tests of saving share. Each test runs in an empty folder of its
 * own, which is the current one.
 */

#include <stdbool.h>
#include <sys/stat.h>

#include "io/publish.h"

extern const char saving_old_text[];
extern const char saving_new_text[];

/* Setup and teardown: *state is the path of the folder. */
int saving_enter_folder(void **state);
int saving_leave_folder(void **state);

void saving_put(const char *path, const char *text);
bool saving_holds(const char *path, const char *text);
mode_t saving_mode_of(const char *path);

/* Counts the temporary files of ours, and removes them if asked to. */
int saving_temporaries(bool and_remove);

/* Saves the new text in pieces and with a patch, as an encoder does. */
enum ckpt_status saving_save(struct ckpt_publish *pub,
	const struct ckpt_file_ops *ops, const char *path);

#endif
