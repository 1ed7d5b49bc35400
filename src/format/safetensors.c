/* SPDX-License-Identifier: MIT */
/*
 * safetensors: the driver. The length of the header, the header itself, then
 * the tensors' bytes in one pass, in the order of their offsets. Nothing in
 * the file says that it is a safetensors file, so what has its suffix is
 * judged here too. Values are looked at only if there is no error.
 */
#include "format/safetensors.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "format/archive.h"
#include "format/safetensors_dtype.h"

enum {
	EXTRA_MOST = 1024 * 1024, /* read past the declared end of a pipe */
	TAIL = 64 * 1024,         /* of what follows the tensors, looked at */
};

/* No header that begins with a brace is longer. */
#define SNIFF_MOST ((uint64_t)1 << 40)

static bool
sniff(const uint8_t *head, size_t n)
{
	size_t i = SAFETENSORS_LENGTH_BYTES;
	uint64_t len;

	if (n < SAFETENSORS_LENGTH_BYTES + 1)
		return false;
	len = ckpt_load_u64(head);
	if (len == 0 || len > SNIFF_MOST)
		return false;
	if (n >= i + 3 && memcmp(head + i, "\xef\xbb\xbf", 3) == 0)
		i += 3; /* wrong, but no less clear */
	while (i < n && (head[i] == ' ' || head[i] == '\n' || head[i] == '\r' ||
				head[i] == '\t'))
		i++;
	return i < n && head[i] == '{';
}

/* The length is damaged, or the brace behind it: no text stands where the
 * length is, and then there is an object, or keys that the format has. */
static bool
resembles(const uint8_t *head, size_t n)
{
	static const char *const keys[] = { "\"dtype\"", "\"data_offsets\"",
		"\"" SAFETENSORS_METADATA "\"" };
	const uint8_t *p = head + SAFETENSORS_LENGTH_BYTES;
	bool text = true;

	if (n < SAFETENSORS_LENGTH_BYTES + 2)
		return false;
	for (size_t i = 0; i < SAFETENSORS_LENGTH_BYTES; i++)
		text = text && head[i] >= ' ' && head[i] < 0x7f;
	if (text)
		return false;
	n -= SAFETENSORS_LENGTH_BYTES;
	if (memcmp(p, "{\"", 2) == 0)
		return true;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (memmem(p, n, keys[i], strlen(keys[i])))
			return true;
	return false;
}

/* ---- The tensors' bytes ------------------------------------------------- */

/* One tensor's bytes; *have is how many of them were there. */
static enum ckpt_status
read_tensor(struct safetensors_judge *j, uint32_t i, uint64_t *have)
{
	const struct safetensors_tensor *t = &SAFETENSORS_TENSORS(j->file)[i];
	uint64_t len = safetensors_len(t);
	struct ckpt_event event = { .kind = CKPT_EV_DATA, .index = t->number };
	enum ckpt_status status = CKPT_OK;

	for (*have = 0; *have < len && status == CKPT_OK;) {
		const uint8_t *p;
		size_t n =
			ckpt_reader_peek(j->reader, SAFETENSORS_BLOCK_UNIT, &p);

		/* Of a file that is cut the last element is left unread. */
		if (n >= len - *have)
			n = (size_t)(len - *have);
		else
			n -= n % SAFETENSORS_BLOCK_UNIT;
		if (n == 0)
			return j->reader->status;
		event.off = ckpt_reader_offset(j->reader);
		event.len = n;
		event.data = p;
		status = ckpt_run_event(j->run, &event);
		if (status == CKPT_OK && j->content)
			status = safetensors_content_data(j, i, *have, p, n);
		if (status == CKPT_OK && j->file->archive)
			status = archive_data(j, i, *have, p, n);
		ckpt_reader_skip(j->reader, n);
		*have += n;
	}
	return status;
}

static enum ckpt_status
read_tensors(struct safetensors_judge *j)
{
	for (uint32_t i = 0; i < j->file->norder; i++) {
		uint32_t k = j->file->order[i];
		uint64_t have;
		enum ckpt_status status = read_tensor(j, k, &have);

		if (status != CKPT_OK)
			return status;
		if (have < safetensors_len(&SAFETENSORS_TENSORS(j->file)[k]))
			return CKPT_OK; /* said at the end */
	}
	return CKPT_OK;
}

/* The end of the file against the end of the tensors. The reader is where the
 * tensors end, or where the file does. */
static enum ckpt_status
judge_end(struct safetensors_judge *j)
{
	struct ckpt_reader *reader = j->reader;
	uint64_t at = ckpt_reader_offset(reader), more;
	uint8_t tail[TAIL / 16];
	const uint8_t *p;
	size_t n = ckpt_reader_peek(reader, TAIL, &p);

	if (reader->status != CKPT_OK)
		return reader->status;
	n = n < sizeof tail ? n : sizeof tail;
	memcpy(tail, p, n);
	if (reader->source->has_size && reader->source->size >= at) {
		more = reader->source->size - at;
	} else {
		more = ckpt_reader_drop(reader, EXTRA_MOST);
		if (reader->status != CKPT_OK)
			return reader->status;
	}
	safetensors_judge_end(j, at + more,
		!reader->source->has_size && more == EXTRA_MOST, tail, n);
	return CKPT_OK;
}

