#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Outputs that cannot be written, or close: one sentence, the right status, no half file, nothing lost."""
import resource

from support import *

need_root()
d = folder()
w = start("spin", 170)
favour(w)


def target(*args, **kw):
    return profbpf("record", "-p", w.pid, "-d", 0.4, *args, **kw)


def samples_of(path):
    r = profbpf("info", "--dump", path)
    check(r.rc == 0, f"info --dump {path}: status {r.rc}\n{r.err}")
    return r.out.count("\nsample ")


# Places that do not exist or may not be written.
one_sentence(target("-o", "/nonexistent/dir/x.prof"), 3, "/nonexistent/dir")
os.mkdir("folder")
one_sentence(target("-o", "folder"), 2, "folder", "directory")
check(os.listdir("folder") == [] and sorted(os.listdir(".")) == ["folder"], f"left: {os.listdir('.')}")
one_sentence(target("-o", ""), 2)
one_sentence(target("-o", "-"), 2, "standard output")
one_sentence(target("-o", "x" * 300), 3)
if os.path.exists("/proc/self"):
    one_sentence(target("-o", "/proc/x.prof"), 3, "/proc")

# The older capture becomes FILE.old; mode 0600.
for i in range(2):
    check(target("-o", "a.prof").rc == 0, "recording")
check(sorted(f for f in os.listdir(".") if f[0] == "a") == ["a.prof", "a.prof.old"], f"{os.listdir('.')}")
check(os.stat("a.prof").st_mode & 0o777 == 0o600, "the mode")

# Standard output closed, full, or read in part.
r = target("-o", "b.prof", stdout=open("/dev/full", "w"))
check(r.rc == 3 and "No space" in r.err, f"/dev/full: status {r.rc}: {r.err}")
check(Capture("b.prof").end, "a full standard output cost the capture")
read, write = os.pipe()
os.close(read)
r = target("-o", "c.prof", stdout=write)
check(r.rc == 141 and "error" not in r.err, f"closed pipe: status {r.rc}: {r.err}")
check(Capture("c.prof").end, "a closed pipe cost the capture")
p = subprocess.run(["bash", "-c", f"set -o pipefail; '{PROFBPF}' report a.prof --limit 0 | head -1"], stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, text=True)
check(p.stdout.count("\n") == 1 and not p.stderr, f"| head: {p.stderr}")
p = subprocess.run(["sh", "-c", f"'{PROFBPF}' record -p {w.pid} -d 0.3 -o e.prof >&- 2>&-"])
check(os.path.exists("e.prof") and Capture("e.prof").end, f"closed outputs: status {p.returncode}")
# What is opened next must not take the place of a closed one: messages would go into the capture.
for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
    subprocess.run(["sh", "-c", f"'{PROFBPF}' record -vv -p {w.pid} -d 0.3 -o v.prof {closed}"], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    r = profbpf("info", "--verify", "v.prof")
    check(r.rc == 0, f"closed with {closed}: {r.err}")
p = subprocess.run([PROFBPF, "--version"], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
check(p.returncode == 3 and p.stderr, "--version into a full device")

# -q: nothing but errors.
r = target("-o", "q.prof", "-q")
check(r.rc == 0 and not r.err, f"-q says: {r.err}")

# A full disk in mid-run: it stops, says so, and what was written can be read. A limit on file sizes is the same, and
# --max-size ends the sampling with a complete capture. Idle CPUs give no samples and would fill nothing in a minute, so
# there is work for all; it ends before the captures are read, which is much work itself.
busy = [start("odd_names", 170) for _ in range(2)]
os.mkdir("small")
tmpfs = not subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", "small"], stderr=subprocess.DEVNULL).returncode
try:
    args = ("record", "-a", "-F", 9999, "-d", 60, "-o")
    full = tmpfs and profbpf(*args, "small/f.prof", timeout=90)
    limited = profbpf(*args, "l.prof", timeout=90,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (160000, 160000)))
    sized = profbpf(*args, "m.prof", "--max-size", "40K", timeout=90)
    for p in busy:
        stop(p)
    if tmpfs:
        print(f"full disk: status {full.rc} after {full.secs:.1f} s: {full.err}")
        check(full.rc == 3 and "No space" in full.err and "f.prof" in full.err, f"status {full.rc}: {full.err}")
        check(os.listdir("small") == ["f.prof.part"], f"left: {os.listdir('small')}")
        check(samples_of("small/f.prof.part") > 100, f"only {samples_of('small/f.prof.part')} samples can be read")
    else:
        print("no tmpfs can be mounted: the full disk was not tried")
finally:
    if tmpfs:
        time.sleep(0.2)
        subprocess.run(["umount", "small"])
print(f"RLIMIT_FSIZE: status {limited.rc} after {limited.secs:.1f} s: {limited.err}")
check(limited.rc == 3 and "l.prof" in limited.err, f"RLIMIT_FSIZE: status {limited.rc}: {limited.err}")
check(samples_of("l.prof.part"), "nothing can be read")
check(sized.rc == 0 and "--max-size" in sized.err, f"--max-size: status {sized.rc}: {sized.err}")
c = Capture("m.prof")
check(c.end["reason"] == 4 and c.names, f"the end: {c.end}")
print(f"--max-size 40K: {os.path.getsize('m.prof')} bytes after {sized.secs:.1f} s")

# --delay begins later, -d counts from there.
r = target("-o", "t.prof", "--delay", 0.7)
check(r.rc == 0 and r.secs > 1.1, f"--delay 0.7 -d 0.4: status {r.rc} after {r.secs:.2f} s: {r.err}")
check(abs(Capture("t.prof").end["duration_ns"] - 0.4e9) < 0.2e9, "-d does not count from the begin")
