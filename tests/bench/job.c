/* SPDX-License-Identifier: MIT */
/*
 * Times the updates of a training job. Prints the processor's seconds of one
 * update on average, the peak memory in MiB, the targets of an update, and
 * the identity of the model that comes out, which must not depend on how this
 * was built.
 * usage: job FILE UPDATES
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "model/identity.h"
#include "replay/envelope.h"
#include "replay/session.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum ckpt_status
read_job(const char *path, struct ckpt_job *job, struct ckpt_buf *why)
{
	FILE *f = fopen(path, "rb");
	struct ckpt_buf text = { 0 };
	enum ckpt_status s;
	char piece[65536];
	size_t n;

	if (!f)
		return CKPT_EIO;
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		ckpt_buf_add(&text, piece, n);
	fclose(f);
	s = ckpt_job_read(job, text.p ? text.p : "", text.n, why);
	ckpt_buf_release(&text);
	return s;
}

int
main(int argc, char **argv)
{
	unsigned long updates = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_job job = { 0 };
	struct ckpt_session session = { 0 };
	struct ckpt_session_record record = { 0 };
	struct ckpt_arena arena;
	struct ckpt_envelope here;
	struct ckpt_state state, model;
	struct rusage usage;
	char identity[CKPT_SHA256_TEXT];
	double start = 0.0, end = 0.0;
	enum ckpt_status s;

	ckpt_arena_init(&arena, UINT64_MAX);
	s = ckpt_envelope_here(&arena, NULL, &here);
	if (s == CKPT_OK && argc > 1)
		s = read_job(argv[1], &job, &refusal.text);
	if (s == CKPT_OK)
		s = ckpt_session_start(&session, &job, NULL, &here, &refusal);
	start = now();
	for (unsigned long i = 0; i < updates && s == CKPT_OK; i++)
		s = ckpt_session_update(&session, &record, &refusal);
	end = now();
	getrusage(RUSAGE_SELF, &usage);
	if (s == CKPT_OK)
		s = ckpt_session_capture(&session, &state, &refusal);
	if (s == CKPT_OK) {
		model = ckpt_state_model(&state);
		s = ckpt_model_identity(&model, identity) ? CKPT_OK
							  : CKPT_ENOMEM;
	}
	if (s == CKPT_OK)
		printf("%.3f %ld %llu %s\n", (end - start) / (double)updates,
			usage.ru_maxrss / 1024,
			(unsigned long long)record.attempt.targets, identity);
	else
		fprintf(stderr, "job: status %d: %s\n", (int)s,
			refusal.text.p ? refusal.text.p : "");
	ckpt_session_release(&session);
	ckpt_job_release(&job);
	ckpt_arena_release(&arena);
	ckpt_buf_release(&refusal.text);
	return s != CKPT_OK;
}
