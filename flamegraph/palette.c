/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The colours were chosen in OKLCH, where equal steps look equal: one hue a
 * kind (own code 38 degrees, library 250, kernel 300, JIT 150, greys for the
 * rest), six shades by small steps of lightness and hue. tests/unit/
 * test_palette.c computes the contrast of each with the text.
 */
#include "flamegraph/palette.h"

#include <math.h>
#include <string.h>

struct kind {
	char letter;
	const char *word;
	uint32_t fill[PALETTE_THEMES][PALETTE_SHADES];
};

static const struct kind kinds[PALETTE_NR] = {
	[PALETTE_OWN] = {'o', "own code",
		{{0xfaa499, 0xffc1a5, 0xffb29e, 0xf9b089, 0xffbca4, 0xffb5a6},
			{0x6b3631, 0x7d4f3e, 0x744336, 0x6d4026, 0x7a4b3c, 0x77453d}}},
	[PALETTE_LIBRARY] = {'l', "library",
		{{0xa2c3d9, 0xc2d6f0, 0xb2cce5, 0xb3c4e2, 0xbcd4ed, 0xb4d1e7},
			{0x394a56, 0x525d6b, 0x465461, 0x444d5d, 0x4e5b68, 0x485763}}},
	[PALETTE_KERNEL] = {'k', "kernel",
		{{0xbdb5ee, 0xddcafb, 0xcebff4, 0xd2b6ea, 0xd8c7fa, 0xcec4f8},
			{0x483d74, 0x655181, 0x57477b, 0x5b3e71, 0x604e80, 0x584b7f}}},
	[PALETTE_JIT] = {'j', "JIT code",
		{{0xa2cb95, 0xade4be, 0xa7d8aa, 0x91d5b3, 0xade0b6, 0xafdaaa},
			{0x36502c, 0x41664d, 0x3b5b3d, 0x285842, 0x406347, 0x415e3e}}},
	[PALETTE_UNKNOWN] = {'u', "no name",
		{{0xc9c7c1, 0xe0ded8, 0xd4d2cd, 0xcfcdc7, 0xdcdad5, 0xd8d6d0},
			{0x3f3d38, 0x53514d, 0x494742, 0x44423d, 0x504e49, 0x4c4a45}}},
	[PALETTE_GROUP] = {'g', "group",
		{{0xb9bec6, 0xd0d4dc, 0xc4c9d1, 0xbfc4cb, 0xccd1d9, 0xc8cdd4},
			{0x393d44, 0x4e5158, 0x43474e, 0x3e4249, 0x4a4e55, 0x464a51}}},
	[PALETTE_MERGED] = {'m', "small frames",
		{{0xe9e9ed, 0xe9e9ed, 0xe9e9ed, 0xe9e9ed, 0xe9e9ed, 0xe9e9ed},
			{0x2e2e34, 0x2e2e34, 0x2e2e34, 0x2e2e34, 0x2e2e34, 0x2e2e34}}},
};
static const uint32_t text[PALETTE_THEMES] = {0x1c1c22, 0xf3f3f6};
static const uint32_t lines[PALETTE_THEMES] = {0x9d8fd0, 0x7d6fae}; /* kernel hatching */
static const uint32_t dots[PALETTE_THEMES] = {0xb4b4be, 0x5c5c66};  /* merged frames */

/* FNV-1a: the same in every run, which the seeded hash of base/ must not be. */
static uint32_t stable_hash(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ^ h >> 15;
}

static int ends_with(const struct calltree_func *f, const char *suffix)
{
	size_t n = strlen(suffix);

	return f->name_len >= n && !memcmp(f->name + f->name_len - n, suffix, n);
}

/* "libc.so.6", "x.cpython-311.so", "libm-2.31.so", "[vdso]"; not "app" or "app.sock". */
static int is_shared_object(const char *module)
{
	for (const char *p = module; (p = strstr(p, ".so")); p += 3)
		if (!p[3] || p[3] == '.' || p[3] == ' ')
			return 1;
	return !strcmp(module, "[vdso]");
}

struct palette_class palette_of(const struct calltree_func *f)
{
	struct palette_class c = {PALETTE_OWN, 0, f->inlined};

