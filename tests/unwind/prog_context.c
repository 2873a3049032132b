// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks that are not the thread's own: fibers made by makecontext(), switched
 * between two of them and the main stack. Each stack must end at its own entry.
 * What is true is not what calls have pushed any more: stepped with -t.
 */
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "prog.h"

static volatile long sink;
static ucontext_t main_context, fiber[2];

NOINLINE static long leaf(long a)
{
	OPAQUE(a);
	return a + 1;
}

NOINLINE static long work(int n, int me)
{
	long r = leaf(n);

	swapcontext(&fiber[me], &fiber[!me]);
	if (n)
		r += work(n - 1, me);
	KEEP_FRAME;
	return r;
}

static void run(int me)
{
	sink += work(3, me);
	swapcontext(&fiber[me], &main_context);
}

int main(void)
{
	static char stacks[2][32 * 1024];

	MARK;
	for (int i = 0; i < 2; i++) {
		getcontext(&fiber[i]);
		fiber[i].uc_stack.ss_sp = stacks[i];
		fiber[i].uc_stack.ss_size = sizeof(stacks[i]);
		fiber[i].uc_link = &main_context;
		makecontext(&fiber[i], (void (*)(void))run, 1, i);
	}
	swapcontext(&main_context, &fiber[0]);
	MARK;
	return 0;
}
