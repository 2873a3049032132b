/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The run record as numbers: what was asked, what came, what was lost, what has
 * no name and why, what the recording cost. Printed by render/info and
 * export/info. Always about the whole capture.
 */
#ifndef PROFBPF_VIEW_INFO_H
#define PROFBPF_VIEW_INFO_H

#include "summary.h"
#include "user/model/filter.h"

/* What a reader of the file can learn beside the numbers. */
struct info_reveals {
	int arguments; /* of the profbpf command or of processes */
	int paths;     /* of modules and executables */
	int names;     /* of functions, threads, processes */
	int host;
	int source; /* source text */
};

struct info_view {
	const struct profile *p; /* borrowed */
	struct summary s;	 /* of everything */
	double effective_hz; /* samples a second of sampled CPU time, comparable to what was asked;
				NaN = not known (no samples, imported text) */
	uint64_t stacks[STACK_RESULT_MAX];    /* samples by enum stack_result */
	uint64_t unnamed_samples[REASON_MAX]; /* by reason of the innermost frame; [0]: no stack */
	uint64_t unnamed_frames[REASON_MAX];
	uint32_t frames, functions; /* functions: the named ones */
	uint64_t lost_by_cause[LOSS_CAUSE_MAX];
	uint64_t lost;
	uint64_t counters[COUNTER_ID_MAX]; /* sums over CPUs */
	uint32_t modules, modules_no_file, modules_no_build_id;
	struct info_reveals reveals;
};

/** 0 or -ENOMEM. Nothing to release: all memory is the profile's. */
int info_make(struct info_view *v, const struct profile *p, struct err *e);

/** What to do about samples lost for this reason (enum loss_cause). Never NULL. */
const char *info_loss_advice(unsigned cause);

#endif
