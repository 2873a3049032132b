/* SPDX-License-Identifier: BSD-2-Clause */
/* Bump allocation for things that die together. Not thread-safe. */
#ifndef PROFBPF_BASE_ARENA_H
#define PROFBPF_BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *head; /* newest first; owned */
	size_t total;		  /* bytes held, for limits and statistics */
};
#define ARENA_INIT                                                                                 \
	{                                                                                          \
		0                                                                                  \
	}

void arena_release(struct arena *a);
void *arena_alloc(struct arena *a, size_t size); /* 16-byte aligned, not zeroed; NULL on ENOMEM */
void *arena_zalloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s, size_t len); /* adds a NUL */

#endif
