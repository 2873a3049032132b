/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <math.h>

#include "user/base/fmt.h"

static void test_duration_is_exact(void **state)
{
	static const struct {
		const char *s;
		uint64_t ns;
	} cases[] = {
		{"10", 10000000000},
		{"1.5", 1500000000},
		{".5", 500000000},
		{"0", 0},
		{"0.1", 100000000},
		{"0.3s", 300000000},
		{"2s", 2000000000},
		{"500ms", 500000000},
		{"16.667ms", 16667000},
		{"33.333333ms", 33333333},
		{"20us", 20000},
		{"20\u00b5s", 20000},
		{"20\u03bcs", 20000},
		{"5ns", 5},
		{"1.4ns", 1},
		{"1.5ns", 2},
		{"10m", 600000000000},
		{"1min", 60000000000},
		{"1h", 3600000000000},
		{"1.00000000000000000000000000000001", 1000000000},
		{"0000000000000000000000000001", 1000000000},
		{"18446744073709551615ns", UINT64_MAX},
		{"18446744073.709551615", UINT64_MAX},
	};
	struct err e = {0};
	uint64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		if (parse_duration(cases[i].s, &ns, &e) || ns != cases[i].ns)
			fail_msg("\"%s\": %llu (%s)", cases[i].s, (unsigned long long)ns, e.msg);
	}
}

static void test_duration_refuses_what_is_none(void **state)
{
	static const char *const cases[] = {"", " ", "-1", "+1", "1 s", " 1", "1 ", "1e3", "0x10",
		"nan", "inf", "s", "ms", ".", "1.", "1.s", ".s", "1..5", "1,5", "10x", "1sec", "1S",
		"18446744073709551616ns", "18446744073.709551616", "99999999999999999999", "1\n",
		"1\x1b"};
	struct err e;
	uint64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		e = (struct err){0};
		ns = 77;
		if (parse_duration(cases[i], &ns, &e) != -EINVAL || ns != 77 || !e.msg[0])
			fail_msg("\"%s\" was taken", cases[i]);
	}
}

static void test_duration_error_names_the_text_escaped(void **state)
{
	struct err e = {0};
	uint64_t ns;

	parse_duration("1\x1b[m", &ns, &e);
	assert_string_equal(e.msg, "\"1\\x1b[m\" is not a time");
	assert_contains(e.hint, "500ms");
	parse_duration("999999999999h", &ns, &e);
	assert_string_equal(e.msg, "\"999999999999h\" is too long a time");
}

static void test_size_examples(void **state)
{
	static const struct {
		const char *s;
		uint64_t bytes;
	} cases[] = {
		{"4096", 4096},
		{"0", 0},
		{"64K", 65536},
		{"64k", 65536},
		{"64KB", 65536},
		{"64KiB", 65536},
		{"16M", 16777216},
		{"1G", 1073741824},
		{"2T", 2199023255552},
		{"1.5K", 1536},
		{"10B", 10},
		{"16777215T", 0xffffff0000000000},
		{"18446744073709551615", UINT64_MAX},
	};
	static const char *const bad[] = {"", "K", "-1", "1KK", "1.5", "1.5B", "1 K", "1Ki", "1iB",
		"16777216T", "18446744073709551616", "1P", "1K1"};
	struct err e = {0};
	uint64_t v;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		if (parse_size(cases[i].s, &v, &e) || v != cases[i].bytes)
			fail_msg("\"%s\": %llu (%s)", cases[i].s, (unsigned long long)v, e.msg);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (parse_size(bad[i], &v, &e) != -EINVAL)
			fail_msg("\"%s\" was taken", bad[i]);
}

static void test_u64_keeps_bounds(void **state)
{
	struct err e = {0};
	uint64_t v;

	assert_int_equal(parse_u64("10", 10, 20, &v, &e), 0);
	assert_int_equal(v, 10);
	assert_int_equal(parse_u64("20", 10, 20, &v, &e), 0);
	assert_int_equal(parse_u64("18446744073709551615", 0, UINT64_MAX, &v, &e), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(parse_u64("9", 10, 20, &v, &e), -EINVAL);
	assert_string_equal(e.msg, "9 is not between 10 and 20");
	assert_int_equal(parse_u64("0", 1, UINT64_MAX, &v, &e), -EINVAL);
	assert_string_equal(e.msg, "0 is less than 1");
	assert_int_equal(parse_u64("18446744073709551616", 0, UINT64_MAX, &v, &e), -EINVAL);
	assert_int_equal(parse_u64("1.0", 0, 10, &v, &e), -EINVAL);
	assert_string_equal(e.msg, "\"1.0\" is not a whole number");
	assert_int_equal(parse_u64("", 0, 10, &v, NULL), -EINVAL);
	assert_int_equal(parse_u64("-1", 0, 10, &v, &e), -EINVAL);
	assert_int_equal(parse_u64("0x1", 0, 10, &v, &e), -EINVAL);
}

static void test_cpu_list_is_sorted_and_unique(void **state)
{
	static const uint32_t want[] = {0, 2, 3, 4, 5, 65535};
	uint32_t *cpus;
	struct err e = {0};
	size_t nr;

	assert_int_equal(parse_cpu_list("65535,2-5,3,0,4-4\n", &cpus, &nr, &e), 0);
	assert_int_equal(nr, ARRAY_LEN(want));
	assert_memory_equal(cpus, want, sizeof(want));
	free(cpus);
}

static void test_cpu_list_refuses_nonsense(void **state)
{
	static const char *const bad[] = {"", ",", "0,", ",0", "5-2", "1-", "-1", "a", "0 1",
		"0-1-2", "65536", "0-4294967295", "4294967296", "\n"};
	uint32_t *cpus;
	struct err e = {0};
	size_t nr, i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		if (parse_cpu_list(bad[i], &cpus, &nr, &e) != -EINVAL || cpus || nr)
			fail_msg("\"%s\" was taken", bad[i]);
	}
}

