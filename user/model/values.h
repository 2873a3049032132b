/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values: what a sample's number means, how numbers are added, and how far a
 * share that was estimated from samples can be trusted.
 */
#ifndef PROFBPF_MODEL_VALUES_H
#define PROFBPF_MODEL_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* The words for one enum value_type (user/capture/records.h). */
struct value_info {
	const char *view; /* name for --view: "cpu" */
	const char *what; /* "CPU time" */
	const char *unit; /* "ns", "count" */
	int sampled;	  /* one record = one sample: errors and sample counts mean something */
};

/** Words for @type; NULL for one we do not know. */
const struct value_info *value_info(unsigned type);
/** The type whose view has this name, or 0. */
unsigned value_by_view(const char *view);

/* Sums of hostile input stop at the top instead of wrapping. The order of
 * additions does not matter then either. */
static inline uint64_t value_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/** 100 * part / total, 0 when total is 0. */
double share_pct(uint64_t part, uint64_t total);

/**
 * Half-width of the 95 % interval of a share, in percentage points (0..50),
 * from the row's and the selection's sums and sums of squares of the values.
 * The squares say how many equal samples the sum is worth; with that number it
 * is Wilson's interval, which stays honest for shares near 0 and 100 % and for
 * few samples. NaN when there is nothing, or when a sum of squares is NaN
 * (imported counts: nobody knows what one of them is).
 */
double share_error(double part, double part_sq, double total, double total_sq);

#endif
