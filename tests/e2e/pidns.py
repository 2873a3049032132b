#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inside a pid namespace: pids are those of the namespace, and a JIT process of a container has its own perf map."""
from support import *

need_root()
d = folder()
if subprocess.run(["unshare", "-m", "-p", "--fork", "--mount-proc", "true"], stderr=subprocess.DEVNULL).returncode:
    skip("no pid namespace can be made here")

# profbpf in a namespace of its own: it records what it can see there, or says in one sentence that it cannot.
script = f"""
'{WORKLOADS}/spin' 30 2 & W=$!
'{PROFBPF}' record -p $W -d 1 -F 499 -o in.prof; echo "status=$?"
'{PROFBPF}' record -F 499 -o cmd.prof -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; exit 7'; echo "command=$?"
echo "pid=$W"
kill -9 $W
"""
r = subprocess.run(["unshare", "-m", "-p", "--fork", "--mount-proc", "sh", "-c", script], stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, text=True, timeout=60)
print(r.stdout, r.stderr)
pid = int(re.search(r"^pid=(\d+)", r.stdout, re.M)[1])
if "status=0" in r.stdout:
    c = Capture("in.prof")
    check({s.pid for s in c.samples} == {pid} and pid < 100, f"pids {({s.pid for s in c.samples})}, not {pid}")
    check(all(c.has(s, "spin_hot") for s in c.samples if s.result != 5), "no names inside the namespace")
    check("command=7" in r.stdout, "the status of a command")
else:
    check("status=3" in r.stdout and r.stderr.count("hint:") >= 1, "neither a capture nor a sentence")

# All processes there are those of the namespace: with none of them busy, what the host does is no sample, nor is it idle.
host = start("spin", 60, 2)
for _ in range(10):  # until it has not seen itself
    r = subprocess.run(["unshare", "-m", "-p", "--fork", "--mount-proc", PROFBPF, "record", "-a", "-d", "0.4", "-F", "49", "-o", "n.prof"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        break
    os.unlink("n.prof")
print(r.stderr)
check(r.returncode == 3 and "no process of this pid namespace" in r.stderr and "idle" not in r.stderr, f"status {r.returncode}: {r.stderr}")
check("outside" in r.stderr and not os.path.exists("n.prof"), r.stderr)
r = subprocess.run(["unshare", "-m", "-p", "--fork", "--mount-proc", "sh", "-c",
                    f"'{WORKLOADS}/spin' 5 >/dev/null & '{PROFBPF}' record -a -d 0.7 -F 997 -o n.prof; kill -9 $!"],
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
c = Capture("n.prof")
check(c.meta["target"][0] == "all processes of this pid namespace", f"the target: {c.meta['target']}")
check(host.pid not in {s.pid for s in c.samples}, "a process of the host was sampled")

# Without a /proc of its own, /proc/PID is another process, or none: said, and nothing is recorded under wrong names.
for what in ("-p $W", "-t $W", "-a", "-- true"):
    r = subprocess.run(["unshare", "-p", "--fork", "sh", "-c",
                        f"'{WORKLOADS}/spin' 5 >/dev/null & W=$!; '{PROFBPF}' record -d 0.3 -o f.prof {what}; rc=$?; kill -9 $W; exit $rc"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [x for x in r.stderr.splitlines() if "error:" in x]
    check(r.returncode == 3 and len(lines) == 1 and "/proc is of another pid namespace" in lines[0] and "hint:" in r.stderr,
          f"{what}: status {r.returncode}: {r.stderr}")
    check(not os.path.exists("f.prof"), f"{what}: it was recorded")
stop(host)

# A JIT process in a container, recorded from outside; /tmp/perf-1.map is in its own /tmp.
jit = compile_c("""#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};
int main(void) {
	char *m = mmap((void *)0x700000000000, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), path[64];
	FILE *f;
	memcpy(m, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "700000000000 1000 jit_inner\\n");
	fclose(f);
	printf("READY %d\\n", getpid()); fflush(stdout);
	alarm(60);
	for (;;) ((void (*)(long))m)(20000000);
}
""", "jit")
p = start("unshare", "-m", "-p", "--fork", "--kill-child", "sh", "-c",
          f"cp {jit} /dev/shm/jit.$$ && mount -t tmpfs none /tmp && exec /dev/shm/jit.$$")
child = int(open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()[0])
lie = f"/tmp/perf-{child}.map"
try:
    open(lie, "w").write("700000000000 1000 wrong_map_of_the_host\n")
    record("-p", child, "-d", 1, "-F", 499, "-o", "j.prof")
finally:
    os.unlink(lie)
    for f in os.listdir("/dev/shm"):
        if f.startswith("jit."):
            os.unlink("/dev/shm/" + f)
c = Capture("j.prof")
leaves = collections.Counter(c.leaf(s) for s in c.samples)
print(leaves.most_common(3))
check(leaves["jit_inner"] >= 0.9 * len(c.samples), "JIT code is not named by the map of its own namespace")
check(not leaves["wrong_map_of_the_host"], "a map of the host was used")
