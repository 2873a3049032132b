/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The builder: makes a record stream out of things that repeat.
 *
 * Producers (recorder, importers, naming, tests) hold raw text, frames and
 * whole stacks; the sink wants each once, under a dense id. The builder keeps
 * those dictionaries and puts the defining record the first time. It owns the
 * ids: a stream has one builder.
 *
 * Memory is bounded: strings and frames by their stated maxima (then
 * -E2BIG, which the recorder counts as LOSS_TABLE_FULL), the stack trie by
 * restarting it (RECORD_RESTART) when it holds max_stacks nodes; a restart
 * happens only between samples.
 *
 * All functions returning an id return a positive number, or a negative errno
 * with a sentence in @e. Not thread-safe.
 */
#ifndef PROFBPF_CAPTURE_BUILDER_H
#define PROFBPF_CAPTURE_BUILDER_H

#include "sink.h"

struct builder;

struct builder_limits {
	uint32_t max_stacks;  /* trie nodes before a restart; 0 = default (1 << 20) */
	uint32_t max_frames;  /* 0 = default (1 << 22) */
	uint32_t max_strings; /* 0 = default (1 << 22) */
};

/** @sink is borrowed and must outlive the builder. NULL limits = defaults. 0 or -ENOMEM. */
int builder_new(struct builder **b, struct sink *sink, const struct builder_limits *limits);
void builder_free(struct builder *b);

int64_t builder_string(struct builder *b, const char *s, size_t len, struct err *e);
/** All fields of @f count, padding does not exist; owner must be an id of this stream. */
int64_t builder_frame(struct builder *b, const struct frame *f, struct err *e);
/**
 * A frame that is nothing but a name, with its STRING and NAME, for a caller
 * that knows it to be new: no dictionary is asked, and none holds it. So
 * builder_string() and builder_frame() do not find it, nor builder_frame_at().
 */
int64_t builder_new_name(struct builder *b, const char *s, size_t len, struct err *e);
/** Stack node below @parent (0 = root) for frame id @frame. Never restarts: -E2BIG when the trie is
 * full. */
int64_t builder_stack(struct builder *b, uint32_t parent, uint32_t frame, struct err *e);
/** Whole stack, LEAF FIRST frame ids as a walk delivers them; 0 for no frames. May restart the trie
 * first. */
int64_t builder_stack_path(struct builder *b, const uint32_t *frames, size_t nr, struct err *e);
/* One whole stack for builder_stack_paths(). */
struct builder_path {
	const uint32_t *frames; /* frame ids, ROOT FIRST; borrowed for the call */
	size_t nr;
	uint32_t stack; /* out: stack id, 0 for no frames */
};
/**
 * Many whole stacks at once, which is several times faster than one by one: the
 * look-ups of all of them are in flight together. May restart the trie first,
 * so the samples of an earlier batch must have been put. -E2BIG if the batch
 * alone could overfill the trie (frames of all paths > max_stacks).
 */
int builder_stack_paths(struct builder *b, struct builder_path *paths, size_t nr, struct err *e);

/** Process generation by (pid, start_boot_ns, exec_id); name/exe/cmdline only used when new. */
int64_t builder_process(
	struct builder *b, const struct record_process *p, int *is_new, struct err *e);
/** Thread by (process, tid, name). */
int64_t builder_thread(struct builder *b, uint32_t process, uint32_t tid, const char *name,
	size_t len, struct err *e);
/** Next module id; puts the record with that id filled in. */
int64_t builder_module(struct builder *b, const struct record_module *m, struct err *e);

/** One fact about the run. @text may be NULL. 0 or negative errno. */
int builder_meta(struct builder *b, const char *key, const char *text, uint64_t num, struct err *e);
/** Any record that needs no dictionary (run, sample, name, counter, loss, end), or a module known
 * already. */
int builder_put(struct builder *b, const struct record *r, struct err *e);

/**
 * Continue a stream that already has records (naming appends to an existing
 * capture): feed every old record through this before adding new ones. The
 * record is passed on to the sink unchanged.
 */
int builder_replay(struct builder *b, const struct record *r, struct err *e);

uint32_t builder_frame_count(const struct builder *b);
const struct frame *builder_frame_at(const struct builder *b, uint32_t id); /* 1..count */
uint32_t builder_restarts(const struct builder *b);
size_t builder_bytes(const struct builder *b); /* memory held */

#endif
