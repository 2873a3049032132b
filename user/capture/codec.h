/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One record to bytes and back, by the table. On disk a record is
 *
 *   varint kind | varint length | length bytes of fields
 *
 * so that a reader can step over what it does not know. Samples are coded
 * against a prediction from the samples before them in the same block; the
 * codec holds what that needs and forgets it at each block.
 *
 * Private to user/capture.
 */
#ifndef PROFBPF_CAPTURE_CODEC_H
#define PROFBPF_CAPTURE_CODEC_H

#include "stream.h"
#include "user/base/buf.h"
#include "user/base/cursor.h"

struct codec;

/** cursor_varint() for the common case of one or two bytes. */
static inline uint64_t codec_varint(struct cursor *in)
{
	const uint8_t *p = in->pos;

	if (in->end - p >= 2 && !in->err) {
		if (p[0] < 0x80) {
			in->pos = p + 1;
			return p[0];
		}
		if (p[1] < 0x80) {
			in->pos = p + 2;
			return (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
		}
	}
	return cursor_varint(in);
}

struct codec *codec_new(void); /* NULL on ENOMEM */
void codec_free(struct codec *c);
/** A new block begins. */
void codec_block(struct codec *c);

/**
 * Append @r, which stream_take() would accept next, to @out. @s is the state
 * before @r. Errors are out's: check out->err.
 */
void codec_encode(struct codec *c, const struct stream *s, const struct record *r, struct buf *out);

/**
 * Decode the fields of a record of a known @kind from @in, which holds exactly
 * its payload. What is left in @in afterwards was written by a newer version.
 * Pointers in @r point into @in. 0 or -EBADMSG with a sentence.
 */
int codec_decode(struct codec *c, const struct stream *s, unsigned kind, struct cursor *in,
	struct record *r, struct err *e);

#endif
