/* SPDX-License-Identifier: MIT */
/*
 * Writing bytes of the file to a new file. The destination is created and
 * must not have been there, so nothing is ever written over, an input least
 * of all; and it is removed again unless every byte that was promised is in
 * it. The copy is made in the background, block by block.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/view.h"

enum { BLOCK = 1 << 20, NAME_SUGGESTED = 100 };

struct view_export {
	struct view_job job; /* first */
	uint64_t off, len;
	char *path;       /* owned; NULL: nothing was begun */
	unsigned percent; /* that was said */
	bool warned;      /* that leaving the viewer ends it */
	const struct view_doc *doc;
	int fd;
	struct stat own; /* of the file that was made */
	/* What the job makes. */
	uint64_t done;
	bool cut;  /* the input ended */
	int error; /* errno of what failed, or 0 */
};

/* ---- The job ------------------------------------------------------------ */

static bool
write_all(struct view_export *e, const uint8_t *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(e->fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			e->error = k < 0 ? errno : ENOSPC;
			return false;
		}
		p += k;
		n -= (size_t)k;
		e->done += (uint64_t)k;
	}
	return true;
}

static void
copy(struct view_export *e, uint8_t *block)
{
	while (e->done < e->len && !view_job_cancelled(&e->job)) {
		uint64_t left = e->len - e->done;
		size_t want = left < BLOCK ? (size_t)left : BLOCK;
		size_t got =
			view_doc_read(e->doc, e->off + e->done, block, want);

		if (!write_all(e, block, got))
			return;
		e->cut = got < want;
		if (e->cut)
			return;
		atomic_store(&e->job.done, e->done);
		view_job_wake(&e->job);
	}
}

static void
work(struct view_job *job)
{
	struct view_export *e = (struct view_export *)job;
	uint8_t *block = malloc(BLOCK);

	atomic_store(&job->total, e->len);
	if (block)
		copy(e, block);
	else
		e->error = ENOMEM;
	free(block);
	if (close(e->fd) != 0 && errno != EINTR && e->error == 0)
		e->error = errno;
	e->fd = -1;
}

/* ---- The file ----------------------------------------------------------- */

/* "~/x" is in the home folder. NULL if out of memory. */
static char *
expand(const char *path)
{
	const char *home = getenv("HOME");
	struct ckpt_buf buf = { 0 };

	if (path[0] != '~' || path[1] != '/' || !home || home[0] != '/')
		return strdup(path);
	ckpt_buf_puts(&buf, home);
	ckpt_buf_puts(&buf, path + 1);
	if (!buf.failed)
		return buf.p;
	ckpt_buf_release(&buf);
	return NULL;
}

/* Only if the name still leads to what was made. */
static void
remove_own(const struct view_export *e)
{
	struct stat st;

	if (lstat(e->path, &st) == 0 && st.st_dev == e->own.st_dev &&
		st.st_ino == e->own.st_ino)
		unlink(e->path);
}

/* words, the path as it can be shown, more. */
static void
say_path(struct view *view, unsigned style, const char *words, const char *path,
	const char *more)
{
	struct ckpt_buf text = { 0 };

	ckpt_buf_escape(&text, path, strlen(path), 200);
	view_say(view, style, "%s%s%s", words, text.p ? text.p : "", more);
	ckpt_buf_release(&text);
}

static void
say_refused(struct view *view, const char *path, int error)
{
	char why[128];

	snprintf(why, sizeof why, ": %s", strerror(error));
	if (error == EEXIST)
		say_path(view, VIEW_ERROR, "nothing was written: ", path,
			" is there already, and is not written over");
	else
		say_path(view, VIEW_ERROR, "nothing was written: ", path, why);
}

