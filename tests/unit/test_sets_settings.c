/* SPDX-License-Identifier: MIT */
/*
 * config.json and the tokenizer's files against the tensors: each warning
 * beside what it must stay silent about.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/set_folder.h"

#define WEIGHTS "model.safetensors", "=a F32 4"

/* ---- Settings and tensors ----------------------------------------------- */

#define MODEL(tensors) "model.safetensors", "=" tensors
#define EMBED          "model.embed_tokens.weight F32 8x4"
#define HEAD           ";lm_head.weight F32 8x4"

static const struct set_sample settings[] = {
	{ "all as it says", CKPT_VALID, "",
		{ MODEL(EMBED HEAD ";model.layers.0.w F32 4;model.layers.1.w "
				   "F32 4"),
			"config.json",
			"{\"vocab_size\":8,\"hidden_size\":4,"
			"\"num_hidden_layers\":2,\"torch_dtype\":\"float32\","
			"\"tie_word_embeddings\":false,"
			"\"architectures\":[\"XForCausalLM\"]}" } },
	{ "vocabulary", CKPT_VALID, "CK6027",
		{ MODEL(EMBED), "config.json", "{\"vocab_size\":10}" } },
	{ "vocabulary beyond 64 bits", CKPT_VALID, "CK6027",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":1000000000000000000000000000000}" } },
	{ "2^64 + 8 is not 8", CKPT_VALID, "CK6027 CK6028",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":18446744073709551624,"
			"\"hidden_size\":1e40}" } },
	{ "numbers that no tensor has", CKPT_VALID, "CK6027 CK6028",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":-8,\"hidden_size\":4.5}" } },
	{ "8.0 is 8", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":8.0,\"hidden_size\":4e0}" } },
	{ "hidden size", CKPT_VALID, "CK6028",
		{ MODEL(EMBED), "config.json", "{\"hidden_size\":8}" } },
	{ "one of two embeddings fits", CKPT_VALID, "",
		{ MODEL(EMBED ";shared.weight F16 10x8"), "config.json",
			"{\"vocab_size\":10,\"hidden_size\":4}" } },
	{ "embeddings of their own size", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"hidden_size\":8,\"embedding_size\":4}" } },
	{ "the same, projected", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"hidden_size\":8,\"word_embed_proj_dim\":4}" } },
	{ "no embedding: a vector, an integer, another name", CKPT_VALID, "",
		{ MODEL("wte.weight F32 8;embed_in.weight I32 8x4;"
			"my_embed_tokens.weight F32 8x4"),
			"config.json", "{\"vocab_size\":10}" } },
	{ "values of the text model", CKPT_VALID, "CK6027",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":8,\"text_config\":"
			"{\"vocab_size\":9}}" } },
	{ "none in the text model", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":9,\"text_config\":{}}" } },
	{ "a text model that is no object", CKPT_VALID, "CK6027",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":9,\"text_config\":null}" } },
	{ "values of other types say nothing", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"vocab_size\":\"9\",\"hidden_size\":null,"
			"\"num_hidden_layers\":true,\"torch_dtype\":16,"
			"\"tie_word_embeddings\":0}" } },
	{ "a layer is missing", CKPT_VALID, "CK6029",
		{ MODEL("m.layers.0.w F32 4;m.layers.2.w F32 4"), "config.json",
			"{\"num_hidden_layers\":3}" } },
	{ "as many as there should be, with a gap", CKPT_VALID, "CK6029",
		{ MODEL("m.layers.0.w F32 4;m.layers.2.w F32 4"), "config.json",
			"{\"num_hidden_layers\":2}" } },
	{ "a layer too many", CKPT_VALID, "CK6029",
		{ MODEL("h.0.w F32 4;h.1.w F32 4"), "config.json",
			"{\"n_layer\":1}" } },
	{ "more layers than 64 bits count", CKPT_VALID, "CK6029",
		{ MODEL("h.0.w F32 4"), "config.json",
			"{\"n_layer\":18446744073709551617}" } },
	{ "a layer whose number is beyond 64 bits", CKPT_VALID, "CK6029",
		{ MODEL("h.0.w F32 4;h.18446744073709551617.w F32 4"),
			"config.json", "{\"n_layer\":2}" } },
	{ "numbers with leading zeros", CKPT_VALID, "",
		{ MODEL("h.00.w F32 4;h.01.w F32 4"), "config.json",
			"{\"n_layer\":2}" } },
	{ "one group of two fits", CKPT_VALID, "",
		{ MODEL("enc.block.0.w F32 4;dec.block.0.w F32 4;"
			"dec.block.1.w F32 4"),
			"config.json", "{\"num_hidden_layers\":2}" } },
	{ "the first place in a name counts", CKPT_VALID, "",
		{ MODEL("h.0.layers.5.w F32 4"), "config.json",
			"{\"n_layer\":1}" } },
	{ "layers for prediction", CKPT_VALID, "",
		{ MODEL("layers.0.w F32 4;layers.1.w F32 4;layers.2.w F32 4"),
			"config.json",
			"{\"num_hidden_layers\":2,"
			"\"num_nextn_predict_layers\":1}" } },
	{ "layers that are shared", CKPT_VALID, "",
		{ MODEL("layers.0.w F32 4"), "config.json",
			"{\"num_hidden_layers\":12,\"num_hidden_groups\":"
			"1}" } },
	{ "no layers", CKPT_VALID, "",
		{ MODEL("layers.a.w F32 4;layers.0x.w F32 4;sub_layers.3.w F32 "
			"4"),
			"config.json", "{\"num_hidden_layers\":12}" } },
	{ "the layers without those for prediction", CKPT_VALID, "",
		{ MODEL("layers.0.w F32 4"), "config.json",
			"{\"num_hidden_layers\":1,"
			"\"num_nextn_predict_layers\":1}" } },
	{ "less than no layers", CKPT_VALID, "CK6029",
		{ MODEL("h.0.w F32 4"), "config.json", "{\"n_layer\":-1}" } },
	{ "less than none, and one for prediction", CKPT_VALID, "CK6029",
		{ MODEL("h.0.w F32 4"), "config.json",
			"{\"n_layer\":-1,\"num_nextn_predict_layers\":1}" } },
	{ "both together beyond 64 bits", CKPT_VALID, "CK6029",
		{ MODEL("h.0.w F32 4"), "config.json",
			"{\"n_layer\":18446744073709551615,"
			"\"num_nextn_predict_layers\":2}" } },
	{ "dtype", CKPT_VALID, "CK6030",
		{ MODEL("a F32 4"), "config.json",
			"{\"torch_dtype\":\"bfloat16\"}" } },
	{ "dtype by its new name", CKPT_VALID, "CK6030",
		{ MODEL("a F32 4"), "config.json",
			"{\"dtype\":\"float16\"}" } },
	{ "the old name counts first", CKPT_VALID, "",
		{ MODEL("a F32 4"), "config.json",
			"{\"torch_dtype\":\"float32\",\"dtype\":"
			"\"float16\"}" } },
	{ "not the dtype of the text model", CKPT_VALID, "",
		{ MODEL("a F32 4"), "config.json",
			"{\"text_config\":{\"dtype\":\"float16\"}}" } },
	{ "one tensor of it is enough", CKPT_VALID, "",
		{ MODEL("a F32 4;b BF16 4"), "config.json",
			"{\"torch_dtype\":\"bfloat16\"}" } },
	{ "no floating tensors", CKPT_VALID, "",
		{ MODEL("a I32 4"), "config.json",
			"{\"torch_dtype\":\"bfloat16\"}" } },
	{ "eight bits float, too", CKPT_VALID, "CK6030",
		{ MODEL("a F8_E4M3 4"), "config.json",
			"{\"torch_dtype\":\"bfloat16\"}" } },
	{ "quantized", CKPT_VALID, "",
		{ MODEL("a F8_E4M3 4"), "config.json",
			"{\"torch_dtype\":\"bfloat16\","
			"\"quantization_config\":{}}" } },
	{ "quantized, beside the text model", CKPT_VALID, "",
		{ MODEL("a F8_E4M3 4"), "config.json",
			"{\"torch_dtype\":\"bfloat16\","
			"\"quantization_config\":{},\"text_config\":{}}" } },
	{ "the text model quantized", CKPT_VALID, "",
		{ MODEL("a F8_E4M3 4"), "config.json",
			"{\"torch_dtype\":\"bfloat16\",\"text_config\":"
			"{\"quantization\":{}}}" } },
	{ "any dtype", CKPT_VALID, "",
		{ MODEL("a F32 4"), "config.json",
			"{\"torch_dtype\":\"auto\"}" } },
	{ "no head", CKPT_VALID, "CK6031",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false}" } },
	{ "no head, of a kind that has one", CKPT_VALID, "CK6031",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false,\"architectures\":"
			"[\"A\",\"GPT2LMHeadModel\"]}" } },
	{ "a kind without", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false,\"architectures\":"
			"[\"XModel\"]}" } },
	{ "a kind without, of a long name", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false,\"architectures\":"
			"[\"ForSequenceClassification\"]}" } },
	{ "a kind of no more than its ending", CKPT_VALID, "CK6031",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false,\"architectures\":"
			"[\"LMHeadModel\"]}" } },
	{ "kinds of other types", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false,\"architectures\":"
			"[[1,2,3,4,5,6,7,8,9,0,1,2],1e000000000000,null]}" } },
	{ "one kind, not in a list", CKPT_VALID, "CK6031",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false,\"architectures\":"
			"\"XForCausalLM\"}" } },
	{ "one kind without", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"tie_word_embeddings\":false,\"architectures\":"
			"\"ForSequenceClassification\"}" } },
	{ "the kind beside the text model", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"text_config\":{\"tie_word_embeddings\":false},"
			"\"architectures\":[\"ForSequenceClassification\"]"
			"}" } },
	{ "the kind of the text model first", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json",
			"{\"text_config\":{\"tie_word_embeddings\":false,"
			"\"architectures\":[\"ForSequenceClassification\"]},"
			"\"architectures\":[\"XForCausalLM\"]}" } },
	{ "a head of another name", CKPT_VALID, "",
		{ MODEL(EMBED ";output.weight F32 8x4"), "config.json",
			"{\"tie_word_embeddings\":false}" } },
	{ "a head inside a name", CKPT_VALID, "",
		{ MODEL(EMBED ";x.lm_head.0.bias F32 8"), "config.json",
			"{\"tie_word_embeddings\":false}" } },
	{ "no embedding, no head", CKPT_VALID, "",
		{ MODEL("a F32 4"), "config.json",
			"{\"tie_word_embeddings\":false}" } },
	{ "an adapter", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json", "{\"vocab_size\":10}",
			"adapter_config.json", "{}", "tokenizer.json", "{" } },
	{ "not with an invalid file", CKPT_INVALID, "",
		{ MODEL(EMBED), "x.safetensors", "?", "config.json",
			"{\"vocab_size\":10}" } },
	{ "not with an unfinished file", CKPT_INVALID, "CK6013",
		{ MODEL(EMBED), "x.safetensors.tmp", "?", "config.json",
			"{\"vocab_size\":10}" } },
	{ "an optimizer is no model", CKPT_VALID, "CK6025 CK6027",
		{ MODEL(EMBED), "optimizer.safetensors",
			"=shared.weight F32 10x4", "config.json",
			"{\"vocab_size\":10}" } },
};

