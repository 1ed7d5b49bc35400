/* SPDX-License-Identifier: MIT */
/*
 * Several faults of one safetensors file: all of them are reported, each once,
 * by the place in the header or in the data that they are of, and the first of
 * them decides, whatever the order in which they are found. What is no fault
 * beside one is not reported.
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
#include "format/json.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

#define GOOD "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"
#define U8(shape, range)                                                       \
	"{\"dtype\":\"U8\",\"shape\":" shape ",\"data_offsets\":" range "}"

enum { MOST = 1024 };

struct row {
	const char *header;
	size_t data; /* bytes of 1 */
	const char *found;
};

static void
judge(const struct row *row, enum ckpt_profile profile)
{
	const struct ckpt_options options = { .profile = profile };
	struct ckpt_run *run = ckpt_run_new(&options);
	size_t n = strlen(row->header);
	uint8_t file[8 + MOST];
	struct ckpt_source *source;
	struct ckpt_buf found = { 0 };
	const struct ckpt_diag *first;

	assert_true(n + row->data <= MOST);
	ckpt_store_u64(file, n);
	memcpy(file + 8, row->header, n);
	memset(file + 8 + n, 1, row->data);
	source = ckpt_source_memory(file, 8 + n + row->data);
	assert_true(run && source);
	source->name = "x.safetensors";
	ckpt_verify(run, source);
	ckpt_source_close(source);
	ckpt_buf_puts(&found, "");
	for (size_t i = 0; i < ckpt_run_finding_count(run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(run, i);

		ckpt_buf_printf(
			&found, "%s%s %s", i ? ", " : "", d->rule->id, d->path);
	}
	if (strcmp(found.p, row->found) != 0)
		fail_msg("%s: %s", row->header, found.p);
	/* Errors stand before warnings. */
	first = ckpt_run_finding(run, 0);
	if (first && first->rule->severity == CKPT_ERROR &&
		strcmp(ckpt_run_primary(run)->path, first->path) != 0)
		fail_msg("%s: first is %s", row->header,
			ckpt_run_primary(run)->path);
	ckpt_buf_release(&found);
	ckpt_run_free(run);
}

static void
judge_all(const struct row *rows, size_t n, enum ckpt_profile profile)
{
	for (size_t i = 0; i < n; i++)
		judge(&rows[i], profile);
}

/* ---- The text ----------------------------------------------------------- */

static void
test_order_of_faults_of_the_text(void **state)
{
	static const struct row rows[] = {
		{ "{\"a\":7,", 0, "CK2122 tensors[0], CK2113 header" },
		{ "{\"a\":7,\"__metadata__\":{},\"__metadata__\":{}}", 0,
			"CK2122 tensors[0], CK2117 metadata" },
		{ "{\"a\":{\"dtype\":7,\"shape\":[1],\"shape\":[1],"
		  "\"data_offsets\":[0,4]}}",
			4, "CK2124 tensors[0].dtype, CK2118 tensors[0].shape" },
		/* Both are of the whole record. */
		{ "{\"a\":{\"dtype\":\"F32\"}}", 4,
			"CK2123 tensors[0], CK2123 tensors[0]" },
		/* Warnings by tensor. */
		{ "{\"../a\":" GOOD ",\"b\":{\"dtype\":\"F32\",\"shape\":[0],"
		  "\"data_offsets\":[4,4],\"x\":1}}",
			4, "CK3154 tensors[0].name, CK2152 tensors[1]" },
	};

	(void)state;
	judge_all(rows, COUNT(rows), CKPT_PROFILE_STRICT);
}

/* ---- Repeats ------------------------------------------------------------ */

/* Names that share their hash: they are told from each other by their text. */
#define X "ecdy"
#define Y "kybn"

static void
test_order_of_repeats(void **state)
{
	static const struct row rows[] = {
		{ "{\"a\":" GOOD ",\"a\":" GOOD ",\"b\":" GOOD ",\"b\":" GOOD
		  "}",
			4, "CK2115 tensors[1].name, CK2115 tensors[3].name" },
		{ "{\"b\":" GOOD ",\"b\":" GOOD ",\"a\":" GOOD ",\"a\":" GOOD
		  "}",
			4, "CK2115 tensors[1].name, CK2115 tensors[3].name" },
		/* What is replaced is judged all the same. */
		{ "{\"a\":" U8("[9]", "[0,1]") ",\"a\":" GOOD "}", 4,
			"CK2115 tensors[1].name, "
			"CK3103 tensors[0].data_offsets" },
		{ "{\"__metadata__\":{\"a\":\"\",\"a\":\"\",\"b\":\"\","
		  "\"b\":\"\"},\"w\":" GOOD "}",
			4, "CK2116 metadata[1].key, CK2116 metadata[3].key" },
		{ "{\"__metadata__\":{\"b\":\"\",\"b\":\"\",\"a\":\"\","
		  "\"a\":\"\"},\"w\":" GOOD "}",
			4, "CK2116 metadata[1].key, CK2116 metadata[3].key" },
		{ "{\"a\":{\"x\":1,\"x\":2,\"dtype\":\"F32\",\"shape\":[1],"
		  "\"data_offsets\":[0,4]},\"__metadata__\":null,"
		  "\"b\":{\"x\":1,\"x\":{\"y\":3,\"y\":4},\"dtype\":\"F32\","
		  "\"shape\":[0],\"data_offsets\":[4,4]}}",
			4,
			"CK2119 tensors[0].x, CK2119 tensors[1].x, "
			"CK2119 tensors[1], CK2152 tensors[0], "
			"CK2152 tensors[1]" },
		/* The keys of metadata stand behind those of tensors. */
		{ "{\"__metadata__\":{\"m\":{\"p\":1,\"p\":2}},"
		  "\"a\":{\"x\":1,\"x\":2,\"dtype\":\"F32\",\"shape\":[1],"
		  "\"data_offsets\":[0,4]}}",
			4,
			"CK2121 metadata[0], CK2119 tensors[0].x, "
			"CK2119 metadata, CK2152 tensors[0]" },
		/* A key once in each of two objects, among many. */
		{ "{\"__metadata__\":{\"d\":\"\",\"a\":\"\",\"c\":\"\","
		  "\"b\":\"\"},\"w\":" GOOD
		  ",\"__metadata__\":{\"b\":\"\",\"c\":\"\","
		  "\"a\":\"\",\"d\":\"\",\"c\":\"\"}}",
			4, "CK2117 metadata, CK2116 metadata[8].key" },
		{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],"
		  "\"data_offsets\":[0,4],\"d\":{\"a\":1,\"b\":2,\"c\":3},"
		  "\"a\":{\"c\":1,\"a\":2,\"b\":3},\"c\":{\"b\":1,\"c\":2,"
		  "\"a\":3,\"d\":4,\"b\":5},\"b\":1}}",
			4, "CK2119 tensors[0], CK2152 tensors[0]" },
	};

	(void)state;
	judge_all(rows, COUNT(rows), CKPT_PROFILE_STRICT);
}

