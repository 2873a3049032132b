/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escaping of hostile text, one function per destination. Rule: cut first,
 * then escape (a cut inside an escape would be a new fault). Input is bytes
 * with a length and may hold anything.
 *
 * All forms first make the text valid UTF-8: an invalid byte becomes \xNN
 * (reversible, as a literal backslash becomes \\). Control bytes (0x00-0x1f,
 * 0x7f, C1 0x80-0x9f as UTF-8, U+2028/2029, bidi controls) become \xNN or
 * \u{NNNN}, so no output ever holds a raw one.
 */
#ifndef PROFBPF_BASE_ESCAPE_H
#define PROFBPF_BASE_ESCAPE_H

#include <stddef.h>

#include "buf.h"

/** One line of a terminal, log or message: as described above, nothing more. */
void escape_text(struct buf *b, const char *s, size_t len);
/** A frame of a folded line: escape_text, and ';' becomes \x3b. */
void escape_folded(struct buf *b, const char *s, size_t len);
/** The reverse of escape_folded/escape_text: \xNN, \u{..}, \\ back to bytes; others stay. */
void unescape_folded(struct buf *b, const char *s, size_t len);
/** XML text or attribute (both quotes): escape_text, and & < > " ' become references. */
void escape_xml(struct buf *b, const char *s, size_t len);
/** Inside a JSON string, without the quotes; also safe inside <script> (< > & as \u003c...). */
void escape_json(struct buf *b, const char *s, size_t len);
/** A CSV field, quoted when needed; a leading = + - @ ' gets a ' (spreadsheet formulas). */
void escape_csv(struct buf *b, const char *s, size_t len);

/* Longest input of escape_brief() that is not cut, and room for its result. */
#define ESCAPE_BRIEF_MAX 160
#define ESCAPE_BRIEF_BUF (ESCAPE_BRIEF_MAX * 4 + 4)
/**
 * escape_text for a sentence of struct err: @s (a path, an argument) into
 * @dst[ESCAPE_BRIEF_BUF], its middle cut out if it is long. Returns @dst.
 */
char *escape_brief(char *dst, size_t size, const char *s);

/** Terminal columns of valid UTF-8 text (wide characters count 2, combining 0). */
size_t text_width(const char *s, size_t len);
/** Longest prefix of whole characters that fits @width columns; returns its bytes. */
size_t text_fit(const char *s, size_t len, size_t width);
/**
 * Fit to @width columns by cutting the middle: keeps the start (namespace) and
 * the end (the part that differs), with ".." between. Input: escaped text.
 */
void text_middle(struct buf *b, const char *s, size_t len, size_t width);

#endif
