/* SPDX-License-Identifier: BSD-2-Clause */
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hashmap.h"
#include "user/model/totals.h"

static int nomem(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while making the table");
}

const char *rows_by_name(enum rows_by by)
{
	static const char *const names[] = {
		[ROWS_BY_FUNCTION] = "function",
		[ROWS_BY_MODULE] = "module",
		[ROWS_BY_THREAD] = "thread",
		[ROWS_BY_PROCESS] = "process",
	};

	return names[by];
}

static void put_total(struct func_row *r, const struct total *t, const struct selection *s)
{
	r->self = t->self;
	r->total = t->total;
	r->self_samples = t->self_samples;
	r->total_samples = t->total_samples;
	r->self_pct = share_pct(t->self, s->total);
	r->total_pct = share_pct(t->total, s->total);
	r->err_pct = share_error((double)t->self, t->self_sq, (double)s->total, s->total_sq);
	r->total_err_pct =
		share_error((double)t->total, t->total_sq, (double)s->total, s->total_sq);
}

/* --- order ----------------------------------------------------------------- */

static int cmp_u64_down(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int cmp_name(const struct func_row *a, const struct func_row *b)
{
	size_t min = a->name_len < b->name_len ? a->name_len : b->name_len;
	int c = memcmp(a->name, b->name, min);

	if (!c)
		c = (a->name_len > b->name_len) - (a->name_len < b->name_len);
	if (!c && a->module)
		c = strcmp(a->module, b->module);
	if (!c && a->module_path)
		c = strcmp(a->module_path, b->module_path);
	if (!c)
		c = a->pid < b->pid ? -1 : a->pid > b->pid;
	if (!c)
		c = a->tid < b->tid ? -1 : a->tid > b->tid;
	if (!c)
		c = a->id < b->id ? -1 : a->id > b->id;
	return c;
}

static int by_self(const void *pa, const void *pb)
{
	const struct func_row *a = pa, *b = pb;
	int c = cmp_u64_down(a->self, b->self);

	if (!c)
		c = cmp_u64_down(a->total, b->total);
	return c ? c : cmp_name(a, b);
}

static int by_total(const void *pa, const void *pb)
{
	const struct func_row *a = pa, *b = pb;
	int c = cmp_u64_down(a->total, b->total);

	if (!c)
		c = cmp_u64_down(a->self, b->self);
	return c ? c : cmp_name(a, b);
}

static int by_name(const void *pa, const void *pb)
{
	return cmp_name(pa, pb);
}

typedef int row_cmp(const void *, const void *);

static void sift_down(struct func_row *heap, size_t nr, size_t i, row_cmp *cmp)
{
	struct func_row r = heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && cmp(&heap[child], &heap[child + 1]) < 0)
			child++;
		if (cmp(&r, &heap[child]) >= 0)
			break;
		heap[i] = heap[child];
	}
	heap[i] = r;
}

static row_cmp *order_of(const struct functions_view *v)
{
	return v->o.sort == ROWS_SORT_NAME    ? by_name
	       : v->o.sort == ROWS_SORT_TOTAL ? by_total
					      : by_self;
}

/* Room for at most @most rows, or for those of them that are shown. */
static int make_room(struct functions_view *v, size_t most)
{
	v->max = v->o.limit && v->o.limit < most ? v->o.limit : most;
	v->rows = calloc((v->o.only_shown ? v->max : most) + 1, sizeof(*v->rows));
	return v->rows ? 0 : -ENOMEM;
}

/* Of a million rows twenty are shown: the best so far are in a heap whose top
 * is the worst of them. */
static void add_row(struct functions_view *v, const struct func_row *r)
{
	row_cmp *cmp = order_of(v);
	const struct func_row *out = r;
	struct func_row worst;
	size_t i;

	if (v->nr < v->max) {
		v->rows[v->nr++] = *r;
		for (i = v->nr == v->max ? v->nr / 2 : 0; i--;)
			sift_down(v->rows, v->nr, i, cmp);
		return;
	}
	if (cmp(r, &v->rows[0]) < 0) {
		worst = v->rows[0];
		out = &worst;
		v->rows[0] = *r;
		sift_down(v->rows, v->max, 0, cmp);
	}
	if (!v->o.only_shown)
		v->rows[v->nr] = *out;
	v->nr++;
	v->rest_self = value_add(v->rest_self, out->self);
}

/* --- functions and modules ------------------------------------------------ */

static int rows_by_func(struct functions_view *v, struct err *e)
{
	const struct profile *p = v->s->p;
	uint32_t nr = profile_nr_funcs(p), i;
	struct total *t;
	int ret;

	ret = totals_by_func(&t, v->s, NULL, 0, e);
	if (ret)
		return ret;
	ret = make_room(v, nr);
	for (i = 0; !ret && i < nr; i++) {
		const struct func *f = profile_func(p, i);
		struct func_row r;

		if (!t[i].total_samples)
			continue;
		r = (struct func_row){
			.name = f->name,
			.name_len = f->name_len,
			.module = f->module->name,
			.module_path = f->module->path,
			.build_id = f->module->build_id,
			.build_id_len = f->module->build_id_len,
			.kind = f->kind,
			.reason = f->reason,
			.id = i,
		};
		put_total(&r, &t[i], v->s);
		add_row(v, &r);
	}
	free(t);
	return ret ? nomem(e) : 0;
}

