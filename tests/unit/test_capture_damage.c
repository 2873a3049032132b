/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that are cut, damaged or none at all: what is sound is read, the rest is named. */
#include "capture_bytes.h"

static void test_any_flipped_byte_is_found(void **state)
{
	struct text want = text_new();
	struct buf b = BUF_INIT;
	struct err e;
	size_t i;
	unsigned bit;
	int ret;

	sample_stream(want.sink);
	sample_capture(&b, 10);
	for (i = 0; i < b.len; i++) {
		for (bit = 0; bit < 8; bit++) {
			struct text got = text_new();

			b.data[i] ^= (char)(1 << bit);
			ret = read_text(&b, &got, NULL, &e);
			b.data[i] ^= (char)(1 << bit);

			if (ret != -EBADMSG)
				print_error("byte %zu bit %u: %d\n", i, bit, ret);
			assert_int_equal(ret, -EBADMSG);
			assert_int_equal(e.code, ret);
			assert_int_equal(strncmp(e.msg, "t.prof: ", 8), 0);
			/* what was handed on before the damage is a prefix of the truth */
			assert_int_equal(
				strncmp(text_of(&got), text_of(&want), strlen(text_of(&got))), 0);
			text_free(&got);
		}
	}
	text_free(&want);
	buf_release(&b);
}

static void test_a_file_cut_anywhere_reads_as_a_prefix(void **state)
{
	struct text want = text_new();
	struct capture_info info;
	struct buf b = BUF_INIT;
	size_t len, whole, last = 0;
	struct err e;
	int ret;

	sample_stream(want.sink);
	sample_capture(&b, 10);
	whole = b.len;
	for (len = 0; len < whole; len++) {
		struct text got = text_new();

		b.len = len;
		ret = read_text(&b, &got, &info, &e);

		if (ret == -ENODATA) {
			assert_int_equal(last, 0);
		} else {
			assert_int_equal(ret, 0);
			assert_int_equal(info.complete, 0);
			assert_int_equal(
				strncmp(text_of(&got), text_of(&want), strlen(text_of(&got))), 0);
			assert_true(strlen(text_of(&got)) >= last); /* never less from more */
			last = strlen(text_of(&got));
			assert_true(info.tail_bytes < len);
		}
		text_free(&got);
	}
	assert_true(last > 0);
	text_free(&want);
	b.len = whole;
	buf_release(&b);
}

static void test_zeros_at_the_end_are_a_rough_end(void **state)
{
	char zeros[100000] = {0};
	struct capture_info info;
	struct buf b = BUF_INIT;
	struct err e;
	size_t cut;

	/* a complete capture is complete: what follows END is damage */
	sample_capture(&b, 1000);
	buf_add(&b, zeros, 5);
	assert_int_equal(capture_read_mem("t.prof", b.data, b.len, &ignore, &info, &e), -EBADMSG);
	assert_contains(e.msg, "block 1 at offset ");
	assert_contains(e.msg, "5 bytes after the end record");
	buf_clear(&b);

	sample_capture(&b, 10);
	/* cut before the last block, which holds END */
	for (cut = b.len - 1; memcmp(b.data + cut, "PBLK", 4); cut--)
		;
	b.len = cut;
	buf_add(&b, zeros, sizeof(zeros));
	assert_int_equal(capture_read_mem("t.prof", b.data, b.len, &ignore, &info, &e), 0);
	assert_int_equal(info.complete, 0);
	assert_int_equal(info.tail_bytes, sizeof(zeros));
	b.data[b.len - 1] = 1;
	assert_int_equal(capture_read_mem("t.prof", b.data, b.len, &ignore, &info, &e), -EBADMSG);
	assert_contains(e.msg, "no block begins here");
	buf_release(&b);
}

