/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening files that belong to a target, while we may be root.
 *
 * A mapped file is opened by what is mapped (/proc/PID/map_files, then exe),
 * never by its path alone, so deleted, replaced and chrooted files are the
 * right ones. Where a path must be used (a perf map, or the path as a last
 * resort), it is resolved inside the target's root with openat2(RESOLVE_IN_ROOT
 * | RESOLVE_NO_MAGICLINKS), regular files only, never blocking on a FIFO, and
 * the owner checked where the content is chosen by the target.
 *
 * Nothing is opened for reading before it is known to be a regular file:
 * opening a device can do things. Descriptors returned are O_CLOEXEC and the
 * caller's. Sentences hold paths escaped.
 */
#ifndef PROFBPF_SYMBOLIZE_TARGET_FILE_H
#define PROFBPF_SYMBOLIZE_TARGET_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "user/base/buf.h"
#include "user/base/err.h"

/* What identifies a file; 0 in size and ctime_ns = do not compare these. */
struct file_key {
	uint32_t dev; /* kernel's s_dev encoding: major << 20 | minor */
	uint32_t gen; /* inode generation, not visible from user space */
	uint64_t ino;
	uint64_t size;
	uint64_t ctime_ns;
};

/**
 * Open the file behind the mapping [start, end) of @pid, read-only, and check
 * that inode, size and change time match @want (dev is not compared: overlayfs
 * and btrfs show another one to user space). A later change time is accepted
 * when the content was not written since: renaming or unlinking a file sets it
 * too. @want may be NULL. @path gets the path as the target sees it, without
 * the " (deleted)" the kernel adds; *deleted says if it did.
 *
 * Where map_files may not be followed (it needs CAP_SYS_ADMIN or
 * CAP_CHECKPOINT_RESTORE), exe and then the path in the target's root are tried
 * against @want; without @want that is an error.
 *
 * Returns an fd (O_CLOEXEC), -ESRCH/-ENOENT when the process or mapping is gone,
 * -ESTALE when the file is another one, -EPERM/-EACCES, each with a sentence.
 */
int target_open_mapping(pid_t pid, uint64_t start, uint64_t end, const struct file_key *want,
	struct buf *path, int *deleted, struct err *e);
/** Open /proc/PID/exe under the same checks (want may be NULL). */
int target_open_exe(
	pid_t pid, const struct file_key *want, struct buf *path, int *deleted, struct err *e);
/** Open @path inside the root of @pid (0 = our own), regular files only. -ESTALE as above. */
int target_open_path(pid_t pid, const char *path, const struct file_key *want, struct err *e);
/**
 * Open the perf map of @pid: /tmp/perf-N.map in its mount namespace, N its pid
 * in its own pid namespace, owned by the process's user or root. -ENOENT if none.
 */
int target_open_perf_map(pid_t pid, struct err *e);

/*
 * The same in two steps, for a process that may be gone by then: where to look
 * is learned while it lives (one descriptor is held), the map is opened later.
 */
struct perf_map_place {
	int dir_fd;	  /* O_PATH of the process's /tmp; -1 = none */
	pid_t pid;	  /* as the process sees itself */
	uint32_t uids[4]; /* real, effective, saved, filesystem */
};
/** 0, or -ESRCH/-EACCES/-ENOENT with a sentence and dir_fd -1. */
int perf_map_place_find(struct perf_map_place *p, pid_t pid, struct err *e);
int perf_map_place_open(const struct perf_map_place *p, struct err *e);
void perf_map_place_release(struct perf_map_place *p);

/**
 * 1 when @fd is the file @want describes, as above, else 0. @strict: the change
 * time must be the same (nothing else proves that it is that file).
 */
int file_key_matches(int fd, const struct file_key *want, int strict);

#endif
