/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "user/base/gz.h"

static void test_gz_inflate_gives_back_what_was_deflated(void **state)
{
	static const size_t sizes[] = {0, 1, 100, 4095, 4096, 4097, 1 << 20};
	struct buf z = BUF_INIT, raw = BUF_INIT;
	unsigned char *data = malloc(1 << 20);
	uint64_t seed = 9;
	size_t i, s;
	int level;

	for (s = 0; s < ARRAY_LEN(sizes); s++) {
		for (level = 1; level <= 9; level += 4) {
			/* Half noise, half repetition: incompressible and very compressible. */
			for (i = 0; i < sizes[s]; i++)
				data[i] = i % 8192 < 4096 ? (unsigned char)test_random(&seed) : 'x';
			buf_clear(&z);
			buf_clear(&raw);
			buf_adds(&z, "before");
			buf_adds(&raw, "before");
			assert_int_equal(gz_deflate(&z, data, sizes[s], level), 0);
			assert_int_equal(gz_inflate(&raw, z.data + 6, z.len - 6, sizes[s]), 0);
			assert_int_equal(raw.len, 6 + sizes[s]);
			assert_memory_equal(raw.data + 6, data, sizes[s]);
		}
	}
	free(data);
	buf_release(&z);
	buf_release(&raw);
}

static void test_gz_inflate_refuses_another_length(void **state)
{
	struct buf z = BUF_INIT, raw = BUF_INIT;

	buf_adds(&raw, "kept");
	assert_int_equal(gz_deflate(&z, "hello hello hello", 17, 6), 0);
	assert_int_equal(gz_inflate(&raw, z.data, z.len, 16), -EBADMSG);
	assert_int_equal(gz_inflate(&raw, z.data, z.len, 18), -EBADMSG);
	assert_int_equal(gz_inflate(&raw, z.data, z.len, 0), -EBADMSG);
	assert_int_equal(gz_inflate(&raw, z.data, z.len - 1, 17), -EBADMSG);
	assert_int_equal(gz_inflate(&raw, z.data, 0, 17), -EBADMSG);
	buf_addc(&z, 'x');
	assert_int_equal(gz_inflate(&raw, z.data, z.len, 17), -EBADMSG);
	assert_int_equal(gz_inflate(&raw, z.data, z.len - 1, 17), 0);
	assert_buf(&raw, "kepthello hello hello");
	buf_release(&z);
	buf_release(&raw);
}

static void test_gz_inflate_refuses_damage_anywhere(void **state)
{
	struct buf z = BUF_INIT, raw = BUF_INIT;
	size_t i;

	assert_int_equal(gz_deflate(&z, "abcdefghijklmnop", 16, 9), 0);
	for (i = 0; i < z.len; i++) {
		z.data[i] ^= 0x10;
		buf_clear(&raw);
		/* Filling bits at the end of the deflate data mean nothing. */
		if (gz_inflate(&raw, z.data, z.len, 16) != -EBADMSG) {
			assert_int_equal(i, z.len - 5);
			assert_buf(&raw, "abcdefghijklmnop");
		}
		z.data[i] ^= 0x10;
	}
	buf_clear(&raw);
	assert_int_equal(gz_inflate(&raw, z.data, z.len, 16), 0);
	buf_release(&z);
	buf_release(&raw);
}

static void test_gz_inflate_does_not_allocate_what_cannot_be_there(void **state)
{
	struct buf z = BUF_INIT, raw = BUF_INIT;

	assert_int_equal(gz_deflate(&z, "x", 1, 6), 0);
	assert_int_equal(gz_inflate(&raw, z.data, z.len, (size_t)1 << 40), -EBADMSG);
	assert_int_equal(raw.cap, 0);
	buf_release(&z);
	buf_release(&raw);
}

static void test_gz_inflate_takes_the_best_ratio_there_is(void **state)
{
	struct buf z = BUF_INIT, raw = BUF_INIT;
	size_t size = 50 << 20;
	char *zeros = calloc(1, size);

	assert_int_equal(gz_deflate(&z, zeros, size, 9), 0);
	assert_int_equal(gz_inflate(&raw, z.data, z.len, size), 0);
	free(zeros);
	buf_release(&z);
	buf_release(&raw);
}

static void test_gz_gzip_is_reproducible_and_has_no_time(void **state)
{
	struct buf a = BUF_INIT, b = BUF_INIT;

	assert_int_equal(gz_gzip(&a, "hello", 5, 6), 0);
	assert_int_equal(gz_gzip(&b, "hello", 5, 6), 0);
	assert_bytes(a.data, a.len, b.data, b.len);
	assert_memory_equal(a.data, "\x1f\x8b\x08\0\0\0\0\0", 8);
	/* The trailer: CRC and length. */
	assert_int_equal(gz_crc32(0, "hello", 5), 0x3610a686);
	assert_memory_equal(a.data + a.len - 8, "\x86\xa6\x10\x36\x05\0\0\0", 8);
	buf_release(&a);
	buf_release(&b);
}

static void test_gz_crc32_continues(void **state)
{
	assert_int_equal(gz_crc32(gz_crc32(0, "hel", 3), "lo", 2), 0x3610a686);
	assert_int_equal(gz_crc32(0, NULL, 0), 0);
}

RUN_TESTS(T(test_gz_inflate_gives_back_what_was_deflated),
	T(test_gz_inflate_refuses_another_length), T(test_gz_inflate_refuses_damage_anywhere),
	T(test_gz_inflate_does_not_allocate_what_cannot_be_there),
	T(test_gz_inflate_takes_the_best_ratio_there_is),
	T(test_gz_gzip_is_reproducible_and_has_no_time), T(test_gz_crc32_continues))
