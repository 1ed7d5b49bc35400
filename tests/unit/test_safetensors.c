/* SPDX-License-Identifier: MIT */
/*
 * The safetensors driver beyond its corpus: what the format's own loader
 * takes, headers broken in every place and cut at every length, the same
 * answer however the bytes arrive, and agreement with jansson about what a
 * header says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/safetensors.h"
#include "format/safetensors_dtype.h"
#include "support/judged.h"

/* A file with this header and n bytes of data, all 1. Owned by the caller. */
static uint8_t *
file_of(const char *header, size_t len, size_t n, size_t *size)
{
	uint8_t *bytes = malloc(8 + len + n);

	assert_non_null(bytes);
	ckpt_store_u64(bytes, len);
	memcpy(bytes + 8, header, len);
	memset(bytes + 8 + len, 1, n);
	*size = 8 + len + n;
	return bytes;
}

static enum ckpt_verdict
judge(struct ckpt_run **run, enum ckpt_profile profile, const char *header,
	size_t n)
{
	struct ckpt_options options = { .profile = profile };
	struct ckpt_source *source;
	enum ckpt_verdict verdict;
	size_t size;
	uint8_t *bytes = file_of(header, strlen(header), n, &size);

	*run = ckpt_run_new(&options);
	source = ckpt_source_memory(bytes, size);
	assert_true(*run && source);
	source->name = "x.safetensors";
	verdict = ckpt_verify(*run, source);
	ckpt_source_close(source);
	free(bytes);
	return verdict;
}

/* ---- The format's own loader -------------------------------------------- */

#define W "\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"
#define W_AT(b, e)                                                             \
	"{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" b "," e "]}"
#define OPEN10  "[[[[[[[[[["
#define CLOSE10 "]]]]]]]]]]"
#define OPEN120                                                                \
	OPEN10 OPEN10 OPEN10 OPEN10 OPEN10 OPEN10 OPEN10 OPEN10 OPEN10 OPEN10  \
		OPEN10 OPEN10
#define CLOSE120                                                               \
	CLOSE10 CLOSE10 CLOSE10 CLOSE10 CLOSE10 CLOSE10 CLOSE10 CLOSE10        \
		CLOSE10 CLOSE10 CLOSE10 CLOSE10
/* Two levels are there already. */
#define DEEP(open, close)                                                      \
	"{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"      \
	"\"x\":" open close "}}"

static const struct {
	const char *header;
	size_t n;
	enum ckpt_verdict reference, strict;
} profiles[] = {
	{ "{" W "}", 4, CKPT_VALID, CKPT_VALID },
	/* The last of two names counts. */
	{ "{" W "," W "}", 4, CKPT_VALID, CKPT_INVALID },
	{ "{\"w\":" W_AT("4", "8") "," W "}", 4, CKPT_VALID, CKPT_INVALID },
	{ "{\"w\":" W_AT("9", "2") "," W "}", 4, CKPT_VALID, CKPT_INVALID },
	{ "{" W ",\"w\":" W_AT("4", "8") "}", 8, CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[7],\"data_offsets\":[0,4]}," W
	  "}",
		4, CKPT_VALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":\"X\",\"shape\":[1],\"data_offsets\":[0,4]}," W
	  "}",
		4, CKPT_UNSUPPORTED, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}," W "}", 4, CKPT_INVALID,
		CKPT_INVALID },
	{ "{\"\\u0077\":" W_AT("4", "8") "," W "}", 4, CKPT_VALID,
		CKPT_INVALID },
	/* Metadata. */
	{ "{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}," W "}", 4, CKPT_VALID,
		CKPT_INVALID },
	{ "{\"__metadata__\":{},\"__metadata__\":{}," W "}", 4, CKPT_INVALID,
		CKPT_INVALID },
	{ "{\"__metadata__\":{\"a\":null}," W "}", 4, CKPT_INVALID,
		CKPT_INVALID },
	/* Fields. */
	{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"
	  "\"x\":1,\"x\":2}}",
		4, CKPT_VALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],"
	  "\"data_offsets\":[0,4]}}",
		4, CKPT_INVALID, CKPT_INVALID },
	{ DEEP("[[[[[[[", "]]]]]]]"), 4, CKPT_VALID, CKPT_INVALID },
	{ DEEP("[[[[[[", "]]]]]]"), 4, CKPT_VALID, CKPT_VALID },
	{ DEEP(OPEN120 "[[[[[", "]]]]]" CLOSE120), 4, CKPT_VALID,
		CKPT_INVALID },
	{ DEEP(OPEN120 "[[[[[[", "]]]]]]" CLOSE120), 4, CKPT_INVALID,
		CKPT_INVALID },
	/* Other ways to write a tensor. */
	{ "{\"w\":[\"F32\",[1],[0,4]]}", 4, CKPT_VALID, CKPT_INVALID },
	{ "{\"w\":[\"F32\",[1],[0,4],0]}", 4, CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":[\"F32\",[1]]}", 4, CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":[[1],\"F32\",[0,4]]}", 4, CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":{\"F32\":null},\"shape\":[1],"
	  "\"data_offsets\":[0,4]}}",
		4, CKPT_VALID, CKPT_INVALID },
	{ "{\"w\":[{\"F32\":null},[1],[0,4]]}", 4, CKPT_VALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":{\"F32\":1},\"shape\":[1],"
	  "\"data_offsets\":[0,4]}}",
		4, CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":{\"F32\":null,\"F16\":null},\"shape\":[1],"
	  "\"data_offsets\":[0,4]}}",
		4, CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":{},\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
		CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
		CKPT_UNSUPPORTED, CKPT_UNSUPPORTED },
	{ "{\"w\":{\"dtype\":\"\",\"shape\":[],\"data_offsets\":[0,0]}}", 0,
		CKPT_INVALID, CKPT_INVALID },
	{ "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-0,4]}}",
		4, CKPT_INVALID, CKPT_INVALID },
	{ " \n{" W "} ", 4, CKPT_VALID, CKPT_VALID },
	{ "{}", 0, CKPT_VALID, CKPT_VALID },
	{ "{}", 1, CKPT_INVALID, CKPT_INVALID },
	{ "[]", 0, CKPT_INVALID, CKPT_INVALID },
};

