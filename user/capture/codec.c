/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN of the sample's prediction (the format page has it as a specification)
 *
 * In steady state a CPU ticks at a period that drifts by microseconds, its
 * value is the time since its previous tick, and thread and result stay the
 * same for a while. So the state is per CPU and value type ("slot"):
 *
 *   time   = time of the slot's last sample, + its value for CPU time
 *   value  = time passed since the slot's last sample
 *   stack  = the newest stack, if one was defined since the last sample, else
 *            the slot's last
 *   others = the slot's last
 *
 * and a steady sample is a mask of one byte, two bytes of jitter, and the stack
 * id. Ids are stored as they are and not as differences: a program returns to
 * the same few stacks, and equal bytes are what deflate lives on.
 *
 * Rejected: columns instead of rows (about 1 byte less a sample, but records of
 * different kinds then no longer keep their order).
 */
#include "codec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* 1,024 CPUs with 4 value types each. More of either share slots, which only
 * costs bytes. Part of the format. */
#define SLOTS 4096u

#define VARINT_MAX 10
/* Mask and fields without the bytes of a CODE_BYTES. */
#define PAYLOAD_MAX ((FIELDS_MAX + 1) * VARINT_MAX)

/* Indexes in the table's sample fields where predictions become known. */
enum {
	SAMPLE_TIME = 2,
	SAMPLE_VALUE = 3
};

struct slot {
	uint32_t block; /* valid when equal to the codec's */
	struct record_sample last;
};

struct codec {
	uint32_t block;
	uint32_t fresh_stack; /* defined since the last sample, or 0 */
	struct slot *last;    /* of the last sample; none at the start of a block */
	struct slot none;     /* all zero */
	struct slot slots[SLOTS];
};

struct codec *codec_new(void)
{
	struct codec *c = calloc(1, sizeof(*c));

	if (c)
		codec_block(c);
	return c;
}

void codec_free(struct codec *c)
{
	free(c);
}

void codec_block(struct codec *c)
{
	c->block++;
	if (!c->block) { /* after 2^32 blocks, old marks would look new */
		memset(c->slots, 0, sizeof(c->slots));
		c->block = 1;
	}
	c->fresh_stack = 0;
	c->last = &c->none;
}

/* ---- prediction ----------------------------------------------------------
 *
 * In three steps, each when the fields it builds on are known. @p holds the
 * prediction; what is known already stands in it too and stays.
 */

static struct slot *slot_of(struct codec *c, const struct record_sample *s)
{
	return &c->slots[(s->cpu * 4 + s->type) % SLOTS];
}

/* First: the two that choose the slot. */
static void predict_slot(const struct codec *c, struct record_sample *p)
{
	p->type = c->last->last.type;
	p->cpu = c->last->last.cpu;
}

/* With type and cpu known: the others. */
static struct slot *predict_rest(struct codec *c, struct record_sample *p)
{
	struct slot *slot = slot_of(c, p);
	int seen = slot->block == c->block;
	const struct record_sample *from = seen ? &slot->last : &c->last->last;

	p->time_ns = from->time_ns + (seen && p->type == VALUE_CPU ? from->value : 0);
	p->value = from->value;
	p->value2 = from->value2;
	p->thread = from->thread;
	p->stack = c->fresh_stack ? c->fresh_stack : from->stack;
	p->result = from->result;
	return slot;
}

/* With the time known too: the value is the time that passed. */
static void predict_value(const struct codec *c, const struct slot *slot, struct record_sample *p)
{
	if (slot->block == c->block)
		p->value = p->time_ns - slot->last.time_ns;
}

/* Both sides, after each record. */
static void remember(struct codec *c, const struct record *r)
{
	struct slot *slot;

	switch (r->kind) {
	case RECORD_STACK:
		c->fresh_stack = r->stack.id;
		break;
	case RECORD_RESTART:
		c->fresh_stack = 0;
		break;
	case RECORD_SAMPLE:
		slot = slot_of(c, &r->sample);
		slot->block = c->block;
		slot->last = r->sample;
		c->last = slot;
		c->fresh_stack = 0;
		break;
	default:
		break;
	}
}

/* ---- encoding ------------------------------------------------------------ */

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static uint64_t zigzag(uint64_t v)
{
	return (v << 1) ^ (v >> 63 ? UINT64_MAX : 0);
}

static size_t encode_masked(
	struct codec *c, const struct kind *k, const struct record *r, uint8_t *payload)
{
	uint8_t fields[PAYLOAD_MAX], *p = fields, *start = payload;
	const struct slot *slot = NULL;
	struct record known;
	uint64_t mask = 0, v, guess;
	unsigned i;

	predict_slot(c, &known.sample);
	for (i = 0; i < k->nr; i++) {
		const struct field *f = &k->fields[i];

		if (i == SAMPLE_TIME)
			slot = predict_rest(c, &known.sample);
		else if (i == SAMPLE_VALUE)
			predict_value(c, slot, &known.sample);
		v = field_get(f, r);
		guess = field_get(f, &known);
		if (v == guess)
			continue;
		mask |= (uint64_t)1 << i;
		p = put_varint(p, f->code == CODE_DIFF ? zigzag(v - guess) : v);
		field_set(f, &known, v);
	}
	payload = put_varint(payload, mask);
	memcpy(payload, fields, (size_t)(p - fields));
	return (size_t)(payload - start) + (size_t)(p - fields);
}

