/* SPDX-License-Identifier: MIT */
/*
 * Evidence: damage and saving. A damaged file must be rejected, and for the
 * reason that was planted: a mismatch is encoded from a state that has it, so
 * lengths and checksum are right and nothing else is wrong; the rest is done
 * to the bytes of the file, and undone. Saving happens in a folder of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"
#include "replay/evidence_parts.h"
#include "sink/save.h"

/* ---- reject ------------------------------------------------------------- */

/* Verifies n bytes and claims that they are rejected for this reason alone:
 * nothing else may decide. */
static enum ckpt_status
expect(struct ckpt_evidence *e, const char *key, const void *bytes, size_t n,
	const char *kind)
{
	struct ckpt_checkpoint *c;
	const struct ckpt_diag *primary;
	enum ckpt_status status =
		ckpt_evidence_load(bytes, n, e->max_memory, &c);
	bool rejected = status == CKPT_REJECTED || status == CKPT_EUNSUPPORTED;

	if (!rejected && status != CKPT_OK) {
		ckpt_checkpoint_free(c);
		return status;
	}
	primary = rejected ? ckpt_run_primary(ckpt_checkpoint_run(c)) : NULL;
	ckpt_evidence_claim(e, CKPT_EVIDENCE_REJECT, key,
		primary && primary->rule->seed_kind &&
			strcmp(primary->rule->seed_kind, kind) == 0);
	ckpt_checkpoint_free(c);
	return CKPT_OK;
}

static enum ckpt_status
expect_encoded(struct ckpt_evidence *e, const char *key,
	const struct ckpt_format *format, const struct ckpt_state *state,
	const char *kind)
{
	struct ckpt_buf bytes = { 0 };
	enum ckpt_status status = ckpt_encode(&bytes, format, state, NULL);

	if (status == CKPT_OK)
		status = expect(e, key, bytes.p, bytes.n, kind);
	ckpt_buf_release(&bytes);
	return status;
}

/* One more in the field that holds the version. */
static enum ckpt_status
reject_version(struct ckpt_evidence *e, const struct ckpt_run *run)
{
	const struct ckpt_evidence_words *words = run->format->evidence;
	struct ckpt_place place;
	enum ckpt_status status;

	if (!ckpt_path_find(run->format->root, run->decoded, 0, words->version,
		    &place) ||
		place.off >= e->n) {
		ckpt_evidence_not_applicable(
			e, CKPT_EVIDENCE_REJECT, "version");
		return CKPT_OK;
	}
	e->bytes[place.off]++;
	status = expect(e, "version", e->bytes, e->n, words->bad_version);
	e->bytes[place.off]--;
	return status;
}

/* A tokenizer of one id more than the decoder knows: a literal piece longer
 * than all others, so that it is none of them, or a vocabulary that counts
 * one merge more than there are. */
static enum ckpt_status
reject_vocabulary(struct ckpt_evidence *e, const struct ckpt_format *format,
	const struct ckpt_state *state)
{
	const struct ckpt_tokenizer *t = &state->tokenizer;
	struct ckpt_state other = *state;
	struct ckpt_tensor *pieces;
	uint64_t longest = 0;
	uint8_t *data;

	other.tokenizer.vocabulary++;
	if (t->kind == CKPT_LITERAL) {
		for (uint64_t i = 0; i < t->npieces; i++)
			if (t->pieces[i].len > longest)
				longest = t->pieces[i].len;
		longest++;
		pieces = ckpt_arena_alloc(
			&e->arena, ((size_t)t->npieces + 1) * sizeof *pieces);
		data = ckpt_arena_zalloc(&e->arena, (size_t)longest);
		if (!pieces || !data)
			return CKPT_ENOMEM;
		memcpy(pieces, t->pieces, (size_t)t->npieces * sizeof *pieces);
		pieces[t->npieces] = (struct ckpt_tensor){ .rank = 1,
			.dims = &longest,
			.len = longest,
			.data = data };
		other.tokenizer.pieces = pieces;
		other.tokenizer.npieces++;
	}
	return expect_encoded(e, "vocabulary_mismatch", format, &other,
		format->evidence->bad_vocabulary);
}

static enum ckpt_status
reject_step(struct ckpt_evidence *e, const struct ckpt_format *format,
	const struct ckpt_state *state)
{
	struct ckpt_state other = *state;

	other.selected_step++;
	return expect_encoded(
		e, "step_mismatch", format, &other, format->evidence->bad_step);
}

enum ckpt_status
ckpt_evidence_reject(struct ckpt_evidence *e, const struct ckpt_run *run,
	const struct ckpt_state *state)
{
	const struct ckpt_evidence_words *words = run->format->evidence;
	enum ckpt_status status;

	CKPT_TRY(reject_version(e, run));
	CKPT_TRY(reject_vocabulary(e, run->format, state));
	CKPT_TRY(reject_step(e, run->format, state));
	CKPT_TRY(expect(e, "truncation", e->bytes, e->n - 1, words->cut));
	/* The last bit of the payload: no length depends on it. */
	e->bytes[e->n - 1] ^= 1;
	status = expect(e, "checksum", e->bytes, e->n, words->bad_checksum);
	e->bytes[e->n - 1] ^= 1;
	return status;
}

