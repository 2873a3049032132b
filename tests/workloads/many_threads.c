/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * many_threads SECONDS THREADS: so many threads, "w-00000" and on, that each work
 * a little and sleep half a second and more. Says how many it could make:
 * "READY pid=N threads=N".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static volatile int go;

__attribute__((noinline)) void thread_turn(void)
{
	for (int i = 0; i < 15000; i++)
		sink++;
}

static void *work(void *arg)
{
	long n = (long)arg;
	char name[16];

	snprintf(name, sizeof(name), "w-%05ld", n);
	pthread_setname_np(pthread_self(), name);
	while (!go)
		usleep(200000);
	for (;;) {
		thread_turn();
		usleep((useconds_t)(500000 + n % 1000 * 500));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int secs = argc > 1 ? atoi(argv[1]) : 10, nr = argc > 2 ? atoi(argv[2]) : 10000, made = 0;
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32768);
	while (made < nr && !pthread_create(&t, &small, work, (void *)(long)made))
		made++;
	go = 1;
	printf("READY pid=%d threads=%d\n", getpid(), made);
	fflush(stdout);
	sleep((unsigned)secs);
	_exit(0);
}
