/* SPDX-License-Identifier: MIT */
/*
 * The options of ckinspect and what its manual page says: tables only, from
 * which parser, --help and the page are made.
 */
#include "cli/inspect.h"

#include <stddef.h>

#include "view/keys.h"

#define SLOT(member) offsetof(struct inspect_options, member)

static const char *const sections[] = { "overview", "groups", "records",
	"fields", "map", "findings", "hex", "stats", NULL };
static const char *const formats[] = { "text", "json", NULL };

static const struct ckpt_opt rows[] = {
	{ .kind = CKPT_OPT_HEADING, .help = "The viewer" },
	{ .name = "no-mouse",
		.kind = CKPT_OPT_FLAG,
		.slot = SLOT(no_mouse),
		.help = "leave the mouse to the terminal" },
	{ .kind = CKPT_OPT_HEADING, .help = "What to print" },
	{ .name = "batch",
		.kind = CKPT_OPT_CHOICE,
		.optional = true,
		.tag = INSPECT_OVERVIEW,
		.words = sections,
		.preset = "overview",
		.slot = SLOT(batch),
		.help = "print one section. overview: what the file is, its "
			"verdict, and what it holds; groups: its records in a "
			"few rows; records: one row each, with gaps and "
			"overlaps; fields: every header field; map: who owns "
			"which bytes; findings: what is wrong; hex: bytes with "
			"their owners; stats: the values of every tensor" },
	{ .name = "at",
		.kind = CKPT_OPT_U64,
		.arg = "OFFSET",
		.slot = SLOT(at),
		.help = "name the field or tensor element that owns the byte "
			"at OFFSET, decimal or 0x and hexadecimal digits, and "
			"decode it" },
	{ .name = "hex-range",
		.kind = CKPT_OPT_TEXT,
		.arg = "OFFSET:LENGTH",
		.slot = SLOT(hex_range),
		.help = "with --batch=hex, the bytes to show; without it, the "
			"first 256 and those around every finding" },
	{ .name = "html",
		.kind = CKPT_OPT_TEXT,
		.arg = "OUT",
		.slot = SLOT(html),
		.help = "write one page that shows everything to OUT, "
			"atomically, or to standard output if it is -. It "
			"loads nothing, its table filters (OUT#q=WORD) and "
			"sorts, and it can be read without scripts" },
	{ .kind = CKPT_OPT_HEADING, .help = "Output" },
	{ .name = "format",
		.kind = CKPT_OPT_CHOICE,
		.words = formats,
		.preset = "text",
		.slot = SLOT(format),
		.help = "how to print it" },
	{ .name = "color",
		.kind = CKPT_OPT_CHOICE,
		.words = ckpt_when_words,
		.preset = "auto",
		.slot = SLOT(color),
		.help = "when to use colors" },
	{ .name = "progress",
		.kind = CKPT_OPT_CHOICE,
		.words = ckpt_when_words,
		.preset = "auto",
		.slot = SLOT(progress),
		.help = "when to report progress on standard error" },
	{ .name = "verbose",
		.letter = 'v',
		.kind = CKPT_OPT_FLAG,
		.slot = SLOT(verbose),
		.help = "show more: the meaning of fields, the bytes of "
			"descriptors, the rules that were evaluated" },
	{ .kind = CKPT_OPT_HEADING, .help = "Limits" },
	{ .name = "max-memory",
		.kind = CKPT_OPT_SIZE,
		.arg = "SIZE",
		.preset = "1G",
		.least = 1024 * 1024,
		.slot = SLOT(max_memory),
		.help = "the most memory that headers may need" },
	{ 0 },
};

static const char *const use[] = { "[--no-mouse] [options] FILE [OTHER]",
	"--batch[=SECTION] [options] FILE", "--at=OFFSET [options] FILE",
	"--html=OUT [options] FILE", NULL };

static const char *const about[] = {
	"shows what a checkpoint file holds, byte by byte if need be, whether "
	"it is valid or not. Of a broken file it shows what could be read and "
	"marks what is wrong; of a file of no known format, its bytes.",
	"In a terminal it opens a viewer: the records as a tree, the bytes, "
	"what "
	"the byte under the cursor means, the values of its tensor, and the "
	"findings, all about one cursor. `?` shows every key, `q` leaves. A "
	"header and files up to 256 MiB are read at once in the background, a "
	"larger payload when `v` asks for it. When the file changes meanwhile "
	"a "
	"line says so. The viewer needs 40 columns and 10 lines, and puts the "
	"terminal back however it ends.",
	"With OTHER the viewer also shows where FILE differs from it: key `c` "
	"lists records and header fields, and bytes that differ are marked. "
	"Records are matched by role and name.",
	"It prints instead, the overview unless told otherwise, when standard "
	"input or output is no terminal, or one that cannot place its cursor, "
	"when FILE is a pipe, or when --batch, --at, --html, --format or "
	"--verbose is given.",
	"The file is read only, never mapped into memory, and may be `-` for "
	"standard input. The sections groups, records, fields and map, and "
	"--at, read the header and no more than the first 16 MiB of the rest; "
	"of a larger file they know no verdict.",
	NULL,
};

static const struct ckpt_entry exits[] = {
	{ "0", "The file was shown, whatever its verdict." },
	{ "2", "Wrong options or operands, or an offset behind the end of the "
	       "file." },
	{ "3", "The file could not be read, a limit was hit, OUT could not "
	       "be written, or the viewer lost its terminal." },
	{ "130", "The viewer was interrupted." },
	{ 0 },
};

static const struct ckpt_entry examples[] = {
	{ "ckinspect model.ckpt", "Look around in a checkpoint:" },
	{ "ckinspect step9.ckpt step8.ckpt", "Where two checkpoints differ:" },
	{ "ckinspect --batch=records model.ckpt",
		"The records of a checkpoint, and where they lie:" },
	{ "ckinspect --at=0x1e model.ckpt", "What byte 30 belongs to:" },
	{ "ckinspect --batch=hex --hex-range=0:64 model.ckpt",
		"The first 64 bytes:" },
	{ "ckinspect --html=model.html model.ckpt",
		"A page to look at in a browser, or to send:" },
	{ 0 },
};

static const char *const confined[] = {
	"To print, the file, or standard input, is opened, and then nothing "
	"can be opened any more. With --html "
	"files can be made, renamed and removed in the folder of the page.",
	"The viewer can read the folders of its files, to open them again when "
	"they have been replaced, that of its bookmarks, that of temporary "
	"files, and the descriptions of terminals. As it writes bytes wherever "
	"it is asked to, it can make, rename and remove files everywhere, but "
	"not write into one that is there.",
	NULL,
};

static const char *const see[] = { "ckforge(1)", "ckverify(1)", NULL };

const struct ckpt_command inspect_command = {
	.name = "ckinspect",
	.title = "show what is in a checkpoint file",
	.use = use,
	.about = about,
	.opts = rows,
	.operand = "FILE",
	.least = 1,
	.most = 2,
	.keys = view_keys_man,
	.environment = ckpt_screen_environment,
	.exits = exits,
	.examples = examples,
	.see = see,
	.confined = confined,
	.date = "November 29, 2026",
};
