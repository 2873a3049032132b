/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a symbol: which of two is better, and making one fit to be kept. */
#ifndef PROFBPF_SYMBOLIZE_NAME_H
#define PROFBPF_SYMBOLIZE_NAME_H

#include <stddef.h>

/** 1 if @a is the better of two names of the same code: fewer leading underscores, shorter,
 * bytewise. */
int name_better(const char *a, const char *b);
/** End the cut text of @len bytes at @s in "...", on a whole UTF-8 character. */
void name_ellipsis(char *s, size_t len);
/**
 * What to show for symbol @raw: without an "@VERSION", demangled. 1 and the
 * text in @buf, or 0 when it is to be shown as it is.
 */
int name_shown(const char *raw, char *buf, size_t size);

#endif
