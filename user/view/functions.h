/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hot table as numbers: who has how much, by function, module, thread or
 * process. Independent of how it is shown; tables, JSON and CSV print this.
 *
 *   self   in the thing itself: innermost frame of the stack
 *   total  in it or in what it called: anywhere in the stack, once a stack
 *
 * Self of all rows adds up to the selection's total. For threads and processes
 * self and total are the same.
 */
#ifndef PROFBPF_VIEW_FUNCTIONS_H
#define PROFBPF_VIEW_FUNCTIONS_H

#include "user/model/filter.h"

enum rows_by {
	ROWS_BY_FUNCTION,
	ROWS_BY_MODULE,
	ROWS_BY_THREAD,
	ROWS_BY_PROCESS
};
enum rows_sort {
	ROWS_SORT_SELF,
	ROWS_SORT_TOTAL,
	ROWS_SORT_NAME
};

struct func_row {
	/* What it is. Strings are the profile's: raw bytes, hostile. */
	const char *name; /* function, module ("[no module]"), thread or process */
	size_t name_len;
	const char *module;	 /* of a function or module, "" = none; NULL for other rows */
	const char *module_path; /* the same */
	const uint8_t *build_id; /* the same; NULL = not known */
	uint32_t build_id_len;
	const char *process; /* name of a thread's process; NULL for other rows */
	size_t process_len;
	uint32_t pid, tid;    /* threads and processes; 0 for other rows */
	uint8_t kind, reason; /* enum func_kind, enum frame_reason, for functions */
	uint32_t id; /* of the function, thread or process in the profile; last tie-break */

	/* How much. */
	uint64_t self, total; /* in the selection's unit */
	uint64_t self_samples, total_samples;
	double self_pct, total_pct; /* of the selection's total */
	double err_pct,
		total_err_pct; /* half-widths of their 95 % intervals in points; NaN = not known */
};

struct functions_options {
	enum rows_by by;
	enum rows_sort sort;
	size_t limit;	/* rows shown; 0 = all */
	int only_shown; /* the others are counted but not kept: 150 bytes each */
};

struct functions_view {
	const struct selection *s; /* borrowed */
	struct functions_options o;
	struct func_row *rows;	   /* all of them, or those shown; owned. Ties by name, then module,
				      then id */
	size_t nr;		   /* of all */
	size_t max;		   /* how many may be shown */
	size_t shown;		   /* the first ones, within the limit; these are in order */
	uint64_t rest_self;	   /* self of the rows not shown */
	uint64_t kernel_self;	   /* of all rows: innermost frame in the kernel */
	uint64_t unresolved_self;  /* of all rows: innermost frame without a name */
	uint8_t unresolved_reason; /* enum frame_reason with most of it */
};

/** "function", "module", ...; for --by. */
const char *rows_by_name(enum rows_by by);

/** Rows with nothing in them are left out. 0 or -ENOMEM; on failure *v is empty. */
int functions_make(struct functions_view *v, const struct selection *s,
	const struct functions_options *o, struct err *e);
void functions_release(struct functions_view *v);

#endif
