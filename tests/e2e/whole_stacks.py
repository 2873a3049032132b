#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs without frame pointers: nearly every sample has the whole stack, and it is the program's own.

"Complete" is our word; what is compared is the chain of names with the one the program was written to have.
"""
from support import *

need_root()
folder()
SOURCE = """
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __clang__
#define PLAIN __attribute__((noinline))
#else
#define PLAIN __attribute__((noipa))
#endif
#define USE(p) __asm__ volatile("" : : "r"(p) : "memory")
volatile unsigned long sink;
static char other_stack[1 << 17], fiber_stack[1 << 17];
static ucontext_t home, fiber;
PLAIN void spin(void) { for (int i = 0; i < 300000; i++) sink++; }
PLAIN void with_alloca(int n) { char *p = alloca(n); memset(p, 1, n); USE(p); spin(); USE(p); }
PLAIN void with_aligned(void) { char p[256] __attribute__((aligned(64))); USE(p); with_alloca((sink & 1023) + 1); USE(p); }
PLAIN void with_many(int a, int b, int c, int d, int e, int f, int g, int h) { char p[40]; USE(p); with_aligned(); sink += a + b + c + d + e + f + g + h; USE(p); }
PLAIN void frames(void) { with_many(1, 2, 3, 4, 5, 6, 7, 8); sink++; }
static int compare(const void *a, const void *b) { spin(); return *(const int *)a - *(const int *)b; }
PLAIN void callback(void) { static int v[3] = {3, 1, 2}; qsort(v, 3, sizeof(int), compare); sink++; }
static void handler(int signo) { (void)signo; spin(); sink++; }
PLAIN void in_signal(void) { syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1); sink++; }
PLAIN void down(int n) { char p[24]; USE(p); if (n) down(n - 1); else spin(); USE(p); }
static void entry(void) { for (;;) { spin(); swapcontext(&fiber, &home); } }
PLAIN void in_fiber(void) { swapcontext(&home, &fiber); sink++; }
PLAIN void in_call(void) { for (int i = 0; i < 2000; i++) syscall(SYS_getppid); sink++; }
PLAIN void in_vfork(void) { if (!vfork()) _exit(0); wait(NULL); sink++; }
int main(int argc, char **argv)
{
	stack_t s = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	struct sigaction a = {.sa_handler = handler};
	const char *mode = argv[1];
	(void)argc;
	if (!strcmp(mode, "other_stack")) a.sa_flags = SA_ONSTACK;
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = fiber_stack;
	fiber.uc_stack.ss_size = sizeof(fiber_stack);
	makecontext(&fiber, entry, 0);
	printf("READY\\n"), fflush(stdout);
	for (;;) {
		if (!strcmp(mode, "frames")) frames();
		if (!strcmp(mode, "callback")) callback();
		if (!strcmp(mode, "own_stack") || !strcmp(mode, "other_stack")) in_signal();
		if (!strcmp(mode, "deep")) down(299);
		if (!strcmp(mode, "deeper")) down(599);
		if (!strcmp(mode, "fiber")) in_fiber();
		if (!strcmp(mode, "call")) in_call();
		if (!strcmp(mode, "vfork")) in_vfork();
	}
}
"""
COMPLETE, TRUNCATED, UNREADABLE, KERNEL_ONLY = 0, 2, 4, 5


def build(name, *flags, cc=CC):
    with open(name + ".c", "w") as f:
        f.write(SOURCE)
    subprocess.run([cc, "-g", "-O2", "-fomit-frame-pointer", "-o", name, name + ".c", *flags], check=True)
    return os.path.abspath(name)


def recorded(program, mode, *args, least=100):
    w = start(program, mode)
    favour(w)
    record("-p", w.pid, "-F", 997, "-d", 1, "-o", "x.prof", *args)
    stop(w)
    c = Capture("x.prof")
    check(len(c.samples) > least, f"{mode}: only {len(c.samples)} samples")
    return c


def user_names(c, s):
    """Names without those of the kernel, leaf first."""
    frames = [f for f in s.frames if c.frames[f]["kind"] != 2]
    return [n["name"] or "[unknown]" for f in frames for n in c.names.get(f, {}).values()]


def results(c):
    return dict(collections.Counter(s.result for s in c.samples))


def whole(c, what, result=COMPLETE, share=0.995):
    good = sum(s.result == result for s in c.samples)
    print(f"{what}: {good} of {len(c.samples)} samples end as {result}; all {results(c)}")
    check(good >= share * len(c.samples) - 1, f"{what}: {good} of {len(c.samples)} samples end as {result}: {results(c)}")


def chain(c, what, leaf, *above, share=0.995):
    """Where leaf is in a stack, what is above it is above, next to each other."""
    seen = good = 0
    odd = collections.Counter()
    for s in c.samples:
        names = user_names(c, s)
        if leaf not in names:
            continue
        at = names.index(leaf) + 1
        seen += 1
        if tuple(names[at:at + len(above)]) == above:
            good += 1
        else:
            odd[tuple(names[at:at + len(above) + 1])] += 1
    print(f"{what}: {good} of {seen} as written")
    check(seen > len(c.samples) / 2, f"{what}: {leaf} is in {seen} of {len(c.samples)} samples only")
    check(good >= share * seen - 1, f"{what}: {good} of {seen} stacks are as written; else {odd.most_common(3)}")


FRAMES = ("with_alloca", "with_aligned", "with_many", "frames", "main")
compilers = [CC] + (["clang"] if shutil.which("clang") else [])
for cc in compilers:
    for name, flags in (("plain", []), ("static", ["-static"]), ("protected", ["-fcf-protection=full"])):
        what = f"{os.path.basename(cc)} {name}"
        c = recorded(build(name, *flags, cc=cc), "frames")
        whole(c, what)
        chain(c, what, "spin", *FRAMES)
plain = build("plain")

c = recorded(plain, "callback")
whole(c, "callback of qsort")
check(sum("callback" in user_names(c, s) and "main" in user_names(c, s) for s in c.samples) > 0.98 * len(c.samples), "qsort hides its caller")

for mode in ("own_stack", "other_stack"):
    c = recorded(plain, mode)
    whole(c, f"handler on its {mode}")
    good = sum({"handler", "in_signal", "main"} <= set(user_names(c, s)) for s in c.samples)
    check(good > 0.95 * len(c.samples), f"{mode}: only {good} of {len(c.samples)} stacks go through the handler to main")

c = recorded(plain, "deep")
whole(c, "300 frames")
chain(c, "300 frames", "spin", *["down"] * 300, "main", share=0.98)

c = recorded(plain, "deeper")
whole(c, "600 frames", TRUNCATED, 0.9)
for s in c.samples:
    if s.result == TRUNCATED:
        check(user_names(c, s).count("down") > 480, "a cut stack lacks its leaf side")
        check(c.frames[s.frames[-1]]["reason"] == 4, "a cut stack does not say so at its root")

# A fiber's stack ends at its entry: what lies above are stale words.
c = recorded(plain, "fiber")
whole(c, "fiber")
inside = [user_names(c, s) for s in c.samples if "entry" in user_names(c, s)]
check(len(inside) > 0.9 * len(c.samples), f"only {len(inside)} of {len(c.samples)} samples are in the fiber")
check(not any("main" in names for names in inside), "a caller was invented for a fiber")

c = recorded(plain, "call")
whole(c, "system calls")
chain(c, "system calls", "in_call", "main")

# Parent and child run on one stack. Much of it is exit() and waiting.
c = recorded(plain, "vfork", "--children", least=20)
rest = [s for s in c.samples if s.result not in (UNREADABLE, KERNEL_ONLY)]
good = sum(s.result == COMPLETE for s in rest)
print(f"vfork: {good} of {len(rest)} samples with a user stack are complete; all {results(c)}")
check(good >= 0.99 * len(rest) - 1, f"vfork: {good} of {len(rest)} are complete: {results(c)}")

# Programs of a millisecond. Until a file's table is made, some milliseconds after its very first sample, its
# samples have none; later processes find it. In execve() and exit() there is no user stack.
with open("storm.sh", "w") as f:
    f.write("echo READY\nwhile :; do /bin/true; done\n")
w = start("bash", "storm.sh")
record("-p", w.pid, "--children", "-F", 4999, "-d", 5, "-o", "storm.prof")
stop(w)
c = Capture("storm.prof")
without = sum(s.result == UNREADABLE for s in c.samples)
rest = [s for s in c.samples if s.result not in (UNREADABLE, KERNEL_ONLY)]
good = sum(s.result == COMPLETE for s in rest)
print(f"storm: {len(c.samples)} samples of {len({s.pid for s in c.samples})} processes, {without} without a user stack, "
      f"{good} of the other {len(rest)} complete; {results(c)}")
check(len({s.pid for s in c.samples}) > 100, "the storm is a breeze")
check(good >= 0.99 * len(rest), f"storm: {good} of {len(rest)} are complete: {results(c)}")
