/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call tree: stacks merged by function, what a flame graph draws.
 *
 * Nodes are an array; node 0 is the root ("all"), parents come before their
 * children, siblings are linked in a stable order (see CALLTREE_BY_*). Recursive
 * calls stay separate nodes. What a node has besides its children is its self
 * (calltree_self()). Nodes whose total is 0 are left out.
 *
 *   all ---- main -+- a --- b      nodes: 0 all, 1 main, 2 a, 3 b, 4 c
 *                  '- c            links: first_child 1 -> 2, next 2 -> 4
 *
 * A tree can be 20,000 levels deep and millions of nodes wide: walk it with the
 * links, never by recursion.
 */
#ifndef PROFBPF_MODEL_CALLTREE_H
#define PROFBPF_MODEL_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

struct calltree_node {
	uint32_t parent;      /* 0 for the root, too */
	uint32_t first_child; /* 0 = none */
	uint32_t next;	      /* next sibling, 0 = none */
	uint32_t func;	      /* index for calltree_func() */
	uint64_t total;	      /* in the selection's unit */
	uint32_t samples;     /* samples below or at this node; a profile's are fewer than 2^32 */
} __attribute__((packed, aligned(4))); /* tens of millions: 28 bytes instead of 32 */

/* What a picture needs to know of a function; see struct func for meanings.
 * Function 0 is "all", the root's; the others are in byte order of their names. */
struct calltree_func {
	const char *name;   /* raw bytes, never empty; hostile: escape it */
	const char *module; /* "" when there is none */
	uint32_t name_len;
	uint8_t kind;	/* enum func_kind */
	uint8_t reason; /* enum frame_reason, for unknown functions and marks */
	uint8_t inlined;
	uint64_t self;	/* over the whole tree */
	uint64_t total; /* the same, recursion counted once; 0 before calltree_total_funcs() */
};

enum calltree_order {
	CALLTREE_BY_NAME, /* byte order of names, then modules */
	CALLTREE_BY_SIZE, /* largest total first, then by name */
};

struct calltree_options {
	int inverted; /* leaves at the root: callers of hot functions */
	enum calltree_order order;
	int by_thread;	/* first level: thread name */
	int by_process; /* first level: process name; with by_thread, threads below it */
	int names_only; /* 1: equal names are one function, whatever their modules;
			   2: unless only one of them is kernel, JIT, or inlined code */
	int generic;	/* never take the short way (tests compare both) */
};

struct calltree;
struct selection;

/**
 * Build the tree of @s (@o NULL = all zero). Strings stay the profile's, which
 * must outlive the tree. 0, -ENOMEM, or -E2BIG when an inverted tree would need
 * more nodes than stated in its sentence. An empty selection gives a tree of
 * the root alone.
 */
int calltree_build(struct calltree **t, const struct selection *s, const struct calltree_options *o,
	struct err *e);
/** From text, root first, "root;a;b 3\n..." (see profile_from_folded; tests). */
int calltree_from_folded(
	struct calltree **t, const char *folded, const struct calltree_options *o, struct err *e);
void calltree_free(struct calltree *t);

/** Fill in total of all functions: a walk over all nodes, for those who want them. 0 or -ENOMEM. */
int calltree_total_funcs(struct calltree *t, struct err *e);

/* Pointers live as long as the tree. */
const struct calltree_node *calltree_nodes(const struct calltree *t, size_t *nr); /* nr >= 1 */
const struct calltree_func *calltree_func(const struct calltree *t, uint32_t func);
uint32_t calltree_nr_funcs(const struct calltree *t); /* counts "all" */
uint32_t calltree_depth(const struct calltree *t);    /* levels below the root */

/** total of node @at without its children's: a walk over them. */
static inline uint64_t calltree_self(const struct calltree_node *nodes, uint32_t at)
{
	uint64_t self = nodes[at].total;
	uint32_t c;

	for (c = nodes[at].first_child; c; c = nodes[c].next)
		self = self > nodes[c].total ? self - nodes[c].total : 0; /* sums may saturate */
	return self;
}

/* Facts a picture states. */
struct calltree_facts {
	const char *unit; /* "ns" or "count" */
	const char *what; /* "CPU time", "count" */
	uint64_t total;	  /* of the selection */
	uint64_t capture_total;
	uint64_t samples;
	uint64_t lost;	      /* in the window */
	uint64_t duration_ns; /* of the window; 0 = not known */
	double freq;	      /* Hz; 0 = not known */
	const char *command;  /* what was recorded, raw bytes, "" = not known */
	int filtered;
};
const struct calltree_facts *calltree_facts(const struct calltree *t);
/** Walk the invariants; 0 or -EBADMSG. */
int calltree_check(const struct calltree *t, struct err *e);

#endif
