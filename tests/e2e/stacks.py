#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Chains of a program with frame pointers: through a signal handler, a fork, a system call, deep recursion."""
from support import *

need_root()
folder()
SOURCE = """
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define PLAIN __attribute__((noipa))
volatile unsigned long sink;
static char other_stack[1 << 17];
PLAIN void spin(void) { for (int i = 0; i < 3000000; i++) sink++; sink++; }
PLAIN void handler(int signo) { (void)signo; spin(); sink++; }
PLAIN void in_signal(void) { raise(SIGUSR1); sink++; }
PLAIN void in_call(void) { for (int i = 0; i < 20000; i++) syscall(SYS_getppid); sink++; }
PLAIN void outer(int n) { if (n) outer(n - 1); else spin(); sink++; }
PLAIN void in_child(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); for (;;) spin(); sink++; }
PLAIN void parent(void) { pid_t p = fork(); if (!p) in_child(); printf("READY %d\\n", p), fflush(stdout); for (;;) pause(); sink++; }
int main(int argc, char **argv)
{
	stack_t s = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	(void)argc;
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	if (strcmp(argv[1], "fork"))
		printf("READY %d\\n", getpid()), fflush(stdout);
	for (;;) {
		if (!strcmp(argv[1], "signal")) in_signal();
		if (!strcmp(argv[1], "call")) in_call();
		if (!strcmp(argv[1], "deep")) outer(600);
		if (!strcmp(argv[1], "shallow")) outer(40);
		if (!strcmp(argv[1], "fork")) parent();
	}
}
"""
program = compile_c(SOURCE, "chains", "-O0")
TRUNCATED = 2


def recorded(what):
    w = start(program, what)
    pid = int(w.ready.split()[1])
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, -20)
    record("-p", pid, "-F", 997, "-d", 1, "-o", what + ".prof")
    if pid != w.pid:
        os.kill(pid, signal.SIGKILL)
    stop(w)
    c = Capture(what + ".prof")
    check(len(c.samples) > 100, f"{what}: only {len(c.samples)} samples")
    return c


def user_names(c, s):
    """Names without those of the kernel, leaf first."""
    frames = [f for f in s.frames if c.frames[f]["kind"] != 2]
    return [n["name"] or "[unknown]" for f in frames for n in c.names.get(f, {}).values()]


def chain_is(c, *chain, share=0.98):
    """Nearly all samples with the chain's first function in it have the rest above, next to each other."""
    seen = good = 0
    odd = collections.Counter()
    for s in c.samples:
        names = user_names(c, s)
        if chain[0] not in names:
            continue
        seen += 1
        at = names.index(chain[0])
        if tuple(names[at:at + len(chain)]) == chain:
            good += 1
        else:
            odd[tuple(names[at:at + len(chain)])] += 1
    print(f"{' < '.join(chain)}: {good} of {seen}; else {odd.most_common(3)}")
    check(seen > len(c.samples) / 3, f"{chain[0]} is in {seen} of {len(c.samples)} samples only")
    # 2 %: an interrupt in a function's first two or last instructions loses its caller
    check(good >= share * seen, f"the chain {chain} is in {good} of {seen}: {odd.most_common(5)}")


c = recorded("shallow")
chain_is(c, "spin", *["outer"] * 41, "main")

# The handler's caller is code that nobody calls: it has its own name, not that of the function before it.
c = recorded("signal")
chain_is(c, "spin", "handler", "__restore_rt") if "__restore_rt" in {n["name"] for f in c.names.values() for n in f.values()} \
    else chain_is(c, "spin", "handler")
check(sum("main" in user_names(c, s) for s in c.samples) > 0.98 * len(c.samples), "main is lost below the handler")

# The kernel's part, then the user's: syscall() of libc is what entered it.
c = recorded("call")
both = [s for s in c.samples if c.frames[s.frames[0]]["kind"] == 2]
check(len(both) > len(c.samples) / 10, f"only {len(both)} of {len(c.samples)} samples are in the kernel")
good = sum("main" in user_names(c, s) for s in both)
print(f"{good} of {len(both)} samples in the kernel reach main")
check(good > 0.98 * len(both), f"{good} of {len(both)} samples in the kernel reach main")

# The child never ran its callers' code: it need not be in its page tables.
c = recorded("fork")
chain_is(c, "spin", "in_child", "parent", "main")

# Deeper than what is kept: the leaf side stays, and the sample says so.
c = recorded("deep")
cut = [s for s in c.samples if s.result == TRUNCATED]
print(f"{len(cut)} of {len(c.samples)} samples are cut")
check(len(cut) > 0.8 * len(c.samples), f"only {len(cut)} of {len(c.samples)} samples are cut")
for s in cut:
    names = user_names(c, s)
    check("main" not in names, "a cut stack reaches main")
    check(names.count("outer") > 100, f"a cut stack has {names.count('outer')} frames of the recursion")
