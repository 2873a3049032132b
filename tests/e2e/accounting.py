#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Per CPU, sampled + lost + not admitted = ticks: for one process, the system, and with rings far too small."""
from support import *

need_root()
folder()
w = start("spin", 170, 2)
for name, args in (("process", ["-p", w.pid, "-F", 997]),
                   ("system", ["-a", "-F", 997]),
                   ("one CPU", ["-a", "--cpus", cpus()[0], "-F", 997]),
                   ("tiny rings", ["-a", "-F", 9999, "--buffer", 4096])):
    r = record(*args, "-d", 1, "-o", "a.prof")
    c = Capture("a.prof")
    c.check_accounting()
    lost = c.counter(LOST_RING) + c.counter(LOST_SCRATCH)
    print(f"{name}: {c.counter(TICKS)} ticks, {len(c.samples)} sampled, {lost} lost, "
          f"{c.counter(NOT_ADMITTED)} not admitted, {c.counter(IDLE)} idle")
    if name == "one CPU":
        check(list(c.counters) == [cpus()[0]], f"--cpus sampled {list(c.counters)}")
        check(all(s.cpu == cpus()[0] for s in c.samples), "a sample from another CPU")
    if name == "tiny rings":
        check(lost > 0, "a ring of one page lost nothing: the test tests nothing")
        check("--buffer" in r.err and "lost" in r.err, f"no warning of the loss: {r.err}")
        check(all(x["from_ns"] < x["to_ns"] <= c.end["duration_ns"] + 10**9 for x in c.losses), "a loss outside the run")
