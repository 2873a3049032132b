/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture file: writer and reader. The format is docs/capture-format.md.
 *
 * The writer is a sink. It collects records into blocks (zlib, checksummed,
 * length-prefixed) and appends whole blocks to FILE.part, which is therefore a
 * readable capture after every block. capture_writer_finish() renames it to
 * FILE (the old FILE becomes FILE.old). Created 0600 and given to the sudo
 * caller.
 *
 * The reader trusts nothing: every length, id and order is checked before use,
 * memory is bounded by what the file really holds, and each complaint names
 * file, block and offset.
 */
#ifndef PROFBPF_CAPTURE_CAPTURE_H
#define PROFBPF_CAPTURE_CAPTURE_H

#include "sink.h"

struct capture_writer;

/**
 * Start FILE.part and lock it. What an interrupted recording left under that
 * name is moved to FILE.part.old. 0, or negative errno with a sentence: -EBUSY
 * when another recorder is writing it, -EEXIST when it is not a capture, -EINVAL
 * when FILE is something that cannot be renamed over.
 */
int capture_writer_open(struct capture_writer **w, const char *path, struct err *e);
/** The sink that takes this capture's records. Valid until finish/abandon. */
struct sink *capture_writer_sink(struct capture_writer *w);
/** End the current block now and write it (the recorder calls this at most 1 s apart). */
int capture_writer_flush(struct capture_writer *w, struct err *e);
uint64_t capture_writer_bytes(const struct capture_writer *w); /* file size so far */
const char *capture_writer_part_path(const struct capture_writer *w);
/** Flush, fsync, rename to the final name; frees w. On error the .part stays and the sentence says
 * so. */
int capture_writer_finish(struct capture_writer *w, struct err *e);
/** Flush and leave FILE.part as it is; frees w. */
int capture_writer_leave_part(struct capture_writer *w, struct err *e);
/** Remove FILE.part (nothing worth keeping); frees w. */
void capture_writer_discard(struct capture_writer *w);

struct capture_info {
	int complete; /* an END record was there */
	uint64_t blocks;
	uint64_t file_bytes;
	uint64_t raw_bytes; /* after inflating */
	uint64_t records[RECORD_KIND_MAX];
	uint64_t bytes[RECORD_KIND_MAX]; /* raw bytes by kind */
	uint64_t tail_bytes; /* bytes after the last whole block of an incomplete file */
	/* What a newer profbpf wrote and this one stepped over: */
	uint64_t unknown_records; /* of kinds or types we do not know */
	uint64_t unknown_fields;  /* records with fields or enumerators we do not know */
};

/**
 * 1 if the first bytes are a capture's, 0 if not, negative errno if unreadable.
 * "-" looks at standard input without taking anything from it (a file or a
 * pipe; 0 for other things).
 */
int capture_probe(const char *path, struct err *e);
/**
 * Read the whole file ("-": standard input) into @sink. Accepts a .part: records up to the last
 * whole block, then info->complete = 0. -EPROTO for another major version,
 * -EBADMSG for damage, -ENODATA for an empty file. @info may be NULL.
 */
int capture_read(const char *path, struct sink *sink, struct capture_info *info, struct err *e);
/** The same from memory (tests, fuzzing); @name is used in sentences. */
int capture_read_mem(const char *name, const void *data, size_t len, struct sink *sink,
	struct capture_info *info, struct err *e);
/** Encode a stream into memory: a writer whose file is @b. */
struct buf;
int capture_writer_mem(struct capture_writer **w, struct buf *b);

/** Print each record as a line of text (profbpf info --dump). */
struct out;
struct sink *dump_sink_new(struct out *o); /* free with free() */
/** A sink that checks every invariant between records; first breach is -EBADMSG. */
struct sink *verify_sink_new(void);
void verify_sink_free(struct sink *s);
int verify_sink_finish(struct sink *s, struct err *e);

#endif
