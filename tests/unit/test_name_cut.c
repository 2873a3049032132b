/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "flamegraph/name_cut.h"
#include "user/base/escape.h"
#include "user/base/utf8.h"

static void test_name_that_fits_is_escaped_and_whole(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(name_add(&b, "a<b>&\"'", 7, 100, escape_xml), 0);
	assert_contains(buf_str(&b), "a&lt;b&gt;&amp;");
	buf_release(&b);
}

static void test_name_is_cut_in_the_middle(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(name_add(&b, "namespace::class::function_name_42", 34, 20, escape_xml), 1);
	assert_buf(&b, "namespace::c..ame_42");
	buf_release(&b);
}

static void test_name_is_cut_before_it_is_escaped(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(name_add(&b, "<<<<<<<<<<&&&&&&&&&&", 20, 40, escape_xml), 1);
	assert_true(b.len <= 40);
	for (const char *s = buf_str(&b); *s;) { /* nothing but whole references and the dots */
		if (!strncmp(s, "&lt;", 4))
			s += 4;
		else if (!strncmp(s, "&amp;", 5))
			s += 5;
		else
			assert_int_equal(*s++, '.');
	}
	buf_release(&b);
}

static void test_name_is_cut_between_characters(void **state)
{
	static const char name[] =
		"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4";
	struct buf b = BUF_INIT;

	(void)state;
	for (size_t max = 16; max < 20; max++) {
		buf_clear(&b);
		assert_int_equal(name_add(&b, name, 20, max, escape_text), 1);
		assert_true(b.len <= max);
		assert_null(strchr(buf_str(&b), '\\')); /* half a character would be escaped */
	}
	buf_release(&b);
}

static void test_name_of_any_bytes_keeps_to_its_limit(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct buf b = BUF_INIT;
		char name[400];
		size_t len = test_random(&seed) % sizeof(name), max = 16 + test_random(&seed) % 300;
		uint32_t cp;

		for (size_t k = 0; k < len; k++)
			name[k] = i % 3 ? (char)test_random(&seed)
					: "\x80\"<a"[test_random(&seed) % 4];
		buf_adds(&b, "before");
		name_add(&b, name, len, max, escape_xml);
		assert_int_equal(b.err, 0);
		assert_true(b.len - 6 <= max);
		assert_memory_equal(b.data, "before", 6);
		for (size_t at = 0, n; at < b.len; at += n) {
			n = utf8_decode(b.data + at, b.len - at, &cp);
			assert_true(n > 0 && !utf8_is_unsafe(cp));
		}
		buf_release(&b);
	}
}

RUN_TESTS(T(test_name_that_fits_is_escaped_and_whole), T(test_name_is_cut_in_the_middle),
	T(test_name_is_cut_before_it_is_escaped), T(test_name_is_cut_between_characters),
	T(test_name_of_any_bytes_keeps_to_its_limit))
