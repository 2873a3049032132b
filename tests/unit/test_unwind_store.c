/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <linux/types.h>

#include "unwind_heap.h"
#include "user/record/extents.h"
#include "user/record/unwind_store.h"

struct fixture {
	struct heap heap;
	struct unwind_store *store;
	struct unwind_rules *rules;
	struct err e;
	struct walk_tables walk;
};

static struct fixture *begin(uint32_t max_slabs)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	heap_begin(&f->heap, max_slabs);
	f->rules = unwind_rules_new();
	assert_non_null(f->rules);
	assert_int_equal(unwind_store_new(&f->store, &f->heap.memory), 0);
	f->walk = heap_walk(&f->heap);
	return f;
}

static void end(struct fixture *f)
{
	unwind_store_check(f->store);
	unwind_store_free(f->store);
	unwind_rules_free(f->rules);
	heap_end(&f->heap);
	free(f);
}

/* ---- tables ---- */

/* @nr_pages pages from page @first_page on, with @per_page rows each, all of them @rule. */
static struct unwind_table *table(
	uint32_t first_page, uint32_t nr_pages, uint32_t per_page, uint16_t rule)
{
	struct unwind_table *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->rows = calloc((size_t)nr_pages * per_page + 1, sizeof(*t->rows));
	t->pages = calloc(nr_pages + 1, sizeof(*t->pages));
	assert_non_null(t->rows);
	assert_non_null(t->pages);
	t->first_page = first_page;
	t->nr_pages = nr_pages;
	for (uint32_t p = 0; p < nr_pages; p++) {
		for (uint32_t i = 0; i < per_page; i++)
			t->rows[t->nr_rows++] =
				(struct unwind_row){.low = (uint16_t)i, .rule = rule};
		t->pages[p + 1] = t->nr_rows;
	}
	return t;
}

static int put(struct fixture *f, uint32_t id, struct unwind_table *t, uint64_t now)
{
	int ret = unwind_store_put(f->store, id, t, f->rules, now, &f->e);

	unwind_store_check(f->store);
	if (!ret) {
		walk_tables_compare(&f->walk, id, t);
		assert_int_equal(unwind_store_state(f->store, id), WIRE_UNWIND_READY);
	}
	return ret;
}

/* As put(), and the table is freed. */
static int put_once(struct fixture *f, uint32_t id, struct unwind_table *t, uint64_t now)
{
	int ret = put(f, id, t, now);

	unwind_table_free(t);
	return ret;
}

#define S(n) ((uint64_t)((n)*1e9))

/* ---- extents ---- */

static void test_extents_are_found_first_fit_and_merged_with_both_neighbours(void **state)
{
	struct extents x;
	struct extent found;

	assert_int_equal(extents_init(&x, 100), 0);
	assert_int_equal(extents_take(&x, 0, 10), 0);
	assert_int_equal(extents_take(&x, 10, 20), 0);
	assert_int_equal(extents_take(&x, 30, 30), 0);
	extents_give(&x, 10, 20);
	extents_check(&x);
	assert_true(extents_find(&x, 20, &found));
	assert_int_equal(found.first, 10);
	assert_true(extents_find(&x, 21, &found));
	assert_int_equal(found.first, 60);
	assert_false(extents_find(&x, 41, &found));
	extents_give(&x, 0, 10); /* with its right neighbour */
	extents_check(&x);
	assert_true(extents_find(&x, 30, &found));
	assert_int_equal(found.first, 0);
	extents_give(&x, 30, 30); /* with both */
	extents_check(&x);
	assert_int_equal(x.nr, 1);
	assert_int_equal(extents_left(&x), 100);
	extents_release(&x);
}

