/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the reader's bytes come from: memory, a file, or a pipe, read from
 * front to back. Files are read and not mapped: one that is cut while we look
 * at it must be a short read and not a SIGBUS.
 *
 * Private to user/capture.
 */
#ifndef PROFBPF_CAPTURE_BYTE_SOURCE_H
#define PROFBPF_CAPTURE_BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

struct byte_source {
	int fd;		    /* -1: memory */
	const uint8_t *mem; /* borrowed */
	size_t mem_left;
	uint64_t offset; /* bytes taken so far */
};

/**
 * Take up to @want bytes: *data points to *got of them, fewer only at the end.
 * They live in @b, or in the memory itself, until the next call. Memory is
 * allocated as bytes arrive, not on the word of @want. 0 or negative errno.
 */
int byte_source_take(
	struct byte_source *s, size_t want, struct buf *b, const uint8_t **data, size_t *got);

#endif
