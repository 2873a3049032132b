/* SPDX-License-Identifier: BSD-2-Clause */
#include "buf.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->err = 0;
	if (b->data)
		b->data[0] = '\0';
}

int buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap;
	char *data;

	if (b->err)
		return b->err;
	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need) ||
		need > PTRDIFF_MAX)
		goto nomem;
	if (need <= b->cap)
		return 0;
	cap = b->cap + b->cap / 2 + 64;
	if (cap < need)
		cap = need;
	data = realloc(b->data, cap);
	if (!data)
		goto nomem;
	b->data = data;
	b->cap = cap;
	b->data[b->len] = '\0';
	return 0;

nomem:
	b->err = -ENOMEM;
	return b->err;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (buf_reserve(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_addc(struct buf *b, char c)
{
	if (buf_reserve(b, 1))
		return;
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	if (buf_reserve(b, 0))
		return;
	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	if (n < 0) {
		b->err = -EINVAL;
	} else if ((size_t)n >= b->cap - b->len) {
		if (!buf_reserve(b, (size_t)n))
			vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	va_end(ap);
	if (b->err)
		b->data[b->len] = '\0';
	else
		b->len += (size_t)n;
}

void buf_add_varint(struct buf *b, uint64_t v)
{
	unsigned char tmp[10];
	size_t n = 0;

	while (v >= 0x80) {
		tmp[n++] = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	tmp[n++] = (unsigned char)v;
	buf_add(b, tmp, n);
}

void buf_add_svarint(struct buf *b, int64_t v)
{
	buf_add_varint(b, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}

void buf_add_u32le(struct buf *b, uint32_t v)
{
	v = htole32(v);
	buf_add(b, &v, sizeof(v));
}

void buf_add_u64le(struct buf *b, uint64_t v)
{
	v = htole64(v);
	buf_add(b, &v, sizeof(v));
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}
