/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Every map, in one place. Sizes marked (*) are set before load by
 * user/record/sampler.c.
 *
 *   map       written by          read by             memory
 *   rings     BPF, all programs   user (ring.c)       one ring per sampled CPU (*)
 *   counters  BPF, own CPU        user, per block     112 B a CPU
 *   pace      user, each redraw   BPF, every tick     32 B a CPU
 *   targets   user; BPF at fork,  BPF, every tick     about 72 B an entry; 4,096 entries,
 *             exit                                    65,536 with --children (*)
 *   modules   BPF, first sight    BPF, every mapping; about 110 B x MAX_MODULES = 0.9 MB
 *                                 user on loss
 *   next_id   BPF                 BPF                 8 B
 *   unwind_modules  user; used_ns BPF  BPF            32 B x (MAX_MODULES + 16) = 0.3 MB
 *   unwind_pages    user          BPF                 12 B x UNWIND_MAX_PAGES = 1.5 MB
 *   unwind_rules    user          BPF                 16 B x UNWIND_MAX_RULES = 0.25 MB
 *   unwind_slabs    user          BPF                 4 MiB each, made as needed up to a budget
 *
 * Weak: every .bpf.c includes this, the linker checks that the definitions
 * agree and keeps one. All hash maps are preallocated: perf_event programs may
 * not use others before 6.1, and allocation at interrupt time can fail.
 */
#ifndef PROFBPF_MAPS_BPF_H
#define PROFBPF_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "bpf/unwind_step.h"
#include "bpf/wire.h"

/* The values of two maps with one entry each. */
struct unwind_page_index {
	struct wire_unwind_page at[UNWIND_MAX_PAGES];
};
struct unwind_rule_book {
	struct unwind_rule at[UNWIND_MAX_RULES];
};

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* (*) possible CPUs */
	__type(key, __u32);
	__array(values, struct ring);
} rings __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_counters);
} counters __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* (*) possible CPUs */
	__type(key, __u32);
	__type(value, struct wire_pace);
} pace __weak SEC(".maps");

/* Pids or tids, by knob_admit, in the numbers the user sees. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* (*) */
	__type(key, __u32);
	__type(value, struct wire_target);
} targets __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_MODULES);
	__type(key, struct wire_file_key);
	__type(value, struct wire_module_value);
} modules __weak SEC(".maps");

/* Module ids given out so far. An id lost in a race between two CPUs stays unused. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} next_id __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAX_MODULES + MODULE_FIRST_FILE);
	__type(key, __u32);
	__type(value, struct wire_unwind_module);
} unwind_modules __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_page_index);
} unwind_pages __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_rule_book);
} unwind_rules __weak SEC(".maps");

/* By sizes and not by types: libbpf 1.1 takes the BTF of an inner map wrongly. */
struct unwind_slab_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, UNWIND_SLAB_ROWS * 4);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_MAX_SLABS);
	__type(key, __u32);
	__array(values, struct unwind_slab_map);
} unwind_slabs __weak SEC(".maps");

static __always_inline struct wire_counters *my_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

#endif
