/* SPDX-License-Identifier: BSD-2-Clause */
/* Name patterns of --thread, --process and friends. */
#ifndef PROFBPF_BASE_GLOB_H
#define PROFBPF_BASE_GLOB_H

#include <stddef.h>

/**
 * 1 if @s (any bytes, length given) matches: '*' any run, '?' one byte, '\' quotes
 * the next. There are no bracket sets, so that "GC [worker] #1" matches itself.
 * An exact byte-for-byte match always counts. Linear in time for each '*' (no
 * exponential backtracking).
 */
int glob_match(const char *pattern, const char *s, size_t len);

#endif
