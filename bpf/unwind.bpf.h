/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * From a user frame to its caller: by the file's unwind table, and where there is
 * none by frame pointer.
 */
#ifndef PROFBPF_UNWIND_BPF_H
#define PROFBPF_UNWIND_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "bpf/unwind_step.h"
#include "bpf/wire.h"

/* Stack memory is read this much at a time: 80 ns for half a kilobyte, 54 for a word. */
#define STACK_WINDOW 512

struct user_walk {
	struct unwind_regs regs; /* first: unwind_step() is given these only */
	__u32 word;		 /* bytes of a word of the program: 8, or 4 for a 32-bit one */
	__u32 in_kernel;	 /* the thread was interrupted there */
	__u32 steps, by_fp;	 /* so far: all, and those by frame pointer */
	__u32 check;		 /* ip is from a frame record, which may be none */
	__u32 not_called; /* where the last step left, no call had led: its first byte is meant */
	__u32 wanted;	  /* user space asks where the module of the last step is mapped */
	__u32 unused;
	__u64 time_ns;	    /* of the sample */
	__u32 window_len;   /* 0 = nothing in it */
	__u64 window_start; /* address of its first byte */
	__u8 window[STACK_WINDOW + 16];
};

/* The state of an interrupted thread; in a system call ip is behind the instruction. */
static __always_inline void regs_begin(
	struct unwind_regs *u, const volatile bpf_user_pt_regs_t *r, __u32 is_return)
{
	u->ip = REGS_IP(r);
	u->sp = REGS_SP(r);
	u->bp = REGS_FP(r);
	u->bx_at = 0;
	u->is_return = is_return;
	u->is_leaf = 1;
	u->bp_gone = 0;
	u->bx_gone = 0;
	REGS_DWARF(u->reg, r);
}

/*
 * The caller's registers. Module @module and byte @offset of its file are where
 * ip is; MODULE_NONE for code without a file. 0, or 1 + enum stack_result.
 */
int unwind_next(struct user_walk *w, __u32 module, __u64 offset);

/*
 * Begin at the user registers of @task, the current one; @regs are those of the
 * interrupt, user's or kernel's. 0, or negative when there are none.
 */
static __always_inline int unwind_begin(
	struct user_walk *w, const bpf_user_pt_regs_t *regs, struct task_struct *task, __u64 now)
{
	bpf_user_pt_regs_t *saved = (bpf_user_pt_regs_t *)w->window; /* free as yet */

	w->time_ns = now;
	w->in_kernel = !REGS_USER_MODE(regs);
	w->steps = w->by_fp = 0;
	w->check = 0;
	w->not_called = 0;
	/* Volatile, so that the context is read at constant offsets, as the verifier wants it. */
	if (!w->in_kernel) {
		regs_begin(&w->regs, (const volatile bpf_user_pt_regs_t *)regs, 0);
		w->word = REGS_32BIT((const volatile bpf_user_pt_regs_t *)regs) ? 4 : 8;
	} else {
		if (bpf_probe_read_kernel(saved, sizeof(*saved), (void *)bpf_task_pt_regs(task)) ||
			!REGS_USER_MODE(saved))
			return -1;
		regs_begin(&w->regs, saved, REGS_IN_SYSCALL(saved));
		w->word = REGS_32BIT(saved) ? 4 : 8;
	}
	w->window_len = 0;
	return 0;
}

#endif
