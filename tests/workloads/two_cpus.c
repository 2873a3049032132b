/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * two_cpus PHASES PHASE_MS: phase_even() on the first CPU and phase_odd() on the
 * second in turn, beginning at a time of CLOCK_MONOTONIC that it prints:
 * "START ns=N". Tests that times agree between the rings of different CPUs.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

__attribute__((noinline)) void phase_even(long long end)
{
	while (now() < end)
		for (int i = 0; i < 5000; i++)
			sink++;
}

__attribute__((noinline)) void phase_odd(long long end)
{
	while (now() < end)
		for (int i = 0; i < 5000; i++)
			sink--;
	sink++;
}

int main(int argc, char **argv)
{
	int phases = argc > 1 ? atoi(argv[1]) : 12, k;
	long long ms = argc > 2 ? atoll(argv[2]) : 500, t;
	struct timespec at;

	printf("READY pid=%d\n", getpid());
	t = now() + 2000000000LL;
	printf("START ns=%lld\n", t);
	fflush(stdout);
	at = (struct timespec){t / 1000000000LL, t % 1000000000LL};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	for (k = 0; k < phases; k++) {
		pin(k & 1);
		if (k & 1)
			phase_odd(t + ms * 1000000 * (k + 1));
		else
			phase_even(t + ms * 1000000 * (k + 1));
	}
	return 0;
}
