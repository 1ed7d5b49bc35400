/* SPDX-License-Identifier: MIT */
/*
 * Running a verification over bytes in memory and looking at its findings.
 */
#include "support/judged.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/source_slow.h"
#include "wire/value.h"

static void
judge(struct judged *judged, const char *name, const void *bytes, size_t n,
	size_t most, bool pipe, uint64_t fail_at)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct ckpt_source *source;

	assert(copy);
	if (n)
		memcpy(copy, bytes, n);
	memset(judged, 0, sizeof *judged);
	judged->run = ckpt_run_new(NULL);
	source = ckpt_source_memory(copy, n);
	assert(judged->run && source);
	source->name = name;
	source = ckpt_source_slow(source, most, pipe, fail_at);
	assert(source);
	judged->verdict = ckpt_verify(judged->run, source);
	ckpt_source_close(source);
	free(copy);
}

void
judged_slowly(struct judged *judged, const void *bytes, size_t n, size_t most,
	bool pipe, uint64_t fail_at)
{
	judge(judged, NULL, bytes, n, most, pipe, fail_at);
}

void
judged_bytes(struct judged *judged, const void *bytes, size_t n)
{
	judged_slowly(judged, bytes, n, SIZE_MAX, false, UINT64_MAX);
}

void
judged_named(
	struct judged *judged, const char *name, const void *bytes, size_t n)
{
	judge(judged, name, bytes, n, SIZE_MAX, false, UINT64_MAX);
}

void
judged_free(struct judged *judged)
{
	ckpt_run_free(judged->run);
	ckpt_buf_release(&judged->text);
}

const struct ckpt_diag *
judged_find(const struct judged *judged, const char *id)
{
	for (size_t i = 0; i < ckpt_run_finding_count(judged->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(judged->run, i);

		if (strcmp(d->rule->id, id) == 0)
			return d;
	}
	return NULL;
}

size_t
judged_count(const struct judged *judged, const char *id)
{
	size_t n = 0;

	for (size_t i = 0; i < ckpt_run_finding_count(judged->run); i++)
		n += strcmp(ckpt_run_finding(judged->run, i)->rule->id, id) ==
		     0;
	return n;
}

size_t
judged_faults(const struct judged *judged)
{
	size_t n = 0;

	for (size_t i = 0; i < ckpt_run_finding_count(judged->run); i++)
		n += ckpt_run_finding(judged->run, i)->rule->severity !=
		     CKPT_NOTE;
	return n;
}

const char *
judged_primary(const struct judged *judged)
{
	const struct ckpt_diag *d = ckpt_run_primary(judged->run);

	return d ? d->rule->id : "";
}

const char *
judged_value(struct judged *judged, const struct ckpt_value *value)
{
	ckpt_buf_clear(&judged->text);
	ckpt_buf_puts(&judged->text, "");
	ckpt_value_write(&judged->text, value);
	return judged->text.p;
}

char *
judged_log(struct judged *judged)
{
	struct ckpt_buf log;

	ckpt_buf_init(&log);
	ckpt_buf_printf(&log, "%s %s\n", ckpt_verdict_name(judged->verdict),
		judged_primary(judged));
	for (size_t i = 0; i < ckpt_run_finding_count(judged->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(judged->run, i);

		ckpt_buf_printf(&log,
			"%s %" PRIu64 "+%" PRIu64 " %s x%" PRIu64 " %s | ",
			d->rule->id, d->off, d->len, d->path, d->count,
			d->caused_by ? d->caused_by->id : "-");
		ckpt_value_write(&log, &d->expected);
		ckpt_buf_puts(&log, " | ");
		ckpt_value_write(&log, &d->found);
		ckpt_buf_printf(&log, " | %s\n", d->note ? d->note : "");
	}
	assert(!log.failed);
	return log.p;
}
