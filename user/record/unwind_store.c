/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: runs of whole pages are laid into free extents, first fit; a table that
 * finds no extent for all of it is cut into several pieces. So nothing is ever
 * moved, and space is lost only where an extent is smaller than the next page.
 *
 * Order of writing: rules, rows, page entries, the fields of the module entry, its
 * state (release). The walk reads the state first (x86 keeps loads in order; what it
 * reads afterwards depends on it on other machines).
 *
 * Reuse. A walk reads the state of a module, then its pages and rows, on another
 * CPU, with interrupts off, in some microseconds a frame. After the state is NONE no
 * new one begins, but one may be on its way: if its rows were overwritten meanwhile,
 * it would follow a rule of another file. We wait UNWIND_GRACE_NS, a thousand times
 * what a whole walk takes; and because a virtual CPU can be stopped for longer at any
 * instruction, we ask the kernel for a grace period too before memory is reused
 * (settle), which ends when all programs that were running have ended.
 */
#include "unwind_store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "extents.h"

/* One file may take this part of the page index: 2 GiB of file. */
#define MAX_FILE_PAGES (UNWIND_MAX_PAGES / 4)

struct piece {
	uint32_t slab, first, nr;
};

/* Where a table lies. */
struct placed {
	struct piece *pieces; /* owned */
	uint32_t nr_pieces;
	uint32_t rows;
	uint32_t index, nr_pages; /* in the page index */
};

struct resting {
	struct placed placed;
	uint64_t since_ns;
};

struct slab {
	struct unwind_row *rows;
	struct extents space;
};

struct unwind_store {
	struct unwind_memory memory;
	struct slab slabs[UNWIND_MAX_SLABS];
	uint32_t nr_slabs;
	struct extents index;
	struct placed placed[UNWIND_MODULES]; /* mostly untouched: zero pages */
	struct resting *resting;
	size_t nr_resting, cap_resting;
	uint32_t nr_rules; /* written */
	uint32_t tables, evicted, nr_pieces;
	uint64_t rows;
};

int unwind_store_new(struct unwind_store **out, const struct unwind_memory *m)
{
	struct unwind_store *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->memory = *m;
	if (s->memory.max_slabs > UNWIND_MAX_SLABS)
		s->memory.max_slabs = UNWIND_MAX_SLABS;
	if (extents_init(&s->index, UNWIND_MAX_PAGES)) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void unwind_store_free(struct unwind_store *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_slabs; i++)
		extents_release(&s->slabs[i].space);
	for (uint32_t i = 0; i < UNWIND_MODULES && s->tables; i++)
		free(s->placed[i].pieces);
	for (size_t i = 0; i < s->nr_resting; i++)
		free(s->resting[i].placed.pieces);
	extents_release(&s->index);
	free(s->resting);
	free(s);
}

/* ---- space ---- */

static void give_back(struct unwind_store *s, struct placed *p)
{
	for (uint32_t i = 0; i < p->nr_pieces; i++)
		extents_give(
			&s->slabs[p->pieces[i].slab].space, p->pieces[i].first, p->pieces[i].nr);
	if (p->nr_pages)
		extents_give(&s->index, p->index, p->nr_pages);
	s->nr_pieces -= p->nr_pieces;
	free(p->pieces);
	*p = (struct placed){0};
}

/* Give back what has rested long enough. 1 if there was something. */
static int wake_resting(struct unwind_store *s, uint64_t now)
{
	size_t n = 0;

	while (n < s->nr_resting && now - s->resting[n].since_ns >= UNWIND_GRACE_NS)
		n++;
	if (!n)
		return 0;
	s->memory.settle(s->memory.ctx);
	for (size_t i = 0; i < n; i++)
		give_back(s, &s->resting[i].placed);
	s->nr_resting -= n;
	memmove(s->resting, s->resting + n, s->nr_resting * sizeof(s->resting[0]));
	return 1;
}

