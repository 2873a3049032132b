/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Settings, written by user/record/sampler.c between open and load, constant
 * afterwards: the verifier knows the values and removes the branches that are
 * not taken, so a switched-off feature costs nothing and may even use a kernel
 * function this kernel does not have.
 *
 * Weak, as are the maps: every .bpf.c includes this, the linker keeps one.
 */
#ifndef PROFBPF_KNOBS_BPF_H
#define PROFBPF_KNOBS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* A sample's value is cut here; MAX_VALUE_PERIODS asked periods. */
const volatile __u64 knob_cap_ns __weak = 0;

/* Who is sampled; the numbers are enum admit_mode of user/record/sampler.h. */
enum {
	KNOB_ADMIT_ALL,
	KNOB_ADMIT_PIDS,
	KNOB_ADMIT_TIDS,
	KNOB_ADMIT_CGROUP
};
const volatile __u32 knob_admit __weak = 0;
const volatile __u64 knob_cgroup_id __weak = 0; /* KNOB_ADMIT_CGROUP: v2 cgroup, with descendants */

/* VMA walk: 1 reads through bpf_rdonly_cast() (since 6.2; 45 ns), 0 copies each node (400 ns). */
const volatile __u32 knob_rdonly_cast __weak = 0;

const volatile __u32 knob_page_shift __weak = 12;

/* A ring wakes the reader when this many bytes wait in it (once per crossing). */
const volatile __u64 knob_wake_bytes __weak = 0;

/* A ring that always exists: for events on CPUs that are not sampled (--cpus). */
const volatile __u32 knob_home_cpu __weak = 0;

/* Inode of the profiler's pid namespace, whose numbers the user sees; 0 = the initial one. */
const volatile __u32 knob_pidns_inum __weak = 0;

/* The program that empties the target set after a process is gone runs (sched_process_free). */
const volatile __u32 knob_have_free __weak = 0;

#endif
