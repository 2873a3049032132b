/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From samples and the stack trie to nodes, for any profile and every option.
 *
 * DESIGN: level by level. All trie nodes of a level are sorted by (tree node of
 * the caller, function); each run of equals is one tree node. No look-ups: a
 * hash map of (caller, function) took three times as long, and inverted twice
 * the memory. Siblings come out in name order. A frame with inlined functions
 * stands on several levels, one after the other.
 *
 * An inverted tree begins at the leaf of each stack, so stacks cannot share
 * their way: a cursor a stack walks up the trie, one function a level, and
 * cursors are sorted as above. Cost and size may be stacks x depth: there is a
 * limit.
 *
 * With thread or process levels, threads of one name are a group, and each group
 * is built below its own node.
 */
#include <errno.h>
#include <stdlib.h>

#include "calltree_priv.h"
#include "keyed.h"
#include "user/base/fmt.h"
#include "user/base/hashmap.h"
#include "user/base/strtab.h"

#define INVERTED_MAX                                                                               \
	(1u << 26) /* nodes: 2.5 GiB, ten times what a picture of any real capture needs */

struct edge {
	uint32_t parent, func;
};

/* A stack on its way from the leaf to the root, for inverted trees. */
struct cursor_up {
	uint64_t value;
	uint32_t samples;
	uint32_t at;   /* trie node */
	uint32_t func; /* index in the functions of its frame */
	uint32_t node; /* tree node reached */
};

struct build {
	struct calltree *t;
	const struct selection *s;
	const struct prof_sample *samples;
	const struct prof_stack *stacks;
	size_t nr_stacks;
	uint32_t *raw;	   /* function of the profile -> the one it counts as; NULL = itself */
	uint32_t *rank;	   /* function of the profile -> place in name order */
	uint32_t *by_rank; /* the reverse */
	uint32_t max_nodes;

	/* Tasks: groups of threads that share the first level(s). */
	struct hashmap *tasks; /* struct edge -> node, for the task levels only */
	uint32_t *group_of;    /* thread id -> group; NULL = all in group 0 */
	uint32_t nr_groups;
	uint32_t *group_root; /* group -> node its stacks hang on */
	uint32_t *order;      /* s->samples by group; NULL = as they are */
	size_t *group_end;    /* where a group ends in order */

	/* Of the current group, by trie node. */
	uint32_t *level;       /* of the innermost function; 0 = not in this group */
	uint32_t *node;	       /* tree node of the function reached so far */
	VEC(uint32_t) touched; /* trie nodes in this group, callers first */
	VEC(uint32_t) path;    /* scratch: a stack being entered */
	uint32_t *by_level;    /* trie nodes, once for each function, by level */
	uint32_t max_level;

	VEC(struct keyed) keys; /* of one level */
	struct keyed *tmp;
	size_t tmp_cap;
};

static int nomem(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while building the call tree");
}

/* --- tasks ---------------------------------------------------------------- */

/* A new node. 0 = none could be made (*ret says why). */
static uint32_t new_node(struct build *b, uint32_t parent, uint32_t func, int *ret)
{
	if (b->t->nodes.nr >= b->max_nodes) {
		*ret = -E2BIG;
		return 0;
	}
	if (vec_room(&b->t->nodes, 1)) {
		*ret = -ENOMEM;
		return 0;
	}
	b->t->nodes.data[b->t->nodes.nr] = (struct calltree_node){.parent = parent, .func = func};
	return (uint32_t)b->t->nodes.nr++;
}

