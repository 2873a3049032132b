/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a frame is, and its colour.
 *
 * The hue says the kind of code; the shade is a hash of the name, so a function
 * has the same colour in every picture, and neighbours differ. Width already
 * says cost: colour does not. Cyan, amber and magenta are not used here: they
 * mean CPU, allocation and search everywhere in profbpf.
 *
 * In the file a frame carries the class "<kind letter><shade>", "o3"; the
 * colours are in one style sheet, light and dark, text readable on each
 * (contrast at least 4.5:1).
 */
#ifndef PROFBPF_FLAMEGRAPH_PALETTE_H
#define PROFBPF_FLAMEGRAPH_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/model/calltree.h"

#define PALETTE_SHADES 6

enum palette_kind {
	PALETTE_OWN,	 /* the program's own code, and imported names that do not say */
	PALETTE_LIBRARY, /* a shared object */
	PALETTE_KERNEL,
	PALETTE_JIT,
	PALETTE_UNKNOWN, /* no name */
	PALETTE_GROUP,	 /* not code: the root, threads, processes, notes */
	PALETTE_MERGED,	 /* several small frames drawn as one */
	PALETTE_NR
};

/* calltree_func.kind is the model's enum func_kind, which a picture does not include (layers): the
 * same list; user/cmd/flame.c asserts that they agree. */
enum palette_func {
	PALETTE_FUNC_USER,
	PALETTE_FUNC_KERNEL,
	PALETTE_FUNC_JIT,
	PALETTE_FUNC_IMPORTED,
	PALETTE_FUNC_UNKNOWN,
	PALETTE_FUNC_MARK,
	PALETTE_FUNC_TASK,
};

enum palette_theme {
	PALETTE_LIGHT,
	PALETTE_DARK,
	PALETTE_THEMES
};

struct palette_class {
	enum palette_kind kind;
	uint8_t shade;	 /* < PALETTE_SHADES */
	uint8_t inlined; /* drawn with a dashed border */
};

/** The class of a function: from its kind, its module's name, and for imports the suffixes _[k]
 * _[i] _[j]. */
struct palette_class palette_of(const struct calltree_func *f);
char palette_letter(enum palette_kind kind);
/** "library": what the legend and the details call it. */
const char *palette_word(enum palette_kind kind);

/** 0xRRGGBB of a frame and of the text on it. */
uint32_t palette_fill(enum palette_theme theme, enum palette_kind kind, unsigned shade);
uint32_t palette_text(enum palette_theme theme);
/** Ratio of two colours' contrast, 1 to 21, as WCAG 2 defines it. */
double palette_contrast(uint32_t a, uint32_t b);

/** Append the style rules of all classes, both themes. */
void palette_css(struct buf *b);
/** Append the patterns the rules refer to (kernel hatching), elements for <defs>. */
void palette_defs(struct buf *b);

#endif
