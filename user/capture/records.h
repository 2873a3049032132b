/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records: what flows through the sink (sink.h), live or from a file.
 *
 * Ids are dense per kind and start at 1; 0 means "none". A record refers only
 * to ids that came before it. Strings are records too, so a name costs its
 * bytes once. Text is raw bytes from the target (hostile): whoever shows it
 * escapes it.
 *
 * Stacks are a trie, root first: a stack is (parent stack, frame), and its id
 * names the whole chain from the root to that frame. A sample's stack id is
 * its leaf. STACK ids restart at 1 after a RESTART record, so that a recorder's
 * memory stays bounded; all other ids live for the whole capture. NAME records
 * may come at any time after their frame, usually at the end (user/resolve).
 *
 * The kinds and their fields are declared once, in the table of records.c, from
 * which writer, reader, dump and verify are made. Stored numbers: only append.
 */
#ifndef PROFBPF_CAPTURE_RECORDS_H
#define PROFBPF_CAPTURE_RECORDS_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"

enum record_kind {
	RECORD_RUN = 1, /* first record: when, and on what clock */
	RECORD_STRING = 2,
	RECORD_META = 3, /* one fact about the run: key, text and number */
	RECORD_MODULE = 4,
	RECORD_PROCESS = 5,
	RECORD_THREAD = 6,
	RECORD_FRAME = 7,
	RECORD_STACK = 8,
	RECORD_SAMPLE = 9,
	RECORD_NAME = 10,
	RECORD_COUNTER = 11, /* totals, per CPU; a later one replaces */
	RECORD_LOSS = 12,    /* what was lost, where in time */
	RECORD_RESTART = 13, /* stack ids begin anew */
	RECORD_END = 14,     /* last record of a complete capture */
	RECORD_KIND_MAX
	/* spans, source text and coroutines get the next numbers in their issues */
};

/* What a sample's value means. */
enum value_type {
	VALUE_CPU = 1,	 /* value: ns of CPU time since the CPU's previous tick; value2: 0 */
	VALUE_COUNT = 2, /* value: count from imported text, unit unknown; value2: 0 */
	VALUE_TYPE_MAX
};

/* Why something is missing, in RECORD_LOSS and RECORD_COUNTER. */
enum loss_cause {
	LOSS_RING_FULL = 1,    /* ring buffer full: --buffer */
	LOSS_SCRATCH_BUSY = 2, /* a program interrupted itself on this CPU */
	LOSS_USER_BACKLOG = 3, /* dropped in user space (writer could not keep up, --max-size) */
	LOSS_TABLE_FULL = 4,   /* process/thread/frame tables at their stated limit */
	LOSS_CAUSE_MAX
};

/* Per-CPU totals. For each CPU: sampled + lost + throttled... = ticks (see docs). */
enum counter_id {
	COUNTER_TICKS = 1,	  /* timer ticks that ran our program */
	COUNTER_SAMPLED = 2,	  /* records handed to the ring */
	COUNTER_IDLE = 3,	  /* not admitted: the idle task */
	COUNTER_NOT_ADMITTED = 4, /* not admitted: another task than asked for */
	COUNTER_LOST_RING = 5,
	COUNTER_LOST_SCRATCH = 6,
	COUNTER_THROTTLED =
		7, /* periods the kernel suppressed (from PERF_RECORD_THROTTLE or time gaps) */
	COUNTER_VALUE_CAPPED_NS = 8, /* ns cut off values longer than a few periods */
	COUNTER_RECEIVED = 9,	     /* samples user space took from the ring */
	COUNTER_BEFORE_EXEC = 10,    /* not admitted: a started command before its exec */
	COUNTER_ID_MAX
};

enum module_kind {
	MODULE_KIND_FILE = 1,
	MODULE_KIND_VDSO = 2,
	MODULE_KIND_KERNEL =
		3, /* for imported or symbolic use; kernel frames have no module record */
};
#define MODULE_F_DELETED 0x1 /* the path did not lead to this file any more */
#define MODULE_F_NO_FILE 0x2 /* could not be opened; reason in `reason` */

