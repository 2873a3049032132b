/* SPDX-License-Identifier: BSD-2-Clause */
#include "info.h"

#include <math.h>
#include <string.h>

static void count_samples(struct info_view *v)
{
	const struct prof_sample *samples;
	const struct prof_stack *stacks;
	size_t nr, nr_stacks, i;
	uint32_t n;

	samples = profile_samples(v->p, &nr);
	stacks = profile_stacks(v->p, &nr_stacks);
	for (i = 0; i < nr; i++) {
		const struct func *f = profile_func(
			v->p, profile_frame_funcs(v->p, stacks[samples[i].stack].frame, &n)[0]);

		if (samples[i].result < STACK_RESULT_MAX)
			v->stacks[samples[i].result]++;
		if (f->kind == FUNC_UNKNOWN || f->kind == FUNC_MARK)
			v->unnamed_samples[f->reason < REASON_MAX ? f->reason : 0]++;
	}
}

static void count_frames(struct info_view *v)
{
	uint32_t i, n;

	v->frames = profile_nr_frames(v->p);
	for (i = 1; i <= v->frames; i++) {
		const struct func *f = profile_func(v->p, profile_frame_funcs(v->p, i, &n)[0]);

		if (f->kind == FUNC_UNKNOWN && f->reason < REASON_MAX)
			v->unnamed_frames[f->reason]++;
	}
	for (i = 0; i < profile_nr_funcs(v->p); i++) {
		const struct func *f = profile_func(v->p, i);

		v->functions += f->kind != FUNC_UNKNOWN && f->kind != FUNC_MARK;
	}
}

static void count_modules(struct info_view *v)
{
	uint32_t i;

	v->modules = profile_nr_modules(v->p);
	for (i = 1; i <= v->modules; i++) {
		const struct prof_module *m = profile_module(v->p, i);

		v->modules_no_file += (m->rec.flags & MODULE_F_NO_FILE) != 0;
		v->modules_no_build_id += !m->build_id;
		v->reveals.paths |= *m->path != '\0';
	}
}

static void see_what_it_reveals(struct info_view *v)
{
	const char *text;
	uint32_t i;

	v->reveals.names = v->functions > 0 || profile_nr_threads(v->p) > 0;
	v->reveals.arguments = *v->s.command != '\0';
	for (i = 1; i <= profile_nr_processes(v->p); i++) {
		const struct prof_process *t = profile_process(v->p, i);

		v->reveals.arguments |= t->cmdline_len > 0;
		v->reveals.paths |= *t->exe != '\0';
	}
	v->reveals.host = profile_meta(v->p, "host.name", &text, NULL);
}

int info_make(struct info_view *v, const struct profile *p, struct err *e)
{
	const struct record_loss *losses;
	struct selection all;
	unsigned i;
	size_t nr;
	int ret;

	*v = (struct info_view){.p = p, .effective_hz = NAN};
	ret = selection_make(&all, p, NULL, e);
	if (ret)
		return ret;
	summary_make(&v->s, &all);
	selection_release(&all);
	count_samples(v);
	count_frames(v);
	count_modules(v);
	see_what_it_reveals(v);
	v->lost = profile_lost(p);
	losses = profile_losses(p, &nr);
	for (; nr; nr--, losses++)
		if (losses->cause < LOSS_CAUSE_MAX)
			v->lost_by_cause[losses->cause] =
				value_add(v->lost_by_cause[losses->cause], losses->count);
	for (i = 1; i < COUNTER_ID_MAX; i++)
		v->counters[i] = profile_counter(p, (enum counter_id)i);
	/* Not ticks a second and CPU: idle CPUs have none, so that would be the load's figure. */
	if (!v->s.import && v->s.total)
		v->effective_hz = (double)v->s.samples / ((double)v->s.total / 1e9);
	return 0;
}

const char *info_loss_advice(unsigned cause)
{
	switch (cause) {
	case LOSS_RING_FULL:
		return "a larger --buffer, or a lower -F";
	case LOSS_SCRATCH_BUSY:
		return "a lower -F";
	case LOSS_USER_BACKLOG:
		return "a faster disk, a larger --max-size, or a lower -F";
	case LOSS_TABLE_FULL:
		return "fewer processes (-p, --cgroup), or a shorter recording";
	default:
		return "a newer profbpf to explain it";
	}
}
