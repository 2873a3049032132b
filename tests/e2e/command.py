#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A command that profbpf starts: its status, its signals, its user, its first instruction."""
import pty

from support import *

need_root()
folder()
SPIN = os.path.join(WORKLOADS, "spin")
burn = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; "


def run(*cmd, rc, args=(), **kw):
    r = profbpf("record", "-F", 997, "-o", "c.prof", *args, "--", *cmd, **kw)
    check(r.rc == rc, f"{cmd}: status {r.rc} instead of {rc}: {r.err}")
    return r


for status in (0, 1, 3, 42, 255):
    run("sh", "-c", burn + f"exit {status}", rc=status)
run("sh", "-c", burn + "kill -TERM $$", rc=143)
run("sh", "-c", burn + "kill -SEGV $$", rc=139)
r = run("/nonexistent/program", rc=127)
check("cannot run" in r.err and "/nonexistent/program" in r.err, r.err)
check(run("no-such-command-here", rc=127).err.count("hint:") == 1, "no hint")
open("not-executable", "w").write("#!/bin/sh\n")
run("./not-executable", rc=126)
run("/", rc=126)
r = profbpf("record", "-o", "c.prof", "--")
check(r.rc == 2, f"no command after --: status {r.rc}")

# Input and output are its own; only the table of ours comes with it on standard output.
r = subprocess.run([PROFBPF, "record", "-F", "997", "-o", "c.prof", "--", "sh", "-c",
                    burn + "read line; echo \"got $line\"; echo problem >&2"],
                   input=b"hello\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
check(r.stdout.startswith(b"got hello\n") and b"problem\n" in r.stderr, f"{r.stdout} {r.stderr}")

# A command too short to be seen is a warning, and an older capture stays.
OLD = b"\x89PBF\r\n\x1a\nold"  # a capture by its first bytes: another file is never replaced
open("old.prof", "wb").write(OLD)
r = profbpf("record", "-F", 1, "-o", "old.prof", "--", "true")
check(r.rc == 0 and "no samples" in r.err and "warning" in r.err, f"status {r.rc}: {r.err}")
check(open("old.prof", "rb").read() == OLD and not os.path.exists("old.prof.part"), "the old capture was touched")
r = profbpf("record", "-F", 1, "-o", "old.prof", "--", "false")
check(r.rc == 1, f"false: status {r.rc}")

# Only itself is sampled, from its first instruction: nothing of profbpf before the exec.
for i in range(5):
    # Two at a time: what takes long is that the program lives for a second.
    both = [background("record", "-d", "0.2", "-F", 9999, "-o", f"c{n}.prof", "--", SPIN, "1") for n in range(2)]
    for n, p in enumerate(both):
        check(ended(p) == 142, f"status {p.returncode}: {said(p)}")
        c = Capture(f"c{n}.prof")
        check({s.process["name"] for s in c.samples} == {b"spin"}, f"sampled: {set(s.process['name'] for s in c.samples)}")
        if i == n == 0:
            own = min(s.time for s in c.samples)
            libs = [s for s in c.samples if s.time < own + 2000000]
            print("first samples:", [c.leaf(s) for s in libs[:5]])
c.check_accounting()

# -d ends the sampling; the command goes on to its end.
began = time.monotonic()
r = profbpf("record", "-d", 0.4, "-F", 997, "-o", "c.prof", "--", "sh", "-c", burn * 20 + "sleep 1; exit 9")
check(r.rc == 9 and time.monotonic() - began > 1, f"status {r.rc} after {time.monotonic() - began:.1f} s: {r.err}")
check(Capture("c.prof").end["reason"] in (1, 3), "the end of sampling")

# A signal for profbpf reaches the command, and its status comes back.
for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    p = background("record", "-o", "s.prof", "--", SPIN, 60)
    wait_recording("s.prof.part", p)
    wait_worked(child_of(p))
    p.send_signal(sig)
    check(ended(p) == 128 + sig, f"{sig.name}: status {p.returncode}: {said(p)}")
    check(Capture("s.prof").samples, "no samples")
# A command that handles the signal decides the status.
p = background("record", "-o", "s.prof", "--", "sh", "-c", "trap 'exit 5' TERM; : > trapped; while :; do :; done")
wait_recording("s.prof.part", p)
wait_for(lambda: os.path.exists("trapped"), "the command's first line")
p.send_signal(signal.SIGTERM)
check(ended(p) == 5, f"status {p.returncode}: {said(p)}")
# Ctrl-C of a terminal goes to both once: the command sees one signal, not two.
counter = """import signal, time, sys
n = 0
def seen(*_):
    global n
    n += 1
signal.signal(signal.SIGINT, seen)
print("handled", flush=True)
while not n:
    pass
end = time.time() + 1
while time.time() < end:
    pass
sys.exit(10 + n)
"""
pid, master = pty.fork()
if pid == 0:
    os.execv(PROFBPF, [PROFBPF, "record", "-o", "t.prof", "--", sys.executable, "-c", counter])
out = b""
while b"handled" not in out:
    check(select.select([master], [], [], PATIENCE)[0], f"the command does not begin: {out}")
    out += os.read(master, 4096)
wait_recording("t.prof.part")
os.write(master, b"\x03")
with contextlib.suppress(OSError):
    while True:
        piece = os.read(master, 4096)
        if not piece:
            break
        out += piece
_, status = os.waitpid(pid, 0)
check(os.waitstatus_to_exitcode(status) == 11, f"the command saw {os.waitstatus_to_exitcode(status) - 10} signals: {out}")
check(b"recording" in out, f"no progress line on a terminal: {out}")

# A command that ignores the signal, as a background job of a script ignores SIGINT: the capture is completed, it is
# waited for, and that is said, on no terminal too. Another signal leaves it running.
for sig, quiet in ((signal.SIGINT, ()), (signal.SIGTERM, ("-q",))):
    with contextlib.suppress(OSError):
        os.unlink("i.pid")
    p = background("record", *quiet, "-o", "i.prof", "--", "sh", "-c",
                   f"trap '' {sig.name[3:]}; echo $$ > i.new; mv i.new i.pid; i=0; while [ $i -lt 60000000 ]; do i=$((i+1)); done")
    wait_recording("i.prof.part", p)
    wait_for(lambda: os.path.exists("i.pid"), "the command's first line")
    deaf = int(open("i.pid").read())
    try:
        wait_worked(deaf)
        p.send_signal(sig)
        wait_for(lambda: os.path.exists("i.prof"), "the capture")
        if quiet:
            time.sleep(0.5)
        else:
            wait_for(lambda: f"waiting for the command (pid {deaf})" in said(p), "a word on what it waits for")
        check(p.poll() is None, f"it did not wait: {said(p)}")
        p.send_signal(sig)
        check(ended(p) == 128 + sig, f"{sig.name}: status {p.returncode}: {said(p)}")
        os.kill(deaf, 0)  # it did not wait for that
        check(not quiet or not said(p), f"-q says: {said(p)}")
        c = Capture("i.prof")
        check(c.samples and c.end["reason"] == 2, f"the capture: {c.end}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(deaf, signal.SIGKILL)

# Who it runs as.
check(run("sh", "-c", burn + "id -u; id -g; echo $HOME", rc=0).out.startswith(f"{os.getuid()}\n"), "another user than ours")
r = run("sh", "-c", burn + "id -un; id -gn; echo $HOME $USER", rc=0, args=("--user", "nobody"))
check(r.out.startswith("nobody\nnogroup\n") or r.out.startswith("nobody\nnobody\n"), r.out)
check("nobody" in r.out.splitlines()[2], f"HOME and USER: {r.out}")
env = dict(os.environ, SUDO_UID="65534", SUDO_GID="65534", SUDO_USER="nobody")
r = run("sh", "-c", burn + "id -u; id -G", rc=0, env=env)
check(r.out.startswith("65534\n"), f"not the sudo caller: {r.out}")
st = os.stat("c.prof")
check(st.st_uid == 65534 and st.st_mode & 0o777 == 0o600, f"the capture belongs to {st.st_uid}, mode {st.st_mode:o}")
r = run("sh", "-c", burn + "id -u", rc=0, env=env, args=("--user", "root"))
check(r.out.startswith("0\n"), f"--user root: {r.out}")
one_sentence(profbpf("record", "--user", "no-such-user", "--", "true"), 2, "no user", "no-such-user")
# What it inherits: no descriptors of ours, the old limits, default signals.
show = "import os, resource, signal; print(sorted(map(int, os.listdir('/proc/self/fd')))[:4], " \
       "resource.getrlimit(resource.RLIMIT_NOFILE), signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL, " \
       "[l for l in open('/proc/self/status') if l.startswith(('SigIgn', 'SigBlk'))])"
plain = subprocess.run([sys.executable, "-S", "-c", show], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True).stdout
mine = run(sys.executable, "-S", "-c", show, rc=0).out
check(mine.startswith(plain), f"a command sees {mine}\ninstead of {plain}")

# Children only when asked for.
fork = "sh -c '" + burn * 20 + "' & wait; exit 0"
for args, want in (((), False), (("--children",), True)):
    r = profbpf("record", "-F", 4999, "-o", "f.prof", *args, "--", "sh", "-c", burn * 20 + fork)
    pids = {s.pid for s in Capture("f.prof").samples}
    print("children:", args, len(pids), "processes")
    check((len(pids) > 1) == want, f"{args}: {len(pids)} processes were sampled")
