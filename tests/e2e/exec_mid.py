#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A process that executes another program in mid-run: same pid and addresses, two generations, never mixed."""
from support import *

need_root()
folder()
SOURCE = """
#include <time.h>
#include <unistd.h>
#include <stdio.h>
volatile unsigned long sink;
%s
static long long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
__attribute__((noinline)) void %s(long long ns) { for (long long end = now() + ns; now() < end;) for (int i = 0; i < 20000; i++) sink++; }
int main(int argc, char **argv) {
	if (argc > 1) { printf("READY\\n"); fflush(stdout); getchar(); }
	%s(1500000000);
	if (argc > 1) execv(argv[1], (char *[]){argv[1], NULL});
	return 0;
}
"""
before = compile_c(SOURCE % ("void pad(void) { sink = 9; }", "before_exec", "before_exec"), "old_program", "-no-pie")
after = compile_c(SOURCE % ("", "after_exec", "after_exec"), "new_program", "-no-pie")
w = start(before, after, stdin=subprocess.PIPE)
p = background("record", "-p", w.pid, "-F", 499, "-o", "x.prof")
wait_recording("x.prof.part", p)
w.stdin.close()  # it begins
check(ended(p) == 0, said(p))
c = Capture("x.prof")
check(c.end["reason"] == 3, "the end was not the target's")
gens = {p["id"]: p for p in c.processes.values()}
check(len(gens) == 2, f"{len(gens)} generations: {gens}")
by = {}
for s in c.samples:
    b, a = c.has(s, "before_exec"), c.has(s, "after_exec")
    check(not (a and b), "both programs in one stack")
    if b or a:
        by.setdefault(b, []).append(s)
        check(s.process["name"] == (b"old_program" if b else b"new_program"), f"process is called {s.process['name']}")
        check(s.process["exe"].endswith(b"/old_program" if b else b"/new_program"), f"its program: {s.process['exe']}")
check(set(by) == {True, False}, "one of the two programs was not seen")
check(max(s.time for s in by[True]) <= min(s.time for s in by[False]), "the old program after the new one")
named = len(by[True]) + len(by[False])
check(named >= 0.95 * len(c.samples), f"only {named} of {len(c.samples)} samples have names")
close(c.share(lambda s: c.has(s, "before_exec")), 0.5, "before_exec", 0.1)
