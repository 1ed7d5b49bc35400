/* SPDX-License-Identifier: MIT */
/*
 * What is said of a set, in full: where, what was expected and found, what
 * caused it; which rules there was nothing for, and why; what keeps a set from
 * being judged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sets/set_parts.h"
#include "support/set_folder.h"

#define INDEX     "model.safetensors.index.json"
#define MAP(body) "{\"weight_map\":{" body "}}"
#define ONE       "m-1.safetensors"
#define TWO       "m-2.safetensors"
#define AB        MAP("\"a\":\"" ONE "\",\"b\":\"" TWO "\"")
#define BOTH      ONE, "=a F32 4", TWO, "=b F32 4"
#define SIZED(n)                                                               \
	"{\"metadata\":{\"total_size\":" n "},\"weight_map\":{\"a\":\"" ONE    \
	"\",\"b\":\"" TWO "\"}}"
#define WEIGHTS "model.safetensors", "=a F32 4"
#define EMBED   "model.safetensors", "=model.embed_tokens.weight F32 8x4"

struct told {
	const char *what;
	const char *index; /* NULL: the folder */
	const char *text;
	const char *files[SET_FOLDER_WORDS];
};

typedef void writer(struct ckpt_buf *out, const struct ckpt_set *set);

static void
check(const struct told *list, size_t n, writer *write)
{
	for (size_t i = 0; i < n; i++) {
		struct set_folder folder;
		struct ckpt_buf out = { 0 };
		enum ckpt_verdict verdict;
		struct ckpt_set *set;

		set_folder_make(&folder, list[i].files);
		set = set_folder_open(&folder, list[i].index, &verdict);
		(void)ckpt_set_judge(set);
		write(&out, set);
		ckpt_set_free(set);
		set_folder_remove(&folder);
		if (strcmp(out.p ? out.p : "", list[i].text) != 0)
			fail_msg("%s:\n%s", list[i].what,
				out.p ? out.p : "nothing");
		ckpt_buf_release(&out);
	}
}

#define CHECK(list, write) check(list, sizeof(list) / sizeof(list)[0], write)

/* ---- Findings ----------------------------------------------------------- */

#define MAP_EXPECTED                                                           \
	" expected an object of strings, not empty, under \"weight_map\" "     \
	"found "

