/* SPDX-License-Identifier: MIT */
/*
 * Folders as sets: side files, unfinished ones, what training needs to go on,
 * and which checkpoint is the newest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/set.h"
#include "support/set_folder.h"

#define INDEX     "model.safetensors.index.json"
#define MAP(body) "{\"weight_map\":{" body "}}"
#define ONE       "m-1.safetensors"
#define TWO       "m-2.safetensors"
#define POINTER                                                                \
	"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"

#define SPACES_100                                                             \
	"                                                  "                   \
	"                                                  "
/* 72 bytes and 951 blanks. */
#define POINTER_OF_1023                                                        \
	"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize "     \
	"123456789\n" SPACES_100 SPACES_100 SPACES_100 SPACES_100 SPACES_100   \
		SPACES_100 SPACES_100 SPACES_100 SPACES_100                    \
	"                                                   "

/* ---- Folders ------------------------------------------------------------ */

#define WEIGHTS "model.safetensors", "=a F32 4"
#define HALFWAY "{\"global_step\":5,\"max_steps\":10}"

static const struct set_sample folders[] = {
	{ "nothing", CKPT_INVALID, "CK6002", { NULL } },
	{ "nothing that we know", CKPT_INVALID, "CK6002",
		{ "notes.txt", "x", "tokenizer.json", "{}",
			"trainer_state.json",
			"{\"global_step\":9,\"max_steps\":9}" } },
	{ "folders", CKPT_VALID, "CK6040", { "100/", "", "20/", "" } },
	{ "folders beside a trainer's file", CKPT_VALID,
		"CK6025 CK6025 CK6025 CK6025",
		{ "100/", "", "trainer_state.json", HALFWAY } },
	{ "a resume file", CKPT_VALID, "CK6025 CK6025",
		{ "optimizer.pt", "x" } },
	{ "weights of another format", CKPT_VALID, "",
		{ "pytorch_model.bin", "x" } },
	{ "the same, empty", CKPT_INVALID, "CK6011",
		{ "pytorch_model.bin", "" } },
	{ "the same, a pointer", CKPT_INVALID, "CK6003",
		{ "consolidated.00.pth", POINTER } },
	{ "the same, leading nowhere", CKPT_NOT_VERIFIED, "CK9001",
		{ "model.pt", "@nowhere", "d/", "" } },
	{ "a pointer as long as one can be", CKPT_INVALID, "CK6003",
		{ "model.pt", POINTER_OF_1023 } },
	{ "longer than any pointer", CKPT_VALID, "",
		{ "model.pt", POINTER_OF_1023 " " } },
	{ "empty, before other weights", CKPT_INVALID, "CK6011",
		{ "model.pt", "", "x.safetensors", "=a F32 4" } },
	{ "a folder by that name", CKPT_VALID, "CK6040",
		{ "pytorch_model.bin/", "" } },
	{ "an empty scheduler", CKPT_INVALID, "CK6011 CK6025 CK6025",
		{ WEIGHTS, "scheduler.pt", "" } },
	{ "empty random numbers", CKPT_INVALID, "CK6011 CK6025",
		{ WEIGHTS, "rng_state.pth", "" } },
	{ "an optimizer that is verified, empty", CKPT_INVALID, "CK6025",
		{ WEIGHTS, "optimizer.safetensors", "" } },
	{ "an empty resume file", CKPT_INVALID, "CK6011 CK6025",
		{ WEIGHTS, "optimizer.bin", "" } },
	{ "files of no name that we know may be empty", CKPT_VALID, "",
		{ WEIGHTS, "x.bin", "", "training.pt", "" } },
	{ "torn settings", CKPT_INVALID, "CK6014",
		{ WEIGHTS, "config.json", "{\"vocab_size\":" } },
	{ "settings that are a list", CKPT_INVALID, "CK6014",
		{ WEIGHTS, "config.json", "[]" } },
	{ "settings that are a pointer", CKPT_INVALID, "CK6014",
		{ WEIGHTS, "config.json", POINTER } },
	{ "torn progress", CKPT_INVALID, "CK6014",
		{ WEIGHTS, "trainer_state.json", "" } },
	{ "progress as Python writes it", CKPT_VALID, "",
		{ WEIGHTS, "trainer_state.json",
			"{\"best_metric\":NaN,\"log\":[Infinity,1e999],"
			"\"x\":\"\\udc00\"}" } },
	{ "settings that lead nowhere", CKPT_NOT_VERIFIED, "CK9001",
		{ WEIGHTS, "config.json", "@nowhere" } },
	{ "a folder called settings", CKPT_VALID, "",
		{ WEIGHTS, "config.json/", "" } },
	{ "a pipe called settings", CKPT_VALID, "",
		{ WEIGHTS, "config.json", "|" } },
	{ "settings without weights", CKPT_VALID, "CK6026",
		{ "config.json", "{}" } },
	{ "settings, and a folder called weights", CKPT_VALID, "CK6026",
		{ "config.json", "{}", "model.bin/", "" } },
	{ "settings and weights of another format", CKPT_VALID, "",
		{ "config.json", "{}", "pytorch_model.bin", "x" } },
	{ "settings and an optimizer", CKPT_VALID, "CK6025 CK6025 CK6026",
		{ "config.json", "{}", "optimizer.safetensors", "=a F32 4" } },
	{ "an index is enough", CKPT_INVALID, "CK6009",
		{ "config.json", "{}", INDEX, MAP("\"a\":\"" ONE "\"") } },
	{ "only unfinished", CKPT_INVALID, "CK6013",
		{ "model.safetensors.tmp", "?" } },
	{ "one that is unfinished", CKPT_INVALID, "CK6013",
		{ WEIGHTS, "trainer_state.json.incomplete", "{" } },
	{ "an unfinished resume file", CKPT_INVALID, "CK6013",
		{ WEIGHTS, "scheduler.pt.tmp.4711", "x" } },
	{ "an unfinished index", CKPT_INVALID, "CK6013",
		{ WEIGHTS, INDEX ".partial", "{" } },
	{ "beside the complete one", CKPT_VALID, "CK6024",
		{ WEIGHTS, "model.safetensors.part", "?" } },
	{ "of no interest", CKPT_VALID, "",
		{ WEIGHTS, "log.txt.tmp", "?", "x.tmp", "", "part", "" } },
	{ "our own temporary file", CKPT_VALID, "CK6001",
		{ WEIGHTS, ".model.safetensors.tmp-12-0", "?" } },
	{ "a link is not our own", CKPT_VALID, "",
		{ WEIGHTS, ".model.safetensors.tmp-12-0",
			"@model.safetensors" } },
	{ "a folder of an unfinished name", CKPT_VALID, "",
		{ WEIGHTS, "x.safetensors.tmp/", "" } },
	{ "a bad file decides", CKPT_INVALID, "",
		{ WEIGHTS, "more.safetensors", "?" } },
	{ "one that leads nowhere", CKPT_NOT_VERIFIED, "",
		{ WEIGHTS, "more.safetensors", "@nowhere" } },
};

