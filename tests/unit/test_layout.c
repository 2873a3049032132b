/* SPDX-License-Identifier: BSD-2-Clause */
#include "picture.h"

#include <errno.h>

#include "flamegraph/layout.h"

static const struct layout_options unlimited = {.max_rows = UINT32_MAX};

static void build(struct layout *l, const struct calltree *t, const struct layout_options *o)
{
	struct err e = {0};

	assert_int_equal(layout_build(l, t->nodes, t->nr, t->depth, o, &e), 0);
}

static const char *name_of(const struct calltree *t, const struct layout_rect *r)
{
	return t->funcs[t->nodes[r->node].func].name;
}

/* What must hold of every layout: rows are filled without gap or overlap, and nothing is lost. */
static void check(const struct calltree *t, const struct layout *l)
{
	uint64_t *used = calloc(l->nr, sizeof(*used)), *samples = calloc(l->nr, sizeof(*samples));
	uint32_t nodes = 0, rows = 0;

	assert_true(l->nr >= 1);
	assert_int_equal(l->rects[0].start, 0);
	assert_int_equal(l->rects[0].total, t->nodes[0].total);
	for (size_t i = 0; i < l->nr; i++) {
		const struct layout_rect *r = &l->rects[i], *up = &l->rects[r->parent];

		assert_true(r->total > 0);
		rows = r->depth + 1 > rows ? r->depth + 1 : rows;
		nodes += !r->merged;
		if (r->merged)
			assert_true(r->largest <= r->total && r->node == up->node);
		else
			assert_true(r->total == t->nodes[r->node].total &&
				    r->self == calltree_self(t->nodes, r->node));
		if (!i)
			continue;
		assert_true(r->parent < i);
		assert_int_equal(r->depth, up->depth + 1);
		assert_int_equal(up->merged, 0);
		assert_int_equal(r->start, up->start + used[r->parent]);
		used[r->parent] += r->total;
		samples[r->parent] += r->samples;
	}
	for (size_t i = 0; i < l->nr; i++)
		if (!l->rects[i].merged)
			assert_int_equal(used[i] + l->rects[i].self, l->rects[i].total);
	assert_int_equal(nodes, l->nodes);
	assert_int_equal(rows, l->rows);
	free(used);
	free(samples);
}

/* A bushy tree of @nr nodes with a heavy-tailed distribution of values. */
static struct calltree *random_tree(uint64_t seed, size_t nr)
{
	struct calltree *t = tree_new();
	uint32_t f = tree_func(t, "f@app", 5), node = 0;

	while (t->nr < nr) {
		uint64_t r = test_random(&seed);

		node = r % 4 ? (uint32_t)(r >> 8) % (uint32_t)t->nr : node;
		node = tree_child(t, node, f);
		if (r >> 60 < 12)
			tree_value(t, node,
				1 + (r >> 16 & 0xff) * (r >> 24 & 0xff) / (1 + (r >> 32 & 0xff)));
	}
	tree_value(t, node, 1);
	/* The contract: nodes without a total are left out. These are the leaves without a value.
	 */
	for (size_t i = 0; i < t->nr; i++)
		if (!t->nodes[i].total)
			tree_value(t, (uint32_t)i, 1);
	return t;
}

