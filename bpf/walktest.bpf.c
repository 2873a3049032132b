// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * The VMA walk on addresses of the calling process, for the self-test at start
 * (user/record/walktest.c): run once by BPF_PROG_TEST_RUN, attached to nothing.
 * A raw tracepoint program, because its test run is, like a sample, inside an
 * RCU read section and in the context of the caller.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "bpf/maps.bpf.h"
#include "bpf/vma.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_WALKTEST);
	__type(key, __u32);
	__type(value, struct wire_walk);
} walktest SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk);
} walktest_scratch SEC(".maps");

SEC("raw_tp")
int walk_test(void *ctx)
{
	__u32 zero = 0;
	struct walk *w = bpf_map_lookup_elem(&walktest_scratch, &zero);

	(void)ctx;
	if (!w)
		return 0;
	for (__u32 i = 0; i < MAX_WALKTEST; i++) {
		__u32 key = i;
		struct wire_walk *t = bpf_map_lookup_elem(&walktest, &key);

		if (!t || !t->addr)
			break;
		w->pc = t->addr;
		w->has_file = w->is_vdso = 0;
		t->reason = vma_find(w);
		t->start = w->start;
		t->end = w->end;
		t->pgoff = w->pgoff;
		t->key = w->key;
		t->has_file = w->has_file;
		t->is_vdso = w->is_vdso;
		t->exec = !!(w->flags & VM_EXEC);
	}
	return 0;
}