static void
test_sets_folders(void **state)
{
	(void)state;
	SET_SAMPLES_CHECK(folders, NULL);
}

static const struct set_sample resumes[] = {
	{ "complete", CKPT_VALID, "",
		{ WEIGHTS, "optimizer.pt", "x", "scheduler.pt", "x",
			"rng_state.pth", "x", "trainer_state.json", HALFWAY } },
	{ "complete, of several processes", CKPT_VALID, "",
		{ WEIGHTS, "optimizer_0.bin", "x", "optimizer_1.bin", "x",
			"random_states_0.pkl", "x" } },
	{ "without a trainer no scheduler is needed", CKPT_VALID, "",
		{ WEIGHTS, "optimizer.bin", "x", "rng_state_0.pth", "x" } },
	{ "halfway, the model only", CKPT_VALID, "CK6025 CK6025 CK6025",
		{ WEIGHTS, "trainer_state.json", HALFWAY } },
	{ "done, the model only", CKPT_VALID, "",
		{ WEIGHTS, "trainer_state.json",
			"{\"global_step\":10,\"max_steps\":10}" } },
	{ "floats", CKPT_VALID, "CK6025 CK6025 CK6025",
		{ WEIGHTS, "trainer_state.json",
			"{\"global_step\":5.0,\"max_steps\":1e1}" } },
	{ "without end", CKPT_VALID, "",
		{ WEIGHTS, "trainer_state.json",
			"{\"global_step\":5,\"max_steps\":-1}" } },
	{ "scheduler missing", CKPT_VALID, "CK6025",
		{ WEIGHTS, "optimizer.pt", "x", "rng_state.pth", "x",
			"trainer_state.json",
			"{\"global_step\":9,\"max_steps\":9}" } },
	{ "texts are no numbers", CKPT_VALID, "",
		{ WEIGHTS, "trainer_state.json",
			"{\"global_step\":\"5\",\"max_steps\":10}" } },
	{ "no number of steps", CKPT_VALID, "",
		{ WEIGHTS, "trainer_state.json", "{\"max_steps\":1e300}" } },
	{ "no end", CKPT_VALID, "",
		{ WEIGHTS, "trainer_state.json", "{\"global_step\":-1e300}" } },
	{ "a scheduler only", CKPT_VALID, "CK6025 CK6025",
		{ WEIGHTS, "scheduler.pt", "x" } },
	{ "random numbers only", CKPT_VALID, "CK6025",
		{ WEIGHTS, "rng_state.pth", "x" } },
	{ "weights missing", CKPT_VALID, "CK6025",
		{ "optimizer.pt", "x", "rng_state.pth", "x" } },
	{ "a distributed optimizer", CKPT_VALID, "CK6025",
		{ WEIGHTS, "trainer_state.json", HALFWAY, "global_step5/",
			"" } },
	{ "a distributed model", CKPT_VALID, "",
		{ "pytorch_model_fsdp_0/", "", "optimizer_0/", "",
			"random_states_0.pkl", "x", "scheduler.bin", "x" } },
	{ "a folder of another name", CKPT_VALID, "CK6025 CK6025 CK6025",
		{ WEIGHTS, "trainer_state.json", HALFWAY, "global_step/",
			"" } },
};

