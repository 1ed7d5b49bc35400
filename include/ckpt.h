/* SPDX-License-Identifier: MIT */
#ifndef CKPT_H
#define CKPT_H

/*
 * libckpt: says what is wrong with a checkpoint file, where, and why.
 *
 * Conventions of the whole interface
 *
 *   - Positions and lengths in files are uint64_t bytes; offsets are absolute
 *     in the file. Memory sizes are size_t.
 *   - Findings about a file are data (struct ckpt_diag). Operations that can
 *     fail return enum ckpt_status; the compiler insists that you look at it.
 *   - Every bool is true when it is good.
 *   - No pointer that you give may be NULL unless it is said that it may.
 *     Text that you get is static unless something else is said.
 *   - Nothing here prints, exits, or keeps state between calls. Objects may
 *     be used from several threads as long as each is used by one at a time.
 *   - A valid file is intact, not authentic: the checksums of these formats
 *     have no key, and anybody can compute them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CKPT_VERSION "0.1.0"

#define CKPT_MUST_USE __attribute__((warn_unused_result))

/* ---- Outcomes ----------------------------------------------------------- */

/* The outcome of an operation. */
enum ckpt_status {
	CKPT_OK,
	CKPT_STOP,         /* the listener asked to stop */
	CKPT_REJECTED,     /* a finding makes it impossible to go on */
	CKPT_EIO,          /* the system refused; errno says why */
	CKPT_ENOMEM,       /* the machine's memory is used up */
	CKPT_ELIMIT,       /* the caller's memory limit is used up */
	CKPT_EUNSUPPORTED, /* we do not implement this */
	CKPT_EDESTINATION, /* the destination can never be a saved file */
	CKPT_ENOATOMIC,    /* UnsupportedAtomicReplacement: the place offers no
			    * atomic rename; the destination is untouched */
	CKPT_ENOTSYNCED,   /* the new file is in place and complete, but the
			    * folder could not be synced: a power cut may still
			    * bring the old one back */
};

/* One verdict a file (interface: verdicts and exit codes). */
enum ckpt_verdict {
	CKPT_VALID,        /* every rule that applies ran and passed */
	CKPT_INVALID,      /* at least one error in the content */
	CKPT_UNSUPPORTED,  /* recognised, but not implemented here */
	CKPT_NOT_VERIFIED, /* could not be checked; never means clean */
};

/* The exit status of every tool. Of several files 3 beats 1 beats 0. */
enum ckpt_exit {
	CKPT_EXIT_OK = 0,
	CKPT_EXIT_NEGATIVE = 1,
	CKPT_EXIT_USAGE = 2,
	CKPT_EXIT_TROUBLE = 3,
	CKPT_EXIT_INTERRUPTED = 130,
};

/* "valid", "invalid", "unsupported", "not-verified". */
const char *ckpt_verdict_name(enum ckpt_verdict verdict);
/* What a tool exits with that met this verdict alone: an enum ckpt_exit. */
int ckpt_verdict_exit(enum ckpt_verdict verdict);

/* ---- Findings ----------------------------------------------------------- */

enum ckpt_severity { CKPT_NOTE, CKPT_WARNING, CKPT_ERROR };

enum ckpt_class {
	CKPT_SUSPICIOUS,
	CKPT_CORRUPT,
	CKPT_CLASS_UNSUPPORTED,
	CKPT_LIMIT,
	CKPT_IO,
};

/* What a rule is; one row of the findings table. All text is static. */
struct ckpt_rule {
	const char *id;   /* "CK1006"; never reused */
	const char *slug; /* "checksum-mismatch" */
	enum ckpt_severity severity;
	enum ckpt_class class_;
	const char *seed_kind; /* error kind of the format's reference loader,
				* or NULL */
	const char *check;     /* which check of the format's list, as "A6" */
	const char *text;      /* what is wrong, one line */
	const char *why;       /* the likely cause */
	const char *next;      /* what to do next, or NULL */
};

/* The rank of a finding: the lowest is the primary one, whatever the order in
 * which a streaming reader met them. */
struct ckpt_rank {
	char phase; /* '0' for what prevents a verdict, then 'A' to 'G' */
	uint64_t unit;
	uint64_t step;
};

enum ckpt_value_kind {
	CKPT_V_NONE,
	CKPT_V_U64,
	CKPT_V_HASH, /* FNV-1a 64, shown as fnv1a64:%016x */
	CKPT_V_F64,  /* shown with its bits */
	CKPT_V_TEXT, /* our own words */
	CKPT_V_BYTES /* bytes of the file: escape before printing */
};

