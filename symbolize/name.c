/* SPDX-License-Identifier: BSD-2-Clause */
#include "name.h"

#include <string.h>

#include "symbolize.h"

int name_better(const char *a, const char *b)
{
	size_t ua = strspn(a, "_"), ub = strspn(b, "_");
	size_t la = strlen(a), lb = strlen(b);

	if (ua != ub)
		return ua < ub;
	if (la != lb)
		return la < lb;
	return memcmp(a, b, la) < 0;
}

void name_ellipsis(char *s, size_t len)
{
	size_t at;

	if (len < 3)
		return;
	at = len - 3;
	/* Not into the middle of a character: 10xxxxxx continues one. */
	for (int i = 0; i < 3 && at && ((unsigned char)s[at] & 0xc0) == 0x80; i++)
		at--;
	memcpy(s + at, "...", 4);
}

int name_shown(const char *raw, char *buf, size_t size)
{
	const char *at = strchr(raw, '@');
	size_t len = at && at != raw ? (size_t)(at - raw) : strlen(raw);
	char plain[SYMBOL_NAME_MAX + 1];

	if (len >= sizeof(plain))
		return 0;
	memcpy(plain, raw, len);
	plain[len] = '\0';
	if (demangle(plain, buf, size))
		return 1;
	if (!raw[len] || len >= size)
		return 0;
	memcpy(buf, plain, len + 1);
	return 1;
}
