/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "user/base/strtab.h"

static void test_strtab_id_0_is_the_empty_string(void **state)
{
	struct strtab *t = strtab_new();
	size_t len;
	int is_new;

	assert_int_equal(strtab_count(t), 1);
	assert_string_equal(strtab_get(t, 0, &len), "");
	assert_int_equal(len, 0);
	assert_int_equal(strtab_add(t, "", 0, &is_new), 0);
	assert_int_equal(is_new, 0);
	assert_int_equal(strtab_add(t, NULL, 0, NULL), 0);
	strtab_free(t);
}

static void test_strtab_equal_bytes_get_equal_ids(void **state)
{
	struct strtab *t = strtab_new();
	int first, again;

	assert_int_equal(strtab_add(t, "main", 4, &first), 1);
	assert_int_equal(strtab_add(t, "mainly", 4, &again), 1);
	assert_int_equal(first, 1);
	assert_int_equal(again, 0);
	assert_int_equal(strtab_add(t, "mainly", 6, NULL), 2);
	assert_int_equal(strtab_find(t, "main", 4), 1);
	assert_int_equal(strtab_find(t, "mai", 3), -ENOENT);
	strtab_free(t);
}

static void test_strtab_strings_may_hold_nul(void **state)
{
	struct strtab *t = strtab_new();
	size_t len;

	assert_int_equal(strtab_add(t, "a\0b", 3, NULL), 1);
	assert_int_equal(strtab_add(t, "a\0c", 3, NULL), 2);
	assert_int_equal(strtab_add(t, "a", 1, NULL), 3);
	assert_memory_equal(strtab_get(t, 1, &len), "a\0b", 4);
	assert_int_equal(len, 3);
	strtab_free(t);
}

static void test_strtab_pointers_stay_valid_while_growing(void **state)
{
	struct strtab *t = strtab_new();
	const char *first = NULL;
	char name[300];
	uint32_t i;
	size_t len;

	for (i = 1; i < 50000; i++) {
		/* Short ones, and some that fill a block of their own. */
		len = (size_t)sprintf(name, "%u%*s", i, i % 1000 ? 1 : 200, "x");
		assert_int_equal(strtab_add(t, name, len, NULL), i);
		if (i == 1)
			first = strtab_get(t, 1, NULL);
	}
	assert_ptr_equal(strtab_get(t, 1, NULL), first);
	for (i = 1; i < 50000; i++) {
		len = (size_t)sprintf(name, "%u%*s", i, i % 1000 ? 1 : 200, "x");
		assert_int_equal(strtab_find(t, name, len), i);
		assert_string_equal(strtab_get(t, i, NULL), name);
	}
	assert_int_equal(strtab_count(t), 50000);
	strtab_check(t);
	assert_true(strtab_bytes(t) > 50000 * 5);
	strtab_free(t);
}

static void test_strtab_takes_very_long_strings(void **state)
{
	struct strtab *t = strtab_new();
	size_t size = 5 << 20, len;
	char *big = malloc(size);

	memset(big, 'x', size);
	assert_int_equal(strtab_add(t, big, size, NULL), 1);
	assert_int_equal(strtab_add(t, big, size - 1, NULL), 2);
	assert_int_equal(strtab_add(t, "small", 5, NULL), 3);
	strtab_get(t, 2, &len);
	assert_int_equal(len, size - 1);
	assert_int_equal(strtab_find(t, big, size), 1);
	free(big);
	strtab_free(t);
}

RUN_TESTS(T(test_strtab_id_0_is_the_empty_string), T(test_strtab_equal_bytes_get_equal_ids),
	T(test_strtab_strings_may_hold_nul), T(test_strtab_pointers_stay_valid_while_growing),
	T(test_strtab_takes_very_long_strings))
