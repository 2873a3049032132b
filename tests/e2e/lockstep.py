#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Work in step with the asked period is seen at its true share, because the period varies.

The second half is the proof that this tests something: with the variation off, the same
workload must fail the same comparison.
"""
from support import *

need_root()
folder()
period = 10101010  # 99 Hz
w = start("lockstep", 100, period, cpus()[-1])
favour(w)


def first_half(*args):
    record("-p", w.pid, "-d", 4, "-o", "l.prof", *args)
    c = Capture("l.prof")
    return c.share(lambda s: c.has(s, "step_first"))


close(first_half(), 0.5, "step_first, varying period")
# A fixed period may by bad luck fall on the border of the two halves: then again.
for attempt in range(4):
    p, sigma = first_half("--fixed-period")
    print(f"step_first, fixed period: {100 * p:.1f} %")
    if abs(p - 0.5) > 4 * sigma:
        break
    time.sleep(0.0137)
else:
    fail("with a fixed period the shares came out right: this workload is not in step")
