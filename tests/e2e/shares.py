#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Known shares of functions and threads are measured within 4 sigma, and the values sum to the CPU time."""
from support import *

need_root()
folder()
w = start("shares", 60, ready=False, stdout=subprocess.DEVNULL)
favour(w)
time.sleep(0.7)
r = record("-p", w.pid, "-d", 3, "-F", 997, "-o", "shares.prof")
print(r.err)
c = Capture("shares.prof")
c.check_accounting()
check(not os.path.exists("shares.prof.part"), "a .part was left behind")
# Half a point for what one step of the program is worth.
for name, known in (("parse_record", 0.2), ("hash_block", 0.5), ("compress_block", 0.3)):
    close(c.share(lambda s: c.has(s, name)), known, name, 0.005)
for name, known in ((b"ingest", 0.2), (b"worker-1", 0.3), (b"worker-2", 0.3), (b"writer", 0.2)):
    close(c.share(lambda s: s.thread["name"] == name), known, name.decode(), 0.005)
cpu = c.meta["target.cpu_ns"][1]
print(f"sum of values {c.total() / 1e9:.4f} s, CPU clock of the target {cpu / 1e9:.4f} s")
# 1 %, and the random part: each tick finds the target on the CPU or not.
sigma = math.sqrt(sum(s.value**2 for s in c.samples))
check(abs(c.total() - cpu) <= 0.01 * cpu + 4 * sigma, "the values do not sum to the CPU time")
check(abs(c.end["duration_ns"] - 3e9) < 0.2e9, f"-d 3 lasted {c.end['duration_ns']} ns")
check(c.end["reason"] == 1, "the end was not by duration")
