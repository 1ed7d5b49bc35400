/* SPDX-License-Identifier: MIT */
/*
 * What is generated from the tables holds all of the tables: every path and
 * tag of a format, every rule once, and a dictionary that AFL++ can read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/describe.h"

static size_t
occurrences(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

struct seen {
	const char *text;
	size_t fields;
	char last[128];
};

/* The path is the first word of an item, in full. */
static void
check_path(void *ctx, const struct ckpt_described *d)
{
	struct seen *seen = ctx;
	char item[160];

	snprintf(item, sizeof item, "\n.It Sy %s Pq ", d->path);
	assert_int_equal(occurrences(seen->text, item), 1);
	assert_string_not_equal(d->path, seen->last);
	snprintf(seen->last, sizeof seen->last, "%s", d->path);
	if (d->field->doc && !d->is_count)
		assert_true(strlen(d->field->doc) > 0);
	if (d->field->want && !d->is_count)
		for (size_t i = 0; i < d->field->want->ntags; i++)
			assert_non_null(strstr(
				seen->text, d->field->want->tags[i].name));
	seen->fields++;
}

static void
test_manual_names_every_field(void **state)
{
	(void)state;
	for (size_t i = 0; ckpt_format_at(i); i++) {
		struct ckpt_buf buf;
		struct seen seen = { 0 };

		ckpt_buf_init(&buf);
		ckpt_describe_manual(&buf, ckpt_format_at(i));
		assert_false(buf.failed);
		seen.text = buf.p;
		assert_true(ckpt_describe_fields(
			ckpt_format_at(i), check_path, &seen));
		assert_true(seen.fields > 0);
		ckpt_buf_release(&buf);
	}
}

static void
test_manual_names_every_check(void **state)
{
	struct ckpt_buf buf;
	const struct ckpt_format *format = ckpt_format_at(0);

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_describe_manual(&buf, format);
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const struct ckpt_rule *rule = ckpt_rule_at(i);
		bool ours = false;

		for (size_t k = 0; format->checks[k]; k++)
			ours |= strcmp(format->checks[k], rule->check) == 0;
		assert_int_equal(occurrences(buf.p, rule->id), ours ? 1 : 0);
	}
	ckpt_buf_release(&buf);
}

/* Known answers, from the description of the format. */
static void
check_offset(void *ctx, const struct ckpt_described *d)
{
	static const struct {
		const char *path;
		uint64_t off;
		bool placed;
	} known[] = {
		{ "fixed_header.checksum", 30, true },
		{ "header.tokenizer_layout", 38, true },
		{ "header.decoder.rope_base", 115, true },
		{ "header.groups.flag", 171, true },
		{ "header.optimizer.step", 0, false },
		{ "records[i].name", 1, true },
		{ "records[i].dtype", 0, false },
	};
	size_t *found = ctx;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(known[i].path, d->path) != 0)
			continue;
		++*found;
		assert_int_equal(d->placed, known[i].placed);
		if (d->placed)
			assert_int_equal(d->off, known[i].off);
	}
}

static void
test_manual_knows_offsets(void **state)
{
	size_t found = 0;

	(void)state;
	assert_true(ckpt_describe_fields(
		ckpt_format_find("llmcp35"), check_offset, &found));
	assert_int_equal(found, 7);
}

static void
test_rules_have_one_heading_each(void **state)
{
	struct ckpt_buf buf;
	char item[128];

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_describe_rules(&buf);
	assert_false(buf.failed);
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const struct ckpt_rule *rule = ckpt_rule_at(i);

		snprintf(item, sizeof item, "\n.It Sy %s %s\n", rule->id,
			rule->slug);
		assert_int_equal(occurrences(buf.p, item), 1);
		snprintf(item, sizeof item, "\n.It Sy %s", rule->id);
		assert_int_equal(occurrences(buf.p, item), 1);
	}
	assert_int_equal(occurrences(buf.p, "\n.It Sy CK"), ckpt_rule_count());
	ckpt_buf_release(&buf);
}

/* NAME="VALUE" as afl-fuzz reads it; the length of the value, 0 if it is not
 * one. */
static size_t
value_length(const char *line)
{
	size_t n = 0;

	while (isalnum((unsigned char)*line) || *line == '_')
		line++;
	if (line[0] != '=' || line[1] != '"')
		return 0;
	for (line += 2; *line != '"'; n++) {
		if (*line < ' ' || *line > '~')
			return 0;
		if (*line++ != '\\')
			continue;
		if (*line == '\\' || *line == '"') {
			line++;
			continue;
		}
		if (line[0] != 'x' || !isxdigit((unsigned char)line[1]) ||
			!isxdigit((unsigned char)line[2]))
			return 0;
		line += 3;
	}
	return line[1] == '\0' ? n : 0;
}

static void
test_dictionary_can_be_read(void **state)
{
	struct ckpt_buf buf;
	size_t entries = 0;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_describe_dictionary(&buf, ckpt_format_find("llmcp35"));
	assert_false(buf.failed);
	for (char *line = strtok(buf.p, "\n"); line;
		line = strtok(NULL, "\n")) {
		if (line[0] == '#')
			continue;
		assert_in_range(value_length(line), 1, 128);
		entries++;
	}
	assert_true(entries > 20);
	ckpt_buf_release(&buf);
}

static void
test_dictionary_holds_magic_tags_and_names(void **state)
{
	static const char *const wanted[] = {
		"\nfixed_header_magic=\"LLMCP35\\x00\"\n",
		"\nheader_tokenizer_kind_byte_bpe=\"\\x02\"\n",
		"\nu32_max=\"\\xff\\xff\\xff\\xff\"\n",
		"\nf64_infinity=\"\\x00\\x00\\x00\\x00\\x00\\x00\\xf0\\x7f\"\n",
		"\ntraining_pairs=\"training-pairs\"\n",
		"\nfinal_norm_gain=\"final_norm.gain\"\n",
	};
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_describe_dictionary(&buf, ckpt_format_find("llmcp35"));
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		assert_int_equal(occurrences(buf.p, wanted[i]), 1);
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manual_names_every_field),
		cmocka_unit_test(test_manual_names_every_check),
		cmocka_unit_test(test_manual_knows_offsets),
		cmocka_unit_test(test_rules_have_one_heading_each),
		cmocka_unit_test(test_dictionary_can_be_read),
		cmocka_unit_test(test_dictionary_holds_magic_tags_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
