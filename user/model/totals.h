/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Self and total per function, or per anything functions belong to.
 *
 *   main -> a -> a -> b   value 5      self: b 5     total: main 5, a 5, b 5
 *
 * A stack counts once for each key that occurs in it, however often: recursion
 * does not add up to more than 100 %.
 */
#ifndef PROFBPF_MODEL_TOTALS_H
#define PROFBPF_MODEL_TOTALS_H

#include "filter.h"

struct total {
	uint64_t self, total;		      /* in the selection's unit; saturating */
	uint32_t self_samples, total_samples; /* a profile's are fewer than 2^32 */
	double self_sq, total_sq;	      /* sums of squared values, for share_error() */
};

/**
 * Sums over @s for keys 0..@nr_keys-1; @key_of maps each function of the
 * profile to its key (NULL: the function itself, @nr_keys ignored). *out is an
 * array the caller frees, also for nr_keys 0. 0 or -ENOMEM.
 * O(trie nodes + samples).
 */
int totals_by_func(struct total **out, const struct selection *s, const uint32_t *key_of,
	uint32_t nr_keys, struct err *e);

#endif
