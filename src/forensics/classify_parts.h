/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORENSICS_CLASSIFY_PARTS_H
#define CKPT_FORENSICS_CLASSIFY_PARTS_H

/* What the parts of the classifier share; for nobody else. */

#include "forensics/classify.h"

enum {
	CLASSIFY_PAGE = 4096,
	CLASSIFY_CHUNK = 1024 * 1024, /* read at once */
	CLASSIFY_RUNS = 4096,         /* of zeros, that are kept */
	CLASSIFY_ODD = 256,           /* of odd pages, that are kept */
	CLASSIFY_SAMPLES = 1 << 18,   /* of content, that are kept */
	/* Bytes at the edge of a damaged range that are what they would be by
	 * chance: two have one value once in 256 times. */
	CLASSIFY_SLACK = 3,
};

/* ---- Zeros -------------------------------------------------------------- */

/* All bytes of [off, end) are zero, and no more around them. */
struct zero_run {
	uint64_t off, end;
	bool cut; /* by a piece that was not looked at: the end is not known */
};

struct zeros {
	struct zero_run *runs;
	uint64_t n;
	uint64_t lost; /* runs beyond those that are kept */
	struct zero_run now;
	bool open;
	bool after_gap; /* what lies before the next byte is not known */
};

/* ---- Bytes as a text tool would see them -------------------------------- */

struct byte_counts {
	uint64_t count[256];
	uint64_t bytes;
	uint64_t crlf;     /* CR LF */
	uint64_t replaced; /* U+FFFD as UTF-8 */
	uint64_t odd_zero; /* zero bytes at odd offsets */
	uint64_t leads;    /* of UTF-8, as long as all is UTF-8 */
	uint64_t latin;    /* of those C2 and C3 */
	bool not_utf8;
	unsigned wanted; /* bytes that its last sequence still needs */
	uint8_t tail[2]; /* the last bytes of the chunk before */
};

/* ---- Values by their exponents ------------------------------------------ */

/* Bytes of one page that one kind of float owns, with elements at one phase:
 * those of neighbours are one window if they agree. */
struct window {
	uint64_t off, end;
	unsigned width;    /* 2, 4, 8 */
	unsigned residue;  /* file offset of an element's first byte, modulo
			    * width */
	bool half;         /* F16, whose exponents are short */
	uint64_t owner;    /* of spans->owners, the first */
	bool starts_owner; /* it begins where a tensor does */
};

enum page_class {
	PAGE_UNKNOWN, /* says nothing */
	PAGE_PHASE,   /* values whose elements begin shift bytes late */
	PAGE_NOISE,   /* no byte of an element differs from the others */
	PAGE_TEXT,
	PAGE_OTHER, /* many different bytes, and no exponents */
};

struct page_view {
	enum page_class class_;
	unsigned shift;
	/* How much the byte behind and before the one with the exponent looks
	 * as if the exponent went on in it. */
	double behind, before;
	unsigned mode;     /* the most frequent exponent byte, without sign */
	unsigned outliers; /* elements far above all others, one bit away */
};

/* Pages in a row that are not what they should be. */
struct odd_run {
	enum page_class class_;
	unsigned shift, width; /* elements begin shift modulo width late */
	struct window first, last;
	struct window good_before, good_after; /* width 0: none */
	uint64_t pages, noise, text; /* all, and those of these classes */
	double behind, before;
	/* Refined: the bytes that are odd. */
	uint64_t off, end;
};

struct phases {
	struct odd_run *runs;
	uint64_t n, lost;
	struct odd_run now;
	bool open;
	struct window good; /* the last one, width 0: none */
	uint64_t good_pages, good_end;
	/* Elements beyond all others of their page. */
	uint64_t outliers;
	struct {
		uint64_t off;
		unsigned width;
		uint64_t bits;
	} outlier; /* the first */
};

/* ---- Repeats ------------------------------------------------------------ */

/* The 64 bytes before end have this hash. */
struct content_sample {
	uint64_t hash, end;
};

struct repeats {
	struct content_sample *samples;
	uint64_t n;
	uint64_t hash, mask;
	uint64_t filled; /* bytes that are in the hash */
	bool full;
	uint64_t again; /* bytes that may still be read again */
	bool spent;     /* there were more to read */
};

/* ---- Magics ------------------------------------------------------------- */

enum { CLASSIFY_MAGICS = 16 };

struct magics {
	struct {
		uint64_t off;
		const char *name; /* static */
		bool values;      /* values go on there all the same */
		bool explained;
	} list[CLASSIFY_MAGICS];
	uint64_t n;
};

