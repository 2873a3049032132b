/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every unit test includes, and nothing else has to: cmocka's required
 * headers, a main() and a few helpers. A test file ends with
 *
 *	RUN_TESTS(T(test_folded_escapes_semicolon_in_name), T(...))
 *
 * TEST_FILTER="test_folded*" runs some of them ('*' and '?' are known).
 */
#ifndef PROFBPF_TESTS_SUPPORT_H
#define PROFBPF_TESTS_SUPPORT_H

/* Every cmocka test takes a state, few look at it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define T(name)	       cmocka_unit_test(name)
#define T_TMPDIR(name) cmocka_unit_test_setup_teardown(name, tmpdir_setup, tmpdir_teardown)
#define ARRAY_LEN(a)   (sizeof(a) / sizeof((a)[0]))
#define RUN_TESTS(...)                                                                             \
	int main(void)                                                                             \
	{                                                                                          \
		const struct CMUnitTest tests[] = {__VA_ARGS__};                                   \
                                                                                                   \
		if (getenv("TEST_FILTER"))                                                         \
			cmocka_set_test_filter(getenv("TEST_FILTER"));                             \
		return !!cmocka_run_group_tests(tests, NULL, NULL);                                \
	}

/* Length first: the bytes may hold NULs, and a text is easier to read when it differs. */
static inline void assert_bytes(const void *got, size_t got_len, const void *want, size_t want_len)
{
	if (got_len != want_len || memcmp(got, want, want_len))
		print_error("got  (%zu) \"%.*s\"\nwant (%zu) \"%.*s\"\n", got_len, (int)got_len,
			(const char *)got, want_len, (int)want_len, (const char *)want);
	assert_int_equal(got_len, want_len);
	assert_memory_equal(got, want, want_len);
}

/* A buf against a string literal, which may hold NULs. */
#define assert_buf(b, literal) assert_bytes(buf_str(b), (b)->len, literal, sizeof(literal) - 1)

static inline void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("\"%s\" is not in \"%s\"\n", part, text);
	assert_non_null(strstr(text, part));
}

/* The same numbers in every run, so that a failure can be repeated. Seed it with any number. */
static inline uint64_t test_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static inline int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

/* T_TMPDIR(name): *state is the path of a fresh folder, gone after the test. */
static inline int tmpdir_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	char *path = NULL;

	if (asprintf(&path, "%s/profbpf-test-XXXXXX", base && *base ? base : "/tmp") < 0)
		return -1;
	if (!mkdtemp(path)) {
		free(path);
		return -1;
	}
	*state = path;
	return 0;
}

static inline int tmpdir_teardown(void **state)
{
	int ret = nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return ret;
}

/* "dir/name", to be freed. */
static inline char *path_in(const char *dir, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	return path;
}

static inline void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* The whole file with a NUL after it, to be freed. */
static inline char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	size_t cap = 4096, n = 0, got;
	char *data = malloc(cap + 1);

	assert_non_null(f);
	assert_non_null(data);
	while ((got = fread(data + n, 1, cap - n, f)) > 0) {
		n += got;
		if (n == cap) {
			cap *= 2;
			data = realloc(data, cap + 1);
			assert_non_null(data);
		}
	}
	fclose(f);
	data[n] = '\0';
	if (len)
		*len = n;
	return data;
}

#endif
