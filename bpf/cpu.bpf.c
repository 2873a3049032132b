// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * On-CPU time: one cpu-clock event per CPU runs this at every tick.
 *
 * The order is the accounting. Every tick is counted, and moves "the previous
 * tick" on, before anything is decided; then it ends in exactly one counter:
 * idle, not_admitted, before_exec, lost_scratch, lost_ring or sampled.
 *
 * A sample's value is the time since the previous timer tick on this CPU. Not
 * the event's period: re-drawing the period restarts the timer, so the sum of
 * periods is 2-5 % short at 99 Hz, and ctx->sample_period does not follow the
 * ioctl anyway.
 *
 * Idle CPUs do not call us (exclude_idle). Ticks that did would be throttled: the
 * kernel allows so many interrupts per scheduler tick, and an idle CPU has none of
 * those for seconds; the event is then off until the next one, and misses the
 * start of every burst of work. So the previous tick we saw may be long ago. Where
 * the previous tick of the timer was follows from its pace; see tick_value().
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/emit.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} cpu_scratch SEC(".maps"); /* 6 KiB a CPU; only this program */

static __always_inline void fill_process(
	struct wire_process *p, struct task_struct *task, __u32 pid)
{
	struct task_struct *leader = task->group_leader;

	p->pid = pid;
	p->exec_id = (__u32)leader->self_exec_id;
	p->start_boot_ns = leader->start_boottime;
	bpf_core_read(p->comm, sizeof(p->comm), &leader->comm);
}

/* Count the tick and make it the previous one. Returns when we saw the one before. */
static __always_inline __u64 count_tick(struct wire_counters *c, __u64 now)
{
	__u64 previous = c->last_tick_ns;

	c->ticks++;
	c->last_tick_ns = now;
	return previous;
}

/*
 * Time since the previous timer tick. That tick was one period ago, or, just after
 * a restart, lead_ns before the restart. If it is the one we saw, the two times
 * tell exactly. If not (the CPU was idle, or ticks were late or throttled), the
 * sample stands for one period, and for more only as far as the task has been on
 * the CPU without a break.
 */
static __always_inline __u64 tick_value(struct task_struct *task, __u32 cpu, __u64 seen, __u64 now)
{
	struct wire_pace *p = bpf_map_lookup_elem(&pace, &cpu);
	__u64 due, run, gap;

	if (!p)
		return 0;
	due = now - p->armed_ns + p->lead_ns;
	if (now < p->armed_ns || now - p->armed_ns > p->period_ns + p->period_ns / 2)
		due = p->period_ns;
	if (seen < p->since_ns)
		seen = p->since_ns;
	gap = now > seen ? now - seen : 0;
	if (gap <= due + p->period_ns / 2)
		return gap;
	run = task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;
	if (run > gap)
		run = gap;
	return run > due ? run : due;
}

SEC("perf_event")
int cpu_tick(struct bpf_perf_event_data *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 id = bpf_get_current_pid_tgid(); /* the kernel's tgid << 32 | pid */
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_counters *c = my_counters();
	struct task_struct *task;
	struct wire_sample *rec;
	struct scratch *s;
	__u32 pid, tid, len, zero = 0;
	__u64 value, seen;

	if (!c)
		return 0;
	seen = count_tick(c, now);
	if (!(__u32)id) {
		c->idle++;
		return 0;
	}
	pid = id >> 32;
	tid = (__u32)id;
	task = bpf_get_current_task_btf();
	if (knob_pidns_inum) {
		pid = user_pid(task);
		tid = user_tid(task);
	}
	switch (admit(task, pid, tid)) {
	case ADMIT_NO:
		c->not_admitted++;
		return 0;
	case ADMIT_BEFORE_EXEC:
		c->before_exec++;
		return 0;
	case ADMIT_YES:
		break;
	}
	value = tick_value(task, cpu, seen, now);
	if (value > knob_cap_ns) {
		c->capped_ns += value - knob_cap_ns;
		value = knob_cap_ns;
	}
	c->value_ns += value;

	s = bpf_map_lookup_elem(&cpu_scratch, &zero);
	if (!s || __sync_lock_test_and_set(&s->busy, 1)) {
		c->lost_scratch++;
		return 0;
	}
	rec = (struct wire_sample *)s->record;
	s->pid = pid;
	s->nr_user = 0;
	rec->time_ns = now;
	rec->value = value;
	fill_process(&rec->process, task, pid);
	rec->tid = tid;
	rec->flags = 0;
	rec->reserved[0] = rec->reserved[1] = rec->reserved[2] = 0;
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
	add_kernel_stack(ctx, s);
	rec->result = add_user_stack(ctx, s, task, now);
	rec->nr_kernel = s->nr_kernel;
	rec->nr_user = s->nr_user;
	len = s->nr_kernel + s->nr_user;
	if (len > MAX_FRAMES)
		len = MAX_FRAMES; /* for the verifier */
	len = sizeof(*rec) + len * sizeof(struct frame);
	rec->h.kind = WIRE_SAMPLE;
	rec->h.cpu = cpu;
	rec->h.len = len;
	barrier_var(len);
	if (len > sizeof(s->record))
		len = sizeof(s->record);
	if (emit_sample(rec, len))
		c->lost_ring++;
	else
		c->sampled++;
	s->busy = 0;
	c->run_ns += bpf_ktime_get_ns() - now;
	return 0;
}
