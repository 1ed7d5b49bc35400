/* SPDX-License-Identifier: MIT */
/*
 * Indexes and their shards: each rule beside what it must stay silent about.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sets/set.h"
#include "support/set_folder.h"

#define INDEX     "model.safetensors.index.json"
#define MAP(body) "{\"weight_map\":{" body "}}"
#define ONE       "m-1.safetensors"
#define TWO       "m-2.safetensors"
#define AB        MAP("\"a\":\"" ONE "\",\"b\":\"" TWO "\"")
#define SIZED(n)                                                               \
	"{\"metadata\":{\"total_size\":" n "},\"weight_map\":{\"a\":\"" ONE    \
	"\",\"b\":\"" TWO "\"}}"
#define POINTER                                                                \
	"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"

/* ---- Indexes ------------------------------------------------------------ */

static const struct set_sample indexes[] = {
	{ "two shards", CKPT_VALID, "",
		{ INDEX, AB, ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "not JSON", CKPT_INVALID, "CK6004", { INDEX, "{\"weight_map\":" } },
	{ "empty file", CKPT_INVALID, "CK6004", { INDEX, "" } },
	{ "a pointer of Git LFS", CKPT_INVALID, "CK6003", { INDEX, POINTER } },
	{ "NaN where nobody looks", CKPT_VALID, "",
		{ INDEX,
			"{\"metadata\":{\"x\":[NaN,-Infinity,1e999,"
			"\"\\ud800\"]},\"weight_map\":{\"a\":\"" ONE "\"}}",
			ONE, "=a F32 4" } },
	{ "a tensor twice", CKPT_INVALID, "CK6005",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"\\u0061\":\"" ONE "\""), ONE,
			"=a F32 4" } },
	{ "a key of metadata twice", CKPT_INVALID, "CK6005",
		{ INDEX,
			"{\"metadata\":{\"k\":1,\"k\":1},\"weight_map\":"
			"{\"a\":\"" ONE "\"}}",
			ONE, "=a F32 4" } },
	{ "no map", CKPT_INVALID, "CK6006", { INDEX, "{\"metadata\":{}}" } },
	{ "no object", CKPT_INVALID, "CK6006", { INDEX, "[1]" } },
	{ "empty map", CKPT_INVALID, "CK6006", { INDEX, MAP("") } },
	{ "map of another type", CKPT_INVALID, "CK6006",
		{ INDEX, "{\"weight_map\":[\"" ONE "\"]}" } },
	{ "a shard that is no string", CKPT_INVALID, "CK6006",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"b\":1"), ONE, "=a F32 4" } },
	{ "up", CKPT_INVALID, "CK6007",
		{ INDEX, MAP("\"a\":\"../x.safetensors\"") } },
	{ "up in the middle", CKPT_INVALID, "CK6007",
		{ INDEX, MAP("\"a\":\"d/../../x.safetensors\"") } },
	{ "up with backslashes", CKPT_INVALID, "CK6007",
		{ INDEX, MAP("\"a\":\"d\\\\..\\\\x.safetensors\"") } },
	{ "absolute", CKPT_INVALID, "CK6007",
		{ INDEX, MAP("\"a\":\"/etc/passwd\"") } },
	{ "what leads out names nothing inside", CKPT_INVALID,
		"CK6007 CK6008 CK6023",
		{ INDEX, MAP("\"a\":\"/" ONE "\""), ONE, "=a F32 4" } },
	{ "beside what leads out", CKPT_INVALID, "CK6007 CK6007",
		{ INDEX, MAP("\"a\":\"/a\",\"b\":\"/b\",\"c\":\"" ONE "\""),
			ONE, "=c F32 4" } },
	{ "hidden folders", CKPT_VALID, "",
		{ ".x/", "", INDEX, MAP("\"a\":\".x/m.safetensors\""),
			".x/m.safetensors", "=a F32 4" } },
	{ "absolute, elsewhere", CKPT_INVALID, "CK6007",
		{ INDEX, MAP("\"a\":\"C:/x.safetensors\"") } },
	{ "dots that are a name", CKPT_VALID, "",
		{ INDEX, MAP("\"a\":\"./...safetensors\""), "...safetensors",
			"=a F32 4" } },
	{ "in a folder below", CKPT_VALID, "",
		{ "d/", "", INDEX, MAP("\"a\":\"d/x.safetensors\""),
			"d/x.safetensors", "=a F32 4" } },
	{ "a shard is missing", CKPT_INVALID, "CK6009",
		{ INDEX, AB, ONE, "=a F32 4" } },
	{ "a shard leads nowhere", CKPT_INVALID, "CK6009",
		{ INDEX, AB, ONE, "=a F32 4", TWO, "@nowhere" } },
	{ "a shard is a folder", CKPT_INVALID, "CK6009",
		{ INDEX, AB, ONE, "=a F32 4", TWO "/", "" } },
	{ "a shard without a name", CKPT_INVALID, "CK6009",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"b\":\"\""), ONE,
			"=a F32 4" } },
	{ "a shard with a NUL in its name", CKPT_INVALID, "CK6009",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"b\":\"" ONE "\\u0000x\""),
			ONE, "=a F32 4" } },
	{ "no shard, but other weights", CKPT_INVALID,
		"CK6008 CK6009 CK6009 CK6023",
		{ INDEX, AB, "model.safetensors", "=a F32 4" } },
	{ "no shard, and a resume file", CKPT_INVALID, "CK6009 CK6009 CK6025",
		{ INDEX, AB, "optimizer.safetensors", "=a F32 4" } },
	{ "an empty shard", CKPT_INVALID, "CK6010",
		{ INDEX, AB, ONE, "=a F32 4", TWO, "" } },
	{ "a pointer for a shard", CKPT_INVALID, "CK6010",
		{ INDEX, AB, ONE, "=a F32 4", TWO, POINTER } },
	{ "a cut shard", CKPT_INVALID, "CK6010",
		{ INDEX, AB, ONE, "=a F32 4", TWO, "\2{" } },
	{ "shards of another format", CKPT_VALID, "",
		{ "pytorch_model.bin.index.json",
			MAP("\"a\":\"p-1.bin\",\"b\":\"p-2.bin\""), "p-1.bin",
			"some pickle", "p-2.bin", "another" } },
	{ "an empty one of them", CKPT_INVALID, "CK6011",
		{ "pytorch_model.bin.index.json",
			MAP("\"a\":\"p-1.bin\",\"b\":\"p-2.bin\""), "p-1.bin",
			"some pickle", "p-2.bin", "" } },
	{ "a pointer for one of them", CKPT_INVALID, "CK6003",
		{ "pytorch_model.bin.index.json", MAP("\"a\":\"p-1.bin\""),
			"p-1.bin", POINTER } },
	{ "a tensor that no shard has", CKPT_INVALID, "CK6012",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"c\":\"" ONE "\""), ONE,
			"=a F32 4" } },
	{ "a tensor in the other shard", CKPT_INVALID, "CK6012 CK6021",
		{ INDEX,
			MAP("\"a\":\"" ONE "\",\"b\":\"" ONE "\",\"c\":\"" TWO
			    "\""),
			ONE, "=a F32 4", TWO, "=b F32 4;c F32 4" } },
	{ "a tensor that it does not know", CKPT_VALID, "CK6021",
		{ INDEX, AB, ONE, "=a F32 4;c F32 4", TWO, "=b F32 4" } },
	{ "a tensor that both have", CKPT_VALID, "CK6021",
		{ INDEX, AB, ONE, "=a F32 4;b F32 4", TWO, "=b F32 4" } },
	{ "a file that it does not name", CKPT_VALID, "CK6023",
		{ INDEX, AB, ONE, "=a F32 4", TWO, "=b F32 4", "x.safetensors",
			"=a F32 4" } },
	{ "two indexes name all", CKPT_VALID, "",
		{ "a.index.json", MAP("\"a\":\"" ONE "\""), "b.index.json",
			MAP("\"b\":\"" TWO "\""), ONE, "=a F32 4", TWO,
			"=b F32 4" } },
	{ "an index by its contents", CKPT_INVALID, "CK6009",
		{ "map.json", AB, ONE, "=a F32 4" } },
	{ "the word in other JSON", CKPT_VALID, "",
		{ "notes.json", "{\"x\":{\"weight_map\":{}}}", ONE,
			"=a F32 4" } },
	{ "unknown dtype", CKPT_UNSUPPORTED, "",
		{ INDEX, MAP("\"a\":\"" ONE "\""), ONE, "=a X9 4" } },
	{ "its list of tensors is believed", CKPT_UNSUPPORTED, "CK6012",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"c\":\"" ONE "\""), ONE,
			"=a X9 4" } },
	{ "that of a cut shard is not", CKPT_INVALID, "CK6010",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"b\":\"" TWO "\""), ONE,
			"!a F32 4;c F32 4", TWO, "=b F32 4" } },
	{ "three shards", CKPT_VALID, "",
		{ INDEX,
			MAP("\"a\":\"" ONE "\",\"b\":\"" TWO
			    "\",\"c\":\"x.safetensors\""),
			ONE, "=a F32 4", TWO, "=b F32 4", "x.safetensors",
			"=c F32 4" } },
	{ "of a tensor twice the last counts", CKPT_INVALID, "CK6005 CK6023",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"a\":\"" TWO "\""), ONE,
			"=c F32 4", TWO, "=a F32 4" } },
	{ "an index by its contents of another format", CKPT_VALID, "",
		{ "map.json", MAP("\"a\":\"x.bin\""), "x.bin", "pickle" } },
	{ "an index leads nowhere", CKPT_NOT_VERIFIED, "CK9001",
		{ INDEX, "@nowhere", ONE, "=a F32 4" } },
	{ "what is named leads nowhere, told once", CKPT_INVALID, "CK6009",
		{ "pytorch_model.bin.index.json",
			MAP("\"a\":\"pytorch_model-1.bin\""),
			"pytorch_model-1.bin", "@nowhere" } },
};

