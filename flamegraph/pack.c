/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list is made twice or more when the first does not fit: each time only
 * wider nodes are kept. How well names compress is not known before.
 */
#include "flamegraph/pack.h"

#include <errno.h>
#include <stdlib.h>

#include "flamegraph/name_cut.h"
#include "flamegraph/palette.h"
#include "flamegraph/walk.h"
#include "user/base/escape.h"
#include "user/base/gz.h"

#define NAME_MAX_BYTES 240u
#define LEVEL	       6 /* zlib: 9 takes twice the time for 2 % */
/* Widths are kept to 2^-24 of the total. */
#define PRECISION_BITS 24

struct entry {
	uint32_t depth, name;
	uint64_t width, missing; /* in quanta */
};

struct pack {
	const struct calltree *t;
	const struct calltree_node *nodes;
	const struct layout *l;
	uint64_t quantum, min_total;
	uint32_t *names; /* by function: its number in the list, from 1; 0 = not yet */
	uint32_t nr_names;
	uint64_t *pos;	     /* by depth below the group's parent: where the next sibling starts */
	uint32_t base;	     /* the parent's depth */
	uint64_t ties;	     /* what layout_listed() counts down */
	struct entry *group; /* the group being worked on; [0] is its drawn parent */
	size_t nr_group, cap_group;
	size_t *at; /* by depth: the entry entered there */
	struct buf text, body;
	struct pack_stats *st;
	int err;
};

static uint32_t name_of(struct pack *p, uint32_t func)
{
	const struct calltree_func *f;
	struct palette_class c;

	if (p->names[func])
		return p->names[func] - 1;
	f = calltree_func(p->t, func);
	c = palette_of(f);
	if (p->nr_names)
		buf_addc(&p->text, '\n');
	buf_addc(&p->text, palette_letter(c.kind));
	buf_addc(&p->text, (char)('0' + c.shade));
	p->st->cut +=
		(uint32_t)name_add(&p->text, f->name, f->name_len, NAME_MAX_BYTES, escape_text);
	p->names[func] = ++p->nr_names;
	return p->nr_names - 1;
}

static int add_entry(struct pack *p, struct entry entry)
{
	if (p->nr_group == p->cap_group) {
		size_t cap = p->cap_group ? p->cap_group * 2 : 256;
		void *more = reallocarray(p->group, cap, sizeof(*p->group));

		if (!more)
			return p->err = -ENOMEM;
		p->group = more;
		p->cap_group = cap;
	}
	p->group[p->nr_group++] = entry;
	return 0;
}

static int pack_enter(void *ctx, uint32_t node, uint32_t depth)
{
	struct pack *p = ctx;
	const struct calltree_node *n = &p->nodes[node];
	uint64_t start, end, width;

	if (!depth) /* the drawn parent */
		return 1;
	start = p->pos[depth];
	end = p->pos[depth] += n->total;
	if (depth == 1 && layout_drawn(p->l, n, p->base + 1))
		return 0;
	width = end / p->quantum - start / p->quantum;
	if (n->total < p->min_total || !layout_listed(p->l, n, &p->ties)) {
		p->st->unlisted += n->total;
		p->group[p->at[depth - 1]].missing += width;
		return 0;
	}
	p->pos[depth + 1] = start;
	p->at[depth] = p->nr_group;
	p->st->listed++;
	return !add_entry(p, (struct entry){depth, name_of(p, n->func), width, 0});
}

static void pack_leave(void *ctx, uint32_t node, uint32_t depth)
{
	(void)ctx, (void)node, (void)depth;
}

static void base64(struct buf *b, const unsigned char *s, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *d;

	if (buf_reserve(b, (len + 2) / 3 * 4))
		return;
	d = b->data + b->len;
	for (size_t i = 0; i < len; i += 3, d += 4) {
		uint32_t v = (uint32_t)s[i] << 16 | (i + 1 < len ? (uint32_t)s[i + 1] << 8 : 0) |
			     (i + 2 < len ? s[i + 2] : 0);

		for (int k = 0; k < 4; k++)
			d[k] = digits[v >> (18 - 6 * k) & 63];
		if (i + 1 >= len)
			d[2] = '=';
		if (i + 2 >= len)
			d[3] = '=';
	}
	*d = '\0';
	b->len += (len + 2) / 3 * 4;
}

