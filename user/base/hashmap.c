/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: linear probing in one array whose slots hold 32 hash bits, the value
 * and the key side by side, so that a look-up is one cache miss in most cases.
 * The bits both place the key and spare nearly all key comparisons. Removal
 * shifts the rest of the run back; there are no tombstones that would make a
 * long-lived map (processes coming and going) slower.
 */
#include "hashmap.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "hash.h"

#define SLOTS_FIRST ((size_t)16)
#define SLOTS_MAX   ((size_t)1 << 31) /* placed by 32 bits */

struct slot {
	uint32_t tag; /* hash_tag(), 0 when free */
	uint32_t val;
	unsigned char key[]; /* 8-byte aligned: callers look at it as their struct */
};

struct hashmap {
	unsigned char *slots; /* cap * stride bytes, NULL while cap is 0 */
	size_t cap;	      /* power of two, or 0 */
	size_t nr;
	size_t key_size;
	size_t stride;
	struct hash_seed seed;
};

static struct hash_seed process_seed;
static pthread_once_t process_seed_once = PTHREAD_ONCE_INIT;

static void draw_seed(void)
{
	struct hash_seed s = {0x243f6a8885a308d3u, 0x13198a2e03707344u};
	struct hash_seed r = {0};

	/* Fuzzing must find the same paths again. */
	if (!getenv("PROFBPF_FUZZ")) {
		if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != (ssize_t)sizeof(r)) {
			/* Early boot or a seccomp filter: worse, but not the same each time. */
			r.a = clock_mono_ns() * 0x9e3779b97f4a7c15u;
			r.b = (uint64_t)(uintptr_t)&r * 0x9e3779b97f4a7c15u;
		}
		s.a ^= r.a;
		s.b ^= r.b;
	}
	process_seed = s;
}

const struct hash_seed *hash_seed(void)
{
	pthread_once(&process_seed_once, draw_seed);
	return &process_seed;
}

uint64_t hash_bytes(const void *data, size_t len)
{
	return hash_with(hash_seed(), data, len);
}

struct hashmap *hashmap_new(size_t key_size)
{
	struct hashmap *m;

	assert(key_size > 0 && key_size <= 4096);
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->key_size = key_size;
	m->stride = (sizeof(struct slot) + key_size + 7) & ~(size_t)7;
	m->seed = *hash_seed();
	return m;
}

void hashmap_free(struct hashmap *m)
{
	if (!m)
		return;
	free(m->slots);
	free(m);
}

void hashmap_clear(struct hashmap *m)
{
	if (m->nr)
		memset(m->slots, 0, m->cap * m->stride);
	m->nr = 0;
}

size_t hashmap_count(const struct hashmap *m)
{
	return m->nr;
}

size_t hashmap_bytes(const struct hashmap *m)
{
	return sizeof(*m) + m->cap * m->stride;
}

static inline struct slot *slot_at(const struct hashmap *m, size_t i)
{
	return (struct slot *)(void *)(m->slots + i * m->stride);
}

static inline int key_equal(const unsigned char *a, const unsigned char *b, size_t n)
{
	for (; n >= 8; n -= 8, a += 8, b += 8)
		if (hash_load8(a) != hash_load8(b))
			return 0;
	return !n || !memcmp(a, b, n);
}

/* The slot of the key, or the free one where it belongs. cap must not be 0. */
static inline struct slot *find(const struct hashmap *m, const void *key, uint32_t tag)
{
	size_t mask = m->cap - 1, i = tag & mask;
	struct slot *s;

	for (;; i = (i + 1) & mask) {
		s = slot_at(m, i);
		if (!s->tag || (s->tag == tag && key_equal(s->key, key, m->key_size)))
			return s;
	}
}

static int grow(struct hashmap *m)
{
	size_t cap = m->cap ? m->cap * 2 : SLOTS_FIRST, i, j;
	unsigned char *old = m->slots, *slots;
	const struct slot *s;

	if (cap > SLOTS_MAX)
		return -ENOMEM;
	slots = calloc(cap, m->stride);
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < m->cap; i++) {
		s = slot_at(m, i);
		if (!s->tag)
			continue;
		for (j = s->tag & (cap - 1); ((struct slot *)(void *)(slots + j * m->stride))->tag;)
			j = (j + 1) & (cap - 1);
		memcpy(slots + j * m->stride, s, m->stride);
	}
	m->slots = slots;
	m->cap = cap;
	free(old);
	return 0;
}

int hashmap_get(const struct hashmap *m, const void *key, uint32_t *val)
{
	const struct slot *s;

	if (!m->nr)
		return 0;
	s = find(m, key, hash_tag(hash_with(&m->seed, key, m->key_size)));
	if (!s->tag)
		return 0;
	if (val)
		*val = s->val;
	return 1;
}

uint32_t *hashmap_slot(struct hashmap *m, const void *key, uint32_t initial, int *created)
{
	uint32_t tag = hash_tag(hash_with(&m->seed, key, m->key_size));
	struct slot *s = NULL;

	if (created)
		*created = 0;
	if (m->cap) {
		s = find(m, key, tag);
		if (s->tag)
			return &s->val;
	}
	if ((m->nr + 1) * 10 > m->cap * 7) {
		if (grow(m))
			return NULL;
		s = find(m, key, tag);
	}
	s->tag = tag;
	s->val = initial;
	memcpy(s->key, key, m->key_size);
	m->nr++;
	if (created)
		*created = 1;
	return &s->val;
}

int hashmap_set(struct hashmap *m, const void *key, uint32_t val)
{
	uint32_t *v = hashmap_slot(m, key, val, NULL);

	if (!v)
		return -ENOMEM;
	*v = val;
	return 0;
}

int hashmap_del(struct hashmap *m, const void *key)
{
	size_t mask = m->cap - 1, hole, i, home;
	struct slot *s;

	if (!m->nr)
		return 0;
	s = find(m, key, hash_tag(hash_with(&m->seed, key, m->key_size)));
	if (!s->tag)
		return 0;
	hole = (size_t)((unsigned char *)s - m->slots) / m->stride;
	for (i = (hole + 1) & mask;; i = (i + 1) & mask) {
		s = slot_at(m, i);
		if (!s->tag)
			break;
		home = s->tag & mask;
		/* It may move only if its home is not between the hole and itself. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			memcpy(slot_at(m, hole), s, m->stride);
			hole = i;
		}
	}
	memset(slot_at(m, hole), 0, m->stride);
	m->nr--;
	return 1;
}

int hashmap_next(const struct hashmap *m, size_t *it, const void **key, uint32_t *val)
{
	const struct slot *s;

	while (*it < m->cap) {
		s = slot_at(m, (*it)++);
		if (!s->tag)
			continue;
		if (key)
			*key = s->key;
		if (val)
			*val = s->val;
		return 1;
	}
	return 0;
}

void hashmap_check(const struct hashmap *m)
{
	const struct slot *s;
	size_t i, nr = 0;

	assert(!(m->cap & (m->cap - 1)));
	assert(m->nr * 10 <= m->cap * 7); /* a free slot ends every search */
	for (i = 0; i < m->cap; i++) {
		s = slot_at(m, i);
		if (!s->tag)
			continue;
		nr++;
		assert(s->tag == hash_tag(hash_with(&m->seed, s->key, m->key_size)));
		assert(find(m, s->key, s->tag) == s);
	}
	assert(nr == m->nr);
}
