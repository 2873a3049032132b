// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * What processes have mapped already, before the first sample is taken: user space
 * opens the files and makes their unwind tables meanwhile.
 *
 * An iterator: runs in our own process's context when user space reads from it, once
 * for each mapping, with the mapping locked. Every mapping is told and not only new
 * files: a record that finds no room is asked for again by the kernel, when its file
 * is not new any more. Ids are those of the samples (module.bpf.h).
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/filter.bpf.h"
#include "bpf/module.bpf.h"

/* The pointers are typed for the verifier, but not beyond the mapping's fields. */
#define KREAD(type, p, field)                                                                      \
	({                                                                                         \
		type *___p = (type *)(p);                                                          \
		typeof(___p->field) ___v = 0;                                                      \
		bpf_core_read(&___v, sizeof(___v), &___p->field);                                  \
		___v;                                                                              \
	})
#include "bpf/file_key.bpf.h"

SEC("iter/task_vma")
int mapped_files(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct wire_file_key key = {};
	struct wire_module rec = {};
	__u64 file;
	__u32 pid;

	if (!task || !vma || !(vma->vm_flags & VM_EXEC))
		return 0;
	file = (__u64)vma->vm_file;
	pid = user_pid(task);
	if (!file || !pid)
		return 0;
	read_file_key(&key, file);
	module_claim(&rec, &key, vma->vm_start, vma->vm_end, pid);
	if (rec.id != MODULE_NONE)
		bpf_seq_write(ctx->meta->seq, &rec, sizeof(rec));
	return 0;
}