static void write_group(struct pack *p)
{
	uint32_t last = 0;

	buf_add_varint(&p->body, p->nr_group - 1);
	buf_add_varint(&p->body, p->group[0].missing);
	for (size_t i = 1; i < p->nr_group; i++) {
		const struct entry *n = &p->group[i];

		buf_add_varint(&p->body, last + 1 - n->depth);
		buf_add_varint(&p->body, n->name);
		buf_add_varint(&p->body, n->width);
		buf_add_varint(&p->body, n->missing);
		last = n->depth;
	}
}

/* One try. The compressed bytes go to @z. */
static int list(struct pack *p, struct buf *z)
{
	struct buf raw = BUF_INIT;
	int err;

	*p->st = (struct pack_stats){0};
	p->nr_names = 0;
	p->ties = p->l->listed_ties;
	buf_clear(&p->text);
	buf_clear(&p->body);
	buf_clear(z);
	for (uint32_t f = 0; f < calltree_nr_funcs(p->t); f++)
		p->names[f] = 0;
	for (size_t i = 0; i < p->l->nr; i++) {
		const struct layout_rect *r = &p->l->rects[i];

		if (!r->merged)
			continue;
		p->base = r->depth - 1;
		p->pos[1] = p->l->rects[r->parent].start;
		p->at[0] = p->nr_group = 0;
		if (add_entry(p, (struct entry){0}))
			break;
		tree_walk(p->nodes, r->node, (struct walk_ops){pack_enter, pack_leave}, p);
		write_group(p);
	}
	buf_add_varint(&raw, p->quantum);
	buf_add_varint(&raw, p->text.len);
	buf_add(&raw, buf_str(&p->text), p->text.len);
	buf_add(&raw, buf_str(&p->body), p->body.len);
	err = p->err ? p->err : p->text.err ? p->text.err : p->body.err ? p->body.err : raw.err;
	if (!err)
		err = gz_deflate(z, raw.data, raw.len, LEVEL);
	buf_release(&raw);
	return err;
}

int pack_build(struct buf *b, const struct calltree *t, const struct layout *l, size_t max_bytes,
	struct pack_stats *st, struct err *e)
{
	struct pack p = {.t = t, .l = l, .st = st};
	struct buf z = BUF_INIT;
	int err = -ENOMEM;
	size_t nr;

	*st = (struct pack_stats){0};
	if (l->nr == l->nodes)
		return 0;
	p.nodes = calltree_nodes(t, &nr);
	p.quantum = (l->total >> PRECISION_BITS) + 1;
	p.names = calloc((size_t)calltree_nr_funcs(t), sizeof(*p.names));
	p.pos = calloc((size_t)calltree_depth(t) + 3, sizeof(*p.pos));
	p.at = calloc((size_t)calltree_depth(t) + 3, sizeof(*p.at));
	if (!p.names || !p.pos || !p.at)
		goto out;
	for (;;) {
		err = list(&p, &z);
		if (err)
			goto out;
		if ((z.len + 2) / 3 * 4 <= max_bytes)
			break;
		if (p.min_total > l->total) { /* not even an empty list fits */
			buf_clear(&z);
			break;
		}
		p.min_total = p.min_total ? p.min_total * 2 : l->listed_total * 2;
	}
	base64(b, (const unsigned char *)buf_str(&z), z.len);
	err = b->err;
out:
	free(p.names);
	free(p.pos);
	free(p.at);
	free(p.group);
	buf_release(&p.text);
	buf_release(&p.body);
	buf_release(&z);
	return err ? err_sys(e, err, "flame graph: packing small frames") : 0;
}
