/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree is walked depth first with the path's text in one buffer: going down
 * appends a frame, going up cuts the buffer. Each name is escaped once, and
 * kept only if that changed it.
 */
#include "folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/model/profile.h"

struct label {
	uint64_t at; /* in labels.text */
	uint32_t len;
};

struct labels {
	struct buf text;
	struct label *changed; /* from 1 */
	uint32_t nr_changed;
	uint32_t *of; /* by function: which of them, 0 = as its name */
};

/*
 * A name whose blanks a reader would take for layout gets them escaped: at its
 * end (before the count) or when there is nothing else.
 */
static void add_label(struct buf *b, const struct calltree_func *f, int annotate)
{
	size_t len = f->name_len, blanks = 0;

	while (blanks < len && f->name[len - 1 - blanks] == ' ')
		blanks++;
	escape_folded(b, f->name, len - blanks);
	for (; blanks; blanks--)
		buf_adds(b, "\\x20");
	if (!annotate)
		return;
	if (f->kind == FUNC_KERNEL)
		buf_adds(b, "_[k]");
	else if (f->kind == FUNC_JIT)
		buf_adds(b, "_[j]");
	else if (f->inlined)
		buf_adds(b, "_[i]");
}

static int keep_label(struct labels *l, uint32_t func, size_t at)
{
	struct label *more;

	/* Room doubles. */
	if (!(l->nr_changed & (l->nr_changed + 1))) {
		more = reallocarray(
			l->changed, ((size_t)l->nr_changed + 1) * 2, sizeof(*l->changed));
		if (!more)
			return -ENOMEM;
		l->changed = more;
	}
	l->of[func] = ++l->nr_changed;
	l->changed[l->nr_changed] = (struct label){at, (uint32_t)(l->text.len - at)};
	return 0;
}

static int make_labels(struct labels *l, const struct calltree *t, int annotate)
{
	uint32_t nr = calltree_nr_funcs(t), i;

	l->of = calloc(nr, sizeof(*l->of));
	if (!l->of)
		return -ENOMEM;
	for (i = 1; i < nr && !l->text.err; i++) {
		const struct calltree_func *f = calltree_func(t, i);
		size_t at = l->text.len;

		add_label(&l->text, f, annotate);
		if (l->text.len - at == f->name_len &&
			!memcmp(l->text.data + at, f->name, f->name_len))
			l->text.len = at;
		else if (keep_label(l, i, at))
			return -ENOMEM;
	}
	return l->text.err;
}

static void push(struct buf *path, const struct labels *l, const struct calltree *t, uint32_t func)
{
	const struct calltree_func *f = calltree_func(t, func);
	const char *text = f->name;
	size_t len = f->name_len;

	if (l->of[func]) {
		text = l->text.data + l->changed[l->of[func]].at;
		len = l->changed[l->of[func]].len;
	}
	if (path->len) {
		buf_addc(path, ';');
	} else if (len && *text == '#') {
		/* Readers take a line that begins so for a comment. */
		buf_adds(path, "\\x23");
		buf_add(path, text + 1, len - 1);
		return;
	}
	buf_add(path, text, len);
}

static int walk(struct out *o, const struct calltree *t, const struct labels *l)
{
	size_t nr, *ends = malloc(((size_t)calltree_depth(t) + 1) * sizeof(*ends));
	const struct calltree_node *n = calltree_nodes(t, &nr);
	struct buf path = BUF_INIT;
	uint32_t at = n[0].first_child, depth = 0;
	uint64_t self;
	int ret;

	if (!ends)
		return -ENOMEM;
	while (at && !path.err && !out_err(o)) {
		ends[depth] = path.len;
		push(&path, l, t, n[at].func);
		self = calltree_self(n, at);
		if (self) {
			out_write(o, buf_str(&path), path.len);
			out_char(o, ' ');
			out_u64(o, self);
			out_char(o, '\n');
		}
		if (n[at].first_child) {
			at = n[at].first_child;
			depth++;
			continue;
		}
		while (at && !n[at].next) {
			at = n[at].parent;
			depth -= at != 0;
		}
		if (!at)
			break;
		path.len = ends[depth];
		at = n[at].next;
	}
	ret = path.err;
	buf_release(&path);
	free(ends);
	return ret;
}

int folded_write(struct out *o, const struct calltree *t, int annotate, struct err *e)
{
	struct labels l = {.text = BUF_INIT};
	int ret = make_labels(&l, t, annotate);

	if (!ret)
		ret = walk(o, t, &l);
	buf_release(&l.text);
	free(l.of);
	free(l.changed);
	return ret ? err_set(e, ret, "out of memory while writing stacks") : 0;
}