	switch (f->kind) {
	case PALETTE_FUNC_KERNEL:
		c.kind = PALETTE_KERNEL;
		break;
	case PALETTE_FUNC_JIT:
		c.kind = PALETTE_JIT;
		break;
	case PALETTE_FUNC_UNKNOWN:
	case PALETTE_FUNC_MARK:
		c.kind = PALETTE_UNKNOWN;
		break;
	case PALETTE_FUNC_TASK:
		c.kind = PALETTE_GROUP;
		break;
	case PALETTE_FUNC_IMPORTED:
		/* What other tools write: annotations of stackcollapse-perf.pl, [module] and
		 * [unknown] where there was no name. */
		if (ends_with(f, "_[k]"))
			c.kind = PALETTE_KERNEL;
		else if (ends_with(f, "_[j]"))
			c.kind = PALETTE_JIT;
		else if (ends_with(f, "_[i]"))
			c.inlined = 1;
		else if (f->name_len > 2 && f->name[0] == '[' && ends_with(f, "]"))
			c.kind = PALETTE_UNKNOWN;
		break;
	default:
		if (f->module && is_shared_object(f->module))
			c.kind = PALETTE_LIBRARY;
	}
	c.shade = (uint8_t)(stable_hash(f->name, f->name_len) % PALETTE_SHADES);
	return c;
}

char palette_letter(enum palette_kind kind)
{
	return kinds[kind].letter;
}

const char *palette_word(enum palette_kind kind)
{
	return kinds[kind].word;
}

uint32_t palette_fill(enum palette_theme theme, enum palette_kind kind, unsigned shade)
{
	return kinds[kind].fill[theme][shade % PALETTE_SHADES];
}

uint32_t palette_text(enum palette_theme theme)
{
	return text[theme];
}

static double luminance(uint32_t rgb)
{
	static const double weight[3] = {0.2126, 0.7152, 0.0722};
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double c = (rgb >> (16 - 8 * i) & 0xff) / 255.0;

		sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

double palette_contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a), y = luminance(b);

	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* Kernel and merged frames are filled by a pattern whose parts take the colour. */
static void theme_css(struct buf *b, enum palette_theme t)
{
	for (unsigned k = 0; k < PALETTE_NR; k++) {
		for (unsigned s = 0; s < PALETTE_SHADES; s++) {
			if (k == PALETTE_MERGED && s)
				break;
			buf_addf(b, ".%c%u%s{fill:#%06x}", kinds[k].letter, s,
				k == PALETTE_KERNEL || k == PALETTE_MERGED ? "b" : ">rect",
				palette_fill(t, k, s));
		}
		buf_addc(b, '\n');
	}
	buf_addf(b, ".kl{fill:#%06x}.md{fill:#%06x}.f text,.lg text{fill:#%06x}\n", lines[t],
		dots[t], text[t]);
}

void palette_css(struct buf *b)
{
	theme_css(b, PALETTE_LIGHT);
	for (unsigned s = 0; s < PALETTE_SHADES; s++)
		buf_addf(b, ".k%u>rect{fill:url(#k%u)}", s, s);
	buf_adds(b, ".m0>rect{fill:url(#m0)}\n@media (prefers-color-scheme:dark){\n");
	theme_css(b, PALETTE_DARK);
	buf_adds(b, "}\n");
}

void palette_defs(struct buf *b)
{
	for (unsigned s = 0; s < PALETTE_SHADES; s++)
		buf_addf(b,
			"<pattern id=\"k%u\" width=\"7\" height=\"7\" "
			"patternUnits=\"userSpaceOnUse\" "
			"patternTransform=\"rotate(45)\"><rect class=\"k%ub\" width=\"7\" "
			"height=\"7\"/>"
			"<rect class=\"kl\" width=\"1\" height=\"7\"/></pattern>\n",
			s, s);
	buf_adds(b, "<pattern id=\"m0\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
		    "<rect class=\"m0b\" width=\"5\" height=\"5\"/>"
		    "<circle class=\"md\" cx=\"2\" cy=\"2\" r=\".9\"/></pattern>\n");
}
