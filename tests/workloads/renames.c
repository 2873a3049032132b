/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * renames SECONDS: one worker that takes the name of its task, 100 ms each in
 * turn: "task-parse" runs parse_task(), "task-send" runs send_task(). The first
 * thread sleeps under the program's name.
 */
#include <pthread.h>
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

__attribute__((noinline)) void parse_task(void)
{
	for (long long end = now() + 100000000; now() < end;)
		for (int i = 0; i < 50000; i++)
			sink++;
}

__attribute__((noinline)) void send_task(void)
{
	for (long long end = now() + 100000000; now() < end;)
		for (int i = 0; i < 50000; i++)
			sink--;
	sink++;
}

static void *work(void *arg)
{
	for (;;) {
		pthread_setname_np(pthread_self(), "task-parse");
		parse_task();
		pthread_setname_np(pthread_self(), "task-send");
		send_task();
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	printf("READY pid=%d\n", getpid());
	fflush(stdout);
	pthread_create(&t, NULL, work, NULL);
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 10);
	_exit(0);
}
