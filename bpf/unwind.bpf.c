// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * One step of a user stack: look the rule up, follow it, or the frame pointer.
 *
 * Tables are keyed by file and file offset (user/record/unwind_loader.h), so there
 * is nothing per process here: a program's first sample finds the tables of all
 * files that any process has shown before, and dlopen() needs no notice.
 *
 * Frame records are {frame pointer of the caller, return address}; on x86-64 by
 * convention (psABI 3.2.2), on arm64 by the AAPCS (6.2.3).
 */
#include "bpf/unwind.bpf.h"

#include <bpf/bpf_helpers.h>

#include "bpf/maps.bpf.h"

/* A page has one row a byte at most. */
#define SEARCH_STEPS 17

#define USED_EVERY_NS 100000000

/* The window from @addr on, at least @size of it. 0, or negative when the memory cannot be read. */
static __always_inline int load_window(struct user_walk *w, __u64 addr, __u32 size)
{
	/* Over the end of the page only if it must be: the next one need not exist. */
	__u32 len = 4096 - (addr & 4095);

	if (len > STACK_WINDOW)
		len = STACK_WINDOW;
	if (len < size)
		len = size;
	w->window_start = addr;
	w->window_len = 0;
	barrier_var(len);
	if (len > STACK_WINDOW || bpf_probe_read_user(w->window, len, (void *)addr))
		return -1;
	w->window_len = len;
	return 0;
}

/*
 * Read 8 or 16 bytes of stack. A walk goes upwards, so the window begins at what
 * is asked for.
 */
static __always_inline int read_stack(struct user_walk *w, __u64 *to, __u32 size, __u64 addr)
{
	__u64 at = addr - w->window_start;

	if (addr < w->window_start || at + size > w->window_len) {
		if (load_window(w, addr, size))
			return -1;
		at = 0;
	}
	barrier_var(at);
	if (at >= STACK_WINDOW)
		return -1; /* for the verifier */
	to[0] = *(__u64 *)(w->window + at);
	if (size > 8)
		to[1] = *(__u64 *)(w->window + at + 8);
	return 0;
}

/* By the frame pointer. @strict: the record must lie above the stack pointer. 0, or 1 + result. */
static __always_inline int step_by_fp(struct user_walk *w, int strict)
{
	struct unwind_regs *r = &w->regs;
	__u64 pair[2], fp, ra;

	if (r->bp_gone || !r->bp || r->bp & (w->word - 1) || (strict && r->bp < r->sp))
		return 1 + STACK_FP_END;
	if (read_stack(w, pair, sizeof(pair), r->bp))
		return 1 + STACK_FP_END;
	fp = pair[0];
	ra = pair[1];
	if (w->word == 4) {
		ra = fp >> 32;
		fp = (__u32)fp;
	}
#if defined(__TARGET_ARCH_arm64)
	ra &= (1ULL << 48) - 1; /* above it may be an authentication code */
#endif
	/* A zero return address is how start-up code and clone() mark the end. */
	if (!ra)
		return 1 + STACK_FP_END;
	r->sp = r->bp + 2 * w->word;
	r->ip = ra;
	r->bp = fp;
	r->is_return = 1;
	r->is_leaf = 0;
	r->bx_gone = 1;
	w->by_fp++;
	w->check = 1;
	return 0;
}

#if defined(__TARGET_ARCH_x86)

#define unwind_read(dst, size, addr)                                                               \
	((size) > 16 ? bpf_probe_read_user((dst), (size), (void *)(addr))                          \
		     : read_stack((struct user_walk *)r, (__u64 *)(dst), (size), (addr)))
#include "bpf/unwind_step.h"

