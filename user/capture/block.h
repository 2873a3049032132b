/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The container: a file header, then blocks.
 *
 *   file   0  magic, 8 bytes          block   0  u32 magic "PBLK"
 *          8  u16 major version               4  u32 sequence, from 0
 *         10  u16 minor version               8  u32 raw length
 *         12  u32 CRC-32 of the above        12  u32 stored length
 *         16  first block                    16  u32 encoding
 *                                            20  u32 records
 *                                            24  u32 CRC-32 of the stored bytes
 *                                            28  u32 CRC-32 of the above
 *                                            32  stored bytes
 *
 * All numbers little endian. The header has a sum of its own, so that its
 * lengths can be believed before the payload is there.
 *
 * Private to user/capture.
 */
#ifndef PROFBPF_CAPTURE_BLOCK_H
#define PROFBPF_CAPTURE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* The first byte is no text, CR LF and LF show what a text-mode copy did. */
#define FILE_MAGIC	"\x89PBF\r\n\x1a\n"
#define FILE_MAGIC_LEN	8
#define FILE_MAJOR	1 /* changes when old readers would misread */
#define FILE_MINOR	0 /* changes when kinds, fields or enumerators are added */
#define FILE_HEADER_LEN 16

#define BLOCK_HEADER_LEN 32

enum block_encoding {
	BLOCK_STORED = 0,
	BLOCK_ZLIB = 1,
	BLOCK_ENCODING_MAX
};

/* A block's raw size; the writer stays far below. */
#define BLOCK_RAW_MAX ((size_t)64 << 20)

/*
 * The raw bytes of a whole file may exceed its own size 64 times, and 64 MiB on
 * top: what a reader must hold follows from what the file weighs. Where deflate
 * does better than that, the writer stores.
 */
#define FILE_RATIO_MAX 64
#define FILE_RAW_SLACK ((uint64_t)64 << 20)

static inline int file_ratio_ok(uint64_t raw_bytes, uint64_t file_bytes)
{
	return raw_bytes <= FILE_RAW_SLACK ||
	       (raw_bytes - FILE_RAW_SLACK) / FILE_RATIO_MAX <= file_bytes;
}

struct block_header {
	uint32_t sequence;
	uint32_t raw_len;
	uint32_t stored_len;
	uint32_t encoding; /* enum block_encoding */
	uint32_t records;
	uint32_t payload_crc;
};

void file_header_pack(uint8_t out[FILE_HEADER_LEN]);

enum header_state {
	HEADER_OK,
	HEADER_NO_MAGIC,
	HEADER_DAMAGED
};

/** The versions are filled in for HEADER_OK. */
enum header_state file_header_unpack(
	const uint8_t in[FILE_HEADER_LEN], uint16_t *major, uint16_t *minor);

void block_header_pack(const struct block_header *h, uint8_t out[BLOCK_HEADER_LEN]);
enum header_state block_header_unpack(const uint8_t in[BLOCK_HEADER_LEN], struct block_header *h);

#endif