static size_t encode_plain(const struct stream *s, const struct kind *k, const struct record *r,
	uint8_t *payload, const struct field **bytes)
{
	uint8_t *p = payload, *end = payload; /* end: behind the last field that is not zero */
	uint64_t v;
	unsigned i;

	*bytes = NULL;
	for (i = 0; i < k->nr; i++) {
		const struct field *f = &k->fields[i];

		if (f->code == CODE_ID)
			continue;
		v = field_get(f, r);
		if (f->code == CODE_SVARINT)
			v = zigzag(v);
		else if (f->code == CODE_BACK)
			v = (uint64_t)s->nr[r->kind] + 1 - v;
		else if (f->code == CODE_BYTES)
			*bytes = f;
		p = put_varint(p, v);
		if (v)
			end = p;
	}
	return (size_t)(end - payload);
}

void codec_encode(struct codec *c, const struct stream *s, const struct record *r, struct buf *out)
{
	const struct kind *k = kind_at(r->kind);
	uint8_t payload[PAYLOAD_MAX];
	const struct field *bytes = NULL;
	size_t len, tail = 0;
	const char *data = NULL;

	if (k->masked) {
		len = encode_masked(c, k, r, payload);
	} else {
		len = encode_plain(s, k, r, payload, &bytes);
		if (bytes) { /* the last field of its kind */
			memcpy(&data, (const char *)r + bytes->data_offset, sizeof(data));
			tail = field_get(bytes, r);
		}
	}
	buf_add_varint(out, r->kind);
	buf_add_varint(out, len + tail);
	buf_add(out, payload, len);
	buf_add(out, data, tail);
	remember(c, r);
}

/* ---- decoding ------------------------------------------------------------ */

static int too_large(const struct kind *k, const struct field *f, uint64_t v, struct err *e)
{
	return err_set(e, -EBADMSG, "%s: %s %" PRIu64 " is too large", k->name, f->name, v);
}

static uint64_t unzigzag(uint64_t v)
{
	return (v >> 1) ^ (v & 1 ? UINT64_MAX : 0);
}

static int fits(const struct field *f, uint64_t v)
{
	return f->size == 8 || !(v >> (8 * f->size));
}

static int cut_short(const struct kind *k, const struct field *f, struct err *e)
{
	return err_set(e, -EBADMSG, "%s: %s is cut short or no number", k->name, f->name);
}

/* The fields [from, to) of a masked kind that are there; @r holds the prediction of all of them. */
static int decode_present(const struct kind *k, uint64_t mask, unsigned from, unsigned to,
	struct cursor *in, struct record *r, struct err *e)
{
	const struct field *f;
	uint64_t v;

	for (mask = (mask & (((uint64_t)1 << to) - 1)) >> from << from; mask; mask &= mask - 1) {
		f = &k->fields[__builtin_ctzll(mask)];
		v = codec_varint(in);
		if (f->code == CODE_DIFF)
			v = field_get(f, r) + unzigzag(v);
		if (in->err)
			return cut_short(k, f, e);
		if (!fits(f, v))
			return too_large(k, f, v, e);
		field_set(f, r, v);
	}
	return 0;
}

static int decode_masked(
	struct codec *c, const struct kind *k, struct cursor *in, struct record *r, struct err *e)
{
	uint64_t mask = codec_varint(in);
	struct slot *slot;
	int ret;

	predict_slot(c, &r->sample);
	ret = decode_present(k, mask, 0, SAMPLE_TIME, in, r, e);
	slot = predict_rest(c, &r->sample);
	if (!ret)
		ret = decode_present(k, mask, SAMPLE_TIME, SAMPLE_VALUE, in, r, e);
	predict_value(c, slot, &r->sample);
	return ret ? ret : decode_present(k, mask, SAMPLE_VALUE, k->nr, in, r, e);
}

static int decode_plain(const struct stream *s, const struct kind *k, unsigned kind,
	struct cursor *in, struct record *r, struct err *e)
{
	uint64_t next = (uint64_t)s->nr[kind] + 1, v;
	const char *data;
	unsigned i;

	for (i = 0; i < k->nr; i++) {
		const struct field *f = &k->fields[i];

		if (f->code == CODE_ID)
			v = next;
		else if (!cursor_left(in))
			v = 0; /* trailing zeros are not stored */
		else if (f->code == CODE_SVARINT)
			v = unzigzag(codec_varint(in));
		else
			v = codec_varint(in);
		if (in->err)
			return cut_short(k, f, e);
		if (f->code == CODE_BACK) {
			if (!v || v > next)
				return err_set(e, -EBADMSG,
					"%s: %s: %" PRIu64 " back from %" PRIu64
					" is no earlier one",
					k->name, f->name, v, next);
			v = next - v;
		}
		if (!fits(f, v))
			return too_large(k, f, v, e);
		field_set(f, r, v);
		if (f->code == CODE_BYTES) {
			data = cursor_bytes(in, v);
			if (in->err)
				return cut_short(k, f, e);
			memcpy((char *)r + f->data_offset, &data, sizeof(data));
		}
	}
	return 0;
}

int codec_decode(struct codec *c, const struct stream *s, unsigned kind, struct cursor *in,
	struct record *r, struct err *e)
{
	const struct kind *k = kind_at(kind);
	int ret;

	r->kind = kind;
	ret = k->masked ? decode_masked(c, k, in, r, e) : decode_plain(s, k, kind, in, r, e);
	if (!ret)
		remember(c, r);
	return ret;
}
