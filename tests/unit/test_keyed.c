/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "user/model/keyed.h"

static void check_sorted(struct keyed *a, size_t nr)
{
	size_t i;

	for (i = 1; i < nr; i++) {
		assert_true(a[i - 1].key <= a[i].key);
		if (a[i - 1].key == a[i].key)
			assert_true(a[i - 1].id < a[i].id);
	}
}

static void sorts_stably_at_all_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 500, 70000};
	uint64_t seed = 1, mask;
	size_t s, i, m;

	(void)state;
	for (s = 0; s < ARRAY_LEN(sizes); s++) {
		struct keyed *a = calloc(sizes[s] + 1, sizeof(*a));
		struct keyed *tmp = calloc(sizes[s] + 1, sizeof(*tmp));

		for (m = 0; m < 4; m++) {
			mask = m == 0 ? 3 : m == 1 ? 0xff00ff : m == 2 ? UINT64_MAX : 0;
			for (i = 0; i < sizes[s]; i++)
				a[i] = (struct keyed){test_random(&seed) & mask, (uint32_t)i};
			keyed_sort(a, tmp, sizes[s]);
			check_sorted(a, sizes[s]);
		}
		free(a);
		free(tmp);
	}
}

static int by_bytes(const void *pa, const void *pb)
{
	const struct ranked_name *a = pa, *b = pb;
	size_t min = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->name, b->name, min);

	if (!c)
		c = (a->len > b->len) - (a->len < b->len);
	return c ? c : (a->id > b->id) - (a->id < b->id);
}

static void names_sort_as_bytes_with_prefixes_first(void **state)
{
	struct ranked_name n[] = {
		{"b", 1, 0}, {"a\0", 2, 1}, {"a", 1, 2}, {"", 0, 3}, {"\xff", 1, 4}, {"a", 1, 5}};
	static const uint32_t want[] = {3, 2, 5, 1, 0, 4};
	size_t i;

	(void)state;
	assert_int_equal(names_sort(n, ARRAY_LEN(n), NULL, NULL), 0);
	for (i = 0; i < ARRAY_LEN(n); i++)
		assert_int_equal(n[i].id, want[i]);
}

static void many_names_sort_as_qsort_does(void **state)
{
	enum {
		NR = 20000
	};
	struct ranked_name *got = calloc(NR, sizeof(*got)), *want = calloc(NR, sizeof(*want));
	char *text = malloc(NR * 64), *at = text;
	uint64_t seed = 7;
	size_t i, k;

	(void)state;
	for (i = 0; i < NR; i++) {
		size_t len = test_random(&seed) % 60;

		/* Long common prefixes, few letters, NULs among them. */
		for (k = 0; k < len; k++)
			at[k] = k < 20 ? 'x' : "\0ab\xff"[test_random(&seed) % 4];
		got[i] = want[i] = (struct ranked_name){at, len, (uint32_t)i};
		at += len;
	}
	qsort(want, NR, sizeof(*want), by_bytes);
	assert_int_equal(names_sort(got, NR, NULL, NULL), 0);
	for (i = 0; i < NR; i++)
		assert_int_equal(got[i].id, want[i].id);
	free(text);
	free(got);
	free(want);
}

static int backwards(uint32_t a, uint32_t b, const void *ctx)
{
	(void)ctx;
	return a > b ? -1 : a < b;
}

static void equal_names_are_ordered_by_the_tie_break(void **state)
{
	struct ranked_name n[100];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(n); i++)
		n[i] = (struct ranked_name){"same name everywhere", 20, (uint32_t)i};
	assert_int_equal(names_sort(n, ARRAY_LEN(n), backwards, NULL), 0);
	for (i = 0; i < ARRAY_LEN(n); i++)
		assert_int_equal(n[i].id, ARRAY_LEN(n) - 1 - i);
}

RUN_TESTS(T(sorts_stably_at_all_sizes), T(names_sort_as_bytes_with_prefixes_first),
	T(many_names_sort_as_qsort_does), T(equal_names_are_ordered_by_the_tie_break))
