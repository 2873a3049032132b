/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "user/base/clock.h"
#include "user/base/glob.h"

static void test_glob_examples(void **state)
{
	static const struct {
		const char *pattern, *s;
		int want;
	} cases[] = {
		{"", "", 1},
		{"", "a", 0},
		{"*", "", 1},
		{"*", "anything", 1},
		{"?", "", 0},
		{"?", "a", 1},
		{"?", "ab", 0},
		{"worker", "worker", 1},
		{"worker", "worker1", 0},
		{"worker*", "worker1", 1},
		{"*er*", "worker1", 1},
		{"*er", "worker1", 0},
		{"a*b*c", "aXbYbZc", 1},
		{"a*b*c", "aXbYbZ", 0},
		{"a**c", "ac", 1},
		{"a\\*c", "a*c", 1},
		{"a\\*c", "abc", 0},
		{"a\\?c", "a?c", 1},
		{"a\\?c", "abc", 0},
		{"*\\*", "a*", 1},
		{"*\\*", "ab", 0},
		{"a\\\\b", "a\\b", 1},
		{"trailing\\", "trailing\\", 1},
		{"*ab", "aab", 1},
		{"*aab", "aaaab", 1},
		{"GC [worker] #1", "GC [worker] #1", 1},
		{"GC [worker] #1", "GC w #1", 0},
		{"a\\*c", "a\\*c", 1}, /* byte for byte always counts */
		{"a?*", "a", 0},
		{"?*?", "ab", 1},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		if (glob_match(cases[i].pattern, cases[i].s, strlen(cases[i].s)) != cases[i].want)
			fail_msg("\"%s\" on \"%s\"", cases[i].pattern, cases[i].s);
	}
}

static void test_glob_takes_any_bytes(void **state)
{
	assert_int_equal(glob_match("a?b", "a\0b", 3), 1);
	assert_int_equal(glob_match("*b",
				 "\0\n\xff"
				 "b",
				 4),
		1);
	assert_int_equal(glob_match("a", "a\0", 2), 0);
}

static void test_glob_does_not_explode_on_many_stars(void **state)
{
	char s[5001], pattern[101];
	uint64_t before = clock_process_cpu_ns();
	size_t i;

	memset(s, 'a', 5000);
	for (i = 0; i < 100; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[99] = 'b';
	pattern[100] = '\0';

	assert_int_equal(glob_match(pattern, s, 5000), 0);
	assert_true(clock_process_cpu_ns() - before < 1000000000);
}

RUN_TESTS(T(test_glob_examples), T(test_glob_takes_any_bytes),
	T(test_glob_does_not_explode_on_many_stars))
