#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run.py [PART..]: measures profbpf, and perf record -g beside it in the same run. Markdown on stdout.

Parts: slowdown bytes shares capture folded (default: all). Needs root and perf; takes about six
minutes; nothing else should run meanwhile. Not a test: nothing here fails.

  slowdown  one process of tests/bench/work; windows without, with profbpf, without, with perf, ...
            A window's figure is CPU time per unit of work (the thread's CPU clock, which includes the
            interrupts), set against the mean of its two neighbours without. The median of the pairs; a
            pair beside which other programs used more than 6 % of a CPU is measured again;
            "off" is the same ratio between two neighbouring windows without: what the machine itself
            does. Own CPU is the profiler's, in the middle of the window; its start and end apart.
  bytes     size of a long recording less that of a short one, by samples: the steady state.
  shares    leaf shares at 997 Hz beside the known 20/50/30, in sigmas of counting noise.
  capture   report, fold and flame on a capture of 1,000,000 samples.
  folded    a folded file of 1,000,000 distinct stacks to SVG.

Environment: O (build folder), PAIRS (10), WINDOW (1.2 seconds), HZ (99,997,4999), PATIENCE (600
seconds to wait for a quiet machine, at each frequency).
"""
import json, math, os, platform, random, signal, statistics, struct, subprocess, sys, tempfile, time

O = os.environ.get('O', 'build/release')
EXE = os.path.join(O, 'profbpf')
BENCH = os.path.join(O, 'tests/bench')
PAIRS = int(os.environ.get('PAIRS', '10'))
WINDOW = float(os.environ.get('WINDOW', '1.2'))
OTHERS = 0.06     # CPU seconds a second that other programs may use in a window
PATIENCE = float(os.environ.get('PATIENCE', '600')) # seconds for one frequency
HZ = [int(x) for x in os.environ.get('HZ', '99,997,4999').split(',')]
KNOWN = {'work_a': 20, 'work_b': 50, 'work_c': 30}
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
tmp = tempfile.TemporaryDirectory(prefix='profbpf-bench.')
children = []


def path(name):
    return os.path.join(tmp.name, name)


def cpu_of(pid):
    """CPU seconds of a process, from its own clock."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def busy():
    """CPU seconds that were not idle, over all CPUs."""
    v = [int(x) for x in open('/proc/stat').readline().split()[1:9]]
    return (sum(v) - v[3] - v[4]) / os.sysconf('SC_CLK_TCK')


class Work:
    """A process of the workload; snap() is (cpu ns, units) per function."""

    def __init__(self, seconds):
        self.state = path('state')
        self.p = subprocess.Popen([os.path.join(BENCH, 'work'), str(seconds), self.state])
        children.append(self.p)
        time.sleep(1)
        self.pid = self.p.pid

    def snap(self):
        v = struct.unpack('<7Q', open(self.state, 'rb').read())
        return list(zip(v[1:4], v[4:7]))

    def window(self, seconds):
        """CPU ns per unit of each function over a window; whether other programs left the machine alone."""
        a, busy0, cpu0 = self.snap(), busy(), cpu_of(self.pid)
        time.sleep(seconds)
        b, busy1, cpu1 = self.snap(), busy(), cpu_of(self.pid)
        quiet = busy1 - busy0 - (cpu1 - cpu0) < OTHERS * seconds
        return [(y[0] - x[0]) / max(1, y[1] - x[1]) for x, y in zip(a, b)], quiet

    def end(self):
        self.p.kill()
        self.p.wait()


def ratio(on, off):
    """Weighted by the shares; 1.02 = 2 % slower."""
    return sum(k / 100 * a / b for k, a, b in zip(KNOWN.values(), on, off))


