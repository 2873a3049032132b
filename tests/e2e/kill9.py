#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kill -9 at 50 random moments: what is there can be read each time, and completed."""
import random

from support import *

need_root()
folder()
w = start("spin", 170, 2)
seed = random.randrange(1 << 32)
print("seed", seed)
rnd = random.Random(seed)
readable = nothing = samples = 0
ROUNDS = 50


def finish(n, p):
    global readable, nothing, samples
    path = f"k{n}.prof"
    p.wait()
    check(p.returncode == -9, f"it ended by itself with {p.returncode}: {said(p)}")
    check(not os.path.exists(path), "half a capture under the final name")
    if not os.path.exists(path + ".part"):
        nothing += 1  # killed before the file was begun
        return
    if os.path.getsize(path + ".part") < 200:
        r = profbpf("info", "--dump", path + ".part")
        check(r.rc in (0, 3) and "Traceback" not in r.err, f"{n}: status {r.rc}: {r.err}")
        nothing += 1
        return
    r = profbpf("info", "--verify", path + ".part")
    check(r.rc == 0, f"{n}: --verify: status {r.rc}: {r.err}")
    c = Capture(path + ".part")
    check(c.run, f"{n}: it does not say when it began")
    readable += 1
    samples += len(c.samples)
    if n % 10 == 0 and c.samples:
        r = profbpf("resolve", path + ".part")
        check(r.rc == 0 and Capture(path).end, f"{n}: resolve: {r.err}")


AT_ONCE = 10
for first in range(0, ROUNDS, AT_ONCE):
    moments = []
    for n in range(first, first + AT_ONCE):
        p = background("record", "-p", w.pid, "-F", rnd.choice((99, 997, 4999)), "-o", f"k{n}.prof")
        # from before its first line to some blocks later
        moments.append((time.monotonic() + rnd.random() * (0.8 if n % 5 == 0 else 2.5), n, p))
    for at, n, p in sorted(moments):
        time.sleep(max(0, at - time.monotonic()))
        p.kill()
    for _, n, p in moments:
        finish(n, p)
print(f"{readable} readable with {samples} samples, {nothing} killed before their first block")
check(readable >= 20, "too few came to their first block")
check(w.poll() is None, "the target was hurt")
