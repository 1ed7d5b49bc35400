/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETS_SET_PARTS_H
#define CKPT_SETS_SET_PARTS_H

/* The inside of a set, for the files of this folder only. */

#include "sets/document.h"
#include "sets/set.h"

/* A shard name of an index, each once, bytewise. */
struct ckpt_named {
	const char *name; /* of the index, less "./"; NUL-terminated */
	const char *given;
	uint64_t given_n;
	enum {
		CKPT_NAMED_SHARD,  /* verified: shard */
		CKPT_NAMED_OPAQUE, /* there, in a format that we do not know */
		CKPT_NAMED_MISSING,
		CKPT_NAMED_OUTSIDE, /* never looked at */
	} state;
	struct ckpt_shard *shard;
	const struct ckpt_doc_value *entry; /* the first that names it */
	const char *instead;                /* what is there, if MISSING */
};

struct ckpt_index {
	const char *name; /* below the folder */
	struct ckpt_doc doc;
	/* Tensors and where they are to be, bytewise by name, each once; n and
	 * nnamed are 0 if the index cannot be read. */
	const struct ckpt_doc_value **entries;
	uint64_t n;
	uint32_t *places; /* of entry i: a position in named */
	struct ckpt_named *named;
	uint64_t nnamed;
	const uint32_t *files; /* positions in named, by file */
};

struct ckpt_set {
	struct ckpt_run *run; /* owned */
	struct ckpt_arena arena;
	uint64_t max_memory;
	const char *root; /* with the slash behind it; "" for here */
	bool whole;       /* a folder, not only an index */
	bool listed;      /* folder was read */
	struct ckpt_folder folder;
	struct ckpt_index *indexes;
	uint64_t nindexes;
	struct ckpt_shard **shards; /* owned one by one */
	uint64_t nshards;
	uint64_t finds; /* findings so far: their order */
	struct ckpt_doc trainer, config;
	bool has_trainer, has_config;
};

/* Whether the profile asks for a rule. */
bool ckpt_set_asks(const struct ckpt_set *set, enum ckpt_code code);

/* A finding about the file called name, bytes that are escaped here; of diag
 * everything but rule, path and rank counts. Texts may come from
 * ckpt_set_text() and ckpt_set_quoted(), which hold until this call. */
void ckpt_set_report(struct ckpt_set *set, enum ckpt_code code,
	const char *name, const struct ckpt_diag *diag);
struct ckpt_value ckpt_set_text(struct ckpt_set *set, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *ckpt_set_quoted(struct ckpt_set *set, const void *p, size_t n);
/* A number as it is written, the beginning of a long one. */
const char *ckpt_set_number(
	struct ckpt_set *set, const struct ckpt_doc_value *number);

/* What kept a file from being read, as a finding about it. */
void ckpt_set_trouble(
	struct ckpt_set *set, enum ckpt_status status, const char *name);

/* The path of what is called name in the set; NULL if memory ran out. */
const char *ckpt_set_path(struct ckpt_set *set, const char *name);

/* Whether the file is to be verified on its own. */
bool ckpt_set_verifies(struct ckpt_set *set,
	const struct ckpt_folder_entry *entry, const char *path);

/* The shard of that name, made if need be. NULL if memory ran out. */
struct ckpt_shard *ckpt_set_add_shard(
	struct ckpt_set *set, const char *name, enum ckpt_role role);

/* NULL if there is none of that name. */
const struct ckpt_shard *ckpt_set_find_shard(
	const struct ckpt_set *set, const char *name);

/* Looks at the length and the first bytes of a file that cannot be verified:
 * empty, or a Git LFS pointer? */
void ckpt_set_look_opaque(
	struct ckpt_set *set, const char *name, uint64_t size);

/* "a Git LFS pointer to ...", or NULL. */
const char *ckpt_set_pointer(
	struct ckpt_set *set, const uint8_t *text, size_t n);

/* The tensor of that name in a shard that was judged, or NULL. */
const struct ckpt_set_tensor *ckpt_shard_find(
	const struct ckpt_shard *shard, const char *name, size_t n);

/* Whether a shard's list of tensors can be trusted. */
bool ckpt_shard_told(const struct ckpt_shard *shard);

/* sets/index.c: reads one. sets/named.c: looks at the shards that it names.
 * sets/place.c: what these hold of what it says. */
CKPT_MUST_USE enum ckpt_status ckpt_index_open(
	struct ckpt_set *set, const char *name);
CKPT_MUST_USE enum ckpt_status ckpt_named_open(
	struct ckpt_set *set, struct ckpt_index *index);
void ckpt_index_judge(struct ckpt_set *set, struct ckpt_index *index);
/* Whether an index names the file, as one of its folder. */
bool ckpt_index_has(const struct ckpt_index *index, const char *name);
/* Whether any index that can be read names the file. */
bool ckpt_index_names(const struct ckpt_set *set, const char *name);

/* sets/side.c: files beside the weights, unfinished ones, resume sets. */
CKPT_MUST_USE enum ckpt_status ckpt_side_open(struct ckpt_set *set);
void ckpt_side_judge(struct ckpt_set *set);
/* A side file; its doc.root is NULL if it is no object. */
CKPT_MUST_USE enum ckpt_status ckpt_side_read(
	struct ckpt_set *set, const char *name, struct ckpt_doc *doc);

/* sets/config.c, sets/layers.c, sets/vocabulary.c: settings against tensors. */
void ckpt_config_judge(struct ckpt_set *set);
CKPT_MUST_USE enum ckpt_status ckpt_layers_judge(
	struct ckpt_set *set, const struct ckpt_doc_value *settings);
/* rows: the most of any embedding; 0 if there is none. */
CKPT_MUST_USE enum ckpt_status ckpt_vocabulary_judge(
	struct ckpt_set *set, uint64_t rows);

#endif