#define NAMED(name)                                                            \
	{                                                                      \
		INDEX, MAP("\"a\":\"" name "\"")                               \
	}

/* Names that lead out of the folder on any system (CK6007), and such as only
 * look like them. */
static const struct set_sample names[] = {
	{ "up", CKPT_INVALID, "CK6007", NAMED("..") },
	{ "up at last", CKPT_INVALID, "CK6007", NAMED("d/..") },
	{ "a drive", CKPT_INVALID, "CK6007", NAMED("a:/x.bin") },
	{ "the last drive", CKPT_INVALID, "CK6007", NAMED("Z:/x.bin") },
	{ "a drive and a backslash", CKPT_INVALID, "CK6007",
		NAMED("C:\\\\x.bin") },
	{ "a backslash", CKPT_INVALID, "CK6007", NAMED("\\\\x.bin") },
	{ "a digit is no drive", CKPT_INVALID, "CK6009", NAMED("1:/x.bin") },
	{ "a grave accent is none", CKPT_INVALID, "CK6009", NAMED("`:/x.bin") },
	{ "a brace is none", CKPT_INVALID, "CK6009", NAMED("{:/x.bin") },
	{ "a drive alone", CKPT_INVALID, "CK6009", NAMED("c:") },
	{ "a colon", CKPT_INVALID, "CK6009", NAMED("c:x.bin") },
	{ "two letters", CKPT_INVALID, "CK6009", NAMED("ab/x.bin") },
	{ "one letter", CKPT_INVALID, "CK6009", NAMED("x") },
	{ "a dot behind", CKPT_INVALID, "CK6009", NAMED("x./y.bin") },
	{ "a dot in front", CKPT_INVALID, "CK6009", NAMED(".x/y.bin") },
	{ "three dots", CKPT_INVALID, "CK6009", NAMED(".../y.bin") },
	{ "nothing", CKPT_INVALID, "CK6009", NAMED("") },
};

