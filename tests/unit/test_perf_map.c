/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "symbolize/symbolize.h"
#include "user/base/buf.h"

#define LOG_DOMAIN "test"
#include "user/base/log.h"

static struct perf_map *from(const char *text, size_t len)
{
	struct perf_map *p;
	struct err e = {0};

	log_set_level(LOG_ERROR);
	if (perf_map_open_mem(&p, text, len, &e))
		fail_msg("%s", e.msg);
	return p;
}
#define FROM(literal) from(literal, sizeof(literal) - 1)

static const char *at(const struct perf_map *p, uint64_t addr)
{
	static struct symbols out;

	perf_map_symbols(p, addr, 0, &out);
	assert_int_equal(out.reason, out.nr ? REASON_NONE : REASON_NOT_IN_PERF_MAP);
	return out.nr ? out.at[0].name : "-";
}

static void test_all_spellings_are_accepted(void **state)
{
	struct perf_map *p = FROM("7f0000000000 1000 plain\n"
				  "0x00007f0000001000 0x0000000000001000 with 0x\n"
				  "7F0000002000 1000 UPPER\n"
				  "7f0000003000 1000 name with spaces (int, x)\n"
				  "7f0000004000 1000 crlf\r\n"
				  "7f0000005000\t1000  tab and two blanks\n"
				  "7f0000006000 1000 no newline");

	(void)state;
	assert_int_equal(perf_map_entries(p), 7);
	assert_int_equal(perf_map_bad_lines(p, NULL), 0);
	assert_string_equal(at(p, 0x7f0000000000), "plain");
	assert_string_equal(at(p, 0x7f0000001fff), "with 0x");
	assert_string_equal(at(p, 0x7f0000002800), "UPPER");
	assert_string_equal(at(p, 0x7f0000003800), "name with spaces (int, x)");
	assert_string_equal(at(p, 0x7f0000004800), "crlf");
	assert_string_equal(at(p, 0x7f0000005800), "tab and two blanks");
	assert_string_equal(at(p, 0x7f0000006800), "no newline");
	assert_string_equal(at(p, 0x7f0000007000), "-");
	assert_string_equal(at(p, 0x7effffffffff), "-");
	perf_map_close(p);
}

static void test_bad_lines_are_skipped_and_counted(void **state)
{
	struct perf_map *p = FROM("1000 10 good\n"
				  "\n"
				  "# comment\n"
				  "zzzz 10 not hex\n"
				  "-1 10 negative\n"
				  "2000\n"
				  "2000 40\n"
				  "2000 40 \n"
				  "2000 0 zero size\n"
				  "2000 ffffffffffffffff wraps round\n"
				  "ffffffffffffffffffff 10 too wide\n"
				  "2000 -40 negative size\n"
				  "2000 10 nul\0inside\n"
				  "3000 10 good too\n"
				  "2000 10");
	size_t first;

	(void)state;
	assert_int_equal(perf_map_entries(p), 2);
	assert_int_equal(perf_map_bad_lines(p, &first), 12);
	assert_int_equal(first, 3);
	assert_string_equal(at(p, 0x2000), "-");
	assert_string_equal(at(p, 0x1000), "good");
	assert_string_equal(at(p, 0x3000), "good too");
	perf_map_close(p);
}

static void test_names_are_kept_as_they_are(void **state)
{
	static const char *const names[] = {"Lcom/x/Y;::run", ";;",
		"void a.B.<init>(java.util.List<? extends C>)", "say \"hi\" & 'bye'",
		"ends in count 12", "back\\slash\\n", "日本語メソッド",
		"^compile node:internal/x:1:1", "_ZN3Foo3runEi"};
	struct buf b = BUF_INIT;
	struct perf_map *p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		buf_addf(&b, "%zx 1000 %s\n", 0x1000 * (i + 1), names[i]);
	p = from(b.data, b.len);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_string_equal(at(p, 0x1000 * (i + 1)), names[i]);
	perf_map_close(p);
	buf_release(&b);
}

