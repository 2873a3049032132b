/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After the last record: modules, processes, threads and facts get their texts,
 * samples their order, frames their functions (profile_funcs.c).
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "keyed.h"
#include "profile_priv.h"

const char *profile_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int make_modules(struct profile *p)
{
	size_t i;

	p->modules = arena_zalloc(&p->arena, p->mod_recs.nr * sizeof(*p->modules));
	if (!p->modules)
		return -ENOMEM;
	for (i = 1; i < p->mod_recs.nr; i++) {
		const struct record_module *r = &p->mod_recs.data[i];
		struct prof_module *m = &p->modules[i];

		m->rec = *r;
		m->path = p->strings.data[r->path].s;
		m->name = profile_base_name(m->path);
		if (r->build_id && p->strings.data[r->build_id].len) {
			m->build_id = (const uint8_t *)p->strings.data[r->build_id].s;
			m->build_id_len = p->strings.data[r->build_id].len;
		}
	}
	return 0;
}

static int make_tasks(struct profile *p)
{
	size_t i;

	p->processes = arena_zalloc(&p->arena, p->proc_recs.nr * sizeof(*p->processes));
	p->threads = arena_zalloc(&p->arena, p->thread_recs.nr * sizeof(*p->threads));
	if (!p->processes || !p->threads)
		return -ENOMEM;
	for (i = 1; i < p->proc_recs.nr; i++) {
		const struct record_process *r = &p->proc_recs.data[i];
		struct prof_process *t = &p->processes[i];

		t->rec = *r;
		t->name = p->strings.data[r->name].s;
		t->name_len = p->strings.data[r->name].len;
		t->exe = p->strings.data[r->exe].s;
		t->cmdline = p->strings.data[r->cmdline].s;
		t->cmdline_len = p->strings.data[r->cmdline].len;
		if (!t->name_len) {
			char text[32];
			int n = snprintf(text, sizeof(text), "[pid %u]", r->pid);

			t->name = arena_strdup(&p->arena, text, (size_t)n);
			t->name_len = (size_t)n;
			if (!t->name)
				return -ENOMEM;
		}
	}
	for (i = 1; i < p->thread_recs.nr; i++) {
		const struct record_thread *r = &p->thread_recs.data[i];
		struct prof_thread *t = &p->threads[i];

		t->process = r->process;
		t->tid = r->tid;
		t->name = p->strings.data[r->name].s;
		t->name_len = p->strings.data[r->name].len;
		if (!t->name_len) {
			char text[32];
			int n = snprintf(text, sizeof(text), "[tid %u]", r->tid);

			t->name = arena_strdup(&p->arena, text, (size_t)n);
			t->name_len = (size_t)n;
			if (!t->name)
				return -ENOMEM;
		}
	}
	return 0;
}

static int meta_tie(uint32_t a, uint32_t b, const void *ctx)
{
	(void)ctx;
	return a < b ? -1 : a > b;
}

static int make_meta(struct profile *p)
{
	size_t nr = p->meta_recs.nr, i;
	struct ranked_name *keys = nr ? malloc(nr * sizeof(*keys)) : NULL;
	int ret = -ENOMEM;

	p->metas = arena_alloc(&p->arena, nr * sizeof(*p->metas));
	if (!p->metas || (nr && !keys))
		goto out;
	for (i = 0; i < nr; i++) {
		const struct prof_string *k = &p->strings.data[p->meta_recs.data[i].key];

		keys[i] = (struct ranked_name){k->s, k->len, (uint32_t)i};
	}
	ret = names_sort(keys, nr, meta_tie, NULL);
	for (i = 0; !ret && i < nr; i++) {
		const struct record_meta *r = &p->meta_recs.data[keys[i].id];

		/* Equal keys are in the order they came: the last one holds. */
		if (i + 1 < nr && keys[i].len == keys[i + 1].len &&
			!memcmp(keys[i].name, keys[i + 1].name, keys[i].len))
			continue;
		p->metas[p->nr_metas++] = (struct prof_meta){
			.key = keys[i].name,
			.text = r->text ? p->strings.data[r->text].s : NULL,
			.num = r->num,
		};
	}
out:
	free(keys);
	return ret;
}

/* A recorder may write its counters again each second: the last one of a CPU
 * and id holds. Afterwards they are in order of CPU and id. */
