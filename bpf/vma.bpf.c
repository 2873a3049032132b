// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Address -> mapping -> mapped file, from an interrupt, without a lock.
 *
 *   task->mm->mm_mt (maple tree) -> vm_area_struct -> file -> inode -> key
 *
 * bpf_find_vma() is no way there: it tries a lock that a multi-threaded target
 * often holds, costs 8 us, and its second call in one sample always fails. So
 * we walk the tree ourselves, as lockless readers in the kernel do: nodes and
 * VMAs are freed a grace period after they leave the tree, and a perf_event
 * program runs inside a read section. What can happen is a stale answer. Hence:
 * a dead node restarts the walk, the VMA must hold the address and belong to our
 * mm, and both are checked again after the inode was read. On kernels where the
 * memory of a VMA is reused at once (6.1), the same checks catch it. Reads of
 * memory that is gone fail softly (exception tables).
 *
 * Two ways to read memory that the verifier has no type for, by knob:
 *   bpf_rdonly_cast()         plain loads; a walk is 45 ns, 40 to 18,000 mappings
 *   bpf_probe_read_kernel()   whole nodes are copied; 400 ns; before Linux 6.2
 *
 * The tree's encoding (include/linux/maple_tree.h) is no stable interface: BTF
 * gives offsets, not the tag bits. Same on 6.1, 6.12 and 6.18; a self-test at
 * start compares us with /proc/self/maps (walktest.bpf.c).
 */
#include "bpf/vma.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/knobs.bpf.h"

#define MAPLE_LEVELS	 6 /* 5 hold 18,000 mappings; the limit of 2^16 mappings fits 6 */
#define MAPLE_RANGE_LEAF 1
#define MAPLE_RANGE	 2
#define MAPLE_ARANGE	 3

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

#define CAST(type, p) ((type *)bpf_rdonly_cast((const void *)(p), bpf_core_type_id_kernel(type)))

/* A field of a kernel structure known only by address. */
#define KREAD(type, p, field)                                                                      \
	({                                                                                         \
		type *___p = (type *)(p); /* outside the relocated expression */                   \
		typeof(___p->field) ___v;                                                          \
		if (knob_rdonly_cast)                                                              \
			___v = CAST(type, ___p)->field;                                            \
		else                                                                               \
			bpf_core_read(&___v, sizeof(___v), &___p->field);                          \
		___v;                                                                              \
	})

#include "bpf/file_key.bpf.h"

#define MAPLE_RESERVED 4096 /* entries up to here are marks, not pointers */

enum node_result {
	NODE_INNER, /* w->entry is the next node */
	NODE_LEAF,  /* w->entry is the VMA, or 0 for a gap */
	NODE_DEAD,  /* taken out of the tree: start again */
	NODE_ODD,   /* not what we know nodes to be */
};

/*
 * The entry goes through memory on purpose: newer verifiers give a void pointer
 * that was read from a kernel structure a type on which tag bits cannot be
 * computed; a number from memory has none.
 *
 * The slot for pc is that of the first pivot at or above it; a zero pivot ends the
 * node (but may be the first). The checks of o against its limits are for the
 * verifier. A node taken out of the tree is its own parent; asked after reading it.
 */
static __always_inline enum node_result node_cast(struct walk *w, __u64 addr, __u32 type)
{
	struct maple_node *n = CAST(struct maple_node, addr);
	int o;

	if (type == MAPLE_ARANGE) {
		for (o = 0; o < 9; o++) {
			__u64 p = n->ma64.pivot[o];

			if (p >= w->pc || (o && !p))
				break;
		}
		if (o < 0 || o > 9)
			return NODE_ODD;
		w->entry = (__u64)n->ma64.slot[o];
	} else {
		for (o = 0; o < 15; o++) {
			__u64 p = n->mr64.pivot[o];

			if (p >= w->pc || (o && !p))
				break;
		}
		if (o < 0 || o > 15)
			return NODE_ODD;
		w->entry = (__u64)n->mr64.slot[o];
	}
	return (__u64)n->parent == addr ? NODE_DEAD : NODE_INNER;
}

