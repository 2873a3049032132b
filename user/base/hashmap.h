/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open-addressing hash map from a fixed-size key to a uint32_t, the one map we
 * need everywhere (ids are dense arrays; the map finds the id of a key). Keys
 * are compared by bytes: zero their padding. Not thread-safe. Keys are hashed
 * with a per-process random seed, so that input cannot choose collisions.
 */
#ifndef PROFBPF_BASE_HASHMAP_H
#define PROFBPF_BASE_HASHMAP_H

#include <stddef.h>
#include <stdint.h>

struct hashmap;

struct hashmap *hashmap_new(size_t key_size); /* NULL on ENOMEM */
void hashmap_free(struct hashmap *m);
void hashmap_clear(struct hashmap *m);
size_t hashmap_count(const struct hashmap *m);
size_t hashmap_bytes(const struct hashmap *m); /* memory held */
/** 1 and *val if there, else 0. @val may be NULL. */
int hashmap_get(const struct hashmap *m, const void *key, uint32_t *val);
/** Insert or replace. Returns 0 or -ENOMEM with the map unchanged. */
int hashmap_set(struct hashmap *m, const void *key, uint32_t val);
/**
 * Slot of @key, created with *val = @initial when absent (*created tells; may
 * be NULL). The pointer is valid until the next insertion. NULL on ENOMEM.
 */
uint32_t *hashmap_slot(struct hashmap *m, const void *key, uint32_t initial, int *created);
/** Remove @key; 1 if it was there. */
int hashmap_del(struct hashmap *m, const void *key);
/** Walk: start with *it = 0; returns 1 and the next entry, or 0 at the end. Order is unspecified.
 */
int hashmap_next(const struct hashmap *m, size_t *it, const void **key, uint32_t *val);
/** Asserts that all is where look-ups expect it; for tests. */
void hashmap_check(const struct hashmap *m);

/** 64-bit hash of bytes with the process's seed; for tables of our own. */
uint64_t hash_bytes(const void *data, size_t len);

#endif
