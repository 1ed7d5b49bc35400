/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_FAULTY_OPS_H
#define CKPT_TESTS_FAULTY_OPS_H

/*
 * The system calls of saving, with faults on demand. All zero injects none.
 */

#include <stdbool.h>
#include <stddef.h>

#include "io/fileops.h"

enum faulty_op {
	FAULTY_OPENAT = 1,
	FAULTY_WRITE,
	FAULTY_PWRITE,
	FAULTY_FSYNC,
	FAULTY_CLOSE,
	FAULTY_FSTAT,
	FAULTY_FSTATAT,
	FAULTY_FCHMOD,
	FAULTY_FCHOWN,
	FAULTY_RENAMEAT,
	FAULTY_UNLINKAT,
	FAULTY_COUNT
};

struct faulty {
	enum faulty_op op;  /* only calls of this kind fail; 0: of every kind */
	unsigned int at;    /* the call that fails, from 1; 0: none */
	unsigned int last;  /* the last one that fails; 0: only at */
	int error;          /* the errno of the failure */
	bool done_anyway;   /* the call is made, but its answer is lost */
	bool no_unlink;     /* every unlinkat fails with EPERM */
	bool write_nothing; /* write returns 0 instead of failing */
	size_t most;        /* bytes a write takes; 0: all */

	unsigned int seen;                /* calls that could have failed */
	unsigned int hits;                /* calls that did */
	unsigned int calls[FAULTY_COUNT]; /* of each kind */
	int open;                         /* descriptors that are open */
	void (*before_rename)(void);      /* may be NULL */
};

/* A table whose ctx is faulty; borrowed. */
struct ckpt_file_ops faulty_ops(struct faulty *faulty);

#endif
