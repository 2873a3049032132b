/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables laid into the memory that the walk in the kernel reads
 * (bpf/wire.h: struct wire_unwind_module, wire_unwind_page).
 *
 *   module id -> unwind_modules -> its entries in unwind_pages -> rows in a slab
 *
 * A page's rows lie together in one slab, a table's pages anywhere. The store
 * knows that walks go on while it writes: what a module entry leads to is
 * complete before the entry is READY, and memory of a dropped table is reused
 * only when no walk can be in it any more.
 *
 * It does not know maps: the memory is given (unwind_maps.h; tests: the heap).
 */
#ifndef PROFBPF_RECORD_UNWIND_STORE_H
#define PROFBPF_RECORD_UNWIND_STORE_H

#include <linux/types.h>
#include <stdint.h>

#include "bpf/unwind_step.h"
#include "bpf/wire.h"
#include "symbolize/unwind_table.h"
#include "user/base/err.h"

#define UNWIND_MODULES (MODULE_FIRST_FILE + MAX_MODULES)

/* Memory of a dropped table rests this long before it is reused; why: unwind_store.c. */
#define UNWIND_GRACE_NS 50000000u

/* A table that was used so lately makes room for no other one: two that are in use
 * would drive each other out in turns, and have none half of the time. */
#define UNWIND_BUSY_NS 1000000000u

/* Where tables are put. */
struct unwind_memory {
	struct wire_unwind_module *modules; /* UNWIND_MODULES */
	struct wire_unwind_page *pages;	    /* UNWIND_MAX_PAGES */
	struct unwind_rule *rules;	    /* UNWIND_MAX_RULES */
	uint32_t max_slabs;		    /* the budget */
	/** Make slab @slab: its UNWIND_SLAB_ROWS rows. 0 or negative errno with a sentence. */
	int (*new_slab)(void *ctx, uint32_t slab, struct unwind_row **rows, struct err *e);
	/** Return when all walks that were going on have ended. */
	void (*settle)(void *ctx);
	void *ctx;
};

struct unwind_store_stats {
	uint32_t tables; /* READY now */
	uint32_t slabs, pieces;
	uint32_t evicted; /* dropped to make room, so far */
	uint64_t rows;	  /* of the tables that are READY */
	uint64_t bytes;	  /* of ours, to keep track */
};

struct unwind_store;

/** @m is copied, what it points to is borrowed. 0 or -ENOMEM. */
int unwind_store_new(struct unwind_store **s, const struct unwind_memory *m);
/** Leaves the memory as it is. */
void unwind_store_free(struct unwind_store *s);

/**
 * Put @t (with at least one row) as the table of module @id, which has none, and make it READY.
 * @rules, its dictionary, is the same one in each call. @now_ns: CLOCK_MONOTONIC.
 *
 * -EAGAIN: others were dropped to make room, try again UNWIND_GRACE_NS later.
 * -ENOSPC: the budget is full of tables in use. -E2BIG: it would never fit.
 * -ENOMEM. With a sentence but for -EAGAIN.
 */
int unwind_store_put(struct unwind_store *s, uint32_t id, const struct unwind_table *t,
	const struct unwind_rules *rules, uint64_t now_ns, struct err *e);
/** Module @id has no table and keeps frame pointers. */
void unwind_store_set_fp(struct unwind_store *s, uint32_t id);
/** Drop the table of module @id, if it has one. */
void unwind_store_drop(struct unwind_store *s, uint32_t id, uint64_t now_ns);
/** Have the walk announce (WIRE_MODULE) where module @id is mapped when it next meets it. */
void unwind_store_ask(struct unwind_store *s, uint32_t id);
/** enum wire_unwind_state */
uint32_t unwind_store_state(const struct unwind_store *s, uint32_t id);

void unwind_store_stats(const struct unwind_store *s, struct unwind_store_stats *out);
/** Asserts that no two tables overlap and nothing was lost; for tests. */
void unwind_store_check(const struct unwind_store *s);

#endif
