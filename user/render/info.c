/* SPDX-License-Identifier: BSD-2-Clause */
#include "info.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "user/base/escape.h"
#include "user/base/fmt.h"

#define MODULES_SHOWN 40 /* more would bury the rest; --json has them all */

/* "label      text" with the text escaped. */
static void line(struct out *o, const char *label, const char *text, size_t len)
{
	struct buf b = BUF_INIT;

	escape_text(&b, text, len);
	out_printf(o, "  %-12s ", label);
	out_write(o, buf_str(&b), b.len);
	out_char(o, '\n');
	if (b.err)
		out_fail(o, b.err);
	buf_release(&b);
}

static void meta_line(struct out *o, const struct info_view *v, const char *label, const char *key)
{
	const char *text;

	profile_meta(v->p, key, &text, NULL);
	if (text && *text)
		line(o, label, text, strlen(text));
}

/* --- the run --------------------------------------------------------------- */

static void put_file(struct out *o, const struct info_view *v, const char *name)
{
	const struct capture_info *f = profile_capture_info(v->p);
	char n[32], m[32];

	if (!f) {
		out_printf(o, "%s: folded text, %s lines with a count, %s in all\n", name,
			fmt_count(n, sizeof(n), v->s.samples), fmt_count(m, sizeof(m), v->s.total));
		return;
	}
	out_printf(o, "%s: %s capture, %s in %s %s\n", name,
		f->complete ? "complete" : "unfinished", fmt_bytes(n, sizeof(n), f->file_bytes),
		fmt_count(m, sizeof(m), f->blocks), f->blocks == 1 ? "block" : "blocks");
	if (f->tail_bytes)
		out_printf(o, "  %s of an unfinished block at its end are not read\n",
			fmt_bytes(n, sizeof(n), f->tail_bytes));
}

