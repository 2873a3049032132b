/* SPDX-License-Identifier: BSD-2-Clause */
/* What a finished profile answers. */
#include <assert.h>
#include <string.h>

#include "profile_priv.h"
#include "values.h"

const struct record_run *profile_run(const struct profile *p)
{
	return &p->run;
}

const struct record_end *profile_end(const struct profile *p)
{
	return p->has_end ? &p->end : NULL;
}

const struct capture_info *profile_capture_info(const struct profile *p)
{
	return p->has_info ? &p->info : NULL;
}

int profile_is_import(const struct profile *p)
{
	return p->has_end ? p->end.reason == END_IMPORT : !p->run.period_ns && p->named_frames;
}

uint64_t profile_duration_ns(const struct profile *p)
{
	if (profile_is_import(p))
		return 0;
	return p->has_end ? p->end.duration_ns : p->last_ns;
}

const struct prof_sample *profile_samples(const struct profile *p, size_t *nr)
{
	*nr = p->samples.nr;
	return p->samples.data;
}

const struct prof_stack *profile_stacks(const struct profile *p, size_t *nr)
{
	*nr = p->stacks.nr;
	return p->stacks.data;
}

const struct prof_thread *profile_thread(const struct profile *p, uint32_t id)
{
	assert(id && id < p->thread_recs.nr);
	return &p->threads[id];
}

uint32_t profile_nr_threads(const struct profile *p)
{
	return (uint32_t)p->thread_recs.nr - 1;
}

const struct prof_process *profile_process(const struct profile *p, uint32_t id)
{
	assert(id && id < p->proc_recs.nr);
	return &p->processes[id];
}

uint32_t profile_nr_processes(const struct profile *p)
{
	return (uint32_t)p->proc_recs.nr - 1;
}

const struct prof_module *profile_module(const struct profile *p, uint32_t id)
{
	assert(id && id < p->mod_recs.nr);
	return &p->modules[id];
}

uint32_t profile_nr_modules(const struct profile *p)
{
	return (uint32_t)p->mod_recs.nr - 1;
}

uint32_t profile_nr_frames(const struct profile *p)
{
	return (uint32_t)p->frames.nr - 1;
}

const struct frame *profile_frame(const struct profile *p, uint32_t id)
{
	static const struct frame imported = {.kind = FRAME_NAMED};

	assert(id && id < p->frames.nr);
	return p->frames.data ? &p->frames.data[id] : &imported;
}

const uint32_t *profile_frame_funcs(const struct profile *p, uint32_t frame, uint32_t *nr)
{
	assert(frame && frame < p->frames.nr);
	if (!p->frame_first) {
		*nr = 1;
		return &p->frame_funcs.data[frame - 1];
	}
	*nr = p->frame_first[frame] - p->frame_first[frame - 1];
	return &p->frame_funcs.data[p->frame_first[frame - 1]];
}

const struct func *profile_func(const struct profile *p, uint32_t func)
{
	assert(func < p->funcs.nr);
	return &p->funcs.data[func];
}

uint32_t profile_nr_funcs(const struct profile *p)
{
	return (uint32_t)p->funcs.nr;
}

int profile_is_canonical(const struct profile *p)
{
	return p->canonical;
}

int profile_meta(const struct profile *p, const char *key, const char **text, uint64_t *num)
{
	size_t lo = 0, hi = p->nr_metas;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(p->metas[mid].key, key);

		if (!c) {
			if (text)
				*text = p->metas[mid].text;
			if (num)
				*num = p->metas[mid].num;
			return 1;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (text)
		*text = NULL;
	if (num)
		*num = 0;
	return 0;
}

int profile_meta_at(
	const struct profile *p, size_t i, const char **key, const char **text, uint64_t *num)
{
	if (i >= p->nr_metas)
		return 0;
	*key = p->metas[i].key;
	*text = p->metas[i].text;
	*num = p->metas[i].num;
	return 1;
}

int profile_counter_cpu(const struct profile *p, uint32_t cpu, enum counter_id id, uint64_t *v)
{
	size_t lo = 0, hi = p->counters.nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct prof_counter *c = &p->counters.data[mid];

		if (c->cpu == cpu && c->id == id) {
			*v = c->value;
			return 1;
		}
		if (c->cpu < cpu || (c->cpu == cpu && c->id < id))
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

uint64_t profile_counter(const struct profile *p, enum counter_id id)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < p->counters.nr; i++)
		if (p->counters.data[i].id == id)
			sum = value_add(sum, p->counters.data[i].value);
	return sum;
}

uint32_t profile_nr_cpus(const struct profile *p)
{
	return p->max_cpu + 1;
}

const struct record_loss *profile_losses(const struct profile *p, size_t *nr)
{
	*nr = p->losses.nr;
	return p->losses.data;
}

uint64_t profile_lost(const struct profile *p)
{
	uint64_t by_record = 0, by_counter;
	size_t i;

	for (i = 0; i < p->losses.nr; i++)
		by_record = value_add(by_record, p->losses.data[i].count);
	by_counter = value_add(
		profile_counter(p, COUNTER_LOST_RING), profile_counter(p, COUNTER_LOST_SCRATCH));
	return by_record > by_counter ? by_record : by_counter;
}
