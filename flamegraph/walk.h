/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking a call tree in document order without recursion: trees may be
 * 20,000 levels deep. Kept inline with constant callbacks, so that the compiler
 * makes one loop of each use.
 */
#ifndef PROFBPF_FLAMEGRAPH_WALK_H
#define PROFBPF_FLAMEGRAPH_WALK_H

#include <stdint.h>

#include "user/model/calltree.h"

struct walk_ops {
	/* Met @node, @depth levels below where the walk began: 1 = go into its children. */
	int (*enter)(void *ctx, uint32_t node, uint32_t depth);
	/* Done with the children of a node that was entered. */
	void (*leave)(void *ctx, uint32_t node, uint32_t depth);
};

/** Visit @root and what is below it. Each node is met at most once. */
static inline __attribute__((always_inline)) void tree_walk(
	const struct calltree_node *nodes, uint32_t root, const struct walk_ops ops, void *ctx)
{
	uint32_t n = root, c, depth = 0;

	if (!ops.enter(ctx, root, 0))
		return;
	c = nodes[root].first_child;
	for (;;) {
		while (c && !ops.enter(ctx, c, depth + 1))
			c = nodes[c].next;
		if (c) {
			n = c;
			depth++;
			c = nodes[n].first_child;
			continue;
		}
		ops.leave(ctx, n, depth);
		if (n == root)
			return;
		c = nodes[n].next;
		n = nodes[n].parent;
		depth--;
	}
}

#endif
