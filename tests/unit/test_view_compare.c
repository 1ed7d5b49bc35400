/* SPDX-License-Identifier: MIT */
/*
 * Two files side by side: which records and bytes differ, where first and by
 * how much, what is in one of them only; and files that are broken, of other
 * shapes, large, or no checkpoints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/comparing.h"
#include "view/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
test_compare_with_itself(void **state)
{
	struct view_difference d;
	struct ckpt_buf a;
	struct viewing v;
	uint8_t differs[100];

	(void)state;
	comparing_make(&a, &comparing_usual);
	comparing_open(&v, a.p, a.n, a.p, a.n, 24, 80);
	viewing_keys(&v, "c");
	assert_int_equal(v.view.focus, VIEW_COMPARE);
	viewing_shows(&v, "[compare A a with B b]");
	viewing_shows(
		&v, "verdict        no record and no header field differs");
	viewing_shows(&v, "records        38 same\n");
	viewing_shows(&v, "header fields  0 that differ");
	for (uint64_t i = 0; i < v.doc.spans->ntensors; i++) {
		assert_int_equal(
			view_compare_record(&v.view, i, &d), VIEW_SAME);
		assert_int_equal(d.other, i);
	}
	/* No record has this number. */
	assert_int_equal(
		view_compare_record(&v.view, 38, &d), VIEW_NOT_COMPARED);
	for (uint64_t off = 0; off < a.n; off += sizeof differs) {
		size_t n = a.n - off < sizeof differs ? (size_t)(a.n - off)
						      : sizeof differs;

		assert_true(view_compare_bytes(&v.view, off, n, differs));
		for (size_t i = 0; i < n; i++)
			assert_int_equal(differs[i], 0);
	}
	viewing_close(&v);
	ckpt_buf_release(&a);
}

/* Where the screen has words, in lines; -1 nowhere. */
static int
line_of(struct viewing *v, const char *words)
{
	const char *s = viewing_screen(v), *found = strstr(s, words);
	int n = 0;

	if (!found)
		return -1;
	for (; s < found; s++)
		n += *s == '\n';
	return n;
}

static void
test_compare_finds_what_differs(void **state)
{
	struct view_difference d;
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t gain, moment, off;
	uint8_t differs[32];

	(void)state;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &comparing_usual);
	/* Places are the same in both. */
	off = comparing_payload(&a, "Parameter", "final_norm.gain") + 3 * 8;
	b.p[off] ^= 1;
	b.p[off + 8 + 3] ^= 0x10;
	b.p[off + 4 * 8] ^= 1;
	b.p[comparing_payload(&a, "Second", "blocks.0.ffn.up.weight") + 95 * 8 +
		7] ^= (char)0x80;
	comparing_open(&v, a.p, a.n, b.p, b.n, 40, 100);
	gain = comparing_find(&v, "Parameter", "final_norm.gain");
	moment = comparing_find(&v, "Second", "blocks.0.ffn.up.weight");

	assert_int_equal(
		view_compare_record(&v.view, gain, &d), VIEW_DIFFERENT);
	assert_int_equal(d.n, 8);
	assert_int_equal(d.differing, 3);
	assert_int_equal(d.first, 3);
	assert_int_equal(d.width, 8);
	assert_int_equal(d.off[0], off);
	assert_int_equal(d.off[1], off);
	assert_int_equal(d.bits[0], ckpt_load_u64((uint8_t *)a.p + off));
	assert_int_equal(d.bits[0] ^ 1, d.bits[1]);
	assert_int_equal(
		view_compare_record(&v.view, moment, &d), VIEW_DIFFERENT);
	assert_int_equal(d.n, 96);
	assert_int_equal(d.differing, 1);
	assert_int_equal(d.first, 95);
	for (uint64_t i = 0; i < v.doc.spans->ntensors; i++)
		if (i != gain && i != moment)
			assert_int_equal(
				view_compare_record(&v.view, i, &d), VIEW_SAME);

	assert_true(view_compare_bytes(&v.view, off, 32, differs));
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(differs[i], i == 0 || i == 11);

	viewing_keys(&v, "c");
	viewing_shows(&v, "36 same, 2 different");
	viewing_shows(&v, "verdict        the files differ");
	viewing_shows(&v, "different     3 of 8        final_norm.gain  "
			  "ModelParameter");
	viewing_shows(&v, "different     1 of 96       "
			  "blocks.0.ffn.up.weight  OptimizerSecondMoment");
	/* What differs comes first. */
	assert_true(line_of(&v, "  different     1 of 96") <
		    line_of(&v, "  same "));
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

/* Another model: records of other shapes, and such that only one of them has;
 * those that both have stand at other places of the list. */