struct ckpt_value {
	enum ckpt_value_kind kind;
	uint64_t u64;  /* U64, HASH; the bits of F64 */
	const void *p; /* TEXT (NUL-terminated), BYTES; borrowed */
	size_t n;      /* BYTES */
};

/* One finding. Pointers live as long as the run that made it. */
struct ckpt_diag {
	const struct ckpt_rule *rule;
	struct ckpt_rank rank;
	uint64_t off;     /* absolute; where to look */
	uint64_t len;     /* bytes at fault from off, 0 if a position only */
	const char *path; /* "records[3].dims[1]", "" for the whole file */
	struct ckpt_value expected;
	struct ckpt_value found;
	const char *note; /* the facts in a sentence, or NULL */
	uint64_t count;   /* how often, at least 1 */
	const struct ckpt_rule *caused_by; /* NULL if independent */
};

/* Rules by position, 0 to ckpt_rule_count() - 1, and by id or slug. NULL when
 * there is no such rule. They are static. */
size_t ckpt_rule_count(void);
const struct ckpt_rule *ckpt_rule_at(size_t i);
const struct ckpt_rule *ckpt_rule_find(const char *id_or_slug);

/* ---- Sources ------------------------------------------------------------ */

/* Where bytes come from: read front to back, once. You may make your own:
 * put this struct first in yours, and let close free it. */
struct ckpt_source {
	/* Up to n bytes; 0 at the end, -1 with errno set on failure. May give
	 * fewer than asked for. EINTR is no failure: a signal came before any
	 * byte, and the run asks whether it was cancelled, then again. */
	ptrdiff_t (*read)(struct ckpt_source *source, void *bytes, size_t n);
	/* Up to n bytes at off, without moving what read gives next; returns
	 * as read does. NULL where the source cannot go back, as a pipe. */
	ptrdiff_t (*read_at)(struct ckpt_source *source, void *bytes, size_t n,
		uint64_t off);
	/* CKPT_OK when the bytes read are still those of the named file, or
	 * what changed, in words, in *what. NULL if nothing can change. */
	enum ckpt_status (*unchanged)(
		struct ckpt_source *source, const char **what);
	void (*close)(struct ckpt_source *source);
	bool has_size; /* size is known before the end */
	uint64_t size;
	bool is_pipe;
	/* read may come from another thread than before, while that waits. */
	bool any_thread;
	/* What the bytes are called, or NULL: the suffix decides where they
	 * do not say what they are. Lives as long as the source. */
	const char *name;
};

/* Opens a file read-only; "-" is standard input. Never blocks on a FIFO that
 * has no writer. NULL with errno set on failure (EISDIR for a folder). The
 * caller owns it and gives it back to ckpt_source_close(). */
struct ckpt_source *ckpt_source_open(const char *path);

/* n bytes in memory, borrowed until the source is closed; bytes may be NULL
 * if n is 0. NULL if out of memory. The caller owns the source. */
struct ckpt_source *ckpt_source_memory(const void *bytes, size_t n);

/* Ends and frees it. NULL is allowed. */
void ckpt_source_close(struct ckpt_source *source);

/* ---- Verifying ---------------------------------------------------------- */

/* What is done with the values of tensors. Whether OFF can apply is up to the
 * format: where values decide, ckpt_verify() refuses it (CK9007). */
enum ckpt_values { CKPT_VALUES_STATS, CKPT_VALUES_FINITE, CKPT_VALUES_OFF };
/* REFERENCE accepts what the format's own loader accepts; STRICT may reject
 * more, and never accepts what that loader rejects. For llmcp35 the two are
 * the same. */
enum ckpt_profile { CKPT_PROFILE_STRICT, CKPT_PROFILE_REFERENCE };

