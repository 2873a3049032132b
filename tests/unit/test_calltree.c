/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "profile_fixture.h"
#include "user/model/calltree.h"
#include "user/model/filter.h"

/* "main 4/1(a 3/3) ": name total/self(children), in the order of the links. */
static void show(struct buf *b, const struct calltree *t, uint32_t at)
{
	size_t nr;
	const struct calltree_node *n = calltree_nodes(t, &nr);
	uint32_t c;

	buf_addf(b, "%s %llu/%llu", calltree_func(t, n[at].func)->name,
		(unsigned long long)n[at].total, (unsigned long long)calltree_self(n, at));
	if (!n[at].first_child)
		return;
	buf_addc(b, '(');
	for (c = n[at].first_child; c; c = n[c].next) {
		show(b, t, c);
		if (n[c].next)
			buf_addc(b, ' ');
	}
	buf_addc(b, ')');
}

static void assert_tree(struct calltree *t, const char *want)
{
	struct buf b = BUF_INIT;
	struct err e = {0};

	if (calltree_check(t, &e))
		fail_msg("%s", e.msg);
	show(&b, t, 0);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	assert_int_equal(calltree_total_funcs(t, &e), 0);
	if (calltree_check(t, &e))
		fail_msg("%s", e.msg);
	calltree_free(t);
}

static struct calltree *from(const char *folded, const struct calltree_options *o)
{
	struct calltree *t;
	struct err e = {0};

	if (calltree_from_folded(&t, folded, o, &e))
		fail_msg("%s", e.msg);
	return t;
}

/* The tree of a recording (profile_fixture.h), with values in ms. */
static struct calltree *recorded(struct profile **p, const char *text,
	const struct filter_options *f, const struct calltree_options *o)
{
	struct selection s;
	struct calltree *t;
	struct err e = {0};

	*p = profile_from_text(text);
	assert_int_equal(selection_make(&s, *p, f, &e), 0);
	assert_int_equal(calltree_build(&t, &s, o, &e), 0);
	selection_release(&s);
	return t;
}

static void siblings_are_in_name_order_or_by_size(void **state)
{
	const char *text = "main;b 1\nmain;a 2\nmain;c 3\nmain 4\nlate 1\n";

	(void)state;
	assert_tree(from(text, NULL), "all 11/0(late 1/1 main 10/4(a 2/2 b 1/1 c 3/3))");
	assert_tree(from(text, &(struct calltree_options){.order = CALLTREE_BY_SIZE}),
		"all 11/0(main 10/4(c 3/3 a 2/2 b 1/1) late 1/1)");
	assert_tree(from("m;b 2\nm;a 2\n", &(struct calltree_options){.order = CALLTREE_BY_SIZE}),
		"all 4/0(m 4/0(a 2/2 b 2/2))");
}

static void recursion_stays_in_the_tree_and_counts_once_in_functions(void **state)
{
	struct calltree *t = from("main;f;g;f 5\nmain;f 2\n", NULL);
	struct err e = {0};
	uint32_t i;

	(void)state;
	assert_int_equal(calltree_total_funcs(t, &e), 0);
	for (i = 0; i < calltree_nr_funcs(t); i++) {
		const struct calltree_func *f = calltree_func(t, i);

		if (!strcmp(f->name, "f")) {
			assert_int_equal(f->self, 7);
			assert_int_equal(f->total, 7);
		} else if (!strcmp(f->name, "main")) {
			assert_int_equal(f->total, 7);
		} else if (!strcmp(f->name, "g")) {
			assert_int_equal(f->total, 5);
		}
	}
	assert_int_equal(calltree_depth(t), 4);
	assert_tree(t, "all 7/0(main 7/0(f 7/2(g 5/0(f 5/5))))");
}

static void inverted_trees_begin_at_the_leaf(void **state)
{
	const char *text = "main;a;x 3\nmain;b;x 4\nmain;b 1\n";

	(void)state;
	assert_tree(from(text, &(struct calltree_options){.inverted = 1}),
		"all 8/0(b 1/0(main 1/1) x 7/0(a 3/0(main 3/3) b 4/0(main 4/4)))");
}

static void function_zero_is_all_and_the_rest_are_in_name_order(void **state)
{
	struct calltree *t = from("b;a 1\nc 1\n", NULL);

	(void)state;
	assert_int_equal(calltree_nr_funcs(t), 4);
	assert_string_equal(calltree_func(t, 0)->name, "all");
	assert_string_equal(calltree_func(t, 1)->name, "a");
	assert_string_equal(calltree_func(t, 3)->name, "c");
	assert_string_equal(calltree_facts(t)->unit, "count");
	assert_int_equal(calltree_facts(t)->total, 2);
	calltree_free(t);
}

