/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_COMPARE_H
#define CKPT_VIEW_COMPARE_H

/*
 * A second file beside the one that is being looked at. Records are matched by
 * role and name, the k-th of some with the k-th of others that are called the
 * same; header fields outside of the records by path. What a record holds is
 * compared in the background; what is on the screen is compared when it is
 * drawn. Where one of the files has no records at all, the two are compared
 * byte by byte as they are.
 */

#include "view/view.h"

#define VIEW_NO_MATCH UINT32_MAX

enum view_sameness {
	VIEW_NOT_COMPARED,
	VIEW_SAME,
	VIEW_DIFFERENT,
	VIEW_SHAPE,      /* other dtype, dimensions or length */
	VIEW_UNREADABLE, /* bytes of one of them are not there */
	VIEW_ABSENT,     /* the second file does not have it */
};

/* What is known of a record of the first file. */
struct view_difference {
	enum view_sameness sameness;
	uint64_t n;         /* elements; bytes if they are less than one */
	uint64_t differing; /* of those, if DIFFERENT */
	uint64_t first;     /* the first of them */
	uint64_t bits[2];   /* of it, in both files */
	unsigned width;     /* of an element, in bytes */
	uint32_t other;     /* the record of the second, or VIEW_NO_MATCH */
	/* Where the first one is, in both files; the start of the record if
	 * none is known. */
	uint64_t off[2];
};

/* Opens the file to compare with; the view closes it. 0, or -1 with errno set
 * and no second file. */
int view_compare_open(struct view *view, const char *path);
/* The same in two steps, for whoever has no view yet: opens it, NULL with
 * errno set if that fails; gives it to a view, which closes it. */
struct view_compare *view_compare_new(
	const char *path, uint64_t max_memory, int bell);
void view_compare_with(struct view *view, struct view_compare *compare);

/* A record of the first file, by its place in view->doc->spans->tensors.
 * NOT_COMPARED if there is no second file. */
enum view_sameness view_compare_record(const struct view *view, uint64_t record,
	struct view_difference *difference);

/* Of the n bytes at off of the first file: 0 the same, 1 another one in the
 * second, 2 nothing in the second is at their place. False if there is no
 * second file, or its index is not there yet. */
bool view_compare_bytes(
	struct view *view, uint64_t off, size_t n, uint8_t *differs);

/* The byte of the second file at the place of the first one's; *end is where,
 * in the first, the piece ends that lies in one piece in both (or for which
 * there is nothing). False if nothing is there. */
bool view_compare_place(
	struct view *view, uint64_t off, uint64_t *other, uint64_t *end);

/* Shows the page (key c), and begins to compare if that was not done yet. */
void view_compare_show(struct view *view);

/* "same", "different", "not compared"; for rows. */
const char *view_sameness_name(enum view_sameness sameness);

/* ---- Of compare*.c -- */

/* Two records of one role and name. All but the result is fixed while the job
 * is at work; the result is there once sameness was stored. */
struct view_pair {
	uint64_t off[2], len;
	unsigned width;
	uint32_t other;
	_Atomic(int) sameness; /* enum view_sameness */
	uint64_t differing, first;
	uint64_t bits[2];
};

/* A header field of both, or of one of them. */
struct view_field_pair {
	uint32_t first, second;
};

/* What the records and fields were matched by, so that a new index that says
 * the same is recognised. */
struct view_matched {
	const struct ckpt_spans *spans; /* only compared, never followed */
	uint64_t ntensors, nfields, size;
	bool there;
};

struct view_compare {
	struct view_job job;
	struct view_doc other;
	struct ckpt_source *source[2]; /* of both */
	uint64_t size[2];
	struct view_matched matched[2];
	bool plain;      /* byte by byte; then one pair that is all of it */
	bool no_memory;  /* for the matching */
	bool wanted;     /* large files are compared only when asked */
	bool begun;      /* the comparing */
	bool fields_cut; /* not all fields are known */
	struct view_pair *pairs; /* one a record of the first file; owned */
	uint64_t npairs;
	uint32_t *only; /* records of the second alone; owned */
	uint64_t nonly;
	/* Of fields: the second's for each of the first; and those that
	 * differ or that one of the files does not have. Owned. */
	uint32_t *fields;
	uint64_t nfields;
	struct view_field_pair *unlike;
	uint64_t nunlike;
	uint64_t matchings; /* how often they were matched */
};

/* Matches anew where an index is new. True if anything was. */
bool view_compare_match(struct view *view);
void view_compare_forget(struct view_compare *compare);

/* Compares what was not compared yet; nothing if it is at work. */
void view_compare_start(struct view *view);
void view_compare_work(struct view_job *job);
void view_compare_free(struct view_compare *compare);

#endif
