/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35 version 1 in rows (format sections 1 and 2). The walker decodes by
 * them, the emitter encodes by them, and the manual page, the mutator and the
 * fuzz dictionary are made from them. Rows stand in file order.
 */
#include "format/llmcp35.h"

static const uint8_t magic_bytes[8] = LLMCP35_MAGIC;

static const struct ckpt_want want_magic = {
	.kind = CKPT_WANT_BYTES,
	.bytes = magic_bytes,
	.code = CKPT_D_MAGIC,
};
static const struct ckpt_want want_version = {
	.kind = CKPT_WANT_RANGE,
	.min = 1,
	.max = 1,
	.code = CKPT_D_VERSION,
	.stops = true,
};

static const struct ckpt_field fixed_fields[] = {
	CKPT_FIELD(struct llmcp35_fixed_header, magic, .want = &want_magic,
		.doc = "\"LLMCP35\" and a NUL"),
	CKPT_FIELD(struct llmcp35_fixed_header, version,
		.title = "schema version", .want = &want_version,
		.doc = "version of this layout"),
	CKPT_FIELD(struct llmcp35_fixed_header, endian,
		.title = "endian marker", .flags = CKPT_SHOW_HEX,
		.doc = "0x01020304; another order of its bytes means that the "
		       "file was written in another byte order"),
	CKPT_FIELD(struct llmcp35_fixed_header, header_bytes,
		.flags = CKPT_IS_LENGTH,
		.doc = "bytes of the whole header, the fixed header counted"),
	CKPT_FIELD(struct llmcp35_fixed_header, payload_bytes,
		.flags = CKPT_IS_LENGTH,
		.doc = "bytes behind the header; both add up to the file's "
		       "length"),
	CKPT_FIELD(struct llmcp35_fixed_header, checksum,
		.flags = CKPT_HASH_AS_ZERO,
		.doc = "FNV-1a 64 of the whole file, these eight bytes taken "
		       "as zero; finds accidents, authenticates nothing"),
};
const struct ckpt_record llmcp35_fixed_rec = {
	.name = "fixed header",
	.size = sizeof(struct llmcp35_fixed_header),
	.fields = fixed_fields,
	.nfields = sizeof fixed_fields / sizeof fixed_fields[0],
	.doc = "38 bytes at the front of the file",
};

static const struct ckpt_want want_decoder_vocabulary = {
	.kind = CKPT_WANT_RANGE,
	.min = 1,
	.max = UINT64_MAX,
	.code = CKPT_D_CONFIG_VOCABULARY,
	.at = LLMCP35_AT_DECODER,
};
static const struct ckpt_want want_width = {
	.kind = CKPT_WANT_RANGE,
	.min = 1,
	.max = UINT64_MAX,
	.code = CKPT_D_CONFIG_WIDTH,
	.at = LLMCP35_AT_DECODER,
};
static const struct ckpt_want want_heads = {
	.kind = CKPT_WANT_RANGE,
	.min = 1,
	.max = UINT64_MAX,
	.code = CKPT_D_CONFIG_HEADS,
	.at = LLMCP35_AT_DECODER,
};
static const struct ckpt_want want_feed_forward = {
	.kind = CKPT_WANT_RANGE,
	.min = 1,
	.max = UINT64_MAX,
	.code = CKPT_D_CONFIG_FEED_FORWARD,
	.at = LLMCP35_AT_DECODER,
};
static const struct ckpt_want want_positions = {
	.kind = CKPT_WANT_RANGE,
	.min = 1,
	.max = UINT64_MAX,
	.code = CKPT_D_CONFIG_POSITIONS,
	.at = LLMCP35_AT_DECODER,
};
static const struct ckpt_want want_rope_base = {
	.kind = CKPT_WANT_F64_POSITIVE,
	.code = CKPT_D_CONFIG_ROPE_BASE,
	.at = LLMCP35_AT_DECODER,
};
static const struct ckpt_want want_rms_epsilon = {
	.kind = CKPT_WANT_F64_NOT_NEGATIVE,
	.code = CKPT_D_CONFIG_RMS_EPSILON,
	.at = LLMCP35_AT_DECODER,
};