static void
test_compare_other_models(void **state)
{
	struct ckpt_synth other = comparing_usual;
	struct view_difference d;
	struct ckpt_buf a, b;
	struct viewing v;
	uint8_t differs[8];
	uint64_t i, off, place, end;

	(void)state;
	other.config.layers = 2;
	other.config.feed_forward_width = 14;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &other);
	comparing_open(&v, a.p, a.n, b.p, b.n, 60, 120);
	viewing_keys(&v, "c");
	/* Nine parameters of a second block, thrice. */
	viewing_shows(&v, ", 27 only in B\n");
	viewing_shows(&v, "9 of another shape");
	viewing_shows(&v, "other shape                 "
			  "blocks.0.ffn.up.weight  ModelParameter");
	viewing_shows(&v, "only in B                   ");
	comparing_select(&v, "other shape ");
	viewing_shows(&v, "\n  A f64 [8,12], 768 bytes at ");
	viewing_shows(&v, "\n  B f64 [8,14], 896 bytes at ");
	i = comparing_find(&v, "Second", "token_embedding.weight");
	assert_int_not_equal(view_compare_record(&v.view, i, &d), VIEW_SHAPE);
	assert_true(d.other > i);
	/* Bytes are found at their place in the record, not in the file. */
	off = v.doc.spans->tensors[i].off + 8;
	assert_true(view_compare_place(&v.view, off, &place, &end));
	assert_int_equal(
		place, v.view.compare->other.spans->tensors[d.other].off + 8);
	assert_int_equal(
		end, v.doc.spans->tensors[i].off + v.doc.spans->tensors[i].len);
	assert_true(view_compare_bytes(&v.view, off, 8, differs));
	for (int k = 0; k < 8; k++)
		assert_int_equal(differs[k],
			a.p[off + (uint64_t)k] != b.p[place + (uint64_t)k]);
	comparing_select(&v, "only in B  ");
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.focus, VIEW_COMPARE);
	viewing_shows(&v, "the first file does not have it");
	viewing_close(&v);
	/* And the other way round. */
	comparing_open(&v, b.p, b.n, a.p, a.n, 60, 120);
	viewing_keys(&v, "c");
	viewing_shows(&v, ", 27 only in A\n");
	comparing_select(&v, "only in A  ");
	viewing_shows(&v, "\n  B does not have it\n");
	viewing_shows(&v, " -- -- ");
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_broken_files(void **state)
{
	struct view_difference d;
	struct ckpt_buf a;
	struct viewing v;
	uint8_t differs[8];
	uint64_t i, header;

	(void)state;
	comparing_make(&a, &comparing_usual);
	viewing_bytes(&v, a.p, a.n, 24, 80);
	header = v.doc.header_end;
	viewing_close(&v);
	/* The payload of the second ends too early. */
	comparing_open(&v, a.p, a.n, a.p, a.n - 9, 60, 120);
	viewing_keys(&v, "c");
	viewing_shows(&v, "37 same, 1 unreadable\n");
	i = comparing_find(&v, "Second", "token_embedding.weight");
	assert_int_equal(view_compare_record(&v.view, i, &d), VIEW_UNREADABLE);
	assert_true(view_compare_bytes(&v.view, a.n - 12, 8, differs));
	for (int k = 0; k < 8; k++)
		assert_int_equal(differs[k], k < 3 ? 0 : 2);
	viewing_close(&v);
	/* Every cut of the header, on either side. */
	for (uint64_t n = 0; n < header; n += 37) {
		for (int swap = 0; swap < 2; swap++) {
			comparing_open(&v, a.p, swap ? a.n : n, a.p,
				swap ? n : a.n, 24, 80);
			viewing_keys(&v, "cGgjjj<Enter>c<PgDn>k");
			viewing_lacks(&v, "no record and no");
			viewing_close(&v);
		}
	}
	ckpt_buf_release(&a);
}

static void
test_compare_files_without_records(void **state)
{
	static const char a[] = "this is text", b[] = "this is test, too";
	struct view_difference d;
	struct viewing v;
	uint8_t differs[12];

	(void)state;
	comparing_open(&v, a, 12, b, 17, 30, 100);
	viewing_keys(&v, "c");
	viewing_shows(&v, "bytes are compared at equal offsets");
	viewing_shows(&v, "differ: 12 and 17 bytes");
	viewing_shows(&v, "different     1 of 12       all bytes");
	assert_int_equal(view_compare_record(&v.view, 0, &d), VIEW_DIFFERENT);
	assert_int_equal(d.first, 10);
	assert_int_equal(d.bits[0], 'x');
	assert_int_equal(d.bits[1], 's');
	assert_true(view_compare_bytes(&v.view, 0, 12, differs));
	for (int i = 0; i < 12; i++)
		assert_int_equal(differs[i], i == 10);
	viewing_close(&v);
	comparing_open(&v, b, 17, a, 12, 30, 100);
	assert_true(view_compare_bytes(&v.view, 8, 9, differs));
	for (int i = 0; i < 9; i++)
		assert_int_equal(differs[i], i == 2 ? 1 : i < 4 ? 0 : 2);
	viewing_close(&v);
	comparing_open(&v, "", 0, "", 0, 30, 100);
	viewing_keys(&v, "cjjkG");
	viewing_shows(&v, "no byte differs");
	viewing_close(&v);
}

