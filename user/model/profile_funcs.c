/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames become functions.
 *
 *   frame + NAME records by depth  -->  chain of functions, innermost first
 *   frame without a name           -->  "[unknown: reason] module+0x1234"
 *   no frame, with a reason        -->  a mark, or "[unknown: reason]"
 *
 * A function is found by (name, place, kind), the name by its bytes: a stream
 * that was resolved twice may hold a string twice. Imported frames are nothing
 * but a name, each string comes once there, and they may be millions: they go
 * through an array by string id instead.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "keyed.h"
#include "profile_priv.h"
#include "user/base/hashmap.h"
#include "user/base/strtab.h"

enum place {
	PLACE_NONE,
	PLACE_KERNEL,
	PLACE_JIT,
	PLACE_FIRST_MODULE
};

struct func_key {
	uint32_t name; /* id in maker.names */
	uint32_t place;
	uint32_t kind;
};

struct maker {
	struct profile *p;
	struct func_module **places; /* by place id */
	size_t nr_places;
	uint32_t *place_of; /* module id -> place id */
	struct hashmap *by_key;
	uint32_t *by_string; /* for imports: string id -> function + 1 */
	struct strtab *names;
	struct keyed *order; /* NAME records by frame, depth and arrival */
};

static int nomem(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while naming frames");
}

static struct func_module *new_place(struct maker *m, const char *name)
{
	struct func_module *f = arena_zalloc(&m->p->arena, sizeof(*f));

	if (!f)
		return NULL;
	f->name = name;
	f->path = "";
	m->places[m->nr_places++] = f;
	return f;
}

/* One place a module, unless base name and build ID are those of an earlier
 * one (a library seen through two mounts). Without a build ID: path. */
static int make_places(struct maker *m)
{
	struct profile *p = m->p;
	size_t nr = p->mod_recs.nr, i;
	struct strtab *seen = strtab_new();
	char *key = NULL;
	int ret = -ENOMEM;

	m->places = malloc((nr + PLACE_FIRST_MODULE) * sizeof(*m->places));
	m->place_of = calloc(nr, sizeof(*m->place_of));
	if (!seen || !m->places || !m->place_of || !new_place(m, "") || !new_place(m, "[kernel]") ||
		!new_place(m, "[jit]"))
		goto out;
	for (i = 1; i < nr; i++) {
		const struct prof_module *mod = &p->modules[i];
		const char *id = mod->build_id ? (const char *)mod->build_id : mod->path;
		size_t id_len = mod->build_id ? mod->build_id_len : strlen(mod->path);
		size_t name_len = strlen(mod->name);
		struct func_module *f;
		int64_t at;

		free(key);
		key = malloc(name_len + 2 + id_len);
		if (!key)
			goto out;
		memcpy(key, mod->name, name_len + 1);
		key[name_len + 1] = mod->build_id ? 'b' : 'p';
		memcpy(key + name_len + 2, id, id_len);
		at = strtab_add(seen, key, name_len + 2 + id_len, NULL);
		if (at < 0)
			goto out;
		/* Text ids count from 1 (0 is ""), in the order of new places. */
		m->place_of[i] = (uint32_t)at - 1 + PLACE_FIRST_MODULE;
		if (m->place_of[i] < m->nr_places)
			continue;
		f = new_place(m, mod->name[0] ? mod->name : "[module]");
		if (!f)
			goto out;
		f->path = mod->path;
		f->build_id = mod->build_id;
		f->build_id_len = (uint32_t)mod->build_id_len;
		f->id = (uint32_t)i;
	}
	ret = 0;
out:
	free(key);
	strtab_free(seen);
	return ret;
}

static int add_func(struct maker *m, const struct func *f, uint32_t *id)
{
	struct profile *p = m->p;

	if (vec_room(&p->funcs, 1) || p->funcs.nr >= UINT32_MAX)
		return -ENOMEM;
	*id = (uint32_t)p->funcs.nr;
	p->funcs.data[p->funcs.nr++] = *f;
	return 0;
}

/* The function @f is, by name, place and kind; made when new, with a copy of
 * the name if @copy. f->module is set here. */
