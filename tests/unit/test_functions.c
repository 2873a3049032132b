/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <math.h>

#include "profile_fixture.h"
#include "user/model/totals.h"
#include "user/view/functions.h"

struct made {
	struct profile *p;
	struct selection s;
	struct functions_view v;
};

static void make(struct made *m, const char *text, const struct filter_options *f,
	struct functions_options o)
{
	struct err e = {0};

	m->p = profile_from_text(text);
	assert_int_equal(selection_make(&m->s, m->p, f, &e), 0);
	assert_int_equal(functions_make(&m->v, &m->s, &o, &e), 0);
}

static void unmake(struct made *m)
{
	functions_release(&m->v);
	selection_release(&m->s);
	profile_free(m->p);
}

/* "name self/total" of the rows shown, in ms. */
static void assert_rows(const struct made *m, const char *want)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < m->v.shown; i++)
		buf_addf(&b, "%s%s %llu/%llu", i ? ", " : "", m->v.rows[i].name,
			(unsigned long long)m->v.rows[i].self / FIXTURE_MS,
			(unsigned long long)m->v.rows[i].total / FIXTURE_MS);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static const char shop[] = "1 shop/front main;serve;parse 30\n"
			   "2 shop/front main;serve;serve;parse 10\n"
			   "3 shop/back main;serve;libdb.so!find 50\n"
			   "4 shop/back main;serve;libdb.so!find;[k]read 8\n"
			   "5 shop/back main 2\n";

static void self_and_total_count_recursion_once(void **state)
{
	struct made m;
	double sum = 0;
	size_t i;

	(void)state;
	make(&m, shop, NULL, (struct functions_options){0});
	assert_rows(&m, "find 50/58, parse 40/40, read 8/8, main 2/100, serve 0/98");
	for (i = 0; i < m.v.nr; i++)
		sum += m.v.rows[i].self_pct;
	assert_true(fabs(sum - 100) < 1e-9);
	assert_int_equal(m.v.rows[0].self_samples, 1);
	assert_int_equal(m.v.rows[0].total_samples, 2);
	assert_int_equal(m.v.rows[4].total_samples, 4);
	assert_true(fabs(m.v.rows[4].total_pct - 98) < 1e-9);
	unmake(&m);
}

static void orders_and_limits(void **state)
{
	struct made m;

	(void)state;
	make(&m, shop, NULL, (struct functions_options){.sort = ROWS_SORT_TOTAL, .limit = 2});
	assert_rows(&m, "main 2/100, serve 0/98");
	assert_int_equal(m.v.nr, 5);
	assert_int_equal(m.v.rest_self, 98 * FIXTURE_MS);
	unmake(&m);
	make(&m, shop, NULL, (struct functions_options){.sort = ROWS_SORT_NAME});
	assert_rows(&m, "find 50/58, main 2/100, parse 40/40, read 8/8, serve 0/98");
	unmake(&m);
	make(&m, shop, NULL, (struct functions_options){.limit = 99});
	assert_int_equal(m.v.shown, 5);
	assert_int_equal(m.v.rest_self, 0);
	unmake(&m);
}

static void every_limit_shows_the_same_first_rows(void **state)
{
	struct buf text = BUF_INIT;
	struct made all, some;
	uint64_t seed = 2;
	size_t limit, i;

	(void)state;
	for (i = 0; i < 300; i++)
		buf_addf(&text, "%zu a/t f%u %u\n", i, (unsigned)(test_random(&seed) % 90),
			(unsigned)(test_random(&seed) % 3));
	make(&all, buf_str(&text), NULL, (struct functions_options){0});
	for (limit = 1; limit < 100; limit += 7) {
		make(&some, buf_str(&text), NULL, (struct functions_options){.limit = limit});
		for (i = 0; i < some.v.shown; i++)
			assert_string_equal(some.v.rows[i].name, all.v.rows[i].name);
		unmake(&some);
	}
	unmake(&all);
	buf_release(&text);
}

static void by_module_thread_and_process(void **state)
{
	struct made m;

	(void)state;
	make(&m, shop, NULL, (struct functions_options){.by = ROWS_BY_MODULE});
	assert_rows(&m, "libdb.so 50/58, app 42/100, [kernel] 8/8");
	assert_string_equal(m.v.rows[0].module_path, "/usr/lib/libdb.so");
	unmake(&m);
	make(&m, shop, NULL, (struct functions_options){.by = ROWS_BY_THREAD});
	assert_rows(&m, "back 60/60, front 40/40");
	assert_string_equal(m.v.rows[0].process, "shop");
	assert_int_equal(m.v.rows[0].tid, 1001);
	unmake(&m);
	make(&m, shop, NULL, (struct functions_options){.by = ROWS_BY_PROCESS});
	assert_rows(&m, "shop 100/100");
	assert_int_equal(m.v.rows[0].pid, 100);
	unmake(&m);
}

