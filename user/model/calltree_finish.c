/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From nodes with their own sums to a tree with totals, functions in name order
 * and linked siblings.
 *
 * DESIGN: parents come before children, so sums go up in one pass backwards and
 * everything that comes from above in one pass forwards. Function ids are given
 * in name order; siblings are linked in the order of their nodes, which is
 * sorted already in most places, and only parents where it is not are sorted.
 * While it is not linked yet, a node's next holds its depth.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calltree_priv.h"
#include "keyed.h"

#define MANY_CHILDREN 1024

/* Sums upwards: from a node's own to those of all below. Returns how many have a total. */
static size_t sum_up(struct calltree *t)
{
	struct calltree_node *n = t->nodes.data;
	size_t i, alive = 1;

	for (i = t->nodes.nr; i-- > 1;) {
		struct calltree_node *up = &n[n[i].parent];

		up->total = value_add(up->total, n[i].total);
		up->samples += n[i].samples;
		alive += n[i].total > 0;
	}
	return alive;
}

/* Leave out nodes without a total (filtered away). */
static int compact(struct calltree *t, size_t alive)
{
	struct calltree_node *n = t->nodes.data, *smaller;
	uint32_t *moved, at = 1;
	size_t i;

	if (alive == t->nodes.nr)
		return 0;
	moved = malloc(t->nodes.nr * sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	moved[0] = 0;
	for (i = 1; i < t->nodes.nr; i++) {
		if (!n[i].total)
			continue;
		moved[i] = at;
		n[at] = n[i];
		n[at].parent = moved[n[i].parent];
		at++;
	}
	free(moved);
	t->nodes.nr = at;
	smaller = realloc(n, t->nodes.nr * sizeof(*n));
	if (smaller) {
		t->nodes.data = smaller;
		t->nodes.cap = t->nodes.nr;
	}
	return 0;
}

/* --- functions ------------------------------------------------------------ */

int calltree_func_tie(const struct profile *p, uint32_t a, uint32_t b)
{
	uint32_t nr = profile_nr_funcs(p);
	const struct func *fa, *fb;
	int c;

	if (a >= nr || b >= nr)
		return 0;
	fa = profile_func(p, a);
	fb = profile_func(p, b);
	c = strcmp(fa->module->name, fb->module->name);
	return c ? c : strcmp(fa->module->path, fb->module->path);
}

static int tie(uint32_t a, uint32_t b, const void *ctx)
{
	return calltree_func_tie(ctx, a, b);
}

static struct calltree_func describe(const struct calltree *t, uint32_t raw)
{
	uint32_t nr = profile_nr_funcs(t->p);
	const struct func *f;

	if (raw >= nr)
		return (struct calltree_func){
			.name = t->tasks.data[raw - nr].name,
			.name_len = t->tasks.data[raw - nr].len,
			.module = "",
			.kind = FUNC_TASK,
		};
	f = profile_func(t->p, raw);
	return (struct calltree_func){
		.name = f->name,
		.name_len = f->name_len,
		.module = f->module->name,
		.kind = f->kind,
		.reason = f->reason,
		.inlined = f->inlined,
	};
}

static size_t nr_raw_funcs(const struct calltree *t)
{
	return (size_t)profile_nr_funcs(t->p) + t->tasks.nr;
}

/* Sums of raw functions, as long as a node's total is its own. NULL = no memory. */
static uint64_t *self_of_funcs(const struct calltree *t)
{
	uint64_t *self = calloc(nr_raw_funcs(t) + 1, sizeof(*self));
	const struct calltree_node *n = t->nodes.data;
	size_t i;

	for (i = 1; self && i < t->nodes.nr; i++)
		self[n[i].func] = value_add(self[n[i].func], n[i].total);
	return self;
}

/*
 * Functions in use, in name order: *ids of them, raw, and where each raw one is
 * in it, from 1 on. Both are the caller's to free.
 */
static int order_funcs(const struct calltree *t, uint32_t **ids, uint32_t **rank, uint32_t *nr)
{
	const struct calltree_node *n = t->nodes.data;
	size_t nr_raw = nr_raw_funcs(t), i;
	struct ranked_name *names = NULL;
	uint8_t *used = calloc(nr_raw + 1, 1);
	uint32_t k = 0;
	int ret = -ENOMEM;

	*nr = 0;
	if (!used)
		return -ENOMEM;
	for (i = 1; i < t->nodes.nr; i++) {
		*nr += !used[n[i].func];
		used[n[i].func] = 1;
	}
	names = malloc(((size_t)*nr + 1) * sizeof(*names));
	if (!names)
		goto out;
	for (i = 0; i < nr_raw; i++) {
		if (used[i]) {
			struct calltree_func f = describe(t, (uint32_t)i);

			names[k++] = (struct ranked_name){f.name, f.name_len, (uint32_t)i};
		}
	}
	ret = names_sort(names, *nr, tie, t->p);
	*ids = malloc(((size_t)*nr + 1) * sizeof(**ids));
	*rank = malloc((nr_raw + 1) * sizeof(**rank));
	if (!*ids || !*rank)
		ret = -ENOMEM;
	for (k = 0; !ret && k < *nr; k++) {
		(*ids)[k] = names[k].id;
		(*rank)[names[k].id] = k + 1;
	}
out:
	free(used);
	free(names);
	return ret;
}

/* Make the functions; nodes' funcs are changed from raw to them. Temporary things go as early as
 * they can: a million functions are a hundred megabytes all the same. */
static int rank_funcs(struct calltree *t, const uint64_t *self)
{
	struct calltree_node *n = t->nodes.data;
	uint32_t *ids = NULL, *rank = NULL, nr, k;
	int ret = order_funcs(t, &ids, &rank, &nr);
	size_t i;

	if (ret)
		goto out;
	n[0].func = 0;
	n[0].next = 0;
	for (i = 1; i < t->nodes.nr; i++) {
		n[i].func = rank[n[i].func];
		n[i].next = n[n[i].parent].next + 1; /* depth */
		if (n[i].next > t->depth)
			t->depth = n[i].next;
	}
	free(rank);
	rank = NULL;
	ret = -ENOMEM;
	t->funcs = malloc(((size_t)nr + 1) * sizeof(*t->funcs));
	if (!t->funcs)
		goto out;
	ret = 0;
	t->nr_funcs = nr + 1;
	t->funcs[0] = (struct calltree_func){
		.name = "all", .name_len = 3, .module = "", .kind = FUNC_MARK};
	for (k = 0; k < nr; k++) {
		t->funcs[k + 1] = describe(t, ids[k]);
		t->funcs[k + 1].self = self[ids[k]];
	}
out:
	free(ids);
	free(rank);
	return ret;
}

/* --- siblings ------------------------------------------------------------- */

static int is_set(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* Link children in node order; @unsorted gets a bit for each parent where that
 * is not function order, and for each with two children when @all. */
static void link_up(struct calltree *t, uint64_t *unsorted, int all)
{
	struct calltree_node *n = t->nodes.data;
	size_t i;

	for (i = t->nodes.nr; i-- > 1;) {
		uint32_t up = n[i].parent, first = n[up].first_child;

		if (first && (all || n[i].func >= n[first].func))
			unsorted[up / 64] |= (uint64_t)1 << (up % 64);
		n[i].next = first;
		n[up].first_child = (uint32_t)i;
	}
	n[0].next = 0;
}

/*
 * Many children into function order: @by_func (zeroed before and after, one for
 * each function) takes them up. A key and a copy for each would be six times
 * the memory. -EEXIST for two of one function.
 */
static int place_children(struct calltree *t, uint32_t *by_func, uint32_t up)
{
	uint32_t at, next, f, *link = &t->nodes.data[up].first_child;
	struct calltree_node *n = t->nodes.data;

	for (at = n[up].first_child; at; at = n[at].next) {
		if (by_func[n[at].func])
			return -EEXIST;
		by_func[n[at].func] = at;
	}
	for (f = 1; f < t->nr_funcs; f++) {
		next = by_func[f];
		if (!next)
			continue;
		by_func[f] = 0;
		*link = next;
		link = &n[next].next;
	}
	*link = 0;
	return 0;
}

struct sorter {
	VEC(struct keyed) keys;
	struct keyed *tmp;
	size_t tmp_cap;
	uint32_t *by_func; /* of place_children(); NULL = not needed so far */
};

/* So many children that looking at all functions costs less than sorting. */
static int has_many_children(const struct calltree *t, uint32_t up)
{
	const struct calltree_node *n = t->nodes.data;
	size_t nr = 0;
	uint32_t at;

	for (at = n[up].first_child; at; at = n[at].next)
		nr++;
	return nr >= MANY_CHILDREN && nr >= t->nr_funcs / 16;
}

/* Put the children of @up into the order of the tree. -EEXIST for two of one function. */
static int sort_children(struct calltree *t, struct sorter *s, uint32_t up)
{
	struct calltree_node *n = t->nodes.data;
	uint32_t at;
	size_t i;

	if (t->options.order == CALLTREE_BY_NAME && has_many_children(t, up)) {
		if (!s->by_func)
			s->by_func = calloc(t->nr_funcs, sizeof(*s->by_func));
		return s->by_func ? place_children(t, s->by_func, up) : -ENOMEM;
	}
	s->keys.nr = 0;
	for (at = n[up].first_child; at; at = n[at].next) {
		if (vec_room(&s->keys, 1))
			return -ENOMEM;
		s->keys.data[s->keys.nr++] = (struct keyed){n[at].func, at};
	}
	if (s->tmp_cap < s->keys.cap) {
		free(s->tmp);
		s->tmp_cap = 0;
		s->tmp = malloc(s->keys.cap * sizeof(*s->tmp));
		if (!s->tmp)
			return -ENOMEM;
		s->tmp_cap = s->keys.cap;
	}
	keyed_sort(s->keys.data, s->tmp, s->keys.nr);
	for (i = 1; i < s->keys.nr; i++)
		if (s->keys.data[i].key == s->keys.data[i - 1].key)
			return -EEXIST;
	if (t->options.order == CALLTREE_BY_SIZE) {
		for (i = 0; i < s->keys.nr; i++)
			s->keys.data[i].key = ~n[s->keys.data[i].id].total;
		keyed_sort(s->keys.data, s->tmp, s->keys.nr);
	}
	n[up].first_child = s->keys.data[0].id;
	for (i = 0; i < s->keys.nr; i++)
		n[s->keys.data[i].id].next = i + 1 < s->keys.nr ? s->keys.data[i + 1].id : 0;
	return 0;
}

static int link_siblings(struct calltree *t)
{
	uint64_t *unsorted = calloc(t->nodes.nr / 64 + 1, sizeof(*unsorted));
	struct sorter s = {0};
	int ret = 0;
	size_t i;

	if (!unsorted)
		return -ENOMEM;
	link_up(t, unsorted, t->options.order != CALLTREE_BY_NAME);
	for (i = 0; i < t->nodes.nr && !ret; i++) {
		if (!unsorted[i / 64])
			i |= 63;
		else if (is_set(unsorted, i))
			ret = sort_children(t, &s, (uint32_t)i);
	}
	free(unsorted);
	free(s.keys.data);
	free(s.tmp);
	free(s.by_func);
	return ret;
}

int calltree_finish(struct calltree *t, struct err *e)
{
	uint64_t *self = self_of_funcs(t);
	int ret = self ? compact(t, sum_up(t)) : -ENOMEM;

	if (!ret)
		ret = rank_funcs(t, self);
	free(self);
	if (!ret)
		ret = link_siblings(t);
	if (ret == -ENOMEM)
		err_set(e, ret, "out of memory while building the call tree");
	return ret;
}

/* A node adds to its function unless the same function is above it. */
int calltree_total_funcs(struct calltree *t, struct err *e)
{
	const struct calltree_node *n = t->nodes.data;
	uint32_t *active = calloc(t->nr_funcs, sizeof(*active)), at = 0, i;

	if (!active)
		return err_set(e, -ENOMEM, "out of memory while adding up functions");
	for (i = 0; i < t->nr_funcs; i++)
		t->funcs[i].total = 0;
	for (;;) {
		struct calltree_func *f = &t->funcs[n[at].func];

		__builtin_prefetch(&n[n[at].next]);
		if (!active[n[at].func]++)
			f->total = value_add(f->total, n[at].total);
		if (n[at].first_child) {
			at = n[at].first_child;
			continue;
		}
		active[n[at].func]--;
		while (at && !n[at].next) {
			at = n[at].parent;
			active[n[at].func]--;
		}
		if (!at)
			break;
		at = n[at].next;
	}
	free(active);
	return 0;
}