static void nothing_gives_the_root_alone(void **state)
{
	(void)state;
	assert_tree(from("", NULL), "all 0/0");
	assert_tree(from("a;b 0\n", NULL), "all 0/0");
	assert_tree(from("a;b 0\na 1\n", NULL), "all 1/0(a 1/1)");
	assert_tree(from("a;b 0\n", &(struct calltree_options){.generic = 1}), "all 0/0");
}

static void addresses_of_one_function_are_one_node(void **state)
{
	struct profile *p;
	struct builder *b;
	struct calltree *t;
	struct selection s;
	struct err e = {0};
	int64_t process, thread, frame;
	uint64_t addr;

	(void)state;
	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(builder_new(&b, profile_sink(p), NULL), 0);
	builder_put(b, &(struct record){.kind = RECORD_RUN, .run = {.period_ns = 1}}, &e);
	process = builder_process(b, &(struct record_process){.pid = 1}, NULL, &e);
	thread = builder_thread(b, (uint32_t)process, 1, "t", 1, &e);
	for (addr = 1; addr < 6; addr++) {
		struct record r = {.kind = RECORD_NAME};

		frame = builder_frame(b, &(struct frame){.kind = FRAME_KERNEL, .addr = addr}, &e);
		r.name.frame = (uint32_t)frame;
		r.name.name = (uint32_t)builder_string(
			b, addr < 4 ? "read" : "write", addr < 4 ? 4 : 5, &e);
		builder_put(b, &r, &e);
		builder_put(b,
			&(struct record){.kind = RECORD_SAMPLE,
				.sample = {.thread = (uint32_t)thread,
					.type = VALUE_CPU,
					.value = addr,
					.stack = (uint32_t)builder_stack(
						b, 0, (uint32_t)frame, &e)}},
			&e);
	}
	assert_int_equal(profile_finish(p, &e), 0);
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(calltree_build(&t, &s, NULL, &e), 0);
	assert_tree(t, "all 15/0(read 6/6 write 9/9)");
	selection_release(&s);
	builder_free(b);
	profile_free(p);
}

static void inlined_functions_are_levels(void **state)
{
	struct profile *p;
	struct calltree *t = recorded(&p, "1 a/t main;in~out 2\n2 a/t main;out 1\n", NULL, NULL);

	(void)state;
	assert_tree(t, "all 3000000/0(main 3000000/0(out 3000000/1000000(in 2000000/2000000)))");
	profile_free(p);
}

static void threads_and_processes_are_first_levels(void **state)
{
	const char *text = "1 app/io f 1\n2 app/work f 2\n3 other/io f 4\n4 app/io g 8\n";
	struct profile *p;
	struct calltree *t;

	(void)state;
	t = recorded(&p, text, NULL, &(struct calltree_options){.by_thread = 1});
	assert_tree(t, "all 15000000/0(io 13000000/0(f 5000000/5000000 g 8000000/8000000) "
		       "work 2000000/0(f 2000000/2000000))");
	profile_free(p);
	t = recorded(&p, text, NULL, &(struct calltree_options){.by_process = 1});
	assert_tree(t, "all 15000000/0(app 11000000/0(f 3000000/3000000 g 8000000/8000000) "
		       "other 4000000/0(f 4000000/4000000))");
	profile_free(p);
	t = recorded(&p, text, NULL, &(struct calltree_options){.by_process = 1, .by_thread = 1});
	assert_tree(t,
		"all 15000000/0(app 11000000/0(io 9000000/0(f 1000000/1000000 g 8000000/8000000) "
		"work 2000000/0(f 2000000/2000000)) other 4000000/0(io 4000000/0(f "
		"4000000/4000000)))");
	profile_free(p);
	t = recorded(&p, text, NULL, &(struct calltree_options){.by_thread = 1, .inverted = 1});
	assert_tree(t, "all 15000000/0(io 13000000/0(f 5000000/5000000 g 8000000/8000000) "
		       "work 2000000/0(f 2000000/2000000))");
	profile_free(p);
}

static void a_thread_called_like_a_function_stays_a_thread(void **state)
{
	struct profile *p;
	struct calltree *t =
		recorded(&p, "1 app/f f;f 1\n", NULL, &(struct calltree_options){.by_thread = 1});
	struct err e = {0};
	uint32_t i, tasks = 0;

	(void)state;
	assert_int_equal(calltree_total_funcs(t, &e), 0);
	assert_int_equal(calltree_nr_funcs(t), 3);
	for (i = 1; i < 3; i++)
		tasks += calltree_func(t, i)->kind == FUNC_TASK;
	assert_int_equal(tasks, 1);
	assert_tree(t, "all 1000000/0(f 1000000/0(f 1000000/0(f 1000000/1000000)))");
	profile_free(p);
}

