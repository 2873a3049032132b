/* SPDX-License-Identifier: BSD-2-Clause */
#include "clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts = {0};

	clock_gettime(id, &ts); /* cannot fail for these four */
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

uint64_t clock_real_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

uint64_t clock_process_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_sleep_until(uint64_t mono_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(mono_ns / 1000000000u),
		.tv_nsec = (long)(mono_ns % 1000000000u),
	};

	/* Not repeated on EINTR: the caller looks at what the signal asked for. */
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}
