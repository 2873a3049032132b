/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of the files that are sampled: built when a file is first seen,
 * put where the walk in the kernel finds them.
 *
 *   file --unwind_file_build--> struct unwind_table --unwind_store_put--> maps
 *
 * Building takes from 0.1 ms (a small program) to 0.1 s (100 MB of code), and while
 * we build, nobody empties the rings. So files are queued, and built in turns.
 *
 * A file without a table is no error: the walk goes by frame pointer there and says
 * so in the sample. Why there is none is kept per file.
 *
 * Functions on a loader accept NULL: no tables are wanted, and nothing happens.
 */
#ifndef PROFBPF_RECORD_UNWIND_LOADER_H
#define PROFBPF_RECORD_UNWIND_LOADER_H

#include <stdint.h>

#include "unwind_store.h"
#include "user/base/err.h"

/* What has become of a file's table. */
enum unwind_outcome {
	UNWIND_UNKNOWN = 0, /* never asked for */
	UNWIND_WAITING,	    /* in the queue */
	UNWIND_LOADED,
	UNWIND_KEEPS_FP, /* a Go program: needs none */
	UNWIND_EMPTY,	 /* no call frame information in it */
	UNWIND_FAILED,
	UNWIND_NO_ROOM, /* over the budget: refused, or dropped later */
	UNWIND_OUTCOMES
};

struct unwind_loader_stats {
	uint32_t files[UNWIND_OUTCOMES]; /* by what has become of them */
	uint32_t evicted;		 /* dropped to make room; may have come back */
	uint32_t rules;
	uint64_t rows;		   /* of the tables that are loaded */
	uint64_t kernel_bytes;	   /* of the rows, used or not; the index apart */
	uint64_t user_bytes;	   /* of the dictionary and the bookkeeping */
	uint64_t build_ns;	   /* CPU time of reading files and making tables */
	uint64_t build_max_ns;	   /* of the slowest one */
	uint64_t unsupported_rows; /* of all tables made: rules that cannot be expressed */
	uint64_t refused_rows;	   /* of all tables made: the dictionary was full */
};

struct unwind_loader;

/** @m is copied, what it points to is borrowed. 0 or -ENOMEM. */
int unwind_loader_new(struct unwind_loader **l, const struct unwind_memory *m, struct err *e);
void unwind_loader_free(struct unwind_loader *l);

/** Build the vDSO's table now, as module MODULE_VDSO. Without one the outcome says so. */
void unwind_loader_add_vdso(struct unwind_loader *l);
/**
 * Queue the file @fd (for reading; duplicated; -1: it could not be held) of module @id. @name is
 * for sentences, escaped. Nothing happens if the module was given before.
 */
void unwind_loader_add(struct unwind_loader *l, uint32_t id, int fd, const char *name);
/**
 * 1 when module @id, sampled at @now_ns (CLOCK_MONOTONIC), had a table that was dropped or did not
 * fit, and it is time to try again: less and less often, so that a budget that is too small costs
 * stacks and not our time. Cheap: for every frame.
 */
int unwind_loader_misses(const struct unwind_loader *l, uint32_t id, uint64_t now_ns);
/** The file of module @id could not be opened: have the walk say where it is mapped next. */
void unwind_loader_ask(struct unwind_loader *l, uint32_t id);
/** Queue such a module again. */
void unwind_loader_again(struct unwind_loader *l, uint32_t id, int fd);
/** Build what is queued, for about @budget_ns; one file at least. */
void unwind_loader_work(struct unwind_loader *l, uint64_t budget_ns);
/** Milliseconds until working is worth while: 0 = now, -1 = nothing is queued. */
int unwind_loader_wait_ms(const struct unwind_loader *l);

enum unwind_outcome unwind_loader_outcome(const struct unwind_loader *l, uint32_t id);
/** Why module @id has no table, or NULL. */
const char *unwind_loader_why(const struct unwind_loader *l, uint32_t id);
void unwind_loader_stats(const struct unwind_loader *l, struct unwind_loader_stats *s);

#endif
