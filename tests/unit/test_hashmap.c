/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "user/base/hashmap.h"

static void test_hashmap_set_get_del(void **state)
{
	struct hashmap *m = hashmap_new(sizeof(uint64_t));
	uint64_t k = 42;
	uint32_t v = 0;

	assert_int_equal(hashmap_get(m, &k, &v), 0);
	assert_int_equal(hashmap_del(m, &k), 0);
	assert_int_equal(hashmap_set(m, &k, 7), 0);
	assert_int_equal(hashmap_set(m, &k, 8), 0);
	assert_int_equal(hashmap_count(m), 1);
	assert_int_equal(hashmap_get(m, &k, &v), 1);
	assert_int_equal(v, 8);
	assert_int_equal(hashmap_get(m, &k, NULL), 1);
	assert_int_equal(hashmap_del(m, &k), 1);
	assert_int_equal(hashmap_get(m, &k, &v), 0);
	assert_int_equal(hashmap_count(m), 0);
	hashmap_free(m);
}

static void test_hashmap_slot_tells_whether_it_was_created(void **state)
{
	struct hashmap *m = hashmap_new(4);
	uint32_t k = 5, *slot;
	int created;

	slot = hashmap_slot(m, &k, 100, &created);
	assert_int_equal(*slot, 100);
	assert_int_equal(created, 1);
	++*slot;
	slot = hashmap_slot(m, &k, 100, &created);
	assert_int_equal(*slot, 101);
	assert_int_equal(created, 0);
	hashmap_free(m);
}

/* Against a plain array, for each key size that takes another path. */
static void test_hashmap_agrees_with_a_plain_array(void **state)
{
	static const size_t sizes[] = {1, 3, 4, 7, 8, 12, 16, 17, 24, 40};
	enum {
		KEYS = 200
	};
	unsigned char key[40] = {0};
	uint32_t want[KEYS], v;
	int there[KEYS];
	uint64_t seed = 3, r;
	struct hashmap *m;
	size_t s, nr, it;
	const void *k;
	int i, step;

	for (s = 0; s < ARRAY_LEN(sizes); s++) {
		m = hashmap_new(sizes[s]);
		memset(there, 0, sizeof(there));
		for (step = 0; step < 5000; step++) {
			r = test_random(&seed);
			i = (int)(r % KEYS);
			memset(key, 0, sizeof(key));
			key[sizes[s] - 1] = (unsigned char)i;
			if (r >> 32 & 1) {
				want[i] = (uint32_t)(r >> 33);
				there[i] = 1;
				assert_int_equal(hashmap_set(m, key, want[i]), 0);
			} else {
				assert_int_equal(hashmap_del(m, key), there[i]);
				there[i] = 0;
			}
			if (step % 100 == 0)
				hashmap_check(m);
		}
		for (nr = 0, i = 0; i < KEYS; i++) {
			key[sizes[s] - 1] = (unsigned char)i;
			assert_int_equal(hashmap_get(m, key, &v), there[i]);
			if (there[i])
				assert_int_equal(v, want[i]);
			nr += (size_t)there[i];
		}
		assert_int_equal(hashmap_count(m), nr);
		for (it = 0; hashmap_next(m, &it, &k, &v); nr--) {
			i = ((const unsigned char *)k)[sizes[s] - 1];
			assert_true(there[i]);
			assert_int_equal(v, want[i]);
			assert_int_equal((uintptr_t)k % 8, 0);
		}
		assert_int_equal(nr, 0);
		hashmap_free(m);
	}
}

static void test_hashmap_grows_and_clears(void **state)
{
	struct hashmap *m = hashmap_new(8);
	uint64_t k;
	uint32_t v;

	for (k = 0; k < 100000; k++)
		assert_int_equal(hashmap_set(m, &k, (uint32_t)k), 0);
	for (k = 0; k < 100000; k++) {
		assert_int_equal(hashmap_get(m, &k, &v), 1);
		assert_int_equal(v, k);
	}
	assert_true(hashmap_bytes(m) >= 100000 * 16);
	hashmap_clear(m);
	assert_int_equal(hashmap_count(m), 0);
	k = 1;
	assert_int_equal(hashmap_get(m, &k, &v), 0);
	hashmap_free(m);
	hashmap_free(NULL);
}

static void test_hash_bytes_differs_by_length_and_each_byte(void **state)
{
	unsigned char data[64] = {0};
	uint64_t h[65], flipped;
	size_t len, i;

	for (len = 0; len <= 64; len++) {
		h[len] = hash_bytes(data, len);
		assert_true(h[len] == hash_bytes(data, len));
		for (i = 0; i < len; i++)
			assert_true(h[i] != h[len]);
		for (i = 0; i < len; i++) {
			data[i] ^= 1;
			flipped = hash_bytes(data, len);
			data[i] ^= 1;
			assert_true(flipped != h[len]);
		}
	}
}

/* Low bits place keys: sequential ones must spread as chance would. */
static void test_hash_bytes_spreads_sequential_keys(void **state)
{
	enum {
		BITS = 12,
		KEYS = 1 << BITS
	};
	static unsigned char used[KEYS];
	unsigned empty = 0;
	uint64_t k;

	memset(used, 0, sizeof(used));
	for (k = 0; k < KEYS; k++)
		used[hash_bytes(&k, sizeof(k)) % KEYS] = 1;
	for (k = 0; k < KEYS; k++)
		empty += !used[k];
	/* 1/e of the places stay empty by chance: 1507, standard deviation about 20. */
	assert_in_range(empty, 1300, 1700);
}

RUN_TESTS(T(test_hashmap_set_get_del), T(test_hashmap_slot_tells_whether_it_was_created),
	T(test_hashmap_agrees_with_a_plain_array), T(test_hashmap_grows_and_clears),
	T(test_hash_bytes_differs_by_length_and_each_byte),
	T(test_hash_bytes_spreads_sequential_keys))
