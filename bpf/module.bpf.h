/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Module ids: a small number for each mapped file, given out at first sight. A
 * module is announced to user space once, which then opens the file.
 */
#ifndef PROFBPF_MODULE_BPF_H
#define PROFBPF_MODULE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "bpf/maps.bpf.h"

/*
 * Fill @rec for the file with @key, mapped at [start, end) of process @pid. 1 when
 * the id is new, else 0; rec->id is MODULE_NONE when the table is full.
 */
static __always_inline int module_claim(
	struct wire_module *rec, const struct wire_file_key *at, __u64 start, __u64 end, __u32 pid)
{
	struct wire_module_value *known, value = {};
	struct wire_file_key key = *at; /* 6.1 wants keys on the stack */
	__u32 zero = 0;
	__u64 *next;

	rec->id = MODULE_NONE;
	known = bpf_map_lookup_elem(&modules, &key);
	if (!known) {
		next = bpf_map_lookup_elem(&next_id, &zero);
		if (!next || *next >= MAX_MODULES)
			return 0;
		value.id = MODULE_FIRST_FILE + (__u32)__sync_fetch_and_add(next, 1);
		value.start = start;
		value.end = end;
		value.pid = pid;
		if (bpf_map_update_elem(&modules, &key, &value, BPF_NOEXIST)) {
			/* Another CPU was first, or (no room, bucket busy) there is none. */
			known = bpf_map_lookup_elem(&modules, &key);
			if (!known)
				return 0;
		}
	}
	rec->h.kind = WIRE_MODULE;
	rec->h.cpu = bpf_get_smp_processor_id();
	rec->h.len = sizeof(*rec);
	rec->key = key;
	rec->start = start;
	rec->end = end;
	rec->id = known ? known->id : value.id;
	rec->pid = pid;
	return !known;
}

#endif