static void test_damage_in_the_middle_says_what_is_sound_before_it(void **state)
{
	struct capture_info info;
	struct buf b = BUF_INIT, head = BUF_INIT;
	struct err e;
	size_t at = FILE_HEADER_LEN, bytes;
	unsigned i;

	sample_capture(&b, 10);
	for (i = 0; i < 2; i++)
		for (at++; memcmp(b.data + at, "PBLK", 4); at++)
			;
	b.data[at + BLOCK_HEADER_LEN + 3] ^= 0x10;

	assert_int_equal(
		capture_read_mem("dir/a\nb.prof", b.data, b.len, &ignore, &info, &e), -EBADMSG);
	assert_contains(e.msg, "dir/a\\x0ab.prof: block 2 at offset ");
	assert_contains(e.msg, "check sum does not match");
	/* the hint is true */
	assert_int_equal(sscanf(strstr(e.hint, "head -c "), "head -c %zu", &bytes), 1);
	assert_int_equal(bytes, at);
	assert_contains(e.hint, "(2 blocks, ");
	buf_add(&head, b.data, bytes);
	assert_int_equal(capture_read_mem("t", head.data, head.len, &ignore, &info, &e), 0);
	assert_int_equal(info.blocks, 2);
	buf_release(&b);
	buf_release(&head);
}

static void test_doubled_and_missing_blocks_are_found(void **state)
{
	struct buf b = BUF_INIT, bad = BUF_INIT;
	size_t second = FILE_HEADER_LEN + 1, third;
	struct err e = {0};

	sample_capture(&b, 10);
	while (memcmp(b.data + second, "PBLK", 4))
		second++;
	for (third = second + 1; memcmp(b.data + third, "PBLK", 4); third++)
		;

	buf_add(&bad, b.data, second);
	buf_add(&bad, b.data + third, b.len - third);
	assert_int_equal(capture_read_mem("t", bad.data, bad.len, &ignore, NULL, &e), -EBADMSG);
	assert_contains(e.msg, "t: block 1 at offset ");
	assert_contains(e.msg, "it is number 2: a block is missing or doubled");

	buf_clear(&bad);
	buf_add(&bad, b.data, third);
	buf_add(&bad, b.data + second, b.len - second);
	assert_int_equal(capture_read_mem("t", bad.data, bad.len, &ignore, NULL, &e), -EBADMSG);
	assert_contains(e.msg, "it is number 1: a block is missing or doubled");
	buf_release(&b);
	buf_release(&bad);
}

static void test_what_is_no_capture_is_told(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		int code;
		const char *sentence;
	} cases[] = {
		{"", 0, -ENODATA, "x: is empty"},
		{"main;a 1\nmain;b 2\n", 18, -EBADMSG, "x: not a capture"},
		{"\x7f"
		 "ELF",
			4, -EBADMSG, "x: not a capture"},
		{FILE_MAGIC, 8, -ENODATA, "x: ends inside its header"},
		{FILE_MAGIC "\1\0\0\0", 12, -ENODATA, "x: ends inside its header"},
		{FILE_MAGIC "\1\0\0\0\1\2\3\4", 16, -EBADMSG,
			"x: the header's check sum does not match"},
	};
	struct buf b = BUF_INIT;
	uint8_t header[FILE_HEADER_LEN];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = {0};

		assert_int_equal(
			capture_read_mem("x", cases[i].data, cases[i].len, &ignore, NULL, &e),
			cases[i].code);
		assert_contains(e.msg, cases[i].sentence);
	}
	file_header_pack(header);
	buf_add(&b, header, sizeof(header));
	struct err e = {0};
	assert_int_equal(capture_read_mem("x", b.data, b.len, &ignore, NULL, &e), -ENODATA);
	assert_contains(e.msg, "x: holds no whole block");
	buf_release(&b);
}

RUN_TESTS(T(test_any_flipped_byte_is_found), T(test_a_file_cut_anywhere_reads_as_a_prefix),
	T(test_zeros_at_the_end_are_a_rough_end),
	T(test_damage_in_the_middle_says_what_is_sound_before_it),
	T(test_doubled_and_missing_blocks_are_found), T(test_what_is_no_capture_is_told))
