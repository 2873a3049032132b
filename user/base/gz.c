/* SPDX-License-Identifier: BSD-2-Clause */
/* zlib counts in unsigned int; we feed it pieces, so that sizes above 4 GiB work. */
#include "gz.h"

#include <errno.h>
#include <zlib.h>

#define PIECE	  ((size_t)1 << 30)
#define GZIP_BITS (15 + 16) /* deflateInit2: a gzip header; its mtime is 0 unless set */
#define ZLIB_BITS 15

/* Deflate cannot do better than 258 bytes in two bits, 1032 to 1. */
#define RATIO_MAX 1032

static int compress_to(struct buf *b, const void *data, size_t len, int level, int bits)
{
	z_stream z = {0};
	size_t start = b->len, left = len, room;
	int ret, z_ret;

	ret = buf_reserve(b, len / 4 + 64);
	if (ret)
		return ret;
	if (deflateInit2(&z, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		b->err = -ENOMEM;
		return b->err;
	}
	z.next_in = (Bytef *)(uintptr_t)data; /* zlib's type is not const; it does not write */
	do {
		if (!z.avail_in) {
			z.avail_in = (uInt)(left < PIECE ? left : PIECE);
			left -= z.avail_in;
		}
		ret = buf_reserve(b, 4096);
		if (ret)
			break;
		room = b->cap - b->len - 1;
		z.avail_out = (uInt)(room < PIECE ? room : PIECE);
		room = z.avail_out;
		z.next_out = (Bytef *)b->data + b->len;
		z_ret = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		b->len += room - z.avail_out;
		if (z_ret == Z_STREAM_ERROR) {
			ret = b->err = -EINVAL;
			break;
		}
	} while (z_ret != Z_STREAM_END);
	deflateEnd(&z);
	if (ret)
		b->len = start;
	if (b->data)
		b->data[b->len] = '\0';
	return ret;
}

int gz_deflate(struct buf *b, const void *data, size_t len, int level)
{
	return compress_to(b, data, len, level, ZLIB_BITS);
}

int gz_gzip(struct buf *b, const void *data, size_t len, int level)
{
	return compress_to(b, data, len, level, GZIP_BITS);
}

int gz_inflate(struct buf *b, const void *data, size_t len, size_t raw_len)
{
	z_stream z = {0};
	size_t start = b->len, in_left = len, out_left = raw_len;
	unsigned char none;
	int ret, z_ret;

	/* A length from a damaged file must not make us allocate it. */
	if (raw_len / RATIO_MAX > len)
		return -EBADMSG;
	ret = buf_reserve(b, raw_len);
	if (ret)
		return ret;
	if (inflateInit(&z) != Z_OK) {
		b->err = -ENOMEM;
		return b->err;
	}
	z.next_in = (Bytef *)(uintptr_t)data;
	z.next_out = (Bytef *)b->data + b->len;
	do {
		if (!z.avail_in) {
			z.avail_in = (uInt)(in_left < PIECE ? in_left : PIECE);
			in_left -= z.avail_in;
		}
		if (!z.avail_out) {
			z.avail_out = (uInt)(out_left < PIECE ? out_left : PIECE);
			out_left -= z.avail_out;
			if (!z.avail_out)
				z.next_out = &none; /* zlib refuses NULL */
		}
		z_ret = inflate(&z, Z_NO_FLUSH);
	} while (z_ret == Z_OK && (z.avail_in || in_left) && (z.avail_out || out_left || !raw_len));
	/* All output may be there while the stream's check sum has yet to be read. */
	if (z_ret == Z_OK && !z.avail_out && !out_left) {
		z.next_out = &none;
		z_ret = inflate(&z, Z_NO_FLUSH);
	}
	if (z_ret == Z_MEM_ERROR)
		ret = b->err = -ENOMEM;
	else if (z_ret != Z_STREAM_END || z.avail_in || in_left || z.avail_out || out_left)
		ret = -EBADMSG;
	inflateEnd(&z);
	b->len = ret ? start : start + raw_len;
	b->data[b->len] = '\0';
	return ret;
}

uint32_t gz_crc32(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t n;

	for (; len; len -= n, p += n) {
		n = len < PIECE ? len : PIECE;
		crc = (uint32_t)crc32(crc, p, (uInt)n);
	}
	return crc;
}
