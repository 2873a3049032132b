/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees from text, for the tests of flamegraph/: functions of any kind,
 * any unit, and faster for wide and deep ones than a whole profile. It stands in
 * for user/model/calltree.c, which the linker leaves out of these programs.
 *
 *	struct calltree *t = tree_new();
 *	tree_add(t, "main@app;write@libc.so.6;sys_write@[kernel]", 30);
 *	tree_add(t, "main@app;f", 5);
 *
 * A frame is NAME or NAME@MODULE; MODULE "[kernel]" and "[jit]" set the kind,
 * "?" means no name, "~" in front of NAME inlined. Children stay in the order added.
 */
#ifndef PROFBPF_TESTS_PICTURE_H
#define PROFBPF_TESTS_PICTURE_H

#include "support.h"

#include "flamegraph/palette.h"
#include "user/model/calltree.h"

struct calltree {
	struct calltree_node *nodes;
	uint32_t *last; /* by node: its last child */
	size_t nr, cap;
	struct calltree_func *funcs;
	uint32_t nr_funcs, cap_funcs, depth;
	struct calltree_facts facts;
};

const struct calltree_node *calltree_nodes(const struct calltree *t, size_t *nr)
{
	*nr = t->nr;
	return t->nodes;
}

const struct calltree_func *calltree_func(const struct calltree *t, uint32_t func)
{
	return &t->funcs[func];
}

uint32_t calltree_nr_funcs(const struct calltree *t)
{
	return t->nr_funcs;
}

uint32_t calltree_depth(const struct calltree *t)
{
	return t->depth;
}

const struct calltree_facts *calltree_facts(const struct calltree *t)
{
	return &t->facts;
}

void calltree_free(struct calltree *t)
{
	for (uint32_t i = 0; i < t->nr_funcs; i++) {
		free((char *)t->funcs[i].name);
		free((char *)t->funcs[i].module);
	}
	free(t->funcs);
	free(t->nodes);
	free(t->last);
	free(t);
}

static inline uint32_t tree_func_n(struct calltree *t, const char *name, size_t len,
	const char *module, uint8_t kind, uint8_t inlined)
{
	if (t->nr_funcs == t->cap_funcs) {
		t->cap_funcs = t->cap_funcs ? t->cap_funcs * 2 : 64;
		t->funcs = realloc(t->funcs, t->cap_funcs * sizeof(*t->funcs));
	}
	t->funcs[t->nr_funcs] =
		(struct calltree_func){.name = memcpy(calloc(1, len + 1), name, len),
			.name_len = len,
			.module = strdup(module),
			.kind = kind,
			.inlined = inlined};
	return t->nr_funcs++;
}

/* Text as described above; equal text is one function. */
static inline uint32_t tree_func(struct calltree *t, const char *text, size_t len)
{
	const char *at = memrchr(text, '@', len);
	size_t name_len = at ? (size_t)(at - text) : len;
	char *module = strndup(at ? at + 1 : "", at ? len - name_len - 1 : 0);
	uint8_t kind = !at ? PALETTE_FUNC_IMPORTED : PALETTE_FUNC_USER;
	int inlined = *text == '~';
	uint32_t f;

	if (!strcmp(module, "[kernel]"))
		kind = PALETTE_FUNC_KERNEL;
	if (!strcmp(module, "[jit]"))
		kind = PALETTE_FUNC_JIT;
	if (!strcmp(module, "?")) {
		kind = PALETTE_FUNC_UNKNOWN;
		*module = '\0';
	}
	text += inlined;
	name_len -= (size_t)inlined;
	for (f = 1; f < t->nr_funcs; f++)
		if (t->funcs[f].name_len == name_len && !memcmp(t->funcs[f].name, text, name_len) &&
			!strcmp(t->funcs[f].module, module) && t->funcs[f].inlined == inlined)
			break;
	if (f == t->nr_funcs)
		f = tree_func_n(t, text, name_len, module, kind, (uint8_t)inlined);
	free(module);
	return f;
}

static inline struct calltree *tree_new(void)
{
	struct calltree *t = calloc(1, sizeof(*t));

	t->facts = (struct calltree_facts){.unit = "count", .what = "count", .command = ""};
	tree_func_n(t, "all", 3, "", PALETTE_FUNC_TASK, 0);
	t->cap = 64;
	t->nodes = calloc(t->cap, sizeof(*t->nodes));
	t->last = calloc(t->cap, sizeof(*t->last));
	t->nr = 1;
	return t;
}

/* A new last child of @parent; its value comes with tree_value(). */
static inline uint32_t tree_child(struct calltree *t, uint32_t parent, uint32_t func)
{
	uint32_t n = (uint32_t)t->nr;

	if (t->nr == t->cap) {
		t->cap *= 2;
		t->nodes = realloc(t->nodes, t->cap * sizeof(*t->nodes));
		t->last = realloc(t->last, t->cap * sizeof(*t->last));
	}
	t->nodes[n] = (struct calltree_node){.parent = parent, .func = func};
	t->last[n] = 0;
	if (t->last[parent])
		t->nodes[t->last[parent]].next = n;
	else
		t->nodes[parent].first_child = n;
	t->last[parent] = n;
	t->nr++;
	return n;
}

static inline void tree_value(struct calltree *t, uint32_t node, uint64_t value)
{
	t->funcs[t->nodes[node].func].self += value;
	t->facts.total += value;
	t->facts.capture_total += value;
	t->facts.samples++;
	for (uint32_t n = node, d = 0;; n = t->nodes[n].parent, d++) {
		t->nodes[n].total += value;
		t->nodes[n].samples++;
		if (!n) {
			t->depth = d > t->depth ? d : t->depth;
			return;
		}
	}
}

static inline void tree_add(struct calltree *t, const char *stack, uint64_t value)
{
	uint32_t node = 0, child;

	for (const char *at = stack, *end; *at; at = *end ? end + 1 : end) {
		uint32_t f;

		end = strchrnul(at, ';');
		f = tree_func(t, at, (size_t)(end - at));
		for (child = t->nodes[node].first_child; child; child = t->nodes[child].next)
			if (t->nodes[child].func == f)
				break;
		node = child ? child : tree_child(t, node, f);
	}
	tree_value(t, node, value);
}

#endif
