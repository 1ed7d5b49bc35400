/* SPDX-License-Identifier: MIT */
/*
 * The training fixture against every intermediate value that is known of it:
 * initial weights, order of the windows, loss, clipping and parameters of each
 * update, validation means, and the bytes of the checkpoint.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "replay/fixture.h"
#include "sink/save.h"

#include <string.h>

/* ---- what was seen ------------------------------------------------------ */

enum { UPDATES = 8, MEASURES = 5 };

struct seen {
	char order[128];
	uint64_t first_row[4], initial; /* bits, fingerprint */
	struct {
		unsigned step;
		uint64_t loss, factor, parameters;
		bool clipped;
	} updates[UPDATES + 1];
	struct {
		unsigned step;
		uint64_t mean;
		bool selected;
	} measures[MEASURES + 1];
	size_t nupdates, nmeasures;
};

static void
on_shuffled(void *ctx, const struct ckpt_window *windows, size_t n)
{
	struct seen *seen = ctx;
	char *out = seen->order;

	assert_true(n * 3 < sizeof seen->order);
	for (size_t i = 0; i < n; i++) {
		assert_true(windows[i].document < 2 && windows[i].start < 10);
		*out++ = (char)('a' + windows[i].document);
		*out++ = (char)('0' + windows[i].start);
		*out++ = i + 1 < n ? ' ' : '\0';
	}
}

static void
on_updated(void *ctx, unsigned step, const struct ckpt_update *update,
	const struct ckpt_trainer *trainer)
{
	struct seen *seen = ctx;
	size_t i = seen->nupdates++;

	assert_true(i < UPDATES);
	seen->updates[i].step = step;
	seen->updates[i].loss = ckpt_f64_bits(update->loss);
	seen->updates[i].clipped = update->clipped;
	seen->updates[i].factor = ckpt_f64_bits(update->factor);
	seen->updates[i].parameters =
		ckpt_trainer_parameters_fingerprint(trainer);
	assert_int_equal(trainer->state.optimizer_step, step);
}

static void
on_measured(void *ctx, unsigned step, double mean, bool selected,
	const struct ckpt_trainer *trainer)
{
	struct seen *seen = ctx;
	size_t i = seen->nmeasures++;

	assert_true(i < MEASURES);
	seen->measures[i].step = step;
	seen->measures[i].mean = ckpt_f64_bits(mean);
	seen->measures[i].selected = selected;
	if (step > 0)
		return;
	seen->initial = ckpt_trainer_parameters_fingerprint(trainer);
	for (size_t k = 0; k < 4; k++)
		seen->first_row[k] = ckpt_f64_bits(trainer->parameters[k]);
}

static struct seen seen;
static struct ckpt_buf bytes;
static struct ckpt_value label;

static int
train(void **state)
{
	const struct ckpt_fixture_watch watch = { &seen, on_shuffled,
		on_updated, on_measured };

	(void)state;
	return (int)ckpt_fixture_selected_step8(
		ckpt_format_at(0), &watch, &bytes, &label);
}

static int
release(void **state)
{
	(void)state;
	ckpt_buf_release(&bytes);
	return 0;
}

/* ---- tests -------------------------------------------------------------- */

static void
test_fixture_starts_from_the_known_weights(void **state)
{
	static const uint64_t row[] = { 0xbfe1229d7c721a42, 0xbfe632531d2204ec,
		0xbfd5184930581c72, 0xbfe1d1bcef26e058 };

	(void)state;
	assert_memory_equal(seen.first_row, row, sizeof row);
	assert_int_equal(seen.initial, 0x49b4b59410def7f0);
}

static void
test_fixture_shuffles_the_windows(void **state)
{
	(void)state;
	assert_string_equal(seen.order,
		"b2 b8 a0 b9 a7 b0 a1 b7 a2 a6 a3 a4 b4 a5 a8 a9 b1 b3 b5 b6");
}

