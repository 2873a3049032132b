/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <fcntl.h>

#include "symbolize/lines.h"

/* What a reader of @text from a file and from memory sees, as "number:len[cut] " for each line. */
static void check(const char *dir, const char *text, size_t len, const char *want)
{
	char *path = path_in(dir, "f"), got[2][4096] = {"", ""};
	struct lines l;

	write_file(path, text, len);
	for (int mem = 0; mem < 2; mem++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		char *p = got[mem];

		if (mem)
			lines_init_mem(&l, text, len);
		else
			assert_int_equal(lines_init(&l, fd, UINT64_MAX), 0);
		while (lines_next(&l) > 0)
			p += sprintf(p, "%zu:%zu%s ", l.number, l.len, l.cut ? "cut" : "");
		lines_release(&l);
		close(fd);
		assert_string_equal(got[mem], want);
	}
	free(path);
}

static void test_lines_with_and_without_newline_at_the_end(void **state)
{
	check(*state, "", 0, "");
	check(*state, "\n", 1, "1:0 ");
	check(*state, "ab", 2, "1:2 ");
	check(*state, "ab\n\ncde\n", 8, "1:2 2:0 3:3 ");
	check(*state, "a\0b\nc", 5, "1:3 2:1 ");
}

static void test_long_lines_are_cut_and_the_next_one_is_whole(void **state)
{
	size_t sizes[] = {
		LINES_KEEP - 1, LINES_KEEP, LINES_KEEP + 1, 256 << 10, (256 << 10) + 1, 3000000};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char *text = malloc(sizes[i] + 20), want[100];
		size_t kept = sizes[i] > LINES_KEEP ? LINES_KEEP : sizes[i];
		const char *cut = sizes[i] > LINES_KEEP ? "cut" : "";

		memcpy(text, "first\n", 6);
		memset(text + 6, 'L', sizes[i]);
		memcpy(text + 6 + sizes[i], "\nlast line\n", 11);
		snprintf(want, sizeof(want), "1:5 2:%zu%s 3:9 ", kept, cut);
		check(*state, text, sizes[i] + 17, want);
		snprintf(want, sizeof(want), "1:5 2:%zu%s ", kept, cut);
		check(*state, text, sizes[i] + 6, want);
		free(text);
	}
}

static void test_many_lines_cross_the_buffer(void **state)
{
	size_t nr = 60000, len = 0;
	char *text = malloc(nr * 12), *path = path_in(*state, "f");
	struct lines l;
	int fd;

	for (size_t i = 0; i < nr; i++)
		len += sprintf(text + len, "line %zu\n", i);
	write_file(path, text, len);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(lines_init(&l, fd, UINT64_MAX), 0);
	for (size_t i = 0; i < nr; i++) {
		char want[32];
		int n = sprintf(want, "line %zu", i);

		assert_int_equal(lines_next(&l), 1);
		assert_bytes(l.line, l.len, want, (size_t)n);
	}
	assert_int_equal(lines_next(&l), 0);
	lines_release(&l);
	close(fd);
	free(path);
	free(text);
}

static void test_limit_ends_the_text(void **state)
{
	char *path = path_in(*state, "f");
	struct lines l;
	int fd;

	write_file(path, "abc\ndef\n", 8);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(lines_init(&l, fd, 6), 0);
	assert_int_equal(lines_next(&l), 1);
	assert_int_equal(lines_next(&l), 1);
	assert_bytes(l.line, l.len, "de", 2);
	assert_int_equal(lines_next(&l), 0);
	lines_release(&l);
	close(fd);
	free(path);
}

static void test_hex_numbers(void **state)
{
	static const struct {
		const char *s;
		int ok;
		uint64_t v;
		size_t used;
	} cases[] = {
		{"0", 1, 0, 1},
		{"7f00 x", 1, 0x7f00, 4},
		{"0x10", 1, 16, 4},
		{"0XaB", 1, 0xab, 4},
		{"FFFFFFFFFFFFFFFF", 1, UINT64_MAX, 16},
		{"00000000000000000001", 1, 1, 20},
		{"10000000000000000", 0, 0, 0},
		{"", 0, 0, 0},
		{"-1", 0, 0, 0},
		{"xyz", 0, 0, 0},
		{"0x", 1, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *s = cases[i].s;
		uint64_t v = 0;

		assert_int_equal(parse_hex(&s, s + strlen(s), &v), cases[i].ok);
		assert_int_equal(v, cases[i].v);
		assert_int_equal(s - cases[i].s, cases[i].used);
	}
}

RUN_TESTS(T_TMPDIR(test_lines_with_and_without_newline_at_the_end),
	T_TMPDIR(test_long_lines_are_cut_and_the_next_one_is_whole),
	T_TMPDIR(test_many_lines_cross_the_buffer), T_TMPDIR(test_limit_ends_the_text),
	T(test_hex_numbers))
