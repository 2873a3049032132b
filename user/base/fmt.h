/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and times, read and written as people do. */
#ifndef PROFBPF_BASE_FMT_H
#define PROFBPF_BASE_FMT_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

/** "10", "1.5", "500ms", "2s", "10m", "16.667ms", "20us", "5ns"; bare numbers are seconds.
 *  Negative, empty, trailing junk, NaN and overflow are -EINVAL with a sentence naming the text. */
int parse_duration(const char *s, uint64_t *ns, struct err *e);
/** "4096", "64K", "16M", "1G" (powers of 1024; an optional "B" or "iB"). */
int parse_size(const char *s, uint64_t *bytes, struct err *e);
/** Decimal unsigned with bounds, inclusive. */
int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v, struct err *e);
/** "0,2-5" into a sorted array of CPU numbers (malloced, caller frees). */
int parse_cpu_list(const char *s, uint32_t **cpus, size_t *nr, struct err *e);

/** All write a short text into @buf (at least 32 bytes) and return it. */
char *fmt_duration(char *buf, size_t size, uint64_t ns); /* "1.50 s", "812 ms", "3.2 us" */
char *fmt_bytes(char *buf, size_t size, uint64_t bytes); /* "1.2 MiB" */
char *fmt_count(char *buf, size_t size, uint64_t n);	 /* "1,234,567" */
char *fmt_pct(char *buf, size_t size, double pct);	 /* "12.3", "0.05", "<0.01" */

#endif
