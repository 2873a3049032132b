/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "user/base/arena.h"

static void test_arena_aligns_to_16_and_never_overlaps(void **state)
{
	struct arena a = ARENA_INIT;
	unsigned char *p[1000];
	size_t size[1000];
	uint64_t seed = 7;
	int i;

	for (i = 0; i < 1000; i++) {
		size[i] = test_random(&seed) % (i % 50 ? 200 : 100000);
		p[i] = arena_alloc(&a, size[i]);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], i & 255, size[i]);
	}
	for (i = 0; i < 1000; i++) {
		if (size[i]) {
			assert_int_equal(p[i][0], i & 255);
			assert_int_equal(p[i][size[i] - 1], i & 255);
		}
	}
	assert_true(a.total > 0);
	arena_release(&a);
	assert_null(a.head);
	assert_int_equal(a.total, 0);
}

static void test_arena_gives_distinct_pointers_for_size_0(void **state)
{
	struct arena a = ARENA_INIT;

	assert_ptr_not_equal(arena_alloc(&a, 0), arena_alloc(&a, 0));
	arena_release(&a);
}

static void test_arena_refuses_impossible_sizes(void **state)
{
	struct arena a = ARENA_INIT;

	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX - 32));
	assert_null(arena_zalloc(&a, (size_t)PTRDIFF_MAX));
	assert_null(arena_strdup(&a, "x", SIZE_MAX));
	assert_non_null(arena_alloc(&a, 8));
	arena_release(&a);
}

static void test_arena_zalloc_clears_and_strdup_terminates(void **state)
{
	struct arena a = ARENA_INIT;
	char *z = arena_zalloc(&a, 100);
	int i;

	for (i = 0; i < 100; i++)
		assert_int_equal(z[i], 0);
	assert_string_equal(arena_strdup(&a, "hello world", 5), "hello");
	assert_string_equal(arena_strdup(&a, NULL, 0), "");
	arena_release(&a);
}

RUN_TESTS(T(test_arena_aligns_to_16_and_never_overlaps),
	T(test_arena_gives_distinct_pointers_for_size_0), T(test_arena_refuses_impossible_sizes),
	T(test_arena_zalloc_clears_and_strdup_terminates))
