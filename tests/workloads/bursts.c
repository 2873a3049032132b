/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bursts SECONDS SHARE_PERMILLE: works a known share of one CPU, in bursts of
 * 1 ms, and sleeps in between. At the end it says what it really used:
 * "USED ns=N wall=N".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) void burst_work(long long end)
{
	while (now(CLOCK_MONOTONIC) < end)
		for (int i = 0; i < 2000; i++)
			sink++;
}

int main(int argc, char **argv)
{
	long long secs = argc > 1 ? atoll(argv[1]) : 10, share = argc > 2 ? atoll(argv[2]) : 50;
	long long start = now(CLOCK_MONOTONIC), end = start + secs * 1000000000LL, next;

	printf("READY pid=%d\n", getpid());
	fflush(stdout);
	for (next = start; next < end; next += 1000000LL * 1000 / share) {
		struct timespec t = {next / 1000000000LL, next % 1000000000LL};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		burst_work(now(CLOCK_MONOTONIC) + 1000000);
	}
	printf("USED ns=%lld wall=%lld\n", now(CLOCK_PROCESS_CPUTIME_ID),
		now(CLOCK_MONOTONIC) - start);
	return 0;
}