static void names_only_joins_modules_and_two_keeps_natures_apart(void **state)
{
	const char *text = "1 a/t liba.so!read 1\n2 a/t libb.so!read 2\n3 a/t [k]read 4\n";
	struct profile *p;
	struct calltree *t;

	(void)state;
	t = recorded(&p, text, NULL, NULL);
	assert_tree(
		t, "all 7000000/0(read 4000000/4000000 read 1000000/1000000 read 2000000/2000000)");
	profile_free(p);
	t = recorded(&p, text, NULL, &(struct calltree_options){.names_only = 1});
	assert_tree(t, "all 7000000/0(read 7000000/7000000)");
	profile_free(p);
	t = recorded(&p, text, NULL, &(struct calltree_options){.names_only = 2});
	assert_tree(t, "all 7000000/0(read 4000000/4000000 read 3000000/3000000)");
	profile_free(p);
}

static void a_filter_leaves_only_what_it_selects(void **state)
{
	struct profile *p;
	struct calltree *t = recorded(&p, "1 a/t main;f 1\n2 a/t main;g 2\n9 a/t late 4\n",
		&(struct filter_options){.to = "5ms", .ignore = {(const char *[]){"g"}, 1}}, NULL);

	(void)state;
	assert_int_equal(calltree_nr_funcs(t), 3);
	assert_int_equal(calltree_facts(t)->filtered, 1);
	assert_int_equal(calltree_facts(t)->capture_total, 7 * FIXTURE_MS);
	assert_tree(t, "all 1000000/0(main 1000000/0(f 1000000/1000000))");
	profile_free(p);
}

static void sums_that_overflow_stop_at_the_top(void **state)
{
	(void)state;
	assert_tree(from("a;b 18446744073709551615\na;c 5\n", NULL),
		"all 18446744073709551615/0(a 18446744073709551615/0(b "
		"18446744073709551615/18446744073709551615 c 5/5))");
}

/* Random folded text; few names, so that stacks share much. */
static void random_text(struct buf *b, uint64_t *seed, unsigned lines)
{
	unsigned i, k, depth;

	for (i = 0; i < lines; i++) {
		depth = 1 + (unsigned)(test_random(seed) % 8);
		for (k = 0; k < depth; k++)
			buf_addf(b, "%sf%u", k ? ";" : "", (unsigned)(test_random(seed) % 7));
		buf_addf(b, " %u\n", (unsigned)(test_random(seed) % 4));
	}
}

/* Every order, with and without modules: the short cut and the long way agree. */
static void assert_both_ways_agree(const char *text)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	int order, names;

	for (order = 0; order < 2; order++) {
		for (names = 0; names < 2; names++) {
			struct calltree_options o = {
				.order = (enum calltree_order)order, .names_only = names};
			struct calltree *fast = from(text, &o), *slow;
			struct err e = {0};

			o.generic = 1;
			slow = from(text, &o);
			buf_clear(&a);
			buf_clear(&b);
			show(&a, fast, 0);
			show(&b, slow, 0);
			assert_string_equal(buf_str(&a), buf_str(&b));
			assert_int_equal(calltree_check(fast, &e), 0);
			assert_int_equal(calltree_check(slow, &e), 0);
			calltree_free(fast);
			calltree_free(slow);
		}
	}
	buf_release(&a);
	buf_release(&b);
}

static void both_ways_give_the_same_tree(void **state)
{
	uint64_t seed = 11;
	int run;

	(void)state;
	for (run = 0; run < 60; run++) {
		struct buf text = BUF_INIT;

		random_text(&text, &seed, 1 + (unsigned)run * 3);
		assert_both_ways_agree(buf_str(&text));
		buf_release(&text);
	}
}

/* Thousands of children of one parent are placed by function, not sorted. */
static void wide_parents_are_in_order(void **state)
{
	struct buf text = BUF_INIT;
	uint64_t seed = 17;
	unsigned i, k;

	(void)state;
	for (i = 0; i < 5000; i++) {
		k = (unsigned)(test_random(&seed) % 3000);
		buf_addf(&text, "%s;leaf_%u %u\n", i % 3 ? "main;wide" : "main", k, 1 + i % 5);
	}
	assert_both_ways_agree(buf_str(&text));
	buf_release(&text);
}