static const struct told findings[] = {
	{ "an index that is a list", NULL,
		"CK6006 " INDEX "@0:" MAP_EXPECTED "no object\n",
		{ INDEX, "[1]" } },
	{ "no map", NULL,
		"CK6006 " INDEX "@0:" MAP_EXPECTED "no \"weight_map\"\n",
		{ INDEX, "{\"metadata\":{}}" } },
	{ "an empty map", NULL,
		"CK6006 " INDEX "@2:" MAP_EXPECTED "an empty object\n",
		{ INDEX, "{ \"weight_map\":{}}" } },
	{ "a list for a map", NULL,
		"CK6006 " INDEX "@1:" MAP_EXPECTED "no object\n",
		{ INDEX, "{\"weight_map\":[\"x\"]}" } },
	{ "the first of those that are no strings", NULL,
		"CK6006 " INDEX "@15:" MAP_EXPECTED "\"b\" is no string\n",
		{ INDEX, MAP("\"b\":1,\"a\":\"" ONE "\",\"c\":{},\"d\":null"),
			ONE, "=a F32 4" } },
	{ "not JSON", NULL,
		"CK6004 " INDEX "@9: found it ends inside an object, at byte "
		"9\n",
		{ INDEX, "{\"a\":1,\n " } },
	{ "what cannot be read", NULL,
		"CK9001 " INDEX "@0: found No such file or directory\n"
		"CK9001 config.json@0: found No such file or directory\n",
		{ INDEX, "@nowhere", ONE, "=a F32 4", "config.json",
			"@nowhere" } },
	{ "what is there instead of a shard", NULL,
		"CK6009 " INDEX
		"@15: expected the file \"\" found no name of a "
		"file\n"
		"CK6009 " INDEX "@22: expected the file \"d\" found a folder\n"
		"CK6009 " INDEX "@30: expected the file \"l\" found a symbolic "
		"link to nothing\n"
		"CK6009 " INDEX "@38: expected the file \"n\"\n"
		"CK6009 " INDEX "@46: expected the file \"p\" found no regular "
		"file\n",
		{ INDEX,
			MAP("\"a\":\"\",\"b\":\"d\",\"c\":\"l\",\"d\":\"n\","
			    "\"e\":\"p\""),
			"d/", "", "l", "@nowhere", "p", "|" } },
	{ "another save", INDEX,
		"CK6008 " INDEX "@0: found \"x.safetensors\"\n"
		"CK6009 " INDEX "@15: expected the file \"" ONE "\" by CK6008\n"
		"CK6009 " INDEX "@37: expected the file \"" TWO
		"\" by CK6008\n",
		{ INDEX, AB, "x.safetensors", "=a F32 4" } },
	{ "where a tensor is instead", NULL,
		"CK6012 " INDEX "@15: expected \"b\" in \"" ONE
		"\" found in \"" TWO "\"\n"
		"CK6012 " INDEX "@37: expected \"x\" in \"" TWO
		"\" found in no file of the set\n"
		"CK6021 " ONE "@0: found \"a\" (it does not know it)\n"
		"CK6021 " TWO "@0: found \"b\" (it names another shard)\n",
		{ INDEX, MAP("\"b\":\"" ONE "\",\"x\":\"" TWO "\""), BOTH } },
	{ "a size without any other fault", NULL,
		"CK6022 " INDEX "@13: expected 32 bytes found 33\n",
		{ INDEX, SIZED("33"), BOTH } },
	{ "a size that is a text", NULL,
		"CK6022 " INDEX "@13: expected 32 bytes found no number\n",
		{ INDEX, SIZED("\"32\""), BOTH } },
	{ "a size because of a tensor", NULL,
		"CK6012 " INDEX "@43: expected \"a\" in \"" TWO
		"\" found in \"" ONE "\"\n"
		"CK6021 " ONE "@0: found \"a\" (it names another shard)\n"
		"CK6021 " TWO "@0: found \"z\" (it does not know it)\n"
		"CK6022 " INDEX "@13: expected 0 bytes (all in the shards: "
		"32) found 9 by CK6012\n",
		{ INDEX,
			"{\"metadata\":{\"total_size\":9},\"weight_map\":{"
			"\"a\":\"" TWO "\",\"c\":\"" ONE "\"}}",
			ONE, "=a F32 4;c F32 0", TWO, "=z F32 4" } },
	{ "the group with the most layers", NULL,
		"CK6029 config.json@0: expected 5 layers, numbered from 0 "
		"found at most 3 different numbers\n",
		{ "model.safetensors",
			"=a.h.0.w U8 1;a.h.1.w U8 1;a.h.2.w U8 1;b.h.0.w U8 1",
			"config.json", "{\"n_layer\":5}" } },
	{ "a vocabulary that is a list", NULL,
		"CK6033 vocab.json@0: found JSON, but no object\n",
		{ WEIGHTS, "vocab.json", "[]" } },
	{ "a torn one", NULL,
		"CK6033 vocab.json@1: found it ends inside an object, at byte "
		"1\n",
		{ WEIGHTS, "vocab.json", "{" } },
	{ "what training lacks", NULL,
		"CK6025 @0: found no optimizer file\n"
		"CK6025 @0: found no scheduler file\n"
		"CK6025 @0: found no file of random number states\n",
		{ WEIGHTS, "trainer_state.json",
			"{\"global_step\":1,\"max_steps\":2}" } },
	{ "folders, not files, by their numbers", NULL,
		"CK6040 @0: found 3, 20, 100\n",
		{ "100/", "", "20/", "", "3/", "", "50.txt", "x" } },
};

static void
test_reports_of_sets(void **state)
{
	(void)state;
	CHECK(findings, set_folder_findings);
}

/* Of very many folders the first hundred are named. */
static void
test_reports_of_many_folders(void **state)
{
	(void)state;
	for (unsigned n = 99; n <= 101; n++) {
		static char names[101][8];
		const char *files[2 * 101 + 1] = { NULL };
		struct ckpt_buf want = { 0 }, out = { 0 };
		struct set_folder folder;
		enum ckpt_verdict verdict;
		struct ckpt_set *set;

		ckpt_buf_puts(&want, "CK6040 @0: found ");
		for (unsigned i = 0; i < n; i++) {
			snprintf(names[i], sizeof names[i], "%u/", i);
			files[2 * i] = names[i];
			files[2 * i + 1] = "";
			if (i < 100)
				ckpt_buf_printf(
					&want, "%s%u", i ? ", " : "", i);
		}
		ckpt_buf_puts(&want, n == 101 ? ", 1 more\n" : "\n");
		set_folder_make(&folder, files);
		set = set_folder_open(&folder, NULL, &verdict);
		assert_int_equal(ckpt_set_judge(set), CKPT_VALID);
		set_folder_findings(&out, set);
		ckpt_set_free(set);
		set_folder_remove(&folder);
		assert_string_equal(out.p, want.p);
		ckpt_buf_release(&want);
		ckpt_buf_release(&out);
	}
}

