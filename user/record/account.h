/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of every tick: COUNTER records per CPU, and LOSS records that
 * place what was lost in time. Put once per block, so that a recording that is
 * killed is as accountable as one that ends.
 *
 * For each CPU, once all rings are empty:
 *   sampled + idle + not admitted + before exec + lost = ticks
 *   sampled = received
 */
#ifndef PROFBPF_RECORD_ACCOUNT_H
#define PROFBPF_RECORD_ACCOUNT_H

#include "procs.h"
#include "sampler.h"
#include "user/capture/builder.h"

struct account;

struct account_totals {
	uint64_t ticks, sampled, idle, not_admitted, before_exec;
	uint64_t lost;	    /* for any reason, table limits included */
	uint64_t throttled; /* periods the kernel suppressed */
	uint64_t capped_ns;
};

struct account *account_new(void); /* NULL on ENOMEM */
void account_free(struct account *a);
/**
 * Put what changed since the last call; losses are placed between that call and
 * @now_ns (since the start of the run). 0 or negative errno.
 */
int account_put(struct account *a, struct sampler *s, const struct procs *p, struct builder *b,
	uint64_t now_ns, struct err *e);
/** Sums over all CPUs as of the last account_put(). */
const struct account_totals *account_totals(const struct account *a);

#endif
