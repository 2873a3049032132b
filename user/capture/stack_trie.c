/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack_trie.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "user/base/hashmap.h"

#define NODES_FIRST ((size_t)1 << 10)
#define NODES_MAX   ((size_t)UINT32_MAX) /* an id more than fits */
#define SLOTS_FIRST ((size_t)1 << 10)
#define SLOTS_MAX   ((size_t)1 << 32) /* placed by 32 bits */

/*
 * Large arrays straight from the kernel: zeroed, grown by moving pages instead
 * of bytes, and in huge pages where they exist, since random access to tens of
 * megabytes is a TLB miss each time otherwise.
 */
static void *pages_new(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	(void)madvise(p, size, MADV_HUGEPAGE);
	return p;
}

static void *pages_grow(void *old, size_t old_size, size_t size)
{
	void *p = mremap(old, old_size, size, MREMAP_MAYMOVE);

	return p == MAP_FAILED ? NULL : p;
}

static void pages_free(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

int stack_trie_init(struct stack_trie *t)
{
	*t = (struct stack_trie){0};
	t->seed = hash_bytes("stack trie, seed", 16);
	t->multiplier = hash_bytes("stack trie, multiplier", 22) | 1;
	t->nodes = pages_new(NODES_FIRST * sizeof(*t->nodes));
	t->slots = pages_new(SLOTS_FIRST * sizeof(*t->slots));
	t->nodes_cap = t->nodes ? NODES_FIRST : 0;
	t->slots_cap = t->slots ? SLOTS_FIRST : 0;
	if (t->nodes && t->slots)
		return 0;
	stack_trie_release(t);
	return -ENOMEM;
}

void stack_trie_release(struct stack_trie *t)
{
	pages_free(t->nodes, t->nodes_cap * sizeof(*t->nodes));
	pages_free(t->slots, t->slots_cap * sizeof(*t->slots));
	*t = (struct stack_trie){0};
}

void stack_trie_clear(struct stack_trie *t)
{
	memset(t->slots, 0, t->slots_cap * sizeof(*t->slots));
	t->slots_used = 0;
	t->nr = 0;
	t->last = 0;
}

size_t stack_trie_bytes(const struct stack_trie *t)
{
	return t->nodes_cap * sizeof(*t->nodes) + t->slots_cap * sizeof(*t->slots);
}

static int nodes_grow(struct stack_trie *t, size_t need)
{
	size_t cap = t->nodes_cap;
	struct stack_node *nodes;

	while (cap < need)
		cap += cap / 2;
	if (cap > NODES_MAX)
		return -ENOMEM;
	nodes = pages_grow(t->nodes, t->nodes_cap * sizeof(*nodes), cap * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	t->nodes = nodes;
	t->nodes_cap = cap;
	return 0;
}

static void place(struct stack_slot *slots, size_t cap, struct stack_slot slot)
{
	size_t mask = cap - 1, i;

	for (i = slot.tag & mask; slots[i].id;)
		i = (i + 1) & mask;
	slots[i] = slot;
}

static int slots_grow(struct stack_trie *t, size_t need)
{
	size_t cap = t->slots_cap, i;
	struct stack_slot *slots;

	while (need * 3 > cap * 2)
		cap *= 2;
	if (cap > SLOTS_MAX)
		return -ENOMEM;
	slots = pages_new(cap * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < t->slots_cap; i++)
		if (t->slots[i].id)
			place(slots, cap, t->slots[i]);
	pages_free(t->slots, t->slots_cap * sizeof(*slots));
	t->slots = slots;
	t->slots_cap = cap;
	return 0;
}

int stack_trie_reserve(struct stack_trie *t, size_t more)
{
	if (t->nr + more + 1 > t->nodes_cap && nodes_grow(t, t->nr + more + 1))
		return -ENOMEM;
	if ((t->slots_used + more) * 3 > t->slots_cap * 2 && slots_grow(t, t->slots_used + more))
		return -ENOMEM;
	return 0;
}

static uint32_t append_node(struct stack_trie *t, uint32_t parent, uint32_t frame)
{
	t->nodes[++t->nr] = (struct stack_node){parent, frame};
	return t->nr;
}

uint32_t stack_trie_add(struct stack_trie *t, uint32_t parent, uint32_t frame, uint64_t hash)
{
	uint32_t id = append_node(t, parent, frame);

	if (id != parent + 1) {
		place(t->slots, t->slots_cap, (struct stack_slot){stack_trie_tag(hash), id});
		t->slots_used++;
	}
	return id;
}

void stack_trie_undo(struct stack_trie *t, uint64_t hash)
{
	size_t mask = t->slots_cap - 1, i;

	if (t->nodes[t->nr].parent + 1 != t->nr) {
		/* It was the last to be placed, so no other was placed by stepping over it. */
		for (i = stack_trie_tag(hash) & mask; t->slots[i].id != t->nr;)
			i = (i + 1) & mask;
		t->slots[i] = (struct stack_slot){0};
		t->slots_used--;
	}
	t->nr--;
	t->last = 0;
}

/* Never found: it has no slot, and right behind its parent it could not be a repetition. */
void stack_trie_add_repeated(struct stack_trie *t, uint32_t parent, uint32_t frame)
{
	append_node(t, parent, frame);
}

uint64_t stack_trie_hash_of(struct stack_trie *t, uint32_t id)
{
	uint64_t hash = 0, power = 1;
	uint32_t node;

	for (node = id; node && node != t->last; node = t->nodes[node].parent) {
		hash += stack_trie_mix(t, t->nodes[node].frame) * power;
		power *= t->multiplier;
	}
	hash += (node ? t->last_hash : STACK_TRIE_ROOT_HASH) * power;
	t->last = id;
	t->last_hash = hash;
	return hash;
}
