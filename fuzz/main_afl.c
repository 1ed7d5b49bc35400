/* SPDX-License-Identifier: MIT */
/*
 * A fuzz target under AFL++: persistent mode, test cases through shared
 * memory, and a fork server that starts only here, behind all set-up.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fuzz/target.h"

/* Restarted now and then, so that a leak would stay small. */
enum { RUNS = 10000 };

__AFL_FUZZ_INIT();

int
main(void)
{
	const unsigned char *shared;

	__AFL_INIT();
	shared = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(RUNS)) {
		size_t size = (size_t)__AFL_FUZZ_TESTCASE_LEN;
		/* The shared buffer goes on behind the test case; a copy of
		 * exactly its size does not. */
		unsigned char *data = malloc(size ? size : 1);

		if (!data)
			continue;
		memcpy(data, shared, size);
		CKPT_FUZZ_TARGET(data, size);
		free(data);
	}
	return 0;
}
