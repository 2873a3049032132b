/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was recorded and how far to trust it: the lines over every table and
 * picture, as numbers, and the warnings they must carry.
 */
#ifndef PROFBPF_VIEW_SUMMARY_H
#define PROFBPF_VIEW_SUMMARY_H

#include "user/base/buf.h"
#include "user/model/filter.h"

/* Above this many lost of a thousand, everything shown carries a warning. */
#define LOSS_WARN_PERMILLE 1.0

struct summary {
	const char *target;  /* what was recorded, in words, or the text's file; "" = not known. Raw
				bytes */
	const char *command; /* the profbpf command as typed; "" = not known. Raw bytes */
	const struct value_info *value;
	int import;   /* from text: no times, no samples, no rate */
	int complete; /* the recording ended in order */
	int filtered;
	double freq;			    /* Hz asked for; 0 = not known */
	uint32_t cpus;			    /* sampled; 0 = not known */
	uint32_t threads, processes;	    /* among the selected samples */
	uint64_t samples;		    /* selected */
	uint64_t total;			    /* of the selection, in value->unit */
	uint64_t from_ns, to_ns, window_ns; /* of the selection */
	uint64_t duration_ns;		    /* of the recording */
	double share_pct;		    /* selection's total of the capture's */
	double cpu_pct; /* total of the window's length: 100 = one CPU all the time; NaN = not known
			 */
	uint64_t lost;	/* samples, inside the window */
	double lost_permille;		/* of those inside the window, lost ones included */
	uint64_t truncated, unresolved; /* selected samples */
	uint64_t broken;		/* selected samples whose walk ended where no stack ends */
	uint64_t throttled, ticks; /* of the recording: periods the kernel left out; timer ticks */
};

void summary_make(struct summary *s, const struct selection *sel);

/**
 * What a reader must know before the numbers, a line each, without newline at
 * the end, nothing when all is well: an unfinished recording, losses above
 * LOSS_WARN_PERMILLE with the knob that helps, throttling, many cut stacks.
 * Plain text, safe to print.
 */
void summary_warnings(const struct summary *s, struct buf *b);

/**
 * Seconds of recording at this rate after which a share known to ±@err_pct
 * points would be known to ±1 point. 0 when it is already, or cannot be told.
 */
double summary_seconds_to_1pct(const struct summary *s, double err_pct);

#endif
