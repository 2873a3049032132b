/* SPDX-License-Identifier: BSD-2-Clause */
#include "block.h"

#include <endian.h>
#include <string.h>

#include "user/base/cursor.h"
#include "user/base/gz.h"

static const char block_magic[4] = {'P', 'B', 'L', 'K'};

static uint8_t *put_u16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static uint8_t *put_u32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

void file_header_pack(uint8_t out[FILE_HEADER_LEN])
{
	uint8_t *p = out;

	memcpy(p, FILE_MAGIC, FILE_MAGIC_LEN);
	p = put_u16(p + FILE_MAGIC_LEN, FILE_MAJOR);
	p = put_u16(p, FILE_MINOR);
	put_u32(p, gz_crc32(0, out, (size_t)(p - out)));
}

enum header_state file_header_unpack(
	const uint8_t in[FILE_HEADER_LEN], uint16_t *major, uint16_t *minor)
{
	struct cursor c;

	if (memcmp(in, FILE_MAGIC, FILE_MAGIC_LEN))
		return HEADER_NO_MAGIC;
	cursor_init(&c, in + FILE_MAGIC_LEN, FILE_HEADER_LEN - FILE_MAGIC_LEN);
	*major = cursor_u16(&c);
	*minor = cursor_u16(&c);
	if (cursor_u32(&c) != gz_crc32(0, in, FILE_HEADER_LEN - 4))
		return HEADER_DAMAGED;
	return HEADER_OK;
}

void block_header_pack(const struct block_header *h, uint8_t out[BLOCK_HEADER_LEN])
{
	uint8_t *p = out;

	memcpy(p, block_magic, sizeof(block_magic));
	p = put_u32(p + sizeof(block_magic), h->sequence);
	p = put_u32(p, h->raw_len);
	p = put_u32(p, h->stored_len);
	p = put_u32(p, h->encoding);
	p = put_u32(p, h->records);
	p = put_u32(p, h->payload_crc);
	put_u32(p, gz_crc32(0, out, (size_t)(p - out)));
}

enum header_state block_header_unpack(const uint8_t in[BLOCK_HEADER_LEN], struct block_header *h)
{
	struct cursor c;

	if (memcmp(in, block_magic, sizeof(block_magic)))
		return HEADER_NO_MAGIC;
	cursor_init(&c, in + sizeof(block_magic), BLOCK_HEADER_LEN - sizeof(block_magic));
	h->sequence = cursor_u32(&c);
	h->raw_len = cursor_u32(&c);
	h->stored_len = cursor_u32(&c);
	h->encoding = cursor_u32(&c);
	h->records = cursor_u32(&c);
	h->payload_crc = cursor_u32(&c);
	if (cursor_u32(&c) != gz_crc32(0, in, BLOCK_HEADER_LEN - 4))
		return HEADER_DAMAGED;
	return HEADER_OK;
}
