/* SPDX-License-Identifier: MIT */
/*
 * The one place where the viewer sleeps. A terminal that hung up has no input
 * worth reading, so the two are never told together.
 */
#include "view/wait.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* Takes out what rang. */
static void
empty_pipe(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof bytes) == sizeof bytes)
		continue;
}

unsigned
view_wait(int input, int signals, int bell, int milliseconds)
{
	struct pollfd fds[] = {
		{ .fd = input, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
		{ .fd = bell, .events = POLLIN },
	};
	unsigned came = 0;

	if (poll(fds, 3, milliseconds) < 0)
		return errno == EINTR ? 0 : VIEW_CAME_HANGUP;
	if (fds[1].revents)
		came |= VIEW_CAME_SIGNAL;
	if (fds[2].revents) {
		empty_pipe(bell);
		came |= VIEW_CAME_BELL;
	}
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		came |= VIEW_CAME_HANGUP;
	else if (fds[0].revents)
		came |= VIEW_CAME_INPUT;
	return came;
}
