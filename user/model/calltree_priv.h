/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a call tree, shared by the files that make it.
 *
 *   calltree_build.c   samples and trie -> nodes with raw functions and own sums:
 *   calltree_levels.c  the short way, and the long one
 *   calltree_finish.c  sums upwards, functions in name order, links in order
 *   calltree.c         answers, facts, invariants
 */
#ifndef PROFBPF_MODEL_CALLTREE_PRIV_H
#define PROFBPF_MODEL_CALLTREE_PRIV_H

#include "calltree.h"
#include "filter.h"
#include "user/base/arena.h"
#include "vec.h"

/*
 * While building, a node's func is "raw": a function of the profile (the first
 * of those that count as one), or a task: profile_nr_funcs() + its index.
 */
struct calltree_task {
	const char *name; /* the profile's */
	uint32_t len;
};

struct calltree {
	VEC(struct calltree_node) nodes;
	struct calltree_func *funcs;
	uint32_t nr_funcs;
	uint32_t depth;
	struct calltree_options options;
	struct calltree_facts facts;
	const struct profile *p; /* borrowed */
	struct profile *owned;	 /* the profile, if the tree made it (calltree_from_folded) */
	VEC(struct calltree_task) tasks;
};

/** Nodes with parent, raw func, total and samples, those of their own (not of those below). */
int calltree_make_nodes(struct calltree *t, const struct selection *s, struct err *e);
/**
 * The rest: totals, functions, links. 0, -ENOMEM, or -EEXIST when two siblings
 * are the same function (only possible on the short way of making nodes).
 */
int calltree_finish(struct calltree *t, struct err *e);
/** Function -> the first of its name (names_only, see struct calltree_options). *raw is freed by
 *  the caller. 0 or -ENOMEM. */
int calltree_merge_names(uint32_t **raw, const struct profile *p, int names_only);
/** Order of two raw functions of one name: by module; 0 leaves it to the ids (tasks). */
int calltree_func_tie(const struct profile *p, uint32_t a, uint32_t b);
/** The long way, for any profile. */
int calltree_make_nodes_generic(struct calltree *t, const struct selection *s, struct err *e);

#endif
