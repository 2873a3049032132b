/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records come in through take_*(), one function a kind; each checks that ids
 * are dense and references known, so that everything after profile_finish()
 * can index without looking. Strings are copied once into the arena; nothing
 * else of a record is kept by pointer.
 *
 * DESIGN: no dictionaries here. The stream's ids are dense and every string,
 * frame and stack comes once, so arrays indexed by id are enough; a million
 * samples and five million trie nodes cost an append each.
 */
#include "profile.h"

#include <assert.h>
#include <errno.h>

#include "profile_priv.h"

#define CPU_MAX 65535u /* a sample's cpu is 16 bits wide; the kernel's own limit is 8192 */

static int nomem(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while loading the capture");
}

static int bad(struct err *e, const char *what, const char *field, uint64_t v)
{
	return err_set(e, -EBADMSG, "%s record: %s %llu is not right here", what, field,
		(unsigned long long)v);
}

/* Append to a vector; "return nomem" when that fails. */
#define ADD(p, v, ...)                                                                             \
	do {                                                                                       \
		if (vec_room(&(p)->v, 1))                                                          \
			return nomem(e);                                                           \
		(p)->v.data[(p)->v.nr++] = __VA_ARGS__;                                            \
	} while (0)

static int known_string(const struct profile *p, uint32_t id)
{
	return id < p->strings.nr;
}

static int take_string(struct profile *p, const struct record_string *r, struct err *e)
{
	char *copy;

	if (r->id != p->strings.nr)
		return bad(e, "string", "id", r->id);
	copy = arena_strdup(&p->arena, r->data, r->len);
	if (!copy)
		return nomem(e);
	ADD(p, strings, (struct prof_string){copy, r->len});
	return 0;
}

static int take_meta(struct profile *p, const struct record_meta *r, struct err *e)
{
	if (!r->key || !known_string(p, r->key))
		return bad(e, "meta", "key", r->key);
	if (!known_string(p, r->text))
		return bad(e, "meta", "text", r->text);
	ADD(p, meta_recs, *r);
	return 0;
}

static int take_module(struct profile *p, const struct record_module *r, struct err *e)
{
	if (!r->id || r->id > p->mod_recs.nr)
		return bad(e, "module", "id", r->id);
	if (!known_string(p, r->path))
		return bad(e, "module", "path", r->path);
	if (!known_string(p, r->build_id))
		return bad(e, "module", "build ID", r->build_id);
	if (r->id < p->mod_recs.nr)
		p->mod_recs.data[r->id] = *r;
	else
		ADD(p, mod_recs, *r);
	return 0;
}

static int take_process(struct profile *p, const struct record_process *r, struct err *e)
{
	if (r->id != p->proc_recs.nr)
		return bad(e, "process", "id", r->id);
	if (!known_string(p, r->name) || !known_string(p, r->exe) || !known_string(p, r->cmdline))
		return bad(e, "process", "string of id", r->id);
	ADD(p, proc_recs, *r);
	return 0;
}

static int take_thread(struct profile *p, const struct record_thread *r, struct err *e)
{
	if (r->id != p->thread_recs.nr)
		return bad(e, "thread", "id", r->id);
	if (!r->process || r->process >= p->proc_recs.nr)
		return bad(e, "thread", "process", r->process);
	if (!known_string(p, r->name))
		return bad(e, "thread", "name", r->name);
	ADD(p, thread_recs, *r);
	return 0;
}

static int take_frame(struct profile *p, const struct record_frame *r, struct err *e)
{
	const struct frame *f = &r->frame;

	if (r->id != p->frames.nr)
		return bad(e, "frame", "id", r->id);
	if (f->kind >= FRAME_KIND_MAX)
		return bad(e, "frame", "kind", f->kind);
	if (f->kind == FRAME_MODULE && (!f->owner || f->owner >= p->mod_recs.nr))
		return bad(e, "frame", "module", f->owner);
	if (f->kind == FRAME_NAMED && f->addr >= p->strings.nr)
		return bad(e, "frame", "name", f->addr);
	p->named_frames += f->kind == FRAME_NAMED;
	ADD(p, frames, *f);
	return 0;
}

static int take_stack(struct profile *p, const struct record_stack *r, struct err *e)
{
	if (r->id != p->stacks.nr - p->epoch_base)
		return bad(e, "stack", "id", r->id);
	if (r->parent >= r->id)
		return bad(e, "stack", "parent", r->parent);
	if (!r->frame || r->frame >= p->frames.nr)
		return bad(e, "stack", "frame", r->frame);
	if (p->stacks.nr >= UINT32_MAX)
		return err_set(e, -E2BIG, "more than 4,294,967,295 stack nodes");
	ADD(p, stacks, (struct prof_stack){r->parent ? p->epoch_base + r->parent : 0, r->frame});
	return 0;
}

