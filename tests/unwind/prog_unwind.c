// SPDX-License-Identifier: BSD-2-Clause
/*
 * An exception passes: libgcc's unwinder walks the stack, runs cleanups at their
 * landing pads (it returns there by a return that moves the stack pointer) and
 * leaves by a longjmp. Compiled with -fexceptions.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "prog.h"

static volatile long sink;
static jmp_buf out;

NOINLINE static long leaf(long a)
{
	OPAQUE(a);
	return a + 1;
}

NOINLINE static void cleanup(int *p)
{
	sink += leaf(*p);
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *e, struct _Unwind_Context *context, void *arg)
{
	static int frames;

	(void)version;
	(void)actions;
	(void)class;
	(void)e;
	(void)arg;
	sink += (long)_Unwind_GetIP(context);
	if (++frames > 6)
		longjmp(out, 1);
	return _URC_NO_REASON;
}

static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *arg)
{
	*(long *)arg += _Unwind_GetCFA(context) != 0;
	return _URC_NO_REASON;
}

NOINLINE static long fall(int n)
{
	static struct _Unwind_Exception e;
	__attribute__((cleanup(cleanup))) int local = n;
	long frames = 0;

	if (!n) {
		_Unwind_Backtrace(count, &frames);
		sink += frames;
		memset(&e, 0, sizeof(e));
		_Unwind_ForcedUnwind(&e, stop, NULL);
	}
	frames = fall(n - 1);
	KEEP_FRAME;
	return frames + local;
}

int main(void)
{
	MARK;
	if (!setjmp(out))
		sink += fall(5);
	MARK;
	return 0;
}
