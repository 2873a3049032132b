#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""30 recordings of one workload scatter as their stated error says: neither wider nor much narrower."""
from support import *

need_root()
folder()
w = start("shares", 170, ready=False, stdout=subprocess.DEVNULL)
favour(w)
time.sleep(0.7)
z = []
for i in range(30):
    record("-p", w.pid, "-d", 0.3, "-F", 499, "-o", "s.prof", "-q")
    rows = {r["name"]: r for r in report("s.prof", "--limit", "0")["rows"]}
    for name, known in (("parse_record", 20), ("hash_block", 50), ("compress_block", 30)):
        check(name in rows, f"{name} was not seen in recording {i}")
        # half-width of the 95 % interval
        z.append((rows[name]["self_pct"] - known) / (rows[name]["err_pct"] / 1.96))
n = len(z)
spread = math.sqrt(sum(x * x for x in z) / n)
print(f"{n} shares: deviations of {spread:.2f} stated sigmas (1 is exact), worst {max(map(abs, z)):.1f}")
# The three shares of a recording depend on each other: some 60 free ones, whose spread has a sigma of 9 %.
check(spread < 1 + 4 * 0.09 + 0.1, "the results scatter more than their stated error")
check(spread > 0.3, "the stated error is far too wide")
check(max(map(abs, z)) < 5, "a single result is far outside")