/* ---- atomic ------------------------------------------------------------- */

static const char name[] = "saved.ckpt";

/* What a save did, seen from below. */
struct watch {
	struct stat folder;
	unsigned renames, elsewhere;
};

static int
watch_rename(void *ctx, int folder, const char *from, const char *to)
{
	const struct ckpt_file_ops *posix = &ckpt_file_ops_posix;
	struct watch *w = ctx;
	struct stat st;

	w->renames++;
	if (fstat(folder, &st) != 0 || st.st_dev != w->folder.st_dev ||
		st.st_ino != w->folder.st_ino || strchr(from, '/') ||
		strcmp(to, name) != 0)
		w->elsewhere++;
	return posix->renameat(posix->ctx, folder, from, to);
}

/* What stands in the folder beside the saved file; removed too if asked. */
static uint64_t
others(const char *folder, bool and_remove)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	uint64_t n = 0;

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0)
			continue;
		n += strcmp(entry->d_name, name) != 0;
		if (and_remove)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Saves the state, and another one over it; *whole says whether the second
 * was found there, wholly, and *loaded what its sampling state is. */
static enum ckpt_status
save_twice(struct ckpt_evidence *e, const struct ckpt_format *format,
	const struct ckpt_state *state, const char *path,
	const struct ckpt_file_ops *ops, bool *whole, uint64_t *loaded)
{
	struct ckpt_options options = { .max_memory = e->max_memory };
	struct ckpt_save save = { .path = path, .ops = ops };
	struct ckpt_state other = *state;
	struct ckpt_checkpoint *c = NULL;
	struct ckpt_buf want = { 0 }, have = { 0 };
	struct ckpt_source *source;
	enum ckpt_status status = CKPT_EIO;

	/* One more, and not a draw: this is another file, not a later one. */
	other.sampling_rng_state++;
	CKPT_TRY(ckpt_save(&save, format, state));
	CKPT_TRY(ckpt_save(&save, format, &other));
	source = ckpt_source_open(path);
	if (source)
		status = ckpt_checkpoint_read(source, &options, &c);
	ckpt_source_close(source);
	*whole = status == CKPT_OK;
	if (*whole) {
		*loaded = c->state.sampling_rng_state;
		status = ckpt_encode(&want, format, &other, NULL);
	}
	if (*whole && status == CKPT_OK)
		status = ckpt_encode(&have, format, &c->state, NULL);
	*whole = *whole && status == CKPT_OK && want.n == have.n &&
		 memcmp(want.p, have.p, want.n) == 0 &&
		 *loaded == other.sampling_rng_state;
	ckpt_buf_release(&want);
	ckpt_buf_release(&have);
	ckpt_checkpoint_free(c);
	return status == CKPT_REJECTED || status == CKPT_EUNSUPPORTED ? CKPT_OK
								      : status;
}

enum ckpt_status
ckpt_evidence_atomic(struct ckpt_evidence *e, const struct ckpt_format *format,
	const struct ckpt_state *state)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_ATOMIC;
	const char *place = getenv("TMPDIR");
	struct ckpt_file_ops ops = ckpt_file_ops_posix;
	struct watch watch = { 0 };
	enum ckpt_status status;
	char *folder, *path;
	uint64_t loaded = 0, left;
	sigset_t set, before;
	bool whole = false;
	int error;

	place = place && *place ? place : "/tmp";
	folder = ckpt_arena_printf(&e->arena, "%s/ckpt-XXXXXX", place);
	if (!folder)
		return CKPT_ENOMEM;
	/* An interrupt waits until the folder and its files are gone again. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	if (!mkdtemp(folder) || stat(folder, &watch.folder) != 0) {
		ckpt_refuse_temporary(&e->refusal);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		return CKPT_EIO;
	}
	ops.ctx = &watch;
	ops.renameat = watch_rename;
	path = ckpt_arena_printf(&e->arena, "%s/%s", folder, name);
	status =
		path ? save_twice(e, format, state, path, &ops, &whole, &loaded)
		     : CKPT_ENOMEM;
	error = errno;
	if (status == CKPT_EIO)
		ckpt_refuse_temporary(&e->refusal);
	ckpt_evidence_claim(e, line, "replaced_complete_file", whole);
	ckpt_evidence_bits(e, line, "loaded_sampling_rng_state", loaded);
	left = others(folder, false);
	if (left > 0)
		e->failed++;
	ckpt_evidence_number(e, line, "temporary_files", left);
	ckpt_evidence_claim(e, line, "unix_same_directory",
		watch.renames == 2 && watch.elsewhere == 0);
	others(folder, true);
	rmdir(folder);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return status;
}