static const struct ckpt_field decoder_fields[] = {
	CKPT_FIELD(struct llmcp35_decoder, vocabulary,
		.twin = { true,
			offsetof(struct ckpt_state, config.vocabulary) },
		.title = "decoder vocabulary", .want = &want_decoder_vocabulary,
		.doc = "number of token ids; that of the tokenizer"),
	CKPT_FIELD(struct llmcp35_decoder, width,
		.twin = { true, offsetof(struct ckpt_state, config.width) },
		.title = "decoder width", .want = &want_width,
		.doc = "features of a token (D); a multiple of the heads, "
		       "with an even quotient"),
	CKPT_FIELD(struct llmcp35_decoder, heads,
		.twin = { true, offsetof(struct ckpt_state, config.heads) },
		.title = "decoder heads", .want = &want_heads,
		.doc = "attention heads (H)"),
	CKPT_FIELD(struct llmcp35_decoder, feed_forward_width,
		.twin = { true, offsetof(struct ckpt_state,
					config.feed_forward_width) },
		.title = "decoder feed-forward width",
		.want = &want_feed_forward,
		.doc = "features between gate and down (F)"),
	CKPT_FIELD(struct llmcp35_decoder, layers,
		.twin = { true, offsetof(struct ckpt_state, config.layers) },
		.title = "decoder layers", .doc = "blocks (L); zero is legal"),
	CKPT_FIELD(struct llmcp35_decoder, positions,
		.twin = { true, offsetof(struct ckpt_state, config.positions) },
		.title = "decoder positions", .want = &want_positions,
		.doc = "longest context"),
	CKPT_FIELD(struct llmcp35_decoder, rope_base,
		.twin = { true, offsetof(struct ckpt_state, config.rope_base) },
		.title = "RoPE base", .want = &want_rope_base,
		.doc = "base of the rotary angles"),
	CKPT_FIELD(struct llmcp35_decoder, rms_epsilon,
		.twin = { true,
			offsetof(struct ckpt_state, config.rms_epsilon) },
		.title = "RMS epsilon", .want = &want_rms_epsilon,
		.doc = "added to the mean square in RMS normalisation"),
};
const struct ckpt_record llmcp35_decoder_rec = {
	.name = "decoder",
	.size = sizeof(struct llmcp35_decoder),
	.fields = decoder_fields,
	.nfields = sizeof decoder_fields / sizeof decoder_fields[0],
	.doc = "settings of the model",
};

static const struct ckpt_want want_learning_rate = {
	.kind = CKPT_WANT_F64_POSITIVE,
	.code = CKPT_D_LEARNING_RATE,
	.at = LLMCP35_AT_ADAMW,
};
static const struct ckpt_want want_beta1 = {
	.kind = CKPT_WANT_F64_BELOW_ONE,
	.code = CKPT_D_BETA1,
	.at = LLMCP35_AT_ADAMW,
};
static const struct ckpt_want want_beta2 = {
	.kind = CKPT_WANT_F64_BELOW_ONE,
	.code = CKPT_D_BETA2,
	.at = LLMCP35_AT_ADAMW,
};
static const struct ckpt_want want_epsilon = {
	.kind = CKPT_WANT_F64_POSITIVE,
	.code = CKPT_D_EPSILON,
	.at = LLMCP35_AT_ADAMW,
};
static const struct ckpt_want want_weight_decay = {
	.kind = CKPT_WANT_F64_NOT_NEGATIVE,
	.code = CKPT_D_WEIGHT_DECAY,
	.at = LLMCP35_AT_ADAMW,
};

