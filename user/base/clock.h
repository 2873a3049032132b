/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, in nanoseconds. */
#ifndef PROFBPF_BASE_CLOCK_H
#define PROFBPF_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_mono_ns(void); /* CLOCK_MONOTONIC: what bpf_ktime_get_ns() counts */
uint64_t clock_boot_ns(void); /* CLOCK_BOOTTIME: what /proc/PID/stat start times count */
uint64_t clock_real_ns(void); /* CLOCK_REALTIME */
uint64_t clock_process_cpu_ns(void);
void clock_sleep_until(uint64_t mono_ns); /* ends early on a signal */

#endif
