/* SPDX-License-Identifier: MIT */
/*
 * Damage in real files, its owners and verdicts; what cannot be searched; and
 * copies, which are written only when they should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "forensics/repair.h"
#include "io/source_read.h"
#include "model/rng.h"
#include "support/build35.h"
#include "support/saving.h"

#define FIXTURE "corpus/llmcp35/good/selected-step8.ckpt"
enum { SIZE = 6330, HEADER = 2869, FIELD = 30 };

static uint8_t good[SIZE];

static int
load_fixture(void **state)
{
	struct ckpt_source *source = ckpt_source_open(FIXTURE);

	(void)state;
	assert_non_null(source);
	assert_int_equal(source->size, SIZE);
	assert_int_equal(ckpt_source_read_all(source, 0, good, SIZE), CKPT_OK);
	ckpt_source_close(source);
	return 0;
}

static struct ckpt_location
locate(const uint8_t *bytes, size_t n)
{
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	struct ckpt_location l;

	assert_non_null(source);
	assert_int_equal(ckpt_locate(source, NULL, &l), CKPT_OK);
	ckpt_source_close(source);
	return l;
}

static void
expect_one(const uint8_t *bad, enum ckpt_damage_kind kind, size_t off)
{
	struct ckpt_location l = locate(bad, SIZE);
	const struct ckpt_damage *d = &l.damages[0];
	uint8_t repaired[SIZE];

	assert_int_equal(l.count, 1);
	assert_int_equal(d->kind, kind);
	assert_int_equal(d->off, off);
	assert_int_equal(d->verdict, CKPT_VALID);
	assert_memory_equal(d->found, bad + off, d->len);
	memcpy(repaired, bad, SIZE);
	memcpy(repaired + off, d->original, d->len);
	assert_memory_equal(repaired, good, SIZE);
}

/* ---- Every byte --------------------------------------------------------- */

/* Whatever it does to the header: magic, version, extents, counts, names. Of
 * the payload every fifth byte. */
static void
test_every_byte_of_fixture(void **state)
{
	uint8_t bad[SIZE];

	(void)state;
	memcpy(bad, good, SIZE);
	for (size_t i = 0; i < SIZE; i += i < HEADER || i + 9 > SIZE ? 1 : 5) {
		bool field = i >= FIELD && i - FIELD < 8;
		unsigned x = 1 + (unsigned)(i * 7919 % 255);

		bad[i] = (uint8_t)(bad[i] ^ x);
		expect_one(bad, field ? CKPT_DAMAGE_CHECKSUM : CKPT_DAMAGE_BYTE,
			i);
		bad[i] = good[i];
	}
}

static void
test_random_damage(void **state)
{
	struct ckpt_rng rng = { .state = 200 };
	uint8_t bad[SIZE];

	(void)state;
	memcpy(bad, good, SIZE);
	for (int k = 0; k < 400; k++) {
		size_t i = (size_t)(ckpt_rng_draw(&rng) % (SIZE - 39)) + 38;
		bool two = k % 2;

		bad[i] ^= (uint8_t)(1 + ckpt_rng_draw(&rng) % 255);
		if (two)
			bad[i + 1] ^= (uint8_t)(1 + ckpt_rng_draw(&rng) % 255);
		expect_one(bad, two ? CKPT_DAMAGE_BURST : CKPT_DAMAGE_BYTE, i);
		memcpy(bad + i, good + i, 2);
	}
}

/* Of every prefix nothing is claimed, and of files with more behind them. */
static void
test_other_lengths(void **state)
{
	uint8_t longer[SIZE + 4];
	struct ckpt_location l;

	(void)state;
	for (size_t n = 38; n < SIZE; n += 13) {
		l = locate(good, n);
		assert_int_equal(l.count, 0);
		assert_true(l.stored != l.computed);
	}
	memcpy(longer, good, SIZE);
	memset(longer + SIZE, 'x', 4);
	l = locate(longer, sizeof longer);
	assert_int_equal(l.count, 0);
	l = locate(good, SIZE);
	assert_int_equal(l.count, 0);
	assert_true(l.stored == l.computed);
}

/* ---- Owners and values -------------------------------------------------- */

struct asked {
	struct ckpt_source *source;
	struct ckpt_run *run;
	struct ckpt_located located;
	struct ckpt_buf text;
};

static void
ask_named(struct asked *a, const uint8_t *bytes, size_t n, const char *name)
{
	const struct ckpt_options options = { 0 };
	struct ckpt_locate_task task = { .options = &options };

	memset(a, 0, sizeof *a);
	a->source = ckpt_source_memory(bytes, n);
	a->run = ckpt_run_new(NULL);
	assert_true(a->source && a->run);
	a->source->name = name;
	(void)ckpt_verify(a->run, a->source);
	task.source = a->source;
	task.run = a->run;
	ckpt_located_init(&a->located, &task);
	ckpt_located_write(&a->text, &a->located, "f.ckpt");
	ckpt_buf_add(&a->text, "", 1);
	assert_false(a->text.failed);
}