static void test_the_last_line_wins(void **state)
{
	struct perf_map *p = FROM("1000 1000 old\n"
				  "1200 100 middle\n"
				  "1280 200 newer\n"
				  "1000 10 newest\n");

	(void)state;
	assert_string_equal(at(p, 0x1000), "newest");
	assert_string_equal(at(p, 0x1010), "old");
	assert_string_equal(at(p, 0x1200), "middle");
	assert_string_equal(at(p, 0x1280), "newer");
	assert_string_equal(at(p, 0x147f), "newer");
	assert_string_equal(at(p, 0x1480), "old");
	assert_string_equal(at(p, 0x1fff), "old");
	assert_string_equal(at(p, 0x2000), "-");
	perf_map_close(p);
}

static void test_random_lines_agree_with_brute_force(void **state)
{
	enum {
		NR = 60,
		SPACE = 256
	};
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct buf b = BUF_INIT;
		int owner[SPACE + 64];
		struct perf_map *p;

		memset(owner, -1, sizeof(owner));
		for (int i = 0; i < NR; i++) {
			unsigned start = test_random(&seed) % SPACE,
				 size = 1 + test_random(&seed) % 40;

			buf_addf(&b, "%x %x n%d\n", start, size, i);
			for (unsigned a = start; a < start + size; a++)
				owner[a] = i;
		}
		p = from(b.data, b.len);
		for (unsigned a = 0; a < SPACE + 64; a++) {
			char want[16] = "-";

			if (owner[a] >= 0)
				snprintf(want, sizeof(want), "n%d", owner[a]);
			assert_string_equal(at(p, a), want);
		}
		perf_map_close(p);
		buf_release(&b);
	}
}

static void test_ends_of_the_address_space(void **state)
{
	struct perf_map *p =
		FROM("0 10 low\nfffffffffffffff0 f high\nffffffffffffff00 100 wraps\n");
	struct symbols out;

	(void)state;
	assert_int_equal(perf_map_bad_lines(p, NULL), 1);
	assert_string_equal(at(p, 0), "low");
	assert_string_equal(at(p, 0xfffffffffffffffe), "high");
	assert_string_equal(at(p, 0xffffffffffffffff), "-");
	perf_map_symbols(p, 0x10, 1, &out);
	assert_string_equal(out.at[0].name, "low");
	perf_map_symbols(p, 0, 1, &out);
	assert_int_equal(out.nr, 0);
	perf_map_close(p);
}

static void test_huge_line_is_cut_and_others_survive(void **state)
{
	char *path = path_in(*state, "perf-1.map");
	struct perf_map *p;
	struct err e = {0};
	FILE *f = fopen(path, "we");

	log_set_level(LOG_ERROR);
	fputs("1000 10 before\n2000 10 ", f);
	for (int i = 0; i < 3000000; i++)
		fputc('L', f);
	fputs("\n3000 10 after\n", f);
	fclose(f);
	assert_int_equal(perf_map_open(&p, open(path, O_RDONLY | O_CLOEXEC), path, &e), 0);

	assert_string_equal(at(p, 0x1000), "before");
	assert_int_equal(strlen(at(p, 0x2000)), SYMBOL_NAME_MAX);
	assert_string_equal(at(p, 0x2000) + SYMBOL_NAME_MAX - 3, "...");
	assert_string_equal(at(p, 0x3000), "after");

	perf_map_close(p);
	free(path);
}

static void test_empty_map_knows_nothing(void **state)
{
	struct perf_map *p = FROM("");

	(void)state;
	assert_int_equal(perf_map_entries(p), 0);
	assert_string_equal(at(p, 0x1000), "-");
	perf_map_close(p);
}

static void test_what_is_no_file_is_refused(void **state)
{
	struct perf_map *p;
	struct err e = {0};

	assert_int_equal(
		perf_map_open(&p, open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "dir", &e),
		-EINVAL);
	assert_null(p);
	assert_contains(e.msg, "not a regular file");
}

RUN_TESTS(T(test_all_spellings_are_accepted), T(test_bad_lines_are_skipped_and_counted),
	T(test_names_are_kept_as_they_are), T(test_the_last_line_wins),
	T(test_random_lines_agree_with_brute_force), T(test_ends_of_the_address_space),
	T_TMPDIR(test_huge_line_is_cut_and_others_survive), T(test_empty_map_knows_nothing),
	T_TMPDIR(test_what_is_no_file_is_refused))
