/* SPDX-License-Identifier: MIT */
/*
 * Progress of one file after the other. A report is drawn at most every 100 ms
 * and not in the first 300 ms, so that fast work leaves no trace; plain lines
 * come once a second. Everything is written in one piece and the line is
 * cleared with spaces, which needs no terminal description. Failure to write
 * is ignored: progress is not a result.
 */
#include "cli/progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "base/utf8.h"

#define MS            UINT64_C(1000000)
#define QUIET         (300 * MS)
#define BETWEEN_DRAWS (100 * MS)
#define BETWEEN_LINES (1000 * MS)
#define NAME_LEAST    12 /* columns that a name keeps on narrow terminals */

static uint64_t
monotonic(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * (1000 * MS) + (uint64_t)t.tv_nsec;
}

static size_t
terminal_columns(FILE *out)
{
	struct winsize size;
	int fd = fileno(out);

	if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

void
ckpt_progress_init(
	struct ckpt_progress *progress, enum ckpt_when when, FILE *out)
{
	int fd = fileno(out);

	memset(progress, 0, sizeof *progress);
	ckpt_buf_init(&progress->line);
	progress->out = out;
	progress->clock = monotonic;
	progress->terminal = fd >= 0 && isatty(fd) == 1;
	progress->columns = 80;
	switch (when) {
	case CKPT_WHEN_AUTO: progress->on = progress->terminal; break;
	case CKPT_WHEN_ALWAYS: progress->on = true; break;
	case CKPT_WHEN_NEVER: progress->on = false; break;
	}
}

void
ckpt_progress_release(struct ckpt_progress *progress)
{
	ckpt_progress_end(progress);
	ckpt_buf_release(&progress->line);
}

/* A character that the locale cannot place counts as two columns: a line too
 * short is harmless, one too long would wrap and stay. */
static size_t
point_width(uint32_t point)
{
	int width = wcwidth((wchar_t)point);

	if (point < 0x80)
		return 1;
	return width < 0 ? 2 : (size_t)width;
}

size_t
ckpt_progress_width(const char *text, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n;) {
		uint32_t point = 0;
		size_t k = ckpt_utf8_decode(
			(const uint8_t *)text + i, n - i, &point);

		width += point_width(point);
		i += k ? k : 1;
	}
	return width;
}

/* The end of a path says most: "...tail" when there is not room for all. */
static void
add_name(struct ckpt_buf *buf, const char *name, size_t room)
{
	struct ckpt_buf shown;
	size_t width, i = 0;

	ckpt_buf_init(&shown);
	ckpt_buf_escape(&shown, name, strlen(name), 0);
	width = ckpt_progress_width(shown.p, shown.n);
	if (width > room) {
		ckpt_buf_puts(buf, "...");
		width += 3;
	}
	while (width > room && i < shown.n) {
		uint32_t point = 0;
		size_t k = ckpt_utf8_decode(
			(const uint8_t *)shown.p + i, shown.n - i, &point);

		width -= point_width(point);
		i += k ? k : 1;
	}
	if (shown.failed)
		buf->failed = true;
	else
		ckpt_buf_add(buf, shown.p + i, shown.n - i);
	ckpt_buf_release(&shown);
}

/* Integers only, so that the locale's decimal comma stays out. */
static void
add_bytes(struct ckpt_buf *buf, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB",
		"PiB", "EiB" };
	uint64_t tenths;
	size_t i = 0;

	for (; bytes >= 1024 && i + 1 < sizeof units / sizeof units[0]; i++)
		bytes /= 1024;
	tenths = bytes < 1e12 ? (uint64_t)(bytes * 10) : UINT64_C(10000000);
	ckpt_buf_printf(buf, "%llu", (unsigned long long)(tenths / 10));
	if (i)
		ckpt_buf_printf(buf, ".%u", (unsigned)(tenths % 10));
	ckpt_buf_printf(buf, " %s", units[i]);
}