/* Node below @parent for a process or thread name; equal names are one. 0 = see *ret. */
static uint32_t task_node(struct build *b, struct strtab *names, uint32_t *task_of_name,
	uint32_t parent, const char *name, size_t len, int *ret)
{
	struct calltree *t = b->t;
	int is_new;
	int64_t id = strtab_add(names, name, len, &is_new);

	if (id < 0 || (is_new && vec_room(&t->tasks, 1))) {
		*ret = -ENOMEM;
		return 0;
	}
	if (is_new) {
		task_of_name[id] = (uint32_t)t->tasks.nr;
		t->tasks.data[t->tasks.nr++] = (struct calltree_task){name, (uint32_t)len};
	}
	{
		struct edge key = {parent, profile_nr_funcs(b->s->p) + task_of_name[id]};
		uint32_t *slot = hashmap_slot(b->tasks, &key, 0, NULL);

		if (!slot) {
			*ret = -ENOMEM;
			return 0;
		}
		if (!*slot)
			*slot = new_node(b, parent, key.func, ret);
		return *slot;
	}
}

/* Put threads into groups and make the nodes of the task levels. */
static int make_groups(struct build *b)
{
	const struct calltree_options *o = &b->t->options;
	const struct profile *p = b->s->p;
	uint32_t nr = profile_nr_threads(p), i;
	uint32_t *task_of_name = NULL, *group_at_node = NULL;
	struct strtab *names = NULL;
	uint8_t *used = NULL;
	int ret = -ENOMEM;
	size_t k, cap;

	b->nr_groups = 1;
	b->group_root = calloc((size_t)nr + 1, sizeof(*b->group_root));
	if (!b->group_root)
		return -ENOMEM;
	if (!o->by_thread && !o->by_process)
		return 0;
	names = strtab_new();
	used = calloc((size_t)nr + 1, 1);
	b->group_of = calloc((size_t)nr + 1, sizeof(*b->group_of));
	cap = (size_t)nr * 2 + 2; /* at most two levels a thread, one name each */
	task_of_name = calloc(cap, sizeof(*task_of_name));
	group_at_node = calloc(cap, sizeof(*group_at_node));
	if (!names || !used || !b->group_of || !task_of_name || !group_at_node)
		goto out;
	for (k = 0; k < b->s->nr; k++)
		used[b->samples[b->s->samples[k]].thread] = 1;
	b->nr_groups = 0;
	for (i = 1; i <= nr; i++) {
		const struct prof_thread *th = profile_thread(p, i);
		const struct prof_process *pr = profile_process(p, th->process);
		uint32_t node = 0;

		if (!used[i])
			continue;
		if (o->by_process && !(node = task_node(b, names, task_of_name, node, pr->name,
					       pr->name_len, &ret)))
			goto out;
		if (o->by_thread && !(node = task_node(b, names, task_of_name, node, th->name,
					      th->name_len, &ret)))
			goto out;
		if (!group_at_node[node]) {
			b->group_root[b->nr_groups++] = node;
			group_at_node[node] = b->nr_groups;
		}
		b->group_of[i] = group_at_node[node] - 1;
	}
	ret = 0;
out:
	strtab_free(names);
	free(used);
	free(task_of_name);
	free(group_at_node);
	return ret;
}

/* Samples of a group side by side: a counting sort. */
static int order_samples(struct build *b)
{
	size_t k, sum = 0, n;
	uint32_t g;

	b->group_end = calloc((size_t)b->nr_groups + 1, sizeof(*b->group_end));
	if (!b->group_end)
		return -ENOMEM;
	if (!b->group_of) {
		b->group_end[0] = b->s->nr;
		return 0;
	}
	b->order = malloc((b->s->nr + 1) * sizeof(*b->order));
	if (!b->order)
		return -ENOMEM;
	for (k = 0; k < b->s->nr; k++)
		b->group_end[b->group_of[b->samples[b->s->samples[k]].thread]]++;
	for (g = 0; g < b->nr_groups; g++) {
		n = b->group_end[g];
		b->group_end[g] = sum;
		sum += n;
	}
	for (k = 0; k < b->s->nr; k++) {
		g = b->group_of[b->samples[b->s->samples[k]].thread];
		b->order[b->group_end[g]++] = b->s->samples[k];
	}
	return 0;
}

/* --- the long way --------------------------------------------------------- */

static int tie(uint32_t a, uint32_t b, const void *ctx)
{
	return calltree_func_tie(ctx, a, b);
}

