#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A CPU goes away and comes back in mid-run: nothing breaks, and it is sampled again."""
from support import *

need_root()
folder()
cpu = cpus()[-1]
knob = f"/sys/devices/system/cpu/cpu{cpu}/online"
if cpu == 0 or not os.access(knob, os.W_OK):
    skip(f"no CPU can be taken off here ({knob} cannot be written)")
w = start("spin", 170, 2 * len(cpus()))
p = background("record", "-p", w.pid, "-d", 120, "-F", 499, "-o", "h.prof")
wait_recording("h.prof.part", p)
began = time.monotonic()
try:
    time.sleep(1.5)
    open(knob, "w").write("0")
    off = time.monotonic() - began
    time.sleep(1.5)
    open(knob, "w").write("1")
    on = time.monotonic() - began
    time.sleep(3)  # taking a CPU off can take seconds on a busy machine: the end is counted from here
    p.send_signal(signal.SIGINT)
finally:
    open(knob, "w").write("1")
check(ended(p) == 0, said(p))
c = Capture("h.prof")
c.check_accounting()
there = [s.time / 1e9 for s in c.samples if s.cpu == cpu]
print(f"CPU {cpu}: {len(there)} samples, off at {off:.1f} s, on at {on:.1f} s")
check(any(t < off - 0.2 for t in there), "it was not sampled before")
check(not any(off + 0.5 < t < on - 0.2 for t in there), "samples from a CPU that is not there")
check(any(t > on + 1.5 for t in there), "it was not picked up again")
check(max(s.value for s in c.samples) <= 8.1e9 / 499, "the gap was booked to a function")