static int find_func(struct maker *m, uint32_t place, const struct func *f, int copy, uint32_t *id)
{
	int64_t name = strtab_add(m->names, f->name, f->name_len, NULL);
	struct func_key key = {(uint32_t)name, place, f->kind};
	struct func made = *f;
	uint32_t *slot;
	int created;

	if (name < 0)
		return -ENOMEM;
	slot = hashmap_slot(m->by_key, &key, 0, &created);
	if (!slot)
		return -ENOMEM;
	if (!created) {
		*id = *slot;
		m->p->funcs.data[*id].inlined &= f->inlined;
		return 0;
	}
	made.module = m->places[place];
	if (copy) {
		made.name = arena_strdup(&m->p->arena, f->name, f->name_len);
		if (!made.name)
			return -ENOMEM;
	}
	if (add_func(m, &made, id))
		return -ENOMEM;
	*slot = *id;
	return 0;
}

static struct func func_of_string(const struct maker *m, uint32_t name, uint8_t kind)
{
	const struct prof_string *s = &m->p->strings.data[name];

	return (struct func){
		.name = s->len ? s->s : "[empty]",
		.name_len = s->len ? s->len : sizeof("[empty]") - 1,
		.kind = kind,
	};
}

static int named_func(struct maker *m, uint32_t name, uint32_t place, uint8_t kind, uint32_t raw,
	int inlined, uint32_t *id)
{
	struct func f = func_of_string(m, name, kind);

	f.raw = raw ? m->p->strings.data[raw].s : NULL;
	f.inlined = inlined != 0;
	return find_func(m, place, &f, 0, id);
}

static int imported_func(struct maker *m, uint32_t name, uint32_t *id)
{
	struct func f = func_of_string(m, name, FUNC_IMPORTED);

	if (!m->by_string) {
		m->by_string = calloc(m->p->strings.nr, sizeof(*m->by_string));
		if (!m->by_string)
			return -ENOMEM;
	}
	if (m->by_string[name]) {
		*id = m->by_string[name] - 1;
		m->p->canonical = 0; /* two frames, one function */
		return 0;
	}
	f.module = m->places[PLACE_NONE];
	if (add_func(m, &f, id))
		return -ENOMEM;
	m->by_string[name] = *id + 1;
	return 0;
}

/* A function of a text made here. */
static int text_func(struct maker *m, const char *text, size_t len, uint32_t place, uint8_t kind,
	uint8_t reason, uint32_t *id)
{
	struct func f = {.name = text, .name_len = (uint32_t)len, .kind = kind, .reason = reason};

	return find_func(m, place, &f, 1, id);
}

/* "[unknown: no symbol] libx.so+0x12"; addresses of frames that are no code at
 * all are noise and left out. */
static int unknown_func(
	struct maker *m, const struct frame *f, uint32_t place, uint8_t reason, uint32_t *id)
{
	const char *module = m->places[place]->name;
	const char *why = frame_reason_short(reason);
	char *text;
	int n, ret;

	if (f->kind == FRAME_NONE)
		n = asprintf(&text, "[unknown: %s]", why);
	else
		n = asprintf(
			&text, "[unknown: %s] %s+0x%llx", why, module, (unsigned long long)f->addr);
	if (n < 0)
		return -ENOMEM;
	ret = text_func(m, text, (size_t)n, place, FUNC_UNKNOWN, reason, id);
	free(text);
	return ret;
}

static int mark_func(struct maker *m, const char *text, uint8_t reason, uint32_t *id)
{
	return text_func(m, text, strlen(text), PLACE_NONE, FUNC_MARK, reason, id);
}

static int push(struct maker *m, uint32_t id)
{
	struct profile *p = m->p;

	if (vec_room(&p->frame_funcs, 1))
		return -ENOMEM;
	p->frame_funcs.data[p->frame_funcs.nr++] = id;
	return 0;
}