static void put_time(struct out *o, const struct info_view *v)
{
	const struct record_run *run = profile_run(v->p);
	const struct record_end *end = profile_end(v->p);
	time_t t = (time_t)(run->start_real_ns / 1000000000u);
	char text[64], n[32];
	struct tm tm;

	if (run->start_real_ns && gmtime_r(&t, &tm) &&
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		line(o, "started", text, strlen(text));
	snprintf(text, sizeof(text), "%s", fmt_duration(n, sizeof(n), v->s.duration_ns));
	out_printf(o, "  %-12s %s, %s\n", "sampled for", text,
		end ? end_reason_text(end->reason) : "not ended in order");
}

static void put_run(struct out *o, const struct info_view *v)
{
	uint64_t asked;

	out_str(o, "\nRun\n");
	meta_line(o, v, "command", "command");
	meta_line(o, v, "target", "target");
	put_time(o, v);
	meta_line(o, v, "events", "events");
	out_printf(o, "  %-12s ", "rate");
	if (profile_meta(v->p, "freq.asked", NULL, &asked))
		out_printf(o, "%llu Hz asked, ", (unsigned long long)asked);
	if (isnan(v->effective_hz))
		out_str(o, "effective not known");
	else
		out_printf(o, "%.1f samples a second of CPU time", v->effective_hz);
	out_printf(o, ", %u %s\n", v->s.cpus, v->s.cpus == 1 ? "CPU" : "CPUs");
	meta_line(o, v, "profbpf", "profbpf.version");
}

static int knows_host(const struct info_view *v)
{
	const char *key, *text;
	uint64_t num;
	size_t i;

	for (i = 0; profile_meta_at(v->p, i, &key, &text, &num); i++)
		if (!strncmp(key, "host.", 5))
			return 1;
	return 0;
}

static void put_host(struct out *o, const struct info_view *v)
{
	const char *before, *after;
	uint64_t steal;
	char n[32];

	if (!knows_host(v))
		return;
	out_str(o, "\nHost\n");
	meta_line(o, v, "name", "host.name");
	meta_line(o, v, "kernel", "host.kernel");
	meta_line(o, v, "CPU", "host.cpu_model");
	meta_line(o, v, "governor", "host.governor");
	profile_meta(v->p, "host.load_before", &before, NULL);
	profile_meta(v->p, "host.load_after", &after, NULL);
	if (before || after) {
		struct buf b = BUF_INIT;

		buf_addf(&b, "%s before, %s after", before ? before : "?", after ? after : "?");
		line(o, "load", buf_str(&b), b.len);
		buf_release(&b);
	}
	if (profile_meta(v->p, "host.steal_ns", NULL, &steal))
		out_printf(o, "  %-12s %s taken by other guests of the machine\n", "steal",
			fmt_duration(n, sizeof(n), steal));
}

/* --- what came ------------------------------------------------------------- */

static void put_count(struct out *o, const char *label, uint64_t count, const char *words)
{
	char n[32];

	out_printf(o, "  %12s  %s%s%s\n", fmt_count(n, sizeof(n), count), label, *words ? ": " : "",
		words);
}

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void put_samples(struct out *o, const struct info_view *v)
{
	char n[32], m[32];
	unsigned i;

	out_str(o, "\nSamples\n");
	out_printf(o, "  %12s  %s of %u %s in %u %s, %s of CPU time",
		fmt_count(n, sizeof(n), v->s.samples), plural(v->s.samples, "sample", "samples"),
		v->s.threads, plural(v->s.threads, "thread", "threads"), v->s.processes,
		plural(v->s.processes, "process", "processes"),
		fmt_duration(m, sizeof(m), v->s.total));
	if (!isnan(v->s.cpu_pct))
		out_printf(o, " (%s %% of one CPU)", fmt_pct(n, sizeof(n), v->s.cpu_pct));
	out_char(o, '\n');
	if (v->lost)
		out_printf(o, "  %12s  lost, %.2f of 1,000\n", fmt_count(n, sizeof(n), v->lost),
			1000.0 * (double)v->lost / (double)(v->lost + v->s.samples));
	else
		out_printf(o, "  %12s  lost\n", "0");
	for (i = 1; i < LOSS_CAUSE_MAX; i++)
		if (v->lost_by_cause[i])
			out_printf(o, "  %12s    %s; helps: %s\n",
				fmt_count(n, sizeof(n), v->lost_by_cause[i]), loss_cause_text(i),
				info_loss_advice(i));
	for (i = 1; i < COUNTER_ID_MAX; i++)
		if (v->counters[i] && i != COUNTER_VALUE_CAPPED_NS)
			put_count(o, counter_name(i), v->counters[i], "");
	if (v->counters[COUNTER_VALUE_CAPPED_NS])
		out_printf(o, "  %12s  cut off values longer than a few periods\n",
			fmt_duration(n, sizeof(n), v->counters[COUNTER_VALUE_CAPPED_NS]));
}

static void put_stacks(struct out *o, const struct info_view *v)
{
	unsigned i;

	out_str(o, "\nStacks\n");
	for (i = 0; i < STACK_RESULT_MAX; i++)
		if (v->stacks[i])
			put_count(o, stack_result_text(i), v->stacks[i], "");
}

static void put_names(struct out *o, const struct info_view *v)
{
	char n[32], m[32];
	unsigned i;

	out_str(o, "\nNames\n");
	out_printf(o, "  %12s  frames, %s functions\n", fmt_count(n, sizeof(n), v->frames),
		fmt_count(m, sizeof(m), v->functions));
	for (i = 0; i < REASON_MAX; i++)
		if (v->unnamed_frames[i])
			out_printf(o, "  %12s  frames without a name: %s\n",
				fmt_count(n, sizeof(n), v->unnamed_frames[i]),
				frame_reason_text(i));
	for (i = 0; i < REASON_MAX; i++)
		if (v->unnamed_samples[i])
			out_printf(o, "  %12s  samples whose innermost frame has none: %s\n",
				fmt_count(n, sizeof(n), v->unnamed_samples[i]),
				i ? frame_reason_text(i) : "no stack");
}

static void put_modules(struct out *o, const struct info_view *v)
{
	struct buf b = BUF_INIT;
	uint32_t i;
	size_t k;

	if (!v->modules)
		return;
	out_printf(o, "\nModules (%u)\n", v->modules);
	for (i = 1; i <= v->modules && i <= MODULES_SHOWN; i++) {
		const struct prof_module *m = profile_module(v->p, i);

		buf_clear(&b);
		escape_text(&b, m->path, strlen(m->path));
		out_str(o, "  ");
		for (k = 0; k < m->build_id_len && k < 20; k++)
			out_printf(o, "%02x", m->build_id[k]);
		if (!m->build_id)
			out_printf(o, "%-40s", "no build ID");
		for (; m->build_id && k < 20; k++)
			out_str(o, "  ");
		out_printf(o, "  %s%s", *m->path ? buf_str(&b) : "[no path]",
			m->rec.flags & MODULE_F_DELETED ? " (deleted)" : "");
		if (m->rec.flags & MODULE_F_NO_FILE)
			out_printf(o, ": %s", frame_reason_text(m->rec.reason));
		out_char(o, '\n');
	}
	if (v->modules > MODULES_SHOWN)
		out_printf(o, "  and %u more (--json has all)\n", v->modules - MODULES_SHOWN);
	if (b.err)
		out_fail(o, b.err);
	buf_release(&b);
}

/* --- what it cost, and the rest -------------------------------------------- */

static void put_cost(struct out *o, const struct info_view *v)
{
	static const struct {
		const char *key, *words;
		int is_time;
	} costs[] = {
		{"overhead.own_cpu_ns", "of our CPU time while sampling", 1},
		{"overhead.bpf_run_ns", "in the programs in the kernel", 1},
		{"overhead.bpf_runs", "runs of them", 2},
		{"overhead.naming_ns", "looking up names afterwards", 1},
		{"overhead.map_bytes", "held in the kernel", 0},
		{"overhead.dictionary_bytes", "held by dictionaries", 0},
		{"overhead.peak_rss_bytes", "of memory at most", 0},
	};
	int any = 0;
	uint64_t x;
	char n[32];
	size_t i;

	for (i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		if (profile_meta(v->p, costs[i].key, NULL, &x)) {
			out_str(o, any++ ? "" : "\nCost (measured)\n");
			out_printf(o, "  %12s  %s\n",
				costs[i].is_time == 1 ? fmt_duration(n, sizeof(n), x)
				: costs[i].is_time    ? fmt_count(n, sizeof(n), x)
						      : fmt_bytes(n, sizeof(n), x),
				costs[i].words);
		}
	}
}

/* "57 unwind tables of 1,234,567 rows; 2 of 59 files have none" */
static void put_tables(struct out *o, const struct info_view *v)
{
	uint64_t tables, rows = 0, ns = 0, evicted = 0, failed = 0, no_room = 0;
	char n[32], m[32];

	if (!profile_meta(v->p, "unwind.tables", NULL, &tables))
		return;
	profile_meta(v->p, "unwind.rows", NULL, &rows);
	profile_meta(v->p, "unwind.build_ns", NULL, &ns);
	profile_meta(v->p, "unwind.evicted", NULL, &evicted);
	profile_meta(v->p, "unwind.failed", NULL, &failed);
	profile_meta(v->p, "unwind.no_room", NULL, &no_room);
	out_printf(o, "  %12s  making unwind tables: %llu files, %s rows\n",
		fmt_duration(n, sizeof(n), ns), (unsigned long long)tables,
		fmt_count(m, sizeof(m), rows));
	if (evicted || failed || no_room)
		out_printf(o,
			"  %12s  files without a table for an error, %llu for want of memory "
			"(%llu dropped)\n",
			fmt_count(n, sizeof(n), failed), (unsigned long long)no_room,
			(unsigned long long)evicted);
}

static void put_facts(struct out *o, const struct info_view *v)
{
	struct buf b = BUF_INIT;
	const char *key, *text;
	uint64_t num;
	size_t i;

	out_str(o, "\nAll facts recorded\n");
	for (i = 0; profile_meta_at(v->p, i, &key, &text, &num); i++) {
		buf_clear(&b);
		escape_text(&b, key, strlen(key));
		buf_adds(&b, " = ");
		if (text)
			escape_text(&b, text, strlen(text));
		else
			buf_addf(&b, "%llu", (unsigned long long)num);
		out_printf(o, "  %s\n", buf_str(&b));
	}
	if (b.err)
		out_fail(o, b.err);
	buf_release(&b);
}

static void put_reveals(struct out *o, const struct info_view *v)
{
	const struct info_reveals *r = &v->reveals;

	out_printf(o, "\nWho gets this file learns:%s%s%s%s%s\n",
		r->arguments ? " command arguments," : "", r->paths ? " paths," : "",
		r->host ? " the host's name," : "",
		r->names ? " names of functions and threads," : "",
		r->source ? " source text." : " no source text.");
}

void info_render(struct out *o, const struct info_view *v, const char *name)
{
	put_file(o, v, name);
	if (v->s.import) {
		put_names(o, v);
		return;
	}
	put_run(o, v);
	put_host(o, v);
	put_samples(o, v);
	put_stacks(o, v);
	put_names(o, v);
	put_modules(o, v);
	put_cost(o, v);
	put_tables(o, v);
	put_facts(o, v);
	put_reveals(o, v);
}
