/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a stream of records has said so far, as far as later records depend on
 * it: how many ids of each kind exist, whether RUN and END were there. A few
 * counters; the records themselves are not kept.
 *
 * The writer asks before it encodes, the reader after it decoded, verify for
 * streams from elsewhere: one set of rules for all three, driven by the table.
 *
 * Private to user/capture.
 */
#ifndef PROFBPF_CAPTURE_STREAM_H
#define PROFBPF_CAPTURE_STREAM_H

#include "records.h"
#include "user/base/err.h"

/* Longest STRING. Longer text is cut by whoever makes the record. */
#define RECORD_STRING_MAX (1u << 24)

struct stream {
	uint32_t nr[RECORD_KIND_MAX]; /* ids given out by kind; STACK: since the last restart */
	uint32_t epoch;		      /* of the last RESTART */
	uint64_t records;
	uint64_t samples;
	int ended;
};

/**
 * Replace enumerators newer than this version by "none"; for readers of files
 * that may come from a newer minor version. Returns how many were replaced, or
 * -1 when the record means nothing without one and should be dropped.
 */
int stream_degrade(struct record *r);

/**
 * Check @r against everything before it and take it into account.
 * -EBADMSG with a sentence that starts with the kind; the state is unchanged then.
 */
int stream_take(struct stream *s, const struct record *r, struct err *e);

/** Count a sample that was dropped by stream_degrade(). */
void stream_drop(struct stream *s, const struct record *r);

#endif
