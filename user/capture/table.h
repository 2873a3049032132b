/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of record kinds and their fields: the one place where a kind is
 * declared. codec.c encodes and decodes by it, stream.c checks ids, references
 * and enumerations by it, dump.c prints by it. A new kind is a struct in
 * records.h, an entry here, and a paragraph in docs/capture-format.md.
 *
 * Private to user/capture; everybody else sees records.h.
 */
#ifndef PROFBPF_CAPTURE_TABLE_H
#define PROFBPF_CAPTURE_TABLE_H

#include <string.h>

#include "records.h"

/* How a field is stored. In plain kinds fields follow each other and trailing
 * zeros are left out; in masked kinds (SAMPLE) a bit mask comes first and a
 * field is there only when it differs from what codec.c predicts. */
enum field_code {
	CODE_VARINT,  /* the number */
	CODE_SVARINT, /* the number read as signed, zigzag: good for addresses near 2^64 */
	CODE_DIFF,    /* masked kinds: difference to the prediction, zigzag */
	CODE_BACK,    /* distance back from the record's own id */
	CODE_ID,      /* not stored: ids are dense, the reader counts */
	CODE_BYTES,   /* length, then the bytes; the field is the length, data at data_offset */
};

/* What stream.c looks at. */
enum field_check {
	CHECK_NOTHING,
	CHECK_ID,   /* the next id of its kind */
	CHECK_REF,  /* an id that exists, of kind ref */
	CHECK_ENUM, /* first <= value < limit */
};

/* What a reader does with an enumerator newer than itself. */
enum field_unknown {
	UNKNOWN_REPLACE = 0, /* put 0 there: "none" or "not said" */
	UNKNOWN_DROP,	     /* the record means nothing without it */
};

struct field {
	const char *name;
	uint8_t code;			     /* enum field_code */
	uint8_t check;			     /* enum field_check */
	uint8_t size;			     /* of the member: 1, 2, 4 or 8 bytes */
	uint16_t offset;		     /* in struct record */
	uint16_t data_offset;		     /* CODE_BYTES: of the pointer */
	uint8_t ref;			     /* CHECK_REF: enum record_kind */
	uint8_t required;		     /* CHECK_REF: may not be 0 */
	uint8_t unknown;		     /* CHECK_ENUM: enum field_unknown */
	uint32_t first;			     /* CHECK_ENUM: lowest valid value */
	uint32_t limit;			     /* CHECK_ENUM: valid values are below */
	const char *(*text)(unsigned value); /* for dump; may be NULL */
};

/* Fields of a kind, at most. */
#define FIELDS_MAX 12

struct kind {
	const char *name;
	const struct field *fields;
	uint8_t nr;	/* fields */
	uint8_t masked; /* see enum field_code */
};

extern const struct kind record_kinds[RECORD_KIND_MAX];

/** NULL for a number we do not know. */
static inline const struct kind *kind_at(unsigned kind)
{
	return kind < RECORD_KIND_MAX && record_kinds[kind].name ? &record_kinds[kind] : NULL;
}

const char *frame_kind_text(unsigned kind);
const char *value_type_text(unsigned type);
const char *module_kind_text(unsigned kind);

/* Through memcpy: members are reached by offset, whatever their type is called. */
static inline uint64_t field_get(const struct field *f, const struct record *r)
{
	const char *p = (const char *)r + f->offset;
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (f->size) {
	case 8:
		memcpy(&v8, p, 8);
		return v8;
	case 4:
		memcpy(&v4, p, 4);
		return v4;
	case 2:
		memcpy(&v2, p, 2);
		return v2;
	default:
		return *(const unsigned char *)p;
	}
}

static inline void field_set(const struct field *f, struct record *r, uint64_t v)
{
	char *p = (char *)r + f->offset;
	uint32_t v4 = (uint32_t)v;
	uint16_t v2 = (uint16_t)v;

	switch (f->size) {
	case 8:
		memcpy(p, &v, 8);
		break;
	case 4:
		memcpy(p, &v4, 4);
		break;
	case 2:
		memcpy(p, &v2, 2);
		break;
	default:
		*(unsigned char *)p = (unsigned char)v;
	}
}

#endif
