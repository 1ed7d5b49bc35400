/* SPDX-License-Identifier: MIT */
/*
 * Makes and recognises the names of temporary files: .NAME.tmp-PID-SERIAL,
 * with decimal numbers as printf writes them. A name is read from its end, as
 * NAME may hold anything, even another such name. publish.c makes them; tools
 * that look through folders recognise what a killed process left behind.
 */
#include "io/temporary_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/utf8.h"

uint32_t
ckpt_temporary_serial(unsigned int attempt)
{
	struct timespec now = { 0 };
	uint32_t serial;

	if (getrandom(&serial, sizeof serial, GRND_NONBLOCK) ==
		(ssize_t)sizeof serial)
		return serial;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint32_t)now.tv_sec * UINT32_C(2654435761) ^
	       ((uint32_t)now.tv_nsec + attempt);
}

void
ckpt_temporary_name_make(
	char out[NAME_MAX + 1], const char *name, int pid, uint32_t serial)
{
	char tail[40];
	size_t tail_n = (size_t)snprintf(
		tail, sizeof tail, ".tmp-%d-%" PRIu32, pid, serial);
	size_t room = NAME_MAX - 1 - tail_n;
	size_t n = strlen(name);

	if (n > room) {
		size_t valid;

		n = room;
		(void)ckpt_utf8_valid(name, n, &valid);
		if (n - valid < 4)
			n = valid;
	}
	out[0] = '.';
	memcpy(out + 1, name, n);
	memcpy(out + 1 + n, tail, tail_n + 1);
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the number that ends before *end, at most most, and moves *end to its
 * first digit. */
static bool
number_before(const char *file, size_t *end, uint64_t most, uint64_t *number)
{
	size_t start = *end;

	while (start > 0 && is_digit(file[start - 1]))
		start--;
	if (start == *end || (file[start] == '0' && *end - start > 1))
		return false;
	*number = 0;
	for (size_t i = start; i < *end; i++) {
		*number = *number * 10 + (uint64_t)(file[i] - '0');
		if (*number > most)
			return false;
	}
	*end = start;
	return true;
}

/* Moves *end before the text that ends there. */
static bool
text_before(const char *file, size_t *end, const char *text)
{
	size_t n = strlen(text);

	if (*end < n || memcmp(file + *end - n, text, n) != 0)
		return false;
	*end -= n;
	return true;
}

bool
ckpt_temporary_name_parse(const char *file, struct ckpt_temporary_name *out)
{
	size_t whole = strlen(file);
	size_t end = whole;
	uint64_t serial;
	uint64_t pid;

	if (!number_before(file, &end, UINT32_MAX, &serial) ||
		!text_before(file, &end, "-") ||
		!number_before(file, &end, INT_MAX, &pid) ||
		!text_before(file, &end, ".tmp-"))
		return false;
	if (pid == 0 || end < 2 || file[0] != '.')
		return false;
	out->name = file + 1;
	out->n = end - 1;
	out->pid = pid;
	out->serial = (uint32_t)serial;
	/* A cut between two characters gives up at most three bytes. */
	out->whole = whole < NAME_MAX - 3;
	return true;
}
