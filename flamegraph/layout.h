/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which nodes of a call tree become rectangles, and where they lie.
 *
 * The x axis is the tree's own unit: a rectangle begins at `start` and is
 * `total` wide, the root spans [0, total of all). Children lie at the left of
 * their parent, in the tree's order; what is left free at the right is the
 * parent's self value. A budget of rectangles is spent on the widest nodes, of
 * equally wide ones on those nearer the root. The children of a drawn node that
 * got none are merged into one rectangle at the end of their row, so the widths
 * always add up: nothing is dropped.
 *
 *   node  |      main 100       |        main draws a 60, b 25 and one merged
 *         |   a 60  |  b 25 |###|        rectangle for c 6, d 5, e 2; main's
 *                                        self value is the remaining 2
 *
 * Time is linear in the nodes at least as wide as the narrowest one drawn and
 * their children; narrow subtrees are never entered.
 */
#ifndef PROFBPF_FLAMEGRAPH_LAYOUT_H
#define PROFBPF_FLAMEGRAPH_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/model/calltree.h"

struct layout_options {
	uint32_t max_frames; /* rectangles at most, merged ones included; 0 = no limit, else >= 2 */
	uint64_t min_total;  /* narrower nodes are merged, in the tree's unit; 0 = none for that
				reason */
	uint32_t max_rows;   /* rows at most, >= 2; deeper levels are merged into a cut rectangle */
	uint32_t max_listed; /* merged nodes that layout_listed() lets through, about; widest first
			      */
	int trim_towers;     /* also cut where the rest of the picture is a few hair-thin towers */
};

/* A rectangle. In an array in document order: parents before children, siblings left to right. */
struct layout_rect {
	uint64_t start, total; /* the tree's unit */
	uint64_t self;	       /* of a node; 0 when merged */
	uint64_t samples;      /* below or at */
	uint64_t largest;      /* widest node merged; 0 for a node */
	uint32_t node;	       /* the node; of a merged rectangle, the parent of the nodes merged */
	uint32_t parent;       /* index of a rectangle; the root's is 0 */
	uint32_t depth;	       /* row, 0 = root */
	uint32_t merged;       /* 0 = a node, else how many siblings are merged here */
	uint32_t cut_levels; /* merged because of max_rows: levels of the tree below this row's top
			      */
};

struct layout {
	struct layout_rect *rects; /* owned */
	size_t nr;
	uint32_t rows;	       /* rows used */
	uint32_t nodes;	       /* rectangles that are nodes */
	uint64_t total;	       /* the root's */
	uint64_t narrowest;    /* total of the narrowest node drawn */
	uint64_t listed_total; /* merged nodes narrower than this are not listed */
	uint64_t listed_ties;  /* how many a little narrower are, see layout_listed() */
	/* private to layout.c: the rule that layout_drawn() and layout_listed() apply */
	uint32_t drawn_bucket, drawn_depth, listed_bucket, cut_depth;
	uint64_t min_total;
};
#define LAYOUT_INIT                                                                                \
	{                                                                                          \
		0                                                                                  \
	}

/**
 * Lay out the @nr nodes of a tree that is at most @depth levels deep below its
 * root (calltree_depth()). 0, -ENODATA when the total is 0, or -ENOMEM with
 * nothing held.
 */
int layout_build(struct layout *l, const struct calltree_node *nodes, size_t nr, uint32_t depth,
	const struct layout_options *o, struct err *e);
void layout_release(struct layout *l);

/** Does this node, @depth levels below the root, have a rectangle of its own? */
int layout_drawn(const struct layout *l, const struct calltree_node *n, uint32_t depth);
/**
 * Is this merged node among the max_listed widest? The last places go to nodes
 * about equally wide, in the order asked: *ties starts as l->listed_ties and is
 * counted down. In document order, a node's ancestors are listed when it is.
 */
int layout_listed(const struct layout *l, const struct calltree_node *n, uint64_t *ties);

#endif
