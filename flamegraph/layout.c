/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN. A node is never wider than its parent, so "the N widest nodes" is a
 * connected top part of the tree, and a threshold describes it. The threshold
 * is found with a histogram of widths in buckets of 1/16 octave, in one walk
 * that prunes as it goes: once more nodes than any budget needs lie above the
 * lowest bucket, that bucket is no longer entered. (Of a big tree, a plain pass
 * over the array says before where that will be.) A heap would give exact order
 * for a log factor and more memory; the remainder a bucket leaves is spent by
 * depth in a second walk, because a bucket may hold a whole recursion of equally
 * wide frames.
 *
 * Merged rectangles count against the budget. A drawn node has one exactly when
 * its narrowest child is below the threshold, so each node adds 1 to a range of
 * thresholds: (bucket of its narrowest child, its own bucket]. A difference
 * array sums those ranges for all thresholds at once.
 */
#include "flamegraph/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/walk.h"

#define SUB_BITS   4u /* 16 buckets an octave */
#define NR_BUCKETS ((64 - SUB_BITS + 1) << SUB_BITS)
#define NO_CHILD   UINT32_MAX

/* With a minimum given, merged nodes down to 1/64 of it are listed. */
#define LISTED_BELOW_MIN 6

/* Towers: past this row, rows that hold less than 1/500 of the total are cut. */
#define TOWER_ROWS  32u
#define TOWER_SHARE 500u

static uint32_t bucket_of(uint64_t v)
{
	uint32_t e;

	if (v < 1u << SUB_BITS)
		return (uint32_t)v;
	e = 63u - (uint32_t)__builtin_clzll(v);
	return ((e - SUB_BITS + 1) << SUB_BITS) +
	       ((uint32_t)(v >> (e - SUB_BITS)) & ((1u << SUB_BITS) - 1));
}

/* The least value of a bucket. */
static uint64_t bucket_start(uint32_t b)
{
	if (b < 1u << SUB_BITS)
		return b;
	return (1ull << SUB_BITS | (b & ((1u << SUB_BITS) - 1))) << ((b >> SUB_BITS) - 1);
}

/* First walk: the histogram. */
struct survey {
	const struct calltree_node *nodes;
	uint64_t min_total;
	uint32_t cut_depth;
	uint32_t floor;		  /* lowest bucket still entered */
	uint64_t above, drawable; /* nodes at or above it, and those of them above cut_depth */
	uint64_t cap, max_frames; /* how many of each are enough */
	uint32_t *low; /* by depth: bucket of the narrowest child met so far, or NO_CHILD */
	uint64_t count[NR_BUCKETS];	/* nodes that may be drawn */
	uint64_t count_all[NR_BUCKETS]; /* those past cut_depth too */
	int64_t merged[NR_BUCKETS + 1]; /* difference array, see above */
};

static int survey_enter(void *ctx, uint32_t node, uint32_t depth)
{
	struct survey *s = ctx;
	uint64_t total = s->nodes[node].total;
	uint32_t b = bucket_of(total);

	if (!total)
		return 0;
	if (total < s->min_total)
		b = 0; /* merged under every threshold */
	if (depth && (s->low[depth - 1] == NO_CHILD || b < s->low[depth - 1]))
		s->low[depth - 1] = b;
	if (b < s->floor || !b)
		return 0;
	if (depth < s->cut_depth)
		s->count[b]++;
	s->count_all[b]++;
	s->above++;
	s->drawable += depth < s->cut_depth;
	while (s->above > s->cap && s->drawable >= s->max_frames + s->count[s->floor]) {
		s->drawable -= s->count[s->floor];
		s->above -= s->count_all[s->floor++];
	}
	s->low[depth] = NO_CHILD;
	return 1;
}

static void survey_leave(void *ctx, uint32_t node, uint32_t depth)
{
	struct survey *s = ctx;
	uint32_t low = s->low[depth];

	if (low == NO_CHILD || depth >= s->cut_depth)
		return;
	/* At the last row children are merged under any threshold. */
	s->merged[depth + 1 == s->cut_depth ? 0 : low + 1]++;
	s->merged[bucket_of(s->nodes[node].total) + 1]--;
}

