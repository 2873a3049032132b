/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids are dense and start at 1, so everything is an array by id. Strings are
 * kept if they are short enough to be a path: which of them are paths is only
 * known when a module refers to them.
 */
#include "index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/arena.h"

#define STRING_KEPT 4096

struct text {
	const char *s;
	uint32_t len;
};

struct array {
	void *data;
	size_t cap; /* elements */
};

struct resolve_index {
	struct sink sink;
	int frozen;
	struct arena arena;
	struct array strings;	/* struct text */
	struct array modules;	/* struct record_module; id 0 = not put */
	struct array processes; /* struct record_process */
	struct array frames;	/* uint8_t: see index_frame() */
	struct array metas;	/* struct record_meta */
	size_t nr_metas;
};

/* Element @i of @a, growing it with zeros. NULL on ENOMEM. */
static void *at(struct array *a, size_t i, size_t size)
{
	if (i >= a->cap) {
		size_t cap = a->cap ? a->cap : 64;
		char *grown;

		while (cap <= i)
			cap *= 2;
		grown = reallocarray(a->data, cap, size);
		if (!grown)
			return NULL;
		memset(grown + a->cap * size, 0, (cap - a->cap) * size);
		a->data = grown;
		a->cap = cap;
	}
	return (char *)a->data + i * size;
}

static int take_string(struct resolve_index *x, const struct record_string *s)
{
	struct text *t = at(&x->strings, s->id, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (s->len > STRING_KEPT)
		return 0;
	t->s = arena_strdup(&x->arena, s->data ? s->data : "", s->len);
	t->len = s->len;
	return t->s ? 0 : -ENOMEM;
}

static int take_name(struct resolve_index *x, const struct record_name *n)
{
	uint8_t *f;

	if (n->depth)
		return 0;
	f = at(&x->frames, n->frame, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = n->name ? INDEX_NAMED : n->reason < REASON_MAX ? (uint8_t)n->reason : REASON_NONE;
	return 0;
}

static int index_put(struct sink *s, const struct record *r, struct err *e)
{
	struct resolve_index *x = (struct resolve_index *)s;
	void *slot = x; /* not NULL */
	int err = 0;

	if (x->frozen)
		return 0;
	switch (r->kind) {
	case RECORD_STRING:
		err = take_string(x, &r->string);
		break;
	case RECORD_NAME:
		err = take_name(x, &r->name);
		break;
	case RECORD_MODULE:
		slot = at(&x->modules, r->module.id, sizeof(r->module));
		if (slot)
			memcpy(slot, &r->module, sizeof(r->module));
		break;
	case RECORD_PROCESS:
		slot = at(&x->processes, r->process.id, sizeof(r->process));
		if (slot)
			memcpy(slot, &r->process, sizeof(r->process));
		break;
	case RECORD_META:
		slot = at(&x->metas, x->nr_metas, sizeof(r->meta));
		if (slot) {
			memcpy(slot, &r->meta, sizeof(r->meta));
			x->nr_metas++;
		}
		break;
	default:
		break;
	}
	if (err || !slot)
		return err_set(e, -ENOMEM, "out of memory for naming");
	return 0;
}

int resolve_index_new(struct resolve_index **out)
{
	struct resolve_index *x = calloc(1, sizeof(*x));

	*out = x;
	if (!x)
		return -ENOMEM;
	x->sink.put = index_put;
	return 0;
}

void resolve_index_free(struct resolve_index *x)
{
	if (!x)
		return;
	arena_release(&x->arena);
	free(x->strings.data);
	free(x->modules.data);
	free(x->processes.data);
	free(x->frames.data);
	free(x->metas.data);
	free(x);
}

struct sink *resolve_index_sink(struct resolve_index *x)
{
	return &x->sink;
}

void index_freeze(struct resolve_index *x)
{
	x->frozen = 1;
}

const char *index_string(const struct resolve_index *x, uint32_t id, size_t *len)
{
	const struct text *t = x->strings.data;
	int there = id < x->strings.cap && t[id].s;

	if (len)
		*len = there ? t[id].len : 0;
	return there ? t[id].s : "";
}

int index_module(const struct resolve_index *x, uint32_t id, struct resolve_module *m)
{
	const struct record_module *r = x->modules.data;

	if (id >= x->modules.cap || !r[id].id)
		return 0;
	*m = (struct resolve_module){.record = &r[id], .path = index_string(x, r[id].path, NULL)};
	m->build_id = (const uint8_t *)index_string(x, r[id].build_id, &m->build_id_len);
	return 1;
}

const struct record_process *index_process(const struct resolve_index *x, uint32_t id)
{
	const struct record_process *p = x->processes.data;

	return id < x->processes.cap && p[id].id ? &p[id] : NULL;
}

const char *index_meta(const struct resolve_index *x, const char *key)
{
	const struct record_meta *m = x->metas.data;

	for (size_t i = x->nr_metas; i-- > 0;)
		if (strcmp(index_string(x, m[i].key, NULL), key) == 0)
			return index_string(x, m[i].text, NULL);
	return NULL;
}

unsigned index_frame(const struct resolve_index *x, uint32_t frame)
{
	const uint8_t *f = x->frames.data;

	return frame < x->frames.cap ? f[frame] : REASON_NONE;
}
