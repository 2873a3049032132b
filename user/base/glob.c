/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On a mismatch only the last '*' is tried again, one byte further: an earlier
 * one has already found its leftmost place, moving it cannot help.
 */
#include "glob.h"

#include <string.h>

int glob_match(const char *pattern, const char *s, size_t len)
{
	const char *p = pattern, *end = s + len, *star = NULL, *retry = NULL;

	if (strlen(pattern) == len && !memcmp(pattern, s, len))
		return 1;
	for (;;) {
		if (*p == '*') {
			star = ++p;
			retry = s;
			continue;
		}
		if (s == end) {
			/* A shorter rest cannot match either. */
			return !*p;
		}
		if (*p) {
			const char *lit = *p == '\\' && p[1] ? p + 1 : p;

			if ((*p == '?') || *lit == *s) {
				p = lit + 1;
				s++;
				continue;
			}
		}
		if (!star)
			return 0;
		p = star;
		s = ++retry;
	}
}
