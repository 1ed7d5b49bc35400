/* SPDX-License-Identifier: MIT */
/*
 * Manual pages from rows: what must be escaped, and the whole page of a small
 * tool. With mandoc at hand the page must pass its lint.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/screen.h"
#include "sink/mdoc.h"

struct options {
	enum ckpt_when color;
	int batch;
	const char *output;
	bool rules;
};

static const char *const sections[] = { "overview", "hex", "Ns", NULL };

static const struct ckpt_opt rows[] = {
	{ .kind = CKPT_OPT_HEADING, .help = "Output No macro" },
	{ .name = "color",
		.kind = CKPT_OPT_CHOICE,
		.words = ckpt_when_words,
		.preset = "auto",
		.slot = offsetof(struct options, color),
		.help = "use colours" },
	{ .name = "batch",
		.kind = CKPT_OPT_CHOICE,
		.optional = true,
		.tag = -1,
		.arg = "SECTION",
		.words = sections,
		.slot = offsetof(struct options, batch),
		.help = "print SECTION, or all, and exit" },
	{ .name = "output",
		.letter = 'o',
		.kind = CKPT_OPT_TEXT,
		.arg = "Ar",
		.slot = offsetof(struct options, output),
		.help = "write to Ar. Not over \"inputs\"; --color stays" },
	{ .letter = 'l',
		.kind = CKPT_OPT_FLAG,
		.alone = true,
		.slot = offsetof(struct options, rules),
		.help = ".Sh is no macro here; see `ckx --color=never`" },
	{ 0 },
};

static const char *const use[] = { "[options] FILE|- ...", "-l", NULL };
static const char *const about[] = { "Reads. Then 'says' so.",
	".El closes nothing, and \\fB neither.", NULL };
static const char *const see[] = { "ckinspect(1)", "ckpt-rules(7)", NULL };
static const struct ckpt_entry examples[] = {
	{ ".hidden -l \\n 'x'", "Everything about one file:" },
	{ 0 },
};

static const struct ckpt_command tool = {
	.name = "ckx",
	.title = "verify No checkpoints",
	.use = use,
	.about = about,
	.opts = rows,
	.operand = "FILE",
	.least = 1,
	.most = CKPT_OPERANDS_ANY,
	.environment = ckpt_screen_environment,
	.examples = examples,
	.see = see,
	.date = "November 29, 2025",
};

static const char *const sub_use[] = { "FILE [--set PATH=VALUE]", NULL };
static const struct ckpt_command subs[] = {
	{ .name = "mutate",
		.title = "change fields",
		.use = sub_use,
		.about = about,
		.opts = rows,
		.most = 1 },
	{ .name = "corpus", .title = "make all", .use = sub_use },
	{ 0 },
};

static const struct ckpt_command many = {
	.name = "ckmany",
	.title = "make files",
	.use = use,
	.subs = subs,
	.date = "November 29, 2025",
};

static void
test_mdoc_text_escapes(void **state)
{
	static const struct {
		const char *text, *names, *mdoc;
	} cases[] = {
		{ ".Sh", NULL, "\\&.Sh\n" },
		{ "'a' .b", NULL, "\\(aqa\\(aq \\&.b\n" },
		{ "a\\fB \"q\" `x` ^~", NULL,
			"a\\efB \\(dqq\\(dq \\fBx\\fP \\(ha\\(ti\n" },
		{ "use --max-memory=1G or -o.", NULL,
			"use \\fB\\-\\-max-memory=1G\\fP or \\fB\\-o\\fP.\n" },
		{ "re-use N, (N) and Nx", "N SIZE",
			"re-use \\fIN\\fP, (\\fIN\\fP) and Nx\n" },
		{ "One.  Two. (See that.) Three", NULL,
			"One.\nTwo.\n(See that.)\nThree\n" },
		{ "`a --b` c", NULL, "\\fBa\\fP \\fB\\-\\-b\\fP c\n" },
		{ "caf\xc3\xa9 \xff\n", NULL, "caf\\[u00E9] ??\n" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
		  "ccccccccccccccccc ddd .e",
			NULL,
			"aaaaaaaaaaaaaaaaaaaaaaaaa "
			"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb ccccccccccccccccc\n"
			"ddd \\&.e\n" },
	};
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ckpt_buf_clear(&buf);
		ckpt_mdoc_text(&buf, cases[i].text, cases[i].names);
		assert_string_equal(buf.p, cases[i].mdoc);
	}
	ckpt_buf_release(&buf);
}

static void
test_mdoc_arguments(void **state)
{
	static const char *const cases[][2] = {
		{ "Fl", " \\&Fl" },
		{ "Brq", " \\&Brq" },
		{ "%A", " \\&%A" },
		{ "|", " \\&|" },
		{ ".", " \\&." },
		{ "o", " o" },
		{ "FILE", " FILE" },
		{ "", " \"\"" },
		{ "a b", " \"a b\"" },
		{ "a\"b", " a\\(dqb" },
		{ "a\\b", " a\\eb" },
	};
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ckpt_buf_clear(&buf);
		ckpt_mdoc_arg(&buf, cases[i][0], strlen(cases[i][0]));
		assert_string_equal(buf.p, cases[i][1]);
	}
	ckpt_buf_release(&buf);
}

static void
test_opt_man_options(void **state)
{
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_man_options(&buf, rows);
	assert_string_equal(buf.p,
		".Ss Output \\&No macro\n"
		".Bl -tag -width Ds\n"
		".It Fl Fl color Ns = Ns Cm auto Ns | Ns Cm always Ns | Ns Cm "
		"never\n"
		"Use colours.\n"
		"The default is \\fBauto\\fP.\n"
		".It Fl Fl batch Ns Oo = Ns Ar SECTION Oc\n"
		"Print \\fISECTION\\fP, or all, and exit.\n"
		"\\fISECTION\\fP is one of \\fBoverview\\fP, \\fBhex\\fP, "
		"\\fBNs\\fP.\n"
		".It Fl o , Fl Fl output Ns = Ns Ar \\&Ar\n"
		"Write to \\fIAr\\fP.\n"
		"Not over \\(dqinputs\\(dq; \\fB\\-\\-color\\fP stays.\n"
		".It Fl l\n"
		"\\&.Sh is no macro here; see \\fBckx\\fP "
		"\\fB\\-\\-color=never\\fP.\n"
		".El\n");
	ckpt_buf_release(&buf);
}

static void
assert_lint(const struct ckpt_command *command)
{
	struct ckpt_buf buf;
	FILE *lint;

	ckpt_buf_init(&buf);
	ckpt_man_write(&buf, command);
	assert_false(buf.failed);
	lint = popen("mandoc -T lint -W warning", "w");
	assert_non_null(lint);
	assert_int_equal(fwrite(buf.p, 1, buf.n, lint), buf.n);
	assert_int_equal(pclose(lint), 0);
	ckpt_buf_release(&buf);
}

static void
test_opt_man_page_is_clean(void **state)
{
	(void)state;
	if (system("command -v mandoc >/dev/null") != 0)
		skip();
	assert_lint(&tool);
	assert_lint(&many);
}

static void
test_opt_man_page_sections(void **state)
{
	static const char *const parts[] = {
		".Dd November 29, 2025\n.Dt CKX 1\n.Os\n.Sh NAME\n.Nm ckx\n"
		".Nd verify \\&No checkpoints\n",
		".Sh SYNOPSIS\n.Nm ckx\n"
		"[\\fIoptions\\fP] \\fIFILE\\fP|\\fB\\-\\fP ...\n"
		".Nm ckx\n\\fB\\-l\\fP\n",
		".Sh DESCRIPTION\nReads.\nThen \\(aqsays\\(aq so.\n.Pp\n\\&.El",
		".Sh OPTIONS\n.Ss Output",
		".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\n",
		".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\n",
		".Sh EXAMPLES\nEverything about one file:\n"
		".Bd -literal -offset indent\n"
		"\\&.hidden \\-l \\en \\(aqx\\(aq\n.Ed\n",
		".Sh SEE ALSO\n.Xr ckinspect 1 ,\n.Xr ckpt-rules 7\n",
	};
	struct ckpt_buf buf;
	const char *at;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_man_write(&buf, &tool);
	at = buf.p;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		at = strstr(at, parts[i]);
		if (!at)
			fail_msg("not found, or not in order: %s", parts[i]);
	}
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mdoc_text_escapes),
		cmocka_unit_test(test_mdoc_arguments),
		cmocka_unit_test(test_opt_man_options),
		cmocka_unit_test(test_opt_man_page_is_clean),
		cmocka_unit_test(test_opt_man_page_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