static int take_sample(struct profile *p, const struct record_sample *r, struct err *e)
{
	if (!r->thread || r->thread >= p->thread_recs.nr)
		return bad(e, "sample", "thread", r->thread);
	if (r->stack >= p->stacks.nr - p->epoch_base)
		return bad(e, "sample", "stack", r->stack);
	if (r->cpu > CPU_MAX)
		return bad(e, "sample", "CPU", r->cpu);
	if (p->samples.nr >= UINT32_MAX)
		return err_set(e, -E2BIG, "more than 4,294,967,295 samples");
	ADD(p, samples,
		(struct prof_sample){
			.time_ns = r->time_ns,
			.value = r->value,
			.thread = r->thread,
			.stack = r->stack ? p->epoch_base + r->stack : 0,
			.cpu = (uint16_t)r->cpu,
			.type = r->type,
			.result = r->result,
		});
	if (r->time_ns > p->last_ns)
		p->last_ns = r->time_ns;
	if (r->cpu > p->max_cpu)
		p->max_cpu = r->cpu;
	return 0;
}

static int take_name(struct profile *p, const struct record_name *r, struct err *e)
{
	if (!r->frame || r->frame >= p->frames.nr)
		return bad(e, "name", "frame", r->frame);
	if (!known_string(p, r->name) || !known_string(p, r->raw) || !known_string(p, r->file))
		return bad(e, "name", "string of frame", r->frame);
	if (p->frames.data[r->frame].kind == FRAME_NAMED)
		return 0; /* it is its name already */
	ADD(p, names,
		(struct prof_name){
			.frame = r->frame,
			.depth = r->depth,
			.name = r->name,
			.raw = r->raw,
			.reason = (uint8_t)(r->reason < REASON_MAX ? r->reason : REASON_NO_SYMBOL),
			.flags = (uint8_t)r->flags,
		});
	return 0;
}

static int take_counter(struct profile *p, const struct record_counter *r, struct err *e)
{
	if (r->cpu > CPU_MAX)
		return bad(e, "counter", "CPU", r->cpu);
	if (r->cpu > p->max_cpu)
		p->max_cpu = r->cpu;
	ADD(p, counters, (struct prof_counter){r->cpu, r->id, r->value});
	return 0;
}

static int take_loss(struct profile *p, const struct record_loss *r, struct err *e)
{
	if (r->cpu > CPU_MAX)
		return bad(e, "loss", "CPU", r->cpu);
	if (r->from_ns > r->to_ns)
		return bad(e, "loss", "begin", r->from_ns);
	ADD(p, losses, *r);
	if (r->to_ns > p->last_ns)
		p->last_ns = r->to_ns;
	return 0;
}

static int profile_put(struct sink *s, const struct record *r, struct err *e)
{
	struct profile *p = (struct profile *)s;

	assert(!p->finished);
	switch (r->kind) {
	case RECORD_RUN:
		p->run = r->run;
		p->has_run = 1;
		return 0;
	case RECORD_STRING:
		return take_string(p, &r->string, e);
	case RECORD_META:
		return take_meta(p, &r->meta, e);
	case RECORD_MODULE:
		return take_module(p, &r->module, e);
	case RECORD_PROCESS:
		return take_process(p, &r->process, e);
	case RECORD_THREAD:
		return take_thread(p, &r->thread, e);
	case RECORD_FRAME:
		return take_frame(p, &r->frame, e);
	case RECORD_STACK:
		return take_stack(p, &r->stack, e);
	case RECORD_SAMPLE:
		return take_sample(p, &r->sample, e);
	case RECORD_NAME:
		return take_name(p, &r->name, e);
	case RECORD_COUNTER:
		return take_counter(p, &r->counter, e);
	case RECORD_LOSS:
		return take_loss(p, &r->loss, e);
	case RECORD_RESTART:
		p->epoch_base = (uint32_t)p->stacks.nr - 1;
		p->restarts++;
		return 0;
	case RECORD_END:
		p->end = r->end;
		p->has_end = 1;
		return 0;
	case RECORD_KIND_MAX:
		break;
	}
	return 0; /* a kind from a later version: the reader decides, we have no use for it */
}

int profile_new(struct profile **out)
{
	struct profile *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->sink.put = profile_put;
	if (vec_room(&p->strings, 1) || vec_room(&p->mod_recs, 1) || vec_room(&p->proc_recs, 1) ||
		vec_room(&p->thread_recs, 1) || vec_room(&p->frames, 1) ||
		vec_room(&p->stacks, 1)) {
		profile_free(p);
		return -ENOMEM;
	}
	p->strings.data[p->strings.nr++] = (struct prof_string){"", 0};
	p->mod_recs.data[p->mod_recs.nr++] = (struct record_module){0};
	p->proc_recs.data[p->proc_recs.nr++] = (struct record_process){0};
	p->thread_recs.data[p->thread_recs.nr++] = (struct record_thread){0};
	p->frames.data[p->frames.nr++] = (struct frame){0};
	p->stacks.data[p->stacks.nr++] = (struct prof_stack){0};
	*out = p;
	return 0;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->strings.data);
	free(p->mod_recs.data);
	free(p->proc_recs.data);
	free(p->thread_recs.data);
	free(p->frames.data);
	free(p->stacks.data);
	free(p->samples.data);
	free(p->names.data);
	free(p->meta_recs.data);
	free(p->counters.data);
	free(p->losses.data);
	free(p->funcs.data);
	free(p->frame_funcs.data);
	free(p->frame_first);
	arena_release(&p->arena);
	free(p);
}

struct sink *profile_sink(struct profile *p)
{
	return &p->sink;
}

void profile_set_capture_info(struct profile *p, const struct capture_info *info)
{
	p->info = *info;
	p->has_info = 1;
}
