/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters: which samples are meant. The same options mean the same in every
 * command, table and picture.
 *
 * A selection is the answer: the samples that pass, their sums, and what was
 * lost inside the window. Windows are half-open, [from, to), so that windows
 * that touch share no sample and miss none.
 */
#ifndef PROFBPF_MODEL_FILTER_H
#define PROFBPF_MODEL_FILTER_H

#include "profile.h"
#include "user/base/opts.h"
#include "values.h"

struct filter_options {		 /* as given on a command line; zero = no restriction */
	const char *view;	 /* "cpu"; NULL = the capture's first value type */
	struct opt_list thread;	 /* GLOB or TID; several = any of them */
	struct opt_list process; /* GLOB or PID */
	const char *from, *to;	 /* times since the start (parse_duration); NULL = not given */
	struct opt_list
		focus; /* POSIX extended regex over function names: keep stacks with a match */
	struct opt_list ignore; /* drop stacks with a match */
};

/* Rows for a command's option table; T is its struct, f the filter_options member. */
#define FILTER_OPTS(T, f)                                                                          \
	{NULL, 0, OPT_GROUP, 0, NULL, "Filters", NULL},                                            \
		{"view", 0, OPT_STR, offsetof(T, f.view), "VIEW", "value to look at",              \
			"cpu count"},                                                              \
		{"thread", 0, OPT_LIST, offsetof(T, f.thread), "GLOB|TID",                         \
			"only threads whose name or id matches", NULL},                            \
		{"process", 0, OPT_LIST, offsetof(T, f.process), "GLOB|PID",                       \
			"only processes whose name or id matches", NULL},                          \
		{"from", 0, OPT_STR, offsetof(T, f.from), "TIME",                                  \
			"only samples at or after TIME (2, 2s, 500ms) from the start", NULL},      \
		{"to", 0, OPT_STR, offsetof(T, f.to), "TIME", "only samples before TIME", NULL},   \
		{"focus", 0, OPT_LIST, offsetof(T, f.focus), "REGEX",                              \
			"only stacks with a function that matches", NULL},                         \
	{                                                                                          \
		"ignore", 0, OPT_LIST, offsetof(T, f.ignore), "REGEX",                             \
			"no stacks with a function that matches", NULL                             \
	}

struct selection {
	const struct profile *p; /* borrowed */
	uint32_t *samples;	 /* indices into profile_samples(), in time order; owned */
	size_t nr;
	uint8_t type;			/* enum value_type */
	const struct value_info *value; /* its words */
	uint64_t total;			/* sum of values (saturating), in value->unit */
	uint64_t capture_total;		/* the same over the whole capture */
	double total_sq;		/* sum of squared values; NaN when !value->sampled */
	uint64_t from_ns, to_ns;	/* effective window; 0 and 0 for imports */
	uint64_t window_samples;	/* samples inside the window, before the other filters */
	uint64_t lost;	    /* samples lost inside the window; other filters cannot apply to them */
	uint64_t truncated; /* selected samples cut at the depth limit */
	uint64_t broken;    /* selected samples whose walk ended where no stack ends */
	uint64_t unresolved;	     /* selected samples whose leaf has no name */
	uint32_t threads, processes; /* distinct ones (tid, pid) among the selected */
	int filtered;		     /* any restriction given */
};

/**
 * Apply @o (NULL = none). -EINVAL with a sentence for a bad pattern, a
 * reversed, negative or empty window, an unknown view, a window over text that
 * has no times. An empty result is not an error here: see selection_explain().
 * On failure *s is empty and needs no release. O(samples + trie nodes).
 */
int selection_make(struct selection *s, const struct profile *p, const struct filter_options *o,
	struct err *e);
void selection_release(struct selection *s);
/**
 * For a selection with nothing to show: -ENODATA with the reason: no sample at
 * all in the capture, or samples but none inside the filter (which one), or
 * only values of zero. 0 when there is something to show. @o as it was made.
 */
int selection_explain(const struct selection *s, const struct filter_options *o, struct err *e);
/** The restrictions as typed, safe to print: "--thread 'io' --from 2s"; nothing for none. */
struct buf;
void filter_describe(const struct filter_options *o, struct buf *b);

#endif
