/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures for tests of the format: of the streams in capture_support.h, cut into
 * blocks as wanted, and around bytes that no writer would write.
 */
#ifndef PROFBPF_TESTS_CAPTURE_BYTES_H
#define PROFBPF_TESTS_CAPTURE_BYTES_H

#include <errno.h>

#include "capture_support.h"
#include "user/base/gz.h"
#include "user/capture/block.h"

/* A sink that ends a block after each so many records. */
struct spread {
	struct sink sink;
	struct capture_writer *w;
	unsigned every, nr;
};

static inline int spread_put(struct sink *s, const struct record *r, struct err *e)
{
	struct spread *sp = (struct spread *)s;
	int ret = sink_put(capture_writer_sink(sp->w), r, e);

	if (!ret && ++sp->nr % sp->every == 0)
		ret = capture_writer_flush(sp->w, e);
	return ret;
}

static inline void sample_capture(struct buf *b, unsigned records_a_block)
{
	struct spread sp = {.sink = {spread_put}, .every = records_a_block};
	struct err e = {0};

	assert_int_equal(capture_writer_mem(&sp.w, b), 0);
	sample_stream(&sp.sink);
	assert_int_equal(capture_writer_finish(sp.w, &e), 0);
}

static inline void random_capture(
	struct buf *b, uint64_t seed, unsigned nr, unsigned records_a_block)
{
	struct spread sp = {.sink = {spread_put}, .every = records_a_block};
	struct err e = {0};

	assert_int_equal(capture_writer_mem(&sp.w, b), 0);
	random_stream(&sp.sink, seed, nr);
	assert_int_equal(capture_writer_finish(sp.w, &e), 0);
}

static inline int read_text(
	const struct buf *b, struct text *t, struct capture_info *info, struct err *e)
{
	*e = (struct err){0};
	return capture_read_mem("t.prof", b->data, b->len, t->sink, info, e);
}

static inline int ignore_put(struct sink *s, const struct record *r, struct err *e)
{
	(void)s;
	(void)r;
	(void)e;
	return 0;
}

static struct sink ignore __attribute__((unused)) = {ignore_put};

/* A file around @raw records, with right sums: what is wrong then is the content. */
static inline void wrap_records(struct buf *b, const void *raw, size_t len, unsigned nr)
{
	struct block_header h = {.raw_len = (uint32_t)len,
		.stored_len = (uint32_t)len,
		.encoding = BLOCK_STORED,
		.records = nr,
		.payload_crc = gz_crc32(0, raw, len)};
	uint8_t file[FILE_HEADER_LEN], block[BLOCK_HEADER_LEN];

	file_header_pack(file);
	block_header_pack(&h, block);
	buf_add(b, file, sizeof(file));
	buf_add(b, block, sizeof(block));
	buf_add(b, raw, len);
}

#endif
