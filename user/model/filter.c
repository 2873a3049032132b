/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: each restriction is decided once per thing it speaks of (thread,
 * function, stack node), never per sample: patterns over a few names, then one
 * pass from the root over the trie, where a node inherits what its caller
 * matched, then a flag look-up per sample. Times need no look at all: samples
 * are in time order, a window is a range.
 *
 * Why a selection is empty is found by making it again with one restriction
 * more each time (filter_explain.c), so the reason cannot differ from the fact.
 */
#include "filter.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "keyed.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/base/glob.h"
#include "user/base/hashmap.h"

#define FLAG_FOCUS  0x1 /* a function of the stack matches --focus */
#define FLAG_IGNORE 0x2

struct window {
	uint64_t from, to; /* ns, half-open */
	int given;
};

static int nomem(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while filtering");
}

/* --- time --------------------------------------------------------------- */

static int parse_time(const char *option, const char *text, uint64_t *ns, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF];

	if (*text == '-')
		return err_set(e, -EINVAL,
			"%s %s: times count from the start of the recording and "
			"cannot be negative",
			option, escape_brief(brief, sizeof(brief), text));
	if (parse_duration(text, ns, e))
		return err_prefix(e, "%s", option);
	return 0;
}

static int make_window(
	struct window *w, const struct profile *p, const struct filter_options *o, struct err *e)
{
	char from[32], to[32];
	int ret;

	*w = (struct window){0, UINT64_MAX, o->from || o->to};
	if (!w->given)
		return 0;
	if (profile_is_import(p))
		return err_set(e, -EINVAL,
			"folded text has no times: --from and --to cannot be applied to it");
	if (o->from && (ret = parse_time("--from", o->from, &w->from, e)))
		return ret;
	if (o->to && (ret = parse_time("--to", o->to, &w->to, e)))
		return ret;
	fmt_duration(from, sizeof(from), w->from);
	fmt_duration(to, sizeof(to), w->to);
	if (w->from > w->to)
		return err_set(
			e, -EINVAL, "the window is reversed: --from %s is after --to %s", from, to);
	if (w->from == w->to)
		return err_set(
			e, -EINVAL, "the window is empty: --from and --to are both %s", from);
	return 0;
}

