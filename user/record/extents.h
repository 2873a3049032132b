/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which parts of a fixed range of numbers are free: first fit, neighbours merged.
 * For thousands of pieces, not millions: a search is linear.
 */
#ifndef PROFBPF_RECORD_EXTENTS_H
#define PROFBPF_RECORD_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t first, nr;
};

struct extents {
	struct extent *free; /* ascending, none adjacent; owned */
	size_t nr, cap;
	size_t taken; /* pieces that are out */
	uint32_t size;
};

/** All of [0, @size) free. 0 or -ENOMEM. */
int extents_init(struct extents *x, uint32_t size);
void extents_release(struct extents *x);
/** The first free extent with room for @nr (> 0): 1 and *found, the whole of it; 0 if none. */
int extents_find(const struct extents *x, uint32_t nr, struct extent *found);
/** Take the first @nr of a free extent that begins at @first. 0, or -ENOMEM with nothing taken. */
int extents_take(struct extents *x, uint32_t first, uint32_t nr);
/** Give back a piece exactly as it was taken. Cannot fail. */
void extents_give(struct extents *x, uint32_t first, uint32_t nr);
/** Free numbers in all. */
uint32_t extents_left(const struct extents *x);
/** Asserts what is said above; for tests. */
void extents_check(const struct extents *x);

#endif