static void
test_order_of_names_with_one_hash(void **state)
{
	static const char quoted[] = "\"" X "\"\"" Y "\"";
	static const struct row rows[] = {
		{ "{\"" X "\":" GOOD ",\"" Y "\":" U8("[0]", "[4,4]") "}", 4,
			"" },
		{ "{\"" X "\":" GOOD ",\"" Y
		  "\":" U8("[0]", "[4,4]") ",\"" X "\":" GOOD "}",
			4, "CK2115 tensors[2].name" },
		{ "{\"" Y "\":" GOOD ",\"" X "\":" U8("[0]", "[4,4]") ",\"" Y
								      "\":7}",
			4, "CK2122 tensors[2], CK2115 tensors[2].name" },
		{ "{\"" X "\":7,\"" Y "\":8,\"\\u0065cdy\":9}", 4,
			"CK2122 tensors[0], CK2122 tensors[1], "
			"CK2122 tensors[2], CK2115 tensors[2].name" },
		{ "{\"__metadata__\":{\"" X "\":\"\",\"" Y "\":\"\"},"
		  "\"w\":" GOOD "}",
			4, "" },
		{ "{\"__metadata__\":{\"" X "\":\"\",\"" Y "\":\"\","
		  "\"" X "\":\"\"},\"w\":" GOOD "}",
			4, "CK2116 metadata[2].key" },
		{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],"
		  "\"data_offsets\":[0,4],\"" X "\":1,\"" Y "\":2}}",
			4, "CK2152 tensors[0]" },
		{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],"
		  "\"data_offsets\":[0,4],\"" Y "\":1,\"" X "\":2,\"" Y
		  "\":3}}",
			4, "CK2119 tensors[0]." Y ", CK2152 tensors[0]" },
	};
	const uint8_t *p = (const uint8_t *)quoted;

	(void)state;
	assert_int_equal(ckpt_scan_hash(p, sizeof quoted - 1, 0),
		ckpt_scan_hash(p, sizeof quoted - 1, sizeof X + 1));
	judge_all(rows, COUNT(rows), CKPT_PROFILE_STRICT);
}