static void test_fmt_duration_examples(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.0 us"},
		{3200, "3.2 us"},
		{99949, "99.9 us"},
		{99950, "100 us"},
		{999499, "999 us"},
		{999500, "1.0 ms"},
		{16667000, "16.7 ms"},
		{812000000, "812 ms"},
		{999500000, "1.00 s"},
		{1500000000, "1.50 s"},
		{59994999999, "59.99 s"},
		{59995000000, "1 min 00 s"},
		{125000000000, "2 min 05 s"},
		{3599600000000, "1 h 00 min"},
		{11220000000000, "3 h 07 min"},
		{UINT64_MAX, "5124095 h 35 min"},
	};
	char buf[32];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(fmt_duration(buf, sizeof(buf), cases[i].ns), cases[i].want);
}

static void test_fmt_bytes_examples(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *want;
	} cases[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1258291, "1.2 MiB"},
		{102400, "100 KiB"},
		{1048575, "1.0 MiB"},
		{1048064, "1.0 MiB"},
		{1048063, "1023 KiB"},
		{5368709120, "5.0 GiB"},
		{UINT64_MAX, "16.0 EiB"},
	};
	char buf[32];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(fmt_bytes(buf, sizeof(buf), cases[i].bytes), cases[i].want);
}

static void test_fmt_count_groups_by_three(void **state)
{
	char buf[32];

	assert_string_equal(fmt_count(buf, sizeof(buf), 0), "0");
	assert_string_equal(fmt_count(buf, sizeof(buf), 999), "999");
	assert_string_equal(fmt_count(buf, sizeof(buf), 1000), "1,000");
	assert_string_equal(fmt_count(buf, sizeof(buf), 1234567), "1,234,567");
	assert_string_equal(fmt_count(buf, sizeof(buf), UINT64_MAX), "18,446,744,073,709,551,615");
}

static void test_fmt_pct_examples(void **state)
{
	static const struct {
		double pct;
		const char *want;
	} cases[] = {
		{0, "0.0"},
		{0.0001, "<0.01"},
		{0.01, "0.01"},
		{0.05, "0.05"},
		{0.99, "0.99"},
		{0.996, "1.0"},
		{5.25, "5.3"},
		{12.34, "12.3"},
		{100, "100.0"},
		{-12.34, "-12.3"},
		{-0.05, "-0.05"},
		{-0.0001, ">-0.01"},
		{NAN, "-"},
		{INFINITY, "inf"},
		{-INFINITY, "-inf"},
	};
	char buf[32];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(fmt_pct(buf, sizeof(buf), cases[i].pct), cases[i].want);
}

/* What is written in nanoseconds is read back as the same number. */
static void test_duration_reads_what_is_printed_in_any_unit(void **state)
{
	uint64_t seed = 5, v, ns;
	char text[64];
	int i;

	for (i = 0; i < 2000; i++) {
		v = test_random(&seed) >> (i % 64);
		snprintf(text, sizeof(text), "%llu.%09llu", (unsigned long long)(v / 1000000000),
			(unsigned long long)(v % 1000000000));
		assert_int_equal(parse_duration(text, &ns, NULL), 0);
		assert_true(ns == v);
		snprintf(text, sizeof(text), "%llu.%06llums", (unsigned long long)(v / 1000000),
			(unsigned long long)(v % 1000000));
		assert_int_equal(parse_duration(text, &ns, NULL), 0);
		assert_true(ns == v);
	}
}

RUN_TESTS(T(test_duration_is_exact), T(test_duration_refuses_what_is_none),
	T(test_duration_error_names_the_text_escaped), T(test_size_examples),
	T(test_u64_keeps_bounds), T(test_cpu_list_is_sorted_and_unique),
	T(test_cpu_list_refuses_nonsense), T(test_fmt_duration_examples),
	T(test_fmt_bytes_examples), T(test_fmt_count_groups_by_three), T(test_fmt_pct_examples),
	T(test_duration_reads_what_is_printed_in_any_unit))
