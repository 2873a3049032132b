/* SPDX-License-Identifier: BSD-2-Clause */
/* The only file that sees zlib. */
#ifndef PROFBPF_BASE_GZ_H
#define PROFBPF_BASE_GZ_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/** Append the zlib stream of @data to @b (level 1..9). 0 or -ENOMEM. */
int gz_deflate(struct buf *b, const void *data, size_t len, int level);
/** Append exactly @raw_len inflated bytes. -EBADMSG if the stream is damaged or of another length.
 */
int gz_inflate(struct buf *b, const void *data, size_t len, size_t raw_len);
/** Append one gzip member with mtime 0 (reproducible). 0 or -ENOMEM. */
int gz_gzip(struct buf *b, const void *data, size_t len, int level);
uint32_t gz_crc32(uint32_t crc, const void *data, size_t len); /* start with 0 */

#endif