/* Second walk: the bucket below the threshold, by depth. */
struct refine {
	const struct calltree_node *nodes;
	uint64_t min_total;
	uint32_t cut_depth, bucket;
	uint32_t *low;
	uint64_t *at;	 /* by depth: nodes of that bucket */
	int64_t *merged; /* by limit + 1: merged rectangles if depth `limit` is the last */
	uint64_t above;	 /* nodes in higher buckets */
};

static int refine_enter(void *ctx, uint32_t node, uint32_t depth)
{
	struct refine *r = ctx;
	uint64_t total = r->nodes[node].total;
	uint32_t b = bucket_of(total);

	if (!total)
		return 0;
	if (total < r->min_total)
		b = 0;
	if (depth && (r->low[depth - 1] == NO_CHILD || b < r->low[depth - 1]))
		r->low[depth - 1] = b;
	if (b < r->bucket || depth >= r->cut_depth)
		return 0;
	if (b == r->bucket)
		r->at[depth]++;
	else
		r->above++;
	r->low[depth] = NO_CHILD;
	return 1;
}

static void refine_leave(void *ctx, uint32_t node, uint32_t depth)
{
	struct refine *r = ctx;
	uint32_t low = r->low[depth];
	int always = low < r->bucket || depth + 1 == r->cut_depth;

	if (low == NO_CHILD)
		return;
	if (bucket_of(r->nodes[node].total) > r->bucket) {
		r->merged[0]++;
		if (!always && low == r->bucket)
			r->merged[depth + 2]--; /* limits up to depth */
		else if (!always)
			r->merged[0]--; /* no child is near the threshold */
	} else {
		r->merged[depth + 1]++;
		if (!always)
			r->merged[depth + 2]--; /* the limit `depth` only */
	}
}

/*
 * Beginning at the lowest bucket, the first subtrees would be entered to their
 * last leaf before it rises. In a big tree the lowest one needed is found first,
 * reading the nodes in the order they lie in memory: much cheaper a node than
 * following links.
 */
#define BIG_TREE 100000u
static uint32_t find_floor(const struct calltree_node *nodes, size_t nr, uint64_t cap)
{
	uint64_t *count, above = 0;
	uint32_t b = NR_BUCKETS;

	if (nr <= cap || nr < BIG_TREE)
		return 1;
	count = calloc(NR_BUCKETS, sizeof(*count));
	if (!count)
		return 1;
	for (size_t i = 0; i < nr; i++)
		count[bucket_of(nodes[i].total)]++;
	while (b > 1 && above + count[b - 1] <= cap)
		above += count[--b];
	free(count);
	return b;
}

/* The floor found does not know of cut_depth: lower it until there is enough to draw. */
static void survey(struct survey *s)
{
	for (;;) {
		memset(s->count, 0, sizeof(s->count));
		memset(s->count_all, 0, sizeof(s->count_all));
		memset(s->merged, 0, sizeof(s->merged));
		s->above = s->drawable = 0;
		tree_walk(s->nodes, 0, (struct walk_ops){survey_enter, survey_leave}, s);
		if (s->floor == 1 || s->drawable >= s->max_frames)
			return;
		s->floor = s->floor > 4u << SUB_BITS ? s->floor - (4u << SUB_BITS) : 1;
	}
}

/* The lowest bucket from which all nodes may be listed, and how many of the next one. */
static void choose_listed(struct layout *l, const struct survey *s)
{
	uint64_t above = s->above;
	uint32_t b = s->floor;

	while (above > s->cap)
		above -= s->count_all[b++];
	l->listed_bucket = b;
	l->listed_ties = b > 1 ? s->cap - above : 0;
	if (l->min_total >> LISTED_BELOW_MIN) { /* narrower nodes were not counted */
		b = bucket_of(l->min_total >> LISTED_BELOW_MIN);
		if (b >= l->listed_bucket) {
			l->listed_bucket = b;
			l->listed_ties = 0;
		}
	}
	l->listed_total = bucket_start(l->listed_bucket);
}

/* The lowest threshold whose rectangles fit into @max; at NR_BUCKETS nothing is drawn. */
static void choose_bucket(struct layout *l, const struct survey *s, uint64_t max)
{
	uint32_t b = s->floor;
	uint64_t nr = 0;
	int64_t merged = 0;

	for (uint32_t i = b; i < NR_BUCKETS; i++)
		nr += s->count[i];
	for (uint32_t i = 0; i < b; i++)
		merged += s->merged[i];
	for (; b < NR_BUCKETS; b++) {
		merged += s->merged[b];
		if (nr + (uint64_t)merged <= max)
			break;
		nr -= s->count[b];
	}
	/* The rule wants the bucket below: of that one, the nodes above drawn_depth are drawn. */
	l->drawn_bucket = b - 1;
	l->drawn_depth = 0;
}