static int rank_names(struct build *b)
{
	const struct profile *p = b->s->p;
	uint32_t nr = profile_nr_funcs(p), i;
	struct ranked_name *names = malloc(((size_t)nr + 1) * sizeof(*names));
	int ret = -ENOMEM;

	b->rank = malloc(((size_t)nr + 1) * sizeof(*b->rank));
	b->by_rank = malloc(((size_t)nr + 1) * sizeof(*b->by_rank));
	if (!names || !b->rank || !b->by_rank)
		goto out;
	for (i = 0; i < nr; i++)
		names[i] = (struct ranked_name){
			profile_func(p, i)->name, profile_func(p, i)->name_len, i};
	ret = names_sort(names, nr, tie, p);
	for (i = 0; !ret && i < nr; i++) {
		b->by_rank[i] = names[i].id;
		b->rank[names[i].id] = i;
	}
out:
	free(names);
	return ret;
}

static uint64_t key_of(const struct build *b, uint32_t node, uint32_t func)
{
	return (uint64_t)node << 32 | b->rank[b->raw ? b->raw[func] : func];
}

/* Sort the keys of a level; each run of equals becomes a node, which @set gets. */
static int make_level(
	struct build *b, void (*set)(struct build *, uint32_t id, uint32_t node, void *), void *ctx)
{
	uint32_t node = 0;
	size_t i;
	int ret = 0;

	if (b->tmp_cap < b->keys.cap) {
		free(b->tmp);
		b->tmp_cap = 0;
		b->tmp = malloc(b->keys.cap * sizeof(*b->tmp));
		if (!b->tmp)
			return -ENOMEM;
		b->tmp_cap = b->keys.cap;
	}
	keyed_sort(b->keys.data, b->tmp, b->keys.nr);
	for (i = 0; i < b->keys.nr; i++) {
		const struct keyed *k = &b->keys.data[i];

		if (!i || k->key != k[-1].key) {
			node = new_node(
				b, (uint32_t)(k->key >> 32), b->by_rank[(uint32_t)k->key], &ret);
			if (!node)
				return ret;
		}
		set(b, k->id, node, ctx);
	}
	return 0;
}

/* --- from the root --- */

/* Note @at and its callers as part of the group, with their levels. */
static int touch(struct build *b, uint32_t at)
{
	uint32_t nr;

	b->path.nr = 0;
	for (; at && !b->level[at]; at = b->stacks[at].parent) {
		if (vec_room(&b->path, 1))
			return -ENOMEM;
		b->path.data[b->path.nr++] = at;
	}
	if (vec_room(&b->touched, b->path.nr))
		return -ENOMEM;
	while (b->path.nr) {
		at = b->path.data[--b->path.nr];
		profile_frame_funcs(b->s->p, b->stacks[at].frame, &nr);
		b->level[at] = b->level[b->stacks[at].parent] + nr;
		if (b->level[at] > b->max_level)
			b->max_level = b->level[at];
		b->touched.data[b->touched.nr++] = at;
	}
	return 0;
}

/* Levels a trie node stands on: [first, b->level[at]]. */
static uint32_t first_level(const struct build *b, uint32_t at)
{
	return b->level[b->stacks[at].parent] + 1;
}

/* Counting sort of the group's trie nodes by the levels they stand on; *ends: where each ends. */
static int sort_by_level(struct build *b, size_t **ends)
{
	size_t *end = calloc((size_t)b->max_level + 2, sizeof(*end)), sum = 0, n, i;
	uint32_t l;

	*ends = end;
	if (!end)
		return -ENOMEM;
	for (i = 0; i < b->touched.nr; i++)
		for (l = first_level(b, b->touched.data[i]); l <= b->level[b->touched.data[i]]; l++)
			end[l]++;
	for (l = 0; l <= b->max_level; l++) {
		n = end[l];
		end[l] = sum;
		sum += n;
	}
	free(b->by_level);
	b->by_level = malloc((sum + 1) * sizeof(*b->by_level));
	if (!b->by_level)
		return -ENOMEM;
	for (i = 0; i < b->touched.nr; i++)
		for (l = first_level(b, b->touched.data[i]); l <= b->level[b->touched.data[i]]; l++)
			b->by_level[end[l]++] = b->touched.data[i];
	return 0;
}