static void
test_sets_resume_sets(void **state)
{
	(void)state;
	SET_SAMPLES_CHECK(resumes, NULL);
}

#define EMBED "model.embed_tokens.weight F32 8x4"

/* The loader's verdict knows no warnings. */
static void
test_sets_in_the_reference_profile(void **state)
{
	static const char *const files[] = { WEIGHTS, "config.json",
		"{\"torch_dtype\":\"bfloat16\"}", "trainer_state.json", HALFWAY,
		INDEX ".tmp", "{", NULL };
	struct ckpt_buf ids = { 0 };
	struct set_folder folder;

	(void)state;
	set_folder_make(&folder, files);
	folder.options.profile = CKPT_PROFILE_REFERENCE;
	assert_int_equal(set_folder_judge(&folder, NULL, &ids), CKPT_INVALID);
	assert_string_equal(ids.p, "CK6013");
	ckpt_buf_release(&ids);
	set_folder_remove(&folder);
}

/* A folder is the same with a slash behind it and without. */
static void
test_sets_have_paths(void **state)
{
	static const char *const files[] = { WEIGHTS, NULL };
	struct set_folder folder;
	char want[128], slash[128];

	(void)state;
	set_folder_make(&folder, files);
	snprintf(want, sizeof want, "%s/model.safetensors", folder.path);
	snprintf(slash, sizeof slash, "%s/", folder.path);
	for (int i = 0; i < 2; i++) {
		struct ckpt_set *set =
			ckpt_set_folder(i ? slash : folder.path, NULL);

		assert_non_null(set);
		assert_int_equal(ckpt_set_shard_count(set), 1);
		assert_string_equal(ckpt_set_shard(set, 0)->path, want);
		assert_string_equal(
			ckpt_set_shard(set, 0)->name, "model.safetensors");
		assert_null(ckpt_set_shard(set, 1));
		ckpt_set_free(set);
	}
	set_folder_remove(&folder);
}

