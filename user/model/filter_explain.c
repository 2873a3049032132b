/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why there is nothing to show, in one sentence, with what to try instead.
 *
 * The restrictions are applied again one after the other; the first that
 * leaves nothing is the reason, and the names that are there are the hint.
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keyed.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"

#define NAMES_SHOWN 5
#define NAME_BYTES  40 /* of a name in a hint */

static uint64_t samples_of(const struct profile *p, const struct filter_options *o)
{
	struct selection s;
	uint64_t nr = 0;

	if (!selection_make(&s, p, o, NULL)) {
		nr = s.nr;
		selection_release(&s);
	}
	return nr;
}

/* "--thread 'a', 'b'" */
static void option_text(struct buf *b, const char *option, const struct opt_list *l)
{
	char brief[ESCAPE_BRIEF_BUF];
	size_t i;

	buf_adds(b, option);
	for (i = 0; i < l->nr; i++)
		buf_addf(b, "%s '%s'", i ? "," : "",
			escape_brief(brief, sizeof(brief), l->items[i]));
}

void filter_describe(const struct filter_options *o, struct buf *b)
{
	const struct {
		const char *option;
		const struct opt_list *list;
	} lists[] = {
		{"--process", &o->process},
		{"--thread", &o->thread},
		{"--focus", &o->focus},
		{"--ignore", &o->ignore},
	};
	char brief[ESCAPE_BRIEF_BUF];
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (!lists[i].list->nr)
			continue;
		if (b->len)
			buf_addc(b, ' ');
		option_text(b, lists[i].option, lists[i].list);
	}
	if (o->from)
		buf_addf(b, "%s--from %s", b->len ? " " : "",
			escape_brief(brief, sizeof(brief), o->from));
	if (o->to)
		buf_addf(b, "%s--to %s", b->len ? " " : "",
			escape_brief(brief, sizeof(brief), o->to));
}

/* --- names that are there ------------------------------------------------ */

struct heard {
	const char *name;
	size_t len;
	uint64_t weight; /* what it holds in the selection before the filter */
	int near;	 /* holds the asked text, ignoring case */
};

static int by_name(const void *pa, const void *pb)
{
	const struct heard *a = pa, *b = pb;
	size_t min = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->name, b->name, min);

	return c ? c : (a->len > b->len) - (a->len < b->len);
}

static int by_interest(const void *pa, const void *pb)
{
	const struct heard *a = pa, *b = pb;

	if (a->near != b->near)
		return a->near > b->near ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return by_name(pa, pb);
}

/* Letters and digits of a pattern: what a slip of it still has in common. */
static void core_of(char *dst, size_t size, const char *pattern)
{
	size_t n = 0;

	for (; *pattern && n + 1 < size; pattern++)
		if (!strchr("*?\\^$.[]()|+{}", *pattern))
			dst[n++] = *pattern;
	dst[n] = '\0';
}

static int is_near(const struct opt_list *l, const char *name)
{
	const char *known[1] = {name};
	char core[128];
	size_t i;

	for (i = 0; i < l->nr; i++) {
		core_of(core, sizeof(core), l->items[i]);
		if (*core && (strcasestr(name, core) || opts_nearest(core, known, 1)))
			return 1;
	}
	return 0;
}

/* Sort, merge equal names, and say the first few: "hint: threads there: ...". */
static void hint_names(
	struct err *e, const char *what, struct heard *h, size_t nr, const struct opt_list *asked)
{
	struct buf b = BUF_INIT;
	size_t i, merged = 0, shown = 0, more = 0;

