/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting by 64-bit keys, and ranking of names: millions at a time. */
#ifndef PROFBPF_MODEL_KEYED_H
#define PROFBPF_MODEL_KEYED_H

#include <stddef.h>
#include <stdint.h>

struct keyed {
	uint64_t key;
	uint32_t id;
} __attribute__((packed, aligned(4))); /* millions: 12 bytes instead of 16 */

/**
 * Sort by key, ascending and stable. Linear: a radix sort over the bytes in
 * which the keys differ. @tmp has room for @nr elements and holds garbage
 * afterwards.
 */
void keyed_sort(struct keyed *a, struct keyed *tmp, size_t nr);

struct ranked_name {
	const char *name;
	uint32_t len; /* as in struct func */
	uint32_t id;
};

/**
 * Sort by bytes (a prefix comes first), ties broken by @tie (may be NULL; as
 * for qsort_r, with @ctx) and then by id. 0 or -ENOMEM.
 */
int names_sort(struct ranked_name *names, size_t nr,
	int (*tie)(uint32_t id_a, uint32_t id_b, const void *ctx), const void *ctx);

#endif
