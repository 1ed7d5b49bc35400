/* SPDX-License-Identifier: MIT */
/*
 * Which mutant is real, and where it is told what came by. In the scratch copy
 * that tests/mutants/mutants.py makes this is a file of the library; nothing
 * else ever sees it. The constructor runs before those of mutated tables.
 *
 * A test that is to meet thousands of mutants is started once: with
 * CKPT_MUTANT_SERVER it reads one mutant a line, goes on as a child of its own
 * for each, and writes the child's process id and how it ended.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the test programs only: one case of theirs. */
extern void cmocka_set_test_filter(const char *pattern) __attribute__((weak));

static unsigned char seen[CKPT_MUTANT_MOST];

int ckpt_mutant_number;
int ckpt_mutant_op;
unsigned char *ckpt_mutant_seen = seen;

static void
choose(const char *mutant)
{
	char op;

	if (sscanf(mutant, "%d:%c", &ckpt_mutant_number, &op) == 2)
		ckpt_mutant_op = op;
}

/* A loop without end is a kill, however busy the machine is. */
static void
limit(void)
{
	const char *seconds = getenv("CKPT_MUTANT_SECONDS");
	struct rlimit cpu = { 0, 0 }, as = { 6ul << 30, 6ul << 30 };
	struct rlimit core = { 0, 0 };

	if (!seconds)
		return;
	cpu.rlim_cur = strtoul(seconds, NULL, 10);
	cpu.rlim_max = cpu.rlim_cur + 1;
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_AS, &as);
	setrlimit(RLIMIT_CORE, &core);
}

/* Returns in the children only. */
static void
serve(void)
{
	char line[64];
	int status;

	while (fgets(line, sizeof line, stdin)) {
		pid_t pid = fork();

		if (pid == 0) {
			setsid();
			choose(line);
			limit();
			freopen("/dev/null", "r", stdin);
			freopen("/dev/null", "w", stdout);
			freopen("/dev/null", "w", stderr);
			return;
		}
		printf("%d\n", (int)pid);
		fflush(stdout);
		while (waitpid(pid, &status, 0) != pid)
			;
		kill(-pid, SIGKILL);
		printf("%d\n", WIFSIGNALED(status) ? -WTERMSIG(status)
						   : WEXITSTATUS(status));
		fflush(stdout);
	}
	_exit(0);
}

__attribute__((constructor(101))) static void
ckpt_mutant_start(void)
{
	const char *mutant = getenv("CKPT_MUTANT");
	const char *path = getenv("CKPT_MUTANT_SEEN");
	const char *test = getenv("CKPT_MUTANT_TEST");

	if (mutant)
		choose(mutant);
	if (path) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		void *p = fd < 0 ? MAP_FAILED
				 : mmap(NULL, CKPT_MUTANT_MOST,
					   PROT_READ | PROT_WRITE, MAP_SHARED,
					   fd, 0);

		if (p != MAP_FAILED)
			ckpt_mutant_seen = p;
		if (fd >= 0)
			close(fd);
	}
	if (test && cmocka_set_test_filter)
		cmocka_set_test_filter(test);
	if (getenv("CKPT_MUTANT_SERVER"))
		serve();
	else
		limit();
}
