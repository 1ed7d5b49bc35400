/* SPDX-License-Identifier: MIT */
/*
 * Archives: the tables of metadata keys and of tensors that are neither
 * parameters nor moments. Judging, binding and writing go by them.
 */
#include "format/archive.h"

#include "model/identity.h"

const struct archive_key_row archive_keys[ARCHIVE_KEYS] = {
	[ARCHIVE_WINDOW] = { "backbone.context_window", ARCHIVE_IN_ALL,
		.doc = "positions that one position attends to, itself "
		       "included; from 1 to max_positions" },
	[ARCHIVE_FEED_FORWARD] = { "backbone.feed_forward_width",
		ARCHIVE_IN_ALL, .doc = "at least 1" },
	[ARCHIVE_HEADS] = { "backbone.heads", ARCHIVE_IN_ALL,
		.doc = "query heads; at least 1" },
	[ARCHIVE_KV_HEADS] = { "backbone.kv_heads", ARCHIVE_IN_ALL,
		.doc = "heads of key and value; a divisor of heads" },
	[ARCHIVE_LAYERS] = { "backbone.layers", ARCHIVE_IN_ALL,
		.doc = "blocks; may be 0" },
	[ARCHIVE_POSITIONS] = { "backbone.max_positions", ARCHIVE_IN_ALL,
		.doc = "the longest context; at least 1" },
	[ARCHIVE_WIDTH] = { "backbone.width", ARCHIVE_IN_ALL,
		.doc = "a multiple of twice the heads" },
	[ARCHIVE_KIND] = { "ckpt.kind", ARCHIVE_IN_ALL,
		.doc = "what the file is: portable-model or "
		       "training-checkpoint" },
	[ARCHIVE_VERSION] = { "ckpt.version", ARCHIVE_IN_ALL, .word = "1",
		.doc = "of these tables" },
	[ARCHIVE_COMPOSITION] = { "composition", ARCHIVE_IN_ALL,
		.doc = "what it is made of: text-decoder-v1, or of a portable "
		       "model also backbone-v1, which has no encoder and no "
		       "head" },
	[ARCHIVE_DATA] = { "data.sha256", ARCHIVE_IN_TRAINING,
		.doc = "identity of the documents, 64 lower-case hexadecimal "
		       "digits" },
	[ARCHIVE_ENCODER] = { "encoder.kind", ARCHIVE_WITH_TEXT,
		.word = "byte-bpe-embedding-v1",
		.doc = "a byte-BPE tokenizer and an embedding" },
	[ARCHIVE_LAYOUT] = { "encoder.tokenizer_layout", ARCHIVE_WITH_TEXT,
		.word = "1", .doc = "how ids are given to tokens" },
	[ARCHIVE_VOCABULARY] = { "encoder.vocabulary", ARCHIVE_WITH_TEXT,
		.doc = "258 and the number of merges" },
	[ARCHIVE_ARITHMETIC] = { "envelope.arithmetic", ARCHIVE_IN_TRAINING,
		.doc = "profile and fingerprint of the arithmetic; not "
		       "empty" },
	[ARCHIVE_EXECUTABLE] = { "envelope.executable_sha256",
		ARCHIVE_IN_TRAINING,
		.doc = "digest of the program's file, 64 lower-case "
		       "hexadecimal digits" },
	[ARCHIVE_OVERRIDES] = { "envelope.overrides", ARCHIVE_IN_TRAINING,
		.optional = true,
		.doc = "digests of the programs that were set aside on "
		       "purpose, one a line, the oldest first" },
	[ARCHIVE_SEMANTICS] = { "envelope.semantics", ARCHIVE_IN_TRAINING,
		.word = CKPT_ENVELOPE_SEMANTICS,
		.doc = "what the same bits are promised for" },
	[ARCHIVE_ALIAS] = { "head.alias", ARCHIVE_WITH_TEXT,
		.word = "token_embedding.weight",
		.doc = "the tensor that is the head as well" },
	[ARCHIVE_HEAD] = { "head.kind", ARCHIVE_WITH_TEXT,
		.word = "tied-embedding-transpose-v1",
		.doc = "the embedding, transposed" },
	[ARCHIVE_DECAY] = { "optimizer.decay", ARCHIVE_IN_TRAINING,
		.optional = true,
		.doc = "names of the parameters that decay, one a line, in "
		       "bytewise order" },
	[ARCHIVE_NO_DECAY] = { "optimizer.no_decay", ARCHIVE_IN_TRAINING,
		.optional = true,
		.doc = "names of the others; both keys are there or none" },
	[ARCHIVE_RECOMPUTE] = { "plan.recompute_blocks", ARCHIVE_IN_TRAINING,
		.doc = "whether blocks are computed again on the way back: 0 "
		       "or 1" },
};

