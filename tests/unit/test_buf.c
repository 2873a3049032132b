/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "user/base/buf.h"

static void test_buf_str_of_empty_is_empty(void **state)
{
	struct buf b = BUF_INIT;

	assert_string_equal(buf_str(&b), "");
	buf_add(&b, NULL, 0);
	assert_non_null(b.data);
	buf_release(&b);
	assert_null(b.data);
}

static void test_buf_appends_all_kinds(void **state)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "ab");
	buf_addc(&b, '\0');
	buf_add(&b, "cd", 2);
	buf_addf(&b, "%d", 42);
	buf_add_u32le(&b, 0x04030201);
	buf_add_u64le(&b, 0x0807060504030201);

	assert_buf(&b, "ab\0cd42\1\2\3\4\1\2\3\4\5\6\7\10");
	assert_int_equal(b.err, 0);
	buf_release(&b);
}

static void test_buf_addf_grows_for_long_text(void **state)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "%s%1000d", "x", 1);

	assert_int_equal(b.len, 1001);
	assert_int_equal(b.data[1000], '1');
	assert_int_equal(b.data[1001], '\0');
	buf_release(&b);
}

static void test_buf_varint_examples(void **state)
{
	static const struct {
		uint64_t v;
		const char *bytes;
		size_t len;
	} cases[] = {
		{0, "\0", 1},
		{127, "\x7f", 1},
		{128, "\x80\x01", 2},
		{300, "\xac\x02", 2},
		{UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
	};
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		buf_clear(&b);
		buf_add_varint(&b, cases[i].v);
		assert_bytes(b.data, b.len, cases[i].bytes, cases[i].len);
	}
	buf_release(&b);
}

static void test_buf_svarint_is_zigzag(void **state)
{
	struct buf b = BUF_INIT;

	buf_add_svarint(&b, 0);
	buf_add_svarint(&b, -1);
	buf_add_svarint(&b, 1);
	buf_add_svarint(&b, INT64_MIN);

	assert_buf(&b, "\x00\x01\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	buf_release(&b);
}

static void test_buf_impossible_size_is_remembered_until_clear(void **state)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "kept");
	assert_int_equal(buf_reserve(&b, SIZE_MAX - 2), -ENOMEM);
	buf_adds(&b, "lost");

	assert_buf(&b, "kept");
	assert_int_equal(b.err, -ENOMEM);

	buf_clear(&b);
	buf_adds(&b, "new");
	assert_buf(&b, "new");
	assert_int_equal(b.err, 0);
	buf_release(&b);
}

RUN_TESTS(T(test_buf_str_of_empty_is_empty), T(test_buf_appends_all_kinds),
	T(test_buf_addf_grows_for_long_text), T(test_buf_varint_examples),
	T(test_buf_svarint_is_zigzag), T(test_buf_impossible_size_is_remembered_until_clear))
