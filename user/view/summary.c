/* SPDX-License-Identifier: BSD-2-Clause */
#include "summary.h"

#include <math.h>

#include "user/base/fmt.h"

#define CUT_WARN_PCT                                                                               \
	5.0 /* stacks cut at the depth limit, of all: totals of outer functions are too low */

void summary_make(struct summary *s, const struct selection *sel)
{
	const struct profile *p = sel->p;
	const struct record_run *run = profile_run(p);
	uint64_t all = sel->window_samples + sel->lost;
	const char *target, *command;

	profile_meta(p, profile_is_import(p) ? "import.file" : "target", &target, NULL);
	profile_meta(p, "command", &command, NULL);
	*s = (struct summary){
		.target = target ? target : "",
		.command = command ? command : "",
		.value = sel->value,
		.import = profile_is_import(p),
		.complete = profile_end(p) != NULL,
		.filtered = sel->filtered,
		.freq = run->period_ns ? 1e9 / (double)run->period_ns : 0,
		.cpus = run->cpus,
		.threads = sel->threads,
		.processes = sel->processes,
		.samples = sel->nr,
		.total = sel->total,
		.from_ns = sel->from_ns,
		.to_ns = sel->to_ns,
		.window_ns = sel->to_ns - sel->from_ns,
		.duration_ns = profile_duration_ns(p),
		.share_pct = share_pct(sel->total, sel->capture_total),
		.cpu_pct = NAN,
		.lost = sel->lost,
		.lost_permille = all ? 1000.0 * (double)sel->lost / (double)all : 0,
		.truncated = sel->truncated,
		.unresolved = sel->unresolved,
		.broken = sel->broken,
		.throttled = profile_counter(p, COUNTER_THROTTLED),
		.ticks = profile_counter(p, COUNTER_TICKS),
	};
	if (s->window_ns && sel->type == VALUE_CPU)
		s->cpu_pct = 100.0 * (double)s->total / (double)s->window_ns;
}

static void line(struct buf *b)
{
	if (b->len)
		buf_addc(b, '\n');
}

void summary_warnings(const struct summary *s, struct buf *b)
{
	char n[32], m[32];

	if (!s->complete) {
		line(b);
		buf_adds(b,
			"the recording was not ended in order: this is what was written by then");
	}
	if (s->lost_permille > LOSS_WARN_PERMILLE) {
		line(b);
		buf_addf(b,
			"%s samples lost, %.1f of 1,000: record with a larger --buffer or a lower "
			"-F",
			fmt_count(n, sizeof(n), s->lost), s->lost_permille);
	}
	if (s->throttled && s->throttled * 1000 > s->ticks + s->throttled) {
		line(b);
		buf_addf(b,
			"the kernel left out %s of %s timer ticks (its limit on the rate): record "
			"with a lower -F",
			fmt_count(n, sizeof(n), s->throttled),
			fmt_count(m, sizeof(m), s->ticks + s->throttled));
	}
	if (s->samples && 100.0 * (double)s->truncated > CUT_WARN_PCT * (double)s->samples) {
		line(b);
		buf_addf(b,
			"%.0f %% of the stacks are cut at the depth limit: totals of outer "
			"functions are too low",
			100.0 * (double)s->truncated / (double)s->samples);
	}
}

double summary_seconds_to_1pct(const struct summary *s, double err_pct)
{
	/* The error falls with the root of the time. */
	if (!(err_pct > 1) || !s->window_ns)
		return 0;
	return (double)s->window_ns / 1e9 * err_pct * err_pct;
}