static void
ask(struct asked *a, const uint8_t *bytes, size_t n)
{
	ask_named(a, bytes, n, NULL);
}

static void
answer(struct asked *a)
{
	json_t *json = ckpt_located_json(&a->located);

	assert_non_null(json);
	json_decref(json);
	ckpt_located_release(&a->located);
	ckpt_buf_release(&a->text);
	ckpt_run_free(a->run);
	ckpt_source_close(a->source);
}

static void
says(const struct asked *a, const char *words)
{
	if (!strstr(a->text.p, words))
		fail_msg("\"%s\" is not in\n%s", words, a->text.p);
}

static void
damage_says(size_t off, const char *const *words)
{
	uint8_t bad[SIZE];
	struct asked a;

	memcpy(bad, good, SIZE);
	bad[off] ^= 0x11;
	ask(&a, bad, SIZE);
	assert_int_equal(a.located.outcome, CKPT_LOCATE_FOUND);
	assert_null(ckpt_located_doubt(&a.located));
	for (; *words; words++)
		says(&a, *words);
	answer(&a);
}

static void
test_owners(void **state)
{
	static const struct {
		size_t off;
		const char *words[4];
	} rows[] = {
		{ 0, { "fixed_header.magic", "value found \"]LMCP35\\x00\"" } },
		{ 8, { "fixed_header.version", "found 16, original 1" } },
		{ 12, { "fixed_header.endian" } },
		{ 14, { "fixed_header.header_bytes",
			      "value found 2852, original 2869" } },
		{ 29, { "fixed_header.payload_bytes" } },
		{ 37, { "the stored checksum is damaged, not the data,",
			      "fixed_header.checksum",
			      "original fnv1a64:2b8b6097eaed6a91" } },
		{ 38, { "header.tokenizer_layout", "found 16, original 1" } },
		{ 58, { "header.tokenizer_kind" } },
		{ 115, { "header.decoder.rope_base" } },
		{ 172, { "header.groups.decay.count" } },
		{ 176, { "header.groups.decay[0].length" } },
		{ 180, { "header.groups.decay[0].bytes" } },
		{ 540, { "records[0].role" } },
		{ 2868, { "records[37].byte_length" } },
		{ 2869, { "records[0].data[0]", "LiteralToken, u8 [1]" } },
		{ 2874, { "records[5].data[0,0]", "element 0, byte 0 of 8",
				"original -0.44815663836203995" } },
		{ 6329, { "records[37].data[4,3]", "byte 7 of 8" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		damage_says(rows[i].off, rows[i].words);
}

/* A burst that reaches from the header into the payload. */
static void
test_two_owners(void **state)
{
	uint8_t bad[SIZE];
	struct asked a;

	(void)state;
	memcpy(bad, good, SIZE);
	bad[HEADER - 1] ^= 1;
	bad[HEADER] ^= 2;
	ask(&a, bad, SIZE);
	assert_int_equal(a.located.outcome, CKPT_LOCATE_FOUND);
	assert_int_equal(a.located.cases[0].nplaces, 2);
	says(&a, "(2868), records[37].byte_length and records[0].data[0]\n");
	answer(&a);
}

/* The one explanation leads to a file that is wrong in another way. */
static void
test_still_invalid(void **state)
{
	uint8_t bad[SIZE];
	struct asked a;
	struct ckpt_repair repair;

	(void)state;
	memcpy(bad, good, SIZE);
	memset(bad + 2874, 0xff, 8); /* NaN */
	b35_seal(bad, SIZE);
	bad[5000] ^= 0x80;
	ask(&a, bad, SIZE);
	assert_int_equal(a.located.outcome, CKPT_LOCATE_FOUND);
	assert_int_equal(a.located.cases[0].damage.verdict, CKPT_INVALID);
	says(&a, "with the original in place the file is invalid: CK4001");
	assert_non_null(ckpt_located_doubt(&a.located));
	ckpt_repair_publish(&repair, &a.located, a.source, NULL, "never");
	assert_int_equal(repair.status, CKPT_REJECTED);
	assert_int_not_equal(access("never", F_OK), 0);
	answer(&a);
}

/* Two explanations, neither of which may be written. */
static void
test_ambiguous(void **state)
{
	uint8_t bad[SIZE];
	struct asked a;

	(void)state;
	memcpy(bad, good, SIZE);
	bad[5000] ^= 0x80;
	ask(&a, bad, SIZE);
	a.located.outcome = CKPT_LOCATE_AMBIGUOUS;
	a.located.location.count = 2;
	ckpt_buf_clear(&a.text);
	ckpt_located_write(&a.text, &a.located, "f.ckpt");
	says(&a, "there are 2 explanations, and at most one of them is right");
	assert_null(strstr(a.text.p, "--propose-repair"));
	assert_string_equal(ckpt_located_doubt(&a.located),
		"there are several explanations");
	answer(&a);
}

/* ---- What cannot be searched -------------------------------------------- */

static enum ckpt_status
status_of(struct ckpt_source *source, const struct ckpt_options *options)
{
	struct ckpt_location l;
	enum ckpt_status status;

	assert_non_null(source);
	status = ckpt_locate(source, options, &l);
	ckpt_source_close(source);
	return status;
}

static void
test_not_searched(void **state)
{
	static const char safetensors[] = "\x02\0\0\0\0\0\0\0{}";
	static const char zip[64] = "PK\003\004";
	struct asked a;

	(void)state;
	assert_int_equal(status_of(ckpt_source_memory(safetensors, 10), NULL),
		CKPT_EUNSUPPORTED);
	assert_int_equal(status_of(ckpt_source_memory(zip, sizeof zip), NULL),
		CKPT_EUNSUPPORTED);
	assert_int_equal(
		status_of(ckpt_source_memory(good, 37), NULL), CKPT_REJECTED);
	assert_int_equal(
		status_of(ckpt_source_memory(NULL, 0), NULL), CKPT_REJECTED);
	ask(&a, good, 37);
	assert_int_equal(a.located.outcome, CKPT_LOCATE_IMPOSSIBLE);
	says(&a, "not located: the file ends before its checksum");
	answer(&a);
	/* The suffix says what the first bytes do not. */
	ask_named(&a, (const uint8_t *)zip, sizeof zip, "m.safetensors");
	assert_int_equal(a.located.outcome, CKPT_LOCATE_IMPOSSIBLE);
	answer(&a);
}

static bool
stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	(void)done;
	(void)total;
	return false;
}

static bool
stop_after(void *ctx, uint64_t done, uint64_t total)
{
	int *left = ctx;

	(void)done;
	(void)total;
	return (*left)-- > 0;
}

/* Wherever it is stopped, it says so, also while an explanation is tried. */
static void
test_cancelled(void **state)
{
	uint8_t bad[SIZE];
	struct ckpt_options options = { .progress = stop_at_once };
	int stops = 0;

	(void)state;
	memcpy(bad, good, SIZE);
	bad[99] ^= 1;
	assert_int_equal(
		status_of(ckpt_source_memory(bad, SIZE), &options), CKPT_STOP);
	options.progress = stop_after;
	for (int n = 1; n < 8; n++) {
		int left = n;

		options.progress_ctx = &left;
		stops += status_of(ckpt_source_memory(bad, SIZE), &options) ==
			 CKPT_STOP;
	}
	assert_true(stops >= 1 && stops < 7);
}

/* A source that gives so many reads, then fails or ends. */
static ptrdiff_t (*whole)(struct ckpt_source *, void *, size_t, uint64_t);
static int reads_left, read_error; /* 0: it ends */

static ptrdiff_t
failing_read_at(struct ckpt_source *source, void *bytes, size_t n, uint64_t off)
{
	if (reads_left-- > 0)
		return whole(source, bytes, n, off);
	reads_left = 0;
	errno = read_error ? read_error : EAGAIN;
	return read_error ? -1 : 0;
}

static void
fail_after(struct ckpt_source *source, int reads, int error)
{
	whole = source->read_at;
	source->read_at = failing_read_at;
	reads_left = reads;
	read_error = error;
}

/* Wherever it fails or becomes shorter, it is that and not an interruption,
 * and the errno is the one of the read. */
static void
test_unreadable(void **state)
{
	static const int errors[] = { 0, ENXIO };
	uint8_t bad[SIZE];

	(void)state;
	memcpy(bad, good, SIZE);
	bad[3000] ^= 1;
	for (size_t i = 0; i < 2; i++) {
		enum ckpt_status status = CKPT_EIO;
		int reads = 1; /* without the first there is no format */

		for (; reads < 1000; reads++) {
			struct ckpt_source *source =
				ckpt_source_memory(bad, SIZE);

			assert_non_null(source);
			fail_after(source, reads, errors[i]);
			status = status_of(source, NULL);
			if (status == CKPT_OK)
				break;
			assert_int_equal(status, CKPT_EIO);
			assert_int_equal(errno, errors[i] ? errors[i] : EIO);
		}
		assert_int_equal(status, CKPT_OK);
		assert_true(reads > 5);
	}
}

/* What read gives next does not change. */
static void
test_source_stays(void **state)
{
	struct ckpt_source *source = ckpt_source_memory(good, SIZE);
	struct ckpt_location l;
	uint8_t bytes[16];

	(void)state;
	assert_non_null(source);
	assert_int_equal(source->read(source, bytes, 5), 5);
	assert_int_equal(ckpt_locate(source, NULL, &l), CKPT_OK);
	assert_int_equal(source->read(source, bytes, 16), 16);
	assert_memory_equal(bytes, good + 5, 16);
	ckpt_source_close(source);
}

/* ---- Copies ------------------------------------------------------------- */

static void
expect_copy(const char *path)
{
	struct ckpt_source *copy = ckpt_source_open(path);
	uint8_t bytes[SIZE];

	assert_non_null(copy);
	assert_int_equal(copy->size, SIZE);
	assert_int_equal(ckpt_source_read_all(copy, 0, bytes, SIZE), CKPT_OK);
	assert_memory_equal(bytes, good, SIZE);
	ckpt_source_close(copy);
}

static void
test_repair(void **state)
{
	uint8_t bad[SIZE];
	struct asked a;
	struct ckpt_repair repair;

	(void)state;
	for (size_t i = 0; i < SIZE; i += 211) {
		memcpy(bad, good, SIZE);
		bad[i] ^= 0x42;
		ask(&a, bad, SIZE);
		ckpt_repair_publish(
			&repair, &a.located, a.source, NULL, "copy");
		assert_int_equal(repair.status, CKPT_OK);
		expect_copy("copy");
		assert_int_equal(saving_temporaries(false), 0);
		answer(&a);
	}
}

/* Bytes that change between search and copy give no copy. */
static void
test_repair_of_changing(void **state)
{
	uint8_t bad[SIZE];
	struct asked a;
	struct ckpt_repair repair;

	(void)state;
	memcpy(bad, good, SIZE);
	bad[3000] ^= 0x42;
	ask(&a, bad, SIZE);
	bad[4000] ^= 1;
	ckpt_repair_publish(&repair, &a.located, a.source, NULL, "other");
	assert_int_equal(repair.status, CKPT_REJECTED);
	assert_string_equal(repair.doubt, "the file changed meanwhile");
	assert_int_not_equal(access("other", F_OK), 0);
	assert_int_equal(saving_temporaries(false), 0);
	answer(&a);
}

static void
test_repair_failing(void **state)
{
	uint8_t bad[SIZE];
	struct asked a;
	struct ckpt_repair repair;

	(void)state;
	memcpy(bad, good, SIZE);
	bad[3000] ^= 0x42;
	ask(&a, bad, SIZE);
	ckpt_repair_publish(
		&repair, &a.located, a.source, NULL, "no/such/copy");
	assert_int_equal(repair.status, CKPT_EIO);
	assert_int_equal(repair.error, ENOENT);
	assert_non_null(repair.action);
	answer(&a);
}

/* Neither an error of the file nor an interruption is taken for a change of
 * the file; nothing is left of the copy. */
static void
test_repair_given_up(void **state)
{
	static const int errors[] = { 0, ENXIO };
	const struct ckpt_options stop = { .progress = stop_at_once };
	uint8_t bad[SIZE];
	struct asked a;
	struct ckpt_repair repair;

	(void)state;
	memcpy(bad, good, SIZE);
	bad[3000] ^= 0x42;
	ask(&a, bad, SIZE);
	ckpt_repair_publish(&repair, &a.located, a.source, &stop, "copy");
	assert_int_equal(repair.status, CKPT_STOP);
	assert_string_equal(repair.doubt, "cancelled");
	answer(&a);
	/* The first read is that of all bytes, the second of the checksum. */
	for (int reads = 0; reads < 2; reads++)
		for (size_t i = 0; i < 2; i++) {
			ask(&a, bad, SIZE);
			fail_after(a.source, reads, errors[i]);
			ckpt_repair_publish(
				&repair, &a.located, a.source, NULL, "copy");
			assert_int_equal(repair.status, CKPT_EIO);
			assert_null(repair.doubt);
			assert_string_equal(repair.action, "read the file");
			assert_int_equal(
				repair.error, errors[i] ? errors[i] : EIO);
			answer(&a);
		}
	assert_int_not_equal(access("copy", F_OK), 0);
	assert_int_equal(saving_temporaries(false), 0);
}

#define in_folder(test)                                                        \
	cmocka_unit_test_setup_teardown(                                       \
		test, saving_enter_folder, saving_leave_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_of_fixture),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_other_lengths),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_two_owners),
		in_folder(test_still_invalid),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_not_searched),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_source_stays),
		in_folder(test_repair),
		in_folder(test_repair_of_changing),
		in_folder(test_repair_failing),
		in_folder(test_repair_given_up),
	};

	return cmocka_run_group_tests(tests, load_fixture, NULL);
}
