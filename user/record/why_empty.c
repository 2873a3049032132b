/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Empty is never a success, and "no samples" alone tells nobody what to do. The
 * accounting knows: no ticks at all, everything lost, the target ended, slept,
 * or used less CPU time than one period. Checked in this order: the more
 * certain first.
 */
#include "why_empty.h"

#include <errno.h>

#include "kernel.h"
#include "proc_stat.h"
#include "user/base/fmt.h"

#define NS_PER_S  1e9
#define TICKS_DUE 10 /* so many periods of CPU time do not go by without a tick */

/* "; it is sleeping now", for a single target that still lives and was not seen. */
static void add_state(struct buf *b, const struct target *t)
{
	struct proc_stat st;

	if (t->nr != 1 || t->tasks[0].gone)
		return;
	if (proc_stat_read(t->tasks[0].pid, t->mode == ADMIT_TIDS ? t->tasks[0].id : 0, &st))
		return;
	if (st.state == 'R')
		buf_adds(b, "; it is ready to run, but others had the CPUs");
	else
		buf_addf(b, "; it is %s now", proc_state_text(st.state));
}

static void explain_cpu(struct buf *b, const struct target *t, const struct record_options *o,
	const struct record_result *r, double secs)
{
	double cpu_ms = (double)r->target_cpu_ns / 1e6, share = 0;
	char period[32];

	if (secs > 0)
		share = 100 * (double)r->target_cpu_ns / NS_PER_S / secs;
	if (!t->cpu_known || (t->children && t->mode == ADMIT_PIDS)) {
		buf_addf(b, "was not seen on a CPU in %.2f s", secs);
		add_state(b, t);
		return;
	}
	if (!r->target_cpu_ns)
		buf_addf(b, "used no CPU time in %.2f s (0.00 %% of one CPU)", secs);
	else
		buf_addf(b, "used %.2f ms of CPU time in %.2f s (%.2f %% of one CPU)", cpu_ms, secs,
			share);
	if (r->target_cpu_ns && (double)r->target_cpu_ns < NS_PER_S / (double)o->freq)
		buf_addf(b, ", less than one sampling period of %s",
			fmt_duration(period, sizeof(period), 1000000000u / o->freq));
	if (r->end_reason != END_TARGET_EXITED)
		add_state(b, t);
}

int why_empty(struct target *t, const struct record_options *o, const struct record_result *r,
	const struct account_totals *a, struct err *e)
{
	double secs = (double)r->duration_ns / NS_PER_S;
	uint64_t period_ns = 1000000000u / o->freq;
	struct buf who = BUF_INIT, why = BUF_INIT;
	const char *hint;

	target_describe(t, &who);
	if (a->lost) {
		buf_addf(&why, "all %llu were lost", (unsigned long long)a->lost);
		hint = "--buffer gives the rings more room; a lower -F needs less";
	} else if (!r->duration_ns) {
		buf_adds(&why, r->end_reason == END_TARGET_EXITED
				       ? "the target ended before sampling began"
				       : "stopped before sampling began");
		hint = "a shorter --delay begins earlier";
	} else if (!a->ticks && r->end_reason == END_SIGNAL) {
		buf_addf(&why, "stopped after %.3f s, before the first tick", secs);
		hint = "let it record for longer";
	} else if (!a->ticks && t->cpu_known && r->target_cpu_ns > TICKS_DUE * period_ns) {
		/* Idle CPUs do not tick: only work without ticks is a fault. */
		buf_addf(&why, "the timer did not tick in %.3f s", secs);
		hint = "profbpf doctor checks the kernel's timers";
	} else if (r->end_reason == END_TARGET_EXITED) {
		buf_addf(&why, "%s ended after %.2f s; it ", buf_str(&who), secs);
		explain_cpu(&why, t, o, r, secs);
		hint = "a higher -F sees short work; -- COMMAND samples from the first instruction";
	} else if (t->mode == ADMIT_ALL && kernel_pid_namespace() && a->not_admitted) {
		buf_addf(&why, "the sampled CPUs ran no process of this pid namespace in %.2f s",
			secs);
		hint = "from inside a pid namespace only its own processes can be recorded: run "
		       "profbpf outside of it, on the host";
	} else if (t->mode == ADMIT_ALL) {
		buf_addf(&why, "the sampled CPUs were idle for %.2f s", secs);
		hint = "record while there is work, or longer";
	} else {
		buf_addf(&why, "%s ", buf_str(&who));
		explain_cpu(&why, t, o, r, secs);
		hint = t->cpus ? "it may have run on CPUs that --cpus leaves out; or record longer"
			       : "it waited: record while it works, longer (-d), or faster (-F)";
		if (!t->children && t->mode == ADMIT_PIDS)
			hint = t->cpus ? hint
				       : "it waited: record while it works, longer (-d), or with "
					 "its children (--children)";
	}
	if (who.err || why.err)
		err_set(e, -ENODATA, "no samples");
	else
		err_set(e, -ENODATA, "no samples: %s", why.data);
	err_hint(e, "%s", hint);
	buf_release(&who);
	buf_release(&why);
	return -ENODATA;
}