/* What the format's own loader does with a name that comes twice. */
static void
test_order_of_what_is_replaced(void **state)
{
	static const struct row rows[] = {
		{ "{\"a\":" U8("[9]", "[0,1]") ",\"a\":" GOOD "}", 4, "" },
		{ "{\"a\":" U8("[9]", "[2,1]") ",\"a\":" GOOD "}", 4, "" },
		{ "{\"a\":" GOOD ",\"a\":" U8("[9]", "[0,1]") "}", 4,
			"CK3103 tensors[1].data_offsets" },
		{ "{\"a\":" GOOD ",\"a\":7}", 4, "CK2122 tensors[1]" },
		{ "{\"a\":" U8("[9]", "[0,1]") ",\"a\":7}", 4,
			"CK2122 tensors[1], CK3103 tensors[0].data_offsets" },
	};

	(void)state;
	judge_all(rows, COUNT(rows), CKPT_PROFILE_REFERENCE);
}

/* ---- Sizes and places --------------------------------------------------- */

static void
test_order_of_sizes(void **state)
{
	static const struct row rows[] = {
		{ "{\"a\":{\"dtype\":\"F4\",\"shape\":[7],"
		  "\"data_offsets\":[0,4]},\"b\":" U8("[3]", "[0,4]") "}",
			4,
			"CK3104 tensors[0].shape, "
			"CK3103 tensors[1].data_offsets" },
		{ "{\"a\":" U8("[3]", "[0,4]") ",\"b\":" U8(
			  "[18446744073709551615,3]", "[0,4]") "}",
			4,
			"CK3103 tensors[0].data_offsets, "
			"CK3102 tensors[1].shape" },
		{ "{\"a\":" U8("[3]", "[0,4]") ",\"b\":" U8("[4]", "[4,0]") "}",
			4,
			"CK3103 tensors[0].data_offsets, "
			"CK3101 tensors[1].data_offsets" },
		/* What is left of 2^64 bits, or of half a byte, is no size. */
		{ "{\"a\":" U8("[2305843009213693952]", "[0,0]") "}", 0,
			"CK3102 tensors[0].shape" },
		{ "{\"a\":{\"dtype\":\"F4\",\"shape\":[7],"
		  "\"data_offsets\":[0,3]}}",
			3, "CK3104 tensors[0].shape" },
		/* Taken from left to right; nothing is left to overflow. */
		{ "{\"a\":" U8("[0,9223372036854775808,4]",
			  "[0,0]") ",\"b\":" U8("[9223372036854775808,0,4]",
			  "[0,0]") ",\"c\":" U8("[9223372036854775808,4,0]",
			  "[0,0]") "}",
			0, "CK3102 tensors[2].shape" },
		{ "{\"a\":{\"dtype\":\"F4\",\"shape\":[8],"
		  "\"data_offsets\":[0,4]}}",
			4, "" },
		/* Of an unknown dtype only the product can be judged. */
		{ "{\"a\":{\"dtype\":\"X\",\"shape\":[18446744073709551615,"
		  "3],\"data_offsets\":[0,4]},"
		  "\"b\":{\"dtype\":\"Y\",\"shape\":[5],"
		  "\"data_offsets\":[0,4]}}",
			4,
			"CK3102 tensors[0].shape, CK2128 tensors[0].dtype, "
			"CK2128 tensors[1].dtype" },
	};

	(void)state;
	judge_all(rows, COUNT(rows), CKPT_PROFILE_STRICT);
}

