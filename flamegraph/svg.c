/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN. Everything is in percent of the width, so the picture fills any
 * window without a script; a label sits in a nested <svg>, which clips it. The
 * root also says a width in px, which the style sheet overrides: viewers that
 * know no style sheets, and <img>, take that one. The controls are shown by the
 * script only. A frame's text is written once, in its <title>: tooltip, what
 * screen readers say, and the script's data.
 *
 * Names reach the file through name_add() with escape_xml and nowhere else.
 */
#include "flamegraph/svg.h"

#include <string.h>

#include "flamegraph/assets/flamegraph.css.h"
#include "flamegraph/assets/flamegraph.js.h"
#include "flamegraph/name_cut.h"
#include "flamegraph/palette.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"

#define MARGIN_PPM   7000u  /* left and right, in millionths of the width; also in the script */
#define BAR_HEIGHT   22u    /* the line that the controls replace */
#define FONT_PX	     7.3    /* a character of a label, at most */
#define LABEL_MIN_PX 28.0   /* three characters */
#define WIDEST_PX    2560.0 /* labels are long enough for a window this wide */
#define THIN_PX	     3.0    /* too narrow for a border */
#define SMALL_PX     1.0    /* what "small frame" means in a label */
#define WRAP	     48u    /* characters of a bold line on a phone */
#define WRAP_LINES   6u
#define FEW_SAMPLES  30u

static void add_xml(struct buf *b, const char *s, size_t max)
{
	name_add(b, s, strlen(s), max, escape_xml);
}

static void add_value(struct buf *b, const struct svg *s, uint64_t v)
{
	char text[64];

	if (!strcmp(calltree_facts(s->t)->unit, "ns"))
		buf_adds(b, fmt_duration(text, sizeof(text), v));
	else
		buf_adds(b, fmt_count(text, sizeof(text), v));
}

static void add_pct(struct buf *b, const struct svg *s, uint64_t v)
{
	char text[64];

	fmt_pct(text, sizeof(text), 100.0 * (double)v / (double)s->l->total);
	escape_xml(b, text, strlen(text));
	buf_adds(b, " %");
}

/* "12.3456%" of the width; positions are rounded, widths are their differences. */
static void add_ppm(struct buf *b, uint64_t ppm)
{
	buf_addf(b, "%u.%04u%%", (unsigned)(ppm / 10000), (unsigned)(ppm % 10000));
}

static uint64_t position(const struct svg *s, uint64_t v)
{
	return MARGIN_PPM +
	       (uint64_t)((unsigned __int128)v * (1000000 - 2 * MARGIN_PPM) / s->l->total);
}

