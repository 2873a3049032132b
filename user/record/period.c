/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See period.h. How often: PERF_EVENT_IOC_PERIOD is a call to the other CPU, 12
 * us. Four redraws a second and CPU are plenty against aliasing; with more than
 * 10 CPUs the total is held at 40 calls a second (0.5 ms), from 40 CPUs on each
 * gets one a second, and from 64 on the total is 64.
 */
#include "period.h"

#include <math.h>

#define MAX_WIDTH	   0.5
#define REDRAWS_PER_CPU	   4.0
#define REDRAWS_TOTAL	   40.0
#define REDRAWS_TOTAL_MAX  64.0
#define GOLDEN		   0.6180339887498949
#define MIN_PERIOD	   10e-6 /* the kernel's own floor (perf_swevent_hrtimer) */
#define MAX_CORRECTION	   0.2	 /* of the frequency, in one draw */
#define TICKS_PER_INTERVAL 10.0	 /* redraws cost half a tick each: never more than 5 % of them */

static double next_random(struct period_plan *p) /* [0, 1) */
{
	uint64_t x = p->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	p->random = x;
	return (double)(x >> 11) * 0x1p-53;
}

/* The middle of the draw for @freq Hz and redraws every @interval seconds. */
static double middle(double freq, double width, double interval)
{
	double f = freq;

	if (width <= 0)
		return 1 / freq;
	if (interval > 0)
		f += 1 / (2 * interval);
	return log((1 + width) / (1 - width)) / (2 * width) / f;
}

void period_plan(struct period_plan *p, uint64_t freq, uint64_t limit, unsigned cpus, int fixed,
	uint64_t seed)
{
	double n = cpus ? cpus : 1;
	double total = n > REDRAWS_TOTAL ? n : REDRAWS_TOTAL;
	double per_cpu, interval;

	if (total > REDRAWS_TOTAL_MAX)
		total = REDRAWS_TOTAL_MAX;
	per_cpu = total / n;
	if (per_cpu > REDRAWS_PER_CPU)
		per_cpu = REDRAWS_PER_CPU;
	interval = 1 / per_cpu;
	p->freq = (double)freq;
	if (interval < TICKS_PER_INTERVAL / p->freq)
		interval = TICKS_PER_INTERVAL / p->freq;
	p->random = seed ? seed : 1;
	p->width = fixed ? 0 : MAX_WIDTH;
	/* The shortest period must not be over the limit, or the kernel throttles it. */
	while (p->width > 0 &&
		middle(p->freq, p->width, interval) * (1 - p->width) * (double)limit < 1)
		p->width -= 0.05;
	if (p->width < 0.025)
		p->width = 0;
	p->shortest = 1 / (double)limit > MIN_PERIOD ? 1 / (double)limit : MIN_PERIOD;
	p->interval_ns = p->width > 0 ? (uint64_t)(interval * 1e9) : 0;
}

/* What the last period gave, set against the asked frequency. */
static void settle(const struct period_plan *p, struct period_draws *d, double held)
{
	double ticks = held / d->period - 0.5;

	d->owed += p->freq * held - (ticks > 0 ? ticks : 0);
}

uint64_t period_draw(struct period_plan *p, struct period_draws *d, uint64_t held_ns)
{
	double interval = (double)p->interval_ns / 1e9;
	double u, t, correction = 0;

	if (d->period > 0 && held_ns && p->width > 0) {
		settle(p, d, (double)held_ns / 1e9);
		correction = d->owed / (p->freq * interval);
		correction = correction > MAX_CORRECTION    ? MAX_CORRECTION
			     : correction < -MAX_CORRECTION ? -MAX_CORRECTION
							    : correction;
	}
	/* A golden-section sequence covers the range evenly; the jitter keeps it random. */
	u = d->last + GOLDEN + (next_random(p) - 0.5) / 8;
	u -= floor(u);
	d->last = u;
	t = middle(p->freq * (1 + correction), p->width, interval) * (1 + p->width * (2 * u - 1));
	if (t < p->shortest)
		t = p->shortest;
	d->period = t;
	return (uint64_t)(t * 1e9 + 0.5);
}

uint64_t period_wait(struct period_plan *p)
{
	return (uint64_t)((double)p->interval_ns * (0.75 + 0.5 * next_random(p)));
}