static void
test_order_of_places(void **state)
{
	static const struct row rows[] = {
		/* By place in the data, not by place in the header. */
		{ "{\"a\":" U8("[1]", "[8,9]") ",\"b\":" U8(
			  "[1]", "[0,1]") ",\"c\":" U8("[1]", "[4,5]") "}",
			9,
			"CK3106 tensors[2].data_offsets, "
			"CK3106 tensors[0].data_offsets" },
		/* At one place, by number. */
		{ "{\"a\":" U8("[4]", "[0,4]") ",\"b\":" U8(
			  "[6]", "[2,8]") ",\"c\":" U8("[4]", "[2,6]") "}",
			8,
			"CK3107 tensors[1].data_offsets, "
			"CK3107 tensors[2].data_offsets" },
		/* One inside of another hides nothing of what follows. */
		{ "{\"a\":" U8("[8]", "[0,8]") ",\"b\":" U8(
			  "[2]", "[2,4]") ",\"c\":" U8("[1]", "[8,9]") "}",
			9, "CK3107 tensors[1].data_offsets" },
		{ "{\"a\":" U8("[8]", "[0,8]") ",\"b\":" U8("[0]", "[4,4]") "}",
			8, "CK3107 tensors[1].data_offsets" },
		{ "{\"a\":" U8("[2]", "[2,4]") ",\"b\":" U8("[2]", "[2,4]") "}",
			4,
			"CK3105 tensors[0].data_offsets, "
			"CK3108 tensors[1].data_offsets" },
	};

	(void)state;
	judge_all(rows, COUNT(rows), CKPT_PROFILE_STRICT);
}

/* The one that reaches furthest, and of several the last. */
static void
test_order_names_the_one_before(void **state)
{
	static const char header[] = "{\"a\":" U8("[4]", "[0,4]") ",\"b\":" U8(
		"[4]", "[0,4]") ",\"c\":" U8("[4]", "[0,4]") ",\"d\":" U8("[1]",
		"[1,2]") ",\"e\":" U8("[1]", "[5,6]") "}";
	static const char *const before[] = { "tensors[0] \"a\" has [0, 4)",
		"tensors[1] \"b\" has [0, 4)", "tensors[2] \"c\" has [0, 4)",
		"tensors[2] \"c\" has [0, 4)" };
	const size_t n = sizeof header - 1;
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_source *source;
	uint8_t file[MOST] = { 0 };

	(void)state;
	ckpt_store_u64(file, n);
	memcpy(file + 8, header, n);
	source = ckpt_source_memory(file, 8 + n + 6);
	assert_true(run && source);
	source->name = "x.safetensors";
	ckpt_verify(run, source);
	assert_int_equal(ckpt_run_finding_count(run), COUNT(before));
	for (size_t i = 0; i < COUNT(before); i++)
		if (!strstr(ckpt_run_finding(run, i)->note, before[i]))
			fail_msg("%s: %s", before[i],
				ckpt_run_finding(run, i)->note);
	ckpt_source_close(source);
	ckpt_run_free(run);
}

/* More than are listed: they are no errors of another kind. */
static void
test_order_of_many_unknown_dtypes(void **state)
{
	enum { MANY = CKPT_DIAGS_PER_RULE + 1 };

	(void)state;
	for (size_t trailing = 0; trailing < 2; trailing++) {
		struct ckpt_run *run = ckpt_run_new(NULL);
		struct ckpt_source *source;
		struct ckpt_buf file = { 0 };

		ckpt_buf_add(&file, "01234567{", 9);
		for (int i = 0; i < MANY; i++)
			ckpt_buf_printf(&file,
				"%s\"n%d\":{\"dtype\":\"X\",\"shape\":[0],"
				"\"data_offsets\":[0,0]}",
				i ? "," : "", i);
		ckpt_buf_puts(&file, "}");
		ckpt_store_u64((uint8_t *)file.p, file.n - 8);
		ckpt_buf_add(&file, "!", trailing);
		source = ckpt_source_memory(file.p, file.n);
		assert_true(run && source);
		source->name = "x.safetensors";
		assert_int_equal(ckpt_verify(run, source),
			trailing ? CKPT_INVALID : CKPT_UNSUPPORTED);
		assert_string_equal(ckpt_run_primary(run)->rule->id,
			trailing ? "CK1107" : "CK2128");
		ckpt_source_close(source);
		ckpt_run_free(run);
		ckpt_buf_release(&file);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_of_faults_of_the_text),
		cmocka_unit_test(test_order_of_repeats),
		cmocka_unit_test(test_order_of_names_with_one_hash),
		cmocka_unit_test(test_order_of_what_is_replaced),
		cmocka_unit_test(test_order_of_sizes),
		cmocka_unit_test(test_order_of_places),
		cmocka_unit_test(test_order_names_the_one_before),
		cmocka_unit_test(test_order_of_many_unknown_dtypes),
	};

	return cmocka_run_group_tests_name(
		"safetensors order", tests, NULL, NULL);
}
