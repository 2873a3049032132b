/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a profile, shared by the files that make it: profile.c takes
 * records, profile_finish.c and profile_funcs.c make something of them,
 * profile_query.c answers.
 */
#ifndef PROFBPF_MODEL_PROFILE_PRIV_H
#define PROFBPF_MODEL_PROFILE_PRIV_H

#include "profile.h"
#include "user/base/arena.h"
#include "vec.h"

struct prof_string {
	const char *s; /* NUL-terminated past len; in the arena */
	uint32_t len;
};

struct prof_name { /* what we keep of a RECORD_NAME */
	uint32_t frame, depth, name, raw;
	uint8_t reason, flags;
};

struct prof_meta {
	const char *key, *text; /* text NULL when there is none */
	uint64_t num;
};

struct prof_counter {
	uint32_t cpu, id;
	uint64_t value;
};

struct profile {
	struct sink sink;
	struct arena arena; /* strings, and what profile_finish() makes of them */
	int finished;

	/* As the records bring it; index = id, element 0 stands for "none". */
	struct record_run run;
	struct record_end end;
	int has_run, has_end, has_info;
	struct capture_info info;
	VEC(struct prof_string) strings;
	VEC(struct record_module) mod_recs;
	VEC(struct record_process) proc_recs;
	VEC(struct record_thread) thread_recs;
	VEC(struct frame) frames;
	VEC(struct prof_stack) stacks;
	VEC(struct prof_sample) samples;
	VEC(struct prof_name) names;
	VEC(struct record_meta) meta_recs;
	VEC(struct prof_counter) counters;
	VEC(struct record_loss) losses;
	uint32_t epoch_base; /* index of this epoch's stack id 0: its ids are base + id */
	uint32_t restarts;
	uint32_t max_cpu;
	uint64_t last_ns; /* latest time in any record */
	uint64_t named_frames;

	/* As profile_finish() leaves it. */
	struct prof_module *modules;
	struct prof_process *processes;
	struct prof_thread *threads;
	struct prof_meta *metas;
	size_t nr_metas;
	VEC(struct func) funcs;
	VEC(uint32_t) frame_funcs; /* functions of all frames, one after the other */
	uint32_t *frame_first; /* where a frame's begin; nr of frames + 1 entries; NULL: one each,
				  at id - 1 */
	int canonical;
};

/** Make funcs, frame_funcs and frame_first of frames and names. 0 or negative errno with a
 * sentence. */
int profile_make_funcs(struct profile *p, struct err *e);
/** The last component of a path, the whole when it ends in '/'. */
const char *profile_base_name(const char *path);

#endif
