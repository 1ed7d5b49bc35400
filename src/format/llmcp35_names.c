/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: sets of names (of parameters, moments, groups) and how they are
 * compared: in bytewise order, whatever the order in which they are stored.
 */
#include "format/llmcp35.h"

#include <string.h>

#include "base/sort.h"

const struct ckpt_str *
llmcp35_name_at(const struct llmcp35_names *set, uint32_t i)
{
	return &set->names[set->order[i]];
}

int
llmcp35_name_compare(const struct ckpt_str *a, const struct ckpt_str *b)
{
	return ckpt_bytes_compare(a->p, a->n, b->p, b->n);
}

static bool
sort_set(struct llmcp35_judge *j, struct llmcp35_names *set)
{
	set->order = ckpt_sorted(
		&j->run->arena, set->n, llmcp35_names_compare, set->names);
	return set->order != NULL;
}

/* n record names from record first on, step apart. */
bool
llmcp35_record_names(struct llmcp35_judge *j, uint64_t first, uint32_t n,
	unsigned step, struct llmcp35_names *set)
{
	const struct llmcp35_record *records = LLMCP35_RECORDS(j->file);
	struct ckpt_str *names =
		ckpt_arena_alloc(&j->run->arena, (size_t)n * sizeof *names);

	if (!names)
		return false;
	for (uint32_t i = 0; i < n; i++)
		names[i] = records[first + (uint64_t)i * step].name;
	set->names = names;
	set->n = n;
	return sort_set(j, set);
}

bool
llmcp35_group_names(struct llmcp35_judge *j, struct llmcp35_names *set)
{
	const struct llmcp35_groups *g = &j->file->header.groups;
	size_t a = g->decay.n, b = g->no_decay.n;
	struct ckpt_str *names =
		ckpt_arena_alloc(&j->run->arena, (a + b) * sizeof *names);

	if (!names)
		return false;
	if (a)
		memcpy(names, g->decay.p, a * sizeof *names);
	if (b)
		memcpy(names + a, g->no_decay.p, b * sizeof *names);
	set->names = names;
	set->n = (uint32_t)(a + b);
	return sort_set(j, set);
}

/* The first place at which two sorted sets differ; UINT32_MAX if nowhere. */
uint32_t
llmcp35_names_difference(
	const struct llmcp35_names *a, const struct llmcp35_names *b)
{
	uint32_t n = a->n < b->n ? a->n : b->n;

	for (uint32_t i = 0; i < n; i++)
		if (llmcp35_name_compare(
			    llmcp35_name_at(a, i), llmcp35_name_at(b, i)) != 0)
			return i;
	return a->n == b->n ? UINT32_MAX : n;
}

/* "12 names, the 3rd in order is x". */
const char *
llmcp35_names_text(
	struct llmcp35_judge *j, const struct llmcp35_names *set, uint32_t at)
{
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_printf(&buf, "%u names", set->n);
	if (at < set->n) {
		ckpt_buf_printf(&buf, ", number %u in order is ", at);
		ckpt_buf_escape(&buf, llmcp35_name_at(set, at)->p,
			llmcp35_name_at(set, at)->n, CKPT_BUF_SHOWN);
	}
	text = ckpt_walk_text(&j->walk, "%s", buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
	return text;
}
