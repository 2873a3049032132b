/* SPDX-License-Identifier: BSD-2-Clause */
#include "calltree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calltree_priv.h"

static void state_facts(struct calltree_facts *f, const struct selection *s)
{
	const struct record_run *run = profile_run(s->p);
	const char *command;

	profile_meta(s->p, "target", &command, NULL);
	*f = (struct calltree_facts){
		.unit = s->value->unit,
		.what = s->value->what,
		.total = s->total,
		.capture_total = s->capture_total,
		.samples = s->nr,
		.lost = s->lost,
		.duration_ns = s->to_ns - s->from_ns,
		.freq = run->period_ns ? 1e9 / (double)run->period_ns : 0,
		.command = command ? command : "",
		.filtered = s->filtered,
	};
}

static void forget(struct calltree *t)
{
	free(t->nodes.data);
	t->nodes.data = NULL;
	t->nodes.nr = t->nodes.cap = 0;
	free(t->funcs);
	t->funcs = NULL;
	t->nr_funcs = t->depth = 0;
	t->tasks.nr = 0;
}

int calltree_build(struct calltree **out, const struct selection *s,
	const struct calltree_options *o, struct err *e)
{
	struct calltree *t = calloc(1, sizeof(*t));
	int ret;

	*out = NULL;
	if (!t)
		return err_set(e, -ENOMEM, "out of memory while building the call tree");
	if (o)
		t->options = *o;
	t->p = s->p;
	state_facts(&t->facts, s);
	ret = calltree_make_nodes(t, s, e);
	if (!ret)
		ret = calltree_finish(t, e);
	if (ret == -EEXIST) {
		/* A trie with one stack twice, as an odd file may hold: the long way merges them.
		 */
		forget(t);
		ret = calltree_make_nodes_generic(t, s, e);
		if (!ret)
			ret = calltree_finish(t, e);
	}
	if (ret) {
		calltree_free(t);
		return ret;
	}
	*out = t;
	return 0;
}

int calltree_from_folded(
	struct calltree **t, const char *folded, const struct calltree_options *o, struct err *e)
{
	struct selection s;
	struct profile *p;
	int ret;

	*t = NULL;
	ret = profile_from_folded(&p, folded, e);
	if (ret)
		return ret;
	ret = selection_make(&s, p, NULL, e);
	if (!ret) {
		ret = calltree_build(t, &s, o, e);
		selection_release(&s);
	}
	if (ret)
		profile_free(p);
	else
		(*t)->owned = p;
	return ret;
}

void calltree_free(struct calltree *t)
{
	if (!t)
		return;
	forget(t);
	free(t->tasks.data);
	profile_free(t->owned);
	free(t);
}

const struct calltree_node *calltree_nodes(const struct calltree *t, size_t *nr)
{
	*nr = t->nodes.nr;
	return t->nodes.data;
}

const struct calltree_func *calltree_func(const struct calltree *t, uint32_t func)
{
	assert(func < t->nr_funcs);
	return &t->funcs[func];
}

uint32_t calltree_nr_funcs(const struct calltree *t)
{
	return t->nr_funcs;
}

uint32_t calltree_depth(const struct calltree *t)
{
	return t->depth;
}

const struct calltree_facts *calltree_facts(const struct calltree *t)
{
	return &t->facts;
}

/* --- invariants ----------------------------------------------------------- */

static int check_sums(const struct calltree *t, uint64_t *below, struct err *e)
{
	const struct calltree_node *n = t->nodes.data;
	uint64_t self = 0;
	size_t i;

	for (i = t->nodes.nr; i--;) {
		if (n[i].total < below[i])
			return err_set(
				e, -EBADMSG, "node %zu: total is less than the children's", i);
		if (i && (!n[i].total || n[i].parent >= i))
			return err_set(e, -EBADMSG, "node %zu: empty, or before its parent", i);
		if (i && (!n[i].func || n[i].func >= t->nr_funcs))
			return err_set(e, -EBADMSG, "node %zu: no such function", i);
		if (i)
			below[n[i].parent] = value_add(below[n[i].parent], n[i].total);
	}
	for (i = 0; i < t->nr_funcs; i++) {
		self = value_add(self, t->funcs[i].self);
		if (t->funcs[i].total > n[0].total ||
			(t->funcs[0].total && t->funcs[i].self > t->funcs[i].total))
			return err_set(e, -EBADMSG, "function %zu: sums out of order", i);
	}
	if (self != n[0].total)
		return err_set(e, -EBADMSG, "self of all functions is not the total");
	if (n[0].total != t->facts.total)
		return err_set(e, -EBADMSG, "the root's total is not the selection's");
	return 0;
}

static int check_links(const struct calltree *t, struct err *e)
{
	const struct calltree_node *n = t->nodes.data;
	size_t linked = 1, i;
	uint32_t at;

	for (i = 0; i < t->nodes.nr; i++) {
		for (at = n[i].first_child; at; at = n[at].next, linked++) {
			uint32_t next = n[at].next;

			if (at >= t->nodes.nr || n[at].parent != i || linked >= t->nodes.nr)
				return err_set(e, -EBADMSG, "node %zu: wrong child", i);
			if (!next)
				continue;
			if (n[at].func == n[next].func)
				return err_set(e, -EBADMSG, "node %zu: one function twice", i);
			if (t->options.order == CALLTREE_BY_NAME
					? n[at].func > n[next].func
					: n[at].total < n[next].total ||
						  (n[at].total == n[next].total &&
							  n[at].func > n[next].func))
				return err_set(e, -EBADMSG, "node %zu: children out of order", i);
		}
	}
	return linked == t->nodes.nr ? 0 : err_set(e, -EBADMSG, "nodes that no link leads to");
}

int calltree_check(const struct calltree *t, struct err *e)
{
	uint64_t *below = calloc(t->nodes.nr, sizeof(*below));
	int ret;

	if (!below)
		return err_set(e, -ENOMEM, "out of memory");
	ret = check_sums(t, below, e);
	if (!ret)
		ret = check_links(t, e);
	free(below);
	return ret;
}
