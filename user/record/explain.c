/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel says EPERM for a dozen reasons. Rather than guess from the code,
 * look at each possible cause and name the one that holds; only what remains
 * unexplained is reported as such.
 */
#include "explain.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel.h"

#define PERMISSION_HINT                                                                            \
	"run it with sudo, or give the binary CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE (setcap)"

static int missing_capability(struct err *e)
{
	long long paranoid = 0;
	int bpf, perfmon;

	if (kernel_has_cap(CAPABILITY_SYS_ADMIN))
		return 0;
	bpf = kernel_has_cap(CAPABILITY_BPF);
	perfmon = kernel_has_cap(CAPABILITY_PERFMON);
	if (bpf && perfmon)
		return 0;
	kernel_sysctl("kernel/perf_event_paranoid", &paranoid);
	err_set(e, -EPERM,
		"not permitted to record: this process lacks %s (user id %u; "
		"kernel.perf_event_paranoid is %lld)",
		bpf	  ? "CAP_PERFMON"
		: perfmon ? "CAP_BPF"
			  : "CAP_BPF and CAP_PERFMON",
		geteuid(), paranoid);
	err_hint(e, PERMISSION_HINT);
	return -EPERM;
}

int explain_places(struct err *e)
{
	enum kernel_proc proc = kernel_proc();
	char inside[32] = "";
	ssize_t n;

	if (proc == PROC_FOREIGN) {
		n = readlink("/proc/self", inside, sizeof(inside) - 1);
		err_set(e, -EOPNOTSUPP,
			"/proc is of another pid namespace: it knows this process as %s, but here "
			"it is %d",
			n > 0 ? inside : "none", (int)getpid());
		err_hint(e,
			"mount this namespace's own: unshare --mount-proc, or mount -t proc proc "
			"/proc in a mount namespace of its own");
		return -EOPNOTSUPP;
	}
	if (proc == PROC_ABSENT && !kernel_has_sysfs()) {
		err_set(e, -EOPNOTSUPP, "neither /proc nor /sys is mounted here");
		err_hint(e, "in a chroot: mount -t proc proc /proc; mount -t sysfs sysfs /sys");
		return -EOPNOTSUPP;
	}
	if (proc == PROC_ABSENT) {
		err_set(e, -EOPNOTSUPP, "/proc is not mounted here");
		err_hint(e, "in a chroot: mount -t proc proc /proc");
		return -EOPNOTSUPP;
	}
	if (!kernel_has_sysfs()) {
		err_set(e, -EOPNOTSUPP,
			"/sys is not mounted here; it has the kernel's type information (BTF)");
		err_hint(e, "in a chroot: mount -t sysfs sysfs /sys");
		return -EOPNOTSUPP;
	}
	return 0;
}

int explain_missing(struct err *e)
{
	char lockdown[32];
	int code;

	code = explain_places(e);
	if (!code)
		code = missing_capability(e);
	if (code)
		return code;
	if (kernel_in_user_namespace()) {
		err_set(e, -EPERM,
			"not permitted to record: this process is in a user namespace, where its "
			"capabilities do not reach the kernel's BPF and perf");
		err_hint(e, "run it on the host, or in a container without a user namespace");
		return -EPERM;
	}
	if (access(KERNEL_BTF_PATH, R_OK)) {
		int why = errno;

		code = why == EACCES ? -EPERM : -EOPNOTSUPP;
		err_sys(e, code, "the kernel's type information cannot be read: " KERNEL_BTF_PATH);
		if (why == ENOENT) {
			err_set(e, code,
				"this kernel offers no type information (BTF): " KERNEL_BTF_PATH
				" does not exist");
			err_hint(e, "needs a kernel built with CONFIG_DEBUG_INFO_BTF=y");
		}
		return code;
	}
	if (!strcmp(kernel_lockdown(lockdown, sizeof(lockdown)), "confidentiality")) {
		err_set(e, -EPERM,
			"kernel lockdown is in force (confidentiality): programs may not read "
			"kernel memory, which recording needs");
		err_hint(e, "see /sys/kernel/security/lockdown; boot with lockdown=integrity or "
			    "without");
		return -EPERM;
	}
	return 0;
}

int explain_fds(int code, const char *what, struct err *e)
{
	struct rlimit lim = {0};

	if (code == -ENFILE) {
		err_set(e, code, "too many open files in the whole system while %s (fs.file-max)",
			what);
		err_hint(e, "raise it: sysctl fs.file-max");
		return code;
	}
	getrlimit(RLIMIT_NOFILE, &lim);
	err_set(e, code, "too many open files while %s: RLIMIT_NOFILE is %llu (hard limit %llu)",
		what, (unsigned long long)lim.rlim_cur, (unsigned long long)lim.rlim_max);
	err_hint(e, "raise the limit: ulimit -Hn 4096; ulimit -n 4096");
	return code;
}

static int explain_memlock(int code, const char *what, struct err *e)
{
	struct rlimit lim = {0};

	getrlimit(RLIMIT_MEMLOCK, &lim);
	err_set(e, code,
		"not enough memory while %s (locked-memory limit RLIMIT_MEMLOCK is %llu KiB)", what,
		(unsigned long long)lim.rlim_cur / 1024);
	err_hint(e, "raise it (ulimit -l unlimited), or ask for less with --buffer");
	return code;
}

static int explain_denied(int code, const char *what, struct err *e)
{
	if (explain_missing(e))
		return code;
	err_set(e, code, "the kernel does not permit %s although the capabilities are there: %s",
		what,
		kernel_seccomp() ? "a seccomp filter (as containers have) is on this process"
				 : "a security module may forbid it");
	err_hint(e, "profbpf doctor shows what this process may do");
	return code;
}

int explain_load(int code, const char *last, struct err *e)
{
	switch (code) {
	case -EMFILE:
	case -ENFILE:
		return explain_fds(code, "loading the BPF programs", e);
	case -ENOMEM:
		return explain_memlock(code, "loading the BPF programs", e);
	case -EPERM:
		return explain_denied(code, "loading BPF programs", e);
	case -EACCES: /* also what the verifier says to a program it does not like */
		if (explain_missing(e))
			return code;
		break;
	case -ENOSYS:
		return err_set(e, -EOPNOTSUPP,
			"this kernel has no bpf() system call (CONFIG_BPF_SYSCALL)");
	}
	err_sys(e, code, "the kernel refused the BPF programs%s%s%s", *last ? " (" : "", last,
		*last ? ")" : "");
	err_hint(e, "--log=libbpf:debug shows the verifier's reason; profbpf doctor shows what "
		    "this kernel has");
	return code;
}

int explain_perf_event(int code, uint32_t cpu, struct err *e)
{
	switch (code) {
	case -EMFILE:
	case -ENFILE:
		return explain_fds(code, "opening one event per CPU", e);
	case -EPERM:
	case -EACCES:
		return explain_denied(code, "perf_event_open()", e);
	case -ENOSYS:
	case -ENOENT:
	case -EOPNOTSUPP:
		return err_set(
			e, -EOPNOTSUPP, "this kernel has no cpu-clock event (CONFIG_PERF_EVENTS)");
	}
	return err_sys(e, code, "cannot open the cpu-clock event of CPU %u", cpu);
}
