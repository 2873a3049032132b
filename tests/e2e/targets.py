#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each kind of target records what it names; each wrong one gets one true sentence and leaves nothing."""
from support import *

need_root()
d = folder()


def wrong(rc, *args, words=()):
    r = profbpf("record", "-d", 0.3, "-o", "wrong.prof", *args)
    one_sentence(r, rc, *words)
    check(not [f for f in os.listdir(".") if f.startswith("wrong")], f"{args} left {os.listdir('.')}")


w = start("spin", 170, 3)
tids = sorted(map(int, os.listdir(f"/proc/{w.pid}/task")))
free = next(p for p in range(4194303, 1, -1) if not os.path.exists(f"/proc/{p}"))

# ---- that there is none, or what it is
wrong(3, "-p", free, words=("no process", str(free), "hint:"))
wrong(3, "-p", f"{w.pid},{free}", words=(str(free),))
wrong(3, "-t", free, words=("no thread",))
wrong(3, "-p", tids[1], words=("thread", str(w.pid), "hint:", "-t"))
wrong(2, "-p", "abc", words=("abc",))
wrong(2, "-p", "0", words=("0",))
wrong(2, "-p", "-5", words=("-5",))
wrong(2, "-p", "", words=("-p",))
wrong(2, "-p", "99999999999999999999")
wrong(2, "-p", w.pid, "-a", words=("one",))
wrong(2, words=("no target", "hint:"))
wrong(2, "-p", w.pid, "-F", "0", words=("-F",))
wrong(2, "-p", w.pid, "-F", "1000001", words=("1000001", "hint:"))
for size in ("100T", "3G"):
    wrong(2, "-p", w.pid, "--buffer", size, words=("--buffer", "at most", "hint:"))
r = record("-p", w.pid, "--buffer", 1, "-d", 0.5, "-o", "a.prof")
check("--buffer" in r.err and "4.0 KiB" in r.err, f"--buffer 1: {r.err}")
r = record("-v", "-p", w.pid, "--buffer", "100K", "-d", 0.5, "-o", "a.prof")
check("128 KiB" in r.err, f"--buffer 100K: {r.err}")
wrong(2, "-p", w.pid, "-d", "-1")
wrong(2, "-p", w.pid, "-d", "0", words=("-d 0",))
wrong(2, "-p", w.pid, "-d", "5x", words=("5x",))
wrong(2, "-p", w.pid, "--cpus", "9999", words=("9999",))
wrong(2, "-p", w.pid, "--cpus", "a-b")
wrong(2, "-p", w.pid, "-e", "cycels", words=("cycels",))
wrong(2, "-t", w.pid, "--children", words=("--children",))
wrong(2, "-p", w.pid, "--user", "root", words=("--user",))
wrong(2, "-p", w.pid, "--frequency", "5", words=("--frequency", "hint:"))
wrong(2, str(w.pid), words=(str(w.pid),))
r = profbpf("recrod", "-p", w.pid)
one_sentence(r, 2, "recrod", "record")
zombie = keep(subprocess.Popen(["true"]))
wait_for(lambda: open(f"/proc/{zombie.pid}/stat").read().rsplit(")")[-1].split()[0] == "Z", "a zombie")
wrong(3, "-p", zombie.pid, words=("ended",))
zombie.wait()
self = profbpf("record", "-p", os.getpid(), "-d", 0.3, "-F", 4999, "-o", "self.prof")  # we only wait
check(self.rc in (0, 3), self.err)
p = subprocess.run(["sh", "-c", f"exec {PROFBPF} record -p $$ -d 0.3 -o wrong.prof"], stderr=subprocess.PIPE, text=True)
check(p.returncode == 2 and "itself" in p.stderr, f"its own pid: {p.stderr}")

# ---- a process, twice named; two; a thread
record("-p", f"{w.pid},{w.pid}", "-p", w.pid, "-d", 0.7, "-F", 997, "-o", "a.prof")
c = Capture("a.prof")
check({s.pid for s in c.samples} == {w.pid} and {s.tid for s in c.samples} == set(tids), "not all threads of it")
v = start("spin", 100)
record("-p", w.pid, "-p", v.pid, "-d", 0.7, "-F", 997, "-o", "a.prof")
check({s.pid for s in Capture("a.prof").samples} == {w.pid, v.pid}, "not both processes")
record("-t", tids[1], "-d", 0.7, "-F", 997, "-o", "a.prof")
c = Capture("a.prof")
check({s.tid for s in c.samples} == {tids[1]}, "-t sampled other threads")
clock = c.meta["target.cpu_ns"][1]
check(abs(c.total() - clock) < 0.05 * clock + 4 * math.sqrt(sum(s.value**2 for s in c.samples)), f"{c.total()} {clock}")
stop(v)
# New threads need no attaching.
grow = compile_c("""#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile unsigned long s;
void *late_thread(void *a) { for (;;) s++; return a; }
int main(void) { pthread_t t; printf("READY\\n"); fflush(stdout); getchar(); pthread_create(&t, 0, late_thread, 0); sleep(60); return 0; }
""", "grow", "-pthread")
g = start(grow, stdin=subprocess.PIPE)
p = background("record", "-p", g.pid, "-F", 499, "-o", "a.prof")
wait_recording("a.prof.part", p)
g.stdin.close()  # it makes the thread
wait_worked(g.pid)
p.send_signal(signal.SIGINT)
check(ended(p) == 0, said(p))
c = Capture("a.prof")
check(sum(c.has(s, "late_thread") for s in c.samples) > 20, "the thread that came later was not sampled")
stop(g)