static void a_function_inlined_into_itself_counts_once(void **state)
{
	struct made m;

	(void)state;
	make(&m, "1 a/t main;f~g~f 3\n", NULL, (struct functions_options){0});
	assert_rows(&m, "f 3/3, g 0/3, main 0/3");
	unmake(&m);
}

static void leaves_in_the_kernel_and_without_names_are_summed(void **state)
{
	struct made m;

	(void)state;
	make(&m, "1 a/t main;[k]read 3\n2 a/t main;libx!+7 4\n3 a/t - 1\n4 a/t main 2\n", NULL,
		(struct functions_options){.limit = 1});
	assert_int_equal(m.v.kernel_self, 3 * FIXTURE_MS);
	assert_int_equal(m.v.unresolved_self, 5 * FIXTURE_MS);
	assert_int_equal(m.v.unresolved_reason, REASON_NO_SYMBOL);
	unmake(&m);
}

static void rows_of_a_window_add_up_to_it(void **state)
{
	struct made m;
	uint64_t sum = 0;
	size_t i;

	(void)state;
	make(&m, shop, &(struct filter_options){.from = "2ms", .to = "4ms"},
		(struct functions_options){0});
	for (i = 0; i < m.v.nr; i++)
		sum += m.v.rows[i].self;
	assert_int_equal(sum, m.s.total);
	assert_rows(&m, "find 50/50, parse 10/10, main 0/60, serve 0/60");
	unmake(&m);
}

/* By hand, the slow and obvious way. */
static void totals_agree_with_counting_each_stack(void **state)
{
	struct buf text = BUF_INIT;
	struct profile *p;
	struct selection s;
	struct total *t;
	struct err e = {0};
	uint64_t seed = 4, *want;
	const struct prof_sample *samples;
	const struct prof_stack *stacks;
	size_t nr, nr_stacks, i, k;
	uint32_t at, n, f;

	(void)state;
	for (i = 0; i < 400; i++) {
		size_t depth = 1 + test_random(&seed) % 9;

		buf_addf(&text, "%zu a/t ", i);
		for (k = 0; k < depth; k++)
			buf_addf(&text, "%sf%u%s", k ? ";" : "", (unsigned)(test_random(&seed) % 9),
				test_random(&seed) % 5 ? "" : "~f3");
		buf_addf(&text, " %u\n", (unsigned)(test_random(&seed) % 20));
	}
	p = profile_from_text(buf_str(&text));
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(totals_by_func(&t, &s, NULL, 0, &e), 0);
	samples = profile_samples(p, &nr);
	stacks = profile_stacks(p, &nr_stacks);
	want = calloc(profile_nr_funcs(p), sizeof(*want));
	for (i = 0; i < nr; i++) {
		char seen[64] = {0};

		for (at = samples[i].stack; at; at = stacks[at].parent) {
			const uint32_t *funcs = profile_frame_funcs(p, stacks[at].frame, &n);

			for (k = 0; k < n; k++) {
				if (!seen[funcs[k]])
					want[funcs[k]] += samples[i].value;
				seen[funcs[k]] = 1;
			}
		}
	}
	for (f = 0; f < profile_nr_funcs(p); f++)
		assert_int_equal(t[f].total, want[f]);
	free(want);
	free(t);
	selection_release(&s);
	profile_free(p);
	buf_release(&text);
}

static void an_empty_selection_has_no_rows(void **state)
{
	struct made m;
	enum rows_by by;

	(void)state;
	for (by = ROWS_BY_FUNCTION; by <= ROWS_BY_PROCESS; by++) {
		make(&m, shop, &(struct filter_options){.from = "50ms"},
			(struct functions_options){.by = by, .limit = 3});
		assert_int_equal(m.v.nr, 0);
		unmake(&m);
	}
}

RUN_TESTS(T(self_and_total_count_recursion_once), T(orders_and_limits),
	T(every_limit_shows_the_same_first_rows), T(by_module_thread_and_process),
	T(a_function_inlined_into_itself_counts_once),
	T(leaves_in_the_kernel_and_without_names_are_summed), T(rows_of_a_window_add_up_to_it),
	T(totals_agree_with_counting_each_stack), T(an_empty_selection_has_no_rows))
