/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums go to the trie's nodes first, then up to the root, then each node's sum
 * goes to the keys of its functions, unless the same key sits above it already.
 * "Above" is known by walking the trie depth first with a counter per key. The
 * walk uses links built for it and no recursion: a stack can be 20,000 deep.
 */
#include "totals.h"

#include <errno.h>
#include <stdlib.h>

/* One for each node of the trie: 28 bytes instead of 32. */
struct node {
	uint64_t value; /* of stacks through this node */
	double sq;
	uint32_t samples;	    /* a profile's are fewer than 2^32 */
	uint32_t first_child, next; /* 0 = none; only nodes with samples are linked */
} __attribute__((packed, aligned(4)));

struct walk {
	const struct profile *p;
	const struct prof_stack *stacks;
	struct node *nodes;
	const uint32_t *key_of;
	uint32_t *active; /* per key: how many times on the path from the root */
	struct total *totals;
};

static uint32_t key_of_func(const struct walk *w, uint32_t func)
{
	return w->key_of ? w->key_of[func] : func;
}

static void enter(struct walk *w, uint32_t at)
{
	const struct node *n = &w->nodes[at];
	uint32_t nr, i;
	const uint32_t *f = profile_frame_funcs(w->p, w->stacks[at].frame, &nr);

	for (i = 0; i < nr; i++) {
		uint32_t k = key_of_func(w, f[i]);
		struct total *t = &w->totals[k];

		if (w->active[k]++)
			continue;
		t->total = value_add(t->total, n->value);
		t->total_samples += n->samples;
		t->total_sq += n->sq;
	}
}

static void leave(struct walk *w, uint32_t at)
{
	uint32_t nr, i;
	const uint32_t *f = profile_frame_funcs(w->p, w->stacks[at].frame, &nr);

	for (i = 0; i < nr; i++)
		w->active[key_of_func(w, f[i])]--;
}

static void walk_all(struct walk *w)
{
	uint32_t at = w->nodes[0].first_child;

	while (at) {
		__builtin_prefetch(&w->nodes[w->nodes[at].next]);
		enter(w, at);
		if (w->nodes[at].first_child) {
			at = w->nodes[at].first_child;
			continue;
		}
		for (;;) {
			leave(w, at);
			if (w->nodes[at].next) {
				at = w->nodes[at].next;
				break;
			}
			at = w->stacks[at].parent;
			if (!at)
				break;
		}
	}
}

int totals_by_func(struct total **out, const struct selection *s, const uint32_t *key_of,
	uint32_t nr_keys, struct err *e)
{
	struct walk w = {.p = s->p, .key_of = key_of};
	const struct prof_sample *samples;
	size_t nr_samples, nr, i;
	uint32_t n;
	int ret = -ENOMEM;

	*out = NULL;
	if (!key_of)
		nr_keys = profile_nr_funcs(s->p);
	samples = profile_samples(s->p, &nr_samples);
	w.stacks = profile_stacks(s->p, &nr);
	w.nodes = calloc(nr, sizeof(*w.nodes));
	w.active = calloc((size_t)nr_keys + 1, sizeof(*w.active));
	w.totals = calloc((size_t)nr_keys + 1, sizeof(*w.totals));
	if (!w.nodes || !w.active || !w.totals)
		goto out;
	for (i = 0; i < s->nr; i++) {
		const struct prof_sample *a = &samples[s->samples[i]];
		struct node *at = &w.nodes[a->stack];
		double sq = (double)a->value * (double)a->value;
		struct total *t = &w.totals[key_of_func(
			&w, profile_frame_funcs(s->p, w.stacks[a->stack].frame, &n)[0])];

		at->value = value_add(at->value, a->value);
		at->samples++;
		at->sq += sq;
		t->self = value_add(t->self, a->value);
		t->self_samples++;
		t->self_sq += sq;
	}
	/* Parents come before children: backwards, a node is complete when its turn comes. */
	for (i = nr; i-- > 1;) {
		struct node *at = &w.nodes[i], *up = &w.nodes[w.stacks[i].parent];

		if (!at->samples)
			continue;
		up->value = value_add(up->value, at->value);
		up->samples += at->samples;
		up->sq += at->sq;
		at->next = up->first_child;
		up->first_child = (uint32_t)i;
	}
	walk_all(&w);
	*out = w.totals;
	w.totals = NULL;
	ret = 0;
out:
	free(w.nodes);
	free(w.active);
	free(w.totals);
	return ret ? err_set(e, ret, "out of memory while adding up") : 0;
}
