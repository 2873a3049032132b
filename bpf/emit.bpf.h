/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Records to the rings. One ring per CPU, so that writers never wait for each
 * other; the reader is woken only when a ring becomes half full (a wake-up is an
 * interrupt to the CPU being measured), else it comes by itself some times a
 * second. Whoever cannot write counts the loss under its own cause.
 */
#ifndef PROFBPF_EMIT_BPF_H
#define PROFBPF_EMIT_BPF_H

#include "bpf/knobs.bpf.h"
#include "bpf/maps.bpf.h"

static __always_inline void *my_ring(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* A sample; 0, or negative when the ring is full. */
static __always_inline long emit_sample(void *rec, __u64 len)
{
	void *ring = my_ring();
	__u64 waiting, flags = BPF_RB_NO_WAKEUP;

	if (!ring)
		return -ENOENT;
	waiting = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	if (waiting < knob_wake_bytes && waiting + len >= knob_wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	return bpf_ringbuf_output(ring, rec, len, flags);
}

/* A rare record (module, process life). May come from a CPU that is not sampled. */
static __always_inline long emit_event(void *rec, __u64 len, __u64 flags)
{
	struct wire_counters *c;
	void *ring = my_ring();
	long r = -ENOENT;

	if (!ring) {
		__u32 home = knob_home_cpu;

		ring = bpf_map_lookup_elem(&rings, &home);
	}
	if (ring)
		r = bpf_ringbuf_output(ring, rec, len, flags);
	c = my_counters();
	if (r && c)
		__sync_fetch_and_add(&c->lost_events, 1); /* programs on one CPU may nest */
	return r;
}

#endif