static void
test_sets_settings(void **state)
{
	(void)state;
	SET_SAMPLES_CHECK(settings, NULL);
}

static const struct set_sample tokenizers[] = {
	{ "as many as rows", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json", "{}", "vocab.json",
			"{\"a\":0,\"b\":7}", "tokenizer.json",
			"{\"model\":{\"vocab\":[1,2,3,4,5,6,7,8]},"
			"\"added_tokens\":[{\"id\":7}]}",
			"merges.txt", "#version: 0.2\na b\n\nc d\r\n" } },
	{ "vocab.json", CKPT_VALID, "CK6032",
		{ MODEL(EMBED), "config.json", "{}", "vocab.json",
			"{\"a\":8}" } },
	{ "of other things", CKPT_VALID, "",
		{ MODEL(EMBED), "config.json", "{}", "vocab.json",
			"{\"a\":8,\"b\":{\"c\":1}}" } },
	{ "the model's vocabulary", CKPT_VALID, "CK6032",
		{ MODEL(EMBED), "config.json", "{}", "tokenizer.json",
			"{\"model\":{\"vocab\":{\"x\":3,\"y\":8}}}" } },
	{ "a list", CKPT_VALID, "CK6032",
		{ MODEL(EMBED), "config.json", "{}", "tokenizer.json",
			"{\"model\":{\"vocab\":[1,2,3,4,5,6,7,8,9]}}" } },
	{ "an added token", CKPT_VALID, "CK6032",
		{ MODEL(EMBED), "config.json", "{}", "tokenizer.json",
			"{\"added_tokens\":[{\"id\":1},{\"id\":9}]}" } },
	{ "against the largest embedding", CKPT_VALID, "",
		{ MODEL(EMBED ";wte.weight F16 10x2"), "config.json", "{}",
			"vocab.json", "{\"a\":9}" } },
	{ "no embedding", CKPT_VALID, "",
		{ WEIGHTS, "config.json", "{}", "vocab.json", "{\"a\":9}" } },
	{ "merges", CKPT_VALID, "CK6032",
		{ MODEL("wte.weight F32 2x2"), "config.json", "{}",
			"merges.txt", "a b\nc d\ne f" } },
	{ "merges without an embedding", CKPT_VALID, "",
		{ WEIGHTS, "config.json", "{}", "merges.txt", "a b" } },
	{ "a folder for a vocabulary", CKPT_VALID, "",
		{ MODEL(EMBED), "vocab.json/", "", "merges.txt/", "" } },
	{ "a list for a vocabulary", CKPT_VALID, "CK6033",
		{ MODEL(EMBED), "vocab.json", "[9]" } },
	{ "an object without ids", CKPT_VALID, "",
		{ MODEL(EMBED), "vocab.json", "{}", "tokenizer.json", "{}" } },
	{ "merges, not counted wrongly", CKPT_VALID, "",
		{ MODEL("wte.weight F32 2x2"), "config.json", "{}",
			"merges.txt", "#version: 1\r\n\r\n\na b\r\n# c\n" } },
	{ "torn", CKPT_VALID, "CK6033 CK6033",
		{ WEIGHTS, "config.json", "{}", "vocab.json",
			"{\"a\":", "tokenizer.json", "" } },
};

static void
test_sets_tokenizers(void **state)
{
	(void)state;
	SET_SAMPLES_CHECK(tokenizers, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets_settings),
		cmocka_unit_test(test_sets_tokenizers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
