/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sampler: BPF programs, events and rings of one recording.
 *
 * Phased; the order is the API:
 *
 *   new -> admit... -> start -> (consume, tick)* -> stop -> consume -> free
 *
 * It owns the skeleton, one cpu-clock event per sampled CPU and one ring per
 * possible CPU. It delivers raw wire records; what they mean is procs.h's and
 * recorder.h's business. Single-threaded.
 */
#ifndef PROFBPF_RECORD_SAMPLER_H
#define PROFBPF_RECORD_SAMPLER_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/wire.h"
#include "mapped_files.h"
#include "unwind_maps.h"
#include "user/base/err.h"

struct sampler;

enum admit_mode {
	ADMIT_ALL,
	ADMIT_PIDS,
	ADMIT_TIDS,
	ADMIT_CGROUP
};

struct sampler_options {
	uint64_t freq; /* Hz, > 0 */
	int no_redraw; /* keep the period fixed (tests only: shows the aliasing) */
	enum admit_mode mode;
	int children;	      /* ADMIT_PIDS: admit children forked from now on */
	uint64_t cgroup_id;   /* ADMIT_CGROUP: kernel id of the v2 cgroup; descendants included */
	const uint32_t *cpus; /* CPUs to sample, sorted; NULL = all */
	size_t nr_cpus;
	uint64_t ring_bytes; /* per CPU; rounded up to a power of two of pages; 0 = default. More
				than memory could hold is refused with -EINVAL */
};

/**
 * Open and load the programs (some 0.1 s). Fails with a sentence that names what
 * is missing: capability, lockdown, BTF, locked-memory limit, file descriptors,
 * kernel feature, frequency over the kernel's limit. Nothing is sampled yet.
 *
 * May raise the soft RLIMIT_NOFILE by some hundreds: a command started later
 * inherits that. Takes over libbpf's print callback (process-wide).
 */
int sampler_new(struct sampler **s, const struct sampler_options *o, struct err *e);
void sampler_free(struct sampler *s);

/**
 * Admit a pid or tid (by mode), user-space sense, as our own pid namespace numbers
 * it. @until_exec: it is a child of ours that is to be sampled from its exec on.
 * -E2BIG when the set is full.
 */
int sampler_admit(struct sampler *s, pid_t id, int until_exec, struct err *e);

/** Attach the events; ticks from here on. */
int sampler_start(struct sampler *s, struct err *e);
/** Stop the events; what is in the rings can still be consumed. */
void sampler_stop(struct sampler *s);

/** A record, valid until the callback returns. Non-zero stops consuming and is returned. */
typedef int (*sampler_fn)(void *ctx, const struct wire_header *h);

/**
 * Wait up to @timeout_ms for a ring to become half full, or a signal; then hand out
 * all that is there. Number of records, negative errno, or what @fn returned.
 */
int sampler_consume(struct sampler *s, int timeout_ms, sampler_fn fn, void *ctx, struct err *e);

/**
 * Periodic work, to be called some 4-10 times a second: re-draws periods,
 * follows CPUs that went offline or came online. Cheap.
 */
int sampler_tick(struct sampler *s, struct err *e);

/**
 * Counters of one CPU, 0-based; @throttled (may be NULL): the periods the kernel
 * suppressed, apart from ticks. -ENOENT if that CPU was never sampled. Values are
 * at most 1 ms old, so that a pass over all CPUs costs one read.
 */
int sampler_counters(struct sampler *s, uint32_t cpu, struct wire_counters *c, uint64_t *throttled);
uint32_t sampler_nr_cpus(const struct sampler *s); /* highest CPU number ever sampled + 1 */

/** File key and mapping of a module id whose WIRE_MODULE was lost. -ENOENT if unknown. */
int sampler_find_module(
	struct sampler *s, uint32_t id, struct wire_file_key *key, struct wire_module_value *v);

/**
 * Before the start: list the files that a process (by its first thread) or, with 0, all
 * of them have mapped as code; see mapped_files.h. Ids are those of the samples to come,
 * and these files get no WIRE_MODULE any more. -EOPNOTSUPP where the kernel cannot.
 */
int sampler_mapped_files(struct sampler *s, pid_t tid, mapped_file_fn fn, void *ctx);

/** The maps that unwind tables are put into. */
void sampler_unwind_maps(const struct sampler *s, struct unwind_map_fds *fds);

struct sampler_info {
	int rdonly_cast;      /* 1: VMA walk by bpf_rdonly_cast, 0: by copying nodes */
	int walk_selftest;    /* 1: walk agreed with /proc/self/maps at start */
	uint64_t map_bytes;   /* memory held by maps and rings */
	uint64_t bpf_run_ns;  /* in the sampling program on admitted ticks; not the interrupt around
				 it */
	uint64_t bpf_run_cnt; /* such ticks */
	uint64_t redraws;
	uint32_t cpus_online;	  /* with an event now */
	uint32_t cpus_hotplugged; /* times an event was opened again because its CPU had gone */
	uint32_t verified_insns;  /* largest program, from the verifier */
};
void sampler_info(struct sampler *s, struct sampler_info *i);

#endif
