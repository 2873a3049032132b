// SPDX-License-Identifier: BSD-2-Clause
/*
 * Library code: first calls through the PLT (bound lazily), the dynamic linker
 * (dlopen), system calls, the vDSO, vfork, threads, hand-written string
 * functions, callbacks.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "prog.h"

static volatile long sink;

NOINLINE static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

NOINLINE static void strings(void)
{
	char a[200], b[200];

	memset(a, 'x', sizeof(a));
	a[150] = '\0';
	strcpy(b, a);
	sink += (long)strlen(b) + strcmp(a, b) + (strchr(b, 'y') != NULL) + memcmp(a, b, 100);
	memmove(b + 1, b, 120);
	sink += (long)strtol("12345", NULL, 10);
	sink += (long)strtod("3.25e2", NULL);
	snprintf(a, sizeof(a), "%s %d %.3f %lx", "text", 42, 2.5, 0xbeefL);
	sink += a[3];
}

NOINLINE static void callbacks(void)
{
	const char *words[] = {"unwind", "row", "page", "rule", "frame"};
	void *tree = NULL;

	qsort(words, 5, sizeof(words[0]), compare);
	for (int i = 0; i < 5; i++)
		sink += tsearch(&words[i], &tree, compare) != NULL;
}

NOINLINE static void memory(void)
{
	void *p[20];

	for (int i = 0; i < 20; i++)
		p[i] = malloc((size_t)(i * 50 + 1));
	p[3] = realloc(p[3], 100000);
	for (int i = 0; i < 20; i++)
		free(p[i]);
}

NOINLINE static void a_child(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(3);
	sink += waitpid(pid, NULL, 0);
}

NOINLINE static void *thread(void *p)
{
	*(volatile int *)p += 1;
	return NULL;
}

NOINLINE static void a_thread(void)
{
	pthread_t t;
	int n = 0;

	if (pthread_create(&t, NULL, thread, &n) == 0)
		pthread_join(t, NULL);
	sink += n;
}

NOINLINE static void clocks(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	sink += ts.tv_sec + time(NULL) + getpid();
}

#ifndef STATIC
NOINLINE static void a_library(void)
{
	void *lib = dlopen("libm.so.6", RTLD_LAZY);
	double (*cosine)(double);

	if (!lib)
		return;
	*(void **)&cosine = dlsym(lib, "cos");
	if (cosine)
		sink += (long)(cosine(0.5) * 1000);
	dlclose(lib);
}
#endif

int main(void)
{
	MARK;
	strings();
	callbacks();
	memory();
	clocks();
	a_child();
	a_thread();
#ifndef STATIC
	a_library();
#endif
	MARK;
	return 0;
}