static double pixels(const struct svg *s, uint64_t v)
{
	return (double)v / (double)s->l->total * s->width;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- frames ---- */

static void add_merged_name(struct buf *b, const struct svg *s, const struct layout_rect *r)
{
	char n[32];

	if (r->cut_levels)
		buf_addf(b, "cut here: %s more level%s", fmt_count(n, sizeof(n), r->cut_levels),
			plural(r->cut_levels));
	else
		buf_addf(b, "%s %s frame%s", fmt_count(n, sizeof(n), r->merged),
			pixels(s, r->largest) < SMALL_PX ? "small" : "more", plural(r->merged));
}

/* Line 2 and 3 of the title. */
static void add_facts(struct buf *b, const struct svg *s, const struct layout_rect *r,
	const struct calltree_func *f, struct palette_class c)
{
	char n[32];

	buf_addc(b, '\n');
	add_value(b, s, r->total);
	buf_adds(b, ", ");
	add_pct(b, s, r->total);
	if (r->self && !s->o->inverted) {
		buf_adds(b, ", self ");
		if (r->self != r->total) {
			add_value(b, s, r->self);
			buf_adds(b, ", ");
		}
		add_pct(b, s, r->self);
	}
	if (!strcmp(calltree_facts(s->t)->unit, "ns"))
		buf_addf(b, ", %s sample%s", fmt_count(n, sizeof(n), r->samples),
			plural(r->samples));
	if (!f || c.kind == PALETTE_GROUP)
		return;
	if (f->module && *f->module) {
		buf_addc(b, '\n');
		add_xml(b, f->module, 48);
		if (c.kind != PALETTE_KERNEL && c.kind != PALETTE_UNKNOWN)
			buf_addf(b, ", %s", palette_word(c.kind));
		if (c.inlined)
			buf_adds(b, ", inlined");
	} else if (c.kind != PALETTE_OWN) {
		buf_addf(b, "\n%s", palette_word(c.kind));
	} else if (c.inlined) {
		buf_adds(b, "\ninlined");
	}
}

static void add_frame(struct buf *b, struct svg *s, const struct layout_rect *r)
{
	const struct calltree_func *f = NULL;
	struct palette_class c = {r->merged ? PALETTE_MERGED : PALETTE_GROUP, 0, 0};
	uint64_t x = position(s, r->start), w = position(s, r->start + r->total) - x;
	uint32_t row = s->o->inverted ? r->depth : s->l->rows - 1 - r->depth;
	double px = pixels(s, r->total);
	size_t label = (size_t)(WIDEST_PX / s->width * px / FONT_PX);

	if (!r->merged && r->depth) {
		f = calltree_func(s->t, s->nodes[r->node].func);
		c = palette_of(f);
	}
	buf_addf(b, "<g class=\"f %c%u%s%s%s\" data-v=\"%llu\"><title>", palette_letter(c.kind),
		c.shade, c.inlined ? " i" : "", px < THIN_PX ? " t" : "",
		!r->merged	? ""
		: r->cut_levels ? " m c"
				: " m",
		(unsigned long long)r->total);
	if (r->merged)
		add_merged_name(b, s, r);
	else if (f)
		s->cut += (uint32_t)name_add(b, f->name, f->name_len, s->name_max, escape_xml);
	else
		buf_adds(b, "all");
	add_facts(b, s, r, f, c);
	buf_adds(b, "</title><rect x=\"");
	add_ppm(b, x);
	buf_addf(b, "\" y=\"%u\" width=\"", row * SVG_ROW);
	add_ppm(b, w);
	buf_addf(b, "\" height=\"%u\"/>", SVG_ROW - 1);
	if (px >= LABEL_MIN_PX) {
		buf_adds(b, "<svg x=\"");
		add_ppm(b, x);
		buf_addf(b, "\" y=\"%u\" width=\"", row * SVG_ROW);
		add_ppm(b, w);
		buf_addf(b, "\" height=\"%u\"><text x=\"4\" y=\"12.5\">", SVG_ROW - 1);
		if (r->merged)
			add_merged_name(b, s, r);
		else if (f)
			name_add(b, f->name, f->name_len,
				label < 16	      ? 16
				: label < s->name_max ? label
						      : s->name_max,
				escape_xml);
		else
			buf_adds(b, "all");
		buf_adds(b, "</text></svg>");
	}
	buf_adds(b, "</g>\n");
}

void svg_frames(struct buf *b, struct svg *s)
{
	s->cut = 0;
	for (size_t i = 0; i < s->l->nr && !b->err; i++)
		add_frame(b, s, &s->l->rects[i]);
}

/* ---- head ---- */

static void add_title(struct buf *b, const struct svg *s)
{
	const struct calltree_facts *f = calltree_facts(s->t);
	int cpu = !strcmp(f->what, "CPU time");

	if (s->o->title) {
		add_xml(b, s->o->title, 400);
		return;
	}
	buf_adds(b, cpu ? "CPU flame graph" : "Flame graph");
	if (s->o->inverted)
		buf_adds(b, ", inverted");
	if (f->command && *f->command) {
		buf_adds(b, ": ");
		add_xml(b, f->command, 400);
	}
}

/* The picture in words, for who cannot see it, and for grep. */
#define HOTTEST 10
static void add_desc(struct buf *b, const struct svg *s)
{
	const struct calltree_func *top[HOTTEST];
	size_t nr = 0, at;

	for (uint32_t i = 1; i < calltree_nr_funcs(s->t); i++) {
		const struct calltree_func *f = calltree_func(s->t, i);

		if (!f->self || (nr == HOTTEST && f->self <= top[nr - 1]->self))
			continue;
		nr += nr < HOTTEST;
		for (at = nr - 1; at && top[at - 1]->self < f->self; at--)
			top[at] = top[at - 1];
		top[at] = f;
	}
	buf_addf(b,
		"Each frame is a function, as wide as its share of the total; %s. The order "
		"from left to right does not mean time.",
		s->o->inverted ? "below it are its callers" : "above it is what it called");
	if (nr)
		buf_adds(b, " Hottest by self:");
	for (size_t i = 0; i < nr; i++) {
		buf_adds(b, i ? ", " : " ");
		name_add(b, top[i]->name, top[i]->name_len, 120, escape_xml);
		buf_addc(b, ' ');
		add_pct(b, s, top[i]->self);
	}
	buf_adds(b, nr ? "." : "");
}

static uint32_t text_line(struct buf *b, uint32_t *y, uint32_t step, const char *class)
{
	*y += step;
	buf_addf(b, "<text class=\"%s\" y=\"%u\">", class, *y);
	return *y;
}

/* Broken at blanks to fit a phone; SVG text does not wrap. */
static void add_wrapped(struct buf *b, uint32_t *y, const char *class, const char *text)
{
	for (uint32_t i = 0; *text && i < WRAP_LINES; i++) {
		size_t len = strcspn(text, "\n"), n = len;

		if (len > WRAP && i + 1 < WRAP_LINES)
			for (n = WRAP; n > 1 && text[n] != ' '; n--)
				;
		text_line(b, y, i ? 15 : 17, class);
		name_add(b, text, n > 1 ? n : len, 400, escape_xml);
		buf_adds(b, "</text>\n");
		text += n > 1 ? n : len;
		text += strspn(text, " \n");
	}
}

static void add_facts_lines(struct buf *b, const struct svg *s, uint32_t *y)
{
	const struct calltree_facts *f = calltree_facts(s->t);
	int ns = !strcmp(f->unit, "ns");
	char n[64], m[64];

	text_line(b, y, 20, "s");
	if (ns) {
		buf_addf(b, "%s of ", fmt_duration(n, sizeof(n), f->total));
		add_xml(b, f->what, 48);
		if (f->duration_ns)
			buf_addf(b, " in %s", fmt_duration(n, sizeof(n), f->duration_ns));
	} else {
		buf_addf(b, "Total %s", fmt_count(n, sizeof(n), f->total));
	}
	if (f->filtered && f->capture_total) {
		buf_adds(b, ", ");
		escape_xml(b, n,
			strlen(fmt_pct(n, sizeof(n),
				100.0 * (double)f->total / (double)f->capture_total)));
		buf_adds(b, " % of all recorded");
	}
	buf_adds(b, "</text>\n");
	if (ns) {
		text_line(b, y, 16, "s");
		buf_addf(b, "%s sample%s", fmt_count(n, sizeof(n), f->samples), plural(f->samples));
		if (f->freq > 0)
			buf_addf(b, " at %.4g Hz", f->freq);
		buf_addf(b, ", %s lost</text>\n", fmt_count(n, sizeof(n), f->lost));
	}
	if (s->nr_nodes > s->l->nodes) {
		text_line(b, y, 16, "s");
		buf_addf(b, "%s of %s frames drawn, the others merged</text>\n",
			fmt_count(n, sizeof(n), s->l->nodes), fmt_count(m, sizeof(m), s->nr_nodes));
	}
	if (s->o->selection) {
		text_line(b, y, 16, "s");
		buf_adds(b, "Selected: ");
		add_xml(b, s->o->selection, 400);
		buf_adds(b, "</text>\n");
	}
	if (s->o->warning)
		add_wrapped(b, y, "w", s->o->warning);
	if (ns ? f->samples < FEW_SAMPLES : f->total == 1) {
		text_line(b, y, 17, "w");
		buf_addf(b, "only %llu sample%s: shares are rough</text>\n",
			(unsigned long long)(ns ? f->samples : 1), plural(ns ? f->samples : 1));
	}
}

/* One swatch for each kind of code that is in the picture. */
static void add_legend(struct buf *b, const struct svg *s, uint32_t *y)
{
	static const struct {
		enum palette_kind kind;
		const char *class;
	} items[] = {
		{PALETTE_OWN, "o2"},
		{PALETTE_LIBRARY, "l4"},
		{PALETTE_KERNEL, "k4"},
		{PALETTE_JIT, "j2"},
		{PALETTE_UNKNOWN, "u0"},
		{PALETTE_MERGED, "m0"},
	};
	int seen[PALETTE_NR] = {0}, inlined = 0, named = 0;
	uint32_t x = 0;

	for (size_t i = 0; i < s->l->nr; i++) {
		const struct layout_rect *r = &s->l->rects[i];
		const struct calltree_func *f = calltree_func(s->t, s->nodes[r->node].func);
		struct palette_class c = palette_of(f);

		if (r->merged) {
			seen[PALETTE_MERGED] = 1;
		} else if (r->depth) {
			seen[c.kind] = 1;
			inlined |= c.inlined;
			named |= c.kind == PALETTE_OWN && f->kind != PALETTE_FUNC_IMPORTED;
		}
	}
	*y += 8;
	buf_adds(b, "<g class=\"lg\">");
	for (size_t i = 0; i <= sizeof(items) / sizeof(*items); i++) {
		int last = i == sizeof(items) / sizeof(*items);
		const char *word = last ? "inlined" : palette_word(items[i].kind);

		if (last ? !inlined : !seen[items[i].kind])
			continue;
		if (!last && items[i].kind == PALETTE_OWN && !named)
			word = "function"; /* imported names do not say whose they are */
		if (x && x + 24 + 7 * strlen(word) > 370) { /* a phone's width */
			x = 0;
			*y += 17;
		}
		buf_addf(b,
			"<g class=\"%s\"><rect x=\"%u\" y=\"%u\" width=\"16\" height=\"12\"/>"
			"<text x=\"%u\" y=\"%u\">%s</text></g>",
			last ? "o2 i" : items[i].class, x, *y, x + 21, *y + 10, word);
		x += 37 + 13 * (uint32_t)strlen(word) / 2;
	}
	buf_adds(b, "</g>\n");
	*y += 16;
}

static const char controls[] =
	"<foreignObject id=\"bar\" x=\"0\" y=\"%u\" width=\"100%%\" height=\"90\">"
	"<div xmlns=\"http://www.w3.org/1999/xhtml\" id=\"tool\"><div id=\"ctl\">"
	"<input id=\"q\" type=\"search\" placeholder=\"Search (regular expression)\" "
	"aria-label=\"Search function names, regular expression\" autocomplete=\"off\" "
	"spellcheck=\"false\"/>"
	"<button id=\"prev\" type=\"button\" aria-label=\"Previous hit\" title=\"Previous hit "
	"(N)\">&#8249;</button>"
	"<button id=\"next\" type=\"button\" aria-label=\"Next hit\" title=\"Next hit "
	"(n)\">&#8250;</button>"
	"<button id=\"reset\" type=\"button\" title=\"Show all (Escape)\">Reset zoom</button>"
	"<output id=\"found\"></output></div>"
	"<div id=\"info\"><div id=\"name\"></div><div "
	"id=\"nums\"></div></div></div></foreignObject>\n";

void svg_head(struct buf *b, const struct svg *s)
{
	const struct calltree_facts *f = calltree_facts(s->t);
	struct buf text = BUF_INIT;
	uint32_t y = 4, top;
	int cpu = !strcmp(f->what, "CPU time"), ns = !strcmp(f->unit, "ns");

	/* What lies above the frames comes first: its height is part of the root element. */
	buf_addf(&text, "<svg x=\"0.7%%\" y=\"0\" width=\"98.6%%\" height=\"%u\">\n", SVG_HEAD_MAX);
	if (cpu)
		buf_adds(
			&text, "<rect class=\"cpu\" y=\"11\" width=\"4\" height=\"15\" rx=\"2\"/>");
	y += 20;
	buf_addf(&text, "<text class=\"h\" x=\"%u\" y=\"%u\">", cpu ? 10 : 0, y);
	add_title(&text, s);
	buf_adds(&text, "</text>\n");
	add_facts_lines(&text, s, &y);
	add_legend(&text, s, &y);
	top = y + 2;
	buf_addf(&text,
		"<text class=\"s no\" y=\"%u\">Open in a web browser to zoom and search.</text>\n",
		top + 14);
	buf_adds(&text, "</svg>\n");
	buf_addf(&text, controls, top);
	y = top + BAR_HEIGHT;

	buf_addf(b,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"role=\"graphics-document\" aria-labelledby=\"title\" aria-describedby=\"desc\" "
		"data-unit=\"%s\" data-rows=\"%u\" data-down=\"%d\" data-samples=\"%llu\" "
		"data-top=\"%u\">\n",
		s->width, y + s->l->rows * SVG_ROW + 8, ns ? "ns" : "count", s->l->rows,
		!!s->o->inverted, ns ? (unsigned long long)f->samples : 0, top);
	buf_adds(b, "<title id=\"title\">");
	add_title(b, s);
	buf_adds(b, "</title>\n<desc id=\"desc\">");
	add_desc(b, s);
	buf_adds(b, "</desc>\n<style>\n");
	palette_css(b);
	buf_add(b, asset_flamegraph_assets_flamegraph_css,
		asset_flamegraph_assets_flamegraph_css_len);
	buf_adds(b, "</style>\n<defs>\n");
	palette_defs(b);
	buf_adds(b, "<clipPath id=\"below\"><rect width=\"100%\" height=\"40000\"/></clipPath>\n"
		    "</defs>\n");
	buf_add(b, buf_str(&text), text.len);
	buf_addf(b, "<g id=\"view\"><g id=\"frames\" transform=\"translate(0,%u)\">\n", y);
	if (text.err && !b->err)
		b->err = text.err;
	buf_release(&text);
}

void svg_tail(
	struct buf *b, const struct svg *s, const struct buf *small, const struct pack_stats *st)
{
	buf_addf(b, "</g></g>\n<metadata id=\"small\" data-unlisted=\"%llu\" data-cut=\"%u\">",
		(unsigned long long)st->unlisted, s->cut + st->cut);
	buf_add(b, buf_str(small), small->len);
	buf_adds(b, "</metadata>\n<script><![CDATA[\n");
	buf_add(b, asset_flamegraph_assets_flamegraph_js,
		asset_flamegraph_assets_flamegraph_js_len);
	buf_adds(b, "]]></script>\n</svg>\n");
}
