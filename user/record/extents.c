/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: between two free extents lies at least one piece that is out, so there
 * is never more than one free extent more than pieces. Room for that is made when
 * a piece is taken; giving back then needs no memory.
 */
#include "extents.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct extents *x, size_t cap)
{
	struct extent *grown;

	if (cap <= x->cap)
		return 0;
	cap = cap < 8 ? 8 : 2 * cap;
	grown = reallocarray(x->free, cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	x->free = grown;
	x->cap = cap;
	return 0;
}

int extents_init(struct extents *x, uint32_t size)
{
	*x = (struct extents){.size = size};
	if (reserve(x, 1))
		return -ENOMEM;
	x->free[x->nr++] = (struct extent){.first = 0, .nr = size};
	return 0;
}

void extents_release(struct extents *x)
{
	free(x->free);
	*x = (struct extents){0};
}

int extents_find(const struct extents *x, uint32_t nr, struct extent *found)
{
	for (size_t i = 0; i < x->nr; i++) {
		if (x->free[i].nr < nr)
			continue;
		*found = x->free[i];
		return 1;
	}
	return 0;
}

/* Index of the first free extent at or behind @first. */
static size_t at_or_behind(const struct extents *x, uint32_t first)
{
	size_t lo = 0, hi = x->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->free[mid].first < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void remove_at(struct extents *x, size_t i)
{
	x->nr--;
	memmove(&x->free[i], &x->free[i + 1], (x->nr - i) * sizeof(x->free[0]));
}

int extents_take(struct extents *x, uint32_t first, uint32_t nr)
{
	size_t i = at_or_behind(x, first);

	assert(i < x->nr && x->free[i].first == first && x->free[i].nr >= nr && nr);
	if (reserve(x, x->taken + 2))
		return -ENOMEM;
	x->taken++;
	x->free[i].first += nr;
	x->free[i].nr -= nr;
	if (!x->free[i].nr)
		remove_at(x, i);
	return 0;
}

void extents_give(struct extents *x, uint32_t first, uint32_t nr)
{
	size_t i = at_or_behind(x, first);
	int with_left = i > 0 && x->free[i - 1].first + x->free[i - 1].nr == first;
	int with_right = i < x->nr && first + nr == x->free[i].first;

	assert(nr && x->taken && first + nr <= x->size);
	x->taken--;
	if (with_left && with_right) {
		x->free[i - 1].nr += nr + x->free[i].nr;
		remove_at(x, i);
	} else if (with_left) {
		x->free[i - 1].nr += nr;
	} else if (with_right) {
		x->free[i].first = first;
		x->free[i].nr += nr;
	} else {
		assert(x->nr < x->cap);
		memmove(&x->free[i + 1], &x->free[i], (x->nr - i) * sizeof(x->free[0]));
		x->free[i] = (struct extent){.first = first, .nr = nr};
		x->nr++;
	}
}

uint32_t extents_left(const struct extents *x)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < x->nr; i++)
		sum += x->free[i].nr;
	return sum;
}

void extents_check(const struct extents *x)
{
	assert(x->nr <= x->taken + 1 && x->nr <= x->cap);
	for (size_t i = 0; i < x->nr; i++) {
		assert(x->free[i].nr);
		assert(x->free[i].first + x->free[i].nr <= x->size);
		assert(!i || x->free[i - 1].first + x->free[i - 1].nr < x->free[i].first);
	}
}
