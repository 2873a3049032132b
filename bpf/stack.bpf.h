/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Stacks as tagged frames: kernel frames, then user frames, each leaf first.
 *
 * Two things are kept apart: stepping from frame to frame (unwind.bpf.h) and
 * saying what an address is (frame_resolve).
 *
 * Samples cluster in a few mappings, so each sample keeps its last four ranges:
 * 1 to 3 walks for a whole stack.
 */
#ifndef PROFBPF_STACK_BPF_H
#define PROFBPF_STACK_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "bpf/unwind.bpf.h"
#include "bpf/vma.bpf.h"
#include "bpf/wire.h"

#define MAX_FRAMES (MAX_KERNEL_FRAMES + MAX_USER_FRAMES)
#define NR_RANGES  4  /* a power of two */
#define NR_KNOWN   16 /* a power of two */
#define NR_RETURNS 256

/* What a range of addresses of the current process is. */
struct range {
	__u64 start, end;
	__u64 offset; /* added to an address, mod 2^64, it gives frame.addr */
	__u32 owner;
	__u8 kind; /* enum frame_kind; FRAME_NONE: stop here */
	__u8 reason;
	__u16 unused;
};

/* A file's id, remembered across samples: ids do not change, and the table is 60 ns away. */
struct known_module {
	struct wire_file_key key;
	__u32 id; /* MODULE_NONE: unused */
	__u32 unused;
};

/* A place in a file that is behind a call, remembered across samples: files do not change. */
struct known_return {
	__u64 addr;
	__u32 owner; /* MODULE_NONE: unused */
	__u32 unused;
};

/* A sample under construction. One per program type and CPU; claimed while in use. */
struct scratch {
	__u32 busy;
	__u32 pid; /* user-space sense */
	__u32 nr_kernel, nr_user;
	__u32 next_range; /* the one to replace */
	__u32 last_range; /* that of the newest frame */
	__u32 unused;
	struct range range[NR_RANGES];
	struct known_module known[NR_KNOWN];
	struct known_return returns[NR_RETURNS];
	struct walk walk;
	struct user_walk user;
	__u64 ips[MAX_KERNEL_FRAMES];
	/* struct wire_sample, its frames behind it */
	__u8 record[sizeof(struct wire_sample) + MAX_FRAMES * sizeof(struct frame)];
};

static __always_inline struct frame *scratch_frame(struct scratch *s, __u32 i)
{
	return (struct frame *)(s->record + sizeof(struct wire_sample)) + i;
}

/*
 * Append the frame at which the walk stands, and step to its caller. 0 to go on,
 * or 1 + enum stack_result. Defined in stack.bpf.c.
 */
int stack_frame(struct scratch *s);

static __always_inline void add_kernel_stack(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	struct wire_sample *rec = (struct wire_sample *)s->record;
	__u32 n = 0;
	long bytes;

	s->nr_kernel = 0;
	if (REGS_USER_MODE(&ctx->regs))
		return; /* there is none; asking would cost 0.1 us */
	bytes = bpf_get_stack(ctx, s->ips, MAX_KERNEL_FRAMES * sizeof(__u64), 0);
	if (bytes > 0)
		n = (__u32)bytes / sizeof(__u64);
	for (__u32 i = 0; i < MAX_KERNEL_FRAMES; i++) {
		struct frame *f = scratch_frame(s, i);

		if (i >= n)
			break;
		f->addr = s->ips[i];
		f->owner = 0;
		f->kind = FRAME_KERNEL;
		f->reason = 0;
		f->flags = i ? FRAME_F_RETURN : 0;
	}
	s->nr_kernel = n;
	if (n >= MAX_KERNEL_FRAMES)
		rec->flags |= WIRE_SAMPLE_KERNEL_CUT;
}

/* Append a frame that is not one. */
static __always_inline void add_missing(struct scratch *s, __u64 addr, __u8 reason)
{
	__u32 n = s->nr_kernel + s->nr_user;
	struct frame *f;

	barrier_var(n);
	if (n >= MAX_FRAMES)
		return;
	f = scratch_frame(s, n);
	f->addr = addr;
	f->owner = 0;
	f->kind = FRAME_NONE;
	f->reason = reason;
	f->flags = 0;
	s->nr_user++;
}

/* Returns enum stack_result. */
static __always_inline __u8 add_user_stack(
	struct bpf_perf_event_data *ctx, struct scratch *s, struct task_struct *task, __u64 now)
{
	if (!task->mm || task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return STACK_KERNEL_ONLY;
	for (int i = 0; i < NR_RANGES; i++)
		s->range[i].start = s->range[i].end = 0;
	if (unwind_begin(&s->user, &ctx->regs, task, now)) {
		add_missing(s, 0, REASON_NO_USER_STACK);
		return STACK_UNREADABLE;
	}
	for (__u32 i = 0; i < MAX_USER_FRAMES - 1; i++) {
		int r = stack_frame(s);

		if (r)
			return r - 1;
	}
	add_missing(s, 0, REASON_TRUNCATED);
	return STACK_TRUNCATED;
}

#endif