	qsort(h, nr, sizeof(*h), by_name);
	for (i = 0; i < nr; i++) {
		if (merged && !by_name(&h[i], &h[merged - 1]))
			h[merged - 1].weight += h[i].weight;
		else
			h[merged++] = h[i];
	}
	nr = merged;
	for (i = 0; i < nr; i++)
		h[i].near = is_near(asked, h[i].name);
	qsort(h, nr, sizeof(*h), by_interest);
	for (i = 0; i < nr; i++) {
		size_t len = text_fit(h[i].name, h[i].len, NAME_BYTES);

		if (shown == NAMES_SHOWN) {
			more++;
			continue;
		}
		buf_adds(&b, shown++ ? ", '" : "'");
		escape_text(&b, h[i].name, len);
		buf_adds(&b, len < h[i].len ? "..'" : "'");
	}
	if (shown && more)
		err_hint(e, "%s there: %s and %zu more", what, buf_str(&b), more);
	else if (shown)
		err_hint(e, "%s there: %s", what, buf_str(&b));
	buf_release(&b);
}

static void hint_tasks(struct err *e, const struct profile *p, const struct filter_options *before,
	const struct opt_list *asked, int processes)
{
	uint32_t nr = processes ? profile_nr_processes(p) : profile_nr_threads(p), n = 0, i;
	const struct prof_sample *samples;
	struct heard *h = calloc((size_t)nr + 1, sizeof(*h));
	struct selection s;
	size_t nr_samples, k;

	samples = profile_samples(p, &nr_samples);
	if (!h || selection_make(&s, p, before, NULL)) {
		free(h);
		return;
	}
	for (i = 1; i <= nr; i++) {
		h[i].name = processes ? profile_process(p, i)->name : profile_thread(p, i)->name;
		h[i].len = processes ? profile_process(p, i)->name_len
				     : profile_thread(p, i)->name_len;
	}
	for (k = 0; k < s.nr; k++) {
		uint32_t t = samples[s.samples[k]].thread;

		h[processes ? profile_thread(p, t)->process : t].weight++;
	}
	for (i = 1; i <= nr; i++)
		if (h[i].weight)
			h[n++] = h[i];
	hint_names(e, processes ? "processes" : "threads", h, n, asked);
	selection_release(&s);
	free(h);
}

static void hint_funcs(struct err *e, const struct profile *p, const struct filter_options *before,
	const struct opt_list *asked)
{
	const struct prof_sample *samples;
	const struct prof_stack *stacks;
	uint32_t nr = profile_nr_funcs(p), n = 0, i, k;
	struct heard *h = calloc((size_t)nr + 1, sizeof(*h));
	struct selection s;
	size_t nr_samples, nr_stacks, j;

	samples = profile_samples(p, &nr_samples);
	stacks = profile_stacks(p, &nr_stacks);
	if (!h || selection_make(&s, p, before, NULL)) {
		free(h);
		return;
	}
	for (i = 0; i < nr; i++) {
		h[i].name = profile_func(p, i)->name;
		h[i].len = profile_func(p, i)->name_len;
	}
	for (j = 0; j < s.nr; j++)
		h[profile_frame_funcs(p, stacks[samples[s.samples[j]].stack].frame, &k)[0]]
			.weight++;
	for (i = 0; i < nr; i++)
		if (h[i].weight)
			h[n++] = h[i];
	hint_names(e, "functions", h, n, asked);
	selection_release(&s);
	free(h);
}

/* --- the reasons --------------------------------------------------------- */

static int no_samples(const struct selection *s, struct err *e)
{
	const struct profile *p = s->p;
	uint64_t ticks = profile_counter(p, COUNTER_TICKS), lost = profile_lost(p);
	char time[32], a[32], b[32], c[32];

	if (profile_is_import(p)) {
		err_set(e, -ENODATA, "no stacks: the text has no line with a count");
		err_hint(e, "a line is \"root;caller;leaf 12\"");
		return -ENODATA;
	}
	fmt_duration(time, sizeof(time), profile_duration_ns(p));
	if (lost) {
		err_set(e, -ENODATA, "no samples in %s: all %s were lost", time,
			fmt_count(a, sizeof(a), lost));
		err_hint(e, "record with a larger --buffer or a lower -F");
		return -ENODATA;
	}
	if (ticks)
		err_set(e, -ENODATA,
			"no samples: what was watched did not run on a CPU in %s "
			"(%s timer ticks: %s idle, %s in other tasks)",
			time, fmt_count(a, sizeof(a), ticks),
			fmt_count(b, sizeof(b), profile_counter(p, COUNTER_IDLE)),
			fmt_count(c, sizeof(c), profile_counter(p, COUNTER_NOT_ADMITTED)));
	else
		err_set(e, -ENODATA, "no samples: what was watched did not run on a CPU in %s",
			time);
	err_hint(e, "it slept, waited, or had ended: record while it works, or everything with -a");
	return -ENODATA;
}

