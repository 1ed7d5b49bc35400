/* SPDX-License-Identifier: MIT */
/*
 * Makes, judges and removes small folders. Values are all 0x3c bytes: finite
 * and not zero in every dtype, so that files are valid without a warning.
 */
#include "support/set_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sets/set.h"

static uint64_t
width_of(const char *dtype)
{
	static const struct {
		const char *dtype;
		uint64_t width;
	} widths[] = { { "F64", 8 }, { "I64", 8 }, { "F32", 4 }, { "I32", 4 },
		{ "F16", 2 }, { "BF16", 2 }, { "U8", 1 }, { "F8_E4M3", 1 } };

	for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
		if (strcmp(widths[i].dtype, dtype) == 0)
			return widths[i].width;
	return 1; /* unknown on purpose */
}

/* One "name dtype 2x3" behind the others; returns the end of its bytes. */
static uint64_t
add_tensor(struct ckpt_buf *header, const char *text, uint64_t at)
{
	char name[128], dtype[16], shape[64] = "";
	uint64_t n = 1;

	assert_true(sscanf(text, "%127s %15s %63s", name, dtype, shape) >= 2);
	ckpt_buf_printf(header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[",
		header->n > 1 ? "," : "", name, dtype);
	for (char *p = shape; *p;) {
		uint64_t dim = strtoull(p, &p, 10);

		n *= dim;
		ckpt_buf_printf(header, "%" PRIu64 "%s", dim, *p ? "," : "");
		p += *p == 'x';
	}
	n *= width_of(dtype);
	ckpt_buf_printf(header, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
		at, at + n);
	return at + n;
}

void
set_folder_tensors(struct ckpt_buf *out, const char *tensors)
{
	struct ckpt_buf header = { 0 };
	char *copy = strdup(tensors), *rest = copy, *one;
	uint64_t end = 0;
	uint8_t length[8];

	assert_non_null(copy);
	ckpt_buf_puts(&header, "{");
	while ((one = strsep(&rest, ";")))
		if (*one)
			end = add_tensor(&header, one, end);
	ckpt_buf_puts(&header, "}");
	for (size_t i = 0; i < sizeof length; i++)
		length[i] = (uint8_t)((uint64_t)header.n >> 8 * i);
	ckpt_buf_add(out, length, sizeof length);
	ckpt_buf_add(out, header.p, header.n);
	for (uint64_t i = 0; i < end; i++)
		ckpt_buf_puts(out, "<");
	ckpt_buf_release(&header);
	free(copy);
}

static void
write_file(const char *path, const char *content)
{
	struct ckpt_buf bytes = { 0 };
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	if (content[0] == '=' || content[0] == '!') {
		set_folder_tensors(&bytes, content + 1);
		bytes.n -= content[0] == '!';
	} else
		ckpt_buf_puts(&bytes, content);
	if (bytes.n)
		assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
	assert_int_equal(fclose(f), 0);
	ckpt_buf_release(&bytes);
}

void
set_folder_make(struct set_folder *folder, const char *const *pairs)
{
	folder->options = (struct ckpt_options){ 0 };
	strcpy(folder->path, "/tmp/ckpt-set-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	for (; *pairs; pairs += 2) {
		char path[512];
		size_t n = strlen(pairs[0]);

		snprintf(path, sizeof path, "%s/%s", folder->path, pairs[0]);
		if (pairs[0][n - 1] == '/')
			assert_int_equal(mkdir(path, 0700), 0);
		else if (pairs[1][0] == '@')
			assert_int_equal(symlink(pairs[1] + 1, path), 0);
		else if (strcmp(pairs[1], "|") == 0)
			assert_int_equal(mkfifo(path, 0600), 0);
		else
			write_file(path, pairs[1]);
	}
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void
set_folder_remove(struct set_folder *folder)
{
	assert_int_equal(
		nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static enum ckpt_verdict
judge_shard(struct ckpt_shard *shard)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_source *source = ckpt_source_open(shard->path);
	enum ckpt_verdict verdict;

	assert_non_null(run);
	ckpt_run_listen(run, &shard->sink);
	verdict = source ? ckpt_verify(run, source) : ckpt_run_trouble(run, 2);
	ckpt_source_close(source);
	ckpt_run_free(run);
	ckpt_shard_judged(shard, verdict);
	return verdict;
}

struct ckpt_set *
set_folder_open(const struct set_folder *folder, const char *name,
	enum ckpt_verdict *worst)
{
	struct ckpt_set *set;
	char path[512];

	snprintf(path, sizeof path, "%s/%s", folder->path, name ? name : "");
	set = name ? ckpt_set_index(path, &folder->options)
		   : ckpt_set_folder(path, &folder->options);
	assert_non_null(set);
	*worst = CKPT_VALID;
	for (size_t i = 0; i < ckpt_set_shard_count(set); i++) {
		enum ckpt_verdict one = judge_shard(ckpt_set_shard(set, i));

		*worst = one > *worst ? one : *worst;
	}
	return set;
}

static void
write_value(struct ckpt_buf *out, const char *what, const struct ckpt_value *v)
{
	if (v->kind == CKPT_V_NONE)
		return;
	ckpt_buf_printf(out, " %s ", what);
	if (v->kind == CKPT_V_U64)
		ckpt_buf_printf(out, "%" PRIu64, v->u64);
	else if (v->kind == CKPT_V_TEXT)
		ckpt_buf_puts(out, v->p);
	else
		fail_msg("no value of a set");
}

void
set_folder_findings(struct ckpt_buf *out, const struct ckpt_set *set)
{
	const struct ckpt_run *run = ckpt_set_run(set);

	for (size_t i = 0; i < ckpt_run_finding_count(run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(run, i);

		ckpt_buf_printf(out, "%s %s@%" PRIu64 ":", d->rule->id, d->path,
			d->off);
		write_value(out, "expected", &d->expected);
		write_value(out, "found", &d->found);
		if (d->note)
			ckpt_buf_printf(out, " (%s)", d->note);
		if (d->caused_by)
			ckpt_buf_printf(out, " by %s", d->caused_by->id);
		ckpt_buf_puts(out, "\n");
	}
}

void
set_folder_skipped(struct ckpt_buf *out, const struct ckpt_set *set)
{
	const struct ckpt_diags *diags = &ckpt_set_run(set)->diags;
	bool told[CKPT_D_COUNT] = { false };

	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *reason = diags->reason[i];

		if (diags->ran[i] == CKPT_RAN || !reason || told[i])
			continue;
		ckpt_buf_printf(out, "%s:", reason);
		for (size_t k = i; k < ckpt_rule_count(); k++) {
			if (diags->ran[k] == CKPT_RAN || !diags->reason[k] ||
				strcmp(diags->reason[k], reason) != 0)
				continue;
			told[k] = true;
			ckpt_buf_printf(out, " %s", ckpt_rule_at(k)->id);
		}
		ckpt_buf_puts(out, "\n");
	}
}

enum ckpt_verdict
set_folder_judge(
	const struct set_folder *folder, const char *name, struct ckpt_buf *ids)
{
	enum ckpt_verdict verdict, own;
	struct ckpt_set *set = set_folder_open(folder, name, &verdict);

	own = ckpt_set_judge(set);
	for (size_t i = 0; i < ckpt_run_finding_count(ckpt_set_run(set)); i++)
		ckpt_buf_printf(ids, "%s%s", i ? " " : "",
			ckpt_run_finding(ckpt_set_run(set), i)->rule->id);
	ckpt_set_free(set);
	return own > verdict ? own : verdict;
}

void
set_samples_check(const struct set_sample *samples, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		const struct set_sample *s = &samples[i];
		struct set_folder folder;
		struct ckpt_buf ids = { 0 };
		enum ckpt_verdict verdict;

		set_folder_make(&folder, s->files);
		verdict = set_folder_judge(&folder, name, &ids);
		set_folder_remove(&folder);
		if (verdict != s->verdict ||
			strcmp(ids.p ? ids.p : "", s->ids) != 0)
			fail_msg("%s: %s, %s", s->what,
				ckpt_verdict_name(verdict),
				ids.p ? ids.p : "no findings");
		ckpt_buf_release(&ids);
	}
}
