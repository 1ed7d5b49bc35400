/* SPDX-License-Identifier: MIT */
/*
 * The dictionary of a format's fuzzer (the -x option of AFL++), from its
 * rows: magics, tags and bounds as they stand in a file, the names of the
 * parameters, the words of the format, and for every width in use the numbers
 * that mutations by bits would not find.
 */
#include "cli/describe.h"

#include <ctype.h>
#include <string.h>

#include "base/bytes.h"
#include "model/params.h"

struct dictionary {
	struct ckpt_buf *buf;
	bool seen[CKPT_REC + 1]; /* types in use */
};

/* NAME="BYTES"; a name is letters, digits and _. */
static void
entry(struct ckpt_buf *buf, const char *name, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (; *name; name++)
		ckpt_buf_printf(
			buf, "%c", isalnum((unsigned char)*name) ? *name : '_');
	ckpt_buf_puts(buf, "=\"");
	for (size_t i = 0; i < n; i++)
		ckpt_buf_printf(buf,
			p[i] > ' ' && p[i] < 0x7f && p[i] != '"' && p[i] != '\\'
				? "%c"
				: "\\x%02x",
			p[i]);
	ckpt_buf_puts(buf, "\"\n");
}

static void
number(struct ckpt_buf *buf, const char *name, const char *suffix,
	uint64_t value, unsigned width)
{
	struct ckpt_buf whole;
	uint8_t b[8];

	ckpt_buf_init(&whole);
	ckpt_buf_printf(&whole, "%s_%s", name, suffix);
	ckpt_store_u64(b, value);
	if (whole.failed)
		buf->failed = true;
	else
		entry(buf, whole.p, b, width);
	ckpt_buf_release(&whole);
}

/* A bound that is not among the numbers of every width. */
static bool
telling(uint64_t bound, unsigned width)
{
	return bound > 1 && bound != UINT64_MAX >> (64 - 8 * width);
}

static void
wanted(struct ckpt_buf *buf, const struct ckpt_described *d)
{
	const struct ckpt_want *want = d->field->want;
	unsigned width = ckpt_type_width(d->field->type);

	switch (want->kind) {
	case CKPT_WANT_BYTES: entry(buf, d->path, want->bytes, 8); break;
	case CKPT_WANT_TAGS:
		for (size_t i = 0; i < want->ntags; i++)
			number(buf, d->path, want->tags[i].name,
				want->tags[i].value, width);
		break;
	case CKPT_WANT_RANGE:
		if (telling(want->min, width))
			number(buf, d->path, "least", want->min, width);
		if (want->max != want->min && telling(want->max, width))
			number(buf, d->path, "most", want->max, width);
		break;
	case CKPT_WANT_ANY:
	case CKPT_WANT_F64_POSITIVE:
	case CKPT_WANT_F64_NOT_NEGATIVE:
	case CKPT_WANT_F64_BELOW_ONE:
	case CKPT_WANT_UTF8: break;
	}
}

static void
add_field(void *ctx, const struct ckpt_described *d)
{
	struct dictionary *dictionary = ctx;

	dictionary->seen[d->is_count ? CKPT_U32 : d->field->type] = true;
	if (d->field->want && !d->is_count)
		wanted(dictionary->buf, d);
}

static void
add_types(const struct dictionary *dictionary)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} doubles[] = {
		{ "one", 0x3ff0000000000000 },
		{ "below_one", 0x3fefffffffffffff },
		{ "minus_zero", 0x8000000000000000 },
		{ "minus_one", 0xbff0000000000000 },
		{ "least", 1 },
		{ "most", 0x7fefffffffffffff },
		{ "infinity", 0x7ff0000000000000 },
		{ "nan", 0x7ff8000000000000 },
	};
	struct ckpt_buf *buf = dictionary->buf;

	for (int type = CKPT_U8; type <= CKPT_U64; type++) {
		unsigned width = ckpt_type_width((enum ckpt_type)type);
		const char *name = ckpt_type_name((enum ckpt_type)type);

		if (!dictionary->seen[type])
			continue;
		number(buf, name, "0", 0, width);
		number(buf, name, "1", 1, width);
		number(buf, name, "max", UINT64_MAX, width);
		number(buf, name, "high_bit", (uint64_t)1 << (8 * width - 1),
			width);
	}
	for (size_t i = 0; i < sizeof doubles / sizeof doubles[0] &&
			   dictionary->seen[CKPT_F64];
		i++)
		number(buf, "f64", doubles[i].name, doubles[i].bits, 8);
}

static void
add_words(struct ckpt_buf *buf, const struct ckpt_format *format)
{
	const char *const *words =
		format->manual ? format->manual->words : NULL;

	for (; words && *words; words++)
		entry(buf, *words, *words, strlen(*words));
	for (int slot = 0; slot < CKPT_SLOTS; slot++) {
		const char *name = ckpt_param_row((enum ckpt_slot)slot)->name;

		entry(buf, name, name, strlen(name));
	}
}

void
ckpt_describe_dictionary(struct ckpt_buf *buf, const struct ckpt_format *format)
{
	struct dictionary dictionary = { .buf = buf };

	ckpt_buf_printf(buf,
		"# Made by ckforge describe %s --as=dictionary; do not edit.\n",
		format->name);
	if (!ckpt_describe_fields(format, add_field, &dictionary))
		buf->failed = true;
	add_types(&dictionary);
	add_words(buf, format);
}
