/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing byte buffer. Always NUL-terminated past len, so data can be used
 * as a C string when it holds text. The first failed allocation is remembered
 * in err and makes later calls no-ops: check once, at the end.
 */
#ifndef PROFBPF_BASE_BUF_H
#define PROFBPF_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data; /* owned; never NULL after the first successful append */
	size_t len; /* bytes used */
	size_t cap; /* bytes allocated */
	int err;    /* 0 or the first negative errno */
};
#define BUF_INIT                                                                                   \
	{                                                                                          \
		0                                                                                  \
	}

void buf_release(struct buf *b);	     /* frees the contents, leaves BUF_INIT */
void buf_clear(struct buf *b);		     /* len = 0, keeps memory and clears err */
int buf_reserve(struct buf *b, size_t more); /* room for @more bytes beyond len; 0 or -ENOMEM */
void buf_add(struct buf *b, const void *data, size_t len);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_add_varint(struct buf *b, uint64_t v); /* LEB128, at most 10 bytes */
void buf_add_svarint(struct buf *b, int64_t v); /* zigzag LEB128 */
void buf_add_u32le(struct buf *b, uint32_t v);
void buf_add_u64le(struct buf *b, uint64_t v);
const char *buf_str(const struct buf *b); /* never NULL */

#endif