/* Functions of one frame; order[*at..) are the NAME records not used so far. */
static int frame_to_funcs(struct maker *m, uint32_t frame, size_t *at)
{
	struct profile *p = m->p;
	const struct frame *f = &p->frames.data[frame];
	uint8_t reason = REASON_NOT_RESOLVED_YET, kind = FUNC_USER;
	uint32_t place = PLACE_NONE, id, depth = 0;
	int done = 0;

	while (*at < p->names.nr && m->order[*at].key >> 32 < frame)
		(*at)++;
	switch ((enum frame_kind)f->kind) {
	case FRAME_NAMED:
		if (imported_func(m, (uint32_t)f->addr, &id))
			return -ENOMEM;
		return push(m, id);
	case FRAME_NONE:
		if (f->reason == REASON_NONE ? mark_func(m, "[no stack]", 0, &id)
			: f->reason == REASON_TRUNCATED
				? mark_func(m, "[truncated]", f->reason, &id)
			: f->reason == REASON_NO_USER_STACK
				? mark_func(m, "[user stack unreadable]", f->reason, &id)
				: unknown_func(m, f, PLACE_NONE, f->reason, &id))
			return -ENOMEM;
		return push(m, id);
	case FRAME_KERNEL:
		kind = FUNC_KERNEL;
		place = PLACE_KERNEL;
		break;
	case FRAME_JIT:
		kind = FUNC_JIT;
		place = PLACE_JIT;
		break;
	case FRAME_MODULE:
	case FRAME_KIND_MAX:
		place = m->place_of[f->owner];
		break;
	}

	/* The chain ends with the first function that is not inlined into the
	 * next: depths beyond it are left over from an earlier naming. */
	for (; *at < p->names.nr; (*at)++) {
		const struct prof_name *n = &p->names.data[m->order[*at].id];

		if (n->frame != frame)
			break;
		if (*at + 1 < p->names.nr && m->order[*at + 1].key == m->order[*at].key)
			continue; /* a later one replaces it */
		if (done || n->depth != depth)
			continue;
		if (!n->name) {
			if (!depth)
				reason = n->reason;
			done = 1;
			continue;
		}
		if (named_func(m, n->name, place, kind, n->raw, n->flags & NAME_F_INLINED, &id) ||
			push(m, id))
			return -ENOMEM;
		depth++;
		done = !(n->flags & NAME_F_INLINED);
	}
	if (depth)
		return 0;
	if (unknown_func(m, f, place, reason, &id))
		return -ENOMEM;
	return push(m, id);
}

/* NAME records in order of frame and depth, later ones behind earlier ones. */
static int sort_names(struct maker *m)
{
	struct profile *p = m->p;
	size_t nr = p->names.nr, i;
	struct keyed *tmp;

	if (!nr)
		return 0;
	if (nr > UINT32_MAX)
		return -ENOMEM;
	m->order = malloc(nr * sizeof(*m->order));
	tmp = malloc(nr * sizeof(*tmp));
	if (!m->order || !tmp) {
		free(tmp);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		const struct prof_name *n = &p->names.data[i];

		m->order[i] = (struct keyed){(uint64_t)n->frame << 32 | n->depth, (uint32_t)i};
	}
	keyed_sort(m->order, tmp, nr);
	free(tmp);
	return 0;
}

/* One function a frame and one frame a function? Then a trie of frames is a
 * tree of functions. Imports know it already (imported_func). */
static int is_canonical(const struct profile *p)
{
	size_t nr_frames = p->frames.nr - 1, i;
	unsigned char *seen;

	if (p->frame_funcs.nr != nr_frames || p->funcs.nr != nr_frames || !p->canonical)
		return 0;
	seen = calloc(nr_frames ? nr_frames : 1, 1);
	if (!seen)
		return 0; /* only the slow way is open then */
	for (i = 0; i < nr_frames && !seen[p->frame_funcs.data[i]]; i++)
		seen[p->frame_funcs.data[i]] = 1;
	free(seen);
	return i == nr_frames;
}

int profile_make_funcs(struct profile *p, struct err *e)
{
	struct maker m = {.p = p};
	size_t nr = p->frames.nr, at = 0, i;
	int ret = -ENOMEM;

	p->canonical = 1;
	m.by_key = hashmap_new(sizeof(struct func_key));
	m.names = strtab_new();
	if (!m.by_key || !m.names || make_places(&m) || sort_names(&m))
		goto out;
	if (p->named_frames != nr - 1) {
		p->frame_first = malloc(nr * sizeof(*p->frame_first));
		if (!p->frame_first)
			goto out;
		p->frame_first[0] = 0;
	}
	for (i = 1; i < nr; i++) {
		if (frame_to_funcs(&m, (uint32_t)i, &at))
			goto out;
		if (p->frame_funcs.nr > UINT32_MAX)
			goto out;
		if (p->frame_first)
			p->frame_first[i] = (uint32_t)p->frame_funcs.nr;
	}
	p->canonical = is_canonical(p);
	ret = 0;
out:
	free(m.places);
	free(m.place_of);
	free(m.by_string);
	free(m.order);
	hashmap_free(m.by_key);
	strtab_free(m.names);
	return ret ? nomem(e) : 0;
}
