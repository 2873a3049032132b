#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A process that uses 3 % of a CPU: CPU time and duration are told apart, and both are right."""
from support import *

need_root()
folder()
w = start("bursts", 7, 30)
favour(w)
r = record("-p", w.pid, "-d", 4, "-F", 997, "-o", "i.prof")
c = Capture("i.prof")
clock = c.meta["target.cpu_ns"][1]
sigma = math.sqrt(sum(s.value**2 for s in c.samples))
print(f"CPU clock {clock / 1e6:.1f} ms, values {c.total() / 1e6:.1f} ms +- {sigma / 1e6:.1f}, "
      f"{100 * clock / c.end['duration_ns']:.2f} % of one CPU")
check(abs(c.total() - clock) <= 4 * sigma, "the values are not the CPU time")
check(0.01 < clock / c.end["duration_ns"] < 0.15, f"the workload used {clock} ns")
check(abs(c.end["duration_ns"] - 4e9) < 0.2e9, f"the duration is {c.end['duration_ns']} ns")
check("% of one CPU" in r.err, f"the CPU share is not said: {r.err}")
j = report("i.prof")
check(abs(j["duration_s"] - 4) < 0.2, f"report's duration is {j['duration_s']}")
text = profbpf("report", "i.prof")
check("wait" in (text.out + text.err), f"nobody says that the rest is waiting: {text.out}")
# System-wide, idle is not sampled.
record("-a", "-d", 1, "-F", 499, "-o", "a.prof")
c = Capture("a.prof")
c.check_accounting()
check(all(s.tid != 0 for s in c.samples), "the idle task was sampled")
