/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interned byte strings: equal bytes get equal ids. Ids are dense, start at 0,
 * and id 0 is always the empty string. Strings may hold any byte, NUL too, and
 * carry their length; pointers stay valid until the table is freed.
 */
#ifndef PROFBPF_BASE_STRTAB_H
#define PROFBPF_BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct strtab;

struct strtab *strtab_new(void); /* NULL on ENOMEM */
void strtab_free(struct strtab *t);
/** Id of these bytes, added if new (*is_new, may be NULL). Returns the id or a negative errno. */
int64_t strtab_add(struct strtab *t, const char *s, size_t len, int *is_new);
/** Id of these bytes, or -ENOENT. */
int64_t strtab_find(const struct strtab *t, const char *s, size_t len);
/** The bytes, NUL-terminated past the end; *len may be NULL. @id must be < strtab_count(). */
const char *strtab_get(const struct strtab *t, uint32_t id, size_t *len);
uint32_t strtab_count(const struct strtab *t);
size_t strtab_bytes(const struct strtab *t); /* memory held */
/** Asserts that every string is found under its id and no other; for tests. */
void strtab_check(const struct strtab *t);

#endif
