/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Address -> mapping -> mapped file, from an interrupt, without a lock.
 */
#ifndef PROFBPF_VMA_BPF_H
#define PROFBPF_VMA_BPF_H

#include "vmlinux.h"

#include "bpf/wire.h"

/* Aligned to it, too: the low 8 bits of a node's pointer are a tag. */
#define MAPLE_NODE_BYTES 256

/* One lookup: pc in, the rest out. */
struct walk {
	__u64 pc;
	__u64 vma;   /* kernel address; 0 = nothing mapped at pc */
	__u64 entry; /* where the walk is: an encoded node, at last the VMA */
	__u64 start, end, pgoff, flags;
	struct wire_file_key key; /* when has_file */
	__u32 has_file;
	__u32 is_vdso;
	__u64 node[MAPLE_NODE_BYTES / 8]; /* the copying walk's node */
};

/*
 * Find what is mapped at w->pc in the current task. 0, or an enum frame_reason
 * (then only w->vma is set). Defined in vma.bpf.c; the verifier checks it once,
 * not at each call.
 */
int vma_find(struct walk *w);

#endif