/* The same on a copy. Layout: parent, 9 or 15 pivots, then the slots. */
static __always_inline enum node_result node_copy(struct walk *w, __u64 addr, __u32 type)
{
	int o;

	if (bpf_probe_read_kernel(w->node, MAPLE_NODE_BYTES, (void *)addr))
		return NODE_ODD;
	if (w->node[0] == addr)
		return NODE_DEAD;
	if (type == MAPLE_ARANGE) {
		for (o = 0; o < 9; o++) {
			__u64 p = w->node[1 + o];

			if (p >= w->pc || (o && !p))
				break;
		}
		if (o < 0 || o > 9)
			return NODE_ODD;
		w->entry = w->node[1 + 9 + o];
	} else {
		for (o = 0; o < 15; o++) {
			__u64 p = w->node[1 + o];

			if (p >= w->pc || (o && !p))
				break;
		}
		if (o < 0 || o > 15)
			return NODE_ODD;
		w->entry = w->node[1 + 15 + o];
	}
	return NODE_INNER;
}

/*
 * One level down from w->entry. A global function, so that the verifier goes
 * through the pivots once and not once per level and attempt.
 */
__noinline int vma_node(struct walk *w)
{
	enum node_result r;
	__u64 addr;
	__u32 type;

	if (!w)
		return NODE_ODD;
	addr = w->entry & ~(__u64)(MAPLE_NODE_BYTES - 1);
	type = (w->entry >> 3) & 15;
	if (w->entry <= MAPLE_RESERVED || type < MAPLE_RANGE_LEAF || type > MAPLE_ARANGE)
		return NODE_ODD;
	r = knob_rdonly_cast ? node_cast(w, addr, type) : node_copy(w, addr, type);
	return r == NODE_INNER && type == MAPLE_RANGE_LEAF ? NODE_LEAF : r;
}

/* From the root to the VMA (w->vma; 0 = a gap). */
static __always_inline enum node_result walk_tree(struct walk *w, struct mm_struct *mm)
{
	*(void *volatile *)&w->entry = mm->mm_mt.ma_root;
	/* XArray's tag of a node; else the tree is empty or one entry. Below it is another tag. */
	if ((*(volatile __u64 *)&w->entry & 3) != 2)
		return NODE_ODD;
	for (int level = 0; level < MAPLE_LEVELS; level++) {
		int r = vma_node(w);

		if (r == NODE_LEAF)
			w->vma = w->entry;
		if (r != NODE_INNER)
			return r;
	}
	return NODE_ODD;
}

/* What the VMA says, and the file behind it. 0, or -1 when it is not what we looked for. */
static __always_inline int read_vma(struct walk *w, struct mm_struct *mm)
{
	__u64 file;

	w->start = KREAD(struct vm_area_struct, w->vma, vm_start);
	w->end = KREAD(struct vm_area_struct, w->vma, vm_end);
	if (w->pc < w->start || w->pc >= w->end)
		return -1;
	if (KREAD(struct vm_area_struct, w->vma, vm_mm) != mm)
		return -1;
	w->flags = KREAD(struct vm_area_struct, w->vma, vm_flags);
	w->pgoff = KREAD(struct vm_area_struct, w->vma, vm_pgoff);
	w->is_vdso = w->start == (__u64)mm->context.vdso;
	file = (__u64)KREAD(struct vm_area_struct, w->vma, vm_file);
	w->has_file = !!file;
	if (file)
		read_file_key(&w->key, file);
	/* Unmapped, split, or reused while we read? */
	if (KREAD(struct vm_area_struct, w->vma, vm_start) != w->start ||
		KREAD(struct vm_area_struct, w->vma, vm_end) != w->end ||
		KREAD(struct vm_area_struct, w->vma, vm_mm) != mm ||
		(__u64)KREAD(struct vm_area_struct, w->vma, vm_file) != file)
		return -1;
	return 0;
}

/*
 * A global function must return a scalar (the verifier refuses an untrusted
 * pointer), so the answer goes through memory.
 */
__noinline int vma_find(struct walk *w)
{
	struct mm_struct *mm;

	if (!w)
		return REASON_WALK_FAILED;
	mm = bpf_get_current_task_btf()->mm;
	if (!mm)
		return REASON_NO_MAPPING;
	w->vma = 0;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (walk_tree(w, mm) != NODE_LEAF)
			continue;
		if (!w->vma)
			return REASON_NO_MAPPING;
		if (!read_vma(w, mm))
			return 0;
	}
	return REASON_WALK_FAILED;
}
