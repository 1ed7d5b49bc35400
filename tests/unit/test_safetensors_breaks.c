/* SPDX-License-Identifier: MIT */
/*
 * A header that breaks off, after each of its bytes: the break is one finding,
 * at the end; what was found before it is what is found there in the whole
 * header, and nothing more; and of tensors and metadata those are known that
 * are complete. The headers have each fault that a value can have, so that the
 * text also breaks inside of what is only passed over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "diag/run.h"
#include "format/safetensors.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { MOST = 1024 };

static const char strict[] =
	" {\"__metadata__\":{\"a\":\"1\",\"b\":{\"x\":[1,{\"y\":2}]},\"c\":[2]}"
	","
	"\"t\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
	"\"__metadata__\":[3,{\"z\":null}],\"__metadata__\":{\"d\":\"4\"},"
	"\"__metadata__\":null,"
	"\"u\":{\"dtype\":{\"F32\":null},\"shape\":{\"a\":[1]},"
	"\"data_offsets\":[[1],{\"c\":[]},2],\"shape\":[[1],{\"a\":2},3],"
	"\"dtype\":[1,[2]],\"data_offsets\":{\"b\":1}},"
	"\"v\":[1,[2]],\"w\":7,"
	"\"x\":{\"q\":{\"a\":{\"b\":[1]}},\"dtype\":\"\",\"q\":[1],"
	"\"shape\":[-1,1.5],\"data_offsets\":[0,1,2]},"
	"\"y\":{\"data_offsets\":[0,4],\"dtype\":\"F32\",\"shape\":[1]}}";

static const char strict_found[] = "CK2121 metadata[1]\n"
				   "CK2121 metadata[2]\n"
				   "CK2117 metadata\n"
				   "CK2120 metadata\n"
				   "CK2117 metadata\n"
				   "CK2117 metadata\n"
				   "CK2124 tensors[1].dtype\n"
				   "CK2124 tensors[1].shape\n"
				   "CK2126 tensors[1].data_offsets\n"
				   "CK2124 tensors[1].data_offsets\n"
				   "CK2124 tensors[1].data_offsets\n"
				   "CK2118 tensors[1].shape\n"
				   "CK2124 tensors[1].shape\n"
				   "CK2124 tensors[1].shape\n"
				   "CK2118 tensors[1].dtype\n"
				   "CK2124 tensors[1].dtype\n"
				   "CK2118 tensors[1].data_offsets\n"
				   "CK2124 tensors[1].data_offsets\n"
				   "CK2122 tensors[2]\n"
				   "CK2122 tensors[3]\n"
				   "CK2127 tensors[4].dtype\n"
				   "CK2125 tensors[4].shape\n"
				   "CK2125 tensors[4].shape\n"
				   "CK2126 tensors[4].data_offsets\n"
				   "CK2119 tensors[4].q\n"
				   "CK2151 header\n"
				   "CK2152 tensors[4]\n";

/* What the format's own loader takes, and what is almost that. */
static const char loader[] =
	"{\"a\":[\"F32\",[1],[0,4]],\"b\":[\"F32\",[1],[0,4],{\"x\":[1]}],"
	"\"c\":[\"F32\",[1]],\"d\":[{\"F32\":null},[1],[0,4]],"
	"\"e\":{\"dtype\":{\"F32\":7},\"shape\":[1],\"data_offsets\":[0,4]},"
	"\"f\":{\"dtype\":{},\"shape\":[1],\"data_offsets\":[0,4]},"
	"\"g\":{\"dtype\":{\"F32\":null,\"F16\":null},\"shape\":[1],"
	"\"data_offsets\":[0,4]},"
	"\"h\":{\"dtype\":{\"F32\":{\"x\":[{}]}},\"shape\":[1],"
	"\"data_offsets\":[0,4]},"
	"\"i\":[7,{\"a\":1},[0,[4]],8],\"j\":[],\"k\":[\"\",[],[0,4]],"
	"\"l\":{\"dtype\":{\"F32\":null},\"shape\":[1],\"data_offsets\":[0,4]},"
	"\"m\":{\"dtype\":\"F32\",\"dtype\":{\"F32\":[7]}},"
	"\"n\":{\"dtype\":7,\"dtype\":{\"F32\":null},\"dtype\":\"F32\"}}";

static const char loader_found[] = "CK2122 tensors[1]\n"
				   "CK2122 tensors[2]\n"
				   "CK2124 tensors[4].dtype\n"
				   "CK2124 tensors[5].dtype\n"
				   "CK2124 tensors[6].dtype\n"
				   "CK2124 tensors[7].dtype\n"
				   "CK2122 tensors[8]\n"
				   "CK2124 tensors[8].dtype\n"
				   "CK2124 tensors[8].shape\n"
				   "CK2124 tensors[8].data_offsets\n"
				   "CK2122 tensors[9]\n"
				   "CK2127 tensors[10].dtype\n"
				   "CK2123 tensors[12]\n"
				   "CK2123 tensors[12]\n"
				   "CK2118 tensors[12].dtype\n"
				   "CK2124 tensors[12].dtype\n"
				   "CK2123 tensors[13]\n"
				   "CK2123 tensors[13]\n"
				   "CK2124 tensors[13].dtype\n"
				   "CK2118 tensors[13].dtype\n"
				   "CK2118 tensors[13].dtype\n";

