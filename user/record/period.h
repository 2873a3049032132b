/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which timer periods give the asked frequency.
 *
 * A fixed period aliases with periodic work, so each CPU's period is drawn anew
 * at random some times a second. Two effects must be undone for the mean
 * frequency to stay the asked one:
 *
 *   - a period holds for a time, not for a number of ticks, so the mean frequency
 *     is the mean of 1/P and not 1 over the mean of P. For P uniform in
 *     c(1-w) .. c(1+w) that is ln((1+w)/(1-w)) / 2wc.
 *   - setting a period restarts the timer, which costs half a tick on average:
 *     1/(2 interval) Hz.
 *
 * And so that a recording of some seconds, a few draws, has the mean as well, each
 * draw makes up for part of what the earlier ones of its CPU gave too much or too
 * little.
 *
 * Plain arithmetic; no kernel. Not thread-safe (the random state).
 */
#ifndef PROFBPF_RECORD_PERIOD_H
#define PROFBPF_RECORD_PERIOD_H

#include <stdint.h>

struct period_plan {
	double freq;	      /* asked, Hz */
	double width;	      /* w: half-width of the draw, 0 (never redrawn) .. 0.5 */
	double shortest;      /* no period below, s */
	uint64_t interval_ns; /* mean time between redraws of one CPU; 0 = never */
	uint64_t random;      /* state of the generator; not 0 */
};

/**
 * Plan for @freq Hz on @cpus CPUs. @limit: the kernel's highest frequency
 * (kernel.perf_event_max_sample_rate); the draw is narrowed so that no period is
 * shorter than its. @fixed: never redraw. @seed: any number.
 */
void period_plan(struct period_plan *p, uint64_t freq, uint64_t limit, unsigned cpus, int fixed,
	uint64_t seed);
/* The draws of one CPU. */
struct period_draws {
	double last;   /* where in the range the last one was, 0..1; any number at first */
	double period; /* the one in force, s; 0 at first */
	double owed;   /* ticks that the asked frequency would have given more, so far */
};

/** A period in ns. @held_ns: how long the last one has been in force; 0 at the first draw. */
uint64_t period_draw(struct period_plan *p, struct period_draws *d, uint64_t held_ns);
/** A time until the next redraw: the planned one, give or take a quarter. 0 = never. */
uint64_t period_wait(struct period_plan *p);

#endif