class Tool:
    def __init__(self, name, hz):
        self.name, self.hz, self.out = name, hz, path(name + '.out')

    def start(self, pid, extra=()):
        for f in (self.out, self.out + '.old', self.out + '.part'):
            if os.path.exists(f):
                os.unlink(f)
        if self.name == 'perf':
            cmd = ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', str(self.hz), '-g', '-p', str(pid), '-o', self.out]
        else:
            cmd = [EXE, 'record', '-q', '-F', str(self.hz), '-p', str(pid), '-o', self.out]
        self.p = subprocess.Popen(cmd + list(extra), stdout=subprocess.DEVNULL, stderr=open(path('stderr'), 'w'))
        children.append(self.p)
        time.sleep(0.8)
        if self.p.poll() is not None:
            sys.exit('%s ended early: %s' % (self.name, open(path('stderr')).read()))

    def cpu(self):
        return cpu_of(self.p.pid)

    def stop(self):
        """(CPU seconds in all, peak MiB)"""
        self.p.send_signal(signal.SIGINT)
        _, status, ru = os.wait4(self.p.pid, 0)
        self.p.returncode = os.waitstatus_to_exitcode(status)
        return ru.ru_utime + ru.ru_stime, ru.ru_maxrss / 1024

    def samples(self):
        if self.name == 'perf':
            r = subprocess.run(['perf', 'script', '-F', 'pid', '-G', '-i', self.out], capture_output=True, text=True)
            return sum(1 for line in r.stdout.splitlines() if line.strip())
        return json.loads(subprocess.run([EXE, 'info', '--json', self.out], capture_output=True, text=True, check=True).stdout)['samples']


def table(head, rows):
    print('| ' + ' | '.join(head) + ' |')
    print('|' + '|'.join('---' if i == 0 else '--:' for i in range(len(head))) + '|')
    for r in rows:
        print('| ' + ' | '.join(str(x) for x in r) + ' |')
    print(flush=True)


def slowdown():
    print('### Slow-down of the target, and own CPU\n')
    rows = []
    rng = random.Random(7)
    for hz in HZ:
        w = Work(PATIENCE + 60)
        pairs, off_noise, own, total = {'profbpf': [], 'perf': []}, [], {'profbpf': [], 'perf': []}, {'profbpf': [], 'perf': []}
        before, quiet_before = w.window(WINDOW)
        disturbed, end = 0, time.monotonic() + PATIENCE
        while min(len(p) for p in pairs.values()) < PAIRS and time.monotonic() < end:
            while not quiet_before and time.monotonic() < end:
                before, quiet_before = w.window(WINDOW)
            names = ['profbpf', 'perf']
            rng.shuffle(names)
            for name in names:
                t = Tool(name, hz)
                t.start(w.pid)
                c0, t0 = t.cpu(), time.monotonic()
                on, _ = w.window(WINDOW) # the ticks of idle CPUs look like other programs
                c1, t1 = t.cpu(), time.monotonic()
                cpu, _ = t.stop()
                after, quiet_after = w.window(WINDOW)
                quiet, quiet_before = quiet_before and quiet_after, quiet_after
                if not quiet or len(pairs[name]) >= PAIRS:
                    disturbed += not quiet
                    before = after
                    continue
                pairs[name].append(ratio(on, [(x + y) / 2 for x, y in zip(before, after)]))
                off_noise.append(abs(ratio(after, before) - 1))
                own[name].append((c1 - c0) / (t1 - t0))
                total[name].append(cpu - (c1 - c0))
                before = after
        w.end()
        med = statistics.median
        if min(len(p) for p in pairs.values()) < 2:
            print('%d Hz: other programs disturbed %d windows: no figure.\n' % (hz, disturbed))
            continue
        for name in ('profbpf', 'perf'):
            q = statistics.quantiles(pairs[name], n=4)
            rows.append((hz, name if name == 'profbpf' else 'perf record -g', len(pairs[name]), '%.4f' % med(pairs[name]), '%.4f..%.4f' % (q[0], q[2]), '%.4f' % med(off_noise),
                         '%.4f' % med(own[name]), '%.2f' % med(total[name])))
    table(['Hz', 'profiler', 'pairs', 'slow-down, median', 'quartiles', 'off noise', 'own CPU, s/s', 'start and end, CPU s'], rows)


def bytes_per_sample():
    print('### Bytes a sample, steady state\n')
    rows = []
    for name in ('profbpf', 'perf'):
        got = []
        for seconds in (4, 24):
            w = Work(60)
            t = Tool(name, 997)
            t.start(w.pid)
            time.sleep(seconds)
            t.stop()
            w.end()
            got.append((os.path.getsize(t.out), t.samples()))
        (s0, n0), (s1, n1) = got
        rows.append((name if name == 'profbpf' else 'perf record -g', n1, s1, '%.1f' % (s1 / n1), '%.1f' % ((s1 - s0) / (n1 - n0))))
    table(['profiler', 'samples', 'file, bytes', 'bytes a sample, whole file', 'steady state'], rows)


