/* SPDX-License-Identifier: BSD-2-Clause */
/* The reason why a recording holds no sample at all, for a person. */
#ifndef PROFBPF_RECORD_WHY_EMPTY_H
#define PROFBPF_RECORD_WHY_EMPTY_H

#include "account.h"
#include "recorder.h"
#include "target.h"

/** Sentence and hint into @e; returns -ENODATA. @r has duration, end reason and CPU time. */
int why_empty(struct target *t, const struct record_options *o, const struct record_result *r,
	const struct account_totals *a, struct err *e);

#endif
