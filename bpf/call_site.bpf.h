/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Is an address one that something returns to? Code without frame pointers uses
 * RBP for whatever it likes, and a walk along it makes callers of stale or foreign
 * words: in static programs RBP is a table of function pointers, and every sample
 * in libc had register_tm_clones for its caller. What is behind a call instruction
 * is, but for a few cases, a return address.
 *
 * That an address is behind a call does not prove that anything returns there: it
 * is a filter, which a stale return address passes.
 */
#ifndef PROFBPF_CALL_SITE_BPF_H
#define PROFBPF_CALL_SITE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "bpf/call_insn.h"

/* Read around the address: what call_insn.h looks at. */
#define CODE_BEFORE 8
#define CODE_AFTER  8

enum call_site {
	SITE_CALL,	 /* a call ends here */
	SITE_TRAMPOLINE, /* code that returns from a signal handler begins here */
	SITE_GO_START,	 /* where goroutines begin and end */
	SITE_OTHER,
	SITE_UNREAD, /* not in memory, which says nothing */
};

/* What is at user address @addr of the current process. */
static __always_inline enum call_site call_site(__u64 addr)
{
	__u8 code[CODE_BEFORE + CODE_AFTER];

	if (bpf_probe_read_user(code, sizeof(code), (void *)(addr - CODE_BEFORE))) {
		/* The next page need not be in memory; the code before @addr may be enough. */
		if (bpf_probe_read_user(code, CODE_BEFORE, (void *)(addr - CODE_BEFORE)))
			return SITE_UNREAD;
		return ends_call(code + CODE_BEFORE) ? SITE_CALL : SITE_UNREAD;
	}
	/* First: whatever is before a trampoline has nothing to do with it. */
	if (begins_trampoline(code + CODE_BEFORE))
		return SITE_TRAMPOLINE;
	if (ends_call(code + CODE_BEFORE))
		return SITE_CALL;
	return follows_go_start(code + CODE_BEFORE) ? SITE_GO_START : SITE_OTHER;
}

#endif
