/* SPDX-License-Identifier: BSD-2-Clause */
#include "name_table.h"

#include <errno.h>
#include <stdlib.h>

#include "user/base/hashmap.h"

#define SLOTS_FIRST ((size_t)1 << 12)
#define TEXT_FIRST  ((size_t)1 << 16)
#define TEXT_MAX    ((size_t)UINT32_MAX * NAME_UNIT)

const char name_mask[2 * NAME_PAD] = {[0 ... NAME_PAD - 1] = (char)0xff};

int name_table_init(struct name_table *n)
{
	*n = (struct name_table){.cap = SLOTS_FIRST};
	n->seed[0] = hash_bytes("names, start", 12);
	n->seed[1] = hash_bytes("names, second", 13);
	n->seed[2] = hash_bytes("names, factor", 13) | 1;
	n->slots = calloc(n->cap, sizeof(*n->slots));
	return n->slots ? 0 : -ENOMEM;
}

void name_table_release(struct name_table *n)
{
	free(n->slots);
	free(n->text);
	*n = (struct name_table){0};
}

/* A slot keeps 32 bits of the hash, so the names are hashed again: rare, and in order. */
static int slots_grow(struct name_table *n)
{
	size_t cap = n->cap * 2, mask = cap - 1, i;
	struct name_slot *slots = calloc(cap, sizeof(*slots)), *s;
	struct name_key k;

	if (!slots)
		return -ENOMEM;
	for (s = n->slots; s < n->slots + n->cap; s++) {
		if (!s->frame)
			continue;
		name_table_scan(n, n->text + (size_t)s->at * NAME_UNIT, s->len, &k);
		for (i = k.hash & mask; slots[i].frame;)
			i = (i + 1) & mask;
		slots[i] = *s;
	}
	free(n->slots);
	n->slots = slots;
	n->cap = cap;
	return 0;
}

static int text_grow(struct name_table *n, size_t need)
{
	size_t cap = n->text_cap ? n->text_cap : TEXT_FIRST;
	char *text;

	while (cap < need)
		cap += cap / 2;
	if (need > TEXT_MAX)
		return -ENOMEM;
	text = realloc(n->text, cap);
	if (!text)
		return -ENOMEM;
	n->text = text;
	n->text_cap = cap;
	return 0;
}

int name_table_add(struct name_table *n, const struct name_key *k, uint32_t frame)
{
	size_t at = n->text_len, mask, i;
	size_t size = (k->len + NAME_UNIT - 1) / NAME_UNIT * NAME_UNIT;

	if ((n->nr + 1) * 2 > n->cap && slots_grow(n))
		return -ENOMEM;
	/* name_equal() and name_table_scan() read a chunk from where the last one begins. */
	if (at + size + NAME_PAD > n->text_cap && text_grow(n, at + size + NAME_PAD))
		return -ENOMEM;
	memcpy(n->text + at, k->s, k->len);
	memset(n->text + at + k->len, 0, size + NAME_PAD - k->len);
	n->text_len += size;
	mask = n->cap - 1;
	for (i = k->hash & mask; n->slots[i].frame;)
		i = (i + 1) & mask;
	n->slots[i] = (struct name_slot){
		(uint32_t)(k->hash >> 32), (uint32_t)k->len, frame, (uint32_t)(at / NAME_UNIT)};
	n->nr++;
	return 0;
}
