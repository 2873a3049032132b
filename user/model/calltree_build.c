/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From samples and the stack trie to nodes: which way, and the short one.
 *
 * DESIGN: two ways with one result. When every frame is one function and the
 * other way round (an import, mostly), the trie is the tree already: node i is
 * trie node i, nothing is looked up, five million nodes are a copy. Everything
 * else goes through calltree_levels.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "calltree_priv.h"
#include "user/base/strtab.h"

/* What names_only = 2 keeps apart. */
static unsigned nature(const struct func *f)
{
	return f->kind == FUNC_KERNEL ? 1 : f->kind == FUNC_JIT ? 2 : f->inlined ? 3 : 0;
}

int calltree_merge_names(uint32_t **out, const struct profile *p, int names_only)
{
	uint32_t nr = profile_nr_funcs(p), f;
	uint32_t *raw = malloc(((size_t)nr + 1) * sizeof(*raw));
	uint32_t *first =
		calloc(((size_t)nr + 2) * 4, sizeof(*first)); /* by name and nature: function + 1 */
	struct strtab *names = strtab_new();
	int ret = -ENOMEM;

	*out = NULL;
	if (!raw || !first || !names)
		goto out;
	for (f = 0; f < nr; f++) {
		const struct func *fn = profile_func(p, f);
		unsigned n = names_only > 1 ? nature(fn) : 0;
		int64_t id = strtab_add(names, fn->name, fn->name_len, NULL);

		if (id < 0)
			goto out;
		if (!first[id * 4 + n])
			first[id * 4 + n] = f + 1;
		raw[f] = first[id * 4 + n] - 1;
	}
	*out = raw;
	raw = NULL;
	ret = 0;
out:
	free(raw);
	free(first);
	strtab_free(names);
	return ret;
}

/* Equal names in several functions, and names are all that counts? */
static int has_equal_names(const struct profile *p, int names_only, int *equal)
{
	uint32_t *raw, nr = profile_nr_funcs(p), f;
	int ret;

	*equal = 0;
	if (!names_only)
		return 0;
	ret = calltree_merge_names(&raw, p, names_only);
	for (f = 0; !ret && f < nr && !*equal; f++)
		*equal = raw[f] != f;
	free(raw);
	return ret;
}

static int copy_trie(struct calltree *t, const struct selection *s)
{
	const struct prof_stack *stacks;
	const struct prof_sample *samples;
	struct calltree_node *nodes;
	uint32_t *func, nr_frames = profile_nr_frames(s->p), i, n;
	size_t nr, nr_samples, k;

	stacks = profile_stacks(s->p, &nr);
	samples = profile_samples(s->p, &nr_samples);
	func = malloc(((size_t)nr_frames + 1) * sizeof(*func));
	nodes = calloc(nr, sizeof(*nodes));
	if (!func || !nodes) {
		free(func);
		free(nodes);
		return -ENOMEM;
	}
	for (i = 1; i <= nr_frames; i++)
		func[i] = profile_frame_funcs(s->p, i, &n)[0];
	for (k = 1; k < nr; k++) {
		nodes[k].parent = stacks[k].parent;
		nodes[k].func = func[stacks[k].frame];
	}
	free(func);
	for (k = 0; k < s->nr; k++) {
		const struct prof_sample *a = &samples[s->samples[k]];

		if (!a->value)
			continue;
		nodes[a->stack].total = value_add(nodes[a->stack].total, a->value);
		nodes[a->stack].samples++;
	}
	t->nodes.data = nodes;
	t->nodes.nr = t->nodes.cap = nr;
	return 0;
}

int calltree_make_nodes(struct calltree *t, const struct selection *s, struct err *e)
{
	const struct calltree_options *o = &t->options;
	int ret, equal;

	if (o->generic || o->inverted || o->by_thread || o->by_process ||
		!profile_is_canonical(s->p))
		return calltree_make_nodes_generic(t, s, e);
	ret = has_equal_names(s->p, o->names_only, &equal);
	if (!ret && equal)
		return calltree_make_nodes_generic(t, s, e);
	if (ret || copy_trie(t, s))
		return err_set(e, -ENOMEM, "out of memory while building the call tree");
	return 0;
}
