/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer: records -> stream check -> codec -> block -> .part file.
 *
 * A block is written with one write(2) when it is full or when the caller asks
 * (once a second while recording). What a crash loses is the block being
 * collected; what a full disk loses is that and all later ones. The first error
 * sticks: later puts return it again, so that a recorder which only looks at
 * the end still learns it.
 */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "codec.h"
#include "part_file.h"
#include "stream.h"
#include "user/base/gz.h"

/* Ends a block on its own: imports and merges never call flush. Large enough
 * for deflate to know the names, small enough to lose little. */
#define BLOCK_RAW_TARGET ((size_t)1 << 20)

/* Of 1..9: 9 saves 1 % more on steady samples and doubles the time. */
#define BLOCK_LEVEL 6

struct capture_writer {
	struct sink sink;
	struct part_file file; /* fd -1 when writing to memory */
	struct buf *mem;       /* borrowed, or NULL */
	struct stream stream;
	struct codec *codec;
	struct buf raw;	    /* the block being collected */
	struct buf block;   /* header and payload as they go out */
	uint64_t raw_bytes; /* of all blocks written */
	uint64_t file_bytes;
	uint32_t records; /* in raw */
	uint32_t sequence;
	struct err failed; /* code != 0: sticky */
};

static int fail(struct capture_writer *w, struct err *e)
{
	if (e && e != &w->failed)
		*e = w->failed;
	return w->failed.code;
}

static void append(struct capture_writer *w, const void *data, size_t len)
{
	if (w->mem) {
		buf_add(w->mem, data, len);
		if (w->mem->err)
			err_set(&w->failed, w->mem->err, "capture: out of memory");
	} else {
		part_file_append(&w->file, data, len, &w->failed);
	}
	if (!w->failed.code)
		w->file_bytes += len;
}

/* Header space, then the payload, deflated if that pays and the reader's ratio allows it. */
static int build_block(struct capture_writer *w)
{
	static const uint8_t room[BLOCK_HEADER_LEN];
	struct block_header h = {.sequence = w->sequence,
		.raw_len = (uint32_t)w->raw.len,
		.encoding = BLOCK_ZLIB,
		.records = w->records};
	uint64_t file_bytes;
	int ret;

	buf_clear(&w->block);
	buf_add(&w->block, room, sizeof(room));
	ret = gz_deflate(&w->block, w->raw.data, w->raw.len, BLOCK_LEVEL);
	if (ret)
		return ret;
	file_bytes = w->file_bytes + w->block.len;
	if (w->block.len - sizeof(room) >= w->raw.len ||
		!file_ratio_ok(w->raw_bytes + w->raw.len, file_bytes)) {
		w->block.len = sizeof(room);
		buf_add(&w->block, w->raw.data, w->raw.len);
		h.encoding = BLOCK_STORED;
	}
	if (w->block.err)
		return w->block.err;
	h.stored_len = (uint32_t)(w->block.len - sizeof(room));
	h.payload_crc = gz_crc32(0, w->block.data + sizeof(room), h.stored_len);
	block_header_pack(&h, (uint8_t *)w->block.data);
	return 0;
}

static void write_block(struct capture_writer *w)
{
	int ret;

	if (!w->records || w->failed.code)
		return;
	ret = build_block(w);
	if (ret) {
		err_set(&w->failed, ret, "capture: block %u: out of memory", w->sequence);
		return;
	}
	append(w, w->block.data, w->block.len);
	if (w->failed.code)
		return;
	w->raw_bytes += w->raw.len;
	w->sequence++;
	w->records = 0;
	buf_clear(&w->raw);
	codec_block(w->codec);
}

static int writer_put(struct sink *s, const struct record *r, struct err *e)
{
	struct capture_writer *w = (struct capture_writer *)s;
	struct stream before;
	int ret;

	if (w->failed.code)
		return fail(w, e);
	before = w->stream; /* the codec counts ids from here */
	ret = stream_take(&w->stream, r, e);
	if (ret) {
		err_prefix(e, "capture: refused to write a record");
		return ret;
	}
	codec_encode(w->codec, &before, r, &w->raw);
	if (w->raw.err) {
		err_set(&w->failed, w->raw.err, "capture: block %u: out of memory", w->sequence);
		return fail(w, e);
	}
	w->records++;
	if (w->raw.len >= BLOCK_RAW_TARGET)
		write_block(w);
	return w->failed.code ? fail(w, e) : 0;
}

static void writer_free(struct capture_writer *w)
{
	if (!w)
		return;
	part_file_release(&w->file);
	codec_free(w->codec);
	buf_release(&w->raw);
	buf_release(&w->block);
	free(w);
}

static struct capture_writer *writer_new(void)
{
	struct capture_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->sink.put = writer_put;
	w->file.fd = -1;
	w->codec = codec_new();
	if (!w->codec) {
		writer_free(w);
		return NULL;
	}
	return w;
}

static int write_file_header(struct capture_writer *w, struct err *e)
{
	uint8_t header[FILE_HEADER_LEN];

	file_header_pack(header);
	append(w, header, sizeof(header));
	return w->failed.code ? fail(w, e) : 0;
}

int capture_writer_open(struct capture_writer **out, const char *path, struct err *e)
{
	struct capture_writer *w = writer_new();
	int ret;

	*out = NULL;
	if (!w)
		return err_set(e, -ENOMEM, "capture: out of memory");
	ret = part_file_create(&w->file, path, e);
	if (ret)
		goto fail;
	ret = write_file_header(w, e);
	if (ret) {
		part_file_remove(&w->file);
		goto fail;
	}
	*out = w;
	return 0;

fail:
	writer_free(w);
	return ret;
}

int capture_writer_mem(struct capture_writer **out, struct buf *b)
{
	struct capture_writer *w = writer_new();
	int ret;

	*out = NULL;
	if (!w)
		return -ENOMEM;
	w->mem = b;
	ret = write_file_header(w, NULL);
	if (ret) {
		writer_free(w);
		return ret;
	}
	*out = w;
	return 0;
}

struct sink *capture_writer_sink(struct capture_writer *w)
{
	return &w->sink;
}

int capture_writer_flush(struct capture_writer *w, struct err *e)
{
	write_block(w);
	return w->failed.code ? fail(w, e) : 0;
}

uint64_t capture_writer_bytes(const struct capture_writer *w)
{
	return w->file_bytes;
}

const char *capture_writer_part_path(const struct capture_writer *w)
{
	return w->file.part ? w->file.part : "";
}

int capture_writer_finish(struct capture_writer *w, struct err *e)
{
	int ret = capture_writer_flush(w, e);

	if (!ret && !w->mem)
		ret = part_file_rename(&w->file, e);
	writer_free(w);
	return ret;
}

int capture_writer_leave_part(struct capture_writer *w, struct err *e)
{
	int ret = capture_writer_flush(w, e);

	writer_free(w);
	return ret;
}

void capture_writer_discard(struct capture_writer *w)
{
	if (!w)
		return;
	part_file_remove(&w->file);
	writer_free(w);
}