/* What is left of @max goes to the next bucket, from the root upwards. */
static void choose_depth(struct layout *l, struct refine *r, uint32_t depth, uint64_t max)
{
	uint64_t nr;
	int64_t merged;

	r->bucket = l->drawn_bucket;
	tree_walk(r->nodes, 0, (struct walk_ops){refine_enter, refine_leave}, r);
	nr = r->above;
	merged = r->merged[0];
	for (uint32_t d = 0; d <= depth; d++) {
		nr += r->at[d];
		merged += r->merged[d + 1];
		if (nr + (uint64_t)merged <= max)
			l->drawn_depth = d + 1;
	}
}

static int choose(struct layout *l, const struct calltree_node *nodes, size_t nr, uint32_t depth,
	const struct layout_options *o)
{
	struct survey *s = calloc(1, sizeof(*s));
	size_t levels = (size_t)depth + 3;
	struct refine r = {.nodes = nodes, .min_total = l->min_total, .cut_depth = l->cut_depth};
	uint64_t max = o->max_frames ? o->max_frames : UINT64_MAX;
	int err = -ENOMEM;

	r.low = calloc(levels, sizeof(*r.low));
	r.at = calloc(levels, sizeof(*r.at));
	r.merged = calloc(levels, sizeof(*r.merged));
	if (!s || !r.low || !r.at || !r.merged)
		goto out;
	s->low = r.low;
	s->nodes = nodes;
	s->min_total = l->min_total;
	s->cut_depth = l->cut_depth;
	s->max_frames = max;
	s->cap = o->max_frames ? max + o->max_listed : UINT64_MAX;
	s->floor = find_floor(nodes, nr, s->cap);
	survey(s);
	choose_listed(l, s);
	choose_bucket(l, s, max);
	if (l->drawn_bucket) /* else all fit */
		choose_depth(l, &r, depth, max);
	err = 0;
out:
	free(s);
	free(r.low);
	free(r.at);
	free(r.merged);
	return err;
}

int layout_drawn(const struct layout *l, const struct calltree_node *n, uint32_t depth)
{
	uint32_t b;

	if (!n->total || n->total < l->min_total || depth >= l->cut_depth)
		return 0;
	b = bucket_of(n->total);
	return b > l->drawn_bucket || (b == l->drawn_bucket && depth < l->drawn_depth);
}

int layout_listed(const struct layout *l, const struct calltree_node *n, uint64_t *ties)
{
	uint32_t b = bucket_of(n->total);

	if (b + 1 == l->listed_bucket && b && *ties) {
		(*ties)--;
		return 1;
	}
	return b && b >= l->listed_bucket;
}

/* Third walk: the rectangles. */
struct row {		/* what is known at one depth, for the parent being worked on */
	uint64_t pos;	/* where the next sibling starts */
	uint32_t rect;	/* rectangle of the node entered here */
	uint32_t count; /* siblings to merge */
	uint64_t total, samples, largest;
};

struct emit {
	struct layout *l;
	const struct calltree_node *nodes;
	struct row *rows;
	size_t cap;
	int err;
};

/* Below a cut: levels, the cut row itself included. */
struct below {
	const struct calltree_node *nodes;
	uint32_t levels;
};

static int below_enter(void *ctx, uint32_t node, uint32_t depth)
{
	struct below *b = ctx;

	if (!b->nodes[node].total)
		return 0;
	if (depth > b->levels)
		b->levels = depth;
	return 1;
}

static void below_leave(void *ctx, uint32_t node, uint32_t depth)
{
	(void)ctx, (void)node, (void)depth;
}

static struct layout_rect *push(struct emit *m, uint32_t depth)
{
	struct layout *l = m->l;

	if (l->nr == m->cap) {
		size_t cap = m->cap ? m->cap * 2 : 1024;
		void *p = l->nr > UINT32_MAX / 2 ? NULL
						 : reallocarray(l->rects, cap, sizeof(*l->rects));

		if (!p) {
			m->err = -ENOMEM;
			return NULL;
		}
		l->rects = p;
		m->cap = cap;
	}
	if (depth + 1 > l->rows)
		l->rows = depth + 1;
	l->rects[l->nr] =
		(struct layout_rect){.depth = depth, .parent = depth ? m->rows[depth - 1].rect : 0};
	return &l->rects[l->nr++];
}