/* ---- The file ----------------------------------------------------------- */

static void
skip_rest(struct safetensors_judge *j, const char *checks)
{
	ckpt_diags_skipped(&j->run->diags, checks,
		"the faults before leave nothing to judge this by");
}

/* Errors but unknown dtypes, which leave the layout as it is. */
static uint64_t
faults(const struct safetensors_judge *j)
{
	return j->run->diags.errors - j->nunknown;
}

static enum ckpt_status
judge_values(struct safetensors_judge *j, bool *looked)
{
	enum ckpt_status status = CKPT_OK;

	*looked = j->run->diags.errors == 0 && !j->reference;
	if (*looked && !j->file->archive)
		status = safetensors_content_begin(j);
	ckpt_reader_ahead(j->reader, safetensors_data_end(j->file));
	if (status == CKPT_OK &&
		(*looked || j->run->sinks || !j->reader->source->has_size))
		status = read_tensors(j);
	else if (status == CKPT_OK)
		ckpt_reader_drop(j->reader, safetensors_data_end(j->file));
	return status != CKPT_OK ? status : j->reader->status;
}

/* The layout is sound: the bytes can be read tensor by tensor. */
static enum ckpt_status
judge_data(struct safetensors_judge *j)
{
	uint64_t end = safetensors_data_end(j->file), all;
	enum ckpt_status status = CKPT_OK;
	bool looked = false;

	/* A cut file is known before its bytes are looked at. */
	if (j->reader->source->has_size &&
		(!ckpt_add_u64(j->file->data_at, end, &all) ||
			all > j->reader->source->size)) {
		safetensors_judge_end(
			j, j->reader->source->size, false, NULL, 0);
		ckpt_diags_ran(&j->run->diags, "end");
		return CKPT_OK;
	}
	status = judge_values(j, &looked);
	if (status == CKPT_OK)
		status = judge_end(j);
	ckpt_diags_ran(&j->run->diags, "end");
	looked = looked && j->run->diags.errors == 0;
	if (status == CKPT_OK && looked)
		status = safetensors_content_end(j);
	if (status == CKPT_OK && looked && j->file->archive)
		status = archive_end(j);
	return status;
}

/* Of a text that breaks, nobody knows what stands behind the break. */
static void
skip_unread(struct safetensors_judge *j)
{
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		enum ckpt_code code = (enum ckpt_code)i;
		bool judged = code == CKPT_D_ST_UTF8 ||
			      (code == CKPT_D_ST_BOM && j->is_utf8) ||
			      (code == CKPT_D_ST_NOT_OBJECT && j->begun);

		if (!judged && strcmp(ckpt_rule_at(i)->check, "json") == 0)
			ckpt_diags_not_ran(&j->run->diags, code,
				"the header was not understood to its end");
	}
	skip_rest(j, "records dtype keys sizes tiling end style names shapes");
}

/* Rules that could not judge every tensor have not passed. */
static void
skip_some(struct safetensors_judge *j)
{
	static const enum ckpt_code sizes[] = { CKPT_D_ST_OVERFLOW,
		CKPT_D_ST_SIZE, CKPT_D_ST_SUB_BYTE };
	struct ckpt_diags *diags = &j->run->diags;

	if (diags->per_rule[CKPT_D_ST_DTYPE_UNKNOWN] > 0)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			ckpt_diags_not_ran(diags, sizes[i],
				"the size of an unknown dtype is not known");
	if (j->nfaulty > 0)
		ckpt_diags_skipped(diags, "sizes dtype names shapes",
			"a malformed record leaves nothing to judge this by");
}

static enum ckpt_status
judge_header(struct safetensors_judge *j)
{
	struct ckpt_diags *diags = &j->run->diags;
	enum ckpt_status status = safetensors_parse_header(j);

	ckpt_diags_ran(diags, "json");
	if (status != CKPT_OK || !j->parsed) {
		skip_unread(j);
		return status;
	}
	ckpt_diags_ran(diags, "records style keys");
	status = safetensors_judge_repeats(j);
	if (status != CKPT_OK)
		return status;
	safetensors_judge_sizes(j);
	ckpt_diags_ran(diags, "sizes dtype");
	if (!j->reference) {
		safetensors_judge_names(j);
		ckpt_diags_ran(diags, "names shapes");
	}
	skip_some(j);
	return CKPT_OK;
}

static enum ckpt_status
judge_rest(struct safetensors_judge *j)
{
	struct ckpt_diags *diags = &j->run->diags;
	bool whole;
	enum ckpt_status status = judge_header(j);

	if (status != CKPT_OK)
		return status;
	/* Records that are not there leave gaps of their own; a text that
	 * breaks is a fault. */
	whole = faults(j) == 0;
	if (whole) {
		status = safetensors_judge_tiling(j);
		ckpt_diags_ran(diags, "tiling");
		whole = faults(j) == 0;
	} else {
		skip_rest(j, "tiling");
	}
	if (status == CKPT_OK && j->parsed)
		status = archive_begin(j, whole);
	if (status == CKPT_OK)
		status = safetensors_tell(j);
	if (status != CKPT_OK)
		return status;
	if (whole) {
		safetensors_judge_alignment(j);
		return judge_data(j);
	}
	skip_rest(j, "end align");
	return CKPT_OK;
}