static void
accept(struct view *view, const char *text)
{
	struct view_export *e = view->exporting;

	if (text[0] == '\0') {
		view_say(view, VIEW_WARNING, "nothing was written");
		return;
	}
	free(e->path);
	e->path = expand(text);
	if (!e->path) {
		view_say(view, VIEW_ERROR, "out of memory");
		return;
	}
	e->fd = open(e->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (e->fd < 0) {
		say_refused(view, e->path, errno);
		return;
	}
	if (fstat(e->fd, &e->own) != 0)
		memset(&e->own, 0, sizeof e->own);
	e->doc = view->doc;
	e->done = 0;
	e->cut = false;
	e->error = 0;
	e->percent = 0;
	e->warned = false;
	view_job_start(&e->job, view->bell, work);
}

/* ---- What is written ---------------------------------------------------- */

/* The bytes under the cursor in words; name is what to call the file. */
static bool
choose(struct view *view, struct view_export *e, struct ckpt_buf *what,
	struct ckpt_buf *name)
{
	struct view_owner owner;
	uint64_t declared;

	if (!view_doc_owner(view->doc, view->cursor, &owner))
		return false;
	e->off = owner.off;
	e->len = declared = owner.end - owner.off;
	if (owner.span) {
		uint64_t left = view->doc->size - owner.span->off;

		e->off = owner.span->off;
		declared = owner.span->len;
		e->len = declared < left ? declared : left;
		ckpt_span_name_write(name, owner.span);
	} else if (owner.field) {
		e->off = owner.field->off;
		e->len = declared = owner.field->len;
		ckpt_buf_puts(name, owner.field->path);
	} else {
		ckpt_buf_printf(name, "%s bytes from %" PRIu64,
			ckpt_owner_kind_name(owner.kind), e->off);
	}
	ckpt_buf_printf(what, "write %" PRIu64, e->len);
	if (e->len < declared)
		ckpt_buf_printf(what, " of %" PRIu64, declared);
	ckpt_buf_printf(what, " byte%s of %s", declared == 1 ? "" : "s",
		name->p ? name->p : "");
	/* Moments have the name of their parameter. */
	if (owner.span && owner.span->class_ == CKPT_TENSOR_MOMENT) {
		ckpt_buf_printf(what, " (%s)", owner.span->role);
		ckpt_buf_printf(name, ".%s", owner.span->role);
	}
	ckpt_buf_puts(what, " to: ");
	return !what->failed && !name->failed;
}

/* A name that no file system and no shell minds. */
static void
clean(char *name)
{
	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *p))
			*p = '_';
	if (name[0] == '.' || name[0] == '-')
		name[0] = '_';
	if (strlen(name) > NAME_SUGGESTED)
		name[NAME_SUGGESTED] = '\0';
}

void
view_export_ask(struct view *view)
{
	struct view_export *e = view->exporting;
	struct ckpt_buf what = { 0 }, name = { 0 };

	if (view_export_busy(view)) {
		view_say(view, VIEW_WARNING,
			"bytes are being written: Esc cancels that");
		return;
	}
	if (!e)
		e = view->exporting = calloc(1, sizeof *e);
	if (view->doc->size == 0) {
		view_say(view, VIEW_WARNING, "the file is empty");
	} else if (!e || !choose(view, e, &what, &name)) {
		view_say(view, VIEW_ERROR, "out of memory");
	} else {
		clean(name.p);
		name.n = strlen(name.p);
		ckpt_buf_puts(&name, ".bin");
		if (!name.failed)
			view_ask(view, what.p, name.p, accept);
	}
	ckpt_buf_release(&what);
	ckpt_buf_release(&name);
}

/* ---- Its end ------------------------------------------------------------ */

static void
finish(struct view *view, struct view_export *e)
{
	bool cancelled = view_job_cancelled(&e->job);

	if (e->done == e->len && e->error == 0) {
		char words[64];

		snprintf(words, sizeof words, "%" PRIu64 " byte%s written to ",
			e->done, e->done == 1 ? "" : "s");
		say_path(view, view->doc->changed ? VIEW_WARNING : VIEW_GOOD,
			words, e->path,
			view->doc->changed
				? "; the file has changed since it was opened"
				: "");
		return;
	}
	remove_own(e);
	if (e->error)
		view_say(view, VIEW_ERROR, "nothing was written: %s",
			strerror(e->error));
	else if (e->cut)
		view_say(view, VIEW_ERROR,
			"nothing was written: the file ends now after %" PRIu64
			" of %" PRIu64 " bytes",
			e->done, e->len);
	else if (cancelled)
		view_say(view, VIEW_WARNING, "cancelled: nothing was written");
}

bool
view_export_poll(struct view *view)
{
	struct view_export *e = view->exporting;
	uint64_t done;
	unsigned percent;

	if (!e || !view_job_running(&e->job))
		return false;
	if (view_job_take(&e->job)) {
		finish(view, e);
		return true;
	}
	done = atomic_load(&e->job.done);
	percent = (unsigned)(100.0 * (double)done / (double)e->len);
	/* A warning stays until the next key. */
	if (view->message.n > 0 &&
		(percent == e->percent || view->message_style != VIEW_BAR))
		return false;
	e->percent = percent;
	view_say(view, VIEW_BAR, "writing %u%%, Esc cancels", percent);
	return true;
}

bool
view_export_busy(const struct view *view)
{
	return view->exporting && view_job_running(&view->exporting->job);
}

void
view_export_cancel(struct view *view)
{
	if (view_export_busy(view))
		atomic_store(&view->exporting->job.cancel, true);
}

bool
view_export_may_leave(struct view *view)
{
	struct view_export *e = view->exporting;

	if (!view_export_busy(view) || e->warned)
		return true;
	e->warned = true;
	view_say(view, VIEW_WARNING,
		"bytes are being written: q again cancels that and leaves");
	return false;
}

bool
view_export_stop(struct view_export *e)
{
	if (!e || !view_job_running(&e->job))
		return true;
	view_job_stop(&e->job);
	if (e->done == e->len && e->error == 0)
		return true;
	remove_own(e);
	return false;
}

void
view_export_free(struct view_export *export)
{
	if (!export)
		return;
	view_export_stop(export);
	free(export->path);
	free(export);
}
