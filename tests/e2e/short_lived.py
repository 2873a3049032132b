#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Only short processes, all gone before names are looked up: they are named all the same, nothing grows."""
from support import *

need_root()
folder()
prog = compile_c("""volatile unsigned long s;
__attribute__((noinline)) void short_work(void) { for (long i = 0; i < 8000000; i++) s++; }
int main(void) { short_work(); return 0; }
""", "short")
loop = keep(subprocess.Popen(["sh", "-c", f"while {prog}; do echo >> done; done"]))
p = background("record", "-a", "-F", 997, "-o", "s.prof")
wait_recording("s.prof.part", p)
# Four seconds, and at least so many processes.
fds, before, began = [], os.path.getsize("done") if os.path.exists("done") else 0, time.monotonic()


def enough():
    fds.append(len(os.listdir(f"/proc/{p.pid}/fd")))
    ran = os.path.getsize("done") - before if os.path.exists("done") else 0
    return ran >= 40 and time.monotonic() > began + 4


wait_for(enough, "40 processes")
p.send_signal(signal.SIGINT)
check(ended(p) == 0, said(p))
loop.kill()
c = Capture("s.prof")
mine = [s for s in c.samples if s.process["name"] == b"short"]
# In the program itself: how long the loader takes is another matter.
own = {m for m, x in c.modules.items() if x["path"].endswith(b"/short")}
user = [s for s in mine if any(c.frames[f]["kind"] == 1 and c.frames[f]["owner"] in own for f in s.frames)]
good = sum(c.has(s, "short_work") for s in user)
gens = {s.process["id"] for s in mine}
print(f"{len(gens)} processes, {len(user)} samples in the program, {good} named; descriptors {min(fds)} to {max(fds)}")
check(len(gens) > 20, f"only {len(gens)} processes were seen")
check(user and good >= 0.9 * len(user), f"only {good} of {len(user)} are named")
check(max(fds) < 300, f"{max(fds)} descriptors")