static void set_node(struct build *b, uint32_t id, uint32_t node, void *ctx)
{
	(void)ctx;
	b->node[id] = node;
}

static int merge_level(struct build *b, uint32_t level, const uint32_t *at, size_t nr)
{
	size_t i;

	b->keys.nr = 0;
	if (vec_room(&b->keys, nr))
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		uint32_t first = first_level(b, at[i]), nr_funcs;
		const uint32_t *f = profile_frame_funcs(b->s->p, b->stacks[at[i]].frame, &nr_funcs);
		uint32_t caller = level > first ? at[i] : b->stacks[at[i]].parent;

		/* The outermost function of a frame is the last of its list. */
		b->keys.data[b->keys.nr++] = (struct keyed){
			key_of(b, b->node[caller], f[nr_funcs - 1 - (level - first)]), at[i]};
	}
	return make_level(b, set_node, NULL);
}

static int add_group(struct build *b, uint32_t group, const uint32_t *samples, size_t nr)
{
	size_t *ends = NULL, k, first = 0;
	uint32_t l;
	int ret = 0;

	b->touched.nr = 0;
	b->max_level = 0;
	b->node[0] = b->group_root[group];
	for (k = 0; k < nr && !ret; k++)
		if (b->samples[samples[k]].value && !b->level[b->samples[samples[k]].stack])
			ret = touch(b, b->samples[samples[k]].stack);
	if (!ret)
		ret = sort_by_level(b, &ends);
	for (l = 0; l <= b->max_level && !ret; l++) {
		ret = merge_level(b, l, b->by_level + first, ends[l] - first);
		first = ends[l];
	}
	free(ends);
	for (k = 0; k < nr && !ret; k++) {
		const struct prof_sample *a = &b->samples[samples[k]];
		struct calltree_node *n;

		if (!a->value)
			continue;
		n = &b->t->nodes.data[b->node[a->stack]];
		n->total = value_add(n->total, a->value);
		n->samples++;
	}
	for (k = 0; k < b->touched.nr; k++)
		b->level[b->touched.data[k]] = 0;
	return ret;
}

/* --- from the leaves --- */

/* A cursor for each stack of the group, with its sums. */
static struct cursor_up *make_cursors(
	struct build *b, uint32_t group, const uint32_t *samples, size_t nr, size_t *nr_cursors)
{
	struct cursor_up *c;
	size_t k;

	b->touched.nr = 0;
	for (k = 0; k < nr; k++) {
		uint32_t at = b->samples[samples[k]].stack;

		if (!b->samples[samples[k]].value || b->level[at])
			continue;
		if (vec_room(&b->touched, 1))
			return NULL;
		b->touched.data[b->touched.nr++] = at;
		b->level[at] = (uint32_t)b->touched.nr; /* its cursor, from 1 */
	}
	c = calloc(b->touched.nr + 1, sizeof(*c));
	if (!c)
		return NULL;
	for (k = 0; k < b->touched.nr; k++) {
		c[k].at = b->touched.data[k];
		c[k].node = b->group_root[group];
	}
	for (k = 0; k < nr; k++) {
		const struct prof_sample *a = &b->samples[samples[k]];

		if (!a->value)
			continue;
		c[b->level[a->stack] - 1].value =
			value_add(c[b->level[a->stack] - 1].value, a->value);
		c[b->level[a->stack] - 1].samples++;
	}
	for (k = 0; k < b->touched.nr; k++)
		b->level[b->touched.data[k]] = 0;
	*nr_cursors = b->touched.nr;
	return c;
}

static void set_cursor(struct build *b, uint32_t id, uint32_t node, void *ctx)
{
	(void)b;
	((struct cursor_up *)ctx)[id].node = node;
}