/* What the format's own loader does not look at. */
static void
forget_strict(struct safetensors_judge *j)
{
	static const enum ckpt_code strict[] = { CKPT_D_ST_NAME_REPEATED,
		CKPT_D_ST_KEY_REPEATED, CKPT_D_ST_OTHER_REPEATED,
		CKPT_D_ST_HEADER_LIMIT };
	static const char reason[] =
		"the reference profile judges as the format's own loader does";

	if (!j->reference)
		return;
	for (size_t i = 0; i < sizeof strict / sizeof strict[0]; i++)
		ckpt_diags_not_ran(&j->run->diags, strict[i], reason);
	ckpt_diags_skipped(&j->run->diags,
		"style names shapes align finite stats", reason);
}

static void
facts(struct safetensors_judge *j)
{
	const struct safetensors_file *file = j->file;

	ckpt_run_fact(j->run, "header_bytes", ckpt_v_u64(file->header_bytes));
	if (!j->parsed)
		return;
	ckpt_run_fact(j->run, "tensors", ckpt_v_u64(j->entries));
	ckpt_run_fact(j->run, "metadata_entries", ckpt_v_u64(file->metadata.n));
	if (file->order)
		ckpt_run_fact(j->run, "tensor_bytes",
			ckpt_v_u64(safetensors_data_end(file)));
}

static enum ckpt_status
judge_file(struct safetensors_judge *j)
{
	const uint8_t *head;
	size_t n = ckpt_reader_peek(j->reader, SAFETENSORS_LENGTH_BYTES, &head);
	bool ready = false;
	enum ckpt_status status = j->reader->status;

	if (status != CKPT_OK)
		return status;
	if (n < SAFETENSORS_LENGTH_BYTES) {
		SAFETENSORS_REPORT(j, .code = CKPT_D_ST_LENGTH_TRUNCATED,
			.path = "header_bytes", .len = n,
			.expected = ckpt_v_text("8 bytes of header length"),
			.found = ckpt_v_text(safetensors_count(j, n, "byte")),
			.note = n == 0 ? "the file is empty" : j->run->foreign);
		return CKPT_OK;
	}
	j->file->header_bytes = ckpt_load_u64(head);
	ckpt_reader_skip(j->reader, SAFETENSORS_LENGTH_BYTES);
	status = safetensors_read_header(j, &ready);
	ckpt_diags_ran(&j->run->diags, "length");
	if (status != CKPT_OK || !ready)
		return status;
	j->file->data_at = SAFETENSORS_LENGTH_BYTES + j->file->header_bytes;
	j->run->header_end = j->file->data_at;
	return judge_rest(j);
}

static enum ckpt_status
parse(struct ckpt_run *run, struct ckpt_reader *reader)
{
	struct safetensors_file *file =
		ckpt_arena_zalloc(&run->arena, sizeof *file);
	struct safetensors_judge j = {
		.run = run,
		.reader = reader,
		.file = file,
		.walk = { .run = run, .reader = reader },
		.reference = run->options.profile == CKPT_PROFILE_REFERENCE,
	};
	const uint8_t *head;
	enum ckpt_status status;
	size_t n;

	if (!file)
		return ckpt_run_memory(run);
	/* A length may look like the magic of something else. */
	n = ckpt_format_head(reader, &head);
	if (sniff(head, n))
		run->foreign = NULL;
	run->decoded = file;
	status = judge_file(&j);
	if (run->diags.errors > 0)
		ckpt_diags_skipped(&run->diags, "finite stats",
			"values are looked at only in a file without error");
	forget_strict(&j);
	facts(&j);
	archive_close(&j);
	safetensors_content_release(&j);
	return status;
}

static const char *const suffixes[] = { ".safetensors", NULL };

static const char *const checks[] = { "length", "json", "keys", "records",
	"dtype", "sizes", "tiling", "end", "style", "names", "shapes", "align",
	"finite", "stats", NULL };

static const char *const brief[] = { "tensors", NULL };

static const struct ckpt_alias aliases[] = {
	{ "tensor:", 0, CKPT_ALIAS_BY_NAME },
};

const struct ckpt_format ckpt_format_safetensors = {
	.name = "safetensors",
	.title = "safetensors",
	.suffixes = suffixes,
	.checks = checks,
	.brief = brief,
	.named = true,
	.bounds_headers = true,
	.sniff = sniff,
	.resembles = resembles,
	.begins = "8 bytes of header length and then {",
	.parse = parse,
	.root = &safetensors_file_rec,
	.aliases = aliases,
	.naliases = sizeof aliases / sizeof aliases[0],
	.manual = &safetensors_manual,
	.text = &safetensors_text_rules,
	.encode = safetensors_encode,
	.measure = safetensors_measure,
};
