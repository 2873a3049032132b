#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that were replaced, deleted, or lost a library: names come from what is mapped, never from the path."""
from support import *

need_root()
d = folder()


def hot(function, out, *flags):
    return compile_c(f"""#include <unistd.h>
#include <stdio.h>
volatile unsigned long s;
__attribute__((noinline)) void {function}(void) {{ for (;;) s++; }}
int main(void) {{ printf("READY\\n"); fflush(stdout); alarm(100); {function}(); }}
""", out, *flags)


replaced, deleted = hot("old_hot", "replaced"), hot("deleted_hot", "deleted")
newer = hot("new_wrong", "newer")
compile_c("volatile unsigned long z; void lib_hot(void) { for (;;) z++; }", "libgone.so", "-shared", "-fPIC")
user = compile_c("""#include <unistd.h>
#include <stdio.h>
void lib_hot(void); int main(void) { printf("READY\\n"); fflush(stdout); alarm(100); lib_hot(); }
""", "user", "-L.", "-lgone", f"-Wl,-rpath,{d}")
a, b, u = start(replaced), start(deleted), start(user)
os.rename("newer", "replaced")
os.unlink("deleted")
os.unlink("libgone.so")
record("-p", f"{a.pid},{b.pid},{u.pid}", "-d", 2, "-F", 499, "-o", "f.prof")
c = Capture("f.prof")
for p, function, path in ((a, "old_hot", b"replaced"), (b, "deleted_hot", b"deleted"), (u, "lib_hot", b"libgone.so")):
    mine = [s for s in c.samples if s.pid == p.pid]
    right = [s for s in mine if c.has(s, function)]
    print(f"{path.decode()}: {len(right)} of {len(mine)} in {function}")
    check(len(mine) > 20 and len(right) >= 0.95 * len(mine), f"{path}: {collections.Counter(map(c.leaf, mine))}")
    m = c.module_with(right[0], function)
    check(m["path"].endswith(b"/" + path), f"module path {m['path']}")
    check(m["flags"] & 1, f"{path} is not marked as deleted")
check(not any(c.has(s, "new_wrong") for s in c.samples), "names from the new file at the old path")
for p in (a, b, u):
    stop(p)

# Paths that are hard to read back.
program = open(hot("path_spin", "base"), "rb").read()
names = [b"a b  c", b"x (deleted)", b"new\nline", b"semi;colon", b'<tag>&"q', b" lead", b"trail ", b"[vdso]", b"tab\tx",
         b"\xff\xfe-bad", "火焰🔥".encode(), b"anon", b"L" * 200, b"back\\012slash", b"%s%n"]
running = []
for name in names:
    path = os.path.join(d.encode(), b"dir " + name, name)
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as f:
        f.write(program)
    os.chmod(path, 0o755)
    p = subprocess.Popen([path], stdout=subprocess.DEVNULL)
    keep(p)
    running.append((p, path))
record("-p", ",".join(str(p.pid) for p, _ in running), "-d", 3, "-F", 499, "-o", "p.prof")
c = Capture("p.prof")
for p, path in running:
    mine = [s for s in c.samples if s.pid == p.pid]
    right = [s for s in mine if c.has(s, "path_spin")]
    check(mine and len(right) >= 0.9 * len(mine), f"{path}: {len(right)} of {len(mine)} have their name")
    m = c.module_with(right[0], "path_spin")
    check(m["path"] == path, f"{path} came back as {m['path']}")
    check(not m["flags"] & 1, f"{path} is marked as deleted")
for args in (["report", "--by", "module", "p.prof"], ["fold", "p.prof"], ["info", "p.prof"]):
    r = subprocess.run([PROFBPF, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(r.returncode == 0, f"{args}: {r.stderr}")
    check(not [x for x in r.stdout if x < 0x20 and x != 0x0a], f"{args} prints control bytes")
    r.stdout.decode()
