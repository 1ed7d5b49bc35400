/* SPDX-License-Identifier: MIT */
/*
 * A small table of what people hand in by mistake, so that a file of another
 * kind is named instead of being called corrupt. Only the first bytes are
 * looked at; the name is a hint and never part of a verdict.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "format/format.h"

static const struct {
	const char *magic;
	size_t n;
	const char *name;
} magics[] = {
	{ "PK\x03\x04", 4,
		"a zip archive (torch.save writes these; so do .npz and "
		".docx)" },
	{ "PK\x05\x06", 4, "an empty zip archive" },
	{ "\x1f\x8b", 2, "gzip data: decompress it first" },
	{ "\x28\xb5\x2f\xfd", 4, "zstd data: decompress it first" },
	{ "\xfd"
	  "7zXZ",
		5, "xz data: decompress it first" },
	{ "BZh", 3, "bzip2 data: decompress it first" },
	{ "GGUF", 4, "a GGUF model" },
	{ "ggjt", 4, "a ggml model" },
	{ "\x93NUMPY", 6, "a NumPy array" },
	{ "\x89HDF\r\n\x1a\n", 8, "an HDF5 file" },
	{ "\x89PNG", 4, "a PNG picture" },
	{ "%PDF", 4, "a PDF document" },
	{ "\x7f"
	  "ELF",
		4, "an executable or library" },
	{ "LLMCP35", 7, "an LLMCP35 file with a damaged magic" },
};

enum { MAGICS = sizeof magics / sizeof magics[0] };

/* Of so many bytes that chance does not make them. */
const char *
ckpt_foreign_magic(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < MAGICS; i++)
		if (magics[i].n >= 4 && n >= magics[i].n &&
			memcmp(head, magics[i].magic, magics[i].n) == 0)
			return magics[i].name;
	return NULL;
}

static bool
starts(const uint8_t *head, size_t n, const char *text)
{
	size_t len = strlen(text);

	return n >= len && memcmp(head, text, len) == 0;
}

static bool
starts_nocase(const uint8_t *head, size_t n, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (i >= n || tolower(head[i]) != text[i])
			return false;
	return true;
}

/* The pointer that Git LFS leaves where a file should be. */
static const char *
lfs_pointer(const uint8_t *head, size_t n, char *text, size_t size)
{
	char copy[512];
	const char *at;
	size_t k = n < sizeof copy - 1 ? n : sizeof copy - 1;

	if (!starts(head, n, "version https://git-lfs"))
		return NULL;
	memcpy(copy, head, k);
	copy[k] = '\0';
	at = strstr(copy, "\nsize ");
	if (at && isdigit((unsigned char)at[6]))
		snprintf(text, size,
			"a Git LFS pointer to a file of %llu bytes: fetch it "
			"with `git lfs pull`",
			strtoull(at + 6, NULL, 10));
	else
		snprintf(text, size,
			"a Git LFS pointer: fetch the file with `git lfs "
			"pull`");
	return text;
}

static bool
pickle(const uint8_t *head, size_t n)
{
	return n >= 3 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 &&
	       (head[2] == 0x95 || head[2] == 0x8a || head[2] == 'c' ||
		       head[2] == '}' || head[2] == ']' || head[2] == '(');
}

static bool
all_zero(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (head[i])
			return false;
	return n > 0;
}

/* The name of a model's file, as a link beside it would have it. */
static bool
file_name(const uint8_t *head, size_t n)
{
	static const char *const ends[] = { ".safetensors", ".bin", ".ckpt",
		".gguf", ".h5", ".json", ".llmcp35", ".model", ".npz", ".onnx",
		".pt", ".pth" };

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t len = strlen(ends[i]);

		if (n > len && memcmp(head + n - len, ends[i], len) == 0)
			return true;
	}
	return false;
}

/* What a symbolic link becomes where links cannot be stored: a short text
 * that is a path, or the name of a file. */
static bool
link_text(const uint8_t *head, size_t n)
{
	bool slash = false;

	if (n < 2 || n > 1024)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (head[i] <= ' ' || head[i] == 0x7f)
			return false;
		slash |= head[i] == '/';
	}
	if (!slash)
		return n < 256 && file_name(head, n);
	return starts(head, n, "../") || starts(head, n, "./") ||
	       starts(head, n, "/") || starts(head, n, "blobs/");
}

static bool
plain_text(const uint8_t *head, size_t n)
{
	size_t valid;

	for (size_t i = 0; i < n; i++)
		if (head[i] < ' ' && !isspace(head[i]))
			return false;
	/* What was sniffed may end inside a character. */
	ckpt_utf8_valid(head, n, &valid);
	return n > 0 && n - valid < 4;
}

static const char replaced_words[] =
	"a copy made as text: bytes were replaced by U+FFFD";
static const char feeds_words[] =
	"a copy made as text: line feeds became CR LF";

bool
ckpt_foreign_is_text_copy(const char *name)
{
	return name == replaced_words || name == feeds_words;
}

/* A copy that went through something that thought it was text: every line
 * feed got a carriage return, or bytes that are not UTF-8 were replaced. */
static const char *
mangled(const uint8_t *head, size_t n)
{
	size_t feeds = 0, bare = 0, replaced = 0;

	for (size_t i = 0; i < n; i++) {
		if (head[i] == '\n') {
			feeds++;
			bare += i == 0 || head[i - 1] != '\r';
		}
		if (i + 3 <= n && memcmp(head + i, "\xef\xbf\xbd", 3) == 0)
			replaced++;
	}
	if (replaced >= 2)
		return replaced_words;
	if (feeds >= 4 && bare == 0)
		return feeds_words;
	return NULL;
}

const char *
ckpt_foreign_name(const uint8_t *head, size_t n, char *text, size_t text_size)
{
	const uint8_t *p = head;
	size_t left = n;
	const char *name = lfs_pointer(head, n, text, text_size);

	if (name)
		return name;
	for (size_t i = 0; i < MAGICS; i++)
		if (n >= magics[i].n &&
			memcmp(head, magics[i].magic, magics[i].n) == 0 &&
			!ckpt_format_sniff(head, n))
			return magics[i].name;
	if (all_zero(head, n))
		return "all zero bytes: preallocated and never written";
	if (pickle(head, n))
		return "a Python pickle: loading it can run code";
	while (left > 0 && isspace(*p)) {
		p++;
		left--;
	}
	if (starts_nocase(p, left, "<!doctype html") ||
		starts_nocase(p, left, "<html") ||
		starts_nocase(p, left, "<?xml"))
		return "an HTML or XML page: the download answered with an "
		       "error page";
	if (left > 0 && (*p == '{' || *p == '[') && plain_text(head, n))
		return "JSON text: the download answered with an error message";
	if (link_text(head, n))
		return "the text of a symbolic link: the link was copied "
		       "instead of the file";
	return mangled(head, n);
}