static void
test_sets_indexes(void **state)
{
	(void)state;
	SET_SAMPLES_CHECK(indexes, NULL);
	SET_SAMPLES_CHECK(names, NULL);
}

static const struct set_sample sizes[] = {
	{ "right", CKPT_VALID, "",
		{ INDEX, SIZED("32"), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "a float", CKPT_VALID, "",
		{ INDEX, SIZED("32.0"), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "an exponent", CKPT_VALID, "",
		{ INDEX, SIZED("3.2e1"), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "one off", CKPT_VALID, "CK6022",
		{ INDEX, SIZED("33"), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "a fraction", CKPT_VALID, "CK6022",
		{ INDEX, SIZED("32.5"), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "a text", CKPT_VALID, "CK6022",
		{ INDEX, SIZED("\"32\""), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "a text where there are no bytes", CKPT_VALID, "CK6022",
		{ INDEX, SIZED("\"0\""), ONE, "=a F32 0", TWO, "=b F32 0" } },
	{ "no bytes", CKPT_VALID, "",
		{ INDEX, SIZED("0"), ONE, "=a F32 0", TWO, "=b F32 0" } },
	{ "NaN", CKPT_VALID, "CK6022",
		{ INDEX, SIZED("NaN"), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "negative", CKPT_VALID, "CK6022",
		{ INDEX, SIZED("-32"), ONE, "=a F32 4", TWO, "=b F32 4" } },
	{ "2^64 more", CKPT_VALID, "CK6022",
		{ INDEX, SIZED("18446744073709551648"), ONE, "=a F32 4", TWO,
			"=b F32 4" } },
	{ "all in the shards", CKPT_VALID, "CK6021",
		{ INDEX, SIZED("36"), ONE, "=a F32 4;c F32 1", TWO,
			"=b F32 4" } },
	{ "the indexed ones only", CKPT_VALID, "CK6021",
		{ INDEX, SIZED("32"), ONE, "=a F32 4;c F32 1", TWO,
			"=b F32 4" } },
	{ "neither", CKPT_VALID, "CK6021 CK6022",
		{ INDEX, SIZED("34"), ONE, "=a F32 4;c F32 1", TWO,
			"=b F32 4" } },
	{ "not with a bad shard", CKPT_INVALID, "CK6010",
		{ INDEX, SIZED("34"), ONE, "=a F32 4", TWO, "?" } },
	{ "not with a dtype that nobody knows", CKPT_UNSUPPORTED, "",
		{ INDEX,
			"{\"metadata\":{\"total_size\":1},\"weight_map\":"
			"{\"a\":\"" ONE "\"}}",
			ONE, "=a X9 4" } },
	{ "not with another format", CKPT_VALID, "",
		{ INDEX,
			"{\"metadata\":{\"total_size\":1},\"weight_map\":"
			"{\"a\":\"p.bin\"}}",
			"p.bin", "pickle" } },
	{ "nor if it is one of the shards", CKPT_VALID, "",
		{ INDEX,
			"{\"metadata\":{\"total_size\":1},\"weight_map\":"
			"{\"a\":\"p.bin\",\"b\":\"" TWO "\"}}",
			"p.bin", "pickle", TWO, "=b F32 4" } },
};

static void
test_sets_total_size(void **state)
{
	(void)state;
	SET_SAMPLES_CHECK(sizes, NULL);
}

/* An index given by name is itself and its shards, and nothing else. */
static const struct set_sample alone[] = {
	{ "strays", CKPT_VALID, "",
		{ INDEX, AB, ONE, "=a F32 4", TWO, "=b F32 4", "x.safetensors",
			"?", "config.json", "{", "y.safetensors.tmp", "?" } },
	{ "stale", CKPT_INVALID, "CK6008 CK6009 CK6009",
		{ INDEX, AB, "x.safetensors", "=a F32 4" } },
	{ "bad", CKPT_INVALID, "CK6004", { INDEX, "?" } },
	{ "another format", CKPT_INVALID, "CK6011",
		{ INDEX, MAP("\"a\":\"pytorch_model-1.bin\""),
			"pytorch_model-1.bin", "" } },
	{ "state and tokenizers beside it", CKPT_VALID, "",
		{ INDEX, AB, ONE, "=a F32 4", TWO, "=b F32 4", "optimizer.pt",
			"x", "vocab.json", "{" } },
	{ "nowhere", CKPT_NOT_VERIFIED, "CK9001", { NULL } },
};

static void
test_sets_index_alone(void **state)
{
	(void)state;
	SET_SAMPLES_CHECK(alone, INDEX);
}

static void
test_sets_know_an_index(void **state)
{
	static const struct {
		const char *name, *text;
		bool index;
	} files[] = { { "x.index.json", "?", true },
		{ "x.json", " \n" AB, true }, { "x.txt", AB, true },
		{ "x.json", "{\"a\":{\"weight_map\":{}}}", false },
		{ "x.json", "{\"weight_map\":{}", false },
		{ "x.json", "[\"weight_map\"]", false }, { "x", "", false } };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *pairs[] = { files[i].name, files[i].text, NULL };
		struct set_folder folder;
		char path[128];

		set_folder_make(&folder, pairs);
		snprintf(path, sizeof path, "%s/%s", folder.path, pairs[0]);
		assert_int_equal(ckpt_set_is_index(path, 0), files[i].index);
		set_folder_remove(&folder);
	}
}

/* The word is looked for block by block; none may hide it. */
static void
test_sets_know_a_large_index(void **state)
{
	static const char tail[] = "\"weight_map\":{}}";
	enum { BLOCK = 16 * 1024 };
	static char text[2 * BLOCK];
	const char *pairs[] = { "x.json", text, NULL };

	(void)state;
	for (size_t at = BLOCK - sizeof tail; at < BLOCK + 2; at++) {
		struct set_folder folder;
		char path[128];

		memset(text, ' ', at);
		text[0] = '{';
		memcpy(text + at, tail, sizeof tail);
		set_folder_make(&folder, pairs);
		snprintf(path, sizeof path, "%s/x.json", folder.path);
		assert_true(ckpt_set_is_index(path, 0));
		set_folder_remove(&folder);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets_indexes),
		cmocka_unit_test(test_sets_total_size),
		cmocka_unit_test(test_sets_index_alone),
		cmocka_unit_test(test_sets_know_an_index),
		cmocka_unit_test(test_sets_know_a_large_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