static void
test_safetensors_profiles(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
		struct ckpt_run *reference, *strict;
		enum ckpt_verdict a = judge(&reference, CKPT_PROFILE_REFERENCE,
			profiles[i].header, profiles[i].n);
		enum ckpt_verdict b = judge(&strict, CKPT_PROFILE_STRICT,
			profiles[i].header, profiles[i].n);

		if (a != profiles[i].reference || b != profiles[i].strict)
			fail_msg("%s: %s by the loader, %s by us",
				profiles[i].header, ckpt_verdict_name(a),
				ckpt_verdict_name(b));
		/* Never a word but for what the loader refuses. */
		if (a == CKPT_VALID)
			assert_int_equal(ckpt_run_finding_count(reference), 0);
		ckpt_run_free(reference);
		ckpt_run_free(strict);
	}
}

/* ---- Broken in every place ---------------------------------------------- */

static const struct {
	const char *header;
	size_t n;
} small[] = {
	{ "{\"__metadata__\":{\"format\":\"pt\"}," W "}  ", 4 },
	{ "{\"b\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[4,16]},"
	  "\"\\u0061\":" W_AT("0", "4") ",\"e\":{\"dtype\":\"U8\",\"shape\":"
					"[0],\"data_offsets\":[16,16]}}",
		16 },
	{ "{\"m\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2],"
	  "\"x\":{\"y\":[1,2.5e3,{\"z\":null}]}}}",
		2 },
	{ "{\"__metadata__\":{\"a\":\"\\ud83d\\ude00\",\"\":\"\xc3\xa9\"}}",
		0 },
	{ "\t{ \"w\" : { \"data_offsets\" : [ 0 , 8 ] , \"shape\" : [ ] , "
	  "\"dtype\" : \"C64\" } }\r\n",
		8 },
};

enum { SMALL = sizeof small / sizeof small[0] };

/* A verdict, and a reason for it; of what is wrong with the header also the
 * bytes, unless it ends too early. */
static void
expect_explained(const char *name, const uint8_t *bytes, size_t n)
{
	struct judged j;

	judged_named(&j, name, bytes, n);
	assert_int_not_equal(j.verdict, CKPT_NOT_VERIFIED);
	assert_int_equal(
		j.verdict == CKPT_VALID, ckpt_run_primary(j.run) == NULL);
	for (size_t i = 0; i < ckpt_run_finding_count(j.run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(j.run, i);

		assert_true(d->off <= n);
		assert_true(d->len <= n - d->off);
		if (strncmp(d->rule->id, "CK2", 3) == 0 ||
			strncmp(d->rule->id, "CK3", 3) == 0)
			assert_true(d->len > 0 ||
				    strcmp(d->rule->id, "CK2113") == 0);
	}
	judged_free(&j);
}

static void
test_safetensors_every_byte_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < SMALL; i++) {
		size_t size;
		uint8_t *bytes = file_of(small[i].header,
			strlen(small[i].header), small[i].n, &size);

		for (size_t at = 0; at < size; at++) {
			uint8_t was = bytes[at];

			for (int b = 0; b < 256; b++) {
				bytes[at] = (uint8_t)b;
				expect_explained("x.safetensors", bytes, size);
			}
			bytes[at] = was;
		}
		free(bytes);
	}
}

