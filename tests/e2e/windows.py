#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Time windows over the rings of two CPUs: each phase alone, and together everything once."""
from support import *

need_root()
if len(cpus()) < 2 or cpus()[:2] != [0, 1]:
    skip("needs CPUs 0 and 1")
folder()
PHASES, MS = 8, 500
w = start("two_cpus", PHASES, MS)
favour(w)
start_ns = int(read_line(w, "START").split("=")[1])
record("-p", w.pid, "-F", 997, "-o", "w.prof")
c = Capture("w.prof")
t0 = start_ns - c.run["start_mono_ns"]  # of the first phase, in times of the capture
for k in range(PHASES):
    lo, hi = t0 + (k * MS + 100) * 1000000, t0 + ((k + 1) * MS - 100) * 1000000
    mine = [s for s in c.samples if lo <= s.time < hi]
    want, other = ("phase_odd", "phase_even") if k & 1 else ("phase_even", "phase_odd")
    good = sum(c.has(s, want) for s in mine)
    bad = sum(c.has(s, other) for s in mine)
    check(good and not bad and good >= 0.9 * len(mine), f"phase {k}: {good} right, {bad} wrong of {len(mine)}")
    check({s.cpu for s in mine if c.has(s, want)} == {k & 1}, f"phase {k} on CPUs {({s.cpu for s in mine})}")
    rows = report("w.prof", "--from", f"{lo}ns", "--to", f"{hi}ns")
    check(rows["samples"] == len(mine), f"report counts {rows['samples']} in the window, the records {len(mine)}")
    check(all(r["name"] != other for r in rows["rows"]), f"{other} in a window of {want}")
# Half-open windows that meet hold each sample exactly once.
edges = [t0 + i * 300000000 for i in range(1, PHASES * MS // 300)]
edges[len(edges) // 2] = c.samples[len(c.samples) // 2].time  # a border that is a sample
cuts = [0, *sorted(edges), c.end["duration_ns"] + 10**9]
n = sum(report("w.prof", "--from", f"{a}ns", "--to", f"{b}ns", rc=rc)["samples"]
        for a, b in zip(cuts, cuts[1:])
        for rc in [0 if any(a <= s.time < b for s in c.samples) else 3])
check(n == len(c.samples), f"the windows hold {n} samples, the capture {len(c.samples)}")
for bad in (["--from", "3", "--to", "2"], ["--from", "-1"], ["--to", "x"]):
    r = profbpf("report", "w.prof", *bad)
    check(r.rc == 2 and r.err.strip(), f"{bad}: status {r.rc}: {r.err}")
r = profbpf("report", "w.prof", "--from", "1000", "--to", "1001")
check(r.rc in (2, 3) and r.err.strip(), f"a window after the end: status {r.rc}: {r.err}")
