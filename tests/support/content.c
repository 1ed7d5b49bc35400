/* SPDX-License-Identifier: MIT */
#include "support/content.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void
content_begin(struct content *f)
{
	memset(f, 0, sizeof *f);
	ckpt_buf_init(&f->header);
	ckpt_buf_init(&f->data);
}

/* n bytes, or zeros if p is NULL. */
void
content_add(struct content *f, const char *name, const char *dtype,
	const char *shape, const void *p, size_t n)
{
	uint8_t *zeros = calloc(1, n + 1);

	assert_non_null(zeros);
	ckpt_buf_printf(&f->header,
		"%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,"
		"\"data_offsets\":[%zu,%zu]}",
		f->header.n ? "," : "{", name, dtype, shape, f->data.n,
		f->data.n + n);
	ckpt_buf_add(&f->data, p ? p : zeros, n);
	free(zeros);
}

uint8_t *
content_whole(struct content *f, size_t *n)
{
	uint8_t *bytes;

	ckpt_buf_puts(&f->header, f->header.n ? "}" : "{}");
	*n = 8 + f->header.n + f->data.n;
	bytes = malloc(*n);
	assert_non_null(bytes);
	ckpt_store_u64(bytes, f->header.n);
	memcpy(bytes + 8, f->header.p, f->header.n);
	if (f->data.n)
		memcpy(bytes + 8 + f->header.n, f->data.p, f->data.n);
	return bytes;
}

/* Judges and frees the file; what is found stays in the judgement. */
void
content_judge(struct judged *j, struct content *f)
{
	const struct ckpt_options options = { .values = f->values };
	size_t n;
	uint8_t *bytes = content_whole(f, &n);
	struct ckpt_source *source;

	memset(j, 0, sizeof *j);
	ckpt_buf_init(&j->text);
	source = ckpt_source_memory(bytes, n);
	j->run = ckpt_run_new(&options);
	assert_non_null(source);
	assert_non_null(j->run);
	j->verdict = ckpt_verify(j->run, source);
	ckpt_source_close(source);
	free(bytes);
	ckpt_buf_release(&f->header);
	ckpt_buf_release(&f->data);
	assert_int_equal(j->verdict, CKPT_VALID);
}

static int
by_id(const void *a, const void *b)
{
	return memcmp(a, b, 6);
}

/* The ids of all findings, sorted, with spaces between. */
void
content_check(const struct judged *j, const char *want)
{
	size_t n = ckpt_run_finding_count(j->run);
	char got[20 * 7] = "";

	assert_true(n < 20);
	for (size_t i = 0; i < n; i++)
		snprintf(got + 7 * i, 8, "%s ",
			ckpt_run_finding(j->run, i)->rule->id);
	qsort(got, n, 7, by_id);
	if (n > 0)
		got[7 * n - 1] = '\0';
	assert_string_equal(got, want);
}

void
content_expect(struct content *f, const char *want)
{
	struct judged j;

	content_judge(&j, f);
	content_check(&j, want);
	judged_free(&j);
}

/* One finding, and what it says. */
void
content_expect_one(struct content *f, const char *id, const char *path,
	uint64_t count, const char *words)
{
	const struct ckpt_diag *d;
	struct judged j;

	content_judge(&j, f);
	content_check(&j, id);
	d = judged_find(&j, id);
	assert_string_equal(d->path, path);
	assert_int_equal(d->count, count);
	assert_non_null(d->note);
	if (!strstr(d->note, words))
		fail_msg("\"%s\" does not say \"%s\"", d->note, words);
	judged_free(&j);
}

/* n elements of width bytes, all with the same bits. */
const uint8_t *
content_same(uint64_t bits, unsigned width, size_t n)
{
	static uint8_t p[1 << 17];
	uint8_t wide[8];

	assert_true(n * width <= sizeof p);
	ckpt_store_u64(wide, bits);
	for (size_t i = 0; i < n; i++)
		memcpy(p + i * width, wide, width);
	return p;
}

uint32_t
content_single(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

/* n F32 that are all x, but at at y. */
const uint8_t *
content_but_one(float x, size_t n, size_t at, float y)
{
	static uint8_t p[1 << 17];

	memcpy(p, content_same(content_single(x), 4, n), 4 * n);
	ckpt_store_u32(p + 4 * at, content_single(y));
	return p;
}

/* n bytes of which the first k come from p, the others are 0. */
const uint8_t *
content_headed(const void *p, size_t k, size_t n)
{
	static uint8_t bytes[1 << 14];

	assert_true(k <= n && n <= sizeof bytes);
	memset(bytes, 0, n);
	memcpy(bytes, p, k);
	return bytes;
}

void
content_add_ones(struct content *f)
{
	content_add(f, "ones", "F32", "[2]", content_same(0x3f800000, 4, 2), 8);
}