/* With too little memory a set may be not verified, but never another verdict
 * is given than with enough. */
static void
test_sets_keep_to_their_memory(void **state)
{
	static const char *const files[] = { INDEX,
		MAP("\"model.embed_tokens.weight\":\"" ONE "\",\"b\":\"" TWO
		    "\""),
		ONE, "=" EMBED, TWO, "=b F32 4", "config.json",
		"{\"vocab_size\":10,\"num_hidden_layers\":2}", "vocab.json",
		"{\"a\":9}", NULL };
	unsigned refused = 0, judged = 0;
	struct set_folder folder;

	(void)state;
	set_folder_make(&folder, files);
	for (uint64_t most = 16; most < 1 << 22; most += most / 4) {
		struct ckpt_buf ids = { 0 };
		enum ckpt_verdict verdict;

		folder.options.max_memory = most;
		verdict = set_folder_judge(&folder, NULL, &ids);
		if (verdict == CKPT_NOT_VERIFIED) {
			refused++;
		} else {
			judged++;
			assert_int_equal(verdict, CKPT_VALID);
			assert_string_equal(ids.p, "CK6027 CK6032");
		}
		ckpt_buf_release(&ids);
	}
	set_folder_remove(&folder);
	assert_true(refused > 0 && judged > 0);
}

/* ---- The newest --------------------------------------------------------- */

static void
test_sets_latest(void **state)
{
	static const struct {
		const char *newest; /* NULL: none */
		const char *files[SET_FOLDER_WORDS];
	} cases[] = {
		{ "0900000",
			{ "100000/", "", "100000/config.json", "{}", "0900000/",
				"", "0900000/config.json", "{}", "handpicked/",
				"", "handpicked/config.json", "{}" } },
		{ "checkpoint-10",
			{ "checkpoint-9/", "", "checkpoint-9/optimizer.pt", "x",
				"checkpoint-10/", "",
				"checkpoint-10/model.safetensors.tmp", "x",
				"tmp-checkpoint-11/", "",
				"tmp-checkpoint-11/optimizer.pt", "x",
				"logs-2024/", "", "logs-2024/x.txt", "x" } },
		{ "step=7.safetensors",
			{ "step=7.safetensors", "?", "step=6-v9.safetensors",
				"?", "notes-99.txt", "?" } },
		{ NULL, { "model-00001-of-00002.safetensors", "?", "best/",
				"" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct set_folder folder;
		char *newest;
		size_t n;

		set_folder_make(&folder, cases[i].files);
		newest = ckpt_set_latest(folder.path);
		n = strlen(folder.path);
		set_folder_remove(&folder);
		if (!cases[i].newest) {
			assert_null(newest);
			continue;
		}
		assert_non_null(newest);
		assert_int_equal(strncmp(newest, folder.path, n), 0);
		assert_string_equal(
			newest + n + (newest[n] == '/'), cases[i].newest);
		free(newest);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets_folders),
		cmocka_unit_test(test_sets_resume_sets),
		cmocka_unit_test(test_sets_in_the_reference_profile),
		cmocka_unit_test(test_sets_have_paths),
		cmocka_unit_test(test_sets_keep_to_their_memory),
		cmocka_unit_test(test_sets_latest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
