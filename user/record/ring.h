/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The per-CPU rings, reader's side: created for a CPU when it is first sampled,
 * put into the array of rings where the programs find them, and read in turn.
 *
 * Each ring is in time order, several rings together are not. Not thread-safe.
 */
#ifndef PROFBPF_RECORD_RING_H
#define PROFBPF_RECORD_RING_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "user/base/err.h"

struct rings;

typedef int (*ring_fn)(void *ctx, const struct wire_header *h);

/** @outer_fd: the map of rings (borrowed). @bytes per ring: a power of two of pages. */
int rings_new(struct rings **r, int outer_fd, uint32_t nr_cpus, uint32_t bytes, struct err *e);
void rings_free(struct rings *r);
/** Make the ring of @cpu; nothing happens if it is there. */
int rings_add(struct rings *r, uint32_t cpu, struct err *e);
/** Memory they hold, as the kernel counts it. */
uint64_t rings_bytes(const struct rings *r);
/**
 * Wait up to @timeout_ms for a ring to become half full, or a signal; then hand
 * out all records. Returns their number, a negative errno, or what @fn returned
 * when that was not 0 (it stops the reading; the record counts as read).
 */
int rings_consume(struct rings *r, int timeout_ms, ring_fn fn, void *ctx);

#endif
