#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""For a thread that never waits, the sum of values is its CPU time within 1 %, at each frequency."""
from support import *

need_root()
folder()
cpu = cpus()[-1]
w = start("spin", 170, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
# Alone on its CPU as far as this can be had: a switch to another program costs part of a period.
favour(w)
for freq in (99, 997, 4999):
    record("-p", w.pid, "-d", 2, "-F", freq, "-o", "busy.prof")
    c = Capture("busy.prof")
    c.check_accounting()
    clock, got = c.meta["target.cpu_ns"][1], c.total()
    lost = c.counter(LOST_RING) + c.counter(LOST_SCRATCH)
    got = got * (len(c.samples) + lost) / len(c.samples)
    # The random part is small: a switch happens where it happens between two ticks.
    sigma = math.sqrt(sum(s.value**2 for s in c.samples) / len(c.samples) / 3 * 8)
    # And what chance does while others have the CPU: as in tests/unit/test_sampler_counts.c.
    share = clock / c.end["duration_ns"]
    shared = math.sqrt(max(0, 1 - share) / len(c.samples)) * clock
    off = got / clock - 1
    print(f"{freq} Hz: {len(c.samples)} samples, {lost} lost, values {got / 1e9:.4f} s, clock {clock / 1e9:.4f} s, "
          f"off {100 * off:+.2f} % with {100 * share:.1f} % of a CPU, own CPU {c.meta['overhead.own_cpu_ns'][1] / 2e9:.4f} s/s")
    check(abs(got - clock) <= 0.01 * clock + 4 * sigma + 4 * shared,
          f"off by {100 * off:.2f} %, with {100 * share:.1f} % of a CPU")
stop(w)
