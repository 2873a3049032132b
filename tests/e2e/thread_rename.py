#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A sample carries the name its thread had when it was taken; the process keeps its own."""
from support import *

need_root()
folder()
w = start("renames", 60)
favour(w)
record("-p", w.pid, "-d", 3, "-F", 997, "-o", "r.prof")
c = Capture("r.prof")
for name, function in ((b"task-parse", "parse_task"), (b"task-send", "send_task")):
    mine = [s for s in c.samples if s.thread["name"] == name]
    right = sum(c.has(s, function) for s in mine)
    print(f"{name.decode()}: {right} of {len(mine)} samples in {function}")
    check(len(mine) > 100 and right >= 0.98 * len(mine), f"{name} does not hold {function} only")
    close(c.share(lambda s: s.thread["name"] == name), 0.5, name.decode(), 0.08)
check({s.process["name"] for s in c.samples} == {b"renames"}, "the process took a thread's name")
rows = report("r.prof", "--thread", "task-send")["rows"]
check(rows[0]["name"] == "send_task" and rows[0]["self_pct"] > 90, f"--thread task-send shows {rows[0]}")
rows = report("r.prof", "--by", "process")["rows"]
check(len(rows) == 1 and rows[0]["name"] == "renames", f"by process: {rows}")
