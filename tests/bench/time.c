/* SPDX-License-Identifier: MIT */
/*
 * time COMMAND...: runs it with its standard output thrown away and prints
 * seconds of the clock, seconds of processors (user and system), and the most
 * memory that it had, in KiB. Fails if the command does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int
main(int argc, char **argv)
{
	double begun = now();
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2 || (pid = fork()) < 0)
		return 2;
	if (pid == 0) {
		int nowhere = open("/dev/null", O_WRONLY);

		if (nowhere >= 0)
			dup2(nowhere, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) != pid)
		return 2;
	printf("%.6f %.6f %ld\n", now() - begun,
		seconds(usage.ru_utime) + seconds(usage.ru_stime),
		usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
