/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One cpu-clock event of one CPU, with our program on it.
 *
 * The event of a CPU that goes offline is dead for good: close it, and open
 * another when the CPU is back.
 */
#ifndef PROFBPF_RECORD_ATTACH_CPU_H
#define PROFBPF_RECORD_ATTACH_CPU_H

#include <linux/types.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "user/base/err.h"

struct cpu_event {
	int fd;		       /* -1 when closed */
	void *notes;	       /* the event's ring: throttle records; NULL if it could not be had */
	struct wire_pace pace; /* for the program; to be copied to the map of that name */
	uint64_t ran_ns;       /* how long it had run when last asked whether it is alive */
	uint64_t throttled_ns; /* time the kernel kept the event throttled, over all openings */
	uint64_t throttled_at; /* time of an open throttle record, or 0 */
	double throttled;      /* the same in periods */
};
#define CPU_EVENT_INIT                                                                             \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/** Open, disabled. -ENODEV: @cpu is offline. Other errors have a sentence that names the cause. */
int cpu_event_open(
	struct cpu_event *ev, uint32_t cpu, uint64_t period_ns, int prog_fd, struct err *e);
/** About to be enabled: sets ev->pace, to be published before the first tick. */
void cpu_event_arm(struct cpu_event *ev);
/** Start the timer. */
int cpu_event_enable(struct cpu_event *ev);
void cpu_event_disable(struct cpu_event *ev);
/** Restart the timer with another period; ev->pace is to be published afterwards. */
int cpu_event_set_period(struct cpu_event *ev, uint64_t period_ns);
/** 0 when it has not run since the last call (some ms ago): its CPU was away in between. */
int cpu_event_alive(struct cpu_event *ev);
/** Read what the kernel noted about throttling; cheap. */
void cpu_event_poll(struct cpu_event *ev);
/** Keeps the throttle totals. */
void cpu_event_close(struct cpu_event *ev);

#endif