static int settle_counters(struct profile *p)
{
	size_t nr = p->counters.nr, kept = 0, i;
	struct prof_counter *settled = NULL;
	struct keyed *keys, *tmp;
	int ret = -ENOMEM;

	if (nr < 2)
		return 0;
	keys = malloc(nr * sizeof(*keys));
	tmp = malloc(nr * sizeof(*tmp));
	settled = malloc(nr * sizeof(*settled));
	if (!keys || !tmp || !settled)
		goto out;
	for (i = 0; i < nr; i++) {
		const struct prof_counter *c = &p->counters.data[i];

		keys[i] = (struct keyed){(uint64_t)c->cpu << 32 | c->id, (uint32_t)i};
	}
	keyed_sort(keys, tmp, nr);
	for (i = 0; i < nr; i++)
		if (i + 1 == nr || keys[i].key != keys[i + 1].key)
			settled[kept++] = p->counters.data[keys[i].id];
	memcpy(p->counters.data, settled, kept * sizeof(*settled));
	p->counters.nr = kept;
	ret = 0;
out:
	free(keys);
	free(tmp);
	free(settled);
	return ret;
}

/* A sample without a stack gets a frame that says so, or sums over functions
 * would come short of the total. */
static int mark_stackless(struct profile *p)
{
	uint32_t node = 0;
	size_t i;

	for (i = 0; i < p->samples.nr; i++) {
		if (p->samples.data[i].stack)
			continue;
		if (!node) {
			if (vec_room(&p->frames, 1) || vec_room(&p->stacks, 1) ||
				p->stacks.nr >= UINT32_MAX)
				return -ENOMEM;
			p->frames.data[p->frames.nr++] = (struct frame){.kind = FRAME_NONE};
			node = (uint32_t)p->stacks.nr;
			p->stacks.data[p->stacks.nr++] =
				(struct prof_stack){0, (uint32_t)p->frames.nr - 1};
		}
		p->samples.data[i].stack = node;
	}
	return 0;
}

/* CPUs deliver their rings one after the other. Stable, so that equal times
 * keep the order of the file. */
static int sort_samples(struct profile *p)
{
	struct prof_sample *sorted;
	struct keyed *keys, *tmp;
	size_t nr = p->samples.nr, i;
	int ret = -ENOMEM;

	for (i = 1; i < nr; i++)
		if (p->samples.data[i].time_ns < p->samples.data[i - 1].time_ns)
			break;
	if (i >= nr)
		return 0;
	keys = malloc(nr * sizeof(*keys));
	tmp = malloc(nr * sizeof(*tmp));
	sorted = NULL;
	if (!keys || !tmp)
		goto out;
	for (i = 0; i < nr; i++)
		keys[i] = (struct keyed){p->samples.data[i].time_ns, (uint32_t)i};
	keyed_sort(keys, tmp, nr);
	free(tmp);
	tmp = NULL;
	sorted = malloc(nr * sizeof(*sorted));
	if (!sorted)
		goto out;
	for (i = 0; i < nr; i++)
		sorted[i] = p->samples.data[keys[i].id];
	free(p->samples.data);
	p->samples.data = sorted;
	p->samples.cap = nr;
	ret = 0;
out:
	free(keys);
	free(tmp);
	return ret;
}

int profile_finish(struct profile *p, struct err *e)
{
	int ret;

	assert(!p->finished);
	if (make_modules(p) || make_tasks(p) || make_meta(p) || settle_counters(p) ||
		mark_stackless(p) || sort_samples(p))
		return err_set(e, -ENOMEM, "out of memory while loading the capture");
	ret = profile_make_funcs(p, e);
	if (ret)
		return ret;
	/* Texts stay in the arena; what found them by id is done with. */
	free(p->names.data);
	p->names.data = NULL;
	p->names.nr = p->names.cap = 0;
	free(p->strings.data);
	p->strings.data = NULL;
	p->strings.nr = p->strings.cap = 0;
	if (p->named_frames == p->frames.nr - 1) {
		/* An import's frames differ in nothing but the text we just let go of. */
		free(p->frames.data);
		p->frames.data = NULL;
		p->frames.cap = 0;
	}
	p->canonical = p->canonical && !p->restarts;
	p->finished = 1;
	return 0;
}
