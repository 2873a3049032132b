#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No sample at all is an error with its reason; no capture is left, and an older one stays as it was."""
from support import *

need_root()
folder()
OLDER = b"\x89PBF\r\n\x1a\nolder"  # a capture by its first bytes: another file is never replaced
open("keep.prof", "wb").write(OLDER)


def empty(*args, words=(), **kw):
    r = profbpf("record", "-o", "keep.prof", *args, **kw)
    one_sentence(r, 3, "no samples", "hint:", *words)
    check(sorted(os.listdir(".")) == ["keep.prof"], f"left behind: {os.listdir('.')}")
    check(open("keep.prof", "rb").read() == OLDER, "the older capture was touched")


sleeper = start("sleep", 170, ready=False)
wait_for(lambda: state(sleeper.pid)[:2] == ("sleep", "S"), "sleep to sleep")
empty("-p", sleeper.pid, "-d", 1, words=("sleep", "0.00 %", "sleeping"))
empty("-t", sleeper.pid, "-d", 0.5, words=("sleeping",))
stopped = start("spin", 170)
stopped.send_signal(signal.SIGSTOP)
wait_for(lambda: state(stopped.pid)[1] == "T", "spin to stop")
empty("-p", stopped.pid, "-d", 0.5, words=("stopped",))
stopped.send_signal(signal.SIGCONT)
# They live for long enough that profbpf finds them.
brief = start("sleep", 3, ready=False)
wait_for(lambda: state(brief.pid)[:2] == ("sleep", "S"), "sleep to sleep")
empty("-p", brief.pid, "-d", 50, words=("ended after",))
brief = start("sleep", 3, ready=False)
empty("-p", brief.pid, "--delay", 50, words=("before sampling began",))
# A busy one, but of less than a period.
empty("-p", stopped.pid, "-F", 1, "-d", 0.01)