/* One function towards the root; those past it leave their sums and are dropped. */
static size_t advance(struct build *b, struct cursor_up *c, size_t nr)
{
	size_t kept = 0, k;
	uint32_t nr_funcs;

	for (k = 0; k < nr; k++) {
		struct calltree_node *n = &b->t->nodes.data[c[k].node];

		profile_frame_funcs(b->s->p, b->stacks[c[k].at].frame, &nr_funcs);
		if (++c[k].func == nr_funcs) {
			c[k].func = 0;
			c[k].at = b->stacks[c[k].at].parent;
		}
		if (c[k].at) {
			c[kept++] = c[k];
			continue;
		}
		n->total = value_add(n->total, c[k].value);
		n->samples += c[k].samples;
	}
	return kept;
}

static int add_group_inverted(struct build *b, uint32_t group, const uint32_t *samples, size_t nr)
{
	size_t nr_cursors = 0, k;
	struct cursor_up *c = make_cursors(b, group, samples, nr, &nr_cursors);
	int ret = c ? 0 : -ENOMEM;
	uint32_t n;

	while (!ret && nr_cursors) {
		b->keys.nr = 0;
		if (vec_room(&b->keys, nr_cursors)) {
			ret = -ENOMEM;
			break;
		}
		for (k = 0; k < nr_cursors; k++)
			b->keys.data[b->keys.nr++] = (struct keyed){
				key_of(b, c[k].node,
					profile_frame_funcs(
						b->s->p, b->stacks[c[k].at].frame, &n)[c[k].func]),
				(uint32_t)k};
		ret = make_level(b, set_cursor, c);
		if (!ret)
			nr_cursors = advance(b, c, nr_cursors);
	}
	free(c);
	return ret;
}

/* --- both --- */

static void build_release(struct build *b)
{
	free(b->raw);
	free(b->rank);
	free(b->by_rank);
	hashmap_free(b->tasks);
	free(b->group_of);
	free(b->group_root);
	free(b->order);
	free(b->group_end);
	free(b->level);
	free(b->node);
	free(b->touched.data);
	free(b->path.data);
	free(b->by_level);
	free(b->keys.data);
	free(b->tmp);
}

static int add_all(struct build *b)
{
	int inverted = b->t->options.inverted, ret;
	const uint32_t *samples;
	size_t first = 0;
	uint32_t g;

	b->tasks = hashmap_new(sizeof(struct edge));
	b->level = calloc(b->nr_stacks, sizeof(*b->level));
	b->node = calloc(b->nr_stacks, sizeof(*b->node));
	if (!b->tasks || !b->level || !b->node || vec_room(&b->t->nodes, 1))
		return -ENOMEM;
	b->t->nodes.data[b->t->nodes.nr++] = (struct calltree_node){0};
	ret = make_groups(b);
	if (ret)
		return ret;
	if ((b->t->options.names_only &&
		    calltree_merge_names(&b->raw, b->s->p, b->t->options.names_only)) ||
		rank_names(b) || order_samples(b))
		return -ENOMEM;
	samples = b->order ? b->order : b->s->samples;
	for (g = 0; !ret && g < b->nr_groups; g++) {
		ret = (inverted ? add_group_inverted : add_group)(
			b, g, samples + first, b->group_end[g] - first);
		first = b->group_end[g];
	}
	return ret;
}

int calltree_make_nodes_generic(struct calltree *t, const struct selection *s, struct err *e)
{
	struct build b = {.t = t, .s = s};
	char n[32];
	size_t nr;
	int ret;

	b.max_nodes = t->options.inverted ? INVERTED_MAX : UINT32_MAX - 1;
	b.samples = profile_samples(s->p, &nr);
	b.stacks = profile_stacks(s->p, &b.nr_stacks);
	ret = add_all(&b);
	build_release(&b);
	if (ret == -E2BIG) {
		err_set(e, ret, "the %stree has more than %s nodes",
			t->options.inverted ? "inverted " : "",
			fmt_count(n, sizeof(n), b.max_nodes));
		err_hint(e, "narrow it: --focus REGEX, --thread, --from and --to");
	} else if (ret) {
		nomem(e);
	}
	return ret;
}
