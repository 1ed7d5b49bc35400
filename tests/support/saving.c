/* SPDX-License-Identifier: MIT */
/*
 * The folder of a test and the file that is saved in it, for the tests of
 * publish.c. Every failure here is an assertion of the test that runs.
 */
#include "saving.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/temporary_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char saving_old_text[] = "the old content";
const char saving_new_text[] = "head:0123:and the rest";

/* ---- The folder of a test ----------------------------------------------- */

void
saving_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t n = strlen(text);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	assert_int_equal(close(fd), 0);
}

bool
saving_holds(const char *path, const char *text)
{
	char bytes[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, bytes, sizeof bytes);
	assert_int_equal(close(fd), 0);
	return n == (ssize_t)strlen(text) &&
	       memcmp(bytes, text, (size_t)n) == 0;
}

int
saving_temporaries(bool and_remove)
{
	DIR *folder = opendir(".");
	struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		struct ckpt_temporary_name parts;

		if (!ckpt_temporary_name_parse(entry->d_name, &parts))
			continue;
		count++;
		if (and_remove)
			assert_int_equal(unlink(entry->d_name), 0);
	}
	assert_int_equal(closedir(folder), 0);
	return count;
}

mode_t
saving_mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

int
saving_enter_folder(void **state)
{
	char *folder = strdup("/tmp/ckpt-publish-XXXXXX");

	*state = folder;
	return folder && mkdtemp(folder) ? chdir(folder) : -1;
}

int
saving_leave_folder(void **state)
{
	char *folder = *state;
	char command[64];
	int result;

	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	free(folder);
	result = chdir("/");
	return result ? result : system(command);
}

/* ---- Saving ------------------------------------------------------------- */

enum ckpt_status
saving_save(struct ckpt_publish *pub, const struct ckpt_file_ops *ops,
	const char *path)
{
	enum ckpt_status status = ckpt_publish_begin(pub, ops, path);

	if (status == CKPT_OK)
		status = ckpt_publish_write(pub, "head:....:", 10);
	if (status == CKPT_OK)
		status = ckpt_publish_write(pub, saving_new_text + 10, 12);
	if (status == CKPT_OK)
		status = ckpt_publish_patch(pub, 5, "0123", 4);
	if (status == CKPT_OK)
		status = ckpt_publish_commit(pub);
	return status;
}
