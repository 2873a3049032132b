/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lockstep SECONDS PERIOD_NS [CPU]: works in step with a sampler of that period:
 * of each period, step_first() takes the first half and step_second() the rest,
 * by the clock. A sampler whose period never varies sees only one of them.
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

__attribute__((noinline)) void step_first(long long end)
{
	while (now() < end)
		for (int i = 0; i < 500; i++)
			sink++;
}

__attribute__((noinline)) void step_second(long long end)
{
	while (now() < end)
		for (int i = 0; i < 500; i++)
			sink--;
	sink++;
}

int main(int argc, char **argv)
{
	long long secs = argc > 1 ? atoll(argv[1]) : 10,
		  period = argc > 2 ? atoll(argv[2]) : 10101010;
	long long start, end, t;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(argc > 3 ? atoi(argv[3]) : 0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	printf("READY pid=%d\n", getpid());
	fflush(stdout);
	start = now();
	end = start + secs * 1000000000LL;
	for (t = start; t < end; t += period) {
		step_first(t + period / 2);
		step_second(t + period);
	}
	return 0;
}