/* ---- Rules that there was nothing for ----------------------------------- */

#define INDEXES                                                                \
	" CK6004 CK6005 CK6006 CK6007 CK6008 CK6009 CK6010 CK6012 CK6021 "     \
	"CK6022 CK6023\n"
#define SETTINGS " CK6027 CK6028 CK6029 CK6030 CK6031"
#define TOKENIZE " CK6032 CK6033\n"
#define NO_INDEX "there is no index:" INDEXES
#define WITHOUT_STRAYS                                                         \
	"there is no index: CK6004 CK6005 CK6006 CK6007 CK6008 CK6009 CK6010 " \
	"CK6012 CK6021 CK6022\n"
#define NOT_SAID "config.json does not say, or there is no such tensor:"
#define NO_LAYER                                                               \
	"config.json does not say, or no tensor is in a numbered layer: "      \
	"CK6029\n"
#define FOLDERS                                                                \
	" CK6001 CK6002 CK6013 CK6014 CK6023 CK6024 CK6025 CK6026" SETTINGS    \
	" CK6032 CK6033 CK6040\n"
#define NO_COMPARISON "not every shard is valid: CK6012 CK6021 CK6022\n"
#define NOT_ALL       "not every file of the set is valid:" SETTINGS TOKENIZE

static const struct told skipped[] = {
	{ "all there is to say", NULL, "",
		{ INDEX, SIZED("144"), ONE,
			"=a F32 4;m.h.0.embed_tokens.weight F32 4x8", TWO,
			"=b F32 0", "config.json",
			"{\"vocab_size\":4,\"hidden_size\":8,\"n_layer\":"
			"1}" } },
	{ "no settings", NULL,
		NO_INDEX "there is no config.json:" SETTINGS "\n",
		{ WEIGHTS } },
	{ "settings that do not say", NULL,
		NO_INDEX NOT_SAID " CK6027 CK6028\n" NO_LAYER,
		{ EMBED, "config.json", "{}" } },
	{ "only of rows", NULL, NO_INDEX NOT_SAID " CK6028\n" NO_LAYER,
		{ EMBED, "config.json", "{\"vocab_size\":8}" } },
	{ "only of columns", NULL, NO_INDEX NOT_SAID " CK6027\n" NO_LAYER,
		{ EMBED, "config.json", "{\"hidden_size\":4}" } },
	{ "of a tensor that is not there", NULL,
		NO_INDEX NOT_SAID " CK6027 CK6028\n" NO_LAYER,
		{ WEIGHTS, "config.json",
			"{\"vocab_size\":8,\"hidden_size\":4,\"n_layer\":"
			"1}" } },
	{ "an adapter", NULL,
		NO_INDEX "an adapter is not the whole model:" SETTINGS TOKENIZE,
		{ WEIGHTS, "adapter_config.json", "{}" } },
	{ "nothing to compare", NULL,
		NO_INDEX "there is nothing to compare:" SETTINGS TOKENIZE,
		{ "notes.txt", "x" } },
	{ "an index alone", INDEX,
		"an index is only itself and its shards:" FOLDERS,
		{ INDEX, AB, BOTH } },
	{ "an index that cannot be read", INDEX,
		"an index is only itself and its shards:" FOLDERS
		"an index cannot be read: CK6012 CK6021 CK6022\n",
		{ INDEX, "?" } },
	{ "a shard that is bad", INDEX,
		"an index is only itself and its shards:" FOLDERS NO_COMPARISON,
		{ INDEX, SIZED("1"), ONE, "?", TWO, "=b F32 4" } },
	{ "the other one", INDEX,
		"an index is only itself and its shards:" FOLDERS NO_COMPARISON,
		{ INDEX, SIZED("1"), ONE, "=a F32 4", TWO, "?" } },
	{ "one of another format", NULL,
		NO_COMPARISON "there is no config.json:" SETTINGS "\n",
		{ INDEX, MAP("\"a\":\"" ONE "\",\"b\":\"x.bin\""), ONE,
			"=a F32 4", "x.bin", "x" } },
	{ "a dtype that nobody knows", NULL,
		"not every shard is valid: CK6022\n" NOT_ALL,
		{ INDEX, SIZED("1"), ONE, "=a X9 4", TWO, "=b F32 4" } },
};

static void
test_reports_of_rules_without_an_object(void **state)
{
	(void)state;
	CHECK(skipped, set_folder_skipped);
}