/* Index of the first sample at or after @ns. */
static size_t first_at(const struct prof_sample *samples, size_t nr, uint64_t ns)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (samples[mid].time_ns < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Lost samples have no time of their own, only the stretch they were lost in:
 * the part of it inside the window counts, rounded up. */
static uint64_t lost_inside(const struct profile *p, const struct window *w)
{
	const struct record_loss *l;
	uint64_t lost = 0;
	size_t nr, i;

	if (!w->given)
		return profile_lost(p);
	l = profile_losses(p, &nr);
	for (i = 0; i < nr; i++) {
		uint64_t from = l[i].from_ns > w->from ? l[i].from_ns : w->from;
		uint64_t to = l[i].to_ns < w->to ? l[i].to_ns : w->to;
		uint64_t all = l[i].to_ns - l[i].from_ns;

		if (!all) {
			if (l[i].from_ns >= w->from && l[i].from_ns < w->to)
				lost = value_add(lost, l[i].count);
		} else if (from < to) {
			lost = value_add(lost,
				(uint64_t)(((unsigned __int128)l[i].count * (to - from) + all - 1) /
					   all));
		}
	}
	return lost;
}

/* --- who ---------------------------------------------------------------- */

static int is_number(const char *s, uint32_t n)
{
	uint64_t v;

	return *s >= '0' && *s <= '9' && !parse_u64(s, 0, UINT32_MAX, &v, NULL) && v == n;
}

/* A name matches as it is, as a pattern, as its number, or as it is shown. */
static int matches_any(const struct opt_list *l, const char *name, size_t len, uint32_t number)
{
	struct buf shown = BUF_INIT;
	int hit = 0;
	size_t i;

	for (i = 0; i < l->nr && !hit; i++)
		hit = is_number(l->items[i], number) || glob_match(l->items[i], name, len);
	if (!hit) {
		escape_text(&shown, name, len);
		for (i = 0; i < l->nr && !hit && !shown.err; i++)
			hit = !strcmp(l->items[i], buf_str(&shown));
		buf_release(&shown);
	}
	return hit;
}

/* Per thread id: may its samples pass? NULL with 0 when there is no restriction. */
static int select_threads(uint8_t **out, const struct profile *p, const struct filter_options *o)
{
	uint32_t nr = profile_nr_threads(p), nr_procs = profile_nr_processes(p), i;
	uint8_t *ok, *proc_ok = NULL;

	*out = NULL;
	if (!o->thread.nr && !o->process.nr)
		return 0;
	ok = calloc((size_t)nr + 1, 1);
	proc_ok = calloc((size_t)nr_procs + 1, 1);
	if (!ok || !proc_ok) {
		free(ok);
		free(proc_ok);
		return -ENOMEM;
	}
	for (i = 1; i <= nr_procs; i++) {
		const struct prof_process *t = profile_process(p, i);

		proc_ok[i] = !o->process.nr ||
			     (uint8_t)matches_any(&o->process, t->name, t->name_len, t->rec.pid);
	}
	for (i = 1; i <= nr; i++) {
		const struct prof_thread *t = profile_thread(p, i);

		ok[i] = proc_ok[t->process] &&
			(!o->thread.nr || matches_any(&o->thread, t->name, t->name_len, t->tid));
	}
	free(proc_ok);
	*out = ok;
	return 0;
}

/* --- what --------------------------------------------------------------- */

#define REGEX_DEPTH 200	  /* groups in groups */
#define REGEX_SIZE  20000 /* things to match, with each repeated as often as its {m,n} says */

/* Behind the ']' that ends the list at @s, or its last byte. */
static const char *skip_list(const char *s)
{
	char class[3] = "?]";
	const char *end;

	s += s[1] == '^' ? 2 : 1;
	if (*s == ']')
		s++;
	for (; *s && *s != ']'; s++) {
		if (*s != '[' || !s[1] || !strchr(":.=", s[1]))
			continue;
		class[0] = s[1];
		end = strstr(s + 2, class);
		if (end)
			s = end + 1;
	}
	return *s ? s : s - 1;
}

/*
 * The C library's compiler calls itself for each group and copies what a {m,n}
 * repeats: a few bytes can cost all memory, or the stack. So @s is measured
 * first; whether it is a regular expression at all is not looked at.
 */
static int regex_fits(const char *s)
{
	uint64_t size[REGEX_DEPTH] = {0}, last = 0, n;
	size_t depth = 0;

	for (; *s; s++) {
		switch (*s) {
		case '(':
			if (++depth == REGEX_DEPTH)
				return 0;
			size[depth] = last = 1;
			break;
		case ')':
			if (!depth)
				break;
			last = size[depth--];
			size[depth] += last;
			break;
		case '{':
			for (n = 0; s[1] && s[1] != '}'; s++) {
				if (s[1] == ',')
					n = 0;
				else if (s[1] >= '0' && s[1] <= '9' && n <= REGEX_SIZE)
					n = n * 10 + (uint64_t)(s[1] - '0');
			}
			if (n > 1) {
				size[depth] += last * (n - 1);
				last *= n;
			}
			break;
		case '[':
			s = skip_list(s);
			size[depth] += last = 1;
			break;
		case '\\':
			s += !!s[1];
			size[depth] += last = 1;
			break;
		default:
			size[depth] += last = 1;
		}
		if (size[depth] > REGEX_SIZE)
			return 0;
	}
	return 1;
}

static int match_funcs(uint8_t *flags, const struct profile *p, const struct opt_list *patterns,
	const char *option, uint8_t flag, struct err *e)
{
	uint32_t nr = profile_nr_funcs(p), f;
	size_t i;

	for (i = 0; i < patterns->nr; i++) {
		char brief[ESCAPE_BRIEF_BUF], why[128];
		regex_t re;
		int bad;

		if (!regex_fits(patterns->items[i])) {
			err_set(e, -EINVAL, "%s '%s': too large a regular expression", option,
				escape_brief(brief, sizeof(brief), patterns->items[i]));
			err_hint(e, "use fewer groups and repeats {m,n} inside each other");
			return -EINVAL;
		}
		bad = regcomp(&re, patterns->items[i], REG_EXTENDED | REG_NOSUB);

		if (bad) {
			regerror(bad, &re, why, sizeof(why));
			err_set(e, -EINVAL, "%s '%s': not a regular expression: %s", option,
				escape_brief(brief, sizeof(brief), patterns->items[i]), why);
			err_hint(e, "quote special characters with a backslash: 'operator\\(\\)'");
			return -EINVAL;
		}
		for (f = 0; f < nr; f++) {
			const struct func *fn = profile_func(p, f);
			/* By length: names may hold NULs. */
			regmatch_t m = {0, (regoff_t)fn->name_len};

			if (!(flags[f] & flag) && !regexec(&re, fn->name, 0, &m, REG_STARTEND))
				flags[f] |= flag;
		}
		regfree(&re);
	}
	return 0;
}

/* Per trie node: FLAG_* of it and all its callers. NULL with 0 without patterns. */
static int select_stacks(
	uint8_t **out, const struct profile *p, const struct filter_options *o, struct err *e)
{
	const struct prof_stack *stacks;
	uint32_t nr_frames = profile_nr_frames(p), i, k, n;
	uint8_t *funcs, *frames, *nodes = NULL;
	size_t nr, at;
	int ret;

	*out = NULL;
	if (!o->focus.nr && !o->ignore.nr)
		return 0;
	stacks = profile_stacks(p, &nr);
	funcs = calloc((size_t)profile_nr_funcs(p) + 1, 1);
	frames = calloc((size_t)nr_frames + 1, 1);
	if (!funcs || !frames) {
		ret = nomem(e);
		goto out;
	}
	ret = match_funcs(funcs, p, &o->focus, "--focus", FLAG_FOCUS, e);
	if (!ret)
		ret = match_funcs(funcs, p, &o->ignore, "--ignore", FLAG_IGNORE, e);
	if (ret)
		goto out;
	for (i = 1; i <= nr_frames; i++) {
		const uint32_t *f = profile_frame_funcs(p, i, &n);

		for (k = 0; k < n; k++)
			frames[i] |= funcs[f[k]];
	}
	nodes = calloc(nr, 1);
	if (!nodes) {
		ret = nomem(e);
		goto out;
	}
	for (at = 1; at < nr; at++)
		nodes[at] = (uint8_t)(nodes[stacks[at].parent] | frames[stacks[at].frame]);
	*out = nodes;
out:
	free(funcs);
	free(frames);
	return ret;
}

/* --- the selection ------------------------------------------------------ */

static int choose_type(struct selection *s, const struct filter_options *o, struct err *e)
{
	const struct prof_sample *samples;
	uint32_t types = profile_run(s->p)->value_types;
	char brief[ESCAPE_BRIEF_BUF];
	unsigned type;
	size_t nr;

	samples = profile_samples(s->p, &nr);
	if (nr && samples[0].type < 32)
		types |= 1u << samples[0].type;
	if (o->view) {
		type = value_by_view(o->view);
		if (!type || !(types & 1u << type)) {
			err_set(e, -EINVAL, "--view %s: not in this capture",
				escape_brief(brief, sizeof(brief), o->view));
			for (type = 1; type < 32; type++)
				if (types & 1u << type && value_info(type))
					err_hint(e, "it holds: %s", value_info(type)->view);
			return -EINVAL;
		}
		s->type = (uint8_t)type;
	} else {
		for (type = 1; type < 32; type++)
			if (types & 1u << type && value_info(type))
				break;
		s->type = type < 32 ? (uint8_t)type : VALUE_CPU;
	}
	s->value = value_info(s->type);
	return 0;
}

/* How many different threads and processes are among the threads marked in
 * @seen: a renamed thread is one, and so is a process before and after exec. */
static int count_tasks(struct selection *s, const uint8_t *seen)
{
	uint32_t nr = profile_nr_threads(s->p), i, n = 0;
	struct keyed *threads = malloc(((size_t)nr + 1) * sizeof(*threads));
	struct keyed *procs = malloc(((size_t)nr + 1) * sizeof(*procs));
	struct keyed *tmp = malloc(((size_t)nr + 1) * sizeof(*tmp));
	int ret = -ENOMEM;

	if (!threads || !procs || !tmp)
		goto out;
	for (i = 1; i <= nr; i++) {
		const struct prof_thread *t = profile_thread(s->p, i);
		const struct record_process *r = &profile_process(s->p, t->process)->rec;
		uint64_t id[2] = {r->pid, r->start_boot_ns};

		if (!seen[i])
			continue;
		threads[n] = (struct keyed){(uint64_t)r->pid << 32 | t->tid, i};
		procs[n++] = (struct keyed){hash_bytes(id, sizeof(id)), i};
	}
	keyed_sort(threads, tmp, n);
	keyed_sort(procs, tmp, n);
	for (i = 0; i < n; i++) {
		s->threads += !i || threads[i].key != threads[i - 1].key;
		s->processes += !i || procs[i].key != procs[i - 1].key;
	}
	ret = 0;
out:
	free(threads);
	free(procs);
	free(tmp);
	return ret;
}

/* Per frame: is the innermost function without a name? */
static uint8_t *unnamed_frames(const struct profile *p)
{
	uint32_t nr = profile_nr_frames(p), i, n;
	uint8_t *unnamed = calloc((size_t)nr + 1, 1);

	for (i = 1; unnamed && i <= nr; i++) {
		const struct func *f = profile_func(p, profile_frame_funcs(p, i, &n)[0]);

		unnamed[i] = f->kind == FUNC_UNKNOWN || f->kind == FUNC_MARK;
	}
	return unnamed;
}

/* The walk ended where no stack ends; the frame-pointer chain's end is one, as far as we know. */
static int broke_off(unsigned result)
{
	switch (result) {
	case STACK_BROKEN:
	case STACK_NO_INFO:
	case STACK_NO_TABLE:
	case STACK_UNSUPPORTED:
	case STACK_FAULT:
	case STACK_LOST_REG:
	case STACK_STUCK:
		return 1;
	default:
		return 0;
	}
}

static int fill(struct selection *s, const struct window *w, const uint8_t *thread_ok,
	const uint8_t *nodes, int must_focus)
{
	const struct prof_sample *samples;
	const struct prof_stack *stacks;
	size_t nr, nr_stacks, first, end, i;
	uint8_t *seen, *unnamed;
	int ret = -ENOMEM;

	samples = profile_samples(s->p, &nr);
	stacks = profile_stacks(s->p, &nr_stacks);
	first = w->from ? first_at(samples, nr, w->from) : 0;
	end = w->to == UINT64_MAX ? nr : first_at(samples, nr, w->to);
	seen = calloc((size_t)profile_nr_threads(s->p) + 1, 1);
	unnamed = unnamed_frames(s->p);
	s->samples = malloc((end > first ? end - first : 1) * sizeof(*s->samples));
	if (!seen || !unnamed || !s->samples)
		goto out;
	for (i = 0; i < nr; i++)
		if (samples[i].type == s->type)
			s->capture_total = value_add(s->capture_total, samples[i].value);
	for (i = first; i < end; i++) {
		const struct prof_sample *a = &samples[i];

		if (a->type != s->type)
			continue;
		s->window_samples++;
		if (thread_ok && !thread_ok[a->thread])
			continue;
		if (nodes && ((must_focus && !(nodes[a->stack] & FLAG_FOCUS)) ||
				     nodes[a->stack] & FLAG_IGNORE))
			continue;
		s->samples[s->nr++] = (uint32_t)i;
		s->total = value_add(s->total, a->value);
		s->total_sq += (double)a->value * (double)a->value;
		s->truncated += a->result == STACK_TRUNCATED;
		s->broken += broke_off(a->result);
		s->unresolved += unnamed[stacks[a->stack].frame];
		seen[a->thread] = 1;
	}
	if (!s->value->sampled)
		s->total_sq = NAN;
	ret = count_tasks(s, seen);
out:
	free(seen);
	free(unnamed);
	return ret;
}

int selection_make(
	struct selection *s, const struct profile *p, const struct filter_options *o, struct err *e)
{
	static const struct filter_options none;
	uint8_t *thread_ok = NULL, *nodes = NULL;
	struct window w;
	int ret;

	*s = (struct selection){.p = p};
	if (!o)
		o = &none;
	ret = choose_type(s, o, e);
	if (!ret)
		ret = make_window(&w, p, o, e);
	if (ret)
		goto out;
	if (select_threads(&thread_ok, p, o)) {
		ret = nomem(e);
		goto out;
	}
	ret = select_stacks(&nodes, p, o, e);
	if (ret)
		goto out;
	s->filtered = w.given || thread_ok || nodes;
	s->lost = lost_inside(p, &w);
	s->from_ns = w.from;
	s->to_ns = w.to;
	if (s->to_ns == UINT64_MAX || s->to_ns > profile_duration_ns(p))
		s->to_ns = profile_duration_ns(p);
	if (s->from_ns > s->to_ns)
		s->to_ns = s->from_ns; /* begins beyond the end */
	if (fill(s, &w, thread_ok, nodes, o->focus.nr > 0))
		ret = nomem(e);
out:
	free(thread_ok);
	free(nodes);
	if (ret)
		selection_release(s);
	return ret;
}

void selection_release(struct selection *s)
{
	free(s->samples);
	*s = (struct selection){0};
}