static void test_extents_agree_with_a_bitmap(void **state)
{
	enum {
		SIZE = 500,
		PIECES = 60
	};
	struct extent out[PIECES] = {0};
	uint8_t used[SIZE] = {0};
	struct extents x;
	uint64_t seed = 1;

	assert_int_equal(extents_init(&x, SIZE), 0);
	for (int round = 0; round < 20000; round++) {
		struct extent *p = &out[test_random(&seed) % PIECES], found;
		uint32_t nr = 1 + (uint32_t)(test_random(&seed) % 40);

		if (p->nr) {
			extents_give(&x, p->first, p->nr);
			memset(used + p->first, 0, p->nr);
			*p = (struct extent){0};
		} else if (extents_find(&x, nr, &found)) {
			uint32_t run = 0, first = 0;

			for (uint32_t i = 0; i < SIZE && run < nr; i++) {
				run = used[i] ? 0 : run + 1;
				first = i + 1 - run;
			}
			assert_int_equal(run, nr);
			assert_int_equal(found.first, first);
			assert_int_equal(extents_take(&x, found.first, nr), 0);
			memset(used + found.first, 1, nr);
			*p = (struct extent){.first = found.first, .nr = nr};
		}
		extents_check(&x);
	}
	extents_release(&x);
}

/* ---- the store ---- */

static void test_a_table_is_found_where_it_was_put(void **state)
{
	struct fixture *f = begin(4);

	assert_int_equal(put_once(f, 20, table(3, 5, 100, 2), S(1)), 0);
	assert_int_equal(put_once(f, 21, table(0, 1, 1, 1), S(1)), 0);
	assert_int_equal(walk_tables_find(&f->walk, 20, 0x30000), 2);
	assert_int_equal(walk_tables_find(&f->walk, 20, 0x2ffff), 0);
	assert_int_equal(walk_tables_find(&f->walk, 20, 0x80000), 0);
	assert_int_equal(walk_tables_find(&f->walk, 21, 0xffff), 1);
	assert_int_equal(walk_tables_find(&f->walk, 22, 0), 0);
	end(f);
}

static void test_pages_without_rows_have_no_information(void **state)
{
	struct fixture *f = begin(1);
	struct unwind_table *t = table(7, 4, 3, 2);

	/* what was in the index before must not shine through */
	memset(f->heap.memory.pages, 0xff, 100 * sizeof(f->heap.memory.pages[0]));
	t->pages[2] = t->pages[3] = t->pages[1]; /* pages 1 and 2 are empty, 3 has all the rest */
	for (uint32_t i = t->pages[3]; i < t->nr_rows; i++)
		t->rows[i].low = (uint16_t)i;
	assert_int_equal(put(f, 20, t, S(1)), 0);
	assert_int_equal(walk_tables_find(&f->walk, 20, 8 << 16), 0);
	assert_int_equal(walk_tables_find(&f->walk, 20, 9 << 16 | 0xffff), 0);
	assert_int_equal(walk_tables_find(&f->walk, 20, 10 << 16 | 0xffff), 2);
	unwind_table_free(t);
	end(f);
}

static void test_a_large_table_is_cut_between_pages_over_slabs(void **state)
{
	struct fixture *f = begin(3);
	struct unwind_store_stats st;

	/* 2.5 million rows: 3 slabs, and no page over a border */
	assert_int_equal(put_once(f, 20, table(1, 100, 25000, 2), S(1)), 0);
	unwind_store_stats(f->store, &st);
	assert_int_equal(st.slabs, 3);
	assert_int_equal(st.pieces, 3);
	assert_int_equal(st.rows, 2500000);
	/* the rest at the end of the first slab takes another table */
	assert_int_equal(put_once(f, 21, table(0, 1, 20000, 1), S(1)), 0);
	unwind_store_stats(f->store, &st);
	assert_int_equal(st.slabs, 3);
	end(f);
}

