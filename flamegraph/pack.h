/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What merged rectangles hold, packed for the picture's script: it searches
 * there too, so that the matched share is right, and draws it when a merged
 * frame is zoomed.
 *
 * The bytes, before compression (zlib) and base64. v = LEB128 varint:
 *
 *   v quantum           widths below are in this many of the tree's units
 *   v bytes, text       distinct names joined by '\n', each after the two
 *                       characters of its class ("o3main")
 *   a group for each merged rectangle, in the rectangles' order:
 *     v nodes, v missing
 *     for each node, parents first:
 *       v up            levels up from the node before (its first child: 0, its sibling: 1, ..);
 *                       the first node of a group is a child of the drawn parent: 0
 *       v name, v width, v missing
 *
 * Widths are differences of rounded positions, so neighbours add up. Nodes too
 * narrow for the size limit are left out with all below them: `missing` is the
 * width of the children left out, so a search can say how much it did not see.
 */
#ifndef PROFBPF_FLAMEGRAPH_PACK_H
#define PROFBPF_FLAMEGRAPH_PACK_H

#include <stdint.h>

#include "flamegraph/layout.h"
#include "user/base/buf.h"
#include "user/base/err.h"

struct pack_stats {
	uint32_t listed;   /* nodes in the list */
	uint64_t unlisted; /* value of those left out, in the tree's unit, counted once */
	uint32_t cut;	   /* names longer than the list keeps */
};

/**
 * Append the packed list of @l's merged rectangles, at most @max_bytes of
 * base64; the widest nodes are kept. Nothing is appended when nothing is
 * merged. 0, or -ENOMEM.
 */
int pack_build(struct buf *b, const struct calltree *t, const struct layout *l, size_t max_bytes,
	struct pack_stats *st, struct err *e);

#endif