static int new_slab(struct unwind_store *s, struct err *e)
{
	struct slab *slab = &s->slabs[s->nr_slabs];
	int ret;

	if (extents_init(&slab->space, UNWIND_SLAB_ROWS))
		return err_set(e, -ENOMEM, "out of memory");
	ret = s->memory.new_slab(s->memory.ctx, s->nr_slabs, &slab->rows, e);
	if (ret) {
		extents_release(&slab->space);
		return ret;
	}
	s->nr_slabs++;
	return 0;
}

/* A free extent for @nr rows. 0, or -ENOSPC without one, or the error of making a slab. */
static int find_rows(
	struct unwind_store *s, uint32_t nr, uint32_t *slab, struct extent *found, struct err *e)
{
	for (uint32_t i = 0; i < s->nr_slabs; i++) {
		if (extents_find(&s->slabs[i].space, nr, found)) {
			*slab = i;
			return 0;
		}
	}
	if (s->nr_slabs < s->memory.max_slabs) {
		int ret = new_slab(s, e);

		if (ret)
			return ret;
		*slab = s->nr_slabs - 1;
		return extents_find(&s->slabs[*slab].space, nr, found) ? 0 : -ENOSPC;
	}
	return -ENOSPC;
}

static int add_piece(struct unwind_store *s, struct placed *p, struct piece piece)
{
	struct piece *grown = reallocarray(p->pieces, p->nr_pieces + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->pieces = grown;
	if (extents_take(&s->slabs[piece.slab].space, piece.first, piece.nr))
		return -ENOMEM;
	p->pieces[p->nr_pieces++] = piece;
	s->nr_pieces++;
	return 0;
}

/* ---- placing ---- */

static uint32_t rows_between(const struct unwind_table *t, uint32_t page, uint32_t end)
{
	return t->pages[end] - t->pages[page];
}

/* Lay pages [*page, ..) into one free extent, as many as it takes. */
static int place_run(struct unwind_store *s, const struct unwind_table *t, struct placed *p,
	uint32_t *page, struct err *e)
{
	uint32_t end = *page + 1, slab;
	struct unwind_row *rows;
	struct extent room;
	int ret;

	ret = find_rows(s, rows_between(t, *page, end), &slab, &room, e);
	if (ret)
		return ret;
	while (end < t->nr_pages && rows_between(t, *page, end + 1) <= room.nr)
		end++;
	ret = add_piece(s, p,
		(struct piece){
			.slab = slab, .first = room.first, .nr = rows_between(t, *page, end)});
	if (ret)
		return ret;
	rows = s->slabs[slab].rows + room.first;
	memcpy(rows, t->rows + t->pages[*page], rows_between(t, *page, end) * sizeof(t->rows[0]));
	for (uint32_t i = *page; i < end; i++)
		s->memory.pages[p->index + i] = (struct wire_unwind_page){.slab = slab,
			.first = room.first + rows_between(t, *page, i),
			.nr = rows_between(t, i, i + 1)};
	*page = end;
	return 0;
}

/* 0, or -ENOSPC or another error with nothing taken. */
static int place(
	struct unwind_store *s, const struct unwind_table *t, struct placed *p, struct err *e)
{
	struct extent room;
	uint32_t page = 0;
	int ret = 0;

	*p = (struct placed){.rows = t->nr_rows};
	if (!extents_find(&s->index, t->nr_pages, &room))
		return -ENOSPC;
	if (extents_take(&s->index, room.first, t->nr_pages))
		return -ENOMEM;
	p->index = room.first;
	p->nr_pages = t->nr_pages;
	while (page < t->nr_pages && !ret) {
		if (t->pages[page] == t->pages[page + 1]) {
			s->memory.pages[p->index + page++] = (struct wire_unwind_page){0};
			continue;
		}
		ret = place_run(s, t, p, &page, e);
	}
	if (ret)
		give_back(s, p);
	return ret;
}

static void write_rules(struct unwind_store *s, const struct unwind_rules *rules)
{
	const struct unwind_rule *at;
	uint32_t nr;

	at = unwind_rules_array(rules, &nr);
	if (nr > s->nr_rules)
		memcpy(s->memory.rules + s->nr_rules, at + s->nr_rules,
			(nr - s->nr_rules) * sizeof(*at));
	s->nr_rules = nr;
}

static void publish(struct unwind_store *s, uint32_t id, const struct unwind_table *t, uint64_t now)
{
	struct wire_unwind_module *m = &s->memory.modules[id];

	m->first_page = t->first_page;
	m->nr_pages = t->nr_pages;
	m->index = s->placed[id].index;
	__atomic_store_n(&m->used_ns, now, __ATOMIC_RELAXED);
	__atomic_store_n(&m->state, WIRE_UNWIND_READY, __ATOMIC_RELEASE);
}

/* ---- eviction ---- */

void unwind_store_drop(struct unwind_store *s, uint32_t id, uint64_t now)
{
	struct placed *p = &s->placed[id];

	if (unwind_store_state(s, id) != WIRE_UNWIND_READY)
		return;
	__atomic_store_n(&s->memory.modules[id].state, WIRE_UNWIND_NONE, __ATOMIC_SEQ_CST);
	s->tables--;
	s->rows -= p->rows;
	if (s->nr_resting == s->cap_resting) {
		size_t cap = s->cap_resting ? 2 * s->cap_resting : 16;
		struct resting *grown = reallocarray(s->resting, cap, sizeof(*grown));

		if (!grown) { /* its space is lost, nothing else */
			s->nr_pieces -= p->nr_pieces;
			free(p->pieces);
			*p = (struct placed){0};
			return;
		}
		s->resting = grown;
		s->cap_resting = cap;
	}
	s->resting[s->nr_resting++] = (struct resting){.placed = *p, .since_ns = now};
	*p = (struct placed){0};
}

static uint64_t used_ns(const struct unwind_store *s, uint32_t id)
{
	return __atomic_load_n(&s->memory.modules[id].used_ns, __ATOMIC_RELAXED);
}

/* The walk may have written a time that is later than ours. */
static int is_busy(const struct unwind_store *s, uint32_t id, uint64_t now)
{
	return used_ns(s, id) + UNWIND_BUSY_NS > now;
}

/* The table that was used the longest time ago, and not lately. MODULE_NONE if none. */
static uint32_t least_used(const struct unwind_store *s, uint64_t now)
{
	uint32_t found = MODULE_NONE;
	uint64_t oldest = UINT64_MAX;

	for (uint32_t id = 0; id < UNWIND_MODULES; id++) {
		if (!s->placed[id].rows || is_busy(s, id, now) || used_ns(s, id) >= oldest)
			continue;
		oldest = used_ns(s, id);
		found = id;
	}
	return found;
}

static int is_enough(uint64_t rows, uint64_t pages, const struct unwind_table *t)
{
	return rows >= t->nr_rows && pages >= t->nr_pages;
}

/* Could dropping all that is not in use make room for @t? */
static int can_make_room(const struct unwind_store *s, const struct unwind_table *t, uint64_t now)
{
	uint64_t rows = 0, pages = extents_left(&s->index);

	for (uint32_t i = 0; i < s->nr_slabs; i++)
		rows += extents_left(&s->slabs[i].space);
	for (size_t i = 0; i < s->nr_resting; i++) {
		rows += s->resting[i].placed.rows;
		pages += s->resting[i].placed.nr_pages;
	}
	for (uint32_t id = 0; id < UNWIND_MODULES; id++) {
		if (!s->placed[id].rows || is_busy(s, id, now))
			continue;
		rows += s->placed[id].rows;
		pages += s->placed[id].nr_pages;
	}
	return is_enough(rows, pages, t);
}

/* Drop tables until what rests has room for @t. 1 if something rests then. */
static int make_room(struct unwind_store *s, const struct unwind_table *t, uint64_t now)
{
	uint64_t rows = 0, pages = extents_left(&s->index);

	if (!can_make_room(s, t, now))
		return 0;
	for (size_t i = 0; i < s->nr_resting; i++) {
		rows += s->resting[i].placed.rows;
		pages += s->resting[i].placed.nr_pages;
	}
	while (!is_enough(rows, pages, t)) {
		uint32_t id = least_used(s, now);

		if (id == MODULE_NONE)
			break;
		rows += s->placed[id].rows;
		pages += s->placed[id].nr_pages;
		unwind_store_drop(s, id, now);
		s->evicted++;
	}
	return s->nr_resting > 0;
}

int unwind_store_put(struct unwind_store *s, uint32_t id, const struct unwind_table *t,
	const struct unwind_rules *rules, uint64_t now, struct err *e)
{
	struct placed p;
	int ret;

	assert(id < UNWIND_MODULES && t->nr_rows && !s->placed[id].rows);
	if (t->nr_pages > MAX_FILE_PAGES)
		return err_set(e, -E2BIG,
			"its code is spread over %u pages of 64 KiB; %u have room at most",
			t->nr_pages, MAX_FILE_PAGES);
	if (t->nr_rows > (uint64_t)s->memory.max_slabs * UNWIND_SLAB_ROWS)
		return err_set(e, -E2BIG,
			"its table of %u rows is larger than all memory for tables", t->nr_rows);
	write_rules(s, rules);
	wake_resting(s, now);
	ret = place(s, t, &p, e);
	if (ret == -ENOSPC)
		return make_room(s, t, now)
			       ? -EAGAIN
			       : err_set(e, -ENOSPC,
					 "the memory for tables is full of others that "
					 "are in use");
	if (ret)
		return ret == -ENOMEM ? err_set(e, ret, "out of memory") : ret;
	s->placed[id] = p;
	s->tables++;
	s->rows += p.rows;
	publish(s, id, t, now);
	return 0;
}

void unwind_store_set_fp(struct unwind_store *s, uint32_t id)
{
	__atomic_store_n(&s->memory.modules[id].state, WIRE_UNWIND_FP, __ATOMIC_RELEASE);
}

void unwind_store_ask(struct unwind_store *s, uint32_t id)
{
	__atomic_store_n(&s->memory.modules[id].wanted, 1, __ATOMIC_RELAXED);
}

uint32_t unwind_store_state(const struct unwind_store *s, uint32_t id)
{
	return s->memory.modules[id].state;
}

void unwind_store_stats(const struct unwind_store *s, struct unwind_store_stats *out)
{
	*out = (struct unwind_store_stats){.tables = s->tables,
		.slabs = s->nr_slabs,
		.pieces = s->nr_pieces,
		.evicted = s->evicted,
		.rows = s->rows};
	out->bytes = s->index.cap * sizeof(struct extent) + s->nr_pieces * sizeof(struct piece) +
		     s->cap_resting * sizeof(struct resting) + s->tables * sizeof(struct placed);
	for (uint32_t i = 0; i < s->nr_slabs; i++)
		out->bytes += s->slabs[i].space.cap * sizeof(struct extent);
}

void unwind_store_check(const struct unwind_store *s)
{
	uint64_t rows = 0, pages = 0, pieces = 0, space = 0;
	uint32_t tables = 0;

	for (uint32_t id = 0; id < UNWIND_MODULES; id++) {
		const struct placed *p = &s->placed[id];
		uint32_t sum = 0;

		assert(!!p->rows == (unwind_store_state(s, id) == WIRE_UNWIND_READY));
		for (uint32_t i = 0; i < p->nr_pieces; i++)
			sum += p->pieces[i].nr;
		assert(sum == p->rows);
		rows += p->rows;
		pages += p->nr_pages;
		pieces += p->nr_pieces;
		tables += !!p->rows;
	}
	assert(rows == s->rows && tables == s->tables);
	for (size_t i = 0; i < s->nr_resting; i++) {
		rows += s->resting[i].placed.rows;
		pages += s->resting[i].placed.nr_pages;
		pieces += s->resting[i].placed.nr_pieces;
	}
	for (uint32_t i = 0; i < s->nr_slabs; i++) {
		extents_check(&s->slabs[i].space);
		space += extents_left(&s->slabs[i].space);
	}
	extents_check(&s->index);
	assert(pieces == s->nr_pieces);
	assert(rows + space == (uint64_t)s->nr_slabs * UNWIND_SLAB_ROWS);
	assert(pages + extents_left(&s->index) == UNWIND_MAX_PAGES);
}
