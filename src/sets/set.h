/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETS_SET_H
#define CKPT_SETS_SET_H

/*
 * Files that are a checkpoint only together: a folder, or an index and the
 * shards that it names. Use: open, verify each shard on its own with its
 * listener (in any order, on any threads), tell the verdicts, judge. What is
 * found about the set is in its run, as it is of a file.
 */

#include <ckpt.h>

#include "base/arena.h"
#include "base/buf.h"
#include "diag/run.h"
#include "sets/folder.h"

/* What a set has to know of a tensor. */
struct ckpt_set_tensor {
	const char *name; /* name_n bytes */
	uint32_t name_n;
	uint32_t rank;
	const char *dtype;      /* static */
	uint64_t rows, columns; /* of a matrix */
	uint64_t len;           /* bytes */
};

/* A file of the set that is verified on its own. */
struct ckpt_shard {
	struct ckpt_sink sink; /* to listen to its run; first */
	struct ckpt_arena arena;
	const char *name, *path;         /* below the folder; as to be opened */
	struct ckpt_set_tensor *tensors; /* n, in the order of the file */
	uint64_t n;
	uint32_t *sorted; /* by name; set by ckpt_shard_judged() */
	enum ckpt_role role;
	bool judged;
	enum ckpt_verdict verdict; /* CKPT_VALID until it is judged */
};

struct ckpt_set;

/* Makes a set of a folder, or of an index. NULL only if memory ran out at
 * once; all else is a finding. options (NULL: all defaults) count as for a file: the
 * memory bounds what is kept of a shard, and of all indexes and side files
 * together; the reference profile gives no warnings. */
struct ckpt_set *ckpt_set_folder(
	const char *path, const struct ckpt_options *options);
struct ckpt_set *ckpt_set_index(
	const char *path, const struct ckpt_options *options);
void ckpt_set_free(struct ckpt_set *set); /* NULL is allowed */

/* Whether a file is an index: by its name, or JSON with a weight_map; or may be
 * one, but takes more memory than there is. */
bool ckpt_set_is_index(const char *path, uint64_t max_memory);

/* The shards, in bytewise order of their names; NULL behind the last. */
struct ckpt_shard *ckpt_set_shard(const struct ckpt_set *set, size_t i);
size_t ckpt_set_shard_count(const struct ckpt_set *set);

/* After the run of a shard: its verdict. */
void ckpt_shard_judged(struct ckpt_shard *shard, enum ckpt_verdict verdict);

/* Once every shard has its verdict: the rest of the findings. The verdict is
 * of the set's own findings; that of the shards is not in it. */
enum ckpt_verdict ckpt_set_judge(struct ckpt_set *set);

/* A finding from outside, as that the user interrupted. */
void ckpt_set_add(struct ckpt_set *set, enum ckpt_code code, const char *name,
	const char *found);

/* The findings; owned by the set. */
struct ckpt_run *ckpt_set_run(const struct ckpt_set *set);

/* What an orphaned temporary file of ours is, in words; false, and nothing is
 * written, if name is not of one. */
bool ckpt_set_temporary(struct ckpt_buf *found, const char *name);

/* The newest checkpoint of a folder: the path of the folder or file in it with
 * the highest number in its name, or of itself if it is a checkpoint; from
 * malloc. NULL with errno if the folder cannot be read, and with 0 if there is
 * none. */
char *ckpt_set_latest(const char *folder);

#endif