static const struct ckpt_field adamw_fields[] = {
	CKPT_FIELD(struct llmcp35_adamw, learning_rate,
		.twin = { true,
			offsetof(struct ckpt_state, adamw.learning_rate) },
		.title = "optimizer learning rate", .want = &want_learning_rate,
		.doc = "base rate of updates"),
	CKPT_FIELD(struct llmcp35_adamw, beta1,
		.twin = { true, offsetof(struct ckpt_state, adamw.beta1) },
		.title = "optimizer beta1", .want = &want_beta1,
		.doc = "decay of the first moment"),
	CKPT_FIELD(struct llmcp35_adamw, beta2,
		.twin = { true, offsetof(struct ckpt_state, adamw.beta2) },
		.title = "optimizer beta2", .want = &want_beta2,
		.doc = "decay of the second moment"),
	CKPT_FIELD(struct llmcp35_adamw, epsilon,
		.twin = { true, offsetof(struct ckpt_state, adamw.epsilon) },
		.title = "optimizer epsilon", .want = &want_epsilon,
		.doc = "added to the root of the second moment"),
	CKPT_FIELD(struct llmcp35_adamw, weight_decay,
		.twin = { true,
			offsetof(struct ckpt_state, adamw.weight_decay) },
		.title = "optimizer weight decay", .want = &want_weight_decay,
		.doc = "decoupled decay; unless zero, its product with the "
		       "learning rate is above 0 and below 1"),
};
const struct ckpt_record llmcp35_adamw_rec = {
	.name = "adamw",
	.size = sizeof(struct llmcp35_adamw),
	.fields = adamw_fields,
	.nfields = sizeof adamw_fields / sizeof adamw_fields[0],
	.doc = "settings of the optimizer",
};

static const struct ckpt_want want_flag = {
	.kind = CKPT_WANT_RANGE,
	.min = 0,
	.max = 1,
	.code = CKPT_D_GROUPS_FLAG,
};
static const struct ckpt_want want_group_name = {
	.kind = CKPT_WANT_UTF8,
	.code = CKPT_D_GROUP_NAME_UTF8,
};
static const struct ckpt_field groups_fields[] = {
	CKPT_FIELD(struct llmcp35_groups, flag,
		.title = "optimizer groups flag", .want = &want_flag,
		.doc = "1: the two lists follow"),
	CKPT_ARRAY(struct llmcp35_groups, decay, flag, CKPT_STR,
		.title = "decay parameter-group name", .prefixed = true,
		.when = { true, offsetof(struct llmcp35_groups, flag), CKPT_U8,
			1 },
		.want = &want_group_name,
		.doc = "parameters that decay, ascending bytewise"),
	CKPT_ARRAY(struct llmcp35_groups, no_decay, flag, CKPT_STR,
		.title = "no-decay parameter-group name", .prefixed = true,
		.when = { true, offsetof(struct llmcp35_groups, flag), CKPT_U8,
			1 },
		.want = &want_group_name,
		.doc = "parameters that do not decay, ascending bytewise"),
};
const struct ckpt_record llmcp35_groups_rec = {
	.name = "groups",
	.size = sizeof(struct llmcp35_groups),
	.fields = groups_fields,
	.nfields = sizeof groups_fields / sizeof groups_fields[0],
	.doc = "which parameters decay",
};

static const struct ckpt_field optimizer_fields[] = {
	CKPT_FIELD(struct llmcp35_optimizer, step,
		.twin = { true, offsetof(struct ckpt_state, optimizer_step) },
		.title = "optimizer step",
		.doc = "updates made; that of the selected step"),
	CKPT_FIELD(struct llmcp35_optimizer, beta1_power,
		.twin = { true, offsetof(struct ckpt_state, beta1_power) },
		.title = "optimizer beta1 power",
		.doc = "beta1 multiplied step times; exactly 1 at step 0, "
		       "else at least 0 and below 1"),
	CKPT_FIELD(struct llmcp35_optimizer, beta2_power,
		.twin = { true, offsetof(struct ckpt_state, beta2_power) },
		.title = "optimizer beta2 power",
		.doc = "beta2 multiplied step times; exactly 1 at step 0, "
		       "else at least 0 and below 1"),
};
const struct ckpt_record llmcp35_optimizer_rec = {
	.name = "optimizer",
	.size = sizeof(struct llmcp35_optimizer),
	.fields = optimizer_fields,
	.nfields = sizeof optimizer_fields / sizeof optimizer_fields[0],
	.doc = "progress of the optimizer",
};

