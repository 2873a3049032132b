/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One small function per row, each doing the thing it asks about where that is
 * harmless (open an event, make a ring), and reading a file where it is not.
 */
#include "features.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "explain.h"
#include "kernel.h"

#define FEATURES_MAX 32

struct probe {
	struct feature *list;
	unsigned nr;
	struct kernel_btf btf;
};

static struct feature *add(struct probe *p, const char *name, enum feature_state state)
{
	struct feature *f = &p->list[p->nr++];

	f->name = name;
	f->state = state;
	return f;
}

__attribute__((format(printf, 2, 3))) static void detail(struct feature *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->detail, sizeof(f->detail), fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void follows(struct feature *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->follows, sizeof(f->follows), fmt, ap);
	va_end(ap);
}

/* ---- the kernel ---------------------------------------------------------- */

static void probe_release(struct probe *p)
{
	struct feature *f = add(p, "kernel", FEATURE_OK);
	struct utsname u;

	uname(&u);
	detail(f, "%s %s %s", u.sysname, u.release, u.machine);
}

static void probe_places(struct probe *p)
{
	struct feature *f = add(p, "/proc and /sys", FEATURE_OK);
	enum kernel_proc proc = kernel_proc();
	int sysfs = kernel_has_sysfs();

	detail(f, "/proc %s, /sys %s",
		proc == PROC_OK	      ? "mounted"
		: proc == PROC_ABSENT ? "not mounted"
				      : "of another pid namespace",
		sysfs ? "mounted" : "not mounted");
	if (proc == PROC_OK && sysfs)
		return;
	f->state = FEATURE_MISSING;
	follows(f, "nothing can be recorded; some of what follows is not known");
}

static void probe_btf(struct probe *p)
{
	struct feature *f = add(p, "BTF of the running kernel", FEATURE_OK);

	if (p->btf.readable) {
		detail(f, KERNEL_BTF_PATH);
		return;
	}
	f->state = FEATURE_MISSING;
	detail(f, KERNEL_BTF_PATH ": %s",
		access(KERNEL_BTF_PATH, R_OK) ? strerrordesc_np(errno) : "damaged");
	follows(f, "nothing can be recorded; needs %s",
		kernel_has_sysfs() ? "CONFIG_DEBUG_INFO_BTF=y" : "/sys");
}

static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 10000000,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	int code = fd < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return code;
}

static void probe_cpu_clock(struct probe *p)
{
	struct feature *f = add(p, "cpu-clock event", FEATURE_OK);
	int code = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	if (!code) {
		detail(f, "opened on CPU 0");
		return;
	}
	f->state = FEATURE_MISSING;
	detail(f, "perf_event_open: %s", strerrordesc_np(-code));
	follows(f, code == -EACCES || code == -EPERM
			   ? "needs CAP_PERFMON to record"
			   : "nothing can be recorded; needs CONFIG_PERF_EVENTS=y");
}

static void probe_pmu(struct probe *p)
{
	struct feature *f = add(p, "hardware cycles (PMU)", FEATURE_OK);
	int code = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (!code) {
		detail(f, "opened on CPU 0");
		return;
	}
	f->state = FEATURE_DEGRADED;
	if (code == -ENOENT || code == -EOPNOTSUPP)
		detail(f, "none, as in most virtual machines");
	else
		detail(f, "perf_event_open: %s", strerrordesc_np(-code));
	follows(f, "the timer (cpu-clock) is used; code that runs with interrupts off is seen at "
		   "its end");
}

static void probe_ring(struct probe *p)
{
	struct feature *f = add(p, "BPF ring buffer", FEATURE_OK);
	int fd = bpf_map_create(
		BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), NULL);

	if (fd >= 0) {
		close(fd);
		detail(f, "created");
		return;
	}
	f->state = FEATURE_MISSING;
	detail(f, "bpf: %s", strerrordesc_np(-fd));
	follows(f, fd == -EPERM ? "needs CAP_BPF to record"
				: "nothing can be recorded; needs Linux 5.8");
}

static void probe_walk(struct probe *p)
{
	struct feature *f = add(p, "mapping walk", FEATURE_OK);

	if (!p->btf.readable) {
		f->state = FEATURE_MISSING;
		detail(f, "not known without BTF");
		follows(f, "nothing can be recorded");
	} else if (p->btf.rdonly_cast) {
		detail(f, "bpf_rdonly_cast is there: plain loads");
	} else {
		f->state = FEATURE_DEGRADED;
		detail(f, "no bpf_rdonly_cast (since 6.2): nodes are copied");
		follows(f, "each mapping looked up costs about 0.4 us instead of 0.05");
	}
}

