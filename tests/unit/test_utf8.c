/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "user/base/utf8.h"

static void test_utf8_every_code_point_survives_encoding(void **state)
{
	uint32_t cp, back;
	char tmp[4];
	size_t n;

	for (cp = 0; cp < 0x110000; cp++) {
		n = utf8_encode(tmp, cp);
		if (cp >= 0xd800 && cp <= 0xdfff) {
			assert_int_equal(n, 0);
			continue;
		}
		if (utf8_decode(tmp, n, &back) != n || back != cp || utf8_decode(tmp, n - 1, &back))
			fail_msg("U+%04X", cp);
	}
	assert_int_equal(utf8_encode(tmp, 0x110000), 0);
	assert_int_equal(utf8_encode(tmp, UINT32_MAX), 0);
}

static void test_utf8_refuses_what_is_not_the_shortest_form_of_a_character(void **state)
{
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf",
		"\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",			/* overlong */
		"\xed\xa0\x80", "\xed\xbf\xbf",				/* surrogates */
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xfe", "\xff", /* too large */
		"\xe2\x82", "\xe2\x28\xa1", "\xf0\x9f\x98", "\xc3\xc3", /* cut, mixed */
	};
	uint32_t cp;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (utf8_decode(bad[i], strlen(bad[i]), &cp))
			fail_msg("case %zu was taken", i);
}

static void test_utf8_unsafe_characters(void **state)
{
	static const uint32_t unsafe[] = {0, '\n', '\t', 0x1b, 0x7f, 0x80, 0x85, 0x9f, 0x61c,
		0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xfffe,
		0xffff, 0xfdd0, 0x1fffe, 0x10ffff, 0xe0041, 0xfff9};
	static const uint32_t safe[] = {' ', '~', 0xa0, 0xe9, 0x200d, 0x20ac, 0x4e2d, 0xfffd,
		0x1f600, 0x202f, 0x2065, 0x206a};
	size_t i;

	for (i = 0; i < ARRAY_LEN(unsafe); i++)
		if (!utf8_is_unsafe(unsafe[i]))
			fail_msg("U+%04X", unsafe[i]);
	for (i = 0; i < ARRAY_LEN(safe); i++)
		if (utf8_is_unsafe(safe[i]))
			fail_msg("U+%04X", safe[i]);
}

RUN_TESTS(T(test_utf8_every_code_point_survives_encoding),
	T(test_utf8_refuses_what_is_not_the_shortest_form_of_a_character),
	T(test_utf8_unsafe_characters))
