# SPDX-License-Identifier: BSD-2-Clause
"""
What the end-to-end tests share: starting workloads, recording, reading captures.

A test is a script. It ends with 0 (good), 1 (an assertion or check() failed) or
77 (cannot be run here, the reason on the last line). Everything it starts dies
with it. Environment, set by tests/run.sh: PROFBPF, WORKLOADS, CC.

Sampling is random: shares are compared with 4 standard deviations, so that a
right program fails less than once in 10,000 runs.
"""
import atexit
import collections
import contextlib
import json
import math
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build/release"))
PROFBPF = os.environ.get("PROFBPF", os.path.join(BUILD, "profbpf"))
WORKLOADS = os.environ.get("WORKLOADS", os.path.join(BUILD, "tests/workloads"))
CC = os.environ.get("CC", "gcc")

# Seconds for what should come soon. A busy machine may take long over it; after these nobody waits any more.
PATIENCE = 60

_children = []
_folders = []


@atexit.register
def _clean():
    for p in _children:
        if p.poll() is None:
            p.kill()
            p.wait()
    for d in _folders:
        shutil.rmtree(d, ignore_errors=True)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def skip(reason):
    print(reason)
    sys.stdout.flush()
    sys.exit(77)


def fail(text):
    print("FAILED:", text)
    sys.stdout.flush()
    sys.exit(1)


def check(condition, text):
    """Like assert, with the facts in the message."""
    if not condition:
        fail(text)


def need_root():
    if os.geteuid() != 0:
        skip("needs root: it loads BPF programs")


def folder():
    """A folder of this test's own, removed at its end; the current one from here on."""
    d = tempfile.mkdtemp(prefix="profbpf-e2e-")
    os.chmod(d, 0o755)
    _folders.append(d)
    os.chdir(d)
    return d


def start(*argv, ready=True, **kw):
    """Start a program (a bundled workload by name); with ready, wait for its READY line (kept in .ready)."""
    bundled = os.path.join(WORKLOADS, argv[0])
    argv = [bundled if os.path.exists(bundled) else argv[0], *map(str, argv[1:])]
    kw.setdefault("stdout", subprocess.PIPE)
    p = subprocess.Popen(argv, **kw)
    _children.append(p)
    if ready:
        p.ready = read_line(p, "READY")
    return p


def keep(p):
    """Have a program that the test started itself end with it."""
    _children.append(p)
    return p


