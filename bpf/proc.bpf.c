// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Lives of target processes: children join the target set at fork and leave it
 * when they are gone; user space hears of exec and exit.
 *
 * BTF tracepoints: no tracefs needed. Each of these programs may be missing
 * (attach_life.c says what follows); sampling itself does not depend on them.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/emit.bpf.h"
#include "bpf/filter.bpf.h"

static __always_inline void emit_life(__u16 kind, __u32 pid, __u32 exit_code)
{
	struct wire_life rec = {};

	rec.h.kind = kind;
	rec.h.cpu = bpf_get_smp_processor_id();
	rec.h.len = sizeof(rec);
	rec.time_ns = bpf_ktime_get_ns();
	rec.pid = pid;
	rec.exit_code = exit_code;
	emit_event(&rec, sizeof(rec), BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_fork")
int life_fork(__u64 *ctx) /* parent, child */
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct wire_target value = {};
	__u32 from = user_pid(parent), to = user_pid(child);

	if (!from || !to || from == to) /* a thread, or outside our pid namespace */
		return 0;
	if (bpf_map_lookup_elem(&targets, &from))
		bpf_map_update_elem(&targets, &to, &value, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int life_exec(__u64 *ctx) /* task */
{
	struct task_struct *task = (void *)ctx[0];
	__u32 pid = user_pid(task);

	if (admit(task, pid, user_tid(task)) == ADMIT_YES)
		emit_life(WIRE_EXEC, pid, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int life_exit(__u64 *ctx) /* task */
{
	struct task_struct *task = (void *)ctx[0];
	__u32 pid = user_pid(task);

	if (task->signal->live.counter) /* not its last thread */
		return 0;
	if (admit(task, pid, user_tid(task)) == ADMIT_NO)
		return 0;
	emit_life(WIRE_EXIT, pid, task->exit_code);
	if (knob_admit == KNOB_ADMIT_PIDS && !knob_have_free)
		bpf_map_delete_elem(&targets, &pid);
	return 0;
}

/*
 * The target leaves the set here and not at exit, which on newer kernels (6.16)
 * is before its memory is taken down: that may be a lot of time, and is its own.
 * A task that is released has no number in a namespace any more, so inside a
 * pid namespace exit has to do.
 */
SEC("tp_btf/sched_process_free")
int life_free(__u64 *ctx) /* task */
{
	struct task_struct *task = (void *)ctx[0];
	__u32 pid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&targets, &pid);
	return 0;
}
