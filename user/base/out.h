/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffered output that keeps its first error, and output files that appear
 * whole or not at all.
 *
 * A file is written as a temporary beside its name (O_EXCL, mode 0600, given to
 * the sudo caller), fsynced where it matters, and renamed in out_close(). After
 * an error, or out_abort(), no file is left under the final name. Path "-" is
 * stdout. Writing to a closed pipe gives -EPIPE (SIGPIPE is ignored by main).
 */
#ifndef PROFBPF_BASE_OUT_H
#define PROFBPF_BASE_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct out;

/** Open @path for writing, or stdout for "-". 0 or negative errno with a sentence; *o NULL then. */
int out_open(struct out **o, const char *path, struct err *e);
/** Wrap an open descriptor (not closed by out_close). NULL on ENOMEM. */
struct out *out_fd(int fd);
/** Collect into memory; read it with out_mem_data(). NULL on ENOMEM. */
struct out *out_mem(void);
const char *out_mem_data(const struct out *o, size_t *len);

void out_write(struct out *o, const void *data, size_t len);
void out_str(struct out *o, const char *s);
void out_char(struct out *o, char c);
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_u64(struct out *o, uint64_t v); /* decimal; the fast path for big text outputs */
uint64_t out_count(const struct out *o); /* bytes accepted so far */
int out_err(const struct out *o);
/** The producer cannot go on (-ENOMEM, say): kept as if a write had failed, unless one did. */
void out_fail(struct out *o, int err);

/** Flush, rename into place, free. 0, or the first error with a sentence naming the file. */
int out_close(struct out *o, struct err *e);
/** Drop everything; no file is left. @o may be NULL. */
void out_abort(struct out *o);

/**
 * chown @fd to the user who called sudo (SUDO_UID, SUDO_GID), if we are root
 * and both are valid numbers. 0, also when there is nothing to do.
 */
int out_give_to_caller(int fd);

#endif
