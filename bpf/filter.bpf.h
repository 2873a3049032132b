/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Admission: is this task sampled? And its numbers as the user sees them: what
 * the kernel calls tgid and pid is pid and tid from here on.
 */
#ifndef PROFBPF_FILTER_BPF_H
#define PROFBPF_FILTER_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>

#include "bpf/knobs.bpf.h"
#include "bpf/maps.bpf.h"

/* Nested deeper than this, a cgroup is not found: systemd plus containers use about 10. */
#define MAX_CGROUP_DEPTH 32

/* include/linux/pid_namespace.h: MAX_PID_NS_LEVEL */
#define MAX_PIDNS_LEVEL 32

enum admission {
	ADMIT_NO,
	ADMIT_YES,
	ADMIT_BEFORE_EXEC
};

/*
 * The number of @task in the profiler's own pid namespace; 0 if it has none
 * there, or is released already. A task has one number per level from the
 * initial namespace (level 0) to its own.
 */
static __always_inline __u32 pid_in_namespace(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;
	void *numbers;

	if (!pid)
		return 0;
	numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	for (__u32 level = 1; level <= MAX_PIDNS_LEVEL; level++) {
		struct upid *n = numbers + level * bpf_core_type_size(struct upid);
		struct pid_namespace *ns = NULL;
		int nr = 0;

		if (level > pid->level)
			break;
		bpf_core_read(&ns, sizeof(ns), &n->ns);
		if (BPF_CORE_READ(ns, ns.inum) != knob_pidns_inum)
			continue;
		bpf_core_read(&nr, sizeof(nr), &n->nr);
		return nr;
	}
	return 0;
}

static __always_inline __u32 user_tid(struct task_struct *task)
{
	return knob_pidns_inum ? pid_in_namespace(task) : (__u32)task->pid;
}

static __always_inline __u32 user_pid(struct task_struct *task)
{
	return knob_pidns_inum ? pid_in_namespace(task->group_leader) : (__u32)task->tgid;
}

/* The current task's cgroup is the chosen one or below it. */
static __always_inline int in_cgroup(void)
{
	for (int level = 0; level < MAX_CGROUP_DEPTH; level++) {
		__u64 id = bpf_get_current_ancestor_cgroup_id(level);

		if (!id)
			return 0; /* deeper than the task's own */
		if (id == knob_cgroup_id)
			return 1;
	}
	return 0;
}

/* @task is the current one. */
static __always_inline enum admission admit(struct task_struct *task, __u32 pid, __u32 tid)
{
	struct wire_target *t;
	__u32 id = knob_admit == KNOB_ADMIT_TIDS ? tid : pid;

	if (!id)
		return ADMIT_NO; /* outside the profiler's pid namespace */
	switch (knob_admit) {
	case KNOB_ADMIT_ALL:
		return ADMIT_YES;
	case KNOB_ADMIT_CGROUP:
		return in_cgroup() ? ADMIT_YES : ADMIT_NO;
	}
	t = bpf_map_lookup_elem(&targets, &id);
	if (!t)
		return ADMIT_NO;
	/* Forked by us and not executed yet: its count of execs is still the one of its parent. */
	if (t->until_exec && task->group_leader->self_exec_id == task->group_leader->parent_exec_id)
		return ADMIT_BEFORE_EXEC;
	return ADMIT_YES;
}

#endif
