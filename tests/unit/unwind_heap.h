/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of unwind tables on the heap instead of in maps. */
#ifndef PROFBPF_TESTS_UNWIND_HEAP_H
#define PROFBPF_TESTS_UNWIND_HEAP_H

#include "user/record/unwind_store.h"
#include "walk_tables.h"

struct heap {
	struct unwind_memory memory;
	struct unwind_row *slabs[UNWIND_MAX_SLABS];
	uint32_t nr_slabs;
	unsigned settled;
	int fail_slab; /* errno of the next one */
};

static inline int heap_slab(void *ctx, uint32_t slab, struct unwind_row **rows, struct err *e)
{
	struct heap *h = ctx;

	assert_int_equal(slab, h->nr_slabs);
	if (h->fail_slab)
		return err_set(e, -h->fail_slab, "no slab");
	*rows = h->slabs[h->nr_slabs++] = calloc(UNWIND_SLAB_ROWS, sizeof(**rows));
	assert_non_null(*rows);
	return 0;
}

static inline void heap_settle(void *ctx)
{
	((struct heap *)ctx)->settled++;
}

static inline void heap_begin(struct heap *h, uint32_t max_slabs)
{
	h->memory = (struct unwind_memory){
		.modules = calloc(UNWIND_MODULES, sizeof(struct wire_unwind_module)),
		.pages = calloc(UNWIND_MAX_PAGES, sizeof(struct wire_unwind_page)),
		.rules = calloc(UNWIND_MAX_RULES, sizeof(struct unwind_rule)),
		.max_slabs = max_slabs,
		.new_slab = heap_slab,
		.settle = heap_settle,
		.ctx = h};
	assert_non_null(h->memory.modules);
	assert_non_null(h->memory.pages);
	assert_non_null(h->memory.rules);
}

static inline void heap_end(struct heap *h)
{
	for (uint32_t i = 0; i < h->nr_slabs; i++)
		free(h->slabs[i]);
	free(h->memory.modules);
	free(h->memory.pages);
	free(h->memory.rules);
}

static inline struct walk_tables heap_walk(const struct heap *h)
{
	return (struct walk_tables){.modules = h->memory.modules,
		.pages = h->memory.pages,
		.rules = h->memory.rules,
		.slabs = h->slabs};
}

#endif