static void
test_reports_of_the_reference_profile(void **state)
{
	static const char *const files[] = { INDEX, AB, BOTH, NULL };
	struct ckpt_buf out = { 0 };
	struct set_folder folder;
	enum ckpt_verdict verdict;
	struct ckpt_set *set;

	(void)state;
	set_folder_make(&folder, files);
	folder.options.profile = CKPT_PROFILE_REFERENCE;
	set = set_folder_open(&folder, NULL, &verdict);
	(void)ckpt_set_judge(set);
	set_folder_skipped(&out, set);
	ckpt_set_free(set);
	set_folder_remove(&folder);
	assert_string_equal(out.p,
		"the reference profile gives no warnings: CK6001 CK6021 CK6022 "
		"CK6023 CK6024 CK6025 CK6026" SETTINGS " CK6032 CK6033 "
		"CK6040\n");
	ckpt_buf_release(&out);
}

/* ---- What keeps a set from being judged --------------------------------- */

static void
findings_of(struct ckpt_set *set, const char *want)
{
	struct ckpt_buf out = { 0 };

	set_folder_findings(&out, set);
	assert_string_equal(out.p ? out.p : "", want);
	ckpt_buf_release(&out);
}

static void
test_reports_of_a_folder_that_is_not_there(void **state)
{
	struct ckpt_buf out = { 0 };
	struct ckpt_set *set = ckpt_set_folder("/nowhere/at/all", NULL);

	(void)state;
	assert_non_null(set);
	assert_int_equal(ckpt_set_judge(set), CKPT_NOT_VERIFIED);
	findings_of(set, "CK9001 @0: found No such file or directory\n");
	set_folder_skipped(&out, set);
	assert_string_equal(
		out.p, "the folder could not be read:" FOLDERS WITHOUT_STRAYS);
	ckpt_buf_release(&out);
	ckpt_set_free(set);
}

/* Not even for its name is there memory; then it has not been looked into. */
static void
test_reports_of_a_set_without_memory(void **state)
{
	static const struct ckpt_options options = { .max_memory = 16 };
	static const char want[] =
		"CK9003 @0: found more than 16 bytes needed\n";
	struct ckpt_buf out = { 0 };
	struct set_folder folder;
	struct ckpt_set *set;

	(void)state;
	set_folder_make(&folder, (const char *[]){ NULL });
	set = ckpt_set_folder(folder.path, &options);
	assert_non_null(set);
	assert_int_equal(ckpt_set_judge(set), CKPT_NOT_VERIFIED);
	findings_of(set, want);
	set_folder_skipped(&out, set);
	assert_string_equal(
		out.p, "the folder could not be read:" FOLDERS WITHOUT_STRAYS);
	ckpt_buf_release(&out);
	ckpt_set_free(set);
	set = ckpt_set_index(folder.path, &options);
	assert_non_null(set);
	assert_int_equal(ckpt_set_judge(set), CKPT_NOT_VERIFIED);
	findings_of(set, want);
	ckpt_set_free(set);
	set_folder_remove(&folder);
}

