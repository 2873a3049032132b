// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signal handlers: on the interrupted stack and on one of their own
 * (SA_ONSTACK), with and without SA_SIGINFO, nested, raised inside library code.
 * Run with -i, SIGUSR1 comes between any two instructions.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prog.h"

static volatile long sink;
static volatile int depth;

NOINLINE static long work(long a)
{
	char text[64];

	snprintf(text, sizeof(text), "%ld", a);
	return a + (long)strlen(text);
}

NOINLINE static void simple(int sig)
{
	sink += sig + work(sig);
}

/* SIGUSR1's are short: the next one comes soon. */
NOINLINE static long leaf(long a)
{
	OPAQUE(a);
	return a + 1;
}

NOINLINE static void quick(int sig)
{
	sink += leaf(sig);
	KEEP_FRAME;
}

NOINLINE static void quick_with_info(int sig, siginfo_t *info, void *context)
{
	sink += leaf(sig) + (info->si_code != 0) + (context != NULL);
}

NOINLINE static void nests(int sig)
{
	if (depth++ < 2)
		raise(SIGALRM);
	sink += work(sig);
	KEEP_FRAME;
	depth--;
}

static void install(int sig, void *handler, int flags)
{
	struct sigaction sa = {.sa_flags = flags};

	if (flags & SA_SIGINFO)
		sa.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler;
	else
		sa.sa_handler = (void (*)(int))handler;
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

NOINLINE static long loop(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		char buf[32];

		memset(buf, i, sizeof(buf));
		sum += buf[i & 31] + work(i);
	}
	return sum;
}

int main(void)
{
	static char own[64 * 1024];
	stack_t ss = {.ss_sp = own, .ss_size = sizeof(own)};

	sigaltstack(&ss, NULL);
	install(SIGUSR1, (void *)quick_with_info, SA_SIGINFO);
	install(SIGUSR2, (void *)simple, SA_ONSTACK);
	install(SIGALRM, (void *)nests, SA_ONSTACK | SA_NODEFER);
	install(SIGHUP, (void *)simple, 0);
	MARK;
	raise(SIGHUP);
	raise(SIGUSR2);
	raise(SIGALRM);
	sink += loop(3);
	install(SIGUSR1, (void *)quick_with_info, SA_SIGINFO | SA_ONSTACK);
	sink += loop(3);
	install(SIGUSR1, (void *)quick, SA_ONSTACK | SA_NODEFER);
	sink += loop(3);
	MARK;
	return 0;
}