/* Every proper prefix is cut: in the length, in the header, in the data. */
static void
test_safetensors_every_prefix(void **state)
{
	(void)state;
	for (size_t i = 0; i < SMALL; i++) {
		size_t size, len = strlen(small[i].header);
		uint8_t *bytes =
			file_of(small[i].header, len, small[i].n, &size);

		for (size_t n = 0; n < size; n++) {
			const char *want = n < 8         ? "CK1101"
					   : n < 8 + len ? "CK1103"
							 : "CK1106";
			struct judged j;

			judged_named(&j, "x.safetensors", bytes, n);
			assert_int_equal(j.verdict, CKPT_INVALID);
			assert_string_equal(judged_primary(&j), want);
			judged_free(&j);
		}
		free(bytes);
	}
}

/* A pipe and a file, in pieces of any size: the same findings. */
static void
test_safetensors_however_bytes_arrive(void **state)
{
	static const size_t most[] = { 1, 3, 7, 4096 };

	(void)state;
	for (size_t i = 0; i < SMALL; i++)
		for (int cut = 0; cut < 3; cut++) {
			size_t size;
			uint8_t *bytes = file_of(small[i].header,
				strlen(small[i].header),
				small[i].n + (cut == 2), &size);
			struct judged whole;
			char *want;

			size -= cut == 1 && small[i].n > 0;
			judged_bytes(&whole, bytes, size);
			want = judged_log(&whole);
			for (size_t k = 0; k < 8; k++) {
				struct judged slow;
				char *got;

				judged_slowly(&slow, bytes, size, most[k % 4],
					k >= 4, UINT64_MAX);
				got = judged_log(&slow);
				assert_string_equal(got, want);
				free(got);
				judged_free(&slow);
			}
			free(want);
			judged_free(&whole);
			free(bytes);
		}
}

/* ---- What a header says, against jansson -------------------------------- */

static void
agree_tensor(const struct safetensors_tensor *t, json_t *root)
{
	char *name = strndup((const char *)t->name.p, t->name.n);
	json_t *record = json_object_get(root, name);
	json_t *shape = json_object_get(record, "shape");
	json_t *range = json_object_get(record, "data_offsets");

	assert_non_null(record);
	if (t->dtype)
		assert_string_equal(
			json_string_value(json_object_get(record, "dtype")),
			t->dtype->name);
	assert_int_equal(json_array_size(shape), t->shape.n);
	for (uint32_t i = 0; i < t->shape.n; i++)
		assert_int_equal(json_integer_value(json_array_get(shape, i)),
			SAFETENSORS_SHAPE(t)[i]);
	assert_int_equal(
		json_integer_value(json_array_get(range, 0)), t->begin);
	assert_int_equal(json_integer_value(json_array_get(range, 1)), t->end);
	free(name);
}

/* Whether what jansson cannot hold stands in the text. */
static bool
has_holes(const char *text, size_t n)
{
	size_t digits = 0;

	for (size_t i = 0; i < n; i++) {
		digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
		if (digits >= 19 ||
			(i + 6 <= n && memcmp(text + i, "\\u0000", 6) == 0))
			return true;
	}
	return false;
}