/* An index of the folder that one is in. */
static void
test_reports_of_an_index_without_a_folder(void **state)
{
	static const char *const files[] = { INDEX, MAP("\"a\":\"" ONE "\""),
		TWO, "=b F32 4", NULL };
	struct set_folder folder;
	struct ckpt_set *set;
	int here = open(".", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_true(here >= 0);
	set_folder_make(&folder, files);
	assert_int_equal(chdir(folder.path), 0);
	set = ckpt_set_index(INDEX, NULL);
	assert_int_equal(fchdir(here), 0);
	close(here);
	set_folder_remove(&folder);
	assert_non_null(set);
	findings_of(set, "CK6008 " INDEX "@0: found \"" TWO "\"\n"
			 "CK6009 " INDEX "@15: expected the file \"" ONE
			 "\" by CK6008\n");
	ckpt_set_free(set);
}

static void
test_reports_of_trouble(void **state)
{
	static const struct {
		enum ckpt_status status;
		int error;
		const char *text;
	} cases[] = {
		{ CKPT_OK, EIO, "" },
		{ CKPT_EIO, EIO, "CK9001 x@0: found Input/output error\n" },
		{ CKPT_EIO, EBUSY, "CK9002 x@0:\n" },
		{ CKPT_ENOMEM, EBUSY,
			"CK9004 x@0: found Cannot allocate memory\n" },
		{ CKPT_ELIMIT, EBUSY,
			"CK9003 x@0: found more than 65536 bytes needed\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		static const struct ckpt_options options = { .max_memory =
								     65536 };
		struct set_folder folder;
		struct ckpt_set *set;

		set_folder_make(&folder, (const char *[]){ NULL });
		set = ckpt_set_folder(folder.path, &options);
		set_folder_remove(&folder);
		assert_non_null(set);
		errno = cases[i].error;
		ckpt_set_trouble(set, cases[i].status, "x");
		findings_of(set, cases[i].text);
		ckpt_set_free(set);
	}
}

/* ---- Shards whose lists cannot be compared ------------------------------ */

static void
use_up(struct ckpt_arena *arena)
{
	arena->budget = arena->used;
	while (ckpt_arena_alloc(arena, 8))
		;
}

/* Memory that is used up by one shard: nothing is said of its tensors. */
static void
test_reports_of_a_shard_without_order(void **state)
{
	static const char *const files[] = { INDEX, SIZED("7"), BOTH, NULL };
	struct ckpt_buf out = { 0 };
	struct set_folder folder;
	enum ckpt_verdict verdict;
	struct ckpt_set *set;
	struct ckpt_shard *shard;

	(void)state;
	set_folder_make(&folder, files);
	set = set_folder_open(&folder, INDEX, &verdict);
	shard = ckpt_set_shard(set, 1);
	use_up(&shard->arena);
	ckpt_shard_judged(shard, CKPT_VALID);
	assert_int_equal(ckpt_set_judge(set), CKPT_NOT_VERIFIED);
	set_folder_findings(&out, set);
	set_folder_skipped(&out, set);
	assert_non_null(strstr(out.p, "CK9003 " TWO "@0: found more than "));
	assert_non_null(strstr(out.p, "\n" NO_COMPARISON));
	assert_null(strstr(out.p, "CK6012 " INDEX));
	assert_null(strstr(out.p, "CK6022 " INDEX));
	ckpt_buf_release(&out);
	ckpt_set_free(set);
	set_folder_remove(&folder);
}

/* Nothing that was not verified is compared. */
static void
test_reports_of_shards_before_their_verdict(void **state)
{
	static const char *const files[] = { INDEX, SIZED("7"), BOTH, NULL };
	struct ckpt_buf out = { 0 };
	struct set_folder folder;
	struct ckpt_set *set;

	(void)state;
	set_folder_make(&folder, files);
	set = ckpt_set_folder(folder.path, NULL);
	assert_non_null(set);
	(void)ckpt_set_judge(set);
	findings_of(set, "");
	set_folder_skipped(&out, set);
	assert_string_equal(out.p, NO_COMPARISON NOT_ALL);
	ckpt_buf_release(&out);
	ckpt_set_free(set);
	set_folder_remove(&folder);
}

/* Lengths that together pass 64 bits, as no machine has them: the sum is
 * never compared, neither that of the index nor that of the shards. */
static void
test_reports_of_sizes_beyond_64_bits(void **state)
{
	static const char *const files[] = { INDEX, SIZED("7"), ONE,
		"=a F32 4;y U8 1;z U8 1", TWO, "=b F32 4", NULL };
	static const struct {
		size_t shard;
		uint64_t tensor;
	} huge[] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 0, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
		struct ckpt_buf out = { 0 };
		struct set_folder folder;
		enum ckpt_verdict verdict;
		struct ckpt_set *set;

		set_folder_make(&folder, files);
		set = set_folder_open(&folder, NULL, &verdict);
		set_folder_remove(&folder);
		ckpt_set_shard(set, huge[i].shard)
			->tensors[huge[i].tensor]
			.len = UINT64_MAX;
		assert_int_equal(ckpt_set_judge(set), CKPT_VALID);
		findings_of(set,
			"CK6021 " ONE "@0: found \"y\" (it does not know it)\n"
			"CK6021 " ONE
			"@0: found \"z\" (it does not know it)\n");
		set_folder_skipped(&out, set);
		assert_non_null(
			strstr(out.p, "not every shard is valid: CK6012 "
				      "CK6022\n"));
		ckpt_buf_release(&out);
		ckpt_set_free(set);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_of_sets),
		cmocka_unit_test(test_reports_of_many_folders),
		cmocka_unit_test(test_reports_of_rules_without_an_object),
		cmocka_unit_test(test_reports_of_the_reference_profile),
		cmocka_unit_test(test_reports_of_a_folder_that_is_not_there),
		cmocka_unit_test(test_reports_of_a_set_without_memory),
		cmocka_unit_test(test_reports_of_an_index_without_a_folder),
		cmocka_unit_test(test_reports_of_trouble),
		cmocka_unit_test(test_reports_of_a_shard_without_order),
		cmocka_unit_test(test_reports_of_shards_before_their_verdict),
		cmocka_unit_test(test_reports_of_sizes_beyond_64_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
