#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Limits and missing rights: it works all the same, or says within a second what is missing."""
import resource

from support import *

need_root()
folder()
w = start("spin", 170)
favour(w)
os.chmod(".", 0o777)
ARGS = ["record", "-p", str(w.pid), "-d", "0.5", "-o", "l.prof"]


def limited(what, wrapper=(), words=(), not_words=(), may_work=False, preexec=None):
    for f in ("l.prof", "l.prof.part"):
        with contextlib.suppress(OSError):
            os.unlink(f)
    began = time.monotonic()
    p = subprocess.run([*wrapper, PROFBPF, *ARGS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=preexec)
    print(f"{what}: status {p.returncode} after {time.monotonic() - began:.1f} s: {p.stderr.strip()}")
    left = [f for f in os.listdir(".") if f.startswith("l.prof")]
    if p.returncode == 0:
        check(may_work, f"{what}: it worked?")
        check(left == ["l.prof"] and Capture("l.prof").samples, f"{what}: it is said to work, but {left}")
        return
    check(p.returncode == 3, f"{what}: status {p.returncode}")
    check(not left, f"{what}: left {left}")
    check(p.stderr.count("error:") == 1 and "hint:" in p.stderr, f"{what}: not one sentence with a hint: {p.stderr}")
    check(any(x.lower() in p.stderr.lower() for x in words), f"{what}: none of {words} is named: {p.stderr}")
    for x in not_words:
        check(x.lower() not in p.stderr.lower(), f"{what}: {x}: {p.stderr}")


def fds(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


limited("few descriptors, may be raised", preexec=fds(12, 20000), may_work=True)
for n in (5, 8, 12, 16, 20, 25):
    limited(f"{n} descriptors", preexec=fds(n, n), words=("open files", "RLIMIT_NOFILE"), not_words=("permission",), may_work=n > 16)
limited("no root", ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"), words=("CAP_BPF", "CAP_SYS_ADMIN", "CAP_PERFMON"))
limited("root without CAP_BPF", ("setpriv", "--bounding-set", "-bpf,-sys_admin"), words=("CAP_BPF",))
limited("root without CAP_PERFMON", ("setpriv", "--bounding-set", "-perfmon,-sys_admin"), words=("CAP_PERFMON",))
limited("root without CAP_SYS_PTRACE", ("setpriv", "--bounding-set", "-sys_ptrace"), may_work=True, words=("CAP_SYS_PTRACE",))

# A small file limit is not the kernel's fault; where the capture does not fit, it is the capture that is named.
for size in (0, 100, 1 << 20):
    limited(f"files of {size} bytes", preexec=lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            words=("l.prof",), not_words=("walk", "report it"), may_work=size > 1000)

# /proc or /sys is not mounted, as in a bare chroot: that is said first, of every target, and not that something lacks.
HIDE = "mount --make-rprivate / && for d in $1; do mount -t tmpfs none $d || exit 77; done; shift; exec \"$@\""
for places, word in (("/proc", "/proc is not mounted"), ("/sys", "/sys is not mounted"), ("/proc /sys", "neither /proc nor /sys")):
    for target in (["-p", w.pid], ["-t", w.pid], ["-a"], ["--", "true"]):
        r = subprocess.run(["unshare", "-m", "sh", "-c", HIDE, "sh", places, PROFBPF, "record", "-d", "0.5", "-o", "l.prof",
                            *map(str, target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        check(r.returncode == 3 and r.stderr.count("error:") == 1 and word in r.stderr and "mount -t" in r.stderr,
              f"{places} hidden, {target}: status {r.returncode}: {r.stderr}")
    r = subprocess.run(["unshare", "-m", "sh", "-c", HIDE, "sh", places, PROFBPF, "doctor"], stdout=subprocess.PIPE, text=True)
    check(r.returncode == 3 and word in r.stdout and "BPF yes, PERFMON yes" in r.stdout, f"{places} hidden: doctor: {r.stdout}")

# No memory may be locked.
knob = "/proc/sys/kernel/perf_event_mlock_kb"
old = open(knob).read()
try:
    open(knob, "w").write("0")
    limited("no locked memory", ("setpriv", "--bounding-set", "-ipc_lock,-sys_resource", "--inh-caps", "-ipc_lock"),
            preexec=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0)), may_work=True,
            words=("RLIMIT_MEMLOCK", "mlock", "locked memory"), not_words=("run as root",))
finally:
    open(knob, "w").write(old)

# The kernel's limit on frequencies.
rate = "/proc/sys/kernel/perf_event_max_sample_rate"
old = open(rate).read()
try:
    open(rate, "w").write("1000")
    r = profbpf("record", "-p", w.pid, "-F", 4999, "-d", 0.3, "-o", "l.prof")
    one_sentence(r, 2 if r.rc == 2 else 3, "4999", "1000", "perf_event_max_sample_rate", "hint:")
finally:
    open(rate, "w").write(old)
