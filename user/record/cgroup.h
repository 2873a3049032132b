/* SPDX-License-Identifier: BSD-2-Clause */
/* A version 2 cgroup named on the command line. */
#ifndef PROFBPF_RECORD_CGROUP_H
#define PROFBPF_RECORD_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

#include "user/base/buf.h"
#include "user/base/err.h"

struct cgroup {
	int fd;		 /* of its directory, O_PATH; owned */
	uint64_t id;	 /* the kernel's */
	struct buf path; /* where it is in the file system; owned */
};

/**
 * Find @path: a directory of a cgroup2 mount, or a path below one ("/system.slice"
 * or "system.slice", as in /proc/PID/cgroup). -ENOENT; -EOPNOTSUPP when it is a
 * version 1 cgroup, which the kernel cannot be asked for by id.
 */
int cgroup_find(struct cgroup *c, const char *path, struct err *e);
void cgroup_release(struct cgroup *c);
/**
 * Call @fn for each process in it and its descendants, as our pid namespace numbers it.
 * 0, or what @fn returned when that was not 0. Groups that cannot be read are left out.
 */
int cgroup_processes(const struct cgroup *c, int (*fn)(void *ctx, pid_t pid), void *ctx);
/** CPU time used by it and its descendants so far, ns. 0 or negative errno. */
int cgroup_cpu_ns(const struct cgroup *c, uint64_t *ns);
/** 1 when it was removed. */
int cgroup_gone(const struct cgroup *c);

#endif
