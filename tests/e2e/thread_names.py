#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Hostile thread names arrive byte for byte, and reach no output raw."""
from support import *

need_root()
folder()
w = start("odd_names", 60)
known = []
for line in iter(lambda: read_line(w, ""), "END"):
    known.append(bytes.fromhex(line))
record("-p", w.pid, "-d", 2, "-F", 997, "-o", "n.prof")
c = Capture("n.prof")
seen = {s.thread["name"] for s in c.samples}
for name in known:
    check(name in seen, f"{name!r} is missing: {seen}")
    close(c.share(lambda s: s.thread["name"] == name), 1 / len(known), repr(name), 0.05)

for args in (["report", "--by", "thread", "n.prof"], ["fold", "n.prof"], ["report", "--by", "thread", "--csv", "n.prof"],
             ["report", "--by", "thread", "--json", "n.prof"], ["flame", "n.prof", "-o", "-"], ["info", "n.prof"]):
    r = subprocess.run([PROFBPF, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(r.returncode == 0, f"{args}: {r.stderr}")
    raw = [b for b in r.stdout if (b < 0x20 and b not in ((0x0a, 0x09) if args[0] == "flame" else (0x0a,))) or b == 0x7f]
    check(not raw, f"{args} prints control bytes {raw[:5]}")
    text = r.stdout.decode()  # valid UTF-8
    check("\u202e" not in text, f"{args} prints a bidi control")
    if args[0] == "fold":
        ends = {line.rsplit(" ", 1)[0].count(";") for line in text.splitlines()}
        print("frames in folded lines:", sorted(ends))
rows = {r["name"]: r for r in report("n.prof", "--by", "thread", "--limit", "0")["rows"]}
check(len(rows) >= len(known), f"{len(rows)} rows for {len(known)} names")
exact = report("n.prof", "--thread", "GC [worker] #1")
check(exact["total"] > 0, "the exact name as a filter finds nothing")
r = profbpf("report", "n.prof", "--thread", "GC [worker] #1", "--by", "thread", "--json")
check(len(json.loads(r.out)["rows"]) == 1, "the exact name matches others too")
