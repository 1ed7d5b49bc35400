/* SPDX-License-Identifier: MIT */
/*
 * What safetensors(5) says beyond the rows: how the pieces of a file belong
 * together, what is judged more strictly than the format's own loader does,
 * and how this project writes such files.
 */
#include "format/safetensors.h"

static const char *const about[] = {
	"A safetensors file holds named tensors and nothing that can run. It "
	"begins with the length of its header, an u64, little-endian; then "
	"comes the header, which is a JSON object in UTF-8; then the bytes of "
	"the tensors, without gap or overlap, to the end of the file. There "
	"is no magic, no version and no checksum: a file that is valid may "
	"still not be the one that was written.",
	"Each key of the header is the name of a tensor, but for "
	"`__metadata__`, an object of strings, which may be absent, empty or "
	"null. White space may stand behind the closing brace, and usually "
	"does, to let the data begin at a multiple of 8; nothing demands that.",
	NULL,
};

static const char *const tensors[] = {
	"The range of a tensor counts from the end of the header. It has as "
	"many bytes as the shape has elements times the bits of the dtype, "
	"divided by 8. The product is taken from left to right and has to fit "
	"64 bits at each step. A shape without dimensions means one element, "
	"a dimension of 0 none. Values stand row by row, little-endian.",
	"Sorted by their ranges, the first tensor begins at 0, every other "
	"where the one before it ends, and the last ends with the file. The "
	"order in the header is free.",
	NULL,
};

static const char *const dtypes[] = {
	"Names are compared exactly. Several elements of a dtype of less than "
	"eight bits share a byte, the first in the lowest bits, and together "
	"they fill whole bytes.",
	"\tBOOL U8 I8                        8 bits",
	"\tU16 I16 F16 BF16                 16 bits",
	"\tU32 I32 F32                      32 bits",
	"\tU64 I64 F64 C64                  64 bits; C64 is two F32",
	"\tF8_E4M3 F8_E5M2 F8_E8M0           8 bits",
	"\tF8_E4M3FNUZ F8_E5M2FNUZ           8 bits",
	"\tF6_E2M3 F6_E3M2                   6 bits",
	"\tF4                                4 bits",
	NULL,
};

static const char *const paths[] = {
	"`tensors[3].shape[1]` is a dimension, `tensors[3].data_offsets[0]` "
	"the begin of a range, `metadata[0].value` a text, "
	"`tensors[3].data[17]` or `tensors[3].data[4,1]` one element. "
	"`ckforge mutate` edits the text that stands there: what is set is "
	"written as a string where one stands, after `json:` as it is "
	"given, and the length of the header follows. Ranges do not.",
	NULL,
};

static const char *const strictness[] = {
	"The strict profile, which is the default, rejects what the format's "
	"own loader accepts but other readers may read differently: names "
	"and keys that stand twice once they are unescaped, objects nested "
	"deeper than 8, a tensor written as an array of its fields, a dtype "
	"written as an object. It never accepts what that loader rejects. "
	"Headers of more than 100,000,000 bytes are not verified unless "
	"`--max-header` is raised; that loader refuses them.",
	"The reference profile gives the loader's verdict and no warnings.",
	NULL,
};

static const char *const writing[] = {
	"Files that this project writes follow from what they mean: JSON "
	"without white space; `__metadata__` first, its keys in bytewise "
	"order; then the tensors in bytewise order of their names, each with "
	"dtype, shape and data_offsets; in strings only the quotation mark, "
	"the backslash and bytes below 0x20 are escaped, the last as "
	"`\\u00xx`; the fewest spaces that let the data begin at a multiple "
	"of 8; the data in the same order.",
	NULL,
};

static const struct ckpt_chapter chapters[] = {
	{ "TENSORS", tensors },
	{ "DTYPES", dtypes },
	{ "PATHS", paths },
	{ "STRICTNESS", strictness },
	{ "WRITING", writing },
	{ 0 },
};

static const char *const words[] = { "{\"", "\":{\"", "\"},\"", "}}", "[]",
	"{}", "null", "true", "NaN", "\"dtype\":\"", "\"shape\":[",
	"\"data_offsets\":[0,", "\"__metadata__\":{", "\\u0000",
	"\\ud83d\\ude00", "\\u0022", "18446744073709551615",
	"18446744073709551616", "9223372036854775808", "1e400", "-0", "BOOL",
	"F8_E8M0", "F6_E2M3", "F4", "BF16", "F32", "I64", "C64", "_orig_mod.",
	"module.", "lora_B", NULL };

const struct ckpt_manual safetensors_manual = {
	.date = "November 30, 2026",
	.about = about,
	.chapters = chapters,
	.words = words,
};
