/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One recording: target -> sampler -> sink, until it ends.
 *
 *   sampler (wire records) -> procs (who, which file) -> builder -> sink
 *
 * The recorder decides when sampling begins and ends, keeps blocks at most 1 s
 * apart, counts what is lost, and at the end has the frames named
 * (user/resolve) and the run described (META, COUNTER, END records).
 */
#ifndef PROFBPF_RECORD_RECORDER_H
#define PROFBPF_RECORD_RECORDER_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/base/err.h"
#include "user/base/opts.h"

struct record_options {
	struct opt_list pids;	  /* -p, each "PID[,PID..]" */
	struct opt_list tids;	  /* -t */
	const char *cgroup;	  /* --cgroup PATH */
	int all;		  /* -a */
	int children;		  /* --children */
	char **command;		  /* -- CMD ARGS, NULL-terminated, or NULL */
	const char *user;	  /* --user for the command */
	const char *cpus;	  /* --cpus LIST */
	uint64_t duration_ns;	  /* -d; 0 = until stopped */
	uint64_t delay_ns;	  /* --delay */
	uint64_t freq;		  /* -F */
	const char *output;	  /* -o */
	uint64_t max_size;	  /* --max-size bytes; 0 = none */
	uint64_t buffer;	  /* --buffer bytes per CPU; 0 = default */
	uint64_t unwind_memory;	  /* --unwind-memory bytes; 0 = no tables, frame pointers only */
	const char *events;	  /* -e; "cpu" only for now */
	int no_redraw;		  /* fixed period (tests) */
	const char *command_line; /* the profbpf command as typed, for the run record */
	int progress;		  /* draw the progress line */
};

struct record_result {
	uint64_t samples, lost, ticks;
	uint64_t duration_ns;	/* of sampling */
	uint64_t cpu_ns;	/* sum of sample values */
	uint64_t target_cpu_ns; /* the target's own CPU clock over the same time; 0 = not known */
	uint64_t own_cpu_ns;	/* ours while sampling, final naming apart */
	uint64_t naming_ns;
	uint64_t file_bytes;
	uint32_t threads, processes, modules;
	int end_reason;	    /* enum end_reason */
	int complete;	    /* 0: a .part was left */
	int command_ran;    /* the command was executed */
	int command_status; /* its wait status; if it could not be executed, that of exit(126 or
			       127) */
	int command_left;   /* the signal on which the command was left running, or 0 */
	char path[4096];    /* the capture written, or the .part */
};

/**
 * Record to the end, and to the end of the command if one is started. Installs
 * handlers for SIGINT, SIGTERM and SIGHUP for its time: the first ends the
 * sampling, a second one while names are looked up ends the process with
 * 128 + signal and leaves FILE.part, and one while only the command is waited for ends the waiting
 * (@r->command_left).
 *
 * Returns 0, or a negative errno with a sentence; -ENODATA when there was no
 * sample at all (the sentence says why, no capture is left and an older FILE is
 * untouched). @r is filled as far as it got, also on failure.
 */
int recorder_run(const struct record_options *o, struct record_result *r, struct err *e);

#endif