static int rows_by_module(struct functions_view *v, struct err *e)
{
	const struct profile *p = v->s->p;
	uint32_t nr = profile_nr_funcs(p), nr_modules = 0, i;
	const struct func_module **modules =
		malloc(((size_t)nr + 1) * sizeof(struct func_module *));
	uint32_t *module_of = malloc(((size_t)nr + 1) * sizeof(*module_of)), *slot;
	struct hashmap *ids = hashmap_new(sizeof(struct func_module *));
	struct total *t = NULL;
	int ret = -ENOMEM, created;

	if (!modules || !module_of || !ids)
		goto out;
	for (i = 0; i < nr; i++) {
		const struct func_module *m = profile_func(p, i)->module;

		slot = hashmap_slot(ids, &m, nr_modules, &created);
		if (!slot)
			goto out;
		if (created)
			modules[nr_modules++] = m;
		module_of[i] = *slot;
	}
	ret = totals_by_func(&t, v->s, module_of, nr_modules, e);
	if (ret)
		goto out;
	ret = make_room(v, nr_modules);
	for (i = 0; !ret && i < nr_modules; i++) {
		const struct func_module *m = modules[i];
		struct func_row r;

		if (!t[i].total_samples)
			continue;
		r = (struct func_row){
			.name = *m->name ? m->name : "[no module]",
			.name_len = strlen(*m->name ? m->name : "[no module]"),
			.module = m->name,
			.module_path = m->path,
			.build_id = m->build_id,
			.build_id_len = m->build_id_len,
			.id = m->id,
		};
		put_total(&r, &t[i], v->s);
		add_row(v, &r);
	}
out:
	free(modules);
	free(module_of);
	hashmap_free(ids);
	free(t);
	return ret ? nomem(e) : 0;
}

/* --- threads and processes ------------------------------------------------ */

static void add_sample(struct total *t, const struct prof_sample *a)
{
	double sq = (double)a->value * (double)a->value;

	t->self = value_add(t->self, a->value);
	t->total = t->self;
	t->self_samples++;
	t->total_samples++;
	t->self_sq += sq;
	t->total_sq += sq;
}

/* A thread under one name is a row; so is a process between fork and exec. */
static int rows_by_task(struct functions_view *v, struct err *e)
{
	const struct profile *p = v->s->p;
	int by_thread = v->o.by == ROWS_BY_THREAD;
	uint32_t nr = by_thread ? profile_nr_threads(p) : profile_nr_processes(p), i;
	struct total *t = calloc((size_t)nr + 1, sizeof(*t));
	const struct prof_sample *samples;
	size_t nr_samples, k;

	samples = profile_samples(p, &nr_samples);
	if (!t || make_room(v, nr)) {
		free(t);
		return nomem(e);
	}
	for (k = 0; k < v->s->nr; k++) {
		const struct prof_sample *a = &samples[v->s->samples[k]];

		add_sample(&t[by_thread ? a->thread : profile_thread(p, a->thread)->process], a);
	}
	for (i = 1; i <= nr; i++) {
		const struct prof_thread *th = by_thread ? profile_thread(p, i) : NULL;
		const struct prof_process *pr = profile_process(p, th ? th->process : i);
		struct func_row r;

		if (!t[i].self_samples)
			continue;
		if (th)
			r = (struct func_row){
				.name = th->name,
				.name_len = th->name_len,
				.tid = th->tid,
				.pid = pr->rec.pid,
				.process = pr->name,
				.process_len = pr->name_len,
			};
		else
			r = (struct func_row){
				.name = pr->name, .name_len = pr->name_len, .pid = pr->rec.pid};
		r.id = i;
		put_total(&r, &t[i], v->s);
		add_row(v, &r);
	}
	free(t);
	return 0;
}

/* --- footer ---------------------------------------------------------------- */

/* Time of innermost frames in the kernel and without a name, whatever the rows are. */
static void sum_leaves(struct functions_view *v)
{
	uint64_t by_reason[REASON_MAX] = {0};
	const struct profile *p = v->s->p;
	const struct prof_sample *samples;
	const struct prof_stack *stacks;
	size_t nr, k;
	uint32_t n;

	samples = profile_samples(p, &nr);
	stacks = profile_stacks(p, &nr);
	for (k = 0; k < v->s->nr; k++) {
		const struct prof_sample *a = &samples[v->s->samples[k]];
		uint32_t frame = stacks[a->stack].frame;
		const struct func *f = profile_func(p, profile_frame_funcs(p, frame, &n)[0]);

		if (profile_frame(p, frame)->kind == FRAME_KERNEL)
			v->kernel_self = value_add(v->kernel_self, a->value);
		if (f->kind != FUNC_UNKNOWN && f->kind != FUNC_MARK)
			continue;
		v->unresolved_self = value_add(v->unresolved_self, a->value);
		if (f->reason < REASON_MAX)
			by_reason[f->reason] = value_add(by_reason[f->reason], a->value);
	}
	for (k = 0; k < REASON_MAX; k++)
		if (by_reason[k] > by_reason[v->unresolved_reason])
			v->unresolved_reason = (uint8_t)k;
}

int functions_make(struct functions_view *v, const struct selection *s,
	const struct functions_options *o, struct err *e)
{
	static const struct functions_options plain;
	int ret;

	*v = (struct functions_view){.s = s, .o = o ? *o : plain};
	switch (v->o.by) {
	case ROWS_BY_MODULE:
		ret = rows_by_module(v, e);
		break;
	case ROWS_BY_THREAD:
	case ROWS_BY_PROCESS:
		ret = rows_by_task(v, e);
		break;
	case ROWS_BY_FUNCTION:
	default:
		ret = rows_by_func(v, e);
		break;
	}
	if (ret) {
		functions_release(v);
		return ret;
	}
	v->shown = v->o.limit && v->o.limit < v->nr ? v->o.limit : v->nr;
	qsort(v->rows, v->shown, sizeof(*v->rows), order_of(v));
	sum_leaves(v);
	return 0;
}

void functions_release(struct functions_view *v)
{
	free(v->rows);
	*v = (struct functions_view){0};
}
