#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Code without frame pointers keeps other things in RBP. None of them may become a caller with a plausible name.

In static programs RBP of libc's functions is a table of function pointers: a walk that follows it makes
register_tm_clones the caller of everything.
"""
from support import *

need_root()
folder()
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char a[1 << 16], b[1 << 16], text[200];
static int table[4096];
static int compare(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }
__attribute__((noinline)) void in_mem(void) { for (int i = 0; i < 100; i++) { memmove(a + 1, a, 60000); a[5] += strlen(b + i); b[3] = a[7] | 1; } }
__attribute__((noinline)) void in_sort(void) { for (int i = 0; i < 4096; i++) table[i] = rand(); qsort(table, 4096, sizeof(int), compare); }
__attribute__((noinline)) void in_format(void) { for (int i = 0; i < 500; i++) snprintf(text, sizeof(text), "%f %d %s", i * .3, i, "x"); }
int main(void) {
	memset(b, 'x', 60000);
	printf("READY\\n"), fflush(stdout);
	for (;;) in_mem(), in_sort(), in_format();
}
"""
# Nothing calls these in mid-run: they are what the words that are not return addresses point to.
START_UP = {"register_tm_clones", "deregister_tm_clones", "frame_dummy", "__do_global_dtors_aux", "_init", "_start",
            "__libc_csu_init", "__libc_csu_fini"}

# Without tables the frame pointer is all there is.
for kind, flags, way in (("static", ["-static"], []), ("dynamic", [], []), ("static-fp", ["-static"], ["--unwind-memory", 0]),
                         ("dynamic-fp", [], ["--unwind-memory", 0])):
    program = compile_c(SOURCE, kind, *flags)
    w = start(program)
    record("-p", w.pid, "-F", 997, "-d", 2, "-o", kind + ".prof", *way)
    stop(w)
    c = Capture(kind + ".prof")
    check(len(c.samples) > 500, f"only {len(c.samples)} samples")
    leaves = {c.leaf(s) for s in c.samples}
    check(len(leaves) > 10, f"the work is not in libc: {leaves}")
    wrong = collections.Counter()
    mine = 0
    for s in c.samples:
        names = c.names_of(s)
        # _start is where a whole stack ends
        wrong.update(START_UP.intersection(names[:-1]) | (START_UP - {"_start"}).intersection(names[-1:]))
        # not of the leaf: in a function's first instructions the frame pointer is still its caller's
        if {"in_mem", "in_sort", "in_format"}.intersection(names[1:]):
            mine += 1
            check("main" in names, f"main is not above its own function: {names}")
    print(f"{kind}: {len(c.samples)} samples, {len(leaves)} leaves, {mine} with a function of the program; wrong: {dict(wrong)}")
    check(not wrong, f"{kind}: names that call nothing: {dict(wrong)}")