static void
add_time(struct ckpt_buf *buf, double seconds)
{
	uint64_t s = (uint64_t)(seconds + 0.5);

	if (seconds >= 100 * 3600.0)
		ckpt_buf_puts(buf, "days");
	else if (s >= 3600)
		ckpt_buf_printf(buf, "%u:%02u:%02u", (unsigned)(s / 3600),
			(unsigned)(s / 60 % 60), (unsigned)(s % 60));
	else
		ckpt_buf_printf(
			buf, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

static unsigned
percentage(uint64_t done, uint64_t total)
{
	if (done >= total)
		return 100;
	return (unsigned)((double)done / (double)total * 100);
}

void
ckpt_progress_line(struct ckpt_buf *buf, const char *name, uint64_t done,
	uint64_t total, uint64_t elapsed, size_t columns)
{
	double seconds = (double)elapsed / 1e9;
	double rate = elapsed ? (double)done / seconds : 0;
	struct ckpt_buf facts;
	size_t room = NAME_LEAST;

	ckpt_buf_init(&facts);
	ckpt_buf_puts(&facts, "  ");
	if (total == CKPT_PROGRESS_UNKNOWN)
		add_bytes(&facts, (double)done);
	else
		ckpt_buf_printf(&facts, "%3u%%", percentage(done, total));
	if (rate > 0) {
		ckpt_buf_puts(&facts, "  ");
		add_bytes(&facts, rate);
		ckpt_buf_puts(&facts, "/s");
	}
	if (rate > 0 && total != CKPT_PROGRESS_UNKNOWN && done < total) {
		ckpt_buf_puts(&facts, "  ");
		add_time(&facts, (double)(total - done) / rate);
		ckpt_buf_puts(&facts, " left");
	}
	if (columns > facts.n + NAME_LEAST)
		room = columns - facts.n;
	add_name(buf, name, room < columns ? room : columns);
	if (facts.failed)
		buf->failed = true;
	else if (room + facts.n <= columns)
		ckpt_buf_add(buf, facts.p, facts.n);
	ckpt_buf_release(&facts);
}

/* On a terminal: back to the start, the new text, spaces over the old. */
static void
draw(struct ckpt_progress *progress, uint64_t done, uint64_t total,
	uint64_t elapsed)
{
	struct ckpt_buf *line = &progress->line;
	size_t columns = progress->columns, width = 0, start;

	ckpt_buf_clear(line);
	if (progress->terminal) {
		columns = terminal_columns(progress->out) - 1;
		ckpt_buf_puts(line, "\r");
	}
	start = line->n;
	ckpt_progress_line(line, progress->name, done, total, elapsed, columns);
	if (!line->failed)
		width = ckpt_progress_width(line->p + start, line->n - start);
	if (progress->terminal && width < progress->drawn)
		ckpt_buf_printf(
			line, "%*s", (int)(progress->drawn - width), "");
	if (!progress->terminal)
		ckpt_buf_puts(line, "\n");
	if (line->failed)
		return;
	fwrite(line->p, 1, line->n, progress->out);
	fflush(progress->out);
	progress->drawn = progress->terminal ? width : 0;
}

void
ckpt_progress_begin(struct ckpt_progress *progress, const char *name)
{
	if (!progress->on)
		return;
	ckpt_progress_end(progress);
	progress->name = name;
	progress->began = progress->clock();
	progress->next =
		progress->began + (progress->terminal ? QUIET : BETWEEN_LINES);
}

void
ckpt_progress_update(
	struct ckpt_progress *progress, uint64_t done, uint64_t total)
{
	uint64_t now;

	if (!progress->on || !progress->name)
		return;
	now = progress->clock();
	if (now < progress->next)
		return;
	draw(progress, done, total, now - progress->began);
	progress->next =
		now + (progress->terminal ? BETWEEN_DRAWS : BETWEEN_LINES);
}

void
ckpt_progress_clear(struct ckpt_progress *progress)
{
	if (progress->drawn) {
		fprintf(progress->out, "\r%*s\r", (int)progress->drawn, "");
		fflush(progress->out);
	}
	progress->drawn = 0;
}

void
ckpt_progress_end(struct ckpt_progress *progress)
{
	ckpt_progress_clear(progress);
	progress->name = NULL;
}
