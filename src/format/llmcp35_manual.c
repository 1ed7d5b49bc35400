/* SPDX-License-Identifier: MIT */
/*
 * What llmcp35(5) says beyond the rows: how the pieces of a file belong
 * together. Fields, legal values and checks are not repeated here; the page
 * takes them from the schema and from the findings table.
 */
#include "format/llmcp35.h"

static const char *const about[] = {
	"An LLMCP35 file holds everything that continuing one training run "
	"needs from the model's side: the tokenizer, the parameters of a "
	"decoder-only transformer, the moments of its AdamW optimizer, their "
	"settings, and the state of the generator that draws samples. A file "
	"has one encoding only: the same state always gives the same bytes.",
	"It is a header followed by a payload. The header begins with the "
	"fixed header, goes on with the settings, and ends with one "
	"descriptor for each tensor; the payload holds the tensors' values. "
	"Integers are unsigned and little-endian. An f64 is an IEEE 754 "
	"double, stored as its bits in an u64. Nothing is padded or aligned. "
	"A string is an u32 number of bytes and then those bytes, in UTF-8, "
	"without a NUL behind them. Where names are ordered, they are ordered "
	"by their bytes, and a name comes before all longer ones that begin "
	"with it.",
	NULL,
};

static const char *const payload[] = {
	"The payload has no structure of its own: each descriptor says where "
	"the values of its tensor are. The first tensor begins where the "
	"header ends, every other where the one before it ends, and the last "
	"one ends with the file. Values stand row by row. Weights have one "
	"row for each input.",
	"Descriptors, and so the tensors, come in one order:",
	"First the tokenizer. A literal tokenizer has one record for each "
	"token, by id, of role 1 and dtype u8; its name is the id in decimal "
	"and its only dimension the number of bytes of the token. A byte-BPE "
	"tokenizer has one record, of role 2 and dtype u32, named "
	"`training-pairs`, with a row of two ids for each merge.",
	"Then the parameters of the model, of role 3 and dtype f64: "
	"`token_embedding.weight`; for each layer, counted from 0, its nine "
	"tensors, whose names begin with `blocks.` and the number of the "
	"layer; and `final_norm.gain`. With V the vocabulary, D the width and "
	"F the feed-forward width, their shapes are:",
	"\ttoken_embedding.weight              V x D",
	"\tblocks.N.attention_norm.gain        D",
	"\tblocks.N.attention.query.weight     D x D",
	"\tblocks.N.attention.key.weight       D x D",
	"\tblocks.N.attention.value.weight     D x D",
	"\tblocks.N.attention.output.weight    D x D",
	"\tblocks.N.ffn_norm.gain              D",
	"\tblocks.N.ffn.gate.weight            D x F",
	"\tblocks.N.ffn.up.weight              D x F",
	"\tblocks.N.ffn.down.weight            F x D",
	"\tfinal_norm.gain                     D",
	"Last, unless no step was made, the optimizer's moments: for each "
	"parameter a record of role 4 with the first and one of role 5 with "
	"the second moment, both with the name and the shape of the "
	"parameter. They are sorted by name, which is another order than that "
	"of the model: layer 10 comes before layer 2, and the embedding last.",
	NULL,
};

static const char *const tokenizers[] = {
	"The tokens of a literal tokenizer are any strings of bytes, as long "
	"as none is empty and no two are the same.",
	"The ids in a table of merges are those of training: 0 to 255 are the "
	"bytes, 256 + r is what merge r makes. A merge may use only what was "
	"there before it, and no two merges have the same pair, though they "
	"may well make the same bytes. The ids of the finished tokenizer are "
	"larger by 2, because 0 and 1 are the marks for the begin and the end "
	"of a text; so its vocabulary is 258 and the number of merges.",
	NULL,
};

static const char *const parameters[] = {
	"The name of a parameter consists of lower-case letters, digits, "
	"underscores and dots. No dot stands first or last or beside another "
	"one.",
	"Every finite value is legal, also -0.0 and denormal numbers. Second "
	"moments are not below zero.",
	"Rotary angles are not stored, but they must exist. With P pairs in "
	"each head, pair p has the frequency base to the power of "
	"-2p divided by 2P, and its angle at a position is that times the "
	"position; each must be finite for all positions, and positions times "
	"P must not exceed what memory can hold in bytes, 2 to the power of 63 "
	"less one, divided by 8. So the longest context may be far longer than "
	"any that could be used.",
	NULL,
};

static const char *const checksum[] = {
	"The checksum is FNV-1a with 64 bits over all bytes of the file, in "
	"which the eight bytes of the checksum itself count as zero. It starts "
	"with cbf29ce484222325 (hexadecimal); for each byte, the value is "
	"combined with the byte by exclusive or, then multiplied by "
	"100000001b3 (hexadecimal) modulo 2 to the power of 64. Messages "
	"write it as `fnv1a64:` and 16 hexadecimal digits.",
	"It finds accidents. It has no key: whoever can change a file can "
	"also make the checksum fit, so a valid file is intact and nothing "
	"more.",
	NULL,
};

static const char *const canonical[] = {
	"A file is canonical if encoding what was decoded from it gives the "
	"same bytes. Nearly all of this follows from the other checks. What is "
	"left are two orders, which the last check looks at: the names of each "
	"of the two lists of groups ascend strictly, and so do the names of "
	"the moments. Every f64 keeps its bits, so -0.0 and denormal numbers "
	"come back as they were.",
	NULL,
};

static const char *const order[] = {
	"Checks are named by a stage and a number: A looks at the file as a "
	"whole, B at the header field by field, C at the table of descriptors, "
	"D at the tokenizer, E at the model, F at the optimizer, G at all of "
	"them together; 6.1 and 6.6 are the last checks of stage E, of the "
	"decoder's settings and of the parameters' shapes; 8 is what is legal "
	"and unlikely, and only warned about. The finding of the "
	"earliest stage decides about the file, within a stage the one of the "
	"earliest field, record or token. The others are reported too.",
	NULL,
};

static const struct ckpt_chapter chapters[] = {
	{ "PAYLOAD", payload },
	{ "TOKENIZERS", tokenizers },
	{ "PARAMETERS", parameters },
	{ "CHECKSUM", checksum },
	{ "CANONICAL FORM", canonical },
	{ "ORDER OF CHECKS", order },
	{ 0 },
};

static const char *const words[] = { LLMCP35_BPE_NAME, "blocks.", NULL };

const struct ckpt_manual llmcp35_manual = {
	.date = "November 29, 2026",
	.about = about,
	.chapters = chapters,
	.words = words,
};