static void test_a_table_that_can_never_fit_is_refused(void **state)
{
	struct fixture *f = begin(1);

	assert_int_equal(put_once(f, 20, table(0, 20, 60000, 2), S(1)), -E2BIG);
	assert_contains(f->e.msg, "larger than all memory");
	assert_int_equal(put_once(f, 20, table(0, UNWIND_MAX_PAGES / 4 + 1, 1, 2), S(1)), -E2BIG);
	assert_contains(f->e.msg, "spread over");
	assert_int_equal(unwind_store_state(f->store, 20), WIRE_UNWIND_NONE);
	assert_int_equal(put_once(f, 20, table(0, 16, 60000, 2), S(1)), 0);
	end(f);
}

static void test_the_least_used_table_makes_room_after_a_grace(void **state)
{
	struct fixture *f = begin(1);
	struct unwind_table *t = table(0, 8, 50000, 2);
	struct unwind_store_stats st;
	unsigned settled;

	for (uint32_t id = 20; id < 22; id++)
		assert_int_equal(put_once(f, id, table(0, 8, 50000, 1), S(1)), 0);
	f->heap.memory.modules[20].used_ns = S(5);
	assert_int_equal(put(f, 30, t, S(8)), -EAGAIN);
	assert_int_equal(unwind_store_state(f->store, 21), WIRE_UNWIND_NONE);
	assert_int_equal(unwind_store_state(f->store, 20), WIRE_UNWIND_READY);
	/* its memory is left alone, whoever asks */
	assert_int_equal(put(f, 30, t, S(8) + UNWIND_GRACE_NS - 1), -EAGAIN);
	assert_int_equal(f->heap.slabs[0][8 * 50000].rule, 1);
	assert_int_equal(unwind_store_state(f->store, 20), WIRE_UNWIND_READY);
	settled = f->heap.settled;
	assert_int_equal(put(f, 30, t, S(8) + UNWIND_GRACE_NS), 0);
	assert_int_equal(f->heap.settled, settled + 1);
	unwind_store_stats(f->store, &st);
	assert_int_equal(st.evicted, 1);
	assert_int_equal(st.tables, 2);
	unwind_table_free(t);
	end(f);
}

static void test_tables_in_use_are_not_driven_out(void **state)
{
	struct fixture *f = begin(1);

	assert_int_equal(put_once(f, 20, table(0, 8, 50000, 1), S(1)), 0);
	assert_int_equal(put_once(f, 21, table(0, 8, 50000, 1), S(1)), 0);
	/* the walk's clock may be ahead of ours */
	f->heap.memory.modules[20].used_ns = S(9);
	f->heap.memory.modules[21].used_ns = S(7.5);
	assert_int_equal(put_once(f, 30, table(0, 8, 50000, 2), S(8)), -ENOSPC);
	assert_int_equal(unwind_store_state(f->store, 20), WIRE_UNWIND_READY);
	assert_int_equal(unwind_store_state(f->store, 21), WIRE_UNWIND_READY);
	/* nor in vain: the one that is not in use would not be enough */
	assert_int_equal(put_once(f, 30, table(0, 16, 50000, 2), S(8.7)), -ENOSPC);
	assert_int_equal(unwind_store_state(f->store, 21), WIRE_UNWIND_READY);
	end(f);
}

static void test_scattered_room_is_used_in_pieces(void **state)
{
	struct fixture *f = begin(1);
	struct unwind_store_stats st;

	for (uint32_t id = 20; id < 40; id++)
		assert_int_equal(put_once(f, id, table(0, 1, 52428, 1), S(1)), 0);
	for (uint32_t id = 20; id < 40; id += 2)
		unwind_store_drop(f->store, id, S(2));
	assert_int_equal(put_once(f, 50, table(5, 100, 5000, 2), S(3)), 0);
	unwind_store_stats(f->store, &st);
	assert_int_equal(st.pieces, 10 + 10);
	for (uint32_t id = 21; id < 40; id += 2)
		assert_int_equal(walk_tables_find(&f->walk, id, 0x8000), 1);
	end(f);
}

