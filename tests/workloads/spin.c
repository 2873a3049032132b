/* SPDX-License-Identifier: BSD-2-Clause */
/* spin [SECONDS [THREADS]]: burns CPU in spin_hot(), in so many threads. Says READY pid=N. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) void *spin_hot(void *arg)
{
	for (;;)
		sink++;
	return arg;
}

int main(int argc, char **argv)
{
	int secs = argc > 1 ? atoi(argv[1]) : 10, threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t t;

	while (--threads > 0)
		pthread_create(&t, NULL, spin_hot, NULL);
	printf("READY pid=%d\n", getpid());
	fflush(stdout);
	alarm((unsigned)secs);
	spin_hot(NULL);
}