static void the_order_of_samples_does_not_matter(void **state)
{
	struct buf up = BUF_INIT, down = BUF_INIT, text = BUF_INIT;
	struct calltree *a, *b;
	uint64_t seed = 13;
	const char *end;

	(void)state;
	random_text(&text, &seed, 200);
	for (end = text.data + text.len; end > text.data; end--) { /* lines backwards */
		if (end == text.data + text.len || end[-1] != '\n')
			continue;
		buf_adds(&down, end);
		text.data[end - text.data] = '\0';
	}
	buf_adds(&down, text.data);
	buf_clear(&text);
	seed = 13;
	random_text(&text, &seed, 200);
	a = from(buf_str(&text), NULL);
	b = from(buf_str(&down), NULL);
	buf_clear(&down);
	show(&up, a, 0);
	show(&down, b, 0);
	assert_string_equal(buf_str(&up), buf_str(&down));
	calltree_free(a);
	calltree_free(b);
	buf_release(&up);
	buf_release(&down);
	buf_release(&text);
}

static void a_stack_that_is_in_the_trie_twice_is_merged(void **state)
{
	/* A file may hold a stack node twice; a builder would not write it. */
	struct profile *p;
	struct selection s;
	struct calltree *t;
	struct err e = {0};
	struct record r[] = {
		{.kind = RECORD_RUN, .run = {.value_types = 1u << VALUE_COUNT}},
		{.kind = RECORD_STRING, .string = {.id = 1, .data = "f", .len = 1}},
		{.kind = RECORD_PROCESS, .process = {.id = 1}},
		{.kind = RECORD_THREAD, .thread = {.id = 1, .process = 1}},
		{.kind = RECORD_FRAME,
			.frame = {.id = 1, .frame = {.kind = FRAME_NAMED, .addr = 1}}},
		{.kind = RECORD_STACK, .stack = {.id = 1, .frame = 1}},
		{.kind = RECORD_STACK, .stack = {.id = 2, .frame = 1}},
		{.kind = RECORD_SAMPLE,
			.sample = {.thread = 1, .stack = 1, .value = 2, .type = VALUE_COUNT}},
		{.kind = RECORD_SAMPLE,
			.sample = {.thread = 1, .stack = 2, .value = 3, .type = VALUE_COUNT}},
	};
	size_t i;

	(void)state;
	assert_int_equal(profile_new(&p), 0);
	for (i = 0; i < ARRAY_LEN(r); i++)
		assert_int_equal(sink_put(profile_sink(p), &r[i], &e), 0);
	assert_int_equal(profile_finish(p, &e), 0);
	assert_true(profile_is_canonical(p));
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(calltree_build(&t, &s, NULL, &e), 0);
	assert_tree(t, "all 5/0(f 5/5)");
	selection_release(&s);
	profile_free(p);
}

static void twenty_thousand_levels_and_a_wide_parent(void **state)
{
	struct buf text = BUF_INIT;
	struct calltree *t;
	struct err e = {0};
	size_t nr;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		buf_addf(&text, "%sf%d", i ? ";" : "", i % 97);
	buf_adds(&text, " 1\n");
	for (i = 0; i < 20000; i++)
		buf_addf(&text, "wide;x%d 1\n", (i * 7919) % 20000);
	t = from(buf_str(&text), NULL);
	assert_int_equal(calltree_depth(t), 20000);
	calltree_nodes(t, &nr);
	assert_int_equal(nr, 1 + 20000 + 1 + 20000);
	assert_int_equal(calltree_check(t, &e), 0);
	assert_int_equal(calltree_total_funcs(t, &e), 0);
	assert_int_equal(calltree_check(t, &e), 0);
	calltree_free(t);
	t = from(buf_str(&text), &(struct calltree_options){.inverted = 1});
	assert_int_equal(calltree_check(t, &e), 0);
	calltree_free(t);
	buf_release(&text);
}

RUN_TESTS(T(siblings_are_in_name_order_or_by_size),
	T(recursion_stays_in_the_tree_and_counts_once_in_functions),
	T(inverted_trees_begin_at_the_leaf), T(function_zero_is_all_and_the_rest_are_in_name_order),
	T(nothing_gives_the_root_alone), T(addresses_of_one_function_are_one_node),
	T(inlined_functions_are_levels), T(threads_and_processes_are_first_levels),
	T(a_thread_called_like_a_function_stays_a_thread),
	T(names_only_joins_modules_and_two_keeps_natures_apart),
	T(a_filter_leaves_only_what_it_selects), T(sums_that_overflow_stop_at_the_top),
	T(both_ways_give_the_same_tree), T(wide_parents_are_in_order),
	T(the_order_of_samples_does_not_matter), T(a_stack_that_is_in_the_trie_twice_is_merged),
	T(twenty_thousand_levels_and_a_wide_parent))
