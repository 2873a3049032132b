/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about the running kernel and our rights in it, asked by system call
 * where there is one, else read from /proc and /sys. Small questions with an
 * answer each; what follows from them is said by explain.h (for one failure) and
 * features.h (for `doctor`).
 *
 * No privileges needed. "-1" or "not known" where a file cannot be read: see
 * kernel_proc() and kernel_has_sysfs() for whether it is there at all.
 */
#ifndef PROFBPF_RECORD_KERNEL_H
#define PROFBPF_RECORD_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/** Numbers of linux/capability.h, which libc headers may be too old to know. */
enum {
	CAPABILITY_IPC_LOCK = 14,
	CAPABILITY_SYS_PTRACE = 19,
	CAPABILITY_SYS_ADMIN = 21,
	CAPABILITY_SYS_RESOURCE = 24,
	CAPABILITY_SYSLOG = 34,
	CAPABILITY_PERFMON = 38,
	CAPABILITY_BPF = 39,
	CAPABILITY_CHECKPOINT_RESTORE = 40,
};

/** A file's text without its last newline, cut at @size - 1. Its length, or negative errno. */
int kernel_read_text(const char *path, char *buf, size_t size);
/** /proc/sys/@name ("kernel/perf_event_paranoid"). 0, or negative errno with *v untouched. */
int kernel_sysctl(const char *name, long long *v);

enum kernel_proc {
	PROC_OK,
	PROC_ABSENT, /* not mounted here, as in a bare chroot */
	PROC_FOREIGN /* of another pid namespace: its numbers are not ours */
};
/** What /proc is to this process. Needs no descriptor, and with one to spare is certain. */
enum kernel_proc kernel_proc(void);
/** 1 if /sys is mounted. */
int kernel_has_sysfs(void);
/** 1 if the effective set of this process has @cap. Needs no descriptor and no /proc. */
int kernel_has_cap(int cap);
/** 1 in a user namespace other than the initial: capabilities do not count there. */
int kernel_in_user_namespace(void);
/** Inode of our pid namespace when it is not the initial one, else 0; 0 without /proc. */
uint32_t kernel_pid_namespace(void);
/** 1 when a seccomp filter is on this process. */
int kernel_seccomp(void);
/** "none", "integrity", "confidentiality", or "" when the kernel has no lockdown. */
const char *kernel_lockdown(char *buf, size_t size);
/** CPUs that can ever exist (highest number + 1), at least 1. */
uint32_t kernel_possible_cpus(void);
/** Online CPUs, sorted, malloced. 0 or negative errno. */
int kernel_online_cpus(uint32_t **cpus, size_t *nr);

/** What BTF says is there; 1 yes, 0 no. Some 5 ms: one struct for several questions. */
struct kernel_btf {
	int readable;				/* the BTF could be read */
	int rdonly_cast;			/* kfunc bpf_rdonly_cast */
	int tp_fork, tp_exec, tp_exit, tp_free; /* sched_process_* */
	int iter_vma;				/* iterator over mappings */
};
void kernel_btf(struct kernel_btf *k);
#define KERNEL_BTF_PATH "/sys/kernel/btf/vmlinux"

#endif
