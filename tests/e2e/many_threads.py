#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""10,000 threads: the start is quick, needs no descriptor per thread, and names are right."""
from support import *

need_root()
folder()
w = start("many_threads", 100, 10000)
made = int(re.search(r"threads=(\d+)", w.ready)[1])
if made < 5000:
    skip(f"only {made} threads could be made here")
time.sleep(1)
p = background("record", "-p", w.pid, "-d", 3, "-F", 499, "-o", "t.prof")
began = time.monotonic()
wait_recording("t.prof.part", p)
started = time.monotonic() - began
fds = len(os.listdir(f"/proc/{p.pid}/fd"))
check(ended(p) == 0, said(p))
took = time.monotonic() - began
c = Capture("t.prof")
c.check_accounting()
tids = {s.tid for s in c.samples}
print(f"{made} threads: began after {started:.2f} s with {fds} descriptors, took {took:.2f} s for 3; "
      f"{len(c.samples)} samples of {len(tids)} threads; peak memory {c.meta['overhead.peak_rss_bytes'][1] >> 20} MiB")
check(started < 2, f"it took {started:.1f} s to begin")
check(fds < 200, f"{fds} descriptors")
check(took < 3 + 4, f"3 s took {took:.1f} s")
check(len(tids) > 300, f"only {len(tids)} threads were seen")
for s in c.samples:
    check(re.fullmatch(rb"w-\d{5}", s.thread["name"]) or s.tid == w.pid, f"thread {s.tid} is called {s.thread['name']}")
# Each name is that of its thread (numbers say nothing: they may have wrapped around).
for tid, name in {(s.tid, s.thread["name"]) for s in c.samples if s.tid != w.pid}:
    now = open(f"/proc/{w.pid}/task/{tid}/comm", "rb").read().strip()
    check(now == name, f"thread {tid} is {now}, not {name}")
