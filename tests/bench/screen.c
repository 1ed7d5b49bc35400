/* SPDX-License-Identifier: MIT */
/*
 * screen TOOL FILE: starts the viewer in a terminal of 40 rows and 120
 * columns, and prints the milliseconds from its start to its first screen and
 * the memory that it had by then.
 */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The most memory that the process has had, in KiB. */
static long
peak(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

int
main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 40, .ws_col = 120 };
	static char screen[1 << 20];
	size_t n = 0;
	double begun = now();
	int fd, status;
	pid_t pid;

	if (argc != 3)
		return 2;
	pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0)
		return 1;
	if (pid == 0) {
		setenv("TERM", "xterm", 1);
		execl(argv[1], argv[1], argv[2], (char *)NULL);
		_exit(127);
	}
	while (n < sizeof screen - 1 && !strstr(screen, "? help")) {
		ssize_t got = read(fd, screen + n, sizeof screen - 1 - n);

		if (got <= 0)
			return 1;
		/* Escape sequences may hold a NUL as padding. */
		for (ssize_t i = 0; i < got; i++)
			if (screen[n + (size_t)i] == '\0')
				screen[n + (size_t)i] = ' ';
		n += (size_t)got;
	}
	printf("%.1f %ld\n", now() - begun, peak(pid));
	kill(pid, SIGTERM);
	close(fd);
	waitpid(pid, &status, 0);
	return 0;
}
