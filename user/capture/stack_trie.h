/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack trie of a builder: (parent stack, frame) -> stack id, ids dense
 * from 1.
 *
 *   nodes   by id: parent | frame      in the order they were added
 *   slots   hash | id                  open addressing, only for some nodes
 *
 * A new stack is added root to leaf, so most nodes come right after their
 * parent. Such a first child is found by looking at the next node; only the
 * others (one for each new stack, about) have a slot. That makes the table
 * several times smaller, and walks along memory instead of across it.
 *
 * A node's hash is the hash of its whole path: parent's hash * M + mix(frame).
 * So all hashes of a stack can be computed, and their slots fetched, before the
 * first look-up has an answer: with millions of nodes a look-up is a cache
 * miss, and a stack of 13 frames would otherwise wait for one after the other.
 * Being a polynomial, it can also be had from the leaf upwards, so nodes need
 * not keep theirs. Equality is decided by (parent, frame), never by the hash.
 *
 * Private to user/capture. The steps of one look-up are inline.
 */
#ifndef PROFBPF_CAPTURE_STACK_TRIE_H
#define PROFBPF_CAPTURE_STACK_TRIE_H

#include <stddef.h>
#include <stdint.h>

struct stack_node {
	uint32_t parent;
	uint32_t frame;
};

struct stack_slot {
	uint32_t tag; /* upper half of the node's hash: places it, and spares most comparisons */
	uint32_t id;  /* 0 = free */
};

struct stack_trie {
	struct stack_node *nodes; /* by id; [0] is the root; owned */
	size_t nodes_cap;
	uint32_t nr;		  /* nodes besides the root */
	struct stack_slot *slots; /* owned */
	size_t slots_cap;	  /* power of two */
	size_t slots_used;
	uint64_t seed, multiplier; /* of the process: input cannot choose collisions */
	uint32_t last;		   /* what stack_trie_hash_of() was asked last time */
	uint64_t last_hash;
};

int stack_trie_init(struct stack_trie *t); /* 0 or -ENOMEM */
void stack_trie_release(struct stack_trie *t);
void stack_trie_clear(struct stack_trie *t); /* forget all nodes, keep the memory */
size_t stack_trie_bytes(const struct stack_trie *t);
/** Room for @more nodes, so that stack_trie_add() cannot fail. 0 or -ENOMEM. */
int stack_trie_reserve(struct stack_trie *t, size_t more);

#define STACK_TRIE_ROOT_HASH ((uint64_t)0)

static inline uint64_t stack_trie_mix(const struct stack_trie *t, uint32_t frame)
{
	unsigned __int128 m = (unsigned __int128)(frame ^ t->seed) * t->multiplier;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/** Hash of the path that goes on from @parent_hash with @frame. */
static inline uint64_t stack_trie_hash(
	const struct stack_trie *t, uint64_t parent_hash, uint32_t frame)
{
	return parent_hash * t->multiplier + stack_trie_mix(t, frame);
}

/** Hash of node @id, the root's for 0. Walks up to the root, or to the node asked for last. */
uint64_t stack_trie_hash_of(struct stack_trie *t, uint32_t id);

static inline uint32_t stack_trie_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/** First touch: have the slot fetched. */
static inline void stack_trie_fetch_slot(const struct stack_trie *t, uint64_t hash)
{
	__builtin_prefetch(&t->slots[stack_trie_tag(hash) & (t->slots_cap - 1)]);
}

/** Second touch, when the slot has arrived: have the node it names fetched. */
static inline void stack_trie_fetch_node(const struct stack_trie *t, uint64_t hash)
{
	size_t mask = t->slots_cap - 1, i;
	uint32_t tag = stack_trie_tag(hash);

	for (i = tag & mask; t->slots[i].id; i = (i + 1) & mask) {
		if (t->slots[i].tag == tag) {
			__builtin_prefetch(&t->nodes[t->slots[i].id]);
			return;
		}
	}
}

static inline int stack_trie_is(
	const struct stack_trie *t, uint32_t id, uint32_t parent, uint32_t frame)
{
	return t->nodes[id].parent == parent && t->nodes[id].frame == frame;
}

/** The node below @parent for @frame, or 0. @hash is stack_trie_hash() of the parent's and the
 * frame. */
static inline uint32_t stack_trie_find(
	const struct stack_trie *t, uint32_t parent, uint32_t frame, uint64_t hash)
{
	size_t mask = t->slots_cap - 1, i;
	uint32_t tag = stack_trie_tag(hash);
	const struct stack_slot *s;

	if (parent < t->nr && stack_trie_is(t, parent + 1, parent, frame))
		return parent + 1;
	for (i = tag & mask;; i = (i + 1) & mask) {
		s = &t->slots[i];
		if (!s->id || (s->tag == tag && stack_trie_is(t, s->id, parent, frame)))
			return s->id;
	}
}

/** Add the node that stack_trie_find() did not find. Room must have been reserved. Returns its id.
 */
uint32_t stack_trie_add(struct stack_trie *t, uint32_t parent, uint32_t frame, uint64_t hash);
/** Take back the node added last, whose hash is @hash. */
void stack_trie_undo(struct stack_trie *t, uint64_t hash);
/** A node that repeats an earlier one (in streams of others): takes the next id, never found. */
void stack_trie_add_repeated(struct stack_trie *t, uint32_t parent, uint32_t frame);

#endif
