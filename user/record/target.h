/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be sampled, as the command line names it: checked, opened, and
 * watched for its end. The sampler only sees ids.
 *
 * The target's own CPU clock is read at both ends of the sampling, which tells
 * "slept" from "not seen".
 */
#ifndef PROFBPF_RECORD_TARGET_H
#define PROFBPF_RECORD_TARGET_H

#include "cgroup.h"
#include "recorder.h"
#include "sampler.h"
#include "user/base/buf.h"

struct target_task {
	pid_t id;  /* pid, or tid by mode */
	pid_t pid; /* the process */
	int pidfd; /* of a process; -1 when there was no descriptor left */
	int gone;
	int kernel_thread;
	uint64_t start_ticks;	       /* tells a reused id apart */
	uint64_t cpu_begin_ns, cpu_ns; /* its CPU clock at the begin of sampling, and now */
	char comm[COMM_LEN];
};

struct target {
	enum admit_mode mode;
	struct target_task *tasks; /* owned; ADMIT_PIDS and ADMIT_TIDS */
	size_t nr;
	struct cgroup cgroup; /* ADMIT_CGROUP */
	uint32_t *cpus;	      /* owned, sorted; NULL = all */
	size_t nr_cpus;
	int children;
	int is_command;	     /* the one task is a command we started */
	const char *command; /* its name as typed; borrowed from the options, or NULL */
	int cpu_known;
	uint64_t cpu_begin_ns, cpu_ns; /* of the whole target */
};

/**
 * Check the target options of @o and open what they name. Exactly one kind of
 * target must be given (a command counts; target_add_command() adds it later).
 * -EINVAL wrong usage, -ESRCH no such process, -EOPNOTSUPP no usable /proc or /sys, each with a
 * sentence.
 */
int target_init(struct target *t, const struct record_options *o, struct err *e);
/** The command we started. Its descriptor @pidfd is duplicated; -1 is allowed. 0 or -ENOMEM. */
int target_add_command(struct target *t, pid_t pid, int pidfd, struct err *e);
void target_release(struct target *t);

/** Admit every task; a command from its exec on. */
int target_admit(const struct target *t, struct sampler *s, struct err *e);
/** 1 when nothing of it is left. Cheap; call some times a second. */
int target_ended(struct target *t);

/** Read the CPU clocks: at the begin of sampling and at its end. In between, watch those that
 *  go away with their task. */
void target_cpu_begin(struct target *t);
void target_cpu_watch(struct target *t);
void target_cpu_read(struct target *t);
/** CPU time used between these, ns; 0 when not known (children are admitted too, clock unreadable).
 */
uint64_t target_cpu_ns(const struct target *t);

/** "process 12 (worker)", "2 processes", "cgroup /a", escaped. */
void target_describe(const struct target *t, struct buf *b);

#endif
