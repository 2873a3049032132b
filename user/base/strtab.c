/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: strings are packed into big blocks (a name is 40 bytes on average; an
 * allocation each would double that). A slot is one word: 32 hash bits and the
 * id, so eight fit a cache line and a probe seldom touches a string that is not
 * the one. Entries keep the hash, so growing never reads the strings.
 */
#include "strtab.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

#define SLOTS_FIRST 64u
#define SLOTS_MAX   ((size_t)1 << 31) /* placed by 32 bits */
#define BLOCK_FIRST ((size_t)4096)
#define BLOCK_MAX   ((size_t)1 << 20)

struct entry {
	const char *s;
	uint32_t len;
	uint32_t tag; /* hash_tag() */
};

struct block {
	struct block *next;
	char data[];
};

struct strtab {
	uint64_t *slots; /* tag << 32 | id; 0 when free (a tag is never 0) */
	size_t cap;	 /* power of two */
	struct entry *entries;
	uint32_t nr, nr_cap;
	struct block *blocks; /* newest first; owned */
	char *free;	      /* room in the newest block */
	size_t room, block_size;
	size_t bytes;
	struct hash_seed seed;
};

static int slots_grow(struct strtab *t)
{
	size_t cap = t->cap ? t->cap * 2 : SLOTS_FIRST, mask = cap - 1, i;
	uint64_t *slots;
	uint32_t id;

	if (cap > SLOTS_MAX)
		return -ENOMEM;
	slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (id = 0; id < t->nr; id++) {
		for (i = t->entries[id].tag & mask; slots[i];)
			i = (i + 1) & mask;
		slots[i] = (uint64_t)t->entries[id].tag << 32 | id;
	}
	free(t->slots);
	t->bytes += (cap - t->cap) * sizeof(*slots);
	t->slots = slots;
	t->cap = cap;
	return 0;
}

static int entries_grow(struct strtab *t)
{
	uint32_t cap = t->nr_cap ? t->nr_cap + t->nr_cap / 2 : SLOTS_FIRST;
	struct entry *entries;

	if (cap <= t->nr_cap)
		return -ENOMEM;
	entries = reallocarray(t->entries, cap, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	t->bytes += (cap - t->nr_cap) * sizeof(*entries);
	t->entries = entries;
	t->nr_cap = cap;
	return 0;
}

/* Room for @len bytes and a NUL; not taken until the caller commits it. */
static char *room_for(struct strtab *t, size_t len)
{
	size_t size;
	struct block *b;

	if (len < t->room)
		return t->free;
	size = len < t->block_size / 4 ? t->block_size : len + 1;
	b = malloc(sizeof(*b) + size);
	if (!b)
		return NULL;
	t->bytes += sizeof(*b) + size;
	if (size == len + 1 && t->blocks) {
		/* A long string alone in its block: the newest one's room stays in use. */
		b->next = t->blocks->next;
		t->blocks->next = b;
		return b->data;
	}
	b->next = t->blocks;
	t->blocks = b;
	t->free = b->data;
	t->room = size;
	if (t->block_size < BLOCK_MAX)
		t->block_size *= 2;
	return t->free;
}

struct strtab *strtab_new(void)
{
	struct strtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->bytes = sizeof(*t);
	t->block_size = BLOCK_FIRST;
	t->seed = *hash_seed();
	if (strtab_add(t, "", 0, NULL) != 0) {
		strtab_free(t);
		return NULL;
	}
	return t;
}

void strtab_free(struct strtab *t)
{
	struct block *b, *next;

	if (!t)
		return;
	for (b = t->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(t->entries);
	free(t->slots);
	free(t);
}

/* The slot that holds these bytes, or the free one where they belong. */
static inline size_t find(const struct strtab *t, const char *s, size_t len, uint32_t tag)
{
	size_t mask = t->cap - 1, i = tag & mask;
	const struct entry *e;

	for (; t->slots[i]; i = (i + 1) & mask) {
		if ((uint32_t)(t->slots[i] >> 32) != tag)
			continue;
		e = &t->entries[(uint32_t)t->slots[i]];
		if (e->len == len && (!len || !memcmp(e->s, s, len)))
			break;
	}
	return i;
}

int64_t strtab_add(struct strtab *t, const char *s, size_t len, int *is_new)
{
	uint32_t tag = hash_tag(hash_with(&t->seed, s, len));
	size_t i = 0;
	char *copy;

	if (is_new)
		*is_new = 0;
	if (t->cap) {
		i = find(t, s, len, tag);
		if (t->slots[i])
			return (uint32_t)t->slots[i];
	}
	if (len >= UINT32_MAX)
		return -E2BIG;
	if (t->nr == t->nr_cap && entries_grow(t))
		return -ENOMEM;
	if (((size_t)t->nr + 1) * 10 > t->cap * 7) {
		if (slots_grow(t))
			return -ENOMEM;
		i = find(t, s, len, tag);
	}
	copy = room_for(t, len);
	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, s, len);
	copy[len] = '\0';
	if (copy == t->free) {
		t->free += len + 1;
		t->room -= len + 1;
	}
	t->entries[t->nr] = (struct entry){copy, (uint32_t)len, tag};
	t->slots[i] = (uint64_t)tag << 32 | t->nr;
	if (is_new)
		*is_new = 1;
	return t->nr++;
}

int64_t strtab_find(const struct strtab *t, const char *s, size_t len)
{
	size_t i = find(t, s, len, hash_tag(hash_with(&t->seed, s, len)));

	return t->slots[i] ? (int64_t)(uint32_t)t->slots[i] : -ENOENT;
}

const char *strtab_get(const struct strtab *t, uint32_t id, size_t *len)
{
	if (len)
		*len = t->entries[id].len;
	return t->entries[id].s;
}

uint32_t strtab_count(const struct strtab *t)
{
	return t->nr;
}

size_t strtab_bytes(const struct strtab *t)
{
	return t->bytes;
}

void strtab_check(const struct strtab *t)
{
	size_t i, nr = 0;
	uint32_t id;

	assert(t->nr && (size_t)t->nr * 10 <= t->cap * 7);
	assert(!(t->cap & (t->cap - 1)));
	for (i = 0; i < t->cap; i++)
		nr += t->slots[i] != 0;
	assert(nr == t->nr);
	for (id = 0; id < t->nr; id++) {
		assert(strtab_find(t, t->entries[id].s, t->entries[id].len) == id);
		assert(!t->entries[id].s[t->entries[id].len]);
	}
}
