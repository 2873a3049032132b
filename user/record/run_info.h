/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts of a run, as META records: what was asked for, on which host, in
 * which state, and what the recording itself cost. Keys are listed in
 * docs/capture-format.md.
 */
#ifndef PROFBPF_RECORD_RUN_INFO_H
#define PROFBPF_RECORD_RUN_INFO_H

#include "preload.h"
#include "procs.h"
#include "recorder.h"
#include "sampler.h"
#include "target.h"
#include "user/capture/builder.h"

/* State of the host at the start, compared with its state at the end. */
struct run_info {
	uint64_t steal_ns;     /* CPU time the hypervisor took, all CPUs, so far */
	uint64_t kernel_bytes; /* memory of unwind tables */
};

/** Known before sampling: asked, host, load. 0 or negative errno. */
int run_info_begin(struct run_info *i, struct builder *b, const struct record_options *o,
	const struct target *t, struct err *e);
/** Known after it: load, steal, cost. @r has its counts filled in; @s may be stopped. */
int run_info_end(struct run_info *i, struct builder *b, const struct record_result *r,
	struct procs *p, struct sampler *s, struct err *e);
/** What unwind tables there were and what they cost; before run_info_end(). */
int run_info_unwind(struct run_info *i, struct builder *b, const struct unwind_loader *l,
	const struct preload_stats *p, struct err *e);

#endif
