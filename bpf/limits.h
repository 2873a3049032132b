/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Maxima that the kernel and the user side agree on, each with its reason.
 */
#ifndef PROFBPF_LIMITS_H
#define PROFBPF_LIMITS_H

/* Frames of one kind of stack. Kernel: its own walk stops at kernel.perf_event_max_stack,
 * 127 by default. User: recursive descent and interpreters need some hundreds; a record
 * of all of them is 10 KB, still a small part of the smallest ring. */
#define MAX_KERNEL_FRAMES 127
#define MAX_USER_FRAMES	  512

#define COMM_LEN 16 /* TASK_COMM_LEN */

/* Distinct mapped files in one recording: a busy build host shows 2,000-3,000;
 * 72 B each, about 0.7 MB of map memory. */
#define MAX_MODULES 8192

/* Unwind tables. A slab is 4 MiB of rows; 256 are the most a budget can ask for. An index of
 * 131,072 pages covers 8 GiB of mapped files, 1.5 MB. */
#define UNWIND_SLAB_ROWS (1u << 20)
#define UNWIND_MAX_SLABS 256
#define UNWIND_MAX_PAGES 131072

/* Admission sets: an explicit list of pids or tids on a command line, plus the
 * children that --children adds at fork. */
#define MAX_TARGETS 65536

/* CPUs: the array of rings has one slot each. */
#define MAX_CPUS 4096

/* A sample's value is cut at this many periods: when ticks stayed away for long
 * (VM pause, throttling) the gap must not be booked to one function. Counted. */
#define MAX_VALUE_PERIODS 8

/* Addresses of the VMA walk's self-test at start. */
#define MAX_WALKTEST 64

#endif