struct classify {
	struct ckpt_hints *causes;
	const struct ckpt_run *run;
	struct ckpt_spans *spans;
	struct ckpt_source *source;
	uint64_t size;
	uint64_t data;     /* where tensors begin, or 0 */
	bool has_declared; /* the file says where it ends ... */
	uint64_t declared; /* ... here */
	bool sampled;      /* not all of it was looked at */
	uint8_t *chunk;
	uint8_t head[4096];
	size_t nhead;
	uint64_t owner; /* cursor of the scan into spans->owners */
	struct zeros zeros;
	struct byte_counts text;
	struct phases phases;
	struct repeats repeats;
	struct magics magics;
	bool explained_size; /* some cause says why bytes are missing, or more */
	bool explained;      /* some cause is more than possible */
	bool changed;        /* a checksum proves that something happened */
	bool text_mode;      /* bytes were inserted or lost all over */
	struct ckpt_hint spare;  /* what nobody could keep */
	enum ckpt_status status; /* sticky */
};

/* Up to n bytes at off, as many as there are. 0 on failure: status says. */
size_t ckpt_classify_read(
	struct classify *c, uint64_t off, void *bytes, size_t n);

/* Tells how far it is; false, with the status set, if that is enough. */
bool ckpt_classify_go_on(struct classify *c, uint64_t done);

/* The scan. Chunks come in order; gap: there were bytes in between. */
void ckpt_classify_scan(struct classify *c);
void ckpt_classify_zeros_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n);
void ckpt_classify_zeros_close(struct classify *c, bool cut);
void ckpt_classify_text_add(struct classify *c, const uint8_t *p, size_t n);
void ckpt_classify_phases_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n);
void ckpt_classify_phases_close(struct classify *c);
/* Whether the bytes at off are what its tensor should hold there. */
bool ckpt_classify_values_at(
	const struct classify *c, uint64_t off, const uint8_t *p, size_t n);
void ckpt_classify_repeats_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n);
void ckpt_classify_magics_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n);

/* One page's window of floats. */
struct page_view ckpt_classify_page(
	const struct window *window, const uint8_t *p);

/* Finds where the run begins and ends, to an element or two. */
void ckpt_classify_refine(struct classify *c, struct odd_run *run);

/* The judges, in the order in which they are asked: each may look at what
 * those before it have explained. */
void ckpt_classify_judge_head(struct classify *c);
void ckpt_classify_judge_text(struct classify *c);
void ckpt_classify_judge_phases(struct classify *c);
void ckpt_classify_judge_repeats(struct classify *c);
void ckpt_classify_judge_zeros(struct classify *c);
void ckpt_classify_judge_extent(struct classify *c);
void ckpt_classify_judge_flips(struct classify *c);

/* Whether the run has a finding of the rule. */
bool ckpt_classify_found(const struct classify *c, enum ckpt_code code);

/* The largest of the known block sizes that divides x (0: none), in words. */
uint64_t ckpt_classify_block(uint64_t x, const char **words);

/* The tensor that owns the byte, or NULL. */
const struct ckpt_span *ckpt_classify_tensor(
	const struct classify *c, uint64_t off);

/* Whether a tensor or a row of one begins or ends at off. */
enum classify_edge { EDGE_NONE, EDGE_ROW, EDGE_TENSOR };
enum classify_edge ckpt_classify_edge_at(
	const struct classify *c, uint64_t off);
/* The best edge among the places where something may really begin or end. */
enum classify_edge ckpt_classify_edge_in(
	const struct classify *c, uint64_t from, uint64_t to);

/* Whether it holds floats of more than a byte; tensor may be NULL. */
bool ckpt_classify_is_float(const struct ckpt_span *tensor);

/* How many different bytes there are. */
size_t ckpt_classify_values(const uint8_t *p, size_t n);

/* A cause, to which evidence is added; never NULL, but may be kept by nobody
 * when memory is used up. */
struct ckpt_hint *ckpt_classify_add(struct classify *c, const char *slug,
	const char *title, enum ckpt_likelihood likelihood, const char *reason);
void ckpt_classify_where(struct classify *c, struct ckpt_hint *cause,
	uint64_t off, uint64_t len);
void ckpt_classify_say(struct classify *c, struct ckpt_hint *cause,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The first of len bytes at off, as many as can be shown. */
void ckpt_classify_say_bytes(struct classify *c, struct ckpt_hint *cause,
	const char *what, uint64_t off, uint64_t len);

/* "0x1000 (4096)", in memory of the causes. */
const char *ckpt_classify_at(struct classify *c, uint64_t off);

#endif
