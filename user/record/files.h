/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of the processes that are sampled: opened when first seen, held
 * open until their names were looked up, within a bound on descriptors.
 *
 * Keyed by the wire's module ids while recording; naming asks by the ids of the
 * stream. Part of procs.c.
 */
#ifndef PROFBPF_RECORD_FILES_H
#define PROFBPF_RECORD_FILES_H

#include <linux/types.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/wire.h"
#include "symbolize/symbolize.h"
#include "user/base/buf.h"

struct files;

/* What is known of a file once it was opened, or why it was not. */
struct file_info {
	struct buf path; /* as the target sees it; raw bytes; owned */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len; /* 0 = none */
	int deleted;
	uint32_t reason; /* enum frame_reason; 0 = opened */
};
void file_info_release(struct file_info *i);

/** 0 or -ENOMEM. Reads the limit on descriptors: call after raising it. */
int files_new(struct files **f);
void files_free(struct files *f);

/** Open what is mapped at [start, end) of @pid (0: nowhere). @info is filled either way. */
void files_open(struct files *f, uint32_t wire_id, const struct wire_file_key *key, pid_t pid,
	uint64_t start, uint64_t end, struct file_info *info);
/**
 * The same ahead of time: the answer is kept for files_open(), which needs no @pid then.
 * 1 when it is new and open; @info is borrowed.
 */
int files_open_early(struct files *f, uint32_t wire_id, const struct wire_file_key *key, pid_t pid,
	uint64_t start, uint64_t end, const struct file_info **info);
/** The key of a file that was opened early and not asked for since; NULL if it is none. */
const struct wire_file_key *files_early_key(const struct files *f, uint32_t wire_id);
/** The descriptor held for a module (borrowed), or -1. */
int files_fd(const struct files *f, uint32_t wire_id);
/** Tie a module to its id in the stream. */
void files_bind(struct files *f, uint32_t wire_id, uint32_t stream_id);
/** 1 if the module could not be opened because its process was gone. */
int files_missing(const struct files *f, uint32_t wire_id);
/** 1 if the module could not be opened and @pid is worth another try. */
int files_wants_retry(const struct files *f, uint32_t wire_id, pid_t pid);
/**
 * Try to open it in @pid, at [start, end) or, if @end is 0, wherever it is mapped. 1 with *key and
 * @info when it is open now.
 */
int files_reopen(struct files *f, uint32_t wire_id, pid_t pid, uint64_t start, uint64_t end,
	struct wire_file_key *key, struct file_info *info);
/** 1 if it is worth while to ask where else the module is mapped; counts as a try. */
int files_wants_place(struct files *f, uint32_t wire_id);
/** Open all that @pid maps now, for files_open() to find. Best effort. */
void files_scan(struct files *f, pid_t pid);

/** Process @process (of the stream) runs JIT code: learn where its perf map will be. */
void files_want_perf_map(struct files *f, uint32_t process, pid_t pid);

/** Hand over the descriptor of a module, by its id in the stream; -1 if none is held. */
int files_take_module(struct files *f, uint32_t stream_id);
/** Open the perf map of a process; the caller's descriptor, or -ENOENT and the like with a
 * sentence. */
int files_take_perf_map(struct files *f, uint32_t process, struct err *e);

uint32_t files_held(const struct files *f);
uint32_t files_not_held(const struct files *f); /* read, then closed for want of descriptors */

#endif
