/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call tree in, a picture out: one SVG file that needs nothing else.
 *
 *   calltree -> layout (which rectangles, which are merged) -> palette -> svg
 *                    '-> pack (what merged ones hold) ------------------'
 *
 * Pure: the same tree and options give the same bytes (with the same zlib, which
 * compresses the list of merged frames). Frames too small to draw are merged
 * into one frame per parent that says how many they are; the widths always add
 * up, and search still finds what is inside. All names are hostile: they reach
 * the file as escaped text only, never as markup, script or attribute code.
 */
#ifndef PROFBPF_FLAMEGRAPH_H
#define PROFBPF_FLAMEGRAPH_H

#include "user/base/err.h"
#include "user/base/out.h"
#include "user/model/calltree.h"

struct flamegraph_options {
	const char *title;     /* NULL = "CPU flame graph" and the like */
	int inverted;	       /* the tree was built inverted: draw downwards */
	uint32_t width;	       /* logical width in px for the first layout; 0 = 1200 */
	uint32_t max_frames;   /* rectangles drawn at most; 0 = 4000 */
	uint32_t max_bytes;    /* of the file, about; 0 = 1,000,000: names are cut and frames merged
				* to meet it */
	double min_px;	       /* narrower frames (at that width) are merged; 0 = chosen to meet the
				* two limits above. If given, a limit left at 0 means none */
	const char *warning;   /* shown in the picture, lines separated by '\n' ("5.1 per mille of
				* samples lost"), or NULL */
	const char *selection; /* the filters in words ("--thread 'io'"), or NULL */
};

struct flamegraph_stats {
	uint32_t drawn;	    /* rectangles */
	uint32_t merged;    /* nodes inside merged frames */
	uint32_t listed;    /* of those, in the list that the picture's search reads */
	uint32_t cut_names; /* names too long for the file, their middle cut out */
	uint64_t unlisted;  /* value of merged nodes not in that list, in the tree's unit */
	uint64_t bytes;
};

/** 0, or -ENODATA for an empty tree, or the first write error (see out_err). @st may be NULL. */
int flamegraph_svg(const struct calltree *t, const struct flamegraph_options *o, struct out *out,
	struct flamegraph_stats *st, struct err *e);

#endif
