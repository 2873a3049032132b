/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks double from 4 KiB to 1 MiB, so that many small arenas stay small and
 * large ones ask the allocator rarely. A request too big for that gets a block
 * of its own behind the head, whose free room stays in use.
 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN	    ((size_t)16)
#define BLOCK_FIRST ((size_t)4096)
#define BLOCK_MAX   ((size_t)1 << 20)

struct arena_block {
	struct arena_block *next;
	size_t used, cap; /* bytes of data */
	_Alignas(16) char data[];
};

void arena_release(struct arena *a)
{
	struct arena_block *b = a->head, *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct arena)ARENA_INIT;
}

static struct arena_block *block_new(struct arena *a, size_t cap)
{
	struct arena_block *b;
	size_t size;

	if (__builtin_add_overflow(cap, sizeof(*b), &size) || size > PTRDIFF_MAX)
		return NULL;
	b = malloc(size);
	if (!b)
		return NULL;
	b->next = NULL;
	b->used = 0;
	b->cap = cap;
	a->total += size;
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->head;
	size_t cap;
	void *p;

	if (!size)
		size = 1; /* distinct pointers for distinct objects */
	if (__builtin_add_overflow(size, ALIGN - 1, &size))
		return NULL;
	size &= ~(ALIGN - 1);

	if (!b || size > b->cap - b->used) {
		cap = b ? b->cap * 2 : BLOCK_FIRST - sizeof(*b);
		if (cap > BLOCK_MAX)
			cap = BLOCK_MAX;
		if (b && size > cap / 4) {
			b = block_new(a, size);
			if (!b)
				return NULL;
			b->next = a->head->next;
			a->head->next = b;
		} else {
			b = block_new(a, size > cap ? size : cap);
			if (!b)
				return NULL;
			b->next = a->head;
			a->head = b;
		}
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

void *arena_zalloc(struct arena *a, size_t size)
{
	void *p = arena_alloc(a, size);

	if (p)
		memset(p, 0, size);
	return p;
}

char *arena_strdup(struct arena *a, const char *s, size_t len)
{
	char *p;

	if (len == SIZE_MAX)
		return NULL;
	p = arena_alloc(a, len + 1);
	if (!p)
		return NULL;
	if (len)
		memcpy(p, s, len);
	p[len] = '\0';
	return p;
}
