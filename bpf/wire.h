/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What crosses the border: records on the per-CPU rings, and the keys and
 * values of the maps both sides touch. May change every week: never stored.
 * Native endianness, no padding that is not named.
 */
#ifndef PROFBPF_WIRE_H
#define PROFBPF_WIRE_H

#include "frame.h"
#include "limits.h"

enum wire_kind {
	WIRE_SAMPLE = 1,
	WIRE_MODULE = 2, /* a file was seen for the first time: open it now */
	WIRE_EXIT = 3,	 /* a target process ended */
	WIRE_EXEC = 4,	 /* a target process executed another program */
};

struct wire_header {
	__u16 kind; /* enum wire_kind */
	__u16 cpu;
	__u32 len; /* bytes of the record, header included */
};

/* What identifies a mapped file. ctime and size tell a rewritten file from the
 * one it was; gen tells a reused inode. */
struct wire_file_key {
	__u64 ino;
	__u64 size;
	__u64 ctime_ns;
	__u32 dev; /* s_dev: major << 20 | minor */
	__u32 gen;
};

/* Which process, across pid reuse and exec. */
struct wire_process {
	__u32 pid;	     /* user-space sense; as the profiler's own pid namespace numbers it */
	__u32 exec_id;	     /* task->self_exec_id of the group leader */
	__u64 start_boot_ns; /* group leader's start_boottime */
	char comm[COMM_LEN]; /* group leader's name now */
};

#define WIRE_SAMPLE_KERNEL_CUT 0x1 /* the kernel stack is cut at MAX_KERNEL_FRAMES */

/* Variable length: frames[0 .. nr_kernel) then nr_user more, each leaf first. */
struct wire_sample {
	struct wire_header h;
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 value;   /* ns since the previous timer tick on this CPU */
	struct wire_process process;
	__u32 tid;
	__u8 result; /* enum stack_result */
	__u8 flags;  /* WIRE_SAMPLE_* */
	__u16 nr_kernel;
	__u16 nr_user;
	__u16 reserved[3];
	char comm[COMM_LEN]; /* the thread's name at this moment */
	struct frame frames[];
};

struct wire_module {
	struct wire_header h;
	struct wire_file_key key;
	__u64 start, end; /* a mapping of it in process pid */
	__u32 id;	  /* frame.owner */
	__u32 pid;
};

/* WIRE_EXIT (the last thread of a target, or with tids: of one that held a target), WIRE_EXEC. */
struct wire_life {
	struct wire_header h;
	__u64 time_ns;
	__u32 pid;
	__u32 exit_code;
};

/* Value of the module table; user space reads it when a WIRE_MODULE was lost. */
struct wire_module_value {
	__u64 start, end;
	__u32 id;
	__u32 pid;
};

/* Value of the admission sets (pids, tids). */
struct wire_target {
	__u32 until_exec; /* 1: a command we forked; not admitted before its exec */
	__u32 reserved;
};

/* How a CPU's timer runs; written by user space each time it starts or restarts it. */
struct wire_pace {
	__u64 since_ns; /* the event was enabled: no value reaches back before it */
	__u64 armed_ns; /* the timer was (re)started last; its ticks are at armed + n x period */
	__u64 period_ns;
	__u64 lead_ns; /* from the last tick before that to armed_ns; 0 at first */
};

/* Per-CPU counters, one struct per CPU in a per-CPU array. Sum of sampled,
 * idle, not_admitted, before_exec, lost_ring and lost_scratch = ticks. */
struct wire_counters {
	__u64 ticks; /* that reached the program: not those of an idle CPU (see cpu.bpf.c) */
	__u64 sampled;
	__u64 idle; /* ticks of the idle task that arrived all the same; 0 where the kernel honours
		       exclude_idle */
	__u64 not_admitted;
	__u64 before_exec;
	__u64 lost_ring;
	__u64 lost_scratch;
	__u64 capped_ns;   /* cut from values at MAX_VALUE_PERIODS */
	__u64 value_ns;	   /* sum of the values of sampled and lost samples */
	__u64 lost_events; /* module/life records that found the ring full */
	__u64 walk_failed; /* VMA walks that gave up */
	__u64 run_ns; /* time spent in the program on admitted ticks, from its first line to its
			 last */
	__u64 last_tick_ns; /* not a counter: time of the previous tick */
};

/*
 * Unwind tables in maps: what user/record/unwind_loader.c writes and the walk reads.
 * A module's table is cut into pages of 64 KiB of file (UNWIND_PAGE_SHIFT); a page's
 * rows are together in one slab.
 */
enum wire_unwind_state {
	WIRE_UNWIND_NONE = 0, /* no table: not made yet, dropped for memory, or it cannot be had */
	WIRE_UNWIND_READY,
	WIRE_UNWIND_FP, /* its code keeps frame pointers throughout, and changes stacks (Go) */
};

/* unwind_modules: one by module id. */
struct wire_unwind_module {
	__u32 state; /* enum wire_unwind_state; written last when it becomes READY, first when it
			ends */
	__u32 first_page; /* of the file */
	__u32 nr_pages;	  /* pages before and after have no information */
	__u32 index;	  /* of its first page in unwind_pages */
	__u32 wanted;	  /* the file could not be opened: the walk says where it is mapped now, and
			     clears     this */
	__u32 unused;
	__u64 used_ns; /* written by the walk: CLOCK_MONOTONIC of the last sample that used it */
};

/* unwind_pages: rows[first .. first + nr) of a slab; nr 0 = no information. */
struct wire_unwind_page {
	__u32 slab;
	__u32 first;
	__u32 nr;
};

/* One address of the walk's self-test: addr in (0 ends the list), the rest out. */
struct wire_walk {
	__u64 addr;
	__u64 start, end, pgoff; /* pgoff in pages */
	struct wire_file_key key;
	__u32 reason; /* enum frame_reason; 0 = found */
	__u32 has_file;
	__u32 is_vdso;
	__u32 exec;
};

#endif