static void
compare(const char *header, size_t len, size_t n, unsigned long seen[2])
{
	size_t size;
	uint8_t *bytes = file_of(header, len, n, &size);
	const struct safetensors_file *file;
	json_t *root = json_loadb(
		header, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	struct judged j;
	bool syntax = true;

	judged_named(&j, "x.safetensors", bytes, size);
	for (size_t i = 0; i < ckpt_run_finding_count(j.run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(j.run, i);

		syntax &= d->rule->severity != CKPT_ERROR ||
			  strncmp(d->rule->id, "CK2", 3) != 0;
	}
	file = j.run->decoded;
	if (!root && syntax && !has_holes(header, len))
		fail_msg("jansson alone rejects %.*s", (int)len, header);
	seen[root == NULL]++;
	if (root && syntax) {
		assert_int_equal(file->tensors.n,
			json_object_size(root) -
				(json_object_get(root, "__metadata__") !=
					NULL));
		for (uint32_t i = 0; i < file->tensors.n; i++)
			agree_tensor(&SAFETENSORS_TENSORS(file)[i], root);
	}
	json_decref(root);
	judged_free(&j);
	free(bytes);
}

static void
test_safetensors_agrees_with_jansson(void **state)
{
	unsigned long seen[2] = { 0 };
	uint64_t x = 3;

	(void)state;
	for (size_t i = 0; i < SMALL; i++) {
		size_t len = strlen(small[i].header);
		char text[512];

		for (size_t at = 0; at < len; at++)
			for (int b = 1; b < 256; b++) {
				memcpy(text, small[i].header, len);
				text[at] = (char)b;
				compare(text, len, small[i].n, seen);
			}
		for (int round = 0; round < 4000; round++) {
			size_t from, to, k, m = len;

			/* A piece of it stands elsewhere once more. */
			x = x * 6364136223846793005u + 1442695040888963407u;
			from = (x >> 33) % len;
			k = (x >> 20) % (len - from) + 1;
			k = k > 60 ? 60 : k;
			to = (x >> 45) % len;
			memcpy(text, small[i].header, to);
			memcpy(text + to, small[i].header + from, k);
			memcpy(text + to + k, small[i].header + to, len - to);
			m += k;
			compare(text, m, small[i].n, seen);
		}
	}
	assert_true(seen[0] > 10000);
	assert_true(seen[1] > 10000);
}

/* ---- Many --------------------------------------------------------------- */

static void
test_safetensors_repeats_among_many(void **state)
{
	enum { MANY = 20000 };
	char *header = malloc(MANY * 70), *p = header;
	struct ckpt_run *run;
	const struct ckpt_diag *d;

	(void)state;
	assert_non_null(header);
	*p++ = '{';
	for (int i = 0; i < MANY; i++) {
		/* The last has the name of number 12345, written otherwise. */
		int n = i == MANY - 1 ? 12345 : i;

		p += sprintf(p,
			"%s\"%c%d\":{\"dtype\":\"U8\",\"shape\":[],"
			"\"data_offsets\":[%d,%d]}",
			i ? "," : "", 'w', n * 7919 % MANY, i, i + 1);
	}
	strcpy(p, "}");
	assert_int_equal(
		judge(&run, CKPT_PROFILE_STRICT, header, MANY), CKPT_INVALID);
	assert_int_equal(ckpt_run_finding_count(run), 1);
	d = ckpt_run_primary(run);
	assert_string_equal(d->rule->id, "CK2115");
	assert_string_equal(d->path, "tensors[19999].name");
	assert_non_null(strstr(d->found.p, "tensors[12345]"));
	ckpt_run_free(run);
	assert_int_equal(judge(&run, CKPT_PROFILE_REFERENCE, header, MANY),
		CKPT_INVALID); /* a gap where the first was */
	assert_string_equal(ckpt_run_primary(run)->rule->id, "CK3106");
	ckpt_run_free(run);
	free(header);
}

/* What a file only declares takes no memory, nor does what it has no room
 * for. */
static void
test_safetensors_declared_is_not_allocated(void **state)
{
	static const uint8_t declared[] = { 0xff, 0xe0, 0xf5, 0x05, 0, 0, 0, 0,
		'{', '"', 'a', '"', ':' };

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		struct judged j;

		judged_slowly(&j, declared, sizeof declared, 7, pipe != 0,
			UINT64_MAX);
		assert_string_equal(judged_primary(&j), "CK1103");
		assert_in_range(j.run->arena.used, 1, 1024 * 1024);
		judged_free(&j);
	}
}

/* Any number of dimensions; only so many are kept. */
static void
test_safetensors_many_dimensions(void **state)
{
	enum { RANK = 100000 };
	char *header = malloc(2 * RANK + 100), *p = header;
	struct ckpt_run *run;
	const struct safetensors_tensor *t;

	(void)state;
	assert_non_null(header);
	p += sprintf(p, "{\"w\":{\"dtype\":\"U8\",\"shape\":[2");
	for (int i = 1; i < RANK; i++) {
		*p++ = ',';
		*p++ = '1';
	}
	strcpy(p, "],\"data_offsets\":[0,2]}}");
	assert_int_equal(
		judge(&run, CKPT_PROFILE_STRICT, header, 2), CKPT_VALID);
	t = SAFETENSORS_TENSORS((struct safetensors_file *)run->decoded);
	assert_int_equal(t->shape.declared, RANK);
	assert_int_equal(t->shape.n, SAFETENSORS_RANK_KEPT);
	assert_int_equal(t->elements, 2);
	ckpt_run_free(run);
	free(header);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_safetensors_profiles),
		cmocka_unit_test(test_safetensors_every_byte_changed),
		cmocka_unit_test(test_safetensors_every_prefix),
		cmocka_unit_test(test_safetensors_however_bytes_arrive),
		cmocka_unit_test(test_safetensors_agrees_with_jansson),
		cmocka_unit_test(test_safetensors_repeats_among_many),
		cmocka_unit_test(test_safetensors_declared_is_not_allocated),
		cmocka_unit_test(test_safetensors_many_dimensions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
