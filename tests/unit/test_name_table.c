/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"
#include "user/import/name_table.h"

/* @text with what name_table_scan() may read behind it, whatever it is. */
static char *padded(const char *text, size_t len, char pad)
{
	char *p = malloc(len + NAME_PAD);

	assert_non_null(p);
	memcpy(p, text, len);
	memset(p + len, pad, NAME_PAD);
	return p;
}

static void test_scan_ends_at_the_semicolon_or_the_end(void **state)
{
	char text[200];
	struct name_table n;
	struct name_key k, again;
	size_t len, left;
	char *p;

	assert_int_equal(name_table_init(&n), 0);
	for (len = 0; len < 100; len++) {
		memset(text, 'x', sizeof(text));
		for (left = 0; left < 140; left++) {
			if (len < left)
				text[len] = ';';
			p = padded(text, left, ';');
			name_table_scan(&n, p, left, &k);
			assert_int_equal(k.len, len < left ? len : left);
			free(p);
			/* nothing behind the name counts */
			p = padded(text, k.len, (char)test_random(&(uint64_t){left}));
			name_table_scan(&n, p, k.len, &again);
			assert_int_equal(again.len, k.len);
			assert_true(again.hash == k.hash);
			assert_memory_equal(again.last, k.last, sizeof(k.last));
			free(p);
			text[len] = 'x';
		}
	}
	name_table_release(&n);
}

static void test_bytes_near_a_semicolon_are_not_one(void **state)
{
	struct name_table n;
	struct name_key k;
	char text[64], *p;
	int c;
	size_t at;

	assert_int_equal(name_table_init(&n), 0);
	for (c = 0; c < 256; c++) {
		for (at = 0; at < 40; at++) {
			memset(text, 0x3a, sizeof(text));
			text[at] = (char)c;
			p = padded(text, 64, 0);
			name_table_scan(&n, p, 64, &k);
			assert_int_equal(k.len, c == ';' ? at : 64);
			free(p);
		}
	}
	name_table_release(&n);
}

static uint32_t look_up(struct name_table *n, const char *text, size_t len, uint32_t add)
{
	char *p = padded(text, len, '?');
	struct name_key k;
	uint32_t frame;

	name_table_scan(n, p, len, &k);
	assert_int_equal(k.len, len);
	frame = name_table_find(n, &k);
	if (!frame && add)
		assert_int_equal(name_table_add(n, &k, add), 0);
	free(p);
	return frame;
}

static void test_each_name_finds_its_frame(void **state)
{
	struct name_table n;
	char text[300];
	uint64_t st;
	uint32_t i, len, nr = 20000;
	int pass;

	assert_int_equal(name_table_init(&n), 0);
	for (pass = 0; pass < 2; pass++) {
		st = 5;
		for (i = 1; i <= nr; i++) {
			/* alike at both ends, of all lengths, with NULs */
			len = (uint32_t)(8 + test_random(&st) % 100);
			memset(text, 0, sizeof(text));
			snprintf(text + len / 2, 12, "%u", i);
			assert_int_equal(look_up(&n, text, len + 8, i), pass ? i : 0);
		}
	}
	assert_int_equal(n.nr, nr);
	name_table_release(&n);
}

static void test_zeros_and_length_tell_names_apart(void **state)
{
	static const char zeros[100];
	struct name_table n;
	uint32_t len;

	assert_int_equal(name_table_init(&n), 0);
	for (len = 0; len < 100; len++)
		assert_int_equal(look_up(&n, zeros, len, len + 1), 0);
	for (len = 0; len < 100; len++)
		assert_int_equal(look_up(&n, zeros, len, 0), len + 1);
	name_table_release(&n);
}

RUN_TESTS(T(test_scan_ends_at_the_semicolon_or_the_end), T(test_bytes_near_a_semicolon_are_not_one),
	T(test_each_name_finds_its_frame), T(test_zeros_and_length_tell_names_apart))
