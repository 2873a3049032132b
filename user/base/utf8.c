/* SPDX-License-Identifier: BSD-2-Clause */
#include "utf8.h"

size_t utf8_decode(const char *s, size_t len, uint32_t *cp)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t v, least;
	size_t n, i;

	if (!len)
		return 0;
	if (p[0] < 0x80) {
		*cp = p[0];
		return 1;
	} else if (p[0] < 0xc2) { /* continuation, or an overlong pair */
		return 0;
	} else if (p[0] < 0xe0) {
		n = 2;
		v = p[0] & 0x1fu;
		least = 0x80;
	} else if (p[0] < 0xf0) {
		n = 3;
		v = p[0] & 0x0fu;
		least = 0x800;
	} else if (p[0] < 0xf5) {
		n = 4;
		v = p[0] & 0x07u;
		least = 0x10000;
	} else {
		return 0;
	}
	if (n > len)
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3fu);
	}
	if (v < least || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*cp = v;
	return n;
}

size_t utf8_encode(char *dst, uint32_t cp)
{
	unsigned char *d = (unsigned char *)dst;

	if (cp < 0x80) {
		d[0] = (unsigned char)cp;
		return 1;
	}
	if (cp < 0x800) {
		d[0] = (unsigned char)(0xc0 | cp >> 6);
		d[1] = (unsigned char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		if (cp >= 0xd800 && cp <= 0xdfff)
			return 0;
		d[0] = (unsigned char)(0xe0 | cp >> 12);
		d[1] = (unsigned char)(0x80 | (cp >> 6 & 0x3f));
		d[2] = (unsigned char)(0x80 | (cp & 0x3f));
		return 3;
	}
	if (cp > 0x10ffff)
		return 0;
	d[0] = (unsigned char)(0xf0 | cp >> 18);
	d[1] = (unsigned char)(0x80 | (cp >> 12 & 0x3f));
	d[2] = (unsigned char)(0x80 | (cp >> 6 & 0x3f));
	d[3] = (unsigned char)(0x80 | (cp & 0x3f));
	return 4;
}

int utf8_is_unsafe(uint32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp <= 0x9f))
		return 1;
	if (cp < 0x61c)
		return 0;
	if (cp == 0x61c || cp == 0x200e || cp == 0x200f || cp == 0x2028 || cp == 0x2029 ||
		(cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069))
		return 1;
	if (cp == 0xfeff || (cp & 0xfffe) == 0xfffe || (cp >= 0xfdd0 && cp <= 0xfdef))
		return 1;
	return (cp >= 0xfff9 && cp <= 0xfffb) || (cp >= 0xe0000 && cp <= 0xe007f);
}
