/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_JOB_H
#define CKPT_CLI_REPLAY_JOB_H

/*
 * What the commands about training jobs and archives share: reading jobs and
 * archives, running a session, saving, and the objects of the JSON. Text is a
 * rendering of the same objects.
 */

#include "cli/replay.h"
#include "cli/screen.h"
#include "replay/session.h"

struct replay_train_options {
	int format, progress;
	const char *job, *from, *model, *checkpoint;
	uint64_t until, max_memory, jobs;
};

struct replay_resume_options {
	int format, progress;
	const char *job, *checkpoint, *model, *save;
	bool allow_other;
	uint64_t until, max_memory, jobs;
};

struct replay_audit_options {
	int format;
	const char *job;
	bool allow_other;
	uint64_t max_memory, jobs;
};

struct replay_backbone_options {
	int format;
	const char *output, *embeddings;
	uint64_t max_memory, jobs;
};

struct replay_demo_options {
	int format;
	const char *job;
	uint64_t jobs;
};

extern const struct ckpt_command replay_train_command;
extern const struct ckpt_command replay_resume_command;
extern const struct ckpt_command replay_demo_command;
extern const struct ckpt_command replay_backbone_command;
extern const struct ckpt_command replay_audit_command;
replay_function replay_train;
replay_function replay_resume;
replay_function replay_demo;
replay_function replay_backbone;
replay_function replay_audit;

/* ---- in ----------------------------------------------------------------- */

/* The job of a file, or the published one (path NULL). False: *status is the
 * exit status, and why was said. Release the job in any case. */
bool replay_job_read(struct ckpt_args *args, const char *path, int format,
	struct ckpt_job *job, int *status);

/* Loads an archive of one kind. NULL: as replay_load(). */
struct ckpt_checkpoint *replay_archive_load(struct ckpt_args *args,
	const char *path, enum ckpt_archive kind, uint64_t max_memory,
	int format, int *status);

/* A needed option that was not given is a usage error. */
bool replay_needs(
	struct ckpt_args *args, const char *option, const char *value);

/* Usage errors: an output that would replace an input or another output. NULLs
 * are passed over; inputs end with the last of n. */
bool replay_outputs_apart(struct ckpt_args *args, const char *const *outputs,
	size_t noutputs, const char *const *inputs, size_t ninputs);

/* Usage error: standard input is read once, so two inputs cannot be it. NULLs
 * are passed over. */
bool replay_inputs_apart(
	struct ckpt_args *args, const char *const *inputs, size_t n);

/* Whether something can be saved at each of the paths, found out before there
 * is anything to lose. False: *status, and why was said. */
bool replay_outputs_rehearse(struct ckpt_args *args, int format,
	const char *const *outputs, size_t n, int *status);

/* ---- a session ---------------------------------------------------------- */

struct replay_course {
	struct ckpt_session session;
	struct ckpt_session_record *records; /* owned; attempts so far */
	size_t nrecords, room;
	struct ckpt_refusal refusal;
	struct ckpt_team *team; /* owned */
	struct ckpt_arena arena;
	struct ckpt_envelope here;
	enum ckpt_when progress;
	bool interrupted; /* SIGINT came, and the update was finished */
};

/* All that is to be had before a session. False: *status, and it was said. */
bool replay_course_begin(struct ckpt_args *args, struct replay_course *course,
	uint64_t jobs, int format, int *status);
void replay_course_release(struct replay_course *course);

/* Answers SIGINT by a flag that replay_course_run() looks at; the second one
 * ends the program. */
void replay_catch_interrupt(void);

/* Updates until there are that many, or an interrupt. */
CKPT_MUST_USE enum ckpt_status replay_course_run(
	struct replay_course *course, uint64_t until);

/* One attempt more. A skip is kept among the records; an update is not, and
 * the session is only to be released then. */
CKPT_MUST_USE enum ckpt_status replay_course_skip(
	struct replay_course *course, bool *skipped);

/* ---- out ---------------------------------------------------------------- */

/* Saves a state, atomically; false was said on standard error. */
bool replay_archive_save(struct ckpt_args *args, const char *path,
	const struct ckpt_state *state);

/* Captures the session, saves checkpoint and model in this order, and reports
 * what was done. */
int replay_course_close(struct ckpt_args *args, struct replay_course *course,
	int format, const char *checkpoint, const char *model);

/* Objects of archives section 7. NULL if out of memory. */
json_t *replay_updates_json(const struct replay_course *course);
json_t *replay_skipped_json(const struct replay_course *course);
json_t *replay_state_json(const struct ckpt_state *state);
json_t *replay_real_json(double x);
json_t *replay_wide_json(uint64_t x); /* a decimal string */
json_t *replay_ids_json(const uint32_t *ids, size_t n);
/* Bytes as they are; the sanitiser's form if they are not UTF-8. */
json_t *replay_raw_json(const void *bytes, size_t n);

/* Puts schema, verdict and exit code in front, prints the object in either
 * format and gives it up. notes: lines for people at the end of the text, or
 * NULL. */
int replay_emit(int format, json_t *object, const char *verdict, int status,
	const char *notes);

/* Adds an object as indented text. */
void replay_render(struct ckpt_buf *out, const json_t *object);

#endif
