#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every way a recording ends: signals once and twice, a kill, the end of the target, two recorders at once."""
from support import *

need_root()
folder()


def bpf_left():
    """Programs of ours in the kernel, by name; None without bpftool."""
    tool = shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin")
    if not tool:
        return None
    r = subprocess.run([tool, "prog", "list"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return len(re.findall(r"name (cpu_tick|life_\w+) ", r.stdout)) if r.returncode == 0 else None


def spin_alive(w):
    check(w.poll() is None, "the target did not live on")


before = bpf_left()
for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    w = start("spin", 170)
    favour(w)
    p = background("record", "-p", w.pid, "-d", 170, "-o", "s.prof")
    wait_recording("s.prof.part", p)
    wait_worked(w.pid)
    began = time.monotonic()
    p.send_signal(sig)
    rc = ended(p)
    print(f"{sig.name}: status {rc} after {time.monotonic() - began:.2f} s")
    check(rc == 0, f"{sig.name}: status {rc}: {said(p)}")
    spin_alive(w)
    c = Capture("s.prof")
    check(c.end and c.end["reason"] == 2 and c.samples and c.names, "the capture is not complete")
    c.check_accounting()
    check(not os.path.exists("s.prof.part"), "a .part was left")
    stop(w)

# A background job of a shell starts with SIGINT ignored; kill -INT ends the recording all the same.
w = start("spin", 170)
favour(w)
p = background("record", "-p", w.pid, "-o", "s.prof", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
wait_recording("s.prof.part", p)
wait_worked(w.pid)
p.send_signal(signal.SIGINT)
check(ended(p) == 0, said(p))
# nohup: a hangup is ignored.
p = background("record", "-p", w.pid, "-d", 1.5, "-o", "s.prof", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
wait_recording("s.prof.part", p)
p.send_signal(signal.SIGHUP)
check(ended(p) == 0 and Capture("s.prof").end["reason"] == 1, "nohup: the hangup ended it")

# Two signals, at any distance: it leaves soon, and what is there can be read.
for gap in (0, 0.002, 0.01, 0.03, 0.05, 0.1, 0.2, 0.4):
    for f in os.listdir("."):
        os.unlink(f)
    p = background("record", "-p", w.pid, "-d", 170, "-F", 997, "-o", "d.prof")
    wait_recording("d.prof.part", p)
    wait_worked(w.pid)
    began = time.monotonic()
    p.send_signal(signal.SIGINT)
    time.sleep(gap)
    if p.poll() is None:
        p.send_signal(signal.SIGINT)
    rc = ended(p)
    took = time.monotonic() - began
    names = sorted(os.listdir("."))
    print(f"two signals, {gap} s apart: status {rc} after {took:.2f} s, {names}")
    check(len(names) == 1 and (rc, names[0]) in ((0, "d.prof"), (130, "d.prof.part")), f"status {rc}: {names}")
    check(Capture(names[0]).samples, "no samples in it")
    if names[0] == "d.prof.part":
        check("d.prof.part" in said(p), f"it does not say where the samples are: {said(p)}")
        r = profbpf("resolve", "d.prof.part")
        check(r.rc == 0 and os.path.exists("d.prof"), f"resolve: {r.err}")
        c = Capture("d.prof")
        check(c.end and c.names, "resolve did not complete it")
spin_alive(w)

# Killed: nothing of ours stays in the kernel, the target lives.
p = background("record", "-p", w.pid, "-d", 30, "-o", "k.prof")
wait_recording("k.prof.part", p)
p.kill()
p.wait()
spin_alive(w)
if before is not None:
    wait_for(lambda: bpf_left() <= before, "programs left in the kernel to go away")
stop(w)

# The target ends first.
w = start("spin", 170)
favour(w)
p = background("record", "-p", w.pid, "-d", 170, "-F", 997, "-o", "e.prof")
wait_recording("e.prof.part", p)
wait_worked(w.pid)
stop(w)
check(ended(p) == 0, said(p))
c = Capture("e.prof")
print(f"target gone: {len(c.samples)} samples, {c.end}")
check(c.end["reason"] == 3 and len(c.samples) > 20, f"{len(c.samples)} samples, {c.end}")
check("target ended" in said(p), f"it does not say so: {said(p)}")
# Several: the last one ends it.
a, b = start("spin", 170), start("spin", 170)
favour(b)
p = background("record", "-p", f"{a.pid},{b.pid}", "-o", "e.prof")
wait_recording("e.prof.part", p)
stop(a)
time.sleep(0.5)
check(p.poll() is None, f"it ended with the first: {said(p)}")
wait_worked(b.pid)
stop(b)
check(ended(p) == 0 and Capture("e.prof").end["reason"] == 3, f"it did not end with the last: {said(p)}")

# Two recorders of one target.
w = start("spin", 170)
favour(w)
p, q = (background("record", "-p", w.pid, "-d", 1.5, "-o", f"{n}.prof") for n in "pq")
check(ended(p) == 0 and ended(q) == 0, said(p) + said(q))
for n in "pq":
    Capture(f"{n}.prof").check_accounting()
