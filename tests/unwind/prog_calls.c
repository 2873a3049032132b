// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames of all shapes: many and few registers, large frames (probed page by
 * page), alloca and variable-length arrays, stack arguments, tail calls,
 * recursion, function pointers, structures by value, a function that does not
 * return.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prog.h"

static volatile long sink;
static jmp_buf out;

NOINLINE static long leaf(long a)
{
	OPAQUE(a);
	return a * 3 + 1;
}

NOINLINE static long recurse(int n, long a, long b, long c)
{
	long r;

	if (!n)
		return a + b + c;
	r = recurse(n - 1, b, c, a ^ n) + recurse(n > 3 ? 0 : n - 1, c, a, b);
	KEEP_FRAME;
	return r + a;
}

NOINLINE static long tail_end(long a, long b)
{
	sink += a;
	return leaf(a + b);
}

NOINLINE static long tail_middle(long a, long b)
{
	sink -= b;
	return tail_end(b, a);
}

NOINLINE static long tail(long a)
{
	return tail_middle(a, a + 1);
}

/* All callee-saved registers are alive over a call. */
NOINLINE static long many_registers(long a, long b, long c, long d, long e, long f)
{
	long g = a * b, h = c * d, i = e * f, j = a + d, k = b + e, l = c + f;

	for (int n = 0; n < 3; n++) {
		g += leaf(h);
		h ^= leaf(i);
		i += leaf(j) + k;
		j -= leaf(l) + g;
		k ^= l;
		l += g;
	}
	return g + h + i + j + k + l;
}

NOINLINE static long stack_arguments(
	int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
	return leaf(a + b + c + d + e) + leaf(f + g + h + i + j);
}

NOINLINE static long variadic(int nr, ...)
{
	va_list ap;
	long sum = 0;

	va_start(ap, nr);
	while (nr-- > 0)
		sum += leaf(va_arg(ap, int));
	va_end(ap);
	return sum;
}

NOINLINE static long large_frame(int n)
{
	char buf[40000];

	memset(buf, n, 64);
	OPAQUE(n);
	buf[n] = (char)leaf(n);
	sink += buf[0] + buf[39999];
	return buf[n & 63];
}

NOINLINE static long with_alloca(int n)
{
	char *p = alloca((size_t)n);

	memset(p, n, (size_t)n);
	for (int i = 0; i < 3; i++) {
		char *q = alloca((size_t)(n + i));

		q[0] = (char)leaf(i);
		sink += q[0];
	}
	return leaf(p[n - 1]);
}

NOINLINE static long with_array(int n)
{
	long sum = 0;

	for (int i = 1; i < n; i++) {
		long a[i];

		for (int k = 0; k < i; k++)
			a[k] = leaf(k);
		sum += a[i - 1];
	}
	return sum;
}

struct big {
	long a[12];
};

NOINLINE static struct big by_value(struct big b, int n)
{
	b.a[n] += leaf(b.a[0]);
	return b;
}

NOINLINE static int by_size(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

NOINLINE __attribute__((noreturn)) static void no_return(int n)
{
	sink += n;
	longjmp(out, n);
}

NOINLINE static long early_return(int n)
{
	/* compilers shrink-wrap: several epilogues, and calls before the frame is made */
	if (n < 0)
		return -1;
	if (n == 0)
		no_return(7);
	if (n == 1)
		return leaf(n);
	return many_registers(n, n + 1, n + 2, n + 3, n + 4, n + 5) + recurse(2, n, n, n);
}

NOINLINE static long through_pointer(long (*fn)(long), long a)
{
	long r = fn(a);

	KEEP_FRAME;
	return r;
}

int main(int argc, char **argv)
{
	int numbers[] = {5, 3, 9, 1, 7, 2, 8};
	struct big b = {{1, 2, 3}};

	(void)argv;
	MARK;
	sink += recurse(7, 1, 2, 3) + recurse(8, 3, 2, 1);
	sink += tail(argc);
	sink += many_registers(1, 2, 3, 4, 5, argc);
	sink += stack_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, argc);
	sink += variadic(5, 1, 2, 3, 4, argc);
	sink += large_frame(argc);
	sink += with_alloca(100 * argc);
	sink += with_array(12 * argc);
	b = by_value(b, argc);
	sink += b.a[argc];
	qsort(numbers, 7, sizeof(numbers[0]), by_size);
	if (!setjmp(out))
		sink += early_return(argc - 1);
	for (int i = -1; i < 3; i++)
		if (i)
			sink += early_return(i);
	sink += through_pointer(leaf, argc) + through_pointer(tail, argc);
	MARK;
	return 0;
}
