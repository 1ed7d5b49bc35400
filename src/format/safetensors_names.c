/* SPDX-License-Identifier: MIT */
/*
 * Names and shapes that the format's own loader takes but that should make
 * people look.
 */
#include "format/safetensors.h"

#include <string.h>

#include "base/utf8.h"

#define U(x) ((unsigned long long)(x))

/* Characters that are not seen or that reorder what is. */
static bool
unseen(uint32_t c)
{
	static const uint32_t ranges[][2] = { { 0, 0x1f }, { 0x7f, 0x9f },
		{ 0xad, 0xad }, { 0x61c, 0x61c }, { 0x180e, 0x180e },
		{ 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x2064 },
		{ 0x2066, 0x2069 }, { 0xfeff, 0xfeff } };

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

/* The first such character. */
static bool
find_unseen(const struct ckpt_str *name, uint32_t *point)
{
	for (size_t i = 0; i < name->n;) {
		if (name->p[i] >= ' ' && name->p[i] < 0x7f) {
			i++;
			continue;
		}
		i += ckpt_utf8_decode(name->p + i, name->n - i, point);
		if (unseen(*point))
			return true;
	}
	return false;
}

static bool
slash(uint8_t c)
{
	return c == '/' || c == '\\';
}

static bool
path_like(const struct ckpt_str *name)
{
	const uint8_t *p = name->p;
	size_t n = name->n;

	if (n > 0 && slash(p[0]))
		return true;
	if (n > 2 && p[1] == ':' && slash(p[2]) &&
		((p[0] | 0x20) >= 'a' && (p[0] | 0x20) <= 'z'))
		return true;
	for (size_t i = 0; i + 1 < n; i++)
		if (p[i] == '.' && p[i + 1] == '.' &&
			(i == 0 || slash(p[i - 1])) &&
			(i + 2 == n || slash(p[i + 2])))
			return true;
	return false;
}

static bool
begins(const uint8_t *p, size_t n, const char *text)
{
	size_t len = strlen(text);

	return n >= len && memcmp(p, text, len) == 0;
}

/* The wrapper's part at p, of n bytes to the end of the name. */
static const char *
wrapper_at(const uint8_t *p, size_t n)
{
	static const char *const parts[] = { "_orig_mod",
		"_fsdp_wrapped_module", "_checkpoint_wrapped_module" };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		size_t len = strlen(parts[i]);

		if (begins(p, n, parts[i]) && (n == len || p[len] == '.'))
			return parts[i];
	}
	return NULL;
}

/* Among the parts of the name that dots divide. */
static const char *
wrapper_of(const struct ckpt_str *name)
{
	const uint8_t *p = name->p, *end = p + name->n;

	if (begins(p, name->n, "module."))
		return "module.";
	while (p < end) {
		const char *found =
			*p == '_' ? wrapper_at(p, (size_t)(end - p)) : NULL;

		if (found)
			return found;
		p = memchr(p, '.', (size_t)(end - p));
		if (!p)
			break;
		p++;
	}
	return NULL;
}

static void
report_name_at(struct safetensors_judge *j, enum ckpt_code code,
	const struct safetensors_tensor *t, struct ckpt_value found,
	const char *note, uint64_t count)
{
	SAFETENSORS_REPORT(j, .code = code, .unit = t->number, .count = count,
		.path = safetensors_path(j, t->number, ".name"),
		.off = safetensors_at(t->at), .len = t->name.n + 2,
		.found = found, .note = note);
}

static void
judge_wrappers(struct safetensors_judge *j)
{
	const struct safetensors_tensor *t = SAFETENSORS_TENSORS(j->file);
	const struct safetensors_tensor *first = NULL;
	uint32_t n = j->file->tensors.n;
	uint64_t with = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!wrapper_of(&t[i].name))
			continue;
		with++;
		first = first ? first : &t[i];
	}
	if (first)
		report_name_at(j, CKPT_D_ST_NAME_WRAPPER, first,
			ckpt_v_text(ckpt_walk_text(&j->walk, "%s in %s",
				wrapper_of(&first->name),
				safetensors_quote(j, &first->name))),
			ckpt_walk_text(&j->walk,
				with == n ? "all %llu names have such a part"
					  : "%llu of %u names have such a part",
				U(with), n),
			with);
}

static void
judge_placeholders(struct safetensors_judge *j)
{
	const struct safetensors_tensor *t = SAFETENSORS_TENSORS(j->file);
	const struct safetensors_tensor *first = NULL;
	uint32_t n = j->file->tensors.n;
	uint64_t empty = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (t[i].shape.declared != 1 || SAFETENSORS_SHAPE(&t[i])[0])
			continue;
		empty++;
		first = first ? first : &t[i];
	}
	if (empty >= 2 && 2 * empty >= n)
		report_name_at(j, CKPT_D_ST_PLACEHOLDERS, first,
			ckpt_v_text(ckpt_walk_text(&j->walk,
				"%llu of %u tensors have the shape [0]",
				U(empty), n)),
			NULL, empty);
}

void
safetensors_judge_alignment(struct safetensors_judge *j)
{
	const struct safetensors_tensor *first = NULL;
	uint64_t align = j->run->options.align, count = 0;

	if (align == 0) {
		ckpt_diags_skipped(
			&j->run->diags, "align", "no alignment was asked for");
		return;
	}
	for (uint32_t i = 0; i < j->file->norder; i++) {
		const struct safetensors_tensor *t =
			&SAFETENSORS_TENSORS(j->file)[j->file->order[i]];

		if (safetensors_off(j->file, t) % align == 0)
			continue;
		count++;
		first = first ? first : t;
	}
	ckpt_diags_ran(&j->run->diags, "align");
	if (first)
		report_name_at(j, CKPT_D_ST_ALIGNMENT, first,
			ckpt_v_text(
				ckpt_walk_text(&j->walk, "%s at offset %llu",
					safetensors_quote(j, &first->name),
					U(safetensors_off(j->file, first)))),
			ckpt_walk_text(&j->walk,
				"%llu of %u tensors are not at a multiple of "
				"%llu",
				U(count), j->file->norder, U(align)),
			count);
}

void
safetensors_judge_names(struct safetensors_judge *j)
{
	const struct safetensors_tensor *tensors = SAFETENSORS_TENSORS(j->file);

	if (j->entries == 0)
		SAFETENSORS_REPORT(j, .code = CKPT_D_ST_NO_TENSORS,
			.path = "header", .off = SAFETENSORS_LENGTH_BYTES,
			.len = j->file->header_bytes,
			.expected = ckpt_v_text("at least one tensor"),
			.found = ckpt_v_text("none"));
	for (uint32_t i = 0; i < j->file->tensors.n; i++) {
		const struct safetensors_tensor *t = &tensors[i];
		uint32_t point = 0;

		if (find_unseen(&t->name, &point))
			report_name_at(j, CKPT_D_ST_NAME_CONTROLS, t,
				ckpt_v_text(ckpt_walk_text(&j->walk,
					"U+%04X in %s", point,
					safetensors_quote(j, &t->name))),
				NULL, 1);
		if (path_like(&t->name))
			report_name_at(j, CKPT_D_ST_NAME_PATH, t,
				ckpt_v_bytes(t->name.p, t->name.n), NULL, 1);
	}
	judge_wrappers(j);
	judge_placeholders(j);
}
