/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk's view of the unwind tables in memory: module entry, page index, binary
 * search, as bpf/wire.h says it, without a line of the code that wrote them.
 */
#ifndef PROFBPF_TESTS_WALK_TABLES_H
#define PROFBPF_TESTS_WALK_TABLES_H

#include <linux/types.h>

#include "bpf/unwind_step.h"
#include "bpf/wire.h"
#include "symbolize/unwind_table.h"

struct walk_tables {
	const struct wire_unwind_module *modules;
	const struct wire_unwind_page *pages;
	const struct unwind_rule *rules;
	struct unwind_row *const *slabs;
};

static inline uint16_t walk_tables_find(const struct walk_tables *w, uint32_t id, uint64_t offset)
{
	const struct wire_unwind_module *m = &w->modules[id];
	uint64_t page = offset >> UNWIND_PAGE_SHIFT;
	const struct wire_unwind_page *p;
	const struct unwind_row *rows;
	uint32_t lo = 0, hi;

	if (m->state != WIRE_UNWIND_READY || page < m->first_page ||
		page - m->first_page >= m->nr_pages)
		return 0;
	p = &w->pages[m->index + page - m->first_page];
	if (!p->nr)
		return 0;
	assert_true(p->slab < UNWIND_MAX_SLABS && p->first + p->nr <= UNWIND_SLAB_ROWS);
	rows = w->slabs[p->slab] + p->first;
	/* [lo, hi): rows whose low may still be the last one at or below */
	for (hi = p->nr; hi - lo > 1;) {
		uint32_t mid = (lo + hi) / 2;

		if (rows[mid].low <= (offset & 0xffff))
			lo = mid;
		else
			hi = mid;
	}
	return rows[lo].low <= (offset & 0xffff) ? rows[lo].rule : 0;
}

/* At each row's first byte and the byte before, and before and behind the table. */
static inline void walk_tables_compare(
	const struct walk_tables *w, uint32_t id, const struct unwind_table *t)
{
	uint64_t first = (uint64_t)t->first_page << UNWIND_PAGE_SHIFT;
	uint64_t end = first + ((uint64_t)t->nr_pages << UNWIND_PAGE_SHIFT);

	for (uint32_t p = 0; p < t->nr_pages; p++) {
		for (uint32_t i = t->pages[p]; i < t->pages[p + 1]; i++) {
			uint64_t at = first + ((uint64_t)p << UNWIND_PAGE_SHIFT) + t->rows[i].low;

			if (walk_tables_find(w, id, at) != unwind_table_find(t, at) ||
				walk_tables_find(w, id, at - 1) != unwind_table_find(t, at - 1))
				fail_msg("module %u differs at file offset %#llx", id,
					(unsigned long long)at);
		}
	}
	assert_int_equal(walk_tables_find(w, id, first - 1), 0);
	assert_int_equal(walk_tables_find(w, id, end), 0);
	assert_int_equal(walk_tables_find(w, id, end - 1), unwind_table_find(t, end - 1));
}

/* The same, by what the rules say: @rules is another dictionary than that in the maps. */
static inline void walk_tables_compare_rules(const struct walk_tables *w, uint32_t id,
	const struct unwind_table *t, const struct unwind_rules *rules)
{
	for (uint32_t p = 0; p < t->nr_pages; p++) {
		for (uint32_t i = t->pages[p]; i < t->pages[p + 1]; i++) {
			uint64_t at =
				((uint64_t)t->first_page + p) << UNWIND_PAGE_SHIFT | t->rows[i].low;

			for (int before = 0; before < 2; before++) {
				const struct unwind_rule *want =
					unwind_rules_at(rules, unwind_table_find(t, at - before));
				const struct unwind_rule *got =
					&w->rules[walk_tables_find(w, id, at - before)];

				if (memcmp(got, want, sizeof(*got)))
					fail_msg("module %u differs at file offset %#llx", id,
						(unsigned long long)at - before);
			}
		}
	}
}

#endif