static void probe_tracepoints(struct probe *p)
{
	struct feature *f = add(p, "process tracepoints", FEATURE_OK);
	const struct kernel_btf *b = &p->btf;

	if (!b->readable) {
		f->state = FEATURE_MISSING;
		detail(f, "not known without BTF");
		follows(f, "nothing can be recorded");
		return;
	}
	detail(f, "sched_process_fork %s, exec %s, exit %s, free %s", b->tp_fork ? "yes" : "no",
		b->tp_exec ? "yes" : "no", b->tp_exit ? "yes" : "no", b->tp_free ? "yes" : "no");
	if (b->tp_fork && b->tp_exec && b->tp_exit)
		return;
	f->state = FEATURE_DEGRADED;
	follows(f, "%s",
		!b->tp_fork ? "--children finds no children"
			    : "ends and program changes of processes are seen late");
}

static void probe_preload(struct probe *p)
{
	struct feature *f = add(p, "iterator over mappings", FEATURE_OK);

	if (p->btf.iter_vma) {
		detail(f, "task_vma is there");
		return;
	}
	f->state = FEATURE_DEGRADED;
	detail(f, "%s", p->btf.readable ? "no task_vma" : "not known without BTF");
	follows(f, "unwind tables are made when files are first sampled; the samples until then go "
		   "by frame pointer");
}

static void probe_cgroup(struct probe *p)
{
	static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct feature *f = add(p, "cgroup v2", FEATURE_OK);
	struct statfs st;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (statfs(places[i], &st) || st.f_type != CGROUP2_SUPER_MAGIC)
			continue;
		detail(f, "mounted on %s", places[i]);
		return;
	}
	f->state = FEATURE_DEGRADED;
	detail(f, "not mounted on /sys/fs/cgroup");
	follows(f, "--cgroup needs the path of a v2 cgroup");
}

/* ---- rights ---------------------------------------------------------------- */

static void probe_caps(struct probe *p)
{
	struct feature *f = add(p, "capabilities", FEATURE_OK);
	int admin = kernel_has_cap(CAPABILITY_SYS_ADMIN);
	int bpf = admin || kernel_has_cap(CAPABILITY_BPF);
	int perfmon = admin || kernel_has_cap(CAPABILITY_PERFMON);
	int ptrace = kernel_has_cap(CAPABILITY_SYS_PTRACE);
	int files = admin || kernel_has_cap(CAPABILITY_CHECKPOINT_RESTORE);

	detail(f, "BPF %s, PERFMON %s, SYS_PTRACE %s, CHECKPOINT_RESTORE %s, user id %u%s",
		bpf ? "yes" : "no", perfmon ? "yes" : "no", ptrace ? "yes" : "no",
		files ? "yes" : "no", geteuid(),
		kernel_in_user_namespace() ? ", in a user namespace" : "");
	if (!bpf || !perfmon || kernel_in_user_namespace()) {
		f->state = FEATURE_MISSING;
		follows(f, kernel_in_user_namespace()
				   ? "nothing can be recorded from inside a user namespace"
				   : "nothing can be recorded: run with sudo");
	} else if (!ptrace || !files) {
		f->state = FEATURE_DEGRADED;
		follows(f, "%s",
			!ptrace ? "files and names of other users' processes may be missing"
				: "files that were deleted or replaced while mapped cannot be "
				  "opened");
	}
}

static void probe_lockdown(struct probe *p)
{
	struct feature *f = add(p, "kernel lockdown", FEATURE_OK);
	char text[32];

	kernel_lockdown(text, sizeof(text));
	detail(f, "%s",
		*text		     ? text
		: kernel_has_sysfs() ? "not in this kernel"
				     : "not known without /sys");
	if (!strcmp(text, "confidentiality")) {
		f->state = FEATURE_MISSING;
		follows(f, "nothing can be recorded: programs may not read kernel memory");
	}
}

static void probe_pid_namespace(struct probe *p)
{
	uint32_t ino = kernel_pid_namespace();
	struct feature *f = add(p, "pid namespace", ino ? FEATURE_DEGRADED : FEATURE_OK);

	if (!ino && kernel_proc() == PROC_ABSENT) {
		detail(f, "not known without /proc");
		return;
	}
	if (!ino) {
		detail(f, "the initial one");
		return;
	}
	detail(f, "not the initial one (pid:[%u])", ino);
	follows(f, "only processes of this namespace and those below it can be recorded");
}

/* ---- settings and limits ----------------------------------------------------- */