struct record_run {
	uint64_t start_mono_ns; /* sample times count from here */
	uint64_t start_real_ns; /* wall clock at that moment */
	uint64_t period_ns;	/* mean period asked for; 0 for imports */
	uint32_t cpus;		/* CPUs sampled */
	uint32_t value_types;	/* bit (1 << enum value_type) for each kind of sample asked for */
};
struct record_string {
	uint32_t id;
	uint32_t len;
	const char *data; /* borrowed until the call returns; not NUL-terminated */
};
struct record_meta {   /* a later one with the same key replaces; keys are listed in
			  docs/capture-format.md */
	uint32_t key;  /* string id, "host.kernel" */
	uint32_t text; /* string id or 0 */
	uint64_t num;
};
struct record_module { /* a later one with the same id replaces */
	uint32_t id;
	uint32_t kind; /* enum module_kind */
	uint32_t dev;  /* kernel's encoding of s_dev (major << 20 | minor) */
	uint32_t gen;  /* inode generation */
	uint64_t ino;
	uint64_t size;	   /* bytes, at first sight */
	uint64_t ctime_ns; /* change time at first sight, ns since the epoch */
	uint32_t path;	   /* string id: path in the target's view, without " (deleted)" */
	uint32_t build_id; /* string id: raw bytes, or 0 */
	uint32_t flags;	   /* MODULE_F_* */
	uint32_t reason;   /* enum frame_reason when MODULE_F_NO_FILE */
};
struct record_process { /* one process generation: fork, exec and pid reuse make a new one */
	uint32_t id;
	uint32_t pid;
	uint32_t exec_id;	/* the task's exec counter, tells execs apart */
	uint64_t start_boot_ns; /* start on CLOCK_BOOTTIME, tells pid reuse apart */
	uint32_t name;		/* string id: comm of the main thread at first sight */
	uint32_t exe;		/* string id: path of the executable, or 0 */
	uint32_t cmdline;	/* string id: arguments with NULs, or 0 */
};
struct record_thread { /* one thread under one name; a rename makes a new one */
	uint32_t id;
	uint32_t process;
	uint32_t tid;
	uint32_t name; /* string id: comm at sample time */
};
struct record_frame {
	uint32_t id;
	struct frame frame; /* owner: module id (MODULE), process id (JIT); addr: string id for
			       FRAME_NAMED */
};
struct record_stack {
	uint32_t id;
	uint32_t parent; /* stack id of the caller's chain, 0 at the root */
	uint32_t frame;
};
struct record_sample {
	uint64_t time_ns; /* since start_mono_ns */
	uint64_t value;	  /* by type */
	uint64_t value2;
	uint32_t thread;
	uint32_t stack;
	uint32_t cpu;
	uint8_t type;	/* enum value_type */
	uint8_t result; /* enum stack_result */
};
#define NAME_F_INLINED 0x1 /* this function was inlined into the next depth */
struct record_name {	   /* a later one with the same (frame, depth) replaces */
	uint32_t frame;
	uint32_t depth;	 /* 0 = innermost; inlined callers follow */
	uint32_t name;	 /* string id, demangled; 0 with a reason */
	uint32_t raw;	 /* string id of the symbol as in the file, or 0 when equal */
	uint32_t file;	 /* string id or 0 */
	uint32_t line;	 /* 0 = not known */
	uint32_t reason; /* enum frame_reason when name is 0 */
	uint32_t flags;	 /* NAME_F_* */
};
struct record_counter {
	uint32_t cpu;
	uint32_t id; /* enum counter_id */
	uint64_t value;
};
struct record_loss {
	uint32_t cpu;
	uint32_t cause; /* enum loss_cause */
	uint64_t count;
	uint64_t from_ns, to_ns; /* since start_mono_ns */
};
struct record_restart {
	uint32_t epoch; /* 1, 2, ... */
};
enum end_reason {
	END_DURATION = 1,
	END_SIGNAL = 2,
	END_TARGET_EXITED = 3,
	END_MAX_SIZE = 4,
	END_IMPORT = 5,
	END_RESOLVED_PART = 6, /* completed later from a .part */
	END_REASON_MAX
};
struct record_end {
	uint64_t duration_ns; /* of sampling, not of the samples */
	uint64_t samples;     /* samples in this capture: the reader checks it */
	uint32_t reason;      /* enum end_reason */
};

struct record {
	enum record_kind kind;
	union {
		struct record_run run;
		struct record_string string;
		struct record_meta meta;
		struct record_module module;
		struct record_process process;
		struct record_thread thread;
		struct record_frame frame;
		struct record_stack stack;
		struct record_sample sample;
		struct record_name name;
		struct record_counter counter;
		struct record_loss loss;
		struct record_restart restart;
		struct record_end end;
	};
};

/** "sample", "name", ...; NULL for numbers we do not know. */
const char *record_kind_name(unsigned kind);
/** Text for a person: "no symbol covers the offset". Never NULL. */
const char *frame_reason_text(unsigned reason);
/** Short form for "[unknown: ...]": "no symbol". Never NULL. */
const char *frame_reason_short(unsigned reason);
/** "complete", "frame-pointer chain ended", ... Never NULL. */
const char *stack_result_text(unsigned result);
const char *loss_cause_text(unsigned cause);
const char *counter_name(unsigned id);
const char *end_reason_text(unsigned reason);

#endif