struct judged {
	struct ckpt_run *run;
	const struct safetensors_file *file;
};

/* The first n bytes of a header, and nothing behind them. */
static void
judge(struct judged *j, const char *header, size_t n, enum ckpt_profile profile)
{
	const struct ckpt_options options = { .profile = profile };
	uint8_t file[8 + MOST];
	struct ckpt_source *source;

	assert_true(n <= MOST);
	ckpt_store_u64(file, n);
	memcpy(file + 8, header, n);
	j->run = ckpt_run_new(&options);
	source = ckpt_source_memory(file, 8 + n);
	assert_true(j->run && source);
	source->name = "x.safetensors";
	assert_int_equal(ckpt_verify(j->run, source), CKPT_INVALID);
	j->file = j->run->decoded;
	ckpt_source_close(source);
}

/* Made while the text was read. */
static bool
of_text(const struct ckpt_diag *d)
{
	static const char *const checks[] = { "json", "records", "style" };

	for (size_t i = 0; i < COUNT(checks); i++)
		if (strcmp(d->rule->check, checks[i]) == 0)
			return true;
	return false;
}

static bool
has(const struct ckpt_run *run, const struct ckpt_diag *wanted)
{
	for (size_t i = 0; i < ckpt_run_finding_count(run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(run, i);

		if (d->rule == wanted->rule && d->off == wanted->off &&
			d->len == wanted->len &&
			strcmp(d->path, wanted->path) == 0)
			return true;
	}
	return false;
}

static void
expect_findings(const struct judged *whole, const struct judged *cut, size_t n)
{
	const struct ckpt_diag *fault = NULL;

	for (size_t i = 0; i < ckpt_run_finding_count(cut->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(cut->run, i);

		if (d->off + d->len > 8 + n)
			fail_msg("%zu: %s lies behind", n, d->rule->id);
		if (has(whole->run, d))
			continue;
		if (fault || strcmp(d->rule->check, "json") != 0)
			fail_msg("%zu: also %s %s", n, d->rule->id, d->path);
		fault = d;
	}
	if (!fault)
		fail_msg("%zu: no break", n);
	for (size_t i = 0; i < ckpt_run_finding_count(whole->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(whole->run, i);

		if (of_text(d) && d->off + d->len < 8 + n && !has(cut->run, d))
			fail_msg("%zu: no %s %s", n, d->rule->id, d->path);
	}
}

/* Those of the whole header that end before n. */
static void
expect_entries(const struct judged *whole, const struct judged *cut, size_t n)
{
	uint32_t tensors = 0, entries = 0;

	for (uint32_t i = 0; i < whole->file->tensors.n; i++)
		tensors += SAFETENSORS_TENSORS(whole->file)[i].after <= n;
	for (uint32_t i = 0; i < whole->file->metadata.n; i++)
		entries += SAFETENSORS_ENTRIES(whole->file)[i].after <= n;
	if (cut->file->tensors.n != tensors || cut->file->metadata.n != entries)
		fail_msg("%zu: %u tensors, %u keys", n, cut->file->tensors.n,
			cut->file->metadata.n);
}

static void
expect_breaks(const char *header, enum ckpt_profile profile, const char *found,
	uint32_t tensors, uint32_t entries)
{
	struct judged whole, cut;
	struct ckpt_buf all = { 0 };

	judge(&whole, header, strlen(header), profile);
	for (size_t i = 0; i < ckpt_run_finding_count(whole.run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(whole.run, i);

		ckpt_buf_printf(&all, "%s %s\n", d->rule->id, d->path);
	}
	assert_string_equal(all.p, found);
	ckpt_buf_release(&all);
	assert_int_equal(whole.file->tensors.n, tensors);
	assert_int_equal(whole.file->metadata.n, entries);
	for (size_t n = 1; n < strlen(header); n++) {
		judge(&cut, header, n, profile);
		expect_findings(&whole, &cut, n);
		expect_entries(&whole, &cut, n);
		ckpt_run_free(cut.run);
	}
	ckpt_run_free(whole.run);
}

static void
test_breaks_in_a_strict_header(void **state)
{
	(void)state;
	expect_breaks(strict, CKPT_PROFILE_STRICT, strict_found, 2, 4);
}

static void
test_breaks_in_a_header_for_the_loader(void **state)
{
	(void)state;
	expect_breaks(loader, CKPT_PROFILE_REFERENCE, loader_found, 3, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breaks_in_a_strict_header),
		cmocka_unit_test(test_breaks_in_a_header_for_the_loader),
	};

	return cmocka_run_group_tests_name(
		"safetensors breaks", tests, NULL, NULL);
}