const struct archive_small_row archive_small[ARCHIVE_SMALL] = {
	[ARCHIVE_CONSTANTS] = { CKPT_TENSOR_CONSTANTS, ARCHIVE_IN_ALL, "F64", 1,
		{ 2, 0 }, "RoPE base, RMS epsilon" },
	[ARCHIVE_MERGES] = { CKPT_TENSOR_PAIRS, ARCHIVE_WITH_TEXT, "U32", 2,
		{ 0, 2 }, "pairs of training-space ids, one a rank" },
	[ARCHIVE_SETTINGS] = { "optimizer.settings", ARCHIVE_IN_TRAINING, "F64",
		1, { 5, 0 }, "peak rate, beta1, beta2, epsilon, decay" },
	[ARCHIVE_POWERS] = { "optimizer.powers", ARCHIVE_IN_TRAINING, "F64", 1,
		{ 2, 0 }, "of beta1 and beta2" },
	[ARCHIVE_STEP] = { "optimizer.step", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 1, 0 }, "updates that were made" },
	[ARCHIVE_RATES] = { "schedule.rates", ARCHIVE_IN_TRAINING, "F64", 1,
		{ 2, 0 }, "peak and final rate" },
	[ARCHIVE_STEPS] = { "schedule.steps", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 2, 0 }, "updates in all, and those of the warm-up" },
	[ARCHIVE_CLIP] = { "plan.clip", ARCHIVE_IN_TRAINING, "F64", 1, { 1, 0 },
		"the largest global norm of the gradients" },
	[ARCHIVE_ORDER] = { "data.order", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 0, 0 }, "the order of the documents, a permutation" },
	[ARCHIVE_CURSOR] = { "data.cursor", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 1, 0 }, "place in the order of the next document" },
	[ARCHIVE_TRAVERSALS] = { "data.traversals", ARCHIVE_IN_TRAINING, "U64",
		1, { 1, 0 }, "of the order, completed" },
	[ARCHIVE_PROBABILITY] = { "dropout.probability", ARCHIVE_IN_TRAINING,
		"F64", 1, { 1, 0 }, "at least 0, below 1" },
	[ARCHIVE_SEED] = { "dropout.seed", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 1, 0 }, "of the stream of words" },
	[ARCHIVE_COUNTER] = { "dropout.counter", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 2, 0 }, "the seed again, and the next word" },
	[ARCHIVE_SAMPLING] = { "sampling.state", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 1, 0 }, "of the stream for monitoring tokens" },
	[ARCHIVE_BOUNDS] = { "scaler.bounds", ARCHIVE_IN_TRAINING, "F64", 1,
		{ 3, 0 }, "loss scale, its minimum and maximum" },
	[ARCHIVE_PROGRESS] = { "scaler.progress", ARCHIVE_IN_TRAINING, "U64", 1,
		{ 2, 0 },
		"finite updates that double the scale, and those so far" },
	[ARCHIVE_MICROBATCHES] = { "accumulation.microbatches",
		ARCHIVE_IN_TRAINING, "U64", 1, { 2, 0 },
		"of an update, and those pending, which is 0" },
};
