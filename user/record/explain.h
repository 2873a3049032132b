/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an errno of the kernel to the one true sentence: which capability, limit
 * or setting stands in the way, with its value. Each function records in @e (may
 * be NULL) and returns a negative errno.
 */
#ifndef PROFBPF_RECORD_EXPLAIN_H
#define PROFBPF_RECORD_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

/**
 * /proc or /sys is not mounted here, or /proc is of another pid namespace, so that its numbers
 * would name the wrong processes. 0 if both are as they should be.
 */
int explain_places(struct err *e);
/**
 * What is missing before anything is tried: /proc and /sys, capabilities, BTF, lockdown. 0 if
 * nothing is.
 */
int explain_missing(struct err *e);
/** Opening or loading the programs failed. @last: libbpf's last complaint, or "". */
int explain_load(int code, const char *last, struct err *e);
/** perf_event_open() for @cpu failed. */
int explain_perf_event(int code, uint32_t cpu, struct err *e);
/** Out of descriptors while doing @what. */
int explain_fds(int code, const char *what, struct err *e);

#endif
