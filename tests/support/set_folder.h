/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_SET_FOLDER_H
#define CKPT_TESTS_SET_FOLDER_H

/*
 * Folders of files for tests of sets, written down as pairs of name and
 * content:
 *   "d/", ""            a folder
 *   "x", "@target"      a symbolic link
 *   "x", "|"            a pipe
 *   "x", "=a F32 2x3;b I64 "  a safetensors file of these tensors
 *   "x", "!a F32 2x3"   the same without its last byte
 *   "x", "text"         that text
 * Whatever fails to be made fails the cmocka test.
 */

#include <ckpt.h>

#include "base/buf.h"

struct ckpt_set;

struct set_folder {
	char path[64];               /* of a fresh folder */
	struct ckpt_options options; /* for judging it; defaults once made */
};

void set_folder_make(struct set_folder *folder, const char *const *pairs);
void set_folder_remove(struct set_folder *folder);

/* Verifies the folder as one set, or the index called name in it: the worst
 * verdict of all, and the ids of the set's own findings, in their order, with
 * spaces between. */
enum ckpt_verdict set_folder_judge(const struct set_folder *folder,
	const char *name, struct ckpt_buf *ids);

/* The set of the folder, or of the index called name in it, its shards
 * verified, the worst verdict of which is in *worst; it is still to be judged.
 */
struct ckpt_set *set_folder_open(const struct set_folder *folder,
	const char *name, enum ckpt_verdict *worst);

/* What was found about a set that was judged, a line each:
 *   ID path@offset: expected EXPECTED found FOUND (NOTE) by CAUSE
 * of which only the first two always stand there. */
void set_folder_findings(struct ckpt_buf *out, const struct ckpt_set *set);

/* The rules that were not evaluated, a line for each reason, in the order of
 * the first of its rules:
 *   REASON: ID ID ...  */
void set_folder_skipped(struct ckpt_buf *out, const struct ckpt_set *set);

enum { SET_FOLDER_WORDS = 24 };

/* A folder, the verdict that it deserves, and exactly the findings about the
 * set that it must have. */
struct set_sample {
	const char *what;
	enum ckpt_verdict verdict;
	const char *ids;
	const char *files[SET_FOLDER_WORDS]; /* pairs, then NULL */
};

/* Fails the test at the first of n samples that is judged otherwise. */
void set_samples_check(
	const struct set_sample *samples, size_t n, const char *name);

#define SET_SAMPLES_CHECK(samples, name)                                       \
	set_samples_check(samples, sizeof(samples) / sizeof(samples)[0], name)

/* The bytes of a safetensors file. */
void set_folder_tensors(struct ckpt_buf *out, const char *tensors);

#endif
