/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_VERIFY_H
#define CKPT_CLI_VERIFY_H

/* The parts of ckverify: options, the session over all operands, output. */

#include "cli/opt.h"
#include "cli/progress.h"
#include "cli/sandbox.h"
#include "cli/screen.h"
#include "sink/report.h"

enum ckpt_verify_format {
	CKPT_VERIFY_TEXT,
	CKPT_VERIFY_JSON,
	CKPT_VERIFY_JSONL,
};

enum ckpt_verify_fail_on { CKPT_FAIL_ON_ERROR, CKPT_FAIL_ON_WARNING };

struct ckpt_verify_options {
	enum ckpt_verify_format format;
	enum ckpt_verify_fail_on fail_on;
	enum ckpt_values values;
	enum ckpt_profile profile;
	enum ckpt_when color, progress;
	uint64_t max_header, max_memory;
	uint64_t align;     /* 0: not asked for */
	uint64_t jobs;      /* threads, at least 1 */
	const char *latest; /* NULL: operands instead */
	bool first, recursive, quiet, verbose, digests, what_happened;
	bool locate;
	const char *repair; /* where a copy goes to, or NULL */
	bool list_rules;
	const char *explain; /* NULL: not asked for */
};

extern const struct ckpt_command ckpt_verify_command;

/* Parses the command line and judges how the options go together; false as
 * ckpt_args_parse says. */
bool ckpt_verify_parse(struct ckpt_args *args,
	struct ckpt_verify_options *options, int argc, char *const *argv);

/* --explain and --list-rules: into args->out. False if there is no such rule;
 * ckpt_args_report says the rest in either case. */
bool ckpt_verify_rules(
	struct ckpt_args *args, const struct ckpt_verify_options *options);

/* A training checkpoint and a portable model among the operands. */
struct ckpt_verify_pair {
	struct ckpt_verify_half {
		const char *path;  /* borrowed; NULL: there is none */
		char model_id[65]; /* "": not known */
	} checkpoint, model;
	bool others; /* there is more than these two */
};

struct ckpt_verify_location; /* cli/verify_locate.h */

/* All operands of one command line. */
struct ckpt_verify_session {
	const struct ckpt_verify_options *options;
	bool (*interrupted)(void);
	struct ckpt_sandbox sandbox;
	bool confine_when_open; /* once the only operand is open */
	struct ckpt_screen screen;
	struct ckpt_progress progress;
	struct ckpt_buf out;     /* what is still to be written */
	struct ckpt_buf members; /* of a set, until the set is said itself */
	bool in_set;             /* what is said now is one of them */
	bool held; /* until no operand can be a usage error any more */
	bool any;  /* a result is in out, or was written */
	enum ckpt_verdict verdict;
	int exit_code;
	bool cut;                     /* interrupted before the end */
	bool memory;                  /* ran out of it */
	int output_error;             /* errno of standard output, 0 if well */
	const char *refused;          /* the option that cannot apply ... */
	struct ckpt_buf refused_path; /* ... to this file ... */
	const char *refused_format;   /* ... of this format, or, if NULL, that
				       * passes only once ... */
	bool refused_set;             /* ... or is the index of a set */
	/* Of the result that is being said, or NULL. */
	const struct ckpt_verify_location *location;
};

void ckpt_verify_session_init(struct ckpt_verify_session *session,
	const struct ckpt_verify_options *options, bool (*interrupted)(void));
void ckpt_verify_session_release(struct ckpt_verify_session *session);

/* Whether there is any sense in going on. */
bool ckpt_verify_going(const struct ckpt_verify_session *session);

/* Notes that option cannot apply to the file at path, because of its format
 * or, if that is NULL, because it passes only once. */
void ckpt_verify_refuse(struct ckpt_verify_session *session, const char *option,
	const char *path, const char *format);

/* Gives up all that these operands do not need: at once, or, if there is only
 * one file, when ckpt_verify_opened() says that it is open. */
void ckpt_verify_confine(struct ckpt_verify_session *session,
	const struct ckpt_args *args, const char *const *operands, size_t n);
void ckpt_verify_opened(struct ckpt_verify_session *session);

/* Looks at the first bytes of what can be read twice, so that an option which
 * cannot apply is refused before anything is printed. */
void ckpt_verify_preview(
	struct ckpt_verify_session *session, const char *operand);

/* Verifies files and sets of files, and says what was found. */
void ckpt_verify_operands(struct ckpt_verify_session *session,
	const char *const *operands, size_t n);

/* The same of the newest checkpoint of a folder, which is found, and confined
 * to, first. */
void ckpt_verify_latest(struct ckpt_verify_session *session,
	const struct ckpt_args *args, const char *folder);

/* A file among several. */
struct ckpt_verify_job {
	const char *path;
	struct ckpt_sink *sink; /* listens to its run, or NULL */
};

/* What becomes of the files of a batch. */
struct ckpt_verify_heard {
	/* Called for each in their order, on the caller's thread. */
	void (*result)(void *ctx, size_t job, const struct ckpt_result *result);
	void *ctx;
};

/* Verifies n files on as many threads as were asked for and says the results
 * in the order of the files, whatever is done first. heard may be NULL. */
void ckpt_verify_batch(struct ckpt_verify_session *session,
	const struct ckpt_verify_job *jobs, size_t n,
	const struct ckpt_verify_heard *heard);

/* What --what-happened needs of a run: who owns which bytes. */
struct ckpt_verify_witness;

/* Listens to a run that is to begin. NULL if out of memory. */
struct ckpt_verify_witness *ckpt_verify_witness_new(struct ckpt_run *run);
/* Looks for causes once the run is over, while the source (NULL: it could not
 * be opened) is open. False if it was cancelled. */
CKPT_MUST_USE bool ckpt_verify_witness_ask(struct ckpt_verify_witness *witness,
	const struct ckpt_run *run, struct ckpt_source *source);
/* As long as the witness lives; of NULL, which could not be made, only that
 * nothing can be said. */
const struct ckpt_hints *ckpt_verify_witness_hints(
	const struct ckpt_verify_witness *witness);
void ckpt_verify_witness_free(struct ckpt_verify_witness *witness);

/* Takes one result into account; says so if the two are not of one model. */
void ckpt_verify_pair_hear(
	struct ckpt_verify_pair *pair, const struct ckpt_result *result);
void ckpt_verify_pair_say(struct ckpt_verify_session *session,
	const struct ckpt_verify_pair *pair);

/* A folder, each file below it on its own; a folder or an index as one set. */
void ckpt_verify_tree(struct ckpt_verify_session *session, const char *path);
void ckpt_verify_set(
	struct ckpt_verify_session *session, const char *path, bool index);

/* Says one result, and what comes behind the last one. Between them, behind
 * the result of a set: what was said of its members. */
void ckpt_verify_say(
	struct ckpt_verify_session *session, const struct ckpt_result *result);
void ckpt_verify_say_members(struct ckpt_verify_session *session);
void ckpt_verify_close(struct ckpt_verify_session *session);

#endif
