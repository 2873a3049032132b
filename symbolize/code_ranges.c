/* SPDX-License-Identifier: BSD-2-Clause */
#include "code_ranges.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static void add(struct code_ranges *c, uint64_t start, uint64_t size)
{
	if (size && start <= CODE_ADDR_MAX && size <= CODE_ADDR_MAX - start)
		c->at[c->nr++] = (struct code_range){start, start + size};
}

/* Sort, and cut what overlaps (damage), so that a search is exact. */
static void tidy(struct code_ranges *c)
{
	size_t kept = 0;

	if (!c->nr)
		return;
	qsort(c->at, c->nr, sizeof(*c->at), by_start);
	for (size_t i = 1; i < c->nr; i++) {
		struct code_range *r = &c->at[i];

		if (r->start < c->at[kept].end)
			r->start = c->at[kept].end;
		if (r->start < r->end)
			c->at[++kept] = *r;
	}
	c->nr = kept + 1;
}

int code_ranges_find(struct code_ranges *c, const struct elf_file *f, struct err *e)
{
	*c = (struct code_ranges){0};
	c->at = calloc((size_t)f->nr_sections + f->nr_loads + 1, sizeof(*c->at));
	if (!c->at)
		return err_set(e, -ENOMEM, "%s: out of memory", f->name);
	for (uint32_t i = 0; i < f->nr_sections; i++) {
		const struct elf_section *s = &f->sections[i];

		if ((s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR))
			add(c, s->addr, s->size);
	}
	for (uint32_t i = 0; i < f->nr_loads && !f->nr_sections; i++)
		if (f->loads[i].flags & PF_X)
			add(c, f->loads[i].vaddr, f->loads[i].memsz);
	tidy(c);
	return 0;
}

void code_ranges_release(struct code_ranges *c)
{
	free(c->at);
	*c = (struct code_ranges){0};
}

const struct code_range *code_range_at(const struct code_ranges *c, uint64_t addr)
{
	size_t lo = 0, hi = c->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->at[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < c->at[lo - 1].end ? &c->at[lo - 1] : NULL;
}