static void
test_compare_without_a_second_file(void **state)
{
	struct view_difference d;
	struct viewing v;
	uint8_t differs[4];

	(void)state;
	viewing_bytes(&v, "abc", 3, 24, 80);
	viewing_keys(&v, "c");
	viewing_shows(&v, "there is no second file; ckinspect A B opens two");
	viewing_keys(&v, "jk<Enter>cGg<Esc>");
	assert_int_equal(v.view.focus, VIEW_TREE);
	assert_int_equal(
		view_compare_record(&v.view, 0, &d), VIEW_NOT_COMPARED);
	assert_false(view_compare_bytes(&v.view, 0, 3, differs));
	assert_int_equal(view_compare_open(&v.view, "/nowhere/at/all"), -1);
	assert_int_equal(errno, ENOENT);
	assert_null(v.view.compare);
	viewing_close(&v);
}

/* A large file is compared when the page is asked for, not before; what lies
 * behind the records does not make it equal. */
static void
test_compare_large_files_when_asked(void **state)
{
	char path[] = "/tmp/viewing-b-XXXXXX";
	int fd = mkstemp(path);
	struct view_difference d;
	struct ckpt_buf a;
	struct viewing v;

	(void)state;
	comparing_make(&a, &comparing_usual);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, a.p, a.n), a.n);
	assert_int_equal(ftruncate(fd, (off_t)VIEW_AUTOMATIC + 1), 0);
	close(fd);
	viewing_bytes(&v, a.p, a.n, 30, 100);
	assert_int_equal(view_compare_open(&v.view, path), 0);
	view_settle(&v.view);
	assert_int_equal(
		view_compare_record(&v.view, 9, &d), VIEW_NOT_COMPARED);
	viewing_keys(&v, "c");
	assert_int_equal(view_compare_record(&v.view, 9, &d), VIEW_SAME);
	viewing_shows(&v, "records        38 same\n");
	viewing_shows(&v, "sizes          differ: ");
	viewing_shows(&v, "verdict        the files differ");
	/* Asked for before there is an index. */
	assert_int_equal(view_compare_open(&v.view, path), 0);
	view_compare_show(&v.view);
	view_settle(&v.view);
	assert_int_equal(view_compare_record(&v.view, 9, &d), VIEW_SAME);
	viewing_close(&v);
	unlink(path);
	ckpt_buf_release(&a);
}

/* A record is done wholly or not at all, and going on ends as if it had never
 * been stopped. */
static void
test_compare_stops_and_goes_on(void **state)
{
	struct ckpt_synth big = comparing_usual;
	struct ckpt_buf a, b;
	struct viewing v;

	(void)state;
	big.config.feed_forward_width = 40000;
	comparing_make(&a, &big);
	comparing_make(&b, &big);
	b.p[b.n - 1] ^= 1;
	comparing_open(&v, a.p, a.n, b.p, b.n, 24, 80);
	for (int i = 0; i < 30; i++) {
		struct view_compare *c = v.view.compare;

		for (uint64_t k = 0; k < c->npairs; k++)
			atomic_store(&c->pairs[k].sameness, VIEW_NOT_COMPARED);
		view_compare_start(&v.view);
		view_draw(&v.view);
		if (i % 2)
			view_job_stop(&c->job);
		else
			atomic_store(&c->job.cancel, true);
		view_settle(&v.view);
		view_compare_start(&v.view);
		view_settle(&v.view);
		view_focus(&v.view, VIEW_COMPARE);
		viewing_shows(&v, "37 same, 1 different");
	}
	/* Left while it is at work. */
	atomic_store(&v.view.compare->pairs[6].sameness, VIEW_NOT_COMPARED);
	view_compare_start(&v.view);
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_with_itself),
		cmocka_unit_test(test_compare_finds_what_differs),
		cmocka_unit_test(test_compare_other_models),
		cmocka_unit_test(test_compare_broken_files),
		cmocka_unit_test(test_compare_files_without_records),
		cmocka_unit_test(test_compare_without_a_second_file),
		cmocka_unit_test(test_compare_large_files_when_asked),
		cmocka_unit_test(test_compare_stops_and_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
