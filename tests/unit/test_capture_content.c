/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures of other versions, and such whose check sums are right and whose content is not. */
#include "capture_bytes.h"

static void set_version(struct buf *b, uint16_t major, uint16_t minor)
{
	uint32_t crc;

	b->data[8] = (char)major;
	b->data[9] = (char)(major >> 8);
	b->data[10] = (char)minor;
	b->data[11] = (char)(minor >> 8);
	crc = gz_crc32(0, b->data, 12);
	memcpy(b->data + 12, &crc, 4); /* little endian, like all we test on */
}

static void test_another_major_version_is_refused_a_minor_one_is_not(void **state)
{
	struct buf b = BUF_INIT;
	struct err e = {0};

	sample_capture(&b, 10);
	set_version(&b, 2, 7);
	assert_int_equal(capture_read_mem("x", b.data, b.len, &ignore, NULL, &e), -EPROTO);
	assert_string_equal(e.msg, "x: capture format 2.7; this version reads 1.x");
	assert_true(e.hint[0]);
	set_version(&b, FILE_MAJOR, 99);
	assert_int_equal(capture_read_mem("x", b.data, b.len, &ignore, NULL, &e), 0);
	buf_release(&b);
}

static void test_unknown_kinds_and_fields_are_stepped_over_and_counted(void **state)
{
	/* run; kind 60; a string with a field more than we know; a sample of type 9 */
	static const char raw[] = "\x01\x01\x05"
				  "\x3c\x03zzz"
				  "\x02\x05\x01"
				  "a\x01\x02\x03"
				  "\x05\x00"
				  "\x06\x03\x01\x01\x01"
				  "\x09\x04\x11\x09\x01\x00"
				  "\x09\x04\x11\x01\x01\x00"
				  "\x0e\x02\x00\x02";
	struct text got = text_new();
	struct capture_info info;
	struct buf b = BUF_INIT;
	struct err e;
	int ret;

	wrap_records(&b, raw, sizeof(raw) - 1, 8);
	ret = read_text(&b, &got, &info, &e);
	if (ret)
		print_error("%s\n", e.msg);
	assert_int_equal(ret, 0);
	assert_int_equal(info.unknown_records, 2);
	assert_int_equal(info.unknown_fields, 2);
	assert_int_equal(info.records[RECORD_SAMPLE], 1);
	assert_int_equal(info.complete, 1);
	assert_contains(text_of(&got), "string id=1 data=a\n");
	assert_int_equal(e.code, 0);
	text_free(&got);
	buf_release(&b);
}

