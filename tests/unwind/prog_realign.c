// SPDX-License-Identifier: BSD-2-Clause
/*
 * Realigned stacks: locals that need more than 16 bytes of alignment, with
 * calls, stack arguments, alloca; functions that may be called with a stack that
 * is not aligned at all. Compiled with -mavx2; ends at once on a CPU without it.
 */
#include <alloca.h>
#include <immintrin.h>
#include <string.h>

#include "prog.h"

static volatile long sink;

typedef long v4 __attribute__((vector_size(32)));

NOINLINE static long leaf(const void *p)
{
	return *(const volatile char *)p;
}

NOINLINE static v4 vectors(v4 a, v4 b)
{
	v4 keep __attribute__((aligned(32))) = a * b;

	sink += leaf(&keep);
	return keep + a;
}

NOINLINE static long aligned_local(int n)
{
	char buf[100] __attribute__((aligned(64)));

	memset(buf, n, sizeof(buf));
	sink += leaf(buf);
	return buf[n] + leaf(buf + 1);
}

NOINLINE static long aligned_with_alloca(int n)
{
	long a[4] __attribute__((aligned(128))) = {n};
	char *p = alloca((size_t)n * 16);

	memset(p, n, 16);
	a[n & 3] += leaf(p);
	sink += leaf(a);
	return a[0];
}

NOINLINE static long aligned_with_arguments(int a, int b, int c, int d, int e, int f, int g, int h)
{
	v4 v __attribute__((aligned(64))) = {a, b, c, d};

	sink += leaf(&v);
	return v[0] + e + f + g + h;
}

NOINLINE __attribute__((force_align_arg_pointer)) static long any_alignment(int n)
{
	char buf[64] __attribute__((aligned(16)));

	memset(buf, n, sizeof(buf));
	return aligned_local(n) + leaf(buf);
}

NOINLINE static long aligned_recursion(int n)
{
	v4 v __attribute__((aligned(32))) = {n, n, n, n};

	sink += leaf(&v);
	if (n > 0)
		v[0] += aligned_recursion(n - 1);
	KEEP_FRAME;
	return v[0];
}

int main(int argc, char **argv)
{
	v4 a = {argc, 2, 3, 4}, b = {5, 6, 7, 8};

	(void)argv;
	if (!__builtin_cpu_supports("avx2"))
		return 77;
	MARK;
	for (int i = 1; i < 20; i++) {
		a = vectors(a, b);
		sink += a[0];
		sink += aligned_local(i);
		sink += aligned_with_alloca(i);
		sink += aligned_with_arguments(1, 2, 3, 4, 5, 6, 7, i);
		sink += any_alignment(i);
		sink += aligned_recursion(i);
	}
	MARK;
	return 0;
}
