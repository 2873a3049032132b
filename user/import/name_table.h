/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frame names as they stand in the input, to frame ids. The hot path of an
 * import: 13 million look-ups a million lines. Keyed by the raw text, before
 * escapes are undone, so that a known name needs no second look at its bytes.
 *
 * Names differ in length from one to the next, so a loop over bytes or words is
 * a mispredicted branch for each of them; those, and not the bytes, are what a
 * look-up costs. Hence everything goes in chunks of 32 bytes without a branch,
 * and most names are one chunk. NAME_PAD bytes behind what is looked at must be
 * readable (their values do not matter).
 */
#ifndef PROFBPF_IMPORT_NAME_TABLE_H
#define PROFBPF_IMPORT_NAME_TABLE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NAME_PAD  32 /* a chunk */
#define NAME_UNIT 8  /* where the text of a name may begin */

/* 32 times 0xff, 32 times 0. */
extern const char name_mask[2 * NAME_PAD];

struct name_slot {
	uint32_t tag; /* half of the hash */
	uint32_t len;
	uint32_t frame; /* 0 = free slot */
	uint32_t at;	/* text, in units of NAME_UNIT */
};

struct name_table {
	struct name_slot *slots; /* owned */
	size_t cap, nr;		 /* cap: power of two */
	char *text;		 /* names one after the other, and NAME_PAD bytes; owned */
	size_t text_len, text_cap;
	uint64_t seed[3]; /* of the process: input cannot choose collisions */
};

int name_table_init(struct name_table *n); /* 0 or -ENOMEM */
void name_table_release(struct name_table *n);

static inline uint64_t name_word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return le64toh(w);
}

/* One bit a byte, 0 to 7, for those that are ';'. Only the lowest one set is sure to be right. */
static inline uint32_t name_semicolons(uint64_t w)
{
	uint64_t x = w ^ 0x3b3b3b3b3b3b3b3bu;

	x = (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
	return (uint32_t)(((x >> 7) * 0x0102040810204080u) >> 56);
}

static inline uint64_t name_mix(uint64_t x, uint64_t y)
{
	unsigned __int128 m = (unsigned __int128)x * y;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* A name in the input, and what a look-up needs of it. */
struct name_key {
	const char *s;
	size_t len;
	uint64_t hash;
	uint64_t last[4]; /* its last chunk, 0 to 31 bytes, the rest zero */
};

static inline void name_load(uint64_t w[4], const char *s)
{
	w[0] = name_word(s);
	w[1] = name_word(s + 8);
	w[2] = name_word(s + 16);
	w[3] = name_word(s + 24);
}

static inline uint64_t name_mix4(const struct name_table *n, const uint64_t w[4], uint64_t h)
{
	return name_mix(w[0] ^ n->seed[0], w[1] ^ h) ^ name_mix(w[2] ^ n->seed[1], w[3] ^ h);
}

/** Scan the name at @s, which ends before the next ';' or at @left bytes. */
static inline void name_table_scan(
	const struct name_table *n, const char *s, size_t left, struct name_key *k)
{
	uint64_t h = n->seed[2], mask[4];
	size_t len = 0, here;
	uint32_t found;

	for (;;) {
		name_load(k->last, s + len);
		found = name_semicolons(k->last[0]) | name_semicolons(k->last[1]) << 8 |
			name_semicolons(k->last[2]) << 16 | name_semicolons(k->last[3]) << 24;
		here = found ? (size_t)__builtin_ctz(found) : NAME_PAD;
		if (here > left - len)
			here = left - len;
		if (here < NAME_PAD)
			break;
		h = name_mix4(n, k->last, h);
		len += NAME_PAD;
	}
	name_load(mask, name_mask + NAME_PAD - here);
	k->last[0] &= mask[0];
	k->last[1] &= mask[1];
	k->last[2] &= mask[2];
	k->last[3] &= mask[3];
	k->s = s;
	k->len = len + here;
	k->hash = name_mix(name_mix4(n, k->last, h) ^ k->len, n->seed[2]);
}

/* Is the text of a slot, behind which the next one begins, this name? */
static inline int name_equal(const char *text, const struct name_key *k)
{
	size_t whole = k->len & ~(size_t)(NAME_PAD - 1);
	uint64_t w[4], mask[4];

	if (whole && memcmp(text, k->s, whole))
		return 0;
	name_load(w, text + whole);
	name_load(mask, name_mask + NAME_PAD - (k->len - whole));
	return !(((w[0] & mask[0]) ^ k->last[0]) | ((w[1] & mask[1]) ^ k->last[1]) |
		 ((w[2] & mask[2]) ^ k->last[2]) | ((w[3] & mask[3]) ^ k->last[3]));
}

/** Frame id of the name, or 0. */
static inline uint32_t name_table_find(const struct name_table *n, const struct name_key *k)
{
	size_t mask = n->cap - 1, i;
	const struct name_slot *slot;

	for (i = k->hash & mask;; i = (i + 1) & mask) {
		slot = &n->slots[i];
		if (!slot->frame)
			return 0;
		if (slot->tag == (uint32_t)(k->hash >> 32) && slot->len == k->len &&
			name_equal(n->text + (size_t)slot->at * NAME_UNIT, k))
			return slot->frame;
	}
}

/** Add a name that is not there; its bytes are copied. 0 or -ENOMEM. */
int name_table_add(struct name_table *n, const struct name_key *k, uint32_t frame);

#endif