# ---- children
kids = compile_c("""#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
volatile unsigned long s;
int main(void) { printf("READY\\n"); fflush(stdout); getchar();
	for (int i = 0; i < 3; i++) if (!fork()) { if (!fork()) { alarm(60); for (;;) s++; } wait(0); _exit(0); }
	sleep(60); return 0; }
""", "kids")
for args, want in (((), 0), (("--children",), 3)):
    k = start(kids, preexec_fn=os.setsid, stdin=subprocess.PIPE)
    p = background("record", "-p", k.pid, "-d", 2, "-F", 997, "-o", "a.prof", *args)
    wait_recording("a.prof.part", p)
    k.stdin.close()  # it forks
    got = {s.pid for s in Capture("a.prof").samples} - {k.pid} if ended(p) == 0 else set()
    os.killpg(k.pid, signal.SIGKILL)
    k.wait()
    check(len([x for x in got]) >= want if want else not got, f"{args}: children sampled: {got}")

# ---- the system, one CPU
record("-a", "-d", 0.7, "-F", 997, "-o", "a.prof")
c = Capture("a.prof")
check(w.pid in {s.pid for s in c.samples}, "-a did not see a busy process")
busy = sum(s.value for s in c.samples) / c.end["duration_ns"] / len(c.counters)
check(0.3 < busy < 1.02, f"{100 * busy:.0f} % of the CPUs were busy?")
record("-a", "--cpus", cpus()[0], "-d", 0.5, "-F", 997, "-o", "a.prof")
check({s.cpu for s in Capture("a.prof").samples} == {cpus()[0]}, "--cpus sampled another CPU")

# ---- a kernel thread has kernel stacks only
kthread = None
for p in filter(str.isdigit, os.listdir("/proc")):
    with contextlib.suppress(OSError):
        if not os.readlink(f"/proc/{p}/exe"):
            pass
    with contextlib.suppress(OSError):
        stat = open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()
        if int(stat[6]) & 0x200000 and "rcu_" in open(f"/proc/{p}/comm").read():
            kthread = int(p)
check(kthread, "no kernel thread to be found")
r = profbpf("record", "-p", kthread, "-d", 1, "-F", 4999, "-o", "k.prof")
if r.rc == 0:
    c = Capture("k.prof")
    check(all(c.frames[f]["kind"] == 2 for s in c.samples for f in s.frames), "user frames in a kernel thread")
    check({s.result for s in c.samples} == {5}, "the result is not kernel-only")
else:
    one_sentence(r, 3, "no samples", str(kthread))

# ---- cgroups
mounts = [line.split() for line in open("/proc/self/mounts")]
v2 = next((m[1] for m in mounts if m[2] == "cgroup2"), None)
v1 = next((m[1] for m in mounts if m[2] == "cgroup" and os.access(m[1], os.W_OK)), None)
wrong(3, "--cgroup", "/no/such/group", words=("no cgroup",))
wrong(2, "--cgroup", "")
if v1:
    old = os.path.join(v1, f"profbpf-e2e-v1-{os.getpid()}")
    os.mkdir(old)
    try:
        wrong(3, "--cgroup", old, words=("version 1", "hint:"))
    finally:
        os.rmdir(old)
if v2 and os.access(v2, os.W_OK):
    name = f"profbpf-e2e-{os.getpid()}"
    top = os.path.join(v2, name)
    below = os.path.join(top, "below")
    os.makedirs(below)
    a, b = start("spin", 60), start("spin", 60)
    try:
        for p, g in ((a, top), (b, below)):
            with open(os.path.join(g, "cgroup.procs"), "w") as f:
                f.write(str(p.pid))
        for path, want in ((top, {a.pid, b.pid}), ("/" + name, {a.pid, b.pid}), (name + "/below", {b.pid})):
            record("--cgroup", path, "-d", 0.7, "-F", 997, "-o", "a.prof")
            c = Capture("a.prof")
            check({s.pid for s in c.samples} == want, f"--cgroup {path}: {({s.pid for s in c.samples})}, not {want}")
            clock = c.meta["target.cpu_ns"][1]
            sigma = math.sqrt(sum(s.value**2 for s in c.samples))
            check(abs(c.total() - clock) < 0.02 * clock + 4 * sigma, f"--cgroup {path}: CPU {clock}, values {c.total()}")
        # Its removal ends the recording.
        p = background("record", "--cgroup", top, "-o", "g.prof")
        wait_recording("g.prof.part", p)
        wait_worked(a.pid)
        stop(a)
        stop(b)
        wait_for(lambda: not open(os.path.join(below, "cgroup.procs")).read(), "the cgroup to empty")
        os.rmdir(below)
        os.rmdir(top)
        check(ended(p) == 0 and Capture("g.prof").end["reason"] == 3, f"its removal: {said(p)}")
    finally:
        for p in (a, b):
            stop(p)
        for g in (below, top):
            if os.path.exists(g):
                time.sleep(0.2)
                os.rmdir(g)
else:
    print("no version 2 cgroup hierarchy that can be written: not tried")