static const struct ckpt_field counts_fields[] = {
	CKPT_FIELD(struct llmcp35_counts, parameters,
		.twin = { true, offsetof(struct ckpt_state, nparameters) },
		.title = "model parameter tensor count",
		.doc = "9 x layers + 2"),
	CKPT_FIELD(struct llmcp35_counts, optimizer,
		.twin = { true, offsetof(struct ckpt_state, nmoments) },
		.title = "optimizer state tensor count",
		.doc = "0 at step 0, else one a parameter; each has two "
		       "records"),
	CKPT_FIELD(struct llmcp35_counts, descriptors,
		.title = "tensor descriptor count",
		.doc = "tokenizer records, parameters and moments together"),
};
const struct ckpt_record llmcp35_counts_rec = {
	.name = "counts",
	.size = sizeof(struct llmcp35_counts),
	.fields = counts_fields,
	.nfields = sizeof counts_fields / sizeof counts_fields[0],
	.doc = "sizes of the descriptor table",
};

static const struct ckpt_want want_layout = {
	.kind = CKPT_WANT_RANGE,
	.min = 1,
	.max = 1,
	.code = CKPT_D_TOKENIZER_LAYOUT,
	.stops = true,
};
static const struct ckpt_tag rng_tags[] = {
	{ 1, "splitmix64-v1", "SplitMix64" },
};
static const struct ckpt_want want_rng = {
	.kind = CKPT_WANT_TAGS,
	.tags = rng_tags,
	.ntags = 1,
	.code = CKPT_D_RNG_ALGORITHM,
	.stops = true,
};
static const struct ckpt_tag kind_tags[] = {
	{ LLMCP35_KIND_LITERAL, "literal-u32", "one record a token" },
	{ LLMCP35_KIND_BPE, "byte-bpe", "one record of merge pairs" },
};
static const struct ckpt_want want_kind = {
	.kind = CKPT_WANT_TAGS,
	.tags = kind_tags,
	.ntags = 2,
	.code = CKPT_D_TOKENIZER_KIND,
};

static const struct ckpt_field header_fields[] = {
	CKPT_FIELD(struct llmcp35_header, tokenizer_layout,
		.title = "tokenizer layout version", .want = &want_layout,
		.doc = "version of the tokenizer's layout"),
	CKPT_FIELD(struct llmcp35_header, rng_algorithm,
		.title = "sampling RNG algorithm version", .want = &want_rng,
		.doc = "generator of the sampling stream"),
	CKPT_FIELD(struct llmcp35_header, selected_step,
		.twin = { true, offsetof(struct ckpt_state, selected_step) },
		.title = "selected step",
		.doc = "training step that was saved"),
	CKPT_FIELD(struct llmcp35_header, sampling_rng_state,
		.twin = { true,
			offsetof(struct ckpt_state, sampling_rng_state) },
		.title = "sampling RNG state", .flags = CKPT_SHOW_HEX,
		.doc = "state before the next draw"),
	CKPT_FIELD(struct llmcp35_header, tokenizer_kind,
		.title = "tokenizer kind", .want = &want_kind,
		.doc = "how the tokenizer is stored"),
	CKPT_FIELD(struct llmcp35_header, tokenizer_vocabulary,
		.twin = { true,
			offsetof(struct ckpt_state, tokenizer.vocabulary) },
		.title = "tokenizer vocabulary",
		.doc = "number of token ids; 258 + merges for byte-BPE"),
	CKPT_FIELD(struct llmcp35_header, decoder, .rec = &llmcp35_decoder_rec),
	CKPT_FIELD(struct llmcp35_header, adamw, .rec = &llmcp35_adamw_rec),
	CKPT_FIELD(struct llmcp35_header, groups, .rec = &llmcp35_groups_rec),
	CKPT_FIELD(struct llmcp35_header, optimizer,
		.rec = &llmcp35_optimizer_rec),
	CKPT_FIELD(struct llmcp35_header, counts, .rec = &llmcp35_counts_rec),
};
const struct ckpt_record llmcp35_header_rec = {
	.name = "header",
	.size = sizeof(struct llmcp35_header),
	.fields = header_fields,
	.nfields = sizeof header_fields / sizeof header_fields[0],
	.doc = "variable header, at offset 38",
};

