/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before sampling begins: open the files that the target has mapped and make their
 * unwind tables, so that the first samples are walked as well as later ones.
 *
 * Best effort and bounded in time: what is not done is done when a sample first
 * needs it.
 */
#ifndef PROFBPF_RECORD_PRELOAD_H
#define PROFBPF_RECORD_PRELOAD_H

#include "procs.h"
#include "sampler.h"
#include "target.h"
#include "unwind_loader.h"

struct preload_stats {
	uint64_t wall_ns;
	uint32_t processes; /* asked for one by one; 0 = all of the system */
	int cut;	    /* time was up */
};

/**
 * Preload the files of @t for @l (NULL: only open them). -EOPNOTSUPP where the kernel cannot
 * list mappings, -ECANCELED when a signal asked for the end; nothing else is an error.
 */
int preload(const struct target *t, struct sampler *s, struct procs *p, struct unwind_loader *l,
	struct preload_stats *stats);

#endif