static void test_content_that_breaks_a_rule_names_record_block_and_offset(void **state)
{
	static const struct {
		const char *raw;
		size_t len;
		unsigned nr;
		const char *sentence;
	} cases[] = {
		{"\x02\x01\x00", 3, 1, "record 0: string: the first record must be a run record"},
		{"\x01\x00\x08\x02\x01\x01", 6, 2,
			"record 1: stack: frame: frame 1 is not yet defined"},
		{"\x01\x00\x00\x00", 4, 2, "record 1: kind 0 does not exist"},
		{"\x01\x00\x02\x7f", 4, 2, "record 1: does not fit the block"},
		{"\x01\x00\x02", 3, 2, "record 1: does not fit the block"},
		{"\x01\x00", 2, 5, "1 records where the header says 5"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf b = BUF_INIT;
		struct err e = {0};

		wrap_records(&b, cases[i].raw, cases[i].len, cases[i].nr);
		assert_int_equal(capture_read_mem("f", b.data, b.len, &ignore, NULL, &e), -EBADMSG);
		assert_contains(e.msg, "f: block 0 at offset 16: ");
		assert_contains(e.msg, cases[i].sentence);
		buf_release(&b);
	}
}

static void test_block_lengths_are_believed_only_within_bounds(void **state)
{
	static const struct {
		struct block_header h;
		int code;
		const char *sentence;
	} cases[] = {
		{{.raw_len = 65 << 20, .stored_len = 4, .encoding = BLOCK_ZLIB}, -EBADMSG,
			"impossible length"},
		{{.raw_len = 5, .stored_len = 4, .encoding = BLOCK_STORED}, -EBADMSG,
			"impossible length"},
		{{.raw_len = 5, .stored_len = 4, .encoding = 2}, -EPROTO,
			"encoding 2 is not known"},
		{{.raw_len = 60 << 20, .stored_len = 4, .encoding = BLOCK_ZLIB}, -EBADMSG,
			"does not inflate"},
		{{.raw_len = 3, .stored_len = 4, .encoding = BLOCK_ZLIB}, -EBADMSG,
			"does not inflate"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct block_header h = cases[i].h;
		uint8_t file[FILE_HEADER_LEN], block[BLOCK_HEADER_LEN];
		struct buf b = BUF_INIT;
		struct err e = {0};

		h.payload_crc = gz_crc32(0, "\x78\x9c\x03\x00", 4);
		file_header_pack(file);
		block_header_pack(&h, block);
		buf_add(&b, file, sizeof(file));
		buf_add(&b, block, sizeof(block));
		buf_add(&b, "\x78\x9c\x03\x00", 4);
		assert_int_equal(
			capture_read_mem("f", b.data, b.len, &ignore, NULL, &e), cases[i].code);
		assert_contains(e.msg, cases[i].sentence);
		buf_release(&b);
	}
	assert_true(file_ratio_ok(FILE_RAW_SLACK, 0));
	assert_true(file_ratio_ok(FILE_RAW_SLACK + 640, 10));
	assert_false(file_ratio_ok(FILE_RAW_SLACK + 640 + 64, 10));
}

static int refuse_put(struct sink *s, const struct record *r, struct err *e)
{
	(void)s;
	return r->kind == RECORD_SAMPLE ? err_set(e, -ENOSPC, "no room for a sample") : 0;
}

static void test_a_sinks_error_is_passed_up_as_it_is(void **state)
{
	struct sink refuse = {refuse_put};
	struct buf b = BUF_INIT;
	struct err e = {0};

	sample_capture(&b, 10);
	assert_int_equal(capture_read_mem("f", b.data, b.len, &refuse, NULL, &e), -ENOSPC);
	assert_string_equal(e.msg, "no room for a sample");
	assert_int_equal(capture_read_mem("f", b.data, b.len, &refuse, NULL, NULL), -ENOSPC);
	buf_release(&b);
}

static void test_the_writer_refuses_what_its_reader_would(void **state)
{
	struct capture_writer *w;
	struct buf b = BUF_INIT;
	struct err e = {0};
	struct record bad = {.kind = RECORD_STACK, .stack = {1, 0, 1}};

	assert_int_equal(capture_writer_mem(&w, &b), 0);
	PUT(capture_writer_sink(w), .kind = RECORD_RUN);
	assert_int_equal(sink_put(capture_writer_sink(w), &bad, &e), -EBADMSG);
	assert_contains(e.msg, "capture: refused to write a record: stack: frame: frame 1");
	/* and goes on as if it had not been there */
	PUT(capture_writer_sink(w), .kind = RECORD_END);
	assert_int_equal(capture_writer_finish(w, &e), 0);
	assert_int_equal(capture_read_mem("f", b.data, b.len, &ignore, NULL, &e), 0);
	buf_release(&b);
}

RUN_TESTS(T(test_another_major_version_is_refused_a_minor_one_is_not),
	T(test_unknown_kinds_and_fields_are_stepped_over_and_counted),
	T(test_content_that_breaks_a_rule_names_record_block_and_offset),
	T(test_block_lengths_are_believed_only_within_bounds),
	T(test_a_sinks_error_is_passed_up_as_it_is),
	T(test_the_writer_refuses_what_its_reader_would))
