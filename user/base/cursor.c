/* SPDX-License-Identifier: BSD-2-Clause */
#include "cursor.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

void cursor_init(struct cursor *c, const void *data, size_t len)
{
	static const uint8_t none[1];

	/* Pointer arithmetic on NULL is undefined, an empty input may well be NULL. */
	c->start = data ? data : none;
	c->pos = c->start;
	c->end = c->start + (data ? len : 0);
	c->err = 0;
}

size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->pos);
}

size_t cursor_offset(const struct cursor *c)
{
	return (size_t)(c->pos - c->start);
}

int cursor_err(const struct cursor *c)
{
	return c->err;
}

void cursor_fail(struct cursor *c)
{
	c->err = -EBADMSG;
}

const void *cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = c->pos;

	if (c->err)
		return NULL;
	if (n > cursor_left(c)) {
		cursor_fail(c);
		return NULL;
	}
	c->pos += n;
	return p;
}

void cursor_skip(struct cursor *c, size_t n)
{
	cursor_bytes(c, n);
}

uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

uint16_t cursor_u16(struct cursor *c)
{
	const void *p = cursor_bytes(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

uint32_t cursor_u32(struct cursor *c)
{
	const void *p = cursor_bytes(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

uint64_t cursor_u64(struct cursor *c)
{
	const void *p = cursor_bytes(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

uint64_t cursor_varint(struct cursor *c)
{
	const uint8_t *p = c->pos;
	uint64_t v = 0;
	unsigned shift;

	if (c->err)
		return 0;
	for (shift = 0; shift < 64 && p < c->end; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			break; /* the tenth byte holds the 64th bit and no more */
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			c->pos = p;
			return v;
		}
	}
	cursor_fail(c);
	return 0;
}

int64_t cursor_svarint(struct cursor *c)
{
	uint64_t v = cursor_varint(c);

	return (int64_t)((v >> 1) ^ (v & 1 ? UINT64_MAX : 0));
}

const char *cursor_cstr(struct cursor *c, size_t max)
{
	size_t left = cursor_left(c);
	const uint8_t *s = c->pos, *nul;

	if (c->err)
		return NULL;
	nul = memchr(s, 0, left > max && max < SIZE_MAX ? max + 1 : left);
	if (!nul) {
		cursor_fail(c);
		return NULL;
	}
	c->pos = nul + 1;
	return (const char *)s;
}
