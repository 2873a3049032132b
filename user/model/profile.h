/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile: a capture in memory, ready for questions.
 *
 * It is a sink: feed it records (capture_read, folded_import, tests), then
 * profile_finish(). After that it is read-only and everything right of it
 * (selection, call tree, views, pictures) is a pure function of it.
 *
 *   records --> profile_sink() --> profile_finish() --> functions, samples in
 *                                                       time order, one trie
 *
 * Frames become functions here. A frame with names expands into its chain of
 * functions, innermost first (inlined ones marked); a frame without a name is
 * a function of its own kind, "[unknown: reason] module+0x1234". A function is
 * identified by name and module: the same name in two modules is two functions.
 *
 * The stack tries of all epochs are joined into one array, parents before
 * children, root first; node 0 is the root and belongs to no frame.
 *
 * Nothing here reads files or prints. Not thread-safe while records come in;
 * a finished profile may be read from several threads.
 */
#ifndef PROFBPF_MODEL_PROFILE_H
#define PROFBPF_MODEL_PROFILE_H

#include "user/base/err.h"
#include "user/capture/capture.h"
#include "user/capture/sink.h"

struct profile;

/* How a function is drawn and grouped. */
enum func_kind {
	FUNC_USER, /* code of a module */
	FUNC_KERNEL,
	FUNC_JIT,
	FUNC_IMPORTED, /* from folded text: nothing but a name */
	FUNC_UNKNOWN,  /* no name; see reason */
	FUNC_MARK,     /* not code: [truncated], [user stack unreadable], [no stack] */
	FUNC_TASK, /* not code: the thread or process level of a call tree; never in a profile */
};

/* Where functions live. Two files with equal base name and build ID are one
 * place, whatever their paths; without a build ID the path tells them apart. */
struct func_module {
	const char *name; /* base name of the path, "[kernel]", "[jit]", "" for imports and marks */
	const char *path; /* in the target's view; "" where there is no file */
	const uint8_t *build_id; /* NULL when not known */
	uint32_t build_id_len;
	uint32_t id; /* a module id of the profile, 0 = none */
};

struct func {
	/* Raw bytes, any value, NUL-terminated past the end; never empty. As it is
	 * shown everywhere: FUNC_UNKNOWN has "[unknown: no symbol] libx.so+0x12". */
	const char *name;
	const char *raw;		  /* symbol before demangling, or NULL */
	const struct func_module *module; /* never NULL */
	uint32_t name_len;
	uint8_t kind;	 /* enum func_kind */
	uint8_t reason;	 /* enum frame_reason for FUNC_UNKNOWN and FUNC_MARK */
	uint8_t inlined; /* set when every occurrence is inlined */
};

struct prof_module {
	const char *path, *name; /* name: last component */
	const uint8_t *build_id; /* NULL when not known */
	size_t build_id_len;
	struct record_module rec;
};
struct prof_process {
	const char *name, *exe, *cmdline; /* exe, cmdline: "" when not known */
	size_t name_len, cmdline_len;	  /* cmdline holds NULs between arguments */
	struct record_process rec;
};
struct prof_thread {
	const char *name; /* shown name: "[tid N]" when empty */
	size_t name_len;
	uint32_t process, tid;
};
struct prof_stack {
	uint32_t parent; /* index into the same array, 0 = root */
	uint32_t frame;	 /* frame id */
};
struct prof_sample {
	uint64_t time_ns; /* since the start of the recording */
	uint64_t value;
	uint32_t thread, stack; /* stack: index into prof_stack, never 0 (see [no stack]) */
	uint16_t cpu;
	uint8_t type, result;	       /* enum value_type, enum stack_result */
} __attribute__((packed, aligned(4))); /* millions: 28 bytes instead of 32 */

/** An empty profile that takes records. 0 or -ENOMEM. */
int profile_new(struct profile **p);
void profile_free(struct profile *p);
/**
 * The sink that fills it; valid as long as the profile. It checks ids and
 * references like a reader does: -EBADMSG with a sentence for a wrong one.
 */
struct sink *profile_sink(struct profile *p);
/** What the reader said about the file; call between reading and finishing. @info is copied. */
void profile_set_capture_info(struct profile *p, const struct capture_info *info);
/** Sort samples by time, build functions. Call once, after the last record. 0, -ENOMEM or -E2BIG.
 */
int profile_finish(struct profile *p, struct err *e);
/**
 * A finished profile from folded text, root first: "main;a;b 3\nmain;c 1".
 * Strict and small: for tests and fixtures. Files of users go through
 * user/import/folded.h, which forgives and counts. -EBADMSG names the line.
 */
int profile_from_folded(struct profile **p, const char *text, struct err *e);

/* Everything below: after profile_finish(). Pointers live as long as the profile.
 * Ids count from 1; asking for an id out of range is our bug (assert). */
const struct record_run *profile_run(const struct profile *p);
const struct record_end *profile_end(const struct profile *p); /* NULL when incomplete */
const struct capture_info *profile_capture_info(
	const struct profile *p); /* NULL unless loaded from a capture */
uint64_t profile_duration_ns(const struct profile
		*p); /* of the run; for a .part, up to its last record; 0 for imports */
int profile_is_import(const struct profile *p); /* from text: no times, no rate */

const struct prof_sample *profile_samples(const struct profile *p, size_t *nr); /* in time order */
const struct prof_stack *profile_stacks(
	const struct profile *p, size_t *nr); /* nr counts the root */
const struct prof_thread *profile_thread(const struct profile *p, uint32_t id);
uint32_t profile_nr_threads(const struct profile *p);
const struct prof_process *profile_process(const struct profile *p, uint32_t id);
uint32_t profile_nr_processes(const struct profile *p);
const struct prof_module *profile_module(const struct profile *p, uint32_t id);
uint32_t profile_nr_modules(const struct profile *p);
uint32_t profile_nr_frames(const struct profile *p); /* ids 1..nr */
/** Of an import, the kind is all there is: its frames are named. */
const struct frame *profile_frame(const struct profile *p, uint32_t id);

/** Functions of a frame, innermost first; *nr >= 1 for every frame id >= 1. */
const uint32_t *profile_frame_funcs(const struct profile *p, uint32_t frame, uint32_t *nr);
/** Functions count from 0. */
const struct func *profile_func(const struct profile *p, uint32_t func);
uint32_t profile_nr_funcs(const struct profile *p);
/** 1 when each frame is exactly one function and no function has two frames, in one epoch:
 *  then the stack trie is the call tree already. */
int profile_is_canonical(const struct profile *p);

/** META by key: text (NULL when absent) and number. 1 if the key is there, else 0. @num may be
 * NULL. */
int profile_meta(const struct profile *p, const char *key, const char **text, uint64_t *num);
/** Walk all META in key order: returns 1 and fills, 0 past the end. */
int profile_meta_at(
	const struct profile *p, size_t i, const char **key, const char **text, uint64_t *num);
/** Sum over CPUs of a counter. */
uint64_t profile_counter(const struct profile *p, enum counter_id id);
/** One CPU's counter: 1 and *v, or 0 when it was not recorded. */
int profile_counter_cpu(const struct profile *p, uint32_t cpu, enum counter_id id, uint64_t *v);
uint32_t profile_nr_cpus(const struct profile *p); /* highest CPU number seen + 1 */
const struct record_loss *profile_losses(const struct profile *p, size_t *nr);
/** Samples lost in the whole recording, whatever the cause. */
uint64_t profile_lost(const struct profile *p);

#endif
