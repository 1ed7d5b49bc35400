/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WIRE_SCHEMA_H
#define CKPT_WIRE_SCHEMA_H

/*
 * Schema rows: what a header holds, field by field, in file order. The C
 * struct gives name and type, the row gives the wire facts. One walker
 * decodes by the rows, one emitter encodes by them, and paths, spans, manual,
 * mutator and fuzz dictionary read the same rows.
 *
 * There are two row macros, CKPT_FIELD and CKPT_ARRAY, and no third.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag/diag.h"

enum ckpt_type {
	CKPT_U8,
	CKPT_U16,
	CKPT_U32,
	CKPT_U64,
	CKPT_F64,
	CKPT_MAGIC, /* eight bytes as they are */
	CKPT_STR,   /* u32 byte length, then that many bytes */
	CKPT_REC,   /* another record, in place */
};

/* Bytes on the wire of a fixed-width type, 0 for STR and REC. */
unsigned ckpt_type_width(enum ckpt_type type);
const char *ckpt_type_name(enum ckpt_type type);

struct ckpt_magic {
	uint8_t b[8];
};

/* p is not NUL-terminated and may be NULL when n is 0. declared is the length
 * on the wire: it differs from n only in files made wrong on purpose. */
struct ckpt_str {
	const uint8_t *p;
	uint32_t n;
	uint32_t declared;
};

/* n elements at p, grown with ckpt_arena_push(); declared is the count that
 * stands in front of the elements (arrays with a count prefix only). */
struct ckpt_array {
	void *p;
	uint32_t n;
	uint32_t declared;
};

struct ckpt_tag {
	uint64_t value;
	const char *name; /* as shown */
	const char *doc;
};

enum ckpt_want_kind {
	CKPT_WANT_ANY,
	CKPT_WANT_BYTES,            /* a magic */
	CKPT_WANT_TAGS,             /* one of a closed set */
	CKPT_WANT_RANGE,            /* min <= value <= max */
	CKPT_WANT_F64_POSITIVE,     /* finite, > 0 */
	CKPT_WANT_F64_NOT_NEGATIVE, /* finite, >= 0; -0.0 passes */
	CKPT_WANT_F64_BELOW_ONE,    /* finite, 0 <= x < 1; -0.0 passes */
	CKPT_WANT_UTF8,             /* and at least min bytes */
};

/* Legal values of one field. at is when they are judged: 0 when the field is
 * read, else a phase of the format's own that it asks for later. */
struct ckpt_want {
	enum ckpt_want_kind kind;
	uint64_t min, max;
	const struct ckpt_tag *tags;
	size_t ntags;
	const uint8_t *bytes;
	enum ckpt_code code;
	enum ckpt_code short_code; /* UTF8 shorter than min */
	bool stops; /* nothing behind a wrong value can be understood */
	int at;
};

/* The field is there only when another field of its record has a value. */
struct ckpt_condition {
	bool set;
	size_t slot;
	enum ckpt_type type;
	uint64_t value;
};

/* The member of the neutral state that holds the same value, with the same
 * type; binding and encoding copy it, so that a field is carried by its row. */
struct ckpt_twin {
	bool set;
	size_t slot;
};

enum ckpt_field_flag {
	CKPT_HASH_AS_ZERO = 1, /* the checksum itself */
	CKPT_IS_OFFSET = 2,    /* points into the file */
	CKPT_IS_LENGTH = 4,
	CKPT_SHOW_HEX = 8,
	CKPT_IS_JSON = 16,   /* stands as JSON text in the file */
	CKPT_IS_SYNTAX = 32, /* is no value, but what stands between them */
};

struct ckpt_record;

struct ckpt_field {
	const char *name;  /* path element */
	const char *title; /* the specification's word; name if NULL */
	enum ckpt_type type;
	size_t slot;
	const struct ckpt_record *rec; /* REC, and arrays of records */
	bool is_array;
	bool prefixed; /* a u32 count stands in front */
	size_t count_slot;
	enum ckpt_type count_type;
	struct ckpt_condition when;
	const struct ckpt_want *want;
	struct ckpt_twin twin;
	unsigned flags;
	const char *doc;
};

struct ckpt_record {
	const char *name;
	size_t size; /* of the struct */
	const struct ckpt_field *fields;
	size_t nfields;
	/* Member that keeps the record's file offset; 0 for none (no record
	 * has it first). */
	size_t at_slot;
	const char *doc;
};

#define CKPT_TYPE_OF(S, m)                                                     \
	_Generic(((S *)0)->m, uint8_t                                          \
		 : CKPT_U8, uint16_t                                           \
		 : CKPT_U16, uint32_t                                          \
		 : CKPT_U32, uint64_t                                          \
		 : CKPT_U64, double                                            \
		 : CKPT_F64, struct ckpt_magic                                 \
		 : CKPT_MAGIC, struct ckpt_str                                 \
		 : CKPT_STR, default                                           \
		 : CKPT_REC)

/* A member; a struct member needs .rec. */
#define CKPT_FIELD(S, m, ...)                                                  \
	{                                                                      \
		.name = #m, .type = CKPT_TYPE_OF(S, m),                        \
		.slot = offsetof(S, m), __VA_ARGS__                            \
	}

/* A struct ckpt_array of elem (a type, or CKPT_REC with .rec), counted by
 * the member count of the same struct, or by a prefix with .prefixed. */
#define CKPT_ARRAY(S, m, count, elem, ...)                                     \
	{                                                                      \
		.name = #m, .type = (elem), .slot = offsetof(S, m),            \
		.is_array = true, .count_slot = offsetof(S, count),            \
		.count_type = CKPT_TYPE_OF(S, count), __VA_ARGS__              \
	}

/* The field of a record by its name, or NULL. */
const struct ckpt_field *ckpt_record_field(
	const struct ckpt_record *rec, const char *name);

/* Whether a field is present in this record. */
bool ckpt_field_present(const struct ckpt_field *field, const void *base);

/* Integer members of any width, and the bits of doubles. */
uint64_t ckpt_slot_load(const void *base, size_t slot, enum ckpt_type type);
void ckpt_slot_store(
	void *base, size_t slot, enum ckpt_type type, uint64_t value);

/* Bytes in memory of one element or member. */
size_t ckpt_field_size(const struct ckpt_field *field);

/* Element i of an array field. */
void *ckpt_array_at(
	const struct ckpt_field *field, const void *base, uint64_t i);

/* Copies all fields that have a twin, from a record to the state at state, or
 * back. Records in place are entered, arrays are not. */
void ckpt_twins_bind(
	const struct ckpt_record *rec, const void *base, void *state);
void ckpt_twins_fill(
	const struct ckpt_record *rec, void *base, const void *state);

/* The bytes that a record, one field of it, or one value of a field (the
 * member, or an element of the array) takes on the wire. */
uint64_t ckpt_record_wire(const struct ckpt_record *rec, const void *base);
uint64_t ckpt_field_wire(const struct ckpt_field *field, const void *base);
uint64_t ckpt_value_wire(const struct ckpt_field *field, const void *value);

#endif