static void
test_fixture_makes_the_known_updates(void **state)
{
	static const struct {
		uint64_t loss, factor, parameters;
	} want[UPDATES] = {
		{ 0x4003a1c9cbeff083, 0x3fb61db385d50d85, 0x4ee5aac5fbcd9992 },
		{ 0x3ffa300e2fa961ae, 0x3fbcc77e5797f3de, 0x180dd2e3b4812368 },
		{ 0x3ffcf47bca559ad2, 0x3fc80f882c522958, 0x58de1c167386cd80 },
		{ 0x3ff1dd290543ad68, 0x3fcd2bae451b6e77, 0x42a7294a067d04ee },
		{ 0x3ff2b5240587ce5f, 0x3fca64c7c6d65a1f, 0x928e8a3b456dd484 },
		{ 0x3ffc5832fb087ca2, 0x3fca3edf046dfd53, 0x24cf16afe3c9a068 },
		{ 0x3ff04ef009219323, 0x3fd32b7ff78ea5f7, 0x9a6138a3299456fd },
		{ 0x3ffb2bb4950a03f8, 0x3fce0e6ac1cd7f0b, 0x5bf915a97ebea3e5 },
	};

	(void)state;
	assert_int_equal(seen.nupdates, UPDATES);
	for (unsigned i = 0; i < UPDATES; i++) {
		assert_int_equal(seen.updates[i].step, i + 1);
		assert_int_equal(seen.updates[i].loss, want[i].loss);
		assert_true(seen.updates[i].clipped);
		assert_int_equal(seen.updates[i].factor, want[i].factor);
		assert_int_equal(
			seen.updates[i].parameters, want[i].parameters);
	}
}

static void
test_fixture_selects_the_last_step(void **state)
{
	static const uint64_t means[MEASURES] = { 0x3ffeb0d06616f846,
		0x3ffb2415bc232cc2, 0x3ffb012dcad1bacd, 0x3ffa48162e588bb0,
		0x3ff986566c06d651 };

	(void)state;
	assert_int_equal(seen.nmeasures, MEASURES);
	for (unsigned i = 0; i < MEASURES; i++) {
		assert_int_equal(seen.measures[i].step, 2 * i);
		assert_int_equal(seen.measures[i].mean, means[i]);
		assert_true(seen.measures[i].selected);
	}
}

static void
test_fixture_gives_the_known_file(void **state)
{
	struct ckpt_source *source = ckpt_source_memory(bytes.p, bytes.n);
	struct ckpt_checkpoint *c;

	(void)state;
	assert_int_equal(bytes.n, 6330);
	assert_int_equal(label.kind, CKPT_V_HASH);
	assert_int_equal(label.u64, 0x2b8b6097eaed6a91);
	assert_non_null(source);
	assert_int_equal(ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
	assert_int_equal(c->run->header_end, 2869);
	assert_int_equal(c->state.selected_step, 8);
	assert_int_equal(c->state.sampling_rng_state, 0x9e3779b97f4a7c38);
	assert_int_equal(c->state.ndecay, 8);
	assert_int_equal(c->state.nno_decay, 3);
	assert_int_equal(c->state.tokenizer.npieces, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(c->state.tokenizer.pieces[i].data[0], '0' + i);
	ckpt_checkpoint_free(c);
	ckpt_source_close(source);
}

/* Nobody has to watch. */
static void
test_fixture_is_the_same_unwatched(void **state)
{
	static const struct ckpt_fixture_watch blind = { 0 };
	const struct ckpt_fixture_watch *watches[] = { NULL, &blind };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ckpt_buf again = { 0 };
		struct ckpt_value other;

		assert_int_equal(ckpt_fixture_selected_step8(ckpt_format_at(0),
					 watches[i], &again, &other),
			CKPT_OK);
		assert_int_equal(again.n, bytes.n);
		assert_memory_equal(again.p, bytes.p, bytes.n);
		assert_int_equal(other.u64, label.u64);
		ckpt_buf_release(&again);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixture_starts_from_the_known_weights),
		cmocka_unit_test(test_fixture_shuffles_the_windows),
		cmocka_unit_test(test_fixture_makes_the_known_updates),
		cmocka_unit_test(test_fixture_selects_the_last_step),
		cmocka_unit_test(test_fixture_gives_the_known_file),
		cmocka_unit_test(test_fixture_is_the_same_unwatched),
	};

	return cmocka_run_group_tests(tests, train, release);
}
