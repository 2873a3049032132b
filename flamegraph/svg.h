/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of the picture. Three parts, in the file's order, so that the second
 * can be made again with shorter names until the file has the size asked for.
 *
 * The contract with assets/flamegraph.js, which is all the data it has:
 *
 *   svg         data-unit (ns, count), data-rows, data-down (1: the root is at the top),
 *               data-samples (0: not samples, no error), data-top (px, where the controls begin)
 *   #frames > g.f, in document order (parents first), each with
 *     data-v    total, in the unit
 *     title     line 1 the name, line 2 values and shares, line 3 module and kind
 *     rect      y gives the row; x and width in percent of the picture
 *     svg>text  the label, only where there is room for one
 *     class     f, <kind letter><shade>, i inlined, t thin, m merged, c cut
 *   #small      the packed list of merged frames (pack.h), data-unlisted, data-cut
 *   #bar        the controls, shown when the script runs, in place of .no
 *   #view, #below  around #frames; a clip that keeps frames off the controls when scrolled
 */
#ifndef PROFBPF_FLAMEGRAPH_SVG_H
#define PROFBPF_FLAMEGRAPH_SVG_H

#include <stddef.h>
#include <stdint.h>

#include "flamegraph/flamegraph.h"
#include "flamegraph/layout.h"
#include "flamegraph/pack.h"
#include "user/base/buf.h"
#include "user/model/calltree.h"

#define SVG_ROW	       18u    /* px from row to row */
#define SVG_HEIGHT_MAX 32767u /* px; what browsers open */
#define SVG_HEAD_MAX   400u   /* px that head, controls and foot take at most, on a phone too */

struct svg {
	const struct calltree *t;
	const struct calltree_node *nodes; /* of t */
	size_t nr_nodes;
	const struct layout *l;
	const struct flamegraph_options *o;
	uint32_t width;	 /* logical px */
	size_t name_max; /* bytes of a name in the file, escaped */
	uint32_t cut;	 /* out: names longer than that, in svg_frames() */
};

/* Errors are kept in b->err. */
void svg_head(struct buf *b, const struct svg *s);
void svg_frames(struct buf *b, struct svg *s);
/** @small is the base64 text of the packed list. */
void svg_tail(
	struct buf *b, const struct svg *s, const struct buf *small, const struct pack_stats *st);

#endif
