/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries of struct resolve_index (resolve.h). Private to user/resolve. */
#ifndef PROFBPF_RESOLVE_INDEX_H
#define PROFBPF_RESOLVE_INDEX_H

#include "resolve.h"

/** Stop remembering: what naming puts is no news. */
void index_freeze(struct resolve_index *x);
/** 1 and @m, or 0 when no such module was put. */
int index_module(const struct resolve_index *x, uint32_t id, struct resolve_module *m);
/** NULL when no such process was put. */
const struct record_process *index_process(const struct resolve_index *x, uint32_t id);
/** Text of string @id, "" for 0 or one not kept (longer than a path); *len may be NULL. */
const char *index_string(const struct resolve_index *x, uint32_t id, size_t *len);
/** Text of the fact @key, NULL if it was not put. */
const char *index_meta(const struct resolve_index *x, const char *key);

#define INDEX_NAMED 0xff
/** INDEX_NAMED, the reason a frame has, or REASON_NONE when no NAME record was put. */
unsigned index_frame(const struct resolve_index *x, uint32_t frame);

#endif