def shares():
    print('### Leaf shares, 997 Hz, 10 s\n')
    w = Work(60)
    out = path('shares.prof')
    subprocess.run([EXE, 'record', '-q', '-F', '997', '-p', str(w.pid), '-d', '10', '-o', out], check=True, stdout=subprocess.DEVNULL)
    w.end()
    r = json.loads(subprocess.run([EXE, 'report', '--json', '--limit', '0', out], check=True, capture_output=True, text=True).stdout)
    rows = []
    for name, known in KNOWN.items():
        got = next((x for x in r['rows'] if x['name'] == name), None)
        pct = got['self_pct'] if got else 0.0
        sigma = 100 * math.sqrt(known / 100 * (1 - known / 100) / r['samples'])
        rows.append((name, known, '%.2f' % pct, '%.2f' % (got['err_pct'] if got else 0), '%+.1f' % ((pct - known) / sigma)))
    table(['function', 'known %', 'measured %', 'stated error (95 %)', 'off, in sigmas'], rows)


def timed(cmd, stdin=None):
    """(wall s, CPU s, MiB)"""
    t0 = time.monotonic()
    p = subprocess.Popen(cmd, stdout=subprocess.DEVNULL, stderr=open(path('stderr'), 'w'), stdin=stdin)
    children.append(p)
    _, status, ru = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        sys.exit('%s: exit status %d: %s' % (' '.join(cmd), p.returncode, open(path('stderr')).read()))
    return time.monotonic() - t0, ru.ru_utime + ru.ru_stime, ru.ru_maxrss / 1024


def best(cmd, n=3):
    runs = [timed(cmd) for _ in range(n)]
    return sorted(runs)[n // 2]


def capture():
    print('### A capture of 1,000,000 samples\n')
    cap = path('million.prof')
    subprocess.run([os.path.join(BENCH, 'gencapture'), '1000000', cap], check=True)
    size = os.path.getsize(cap)
    rows = []
    for what, cmd in (('report', ['report', cap]), ('report --by thread', ['report', '--by', 'thread', cap]), ('fold', ['fold', cap]), ('flame', ['flame', cap, '-o', path('million.svg')])):
        wall, cpu, mib = best([EXE] + cmd)
        rows.append((what, '%.2f' % wall, '%.2f' % cpu, '%.0f' % mib))
    print('%.1f MB, %.1f bytes a sample.\n' % (size / 1e6, size / 1e6))
    table(['command', 'wall s', 'CPU s', 'MiB'], rows)


def folded():
    print('### Folded text to SVG\n')
    rows = []
    for n in (100000, 1000000):
        f = path('folded')
        with open(f, 'w') as out:
            subprocess.run([os.path.join(BENCH, 'genfold'), str(n)], stdout=out, check=True)
        wall, cpu, mib = best([EXE, 'flame', f, '-o', path('folded.svg')])
        rows.append(('{:,}'.format(n), '%.0f' % (os.path.getsize(f) / 1e6), '%.2f' % wall, '%.2f' % cpu, '%.0f' % mib, '%.2f' % (os.path.getsize(path('folded.svg')) / 1e6)))
        os.unlink(f)
    table(['stacks', 'folded, MB', 'wall s', 'CPU s', 'MiB', 'SVG, MB'], rows)


def main():
    parts = {'slowdown': slowdown, 'bytes': bytes_per_sample, 'shares': shares, 'capture': capture, 'folded': folded}
    asked = sys.argv[1:] or list(parts)
    for a in asked:
        if a not in parts:
            sys.exit(__doc__)
    cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), platform.machine())
    version = subprocess.run([EXE, '--version'], capture_output=True, text=True).stdout.strip()
    print('%s; Linux %s, %d CPUs, %s; %s; load %.2f at the start.\n' % (version, platform.release(), os.cpu_count(), cpu,
          subprocess.run(['perf', '--version'], capture_output=True, text=True).stdout.strip(), os.getloadavg()[0]), flush=True)
    try:
        for a in asked:
            parts[a]()
    finally:
        for p in children:
            if p.returncode is None and p.poll() is None:
                p.kill()
                p.wait()


main()