static void probe_paranoid(struct probe *p)
{
	struct feature *f = add(p, "kernel.perf_event_paranoid", FEATURE_OK);
	long long v;

	if (kernel_sysctl("kernel/perf_event_paranoid", &v))
		detail(f, "cannot be read");
	else
		detail(f, "%lld (does not matter with CAP_PERFMON)", v);
}

static void probe_rate(struct probe *p)
{
	struct feature *f = add(p, "kernel.perf_event_max_sample_rate", FEATURE_OK);
	long long v;

	if (kernel_sysctl("kernel/perf_event_max_sample_rate", &v)) {
		detail(f, "cannot be read");
		return;
	}
	detail(f, "%lld Hz", v);
	if (v >= 1000)
		return;
	f->state = FEATURE_DEGRADED;
	follows(f, "frequencies (-F) above %lld are refused", v);
}

static void probe_depth(struct probe *p)
{
	struct feature *f = add(p, "kernel.perf_event_max_stack", FEATURE_OK);
	long long v;

	if (kernel_sysctl("kernel/perf_event_max_stack", &v)) {
		detail(f, "cannot be read");
		return;
	}
	detail(f, "%lld frames", v);
	if (v >= 127)
		return;
	f->state = FEATURE_DEGRADED;
	follows(f, "deeper stacks are cut at %lld frames", v);
}

static void probe_kptr(struct probe *p)
{
	struct feature *f = add(p, "kernel.kptr_restrict", FEATURE_OK);
	long long v;

	if (kernel_sysctl("kernel/kptr_restrict", &v)) {
		detail(f, "cannot be read");
		return;
	}
	detail(f, "%lld", v);
	if (v < 1 || (v == 1 && kernel_has_cap(CAPABILITY_SYSLOG)))
		return;
	f->state = FEATURE_DEGRADED;
	follows(f, "%s",
		v == 1 ? "kernel functions have no names without CAP_SYSLOG"
		       : "kernel functions have no names");
}

static void probe_fds(struct probe *p)
{
	struct feature *f = add(p, "open files (RLIMIT_NOFILE)", FEATURE_OK);
	uint32_t need = 64 + 2 * kernel_possible_cpus();
	struct rlimit lim = {0};

	getrlimit(RLIMIT_NOFILE, &lim);
	detail(f, "%llu, can be raised to %llu", (unsigned long long)lim.rlim_cur,
		(unsigned long long)lim.rlim_max);
	if (lim.rlim_max >= need)
		return;
	f->state = FEATURE_MISSING;
	follows(f, "recording needs about %u: raise the hard limit (ulimit -Hn)", need);
}

static void probe_memlock(struct probe *p)
{
	struct feature *f = add(p, "locked memory (RLIMIT_MEMLOCK)", FEATURE_OK);
	struct rlimit lim = {0};

	getrlimit(RLIMIT_MEMLOCK, &lim);
	if (lim.rlim_cur == RLIM_INFINITY)
		detail(f, "unlimited");
	else
		detail(f, "%llu KiB (BPF memory does not count against it since 5.11)",
			(unsigned long long)lim.rlim_cur / 1024);
}

static void probe_throttle_notes(struct probe *p)
{
	struct feature *f = add(p, "kernel.perf_event_mlock_kb", FEATURE_OK);
	long long v;

	if (kernel_sysctl("kernel/perf_event_mlock_kb", &v)) {
		detail(f, "cannot be read");
		return;
	}
	detail(f, "%lld KiB", v);
	if (v >= 8 || kernel_has_cap(CAPABILITY_IPC_LOCK))
		return;
	f->state = FEATURE_DEGRADED;
	follows(f, "throttled ticks cannot be counted");
}

int features_probe(struct feature **list, unsigned *nr)
{
	static void (*const probes[])(struct probe *) = {
		probe_release,
		probe_places,
		probe_btf,
		probe_cpu_clock,
		probe_ring,
		probe_walk,
		probe_tracepoints,
		probe_preload,
		probe_cgroup,
		probe_pmu,
		probe_caps,
		probe_lockdown,
		probe_pid_namespace,
		probe_paranoid,
		probe_rate,
		probe_depth,
		probe_kptr,
		probe_fds,
		probe_memlock,
		probe_throttle_notes,
	};
	struct probe p = {.list = calloc(FEATURES_MAX, sizeof(struct feature))};

	*list = NULL;
	*nr = 0;
	if (!p.list)
		return -ENOMEM;
	kernel_btf(&p.btf);
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		probes[i](&p);
	*list = p.list;
	*nr = p.nr;
	return 0;
}

int features_require(struct err *e)
{
	return explain_missing(e);
}
