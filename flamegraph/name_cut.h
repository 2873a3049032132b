/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for the picture: cut first, then escaped. */
#ifndef PROFBPF_FLAMEGRAPH_NAME_CUT_H
#define PROFBPF_FLAMEGRAPH_NAME_CUT_H

#include <stddef.h>

#include "user/base/buf.h"

/**
 * Append @s, escaped with @escape (escape_xml, escape_text), in at most @max
 * bytes (>= 16) of output. What does not fit is cut out of the middle at
 * character bounds, ".." in its place, because names differ at both ends.
 * Returns 1 if it was cut.
 */
int name_add(struct buf *b, const char *s, size_t len, size_t max,
	void (*escape)(struct buf *, const char *, size_t));

#endif
