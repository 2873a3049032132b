/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the stated limits binds is not known before the text exists: names
 * may be 3 bytes or 10,000. So frames are laid out and written, and while the
 * file is too large, first the names get shorter, then the frames fewer. What is
 * left of the size goes to the list of merged frames.
 */
#include "flamegraph/flamegraph.h"

#include <errno.h>
#include <string.h>

#include "flamegraph/layout.h"
#include "flamegraph/pack.h"
#include "flamegraph/svg.h"

#define WIDTH	      1200u
#define MAX_FRAMES    4000u
#define MAX_BYTES     1000000u
#define BIG_TREE      1000000u /* nodes; most of such a tree is too narrow to list anyway */
#define MAX_LISTED    40000u
#define LISTED_OF_BIG 16000u
#define NAME_LONG     1000u /* bytes of a name, escaped, when there is room */
#define NAME_SHORT    80u   /* and at least, before frames are given up */
#define FRAMES_LEAST  64u
#define LIST_SHARE    8u /* a file has room for a list of 1/8 of its size at least */

struct picture {
	struct layout l;
	struct buf head, frames, small, tail;
};

static void release(struct picture *p)
{
	layout_release(&p->l);
	buf_release(&p->head);
	buf_release(&p->frames);
	buf_release(&p->small);
	buf_release(&p->tail);
}

static int lay_out(struct picture *p, const struct calltree *t, const struct flamegraph_options *o,
	uint32_t max_frames, uint32_t width, struct err *e)
{
	size_t nr;
	const struct calltree_node *nodes = calltree_nodes(t, &nr);
	struct layout_options lo = {
		.max_frames = max_frames,
		.max_rows = (SVG_HEIGHT_MAX - SVG_HEAD_MAX) / SVG_ROW,
		.max_listed = nr < BIG_TREE ? MAX_LISTED : LISTED_OF_BIG,
		.trim_towers = !(o->min_px > 0),
	};

	if (o->min_px > 0)
		lo.min_total = (uint64_t)(o->min_px / width * (double)nodes[0].total) + 1;
	layout_release(&p->l);
	return layout_build(&p->l, nodes, nr, calltree_depth(t), &lo, e);
}

int flamegraph_svg(const struct calltree *t, const struct flamegraph_options *o, struct out *out,
	struct flamegraph_stats *st, struct err *e)
{
	struct picture p = {.l = LAYOUT_INIT};
	struct svg s = {.t = t,
		.l = &p.l,
		.o = o,
		.width = o->width ? o->width : WIDTH,
		.name_max = NAME_LONG};
	/* --min asks for detail at any price. */
	uint32_t max_frames = o->max_frames ? o->max_frames : o->min_px > 0 ? 0 : MAX_FRAMES;
	size_t max_bytes = o->max_bytes ? o->max_bytes : o->min_px > 0 ? SIZE_MAX : MAX_BYTES, room;
	struct pack_stats packed = {0};
	uint64_t before = out_count(out);
	int err;

	s.nodes = calltree_nodes(t, &s.nr_nodes);
	if (max_frames == 1)
		max_frames = 2; /* the root and what is merged in it */
	err = lay_out(&p, t, o, max_frames, s.width, e);
	if (err)
		goto out;
	svg_head(&p.head, &s);
	svg_tail(&p.tail, &s, &p.small, &packed);
	for (;;) {
		size_t fixed, reserve;

		buf_clear(&p.frames);
		svg_frames(&p.frames, &s);
		buf_clear(&p.head);
		svg_head(&p.head, &s);
		err = p.frames.err ? p.frames.err : p.head.err ? p.head.err : p.tail.err;
		if (err) {
			err_sys(e, err, "flame graph: writing frames");
			goto out;
		}
		fixed = p.head.len + p.tail.len + 32;
		reserve = p.l.nr > p.l.nodes ? max_bytes / LIST_SHARE : 0;
		room = max_bytes > fixed + p.frames.len ? max_bytes - fixed - p.frames.len : 0;
		if (room >= reserve)
			break;
		if (s.name_max > NAME_SHORT) {
			s.name_max = s.name_max / 2 > NAME_SHORT ? s.name_max / 2 : NAME_SHORT;
			continue;
		}
		if (p.l.nr <= FRAMES_LEAST)
			break;
		max_frames = (uint32_t)(p.l.nr / 4 * 3);
		err = lay_out(&p, t, o, max_frames, s.width, e);
		if (err)
			goto out;
	}
	err = pack_build(&p.small, t, &p.l, room, &packed, e);
	if (err)
		goto out;
	buf_clear(&p.tail);
	svg_tail(&p.tail, &s, &p.small, &packed);
	if (p.tail.err) {
		err = err_sys(e, p.tail.err, "flame graph: writing frames");
		goto out;
	}
	out_write(out, p.head.data, p.head.len);
	out_write(out, p.frames.data, p.frames.len);
	out_write(out, p.tail.data, p.tail.len);
	err = out_err(out);
	if (err)
		err_sys(e, err, "flame graph");
	if (st) {
		*st = (struct flamegraph_stats){
			.drawn = (uint32_t)p.l.nr,
			.merged = (uint32_t)s.nr_nodes - p.l.nodes,
			.listed = packed.listed,
			.cut_names = s.cut + packed.cut,
			.unlisted = packed.unlisted,
			.bytes = out_count(out) - before,
		};
	}
out:
	release(&p);
	return err;
}
