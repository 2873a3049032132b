/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "user/base/buf.h"
#include "user/base/cursor.h"

#define BYTES(literal) literal, sizeof(literal) - 1

static void test_cursor_reads_little_endian(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"));

	assert_int_equal(cursor_u8(&c), 0x01);
	assert_int_equal(cursor_u16(&c), 0x0302);
	assert_int_equal(cursor_u32(&c), 0x07060504);
	assert_int_equal(cursor_u64(&c), 0x0f0e0d0c0b0a0908);
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(cursor_offset(&c), 15);
	assert_int_equal(cursor_err(&c), 0);
}

static void test_cursor_past_end_fails_and_stays_failed(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("\x01\x02\x03"));

	assert_int_equal(cursor_u32(&c), 0);
	assert_int_equal(cursor_err(&c), -EBADMSG);
	assert_int_equal(cursor_u8(&c), 0);
	assert_int_equal(cursor_varint(&c), 0);
	assert_null(cursor_bytes(&c, 0));
	assert_null(cursor_cstr(&c, 10));
	assert_int_equal(cursor_offset(&c), 0);
}

static void test_cursor_huge_length_does_not_wrap(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("abc"));
	assert_null(cursor_bytes(&c, SIZE_MAX));
	assert_int_equal(cursor_err(&c), -EBADMSG);

	cursor_init(&c, BYTES("abc"));
	cursor_skip(&c, SIZE_MAX - 1);
	assert_int_equal(cursor_err(&c), -EBADMSG);
}

static void test_cursor_null_input_is_empty(void **state)
{
	struct cursor c;

	cursor_init(&c, NULL, 0);

	assert_int_equal(cursor_left(&c), 0);
	assert_non_null(cursor_bytes(&c, 0));
	assert_int_equal(cursor_err(&c), 0);
	cursor_u8(&c);
	assert_int_equal(cursor_err(&c), -EBADMSG);
}

static void test_cursor_varint_of_eleven_bytes_is_refused(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"));
	assert_int_equal(cursor_varint(&c), 0);
	assert_int_equal(cursor_err(&c), -EBADMSG);
}

static void test_cursor_varint_above_64_bits_is_refused(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
	assert_int_equal(cursor_varint(&c), 0);
	assert_int_equal(cursor_err(&c), -EBADMSG);
}

static void test_cursor_varint_cut_short_is_refused(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("\x80\x80"));
	assert_int_equal(cursor_varint(&c), 0);
	assert_int_equal(cursor_err(&c), -EBADMSG);
}

static void test_cursor_reads_back_every_varint_written(void **state)
{
	struct buf b = BUF_INIT;
	uint64_t seed = 1, v;
	struct cursor c;
	int i;

	for (i = 0; i < 2000; i++) {
		v = test_random(&seed) >> (i % 64);
		buf_clear(&b);
		buf_add_varint(&b, v);
		buf_add_svarint(&b, (int64_t)v);
		buf_add_svarint(&b, -(int64_t)(v >> 1));
		cursor_init(&c, b.data, b.len);
		assert_true(cursor_varint(&c) == v);
		assert_true(cursor_svarint(&c) == (int64_t)v);
		assert_true(cursor_svarint(&c) == -(int64_t)(v >> 1));
		assert_int_equal(cursor_left(&c), 0);
		assert_int_equal(cursor_err(&c), 0);
	}
	buf_release(&b);
}

static void test_cursor_cstr_stops_at_nul_and_keeps_its_bound(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("abc\0\0def"));
	assert_string_equal(cursor_cstr(&c, 3), "abc");
	assert_string_equal(cursor_cstr(&c, SIZE_MAX), "");
	assert_null(cursor_cstr(&c, 100)); /* "def" has no NUL inside the data */
	assert_int_equal(cursor_err(&c), -EBADMSG);

	cursor_init(&c, BYTES("abcd\0"));
	assert_null(cursor_cstr(&c, 3));
	assert_int_equal(cursor_err(&c), -EBADMSG);
}

static void test_cursor_fail_marks_impossible_content(void **state)
{
	struct cursor c;

	cursor_init(&c, BYTES("abc"));
	cursor_fail(&c);
	assert_int_equal(cursor_err(&c), -EBADMSG);
	assert_int_equal(cursor_u8(&c), 0);
}

RUN_TESTS(T(test_cursor_reads_little_endian), T(test_cursor_past_end_fails_and_stays_failed),
	T(test_cursor_huge_length_does_not_wrap), T(test_cursor_null_input_is_empty),
	T(test_cursor_varint_of_eleven_bytes_is_refused),
	T(test_cursor_varint_above_64_bits_is_refused), T(test_cursor_varint_cut_short_is_refused),
	T(test_cursor_reads_back_every_varint_written),
	T(test_cursor_cstr_stops_at_nul_and_keeps_its_bound),
	T(test_cursor_fail_marks_impossible_content))