static int emit_enter(void *ctx, uint32_t node, uint32_t depth)
{
	struct emit *m = ctx;
	const struct calltree_node *n = &m->nodes[node];
	struct row *row = &m->rows[depth];
	struct layout_rect *r;

	if (!n->total || m->err)
		return 0;
	if (!layout_drawn(m->l, n, depth)) {
		row->count++;
		row->total += n->total;
		row->samples += n->samples;
		if (n->total > row->largest)
			row->largest = n->total;
		return 0;
	}
	row->rect = (uint32_t)m->l->nr;
	r = push(m, depth);
	if (!r)
		return 0;
	r->start = row->pos;
	r->total = n->total;
	r->self = calltree_self(m->nodes, node);
	r->samples = n->samples;
	r->node = node;
	m->l->nodes++;
	if (n->total < m->l->narrowest)
		m->l->narrowest = n->total;
	row->pos += n->total;
	m->rows[depth + 1] = (struct row){.pos = r->start};
	return 1;
}

static void emit_leave(void *ctx, uint32_t node, uint32_t depth)
{
	struct emit *m = ctx;
	struct row *row = &m->rows[depth + 1];
	struct below b = {.nodes = m->nodes};
	struct layout_rect *r;

	if (!row->count || m->err)
		return;
	r = push(m, depth + 1);
	if (!r)
		return;
	r->start = row->pos;
	r->total = row->total;
	r->samples = row->samples;
	r->largest = row->largest;
	r->node = node;
	r->merged = row->count;
	if (depth + 1 == m->l->cut_depth) {
		tree_walk(m->nodes, node, (struct walk_ops){below_enter, below_leave}, &b);
		r->cut_levels = b.levels;
	}
}

static int emit(struct layout *l, const struct calltree_node *nodes, uint32_t depth)
{
	struct emit m = {.l = l, .nodes = nodes};

	m.rows = calloc((size_t)depth + 3, sizeof(*m.rows));
	if (!m.rows)
		return -ENOMEM;
	l->nr = 0;
	l->rows = l->nodes = 0;
	l->narrowest = UINT64_MAX;
	free(l->rects);
	l->rects = NULL;
	tree_walk(nodes, 0, (struct walk_ops){emit_enter, emit_leave}, &m);
	free(m.rows);
	return m.err;
}

/* The row from which only towers are left, or UINT32_MAX. */
static int find_towers(const struct layout *l, uint32_t *depth)
{
	uint64_t *width;

	*depth = UINT32_MAX;
	if (l->rows <= TOWER_ROWS)
		return 0;
	width = calloc(l->rows, sizeof(*width));
	if (!width)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++)
		width[l->rects[i].depth] += l->rects[i].total;
	for (uint32_t d = TOWER_ROWS; d < l->rows && *depth == UINT32_MAX; d++)
		if (width[d] < l->total / TOWER_SHARE)
			*depth = d;
	free(width);
	return 0;
}

int layout_build(struct layout *l, const struct calltree_node *nodes, size_t nr, uint32_t depth,
	const struct layout_options *o, struct err *e)
{
	uint32_t towers;
	int err;

	*l = (struct layout)LAYOUT_INIT;
	if (!nr || !nodes[0].total)
		return err_set(e, -ENODATA, "flame graph: nothing to draw, the total is 0");
	l->total = nodes[0].total;
	l->min_total = o->min_total > l->total ? l->total : o->min_total;
	l->cut_depth = depth < o->max_rows ? UINT32_MAX : o->max_rows - 1;

	err = choose(l, nodes, nr, depth, o);
	if (!err)
		err = emit(l, nodes, depth);
	if (!err && o->trim_towers)
		err = find_towers(l, &towers);
	if (!err && o->trim_towers && towers < l->cut_depth) {
		l->cut_depth = towers; /* what they took goes to the others */
		err = choose(l, nodes, nr, depth, o);
		if (!err)
			err = emit(l, nodes, depth);
	}
	if (err) {
		layout_release(l);
		return err_sys(e, err, "flame graph: laying out %zu nodes", nr);
	}
	return 0;
}

void layout_release(struct layout *l)
{
	free(l->rects);
	*l = (struct layout)LAYOUT_INIT;
}
