/* SPDX-License-Identifier: BSD-2-Clause */
/* Strict UTF-8 and the code points that must never reach an output raw. */
#ifndef PROFBPF_BASE_UTF8_H
#define PROFBPF_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/**
 * Decode the character at @s (@len >= 1). Returns its bytes, or 0 if it is not
 * valid: overlong, surrogate, above U+10FFFF, cut off, a stray continuation.
 */
size_t utf8_decode(const char *s, size_t len, uint32_t *cp);

/** Encode into @dst (4 bytes); returns the bytes, 0 if @cp is no character. */
size_t utf8_encode(char *dst, uint32_t cp);

/**
 * True for what a reader cannot see or is deceived by: controls (C0, DEL, C1),
 * line separators, bidi controls, the BOM, noncharacters (XML refuses two of
 * them), annotation and tag characters.
 */
int utf8_is_unsafe(uint32_t cp);

#endif