static const struct ckpt_tag role_tags[] = {
	{ LLMCP35_LITERAL_TOKEN, "LiteralToken", "bytes of one token" },
	{ LLMCP35_BPE_PAIRS, "BpePairs", "merge table" },
	{ LLMCP35_PARAMETER, "ModelParameter", "weights" },
	{ LLMCP35_FIRST_MOMENT, "OptimizerFirstMoment", "AdamW m" },
	{ LLMCP35_SECOND_MOMENT, "OptimizerSecondMoment", "AdamW v" },
};
const struct ckpt_want llmcp35_want_role = {
	.kind = CKPT_WANT_TAGS,
	.tags = role_tags,
	.ntags = sizeof role_tags / sizeof role_tags[0],
	.code = CKPT_D_ROLE,
};
static const struct ckpt_want want_name = {
	.kind = CKPT_WANT_UTF8,
	.min = 1,
	.code = CKPT_D_NAME_UTF8,
	.short_code = CKPT_D_NAME_EMPTY,
};
static const struct ckpt_tag dtype_tags[] = {
	{ LLMCP35_U8, "u8", "1 byte" },
	{ LLMCP35_U32, "u32", "4 bytes" },
	{ LLMCP35_F64, "f64", "8 bytes" },
};
const struct ckpt_want llmcp35_want_dtype = {
	.kind = CKPT_WANT_TAGS,
	.tags = dtype_tags,
	.ntags = sizeof dtype_tags / sizeof dtype_tags[0],
	.code = CKPT_D_DTYPE,
};

static const struct ckpt_field descriptor_fields[] = {
	CKPT_FIELD(struct llmcp35_record, role, .title = "tensor role",
		.want = &llmcp35_want_role, .doc = "what the tensor is for"),
	CKPT_FIELD(struct llmcp35_record, name, .title = "tensor name",
		.want = &want_name,
		.doc = "token id in decimal, `training-pairs`, or the "
		       "parameter's name"),
	CKPT_FIELD(struct llmcp35_record, dtype, .title = "tensor dtype",
		.want = &llmcp35_want_dtype, .doc = "type of the elements"),
	CKPT_FIELD(struct llmcp35_record, rank, .title = "tensor rank",
		.doc = "number of dimensions; 0 means one element"),
	CKPT_ARRAY(struct llmcp35_record, dims, rank, CKPT_U64,
		.title = "tensor dimension", .doc = "row-major extents"),
	CKPT_FIELD(struct llmcp35_record, offset, .title = "tensor offset",
		.flags = CKPT_IS_OFFSET,
		.doc = "absolute offset of the first payload byte; records "
		       "follow each other without gaps"),
	CKPT_FIELD(struct llmcp35_record, byte_length,
		.title = "tensor byte length", .flags = CKPT_IS_LENGTH,
		.doc = "product of the dimensions times the dtype's width"),
};
const struct ckpt_record llmcp35_descriptor_rec = {
	.name = "descriptor",
	.size = sizeof(struct llmcp35_record),
	.fields = descriptor_fields,
	.nfields = sizeof descriptor_fields / sizeof descriptor_fields[0],
	.at_slot = offsetof(struct llmcp35_record, at),
	.doc = "one tensor of the payload",
};

static const struct ckpt_field file_fields[] = {
	CKPT_FIELD(
		struct llmcp35_file, fixed_header, .rec = &llmcp35_fixed_rec),
	CKPT_FIELD(struct llmcp35_file, header, .rec = &llmcp35_header_rec),
	CKPT_ARRAY(struct llmcp35_file, records, header.counts.descriptors,
		CKPT_REC, .rec = &llmcp35_descriptor_rec),
};
const struct ckpt_record llmcp35_file_rec = {
	.name = "LLMCP35",
	.size = sizeof(struct llmcp35_file),
	.fields = file_fields,
	.nfields = sizeof file_fields / sizeof file_fields[0],
	.doc = "LLMCP35 checkpoint, schema version 1",
};
