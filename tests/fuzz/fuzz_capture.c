/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures. The first byte chooses: an even one is followed by a whole file, an
 * odd one by the records of a block, around which a file with right check sums
 * is put, since no mutation would get past them.
 *
 * Whatever is read whole is written again and must read as the same records.
 * Seeds are made by tests/unit/test_fuzz_seeds.c.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/cursor.h"
#include "user/base/gz.h"
#include "user/base/out.h"
#include "user/capture/block.h"
#include "user/capture/capture.h"

/* Larger ones take libFuzzer's time and find nothing new. */
#define TEXT_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrap(struct buf *b, const uint8_t *raw, size_t len)
{
	struct block_header h = {.raw_len = (uint32_t)len,
		.stored_len = (uint32_t)len,
		.encoding = BLOCK_STORED,
		.payload_crc = gz_crc32(0, raw, len)};
	uint8_t file[FILE_HEADER_LEN], block[BLOCK_HEADER_LEN];
	struct cursor c;

	/* the number of records is checked too */
	cursor_init(&c, raw, len);
	for (; cursor_left(&c) && !cursor_err(&c); h.records++) {
		cursor_varint(&c);
		cursor_skip(&c, cursor_varint(&c));
	}
	file_header_pack(file);
	block_header_pack(&h, block);
	buf_add(b, file, sizeof(file));
	buf_add(b, block, sizeof(block));
	buf_add(b, raw, len);
}

static int read_text(
	const void *data, size_t len, struct sink *also, struct out *o, struct capture_info *info)
{
	struct sink *dump = dump_sink_new(o), *tee = also ? sink_tee(dump, also) : NULL;
	struct err e = {0};
	int ret = capture_read_mem("fuzz", data, len, tee ? tee : dump, info, &e);

	if ((ret != 0) != (e.code != 0))
		abort(); /* an error without a sentence, or a sentence without an error */
	free(tee);
	free(dump);
	return ret;
}

static void read_again(const void *data, size_t len)
{
	struct out *a = out_mem(), *b = out_mem();
	struct capture_info info, again;
	struct buf copy = BUF_INIT;
	struct capture_writer *w;
	const char *text_a, *text_b;
	size_t len_a, len_b;

	if (!a || !b || capture_writer_mem(&w, &copy))
		abort();
	/* END counts the samples that were stepped over, the copy lacks them */
	if (!read_text(data, len, capture_writer_sink(w), a, &info) && !info.unknown_records &&
		out_count(a) < TEXT_MAX) {
		if (capture_writer_finish(w, NULL) ||
			read_text(copy.data, copy.len, NULL, b, &again))
			abort();
		text_a = out_mem_data(a, &len_a);
		text_b = out_mem_data(b, &len_b);
		if (len_a != len_b || memcmp(text_a, text_b, len_a) ||
			again.complete != info.complete)
			abort();
	} else {
		capture_writer_discard(w);
	}
	buf_release(&copy);
	out_abort(a);
	out_abort(b);
}

static void verify(const void *data, size_t len)
{
	struct sink *v = verify_sink_new();

	if (v && !capture_read_mem("fuzz", data, len, v, NULL, NULL))
		verify_sink_finish(v, NULL);
	verify_sink_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = BUF_INIT;

	if (!size)
		return 0;
	if (*data & 1)
		wrap(&file, data + 1, size - 1);
	else
		buf_add(&file, data + 1, size - 1);
	read_again(file.data, file.len);
	verify(file.data, file.len);
	buf_release(&file);
	return 0;
}