/* The rule's id at byte @offset of the file; 0 (no information) where the table has nothing. */
__noinline int unwind_find(__u32 module, __u64 offset)
{
	struct wire_unwind_module *m = bpf_map_lookup_elem(&unwind_modules, &module);
	__u32 zero = 0, page, lo, n, low = offset & 0xffff;
	struct unwind_page_index *index;
	struct wire_unwind_page *p;
	struct unwind_row *rows;
	void *slab;

	if (!m)
		return 0;
	page = (__u32)(offset >> UNWIND_PAGE_SHIFT) - m->first_page;
	if (offset >> (UNWIND_PAGE_SHIFT + 16) || page >= m->nr_pages)
		return 0;
	page += m->index;
	index = bpf_map_lookup_elem(&unwind_pages, &zero);
	barrier_var(page);
	if (!index || page >= UNWIND_MAX_PAGES)
		return 0;
	p = &index->at[page];
	lo = p->first;
	n = p->nr;
	zero = p->slab;
	slab = bpf_map_lookup_elem(&unwind_slabs, &zero);
	zero = 0;
	rows = slab ? bpf_map_lookup_elem(slab, &zero) : NULL;
	if (!rows || !n)
		return 0;
	/*
	 * The last row with row.low <= low is in [lo, lo + n). Without a branch on what was
	 * read: the verifier would follow both ways of each step.
	 */
	for (int i = 0; i < SEARCH_STEPS && n > 1; i++) {
		__u32 half = n / 2, mid = lo + half;
		__s32 below;

		barrier_var(mid);
		if (mid >= UNWIND_SLAB_ROWS)
			return 0;
		below = (__s32)(low - rows[mid].low) >> 31; /* all ones: the row is above */
		barrier_var(below);
		lo += half & ~below;
		n -= half;
	}
	barrier_var(lo);
	if (lo >= UNWIND_SLAB_ROWS || rows[lo].low > low)
		return 0;
	return rows[lo].rule;
}

/* Follow rule @id. enum unwind_stop. */
__noinline int unwind_follow(struct user_walk *w, __u32 id)
{
	struct unwind_rule_book *book;
	struct unwind_rule *rule;
	__u32 zero = 0;

	if (!w)
		return UNWIND_STOP_FAULT;
	book = bpf_map_lookup_elem(&unwind_rules, &zero);
	barrier_var(id);
	if (!book || id >= UNWIND_MAX_RULES)
		return UNWIND_STOP_NO_INFO;
	rule = &book->at[id];
	if (rule->cfa == UNWIND_SIGNAL)
		w->not_called = 1;
	return unwind_step(rule, &w->regs);
}

/* By the table. 0, 1 + result; or -1: there is no information, try the frame pointer. */
static __always_inline int step_by_table(struct user_walk *w, __u32 module, __u64 offset)
{
	int id = unwind_find(module, offset - w->regs.is_return);

	/* execve() has set ip to the new program's first instruction, and no call is before that.
	 */
	if (!id && w->regs.is_return && w->regs.is_leaf) {
		id = unwind_find(module, offset);
		w->not_called = !!id;
	}
	switch (unwind_follow(w, id)) {
	case UNWIND_GO_ON:
		w->check = 0;
		return 0;
	case UNWIND_STOP_END:
	case UNWIND_STOP_ZERO:
		return 1 + (w->by_fp ? STACK_COMPLETE_FP : STACK_COMPLETE);
	case UNWIND_STOP_UNSUPPORTED:
		return 1 + STACK_UNSUPPORTED;
	case UNWIND_STOP_FAULT:
		return 1 + STACK_FAULT;
	case UNWIND_STOP_NOT_LEAF:
		return 1 + STACK_LOST_REG;
	case UNWIND_STOP_STUCK:
		return 1 + STACK_STUCK;
	}
	/* A return to where a function begins: somebody made this stack by hand (a fiber's first).
	 */
	if (w->regs.is_return && !w->regs.is_leaf && unwind_find(module, offset))
		return 1 + (w->by_fp ? STACK_COMPLETE_FP : STACK_COMPLETE);
	return -1;
}

#endif

__noinline int unwind_next(struct user_walk *w, __u32 module, __u64 offset)
{
	__u32 state = WIRE_UNWIND_NONE;
	struct wire_unwind_module *m;
	int result;

	if (!w)
		return 1 + STACK_UNREADABLE;
	w->not_called = 0;
	m = bpf_map_lookup_elem(&unwind_modules, &module);
	w->wanted = 0;
	if (m && module != MODULE_NONE) {
		state = m->state;
		w->wanted = m->wanted;
		if (w->wanted)
			m->wanted = 0;
	}
#if defined(__TARGET_ARCH_x86)
	if (state == WIRE_UNWIND_READY && m) {
		/* Seldom: every CPU uses libc's. */
		if ((__s64)(w->time_ns - m->used_ns) > USED_EVERY_NS)
			m->used_ns = w->time_ns;
		result = step_by_table(w, module, offset);
		if (result >= 0)
			return result;
	}
#else
	(void)offset;
#endif
	result = step_by_fp(w, state != WIRE_UNWIND_FP);
	if (!result)
		return 0;
	if (state == WIRE_UNWIND_READY)
		return 1 + STACK_NO_INFO;
	if (state == WIRE_UNWIND_FP && !w->regs.bp)
		return 1 + STACK_COMPLETE_FP; /* a goroutine's first function */
	return module == MODULE_NONE || state == WIRE_UNWIND_FP ? result : 1 + STACK_NO_TABLE;
}
