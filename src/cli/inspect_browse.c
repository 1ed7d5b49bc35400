/* SPDX-License-Identifier: MIT */
/*
 * What can be looked at in the viewer: regular files, of which any byte can be
 * read at any time, and whose size is known. Seen to before the terminal is
 * touched, so that nothing flashes up for what cannot be shown.
 */
#include "cli/inspect.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not so those of /proc, which have bytes and say that there are none. */
static bool
has_its_size(const char *path, const struct stat *file)
{
	ssize_t n;
	char byte;
	int fd;

	if (file->st_size > 0)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = read(fd, &byte, 1);
	close(fd);
	return n == 0;
}

/* Of a pipe nothing can be seen twice. */
static bool
can_go_back(const char *path)
{
	struct stat file;

	return strcmp(path, "-") != 0 && stat(path, &file) == 0 &&
	       S_ISREG(file.st_mode) && has_its_size(path, &file);
}

bool
inspect_can_browse(const struct inspect *in)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	       can_go_back(in->path) && (!in->other || can_go_back(in->other));
}

const char *
inspect_missing(const struct inspect *in)
{
	const char *const paths[] = { in->path, in->other };

	for (size_t i = 0; i < 2; i++)
		if (paths[i] && strcmp(paths[i], "-") != 0 &&
			access(paths[i], R_OK) != 0)
			return paths[i];
	return NULL;
}
