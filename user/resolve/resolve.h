/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Naming: frames without names become NAME records.
 *
 *   builder --> sink_tee( writer, index )      while recording
 *                            |
 *   resolve_frames(builder, index, files) ---> NAME and MODULE records
 *
 * It runs at the end of a recording, or later on a capture (resolve_capture).
 * The builder knows the frames; the index remembers what else naming needs of
 * the stream: modules, processes, their paths, names that exist already. How
 * files are opened is the caller's business: a recorder holds descriptors from
 * first sight, `profbpf resolve` goes by path.
 *
 * One module, perf map or kernel table is in memory at a time. Every frame gets
 * a name or a reason; nothing here fails because a file is bad.
 */
#ifndef PROFBPF_RESOLVE_RESOLVE_H
#define PROFBPF_RESOLVE_RESOLVE_H

#include "user/capture/builder.h"

/* Bytes of names put in one run. Names are cut at 4 KB each, so a hostile
 * target could otherwise fill our memory through the builder's dictionary;
 * 100,000 different C++ functions are some 10 MB. */
#define RESOLVE_MAX_NAME_BYTES ((uint64_t)512 << 20)

/* ---- what naming must know of the stream ---- */

struct resolve_index;

/** 0 or -ENOMEM. */
int resolve_index_new(struct resolve_index **x);
void resolve_index_free(struct resolve_index *x);
/** The sink to feed, from the first record on: sink_tee(writer, this). Owned by @x. */
struct sink *resolve_index_sink(struct resolve_index *x);

/* A module as the stream has it. Text is raw bytes, NUL-terminated, borrowed from the index. */
struct resolve_module {
	const struct record_module *record;
	const char *path; /* in the target's view; "" when not known */
	const uint8_t *build_id;
	size_t build_id_len; /* 0 = not known */
};

/* ---- opening files ---- */

struct resolve_files {
	/**
	 * Open the ELF file of a module of kind FILE. The descriptor is given
	 * over. Or a negative errno, with the reason the frames get in *why
	 * (set to REASON_FILE_GONE before; leave it or change it).
	 */
	int (*open_module)(void *ctx, const struct resolve_module *m, enum frame_reason *why);
	/** Open the perf map of a process, or a negative errno (-ENOENT: it has none). */
	int (*open_perf_map)(void *ctx, const struct record_process *p);
	void *ctx;
	int other_boot; /* the capture is not of this boot: frames of kernel and vDSO get no names
			 */
};

/**
 * The files of this host, by path: a module's file is used only if its build ID
 * and size are the stored ones, or, where no build ID is stored, inode, size and
 * change time; a perf map only while the very process lives.
 */
extern const struct resolve_files resolve_host_files;
/** resolve_host_files.open_module: a fallback for whoever holds no descriptor. @ctx is not used. */
int resolve_open_module_on_host(void *ctx, const struct resolve_module *m, enum frame_reason *why);

/* ---- naming ---- */

struct resolve_stats {
	uint64_t frames;  /* that need a name: module, kernel and JIT frames */
	uint64_t kept;	  /* had one already */
	uint64_t named;	  /* got one */
	uint64_t unnamed; /* got a reason: by_reason adds up to this */
	uint64_t by_reason[REASON_MAX];
	uint64_t name_bytes;
	uint32_t modules_read, modules_failed; /* modules with frames to be named */
	uint32_t perf_maps_read, perf_maps_failed;
	int kallsyms_hidden;
	uint64_t ns; /* time it took */
};

/**
 * Name all frames of @b that have no name yet, and put MODULE records again
 * where something was learned (build ID, why there is no file). @x has seen
 * every record of the stream; it ignores those put from now on.
 *
 * 0, or the error of the sink, or -ENOMEM. @st (may be NULL) is filled in.
 */
int resolve_frames(struct builder *b, struct resolve_index *x, const struct resolve_files *files,
	struct resolve_stats *st, struct err *e);

/* ---- a capture file ---- */

struct resolve_result {
	char path[4096];  /* where the capture is now */
	int was_part;	  /* FILE.part became FILE */
	int was_complete; /* it had an END record */
	uint64_t samples;
	uint64_t lost_tail; /* bytes behind the last whole block that were dropped */
	struct resolve_stats stats;
};

/**
 * Name what is unnamed in a capture or .part at @path and complete it: FILE.part
 * becomes FILE (an old FILE becomes FILE.old), FILE is replaced. The new file is
 * written beside it and renamed, so that at each moment one whole capture
 * exists. Mode and owner stay.
 *
 * @files NULL: resolve_host_files. -EBUSY while it is being recorded, -ENODATA
 * for one without a block, or the error of reading or writing; the file is
 * untouched then.
 */
int resolve_capture(const char *path, const struct resolve_files *files, struct resolve_result *r,
	struct err *e);

#endif
