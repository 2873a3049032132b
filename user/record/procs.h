/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who was sampled, and which files they mapped: wire records in, records out.
 *
 *   wire sample --> process generation, thread (with its name at that moment),
 *                   frames with module ids of the stream --> builder
 *   wire module --> the file is opened at once and held
 *
 * Files are held from first sight, because at the end of a recording their
 * process may be gone, or the file deleted or replaced. So are the perf maps of
 * processes with JIT code. How many is bounded (PROCS_MAX_FILES, and half of
 * the descriptors we may have); what was not held is looked for again by naming.
 */
#ifndef PROFBPF_RECORD_PROCS_H
#define PROFBPF_RECORD_PROCS_H

#include "sampler.h"
#include "unwind_loader.h"
#include "user/capture/builder.h"

#define PROCS_MAX_FILES 4096 /* a busy build host maps 2,000-3,000 different files */

struct procs;

struct procs_counts {
	uint64_t samples;    /* put into the stream */
	uint64_t value_ns;   /* sum of their values */
	uint64_t table_full; /* dropped: a dictionary is at its limit */
	uint64_t malformed;  /* wire records that make no sense: our bug */
	uint32_t processes;  /* generations */
	uint32_t threads;    /* of a process, names counted once */
	uint32_t modules;
	uint32_t modules_not_open; /* gone before they could be opened */
	uint32_t files_held, files_not_held;
	uint64_t last_ns; /* time of the latest sample, since the start */
	uint64_t
		last_exit_ns; /* of the latest end of a target process, since the start; 0 = none */
};

/** @b and @s are borrowed. @nr_cpus bounds CPU numbers. 0 or -ENOMEM. */
int procs_new(struct procs **p, struct builder *b, struct sampler *s, uint32_t nr_cpus);
void procs_free(struct procs *p);
/** Give each file that is opened to @l, for its unwind table. Borrowed; NULL = do not. */
void procs_set_loader(struct procs *p, struct unwind_loader *l);
/** CLOCK_MONOTONIC of the start of the run; sample times are counted from it. */
void procs_set_start(struct procs *p, uint64_t start_mono_ns);

/**
 * Open what @pid maps already, so that its end right after the start loses no
 * names. Best effort.
 */
void procs_scan(struct procs *p, pid_t pid);

/**
 * A file that is mapped and was not sampled yet: open it, have its table made, tell the
 * stream nothing. Best effort.
 */
void procs_preload(struct procs *p, const struct wire_module *m);

/** Take one wire record; the shape of sampler_fn. 0 or negative errno with a sentence in @e. */
int procs_record(struct procs *p, const struct wire_header *h, struct err *e);

const struct procs_counts *procs_counts(struct procs *p);
/** The files held, for naming. Borrowed. */
struct files *procs_files(struct procs *p);
/** Samples taken from the ring of @cpu, and those of them dropped because a table was full. */
void procs_cpu_counts(
	const struct procs *p, uint32_t cpu, uint64_t *received, uint64_t *table_full);

#endif
