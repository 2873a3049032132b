/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded reading of untrusted bytes. All binary parsing goes through this.
 *
 * The first error (reading past the end, a varint of more than 10 bytes) is
 * remembered; later reads return 0 and change nothing. Check cursor_err() once
 * at the end of a unit of work, and before any value read is used as a size.
 */
#ifndef PROFBPF_BASE_CURSOR_H
#define PROFBPF_BASE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *start, *pos, *end; /* borrowed; start <= pos <= end */
	int err;			  /* 0 or -EBADMSG */
};

void cursor_init(struct cursor *c, const void *data, size_t len);
size_t cursor_left(const struct cursor *c);
size_t cursor_offset(const struct cursor *c);
int cursor_err(const struct cursor *c);
void cursor_fail(struct cursor *c); /* the caller found the content impossible */
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c); /* little endian, as all formats we read */
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
uint64_t cursor_varint(struct cursor *c);
int64_t cursor_svarint(struct cursor *c);
const void *cursor_bytes(struct cursor *c, size_t n); /* borrowed; NULL on error */
void cursor_skip(struct cursor *c, size_t n);
/** NUL-terminated string inside the data, at most @max bytes; NULL on error. */
const char *cursor_cstr(struct cursor *c, size_t max);

#endif