int selection_explain(const struct selection *s, const struct filter_options *o, struct err *e)
{
	static const struct filter_options none;
	struct filter_options step = {0}, before;
	uint64_t all, left, now;
	const char *noun = s->value->sampled ? "samples" : "stacks";
	char n[32], end[32];
	struct buf b = BUF_INIT;
	int ret = -ENODATA;

	if (s->nr && s->total)
		return 0;
	if (!o)
		o = &none;
	step.view = o->view;
	all = left = samples_of(s->p, &step);
	if (!all)
		return no_samples(s, e);
	if (s->nr)
		return err_set(e, -ENODATA, "%s %s, but all their values are 0",
			fmt_count(n, sizeof(n), s->nr), noun);

	fmt_count(n, sizeof(n), all);
	fmt_duration(end, sizeof(end), profile_duration_ns(s->p));
	step.from = o->from;
	step.to = o->to;
	now = samples_of(s->p, &step);
	if (!now) {
		char brief[ESCAPE_BRIEF_BUF];

		if (o->from && s->from_ns >= profile_duration_ns(s->p))
			err_set(e, ret,
				"%s samples, but none inside the window: --from %s is beyond "
				"the end of the recording (%s)",
				n, escape_brief(brief, sizeof(brief), o->from), end);
		else
			err_set(e, ret, "%s samples in %s, but none inside the window", n, end);
		return ret;
	}
	buf_addf(&b, "%s %s", n, noun);
	if (now < left)
		buf_addf(&b, ", %s of them inside the window", fmt_count(n, sizeof(n), now));
	left = now;

	before = step;
	step.process = o->process;
	now = samples_of(s->p, &step);
	if (!now) {
		buf_adds(&b, ", but none inside ");
		option_text(&b, "--process", &o->process);
		err_set(e, ret, "%s", buf_str(&b));
		hint_tasks(e, s->p, &before, &o->process, 1);
		goto out;
	}
	if (now < left)
		buf_addf(&b, ", %s of them in the process", fmt_count(n, sizeof(n), now));
	left = now;

	before = step;
	step.thread = o->thread;
	now = samples_of(s->p, &step);
	if (!now) {
		buf_adds(&b, ", but none inside ");
		option_text(&b, "--thread", &o->thread);
		err_set(e, ret, "%s", buf_str(&b));
		hint_tasks(e, s->p, &before, &o->thread, 0);
		goto out;
	}
	if (now < left)
		buf_addf(&b, ", %s of them in the thread", fmt_count(n, sizeof(n), now));
	left = now;

	before = step;
	step.focus = o->focus;
	now = samples_of(s->p, &step);
	if (!now) {
		buf_adds(&b, ", but no stack has a function that matches ");
		option_text(&b, "--focus", &o->focus);
		err_set(e, ret, "%s", buf_str(&b));
		hint_funcs(e, s->p, &before, &o->focus);
		goto out;
	}
	if (now < left)
		buf_addf(&b, ", %s of them with a match of --focus", fmt_count(n, sizeof(n), now));
	buf_adds(&b, ", but all have a function that matches ");
	option_text(&b, "--ignore", &o->ignore);
	err_set(e, ret, "%s", buf_str(&b));
out:
	buf_release(&b);
	return ret;
}
