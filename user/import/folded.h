/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks in: "root;...;leaf count", one stack a line, as ourselves and
 * many other tools write them. Drives a sink like a recording does.
 *
 *   line   = [stack blanks count] [blanks] [CR] LF      blanks: spaces and tabs
 *   stack  = frame *(";" frame)                         a frame may be empty
 *   count  = decimal digits
 *
 * A byte order mark at the start, blank lines, and lines that begin with '#'
 * are skipped. A frame may hold any byte but ';' and LF; blanks inside it
 * belong to it, and so do suffixes like "_[k]". \xNN, \u{...} and \\ in a frame are
 * the escapes of our own fold output and are undone; other backslashes stay.
 *
 * Lines that do not fit the grammar are skipped and counted, the first one is
 * kept for a warning. A count must be a whole number: 1.5 and 1e3 are refused,
 * not rounded.
 *
 * What comes out: RUN, one process named after the file with one thread
 * "imported", a STRING, FRAME_NAMED and NAME for each name, STACK records, one
 * VALUE_COUNT sample at time 0 for each line with a count above 0, META, END.
 *
 * Memory follows the number of distinct names and stacks, not the size of the
 * input. Not thread-safe.
 */
#ifndef PROFBPF_IMPORT_FOLDED_H
#define PROFBPF_IMPORT_FOLDED_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/capture/sink.h"

/* The stated limits; beyond the first three a line is a bad line. */
#define FOLDED_LINE_MAX	 ((size_t)64 << 20)    /* bytes */
#define FOLDED_NAME_MAX	 ((size_t)16 << 20)    /* bytes */
#define FOLDED_DEPTH_MAX ((size_t)8000000)     /* frames */
#define FOLDED_NAMES_MAX (1u << 24)	       /* distinct names; more is -E2BIG */
#define FOLDED_TOTAL_MAX ((uint64_t)INT64_MAX) /* sum of all counts */

/* Bytes of a bad line that are kept, before escaping. */
#define FOLDED_EXCERPT_MAX 48

struct folded_stats {
	uint64_t bytes;	    /* of input */
	uint64_t lines;	    /* all of them */
	uint64_t good;	    /* with a stack and a count, 0 included */
	uint64_t zero;	    /* good ones with count 0: they give no sample */
	uint64_t bad;	    /* skipped */
	uint64_t total;	    /* sum of the samples' values */
	uint64_t saturated; /* lines whose count was cut so that total stays within its limit */
	uint64_t first_bad_line;			  /* from 1; 0 = none */
	const char *first_bad_reason;			  /* static text, NULL = none */
	char first_bad_text[FOLDED_EXCERPT_MAX * 10 + 4]; /* its start, escaped */
	uint32_t restarts; /* of the stack trie: more distinct stacks than it holds at once */
};

/**
 * Import @path ("-": standard input) into @sink, up to and including the END
 * record. @st may be NULL; it is filled as far as it got, also on failure.
 *
 * 0 if there was at least one sample. -ENODATA with the reason when there is
 * none: empty, only blank lines and comments, or all counts 0. -EBADMSG when
 * there are lines, but none of them is folded text. Else what reading or the
 * sink gave.
 */
int folded_import(const char *path, struct sink *sink, struct folded_stats *st, struct err *e);

/** The same from memory; @name stands for the file in sentences and records. */
int folded_import_mem(const char *name, const void *data, size_t len, struct sink *sink,
	struct folded_stats *st, struct err *e);

#endif