/* All zero is a good start. */
struct ckpt_options {
	uint64_t max_memory; /* bytes of one run; 0: CKPT_MAX_MEMORY */
	/* Bytes of a header, for formats that bound it (others refuse it as
	 * CK9007); 0: what the format says. */
	uint64_t max_header;
	/* Tensors that do not begin at a multiple of it are warned about, in
	 * formats that do not align (others refuse it as CK9007); 0: none. */
	uint64_t align;
	enum ckpt_values values;
	enum ckpt_profile profile;
	/* Asked now and then with the bytes read so far and their number in
	 * all (0 when unknown); false cancels the run. May be NULL. */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

#define CKPT_MAX_MEMORY ((uint64_t)1 << 30)

/* One verification: options, memory, and after it the findings. Made by
 * ckpt_run_new(), ended by ckpt_run_free(), used for one file. */
struct ckpt_run;

/* options may be NULL (all defaults); copied. NULL if out of memory. */
struct ckpt_run *ckpt_run_new(const struct ckpt_options *options);
/* With it end its findings and all that they point to. NULL is allowed. */
void ckpt_run_free(struct ckpt_run *run);

/* Reads the source to its end, or as far as there is something to judge, and
 * collects every finding. The verdict is a function of the primary finding
 * alone. Never fails: what prevents a verdict is a finding too. Once a run; the
 * source stays yours to close, and may be closed right after. */
enum ckpt_verdict ckpt_verify(struct ckpt_run *run, struct ckpt_source *source);

/* What ckpt_verify() found; sorted by rank, then offset. NULL and 0 where
 * there is none. Pointers live as long as the run. */
const struct ckpt_diag *ckpt_run_primary(const struct ckpt_run *run);
const struct ckpt_diag *ckpt_run_finding(const struct ckpt_run *run, size_t i);
size_t ckpt_run_finding_count(const struct ckpt_run *run);

/* The format's name ("llmcp35") and version, NULL and 0 if no format claimed
 * the file. version may be NULL. */
const char *ckpt_run_format(const struct ckpt_run *run, unsigned *version);

/* ---- Damage ------------------------------------------------------------- */

/*
 * Where a file was damaged, if its format has an FNV-1a 64 checksum over the
 * whole file. That hash can be run backwards, so a single changed byte, two
 * changed neighbours, and a changed checksum each leave a trace that tells
 * place and original value. What is found is a proposal with its odds: the
 * checksum has no key, so a repaired file is intact at best, never authentic.
 */
enum ckpt_damage_kind {
	CKPT_DAMAGE_BYTE,     /* one byte */
	CKPT_DAMAGE_BURST,    /* two bytes side by side */
	CKPT_DAMAGE_CHECKSUM, /* the stored checksum; the data is intact */
};

/* One explanation of a checksum that does not hold. */
struct ckpt_damage {
	enum ckpt_damage_kind kind;
	uint64_t off;
	size_t len; /* bytes at fault from off, 1 to 8 */
	uint8_t found[8], original[8];
	/* How many explanations of this kind to expect if the damage was
	 * something else entirely: far below 1, or this one means little. */
	double chance;
	enum ckpt_verdict verdict; /* of the file with the original bytes */
};

enum { CKPT_DAMAGES = 8 };

struct ckpt_location {
	uint64_t stored, computed; /* equal: the checksum holds */
	/* Explanations in all, and the first n of them; 0 where the damage is
	 * neither of the three. */
	uint64_t count;
	size_t n;
	struct ckpt_damage damages[CKPT_DAMAGES];
};

/* Searches the whole source and verifies it once for each explanation, with
 * options (may be NULL). Nothing is written. CKPT_OK, also if there was
 * nothing to find; CKPT_EUNSUPPORTED if the source cannot go back, has no size
 * or is of a format without such a checksum; CKPT_REJECTED if it ends before
 * its checksum does; CKPT_EIO, CKPT_ENOMEM, CKPT_STOP. The source stays yours,
 * and what read() gives next stays what it was. */
CKPT_MUST_USE enum ckpt_status ckpt_locate(struct ckpt_source *source,
	const struct ckpt_options *options, struct ckpt_location *location);

/* ---- Checkpoints -------------------------------------------------------- */

/*
 * A checkpoint that was read whole, without its format: what a trainer wrote
 * down after a number of updates, and no more. A file becomes one only when
 * every rule of its format holds, so what you find here is what that format
 * promises. Nothing changes it afterwards.
 *
 * Words and shapes are those of the format's specification: V vocabulary, D
 * width, F feed-forward width, L layers. Weights are [input, output],
 * row-major. Values are IEEE 754 binary64, in files and here as little-endian
 * bytes, so that every bit pattern survives.
 */
struct ckpt_checkpoint;

/* The decoder's settings. */
struct ckpt_config {
	uint64_t vocabulary; /* V: token ids are below it */
	uint64_t width;      /* D: a multiple of twice the heads */
	uint64_t heads;
	uint64_t feed_forward_width; /* F */
	uint64_t layers;             /* L: may be 0 */
	uint64_t positions;          /* the longest context, in tokens */
	double rope_base;            /* finite, above 0 */
	double rms_epsilon;          /* finite, at least 0 */
	uint64_t kv_heads;           /* of key and value; 0: as many as heads */
	uint64_t context_window; /* tokens one attends to; 0: all before it */
};

/* The optimizer's settings. */
struct ckpt_adamw {
	double learning_rate; /* finite, above 0 */
	double beta1;         /* at least 0, below 1 */
	double beta2;         /* at least 0, below 1 */
	double epsilon;       /* finite, above 0 */
	double weight_decay;  /* finite, at least 0 */
};

enum ckpt_tensor_kind {
	CKPT_TENSOR_PIECE,  /* bytes of literal token i; u8 [n] */
	CKPT_TENSOR_MERGES, /* u32 [merges, 2]: pairs of training-space ids */
	CKPT_TENSOR_WEIGHT, /* parameters, gains included; f64 */
	CKPT_TENSOR_FIRST,  /* first moments; f64, shape of the parameter */
	CKPT_TENSOR_SECOND, /* second moments, none below 0; f64 */
};

/* One tensor. Everything is borrowed from the checkpoint. */
struct ckpt_view {
	enum ckpt_tensor_kind kind;
	const uint8_t *name; /* name_len bytes, not NUL-terminated; NULL for
			      * what the tokenizer has */
	uint32_t name_len;
	uint32_t rank;
	const uint64_t *dims; /* rank of them, outermost first */
	const uint8_t *bytes; /* little-endian elements, unaligned */
	uint64_t len;         /* bytes */
};

/* Verifies a source and, only if it is valid, keeps what it holds. The memory
 * for that (about the size of the file) counts towards options->max_memory.
 *
 * CKPT_OK, or CKPT_REJECTED for an invalid file, CKPT_EUNSUPPORTED, CKPT_EIO
 * (also if the file changed meanwhile), CKPT_ELIMIT, CKPT_ENOMEM, CKPT_STOP.
 * *out is set with every status, so that ckpt_checkpoint_run() can say why; it
 * is NULL only when memory ran out before the first byte. The source is yours
 * to close, before or after; options may be NULL. */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_read(struct ckpt_source *source,
	const struct ckpt_options *options, struct ckpt_checkpoint **out);

/* NULL is allowed. */
void ckpt_checkpoint_free(struct ckpt_checkpoint *checkpoint);

/* The verification that was made: findings, format, warnings too. Lives as
 * long as the checkpoint. */
const struct ckpt_run *ckpt_checkpoint_run(
	const struct ckpt_checkpoint *checkpoint);
enum ckpt_verdict ckpt_checkpoint_verdict(
	const struct ckpt_checkpoint *checkpoint);

/* What a checkpoint holds that was read with CKPT_OK; NULL and 0 otherwise.
 * Steps are updates done. */
const struct ckpt_config *ckpt_checkpoint_config(
	const struct ckpt_checkpoint *checkpoint);
const struct ckpt_adamw *ckpt_checkpoint_adamw(
	const struct ckpt_checkpoint *checkpoint);
uint64_t ckpt_checkpoint_step(const struct ckpt_checkpoint *checkpoint);

/* Tensor i, in the order of the kinds; parameters in model order, moments in
 * the bytewise order of their names, as they are stored. False, and *view
 * untouched, when there is none. */
bool ckpt_checkpoint_tensor(const struct ckpt_checkpoint *checkpoint,
	uint64_t i, struct ckpt_view *view);

/* Writes it to memory, in the format that it came in: the same bytes as the
 * file had. *bytes is yours to give to free(). CKPT_ENOMEM; CKPT_REJECTED if
 * it was not read with CKPT_OK. Both outputs are NULL and 0 then. */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_encode(
	const struct ckpt_checkpoint *checkpoint, uint8_t **bytes, size_t *n);

/* The facts of a save that did not end in CKPT_OK. */
struct ckpt_save_fault {
	const char *action; /* what failed, "sync the folder"; static */
	const char *reason; /* our words where no system call failed, or NULL */
	int error;          /* errno where one did, or 0 */
	int leftover;       /* errno of the removal of the temporary file if it
			     * is still there, else 0 */
	char temporary[256]; /* its name in the folder of path, or "" */
};

/* Saves it to a file, atomically: under any status but CKPT_OK and
 * CKPT_ENOTSYNCED, path leads to what it led to before, and under these two to
 * the complete new file. CKPT_EIO, CKPT_EDESTINATION, CKPT_ENOATOMIC,
 * CKPT_ENOMEM; CKPT_REJECTED as above. fault may be NULL. */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_save(
	const struct ckpt_checkpoint *checkpoint, const char *path,
	struct ckpt_save_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