static void test_layout_places_children_left_and_self_right(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;

	(void)state;
	tree_add(t, "main;a", 60);
	tree_add(t, "main;b;c", 25);
	tree_add(t, "main", 15);

	build(&l, t, &unlimited);

	assert_int_equal(l.nr, 5);
	assert_int_equal(l.rows, 4);
	assert_string_equal(name_of(t, &l.rects[1]), "main");
	assert_string_equal(name_of(t, &l.rects[2]), "a");
	assert_int_equal(l.rects[2].start, 0);
	assert_int_equal(l.rects[3].start, 60);
	assert_int_equal(l.rects[4].start, 60);
	assert_int_equal(l.rects[4].depth, 3);
	assert_int_equal(l.rects[1].self, 15);
	check(t, &l);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_merges_what_is_too_narrow_at_the_end_of_the_row(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;

	(void)state;
	tree_add(t, "main;d", 5);
	tree_add(t, "main;a", 60);
	tree_add(t, "main;c;x", 6);
	tree_add(t, "main;b", 25);
	tree_add(t, "main;e", 2);
	tree_add(t, "main", 2);

	build(&l, t, &(struct layout_options){.min_total = 10, .max_rows = 100});

	assert_int_equal(l.nr, 5);
	assert_string_equal(name_of(t, &l.rects[2]), "a");
	assert_string_equal(name_of(t, &l.rects[3]), "b");
	assert_int_equal(l.rects[4].merged, 3);
	assert_int_equal(l.rects[4].start, 85);
	assert_int_equal(l.rects[4].total, 13);
	assert_int_equal(l.rects[4].samples, 3);
	assert_int_equal(l.rects[4].largest, 6);
	check(t, &l);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_keeps_to_its_budget_and_loses_nothing(void **state)
{
	static const uint32_t budgets[] = {2, 3, 10, 64, 500, 4000};

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct calltree *t = random_tree(seed, 20 + seed * seed);

		for (size_t i = 0; i < ARRAY_LEN(budgets); i++) {
			struct layout l;

			build(&l, t,
				&(struct layout_options){.max_frames = budgets[i],
					.max_rows = seed % 3 ? 1000 : 7,
					.max_listed = 100});
			check(t, &l);
			assert_true(l.nr <= budgets[i]);
			if (t->nr <= budgets[i] && seed % 3)
				assert_int_equal(l.nr, t->nr);
			layout_release(&l);
		}
		calltree_free(t);
	}
}

static void test_layout_spends_most_of_its_budget(void **state)
{
	struct calltree *t = random_tree(5, 30000);
	struct layout l;

	(void)state;
	build(&l, t,
		&(struct layout_options){.max_frames = 4000, .max_rows = 1000, .max_listed = 100});

	assert_true(l.nr > 3500);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_draws_the_wider_node_before_the_narrower(void **state)
{
	struct calltree *t = random_tree(9, 5000);
	struct layout l;
	char *drawn = calloc(t->nr, 1);

	(void)state;
	build(&l, t,
		&(struct layout_options){.max_frames = 300, .max_rows = 1000, .max_listed = 10});
	for (size_t i = 0; i < l.nr; i++)
		if (!l.rects[i].merged)
			drawn[l.rects[i].node] = 1;

	/* Buckets are 1/16 octave: nothing more than 1/8 wider than the narrowest drawn is left
	 * out. */
	for (size_t i = 0; i < t->nr; i++)
		if (!drawn[i])
			assert_true(t->nodes[i].total <= l.narrowest + l.narrowest / 8);
	free(drawn);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_of_equal_towers_keeps_the_rows_near_the_root(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	uint32_t f = tree_func(t, "f", 1);

	(void)state;
	for (int i = 0; i < 50; i++) { /* 50 threads, each 100 calls deep */
		uint32_t n = 0;

		for (int d = 0; d < 100; d++)
			n = tree_child(t, n, f);
		tree_value(t, n, 10);
	}

	build(&l, t,
		&(struct layout_options){.max_frames = 1000, .max_rows = 1000, .max_listed = 10});

	assert_true(l.nr > 900 && l.nr <= 1000);
	assert_true(l.rows >= 19 && l.rows <= 21);
	check(t, &l);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_cuts_what_is_too_deep_and_says_how_much(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	uint32_t f = tree_func(t, "f", 1), n = 0;

	(void)state;
	for (int d = 0; d < 20000; d++)
		n = tree_child(t, n, f);
	tree_value(t, n, 1000);
	tree_add(t, "main;a", 10);

	build(&l, t,
		&(struct layout_options){.max_frames = 4000, .max_rows = 1800, .max_listed = 10});

	assert_int_equal(l.rows, 1800);
	assert_int_equal(l.nr, 1800 + 2);
	assert_int_equal(l.rects[1799].merged, 1);
	assert_int_equal(l.rects[1799].cut_levels, 20000 - 1798);
	assert_int_equal(l.rects[1799].total, 1000);
	check(t, &l);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_trims_hair_thin_towers(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	uint32_t f = tree_func(t, "f", 1), n = 0;

	(void)state;
	for (int d = 0; d < 1500; d++)
		n = tree_child(t, n, f);
	tree_value(t, n, 1);
	tree_add(t, "main;a", 100000);

	build(&l, t,
		&(struct layout_options){.max_frames = 4000, .max_rows = 1800, .trim_towers = 1});

	assert_int_equal(l.rows, 33);
	assert_int_equal(l.rects[32].cut_levels, 1500 - 31);
	check(t, &l);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_of_many_equal_leaves_is_one_merged_frame(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	uint32_t f = tree_func(t, "leaf", 4), n;
	uint64_t ties;

	(void)state;
	n = tree_child(t, 0, f);
	for (int i = 0; i < 200000; i++)
		tree_value(t, tree_child(t, n, f), 1);

	build(&l, t,
		&(struct layout_options){.max_frames = 4000, .max_rows = 1800, .max_listed = 500});

	assert_int_equal(l.nr, 3);
	assert_int_equal(l.rects[2].merged, 200000);
	/* As many as asked for are listed all the same. */
	ties = l.listed_ties;
	n = 0;
	for (size_t i = 2; i < t->nr; i++)
		n += (uint32_t)layout_listed(&l, &t->nodes[i], &ties);
	assert_int_equal(n, 4500 - 2);
	layout_release(&l);
	calltree_free(t);
}

static void test_layout_of_an_empty_tree_is_no_data(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	struct err e = {0};

	(void)state;
	assert_int_equal(layout_build(&l, t->nodes, t->nr, 0, &unlimited, &e), -ENODATA);
	assert_contains(e.msg, "nothing to draw");
	assert_null(l.rects);
	calltree_free(t);
}

RUN_TESTS(T(test_layout_places_children_left_and_self_right),
	T(test_layout_merges_what_is_too_narrow_at_the_end_of_the_row),
	T(test_layout_keeps_to_its_budget_and_loses_nothing),
	T(test_layout_spends_most_of_its_budget),
	T(test_layout_draws_the_wider_node_before_the_narrower),
	T(test_layout_of_equal_towers_keeps_the_rows_near_the_root),
	T(test_layout_cuts_what_is_too_deep_and_says_how_much),
	T(test_layout_trims_hair_thin_towers),
	T(test_layout_of_many_equal_leaves_is_one_merged_frame),
	T(test_layout_of_an_empty_tree_is_no_data))