static void test_a_slab_that_cannot_be_made_loses_nothing(void **state)
{
	struct fixture *f = begin(2);

	assert_int_equal(put_once(f, 20, table(0, 15, 65536, 1), S(1)), 0);
	f->heap.fail_slab = EPERM;
	assert_int_equal(put_once(f, 21, table(0, 3, 50000, 1), S(1)), -EPERM);
	assert_string_equal(f->e.msg, "no slab");
	f->heap.fail_slab = 0;
	assert_int_equal(put_once(f, 21, table(0, 3, 50000, 1), S(1)), 0);
	end(f);
}

static void test_tables_come_and_go_at_random_without_overlap(void **state)
{
	enum {
		IDS = 40
	};
	struct fixture *f = begin(2);
	struct unwind_table *t[IDS] = {0};
	uint64_t seed = 7, now = S(1);
	unsigned put_count = 0;

	for (int round = 0; round < 1500; round++) {
		uint32_t i = (uint32_t)(test_random(&seed) % IDS), id = 16 + i;

		now += S(0.03);
		if (unwind_store_state(f->store, id) == WIRE_UNWIND_READY) {
			if (test_random(&seed) % 4 == 0)
				unwind_store_drop(f->store, id, now);
			else
				f->heap.memory.modules[id].used_ns = now;
		} else {
			unwind_table_free(t[i]);
			t[i] = table((uint32_t)(test_random(&seed) % 10),
				1 + (uint32_t)(test_random(&seed) % 40),
				1 + (uint32_t)(test_random(&seed) % 6000),
				(uint16_t)(round % UNWIND_MAX_RULES));
			put_count += put(f, id, t[i], now) == 0;
		}
	}
	/* all that are there are still whole */
	for (uint32_t i = 0; i < IDS; i++)
		if (unwind_store_state(f->store, 16 + i) == WIRE_UNWIND_READY)
			walk_tables_compare(&f->walk, 16 + i, t[i]);
	assert_true(put_count > 300);
	for (uint32_t i = 0; i < IDS; i++)
		unwind_table_free(t[i]);
	end(f);
}

static void test_rules_are_there_before_rows_use_them(void **state)
{
	struct fixture *f = begin(1);
	struct unwind_rule rule = {.cfa = UNWIND_SP, .cfa_off = 24};
	uint16_t id;

	assert_int_equal(put_once(f, 20, table(0, 1, 1, 2), S(1)), 0);
	assert_int_equal(f->heap.memory.rules[2].cfa, UNWIND_END);
	assert_int_equal(unwind_rules_id(f->rules, &rule, &id), 0);
	assert_int_equal(f->heap.memory.rules[id].cfa, 0);
	assert_int_equal(put_once(f, 21, table(0, 1, 1, id), S(1)), 0);
	assert_memory_equal(&f->heap.memory.rules[id], &rule, sizeof(rule));
	end(f);
}

static void test_go_programs_are_marked(void **state)
{
	struct fixture *f = begin(1);

	unwind_store_set_fp(f->store, 20);
	assert_int_equal(f->heap.memory.modules[20].state, WIRE_UNWIND_FP);
	unwind_store_drop(f->store, 20, S(1));
	assert_int_equal(f->heap.memory.modules[20].state, WIRE_UNWIND_FP);
	end(f);
}

RUN_TESTS(T(test_extents_are_found_first_fit_and_merged_with_both_neighbours),
	T(test_extents_agree_with_a_bitmap), T(test_a_table_is_found_where_it_was_put),
	T(test_pages_without_rows_have_no_information),
	T(test_a_large_table_is_cut_between_pages_over_slabs),
	T(test_a_table_that_can_never_fit_is_refused),
	T(test_the_least_used_table_makes_room_after_a_grace),
	T(test_tables_in_use_are_not_driven_out), T(test_scattered_room_is_used_in_pieces),
	T(test_a_slab_that_cannot_be_made_loses_nothing),
	T(test_tables_come_and_go_at_random_without_overlap),
	T(test_rules_are_there_before_rows_use_them), T(test_go_programs_are_marked))
