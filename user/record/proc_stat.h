/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc says of one process or thread, as far as a recording needs it.
 * Names in there are chosen by the target: ')' , blanks and newlines included.
 */
#ifndef PROFBPF_RECORD_PROC_STAT_H
#define PROFBPF_RECORD_PROC_STAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/limits.h"

struct proc_stat {
	char state;	      /* 'R', 'S', 'Z', ... */
	uint32_t flags;	      /* PF_* of the kernel */
	uint64_t start_ticks; /* since boot, in clock ticks */
	uint64_t user_ticks, system_ticks;
	uint64_t child_ticks; /* of children that ended and were waited for */
	uint32_t threads;
	char comm[COMM_LEN]; /* raw bytes, NUL-terminated */
};

#define PROC_FLAG_KTHREAD 0x00200000u

/** Parse the text of a stat file. 0 or -EBADMSG. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *st);
/** Of process @pid (@tid 0), or of thread @tid of it. 0, -ESRCH when it is gone, or another errno.
 */
int proc_stat_read(pid_t pid, pid_t tid, struct proc_stat *st);
/** Process that owns task @id (a pid or a tid). -ESRCH when there is none. */
int proc_owner(pid_t id, pid_t *pid);
/** ns a clock tick lasts. */
uint64_t proc_tick_ns(void);
/** Words for a state: "sleeping", "zombie". Never NULL. */
const char *proc_state_text(char state);

/** Read at most @size - 1 bytes of @path; the text is NUL-terminated. Bytes read or negative errno.
 */
ssize_t proc_read(const char *path, char *buf, size_t size);

#endif