def read_line(p, word, timeout=PATIENCE):
    """The next line of p's output that begins with word."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if not select.select([p.stdout], [], [], 0.1)[0]:
            check(p.poll() is None, f"{p.args} ended with {p.returncode} before it said {word}")
            continue
        # The pipe is unbuffered from here on: one byte at a time keeps select() honest.
        line = b""
        while not line.endswith(b"\n"):
            c = os.read(p.stdout.fileno(), 1)
            if not c:
                break
            line += c
        text = line.decode(errors="replace").strip()
        if text.startswith(word):
            return text
    fail(f"{p.args} did not say {word} within {timeout} s")


def favour(p):
    """Let a workload run before others, so that a busy machine does not stop its clock."""
    with contextlib.suppress(OSError):
        for tid in os.listdir(f"/proc/{p.pid}/task"):  # later ones inherit it
            os.setpriority(os.PRIO_PROCESS, int(tid), -20)


def stop(p):
    """End a program we started; its returncode."""
    if p.poll() is None:
        p.kill()
    p.wait()
    return p.returncode


def compile_c(source, out, *flags):
    """Build a C program from text, for tests that need two of a kind."""
    src = out + ".c"
    with open(src, "w") as f:
        f.write(source)
    subprocess.run([CC, "-O1", "-g", "-fno-omit-frame-pointer", "-o", out, src, *flags], check=True)
    return os.path.abspath(out)


Run = collections.namedtuple("Run", "rc out err secs")


def profbpf(*args, timeout=2 * PATIENCE, **kw):
    """Run profbpf to its end."""
    began = time.monotonic()
    p = subprocess.Popen(
        [PROFBPF, *map(str, args)],
        stdin=kw.pop("stdin", subprocess.DEVNULL),
        stdout=kw.pop("stdout", subprocess.PIPE),
        stderr=kw.pop("stderr", subprocess.PIPE),
        **kw,
    )
    _children.append(p)
    try:
        out, err = p.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        p.kill()
        fail(f"profbpf {args} still ran after {timeout} s")
    return Run(p.returncode, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace"),
               time.monotonic() - began)


def background(*args, **kw):
    """Start profbpf and return its process; stderr is kept in a file (said(p) reads it)."""
    log = tempfile.TemporaryFile()
    p = subprocess.Popen([PROFBPF, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=log, **kw)
    p.log = log
    _children.append(p)
    return p


def said(p):
    p.log.seek(0)
    return p.log.read().decode(errors="replace")


def record(*args, rc=0, **kw):
    """A recording that must end with rc."""
    r = profbpf("record", *args, **kw)
    check(r.rc == rc, f"profbpf record {' '.join(map(str, args))}: status {r.rc} instead of {rc}\n{r.err}")
    return r


def wait_for(condition, what, timeout=PATIENCE):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    fail(f"{what}: not within {timeout} s")


def wait_recording(part, proc=None):
    """Until FILE.part holds at least its first block: sampling has begun."""

    def begun():
        if proc is not None and proc.poll() is not None:
            fail(f"profbpf ended early with {proc.returncode}: {said(proc) if hasattr(proc, 'log') else ''}")
        return os.path.exists(part) and os.path.getsize(part) > 200

    wait_for(begun, f"{part} to grow")


def ended(p, timeout=PATIENCE):
    """The status of a background() that is about to end."""
    try:
        return p.wait(timeout)
    except subprocess.TimeoutExpired:
        fail(f"{p.args} still runs after {timeout} s: {said(p)}")


def state(pid):
    """(name, state letter, seconds of CPU time) of a process."""
    with open(f"/proc/{pid}/stat") as f:
        name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
    rest = rest.split()
    return name, rest[0], (int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK")


def wait_worked(pid, seconds=0.2):
    """Until a process has had so much CPU time from now on: a recording of it has samples then, busy machine or not."""
    before = state(pid)[2]
    wait_for(lambda: state(pid)[2] >= before + seconds, f"process {pid} to work")


def child_of(p):
    """The pid of the command that profbpf has started."""
    return int(open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()[0])


def unescape(text):
    """The bytes behind escape_text()."""
    out = bytearray()
    i = 0
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            n = text[i + 1]
            if n == "x":
                out.append(int(text[i + 2:i + 4], 16))
                i += 4
                continue
            if n == "u":
                end = text.index("}", i)
                out += chr(int(text[i + 3:end], 16)).encode()
                i = end + 1
                continue
            out += n.encode()
            i += 2
            continue
        out += c.encode()
        i += 1
    return bytes(out)


FIELD = re.compile(r"(\w+)=(-?(?:0x[0-9a-f]+|\d+))\b")
SAMPLE = re.compile(r"type=\d+ \(\w+\) cpu=(\d+) time_ns=(\d+) value=(\d+) thread=(\d+) stack=(\d+) result=(\d+)")
TICKS, SAMPLED, IDLE, NOT_ADMITTED, LOST_RING, LOST_SCRATCH, THROTTLED, CAPPED, RECEIVED, BEFORE_EXEC = range(1, 11)
Sample = collections.namedtuple("Sample", "time value cpu pid tid thread process frames result")


class Capture:
    """A capture as the records say it, through `info --dump`."""

    def __init__(self, path):
        r = profbpf("info", "--dump", path, timeout=120)
        check(r.rc == 0, f"info --dump {path}: status {r.rc}\n{r.err}")
        self.meta, self.counters, self.losses = {}, collections.defaultdict(dict), []
        self.modules, self.processes, self.threads, self.frames, self.names = {}, {}, {}, {}, {}
        self.samples, self.run, self.end, self.text = [], None, None, r.out
        strings, stacks, chains = {0: b""}, {}, {0: ()}

        def chain(stack):
            """The frames of a stack, leaf first; made when a sample wants it."""
            todo = []
            while stack not in chains:
                todo.append(stack)
                stack = stacks[stack][0]
            for s in reversed(todo):
                chains[s] = (stacks[s][1],) + chains[stacks[s][0]]
            return chains[todo[0] if todo else stack]

        for line in r.out.splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "stack":  # most of the lines: without the pattern
                i, parent, frame = (int(x.partition("=")[2]) for x in rest.split(" ")[:3])
                stacks[i] = (parent, frame)
                continue
            if kind == "sample":  # the rest of most: one pattern for all fields
                m = SAMPLE.match(rest)
                check(m, f"not a sample: {line}")
                cpu, at, value, thread, stack, result = map(int, m.groups())
                t = self.threads[thread]
                process = self.processes[t["process"]]
                self.samples.append(Sample(at, value, cpu, process["pid"], t["tid"], t, process, chain(stack), result))
                continue
            if kind == "string":
                m = re.match(r"id=(\d+)(?: len=\d+)? data=(.*)$", rest)
                strings[int(m[1])] = unescape(m[2])
                continue
            f = {k: int(v, 0) for k, v in FIELD.findall(rest)}
            if kind == "run":
                self.run = f
            elif kind == "meta":
                self.meta[strings[f["key"]].decode()] = (strings[f["text"]].decode(errors="replace"), f["num"])
            elif kind == "module":
                f["path"], f["build_id"] = strings[f["path"]], strings[f["build_id"]]
                self.modules[f["id"]] = f
            elif kind == "process":
                for k in ("name", "exe", "cmdline"):
                    f[k] = strings[f[k]]
                self.processes[f["id"]] = f
            elif kind == "thread":
                f["name"] = strings[f["name"]]
                self.threads[f["id"]] = f
            elif kind == "frame":
                self.frames[f["id"]] = f
            elif kind == "restart":
                stacks.clear()
                chains.clear()
                chains[0] = ()
            elif kind == "name":
                f["name"] = strings[f["name"]].decode(errors="replace")
                self.names.setdefault(f["frame"], {})[f["depth"]] = f
            elif kind == "counter":
                self.counters[f["cpu"]][f["id"]] = f["value"]
            elif kind == "loss":
                self.losses.append(f)
            elif kind == "end":
                self.end = f

    def names_of(self, sample):
        """Function names, leaf first; [unknown] for frames without one."""
        out = []
        for frame in sample.frames:
            at = self.names.get(frame, {})
            out += [at[d]["name"] or "[unknown]" for d in sorted(at)] or ["[unknown]"]
        return out

    def leaf(self, sample):
        return self.names_of(sample)[0] if sample.frames else "[no stack]"

    def has(self, sample, name):
        return name in self.names_of(sample)

    def module_with(self, sample, name):
        """The module of the frame that has this name."""
        for frame in sample.frames:
            if any(n["name"] == name for n in self.names.get(frame, {}).values()):
                return self.modules[self.frames[frame]["owner"]]
        fail(f"no frame is called {name}")

    def total(self, samples=None):
        return sum(s.value for s in (self.samples if samples is None else samples))

    def counter(self, which):
        return sum(c.get(which, 0) for c in self.counters.values())

    def share(self, predicate, samples=None):
        """(share of the value, its standard deviation) of the samples the predicate picks."""
        samples = self.samples if samples is None else samples
        total = self.total(samples)
        if not total:
            return 0.0, 1.0
        p = sum(s.value for s in samples if predicate(s)) / total
        # each sample is an independent draw weighted by its value; at least one sample's worth
        n = total**2 / sum(s.value**2 for s in samples)
        return p, math.sqrt(max(p * (1 - p), 1 / n) / n)

    def check_accounting(self):
        """Every tick of every CPU ended in exactly one counter; nothing vanished on the way."""
        check(self.counters, "no counters in the capture")
        for cpu, c in self.counters.items():
            g = lambda i, c=c: c.get(i, 0)
            parts = g(SAMPLED) + g(IDLE) + g(NOT_ADMITTED) + g(BEFORE_EXEC) + g(LOST_RING) + g(LOST_SCRATCH)
            check(parts == g(TICKS), f"CPU {cpu}: {c}: {parts} accounted for, {g(TICKS)} ticks")
            check(g(RECEIVED) == g(SAMPLED), f"CPU {cpu}: {g(SAMPLED)} sampled, {g(RECEIVED)} received")
        lost = self.counter(LOST_RING) + self.counter(LOST_SCRATCH)
        placed = sum(x["count"] for x in self.losses if x["cause"] in (1, 2))
        check(placed == lost, f"{lost} lost, {placed} placed in time")
        check(len(self.samples) == self.end["samples"], "the END record counts other samples")


def close(share, expected, what, extra=0.0):
    """A share (p, sigma) is within 4 sigma (and extra) of what is known."""
    p, sigma = share
    print(f"{what}: {100 * p:.2f} % +- {100 * sigma:.2f}, known {100 * expected:.2f} %")
    check(abs(p - expected) <= 4 * sigma + extra, f"{what}: {100 * p:.2f} % is not {100 * expected:.2f} % "
          f"(4 sigma = {400 * sigma:.2f})")


def report(path, *args, rc=0):
    """report --json as an object."""
    r = profbpf("report", path, "--json", *args)
    check(r.rc == rc, f"report {args}: status {r.rc}\n{r.err}")
    return json.loads(r.out)


def one_sentence(r, rc, *words):
    """It failed as promised: status, one error line that holds the words, maybe a hint, nothing else."""
    lines = [x for x in r.err.splitlines() if x.strip()]
    check(r.rc == rc, f"status {r.rc} instead of {rc}: {r.err}")
    check(len([x for x in lines if "hint:" not in x]) == 1, f"not one sentence: {r.err}")
    for w in words:
        check(w in r.err, f"\"{w}\" is not in: {r.err}")
    check(not r.out, f"it failed, yet printed: {r.out}")
    print(f"status {rc}: {r.err.strip()}")


def cpus():
    return sorted(os.sched_getaffinity(0))
