/* SPDX-License-Identifier: BSD-2-Clause */
#include "info.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "user/base/json.h"

static void key_bool(struct json *j, const char *key, int v)
{
	json_key(j, key);
	json_bool(j, v);
}

/* META under our own key: text, number, or seconds of a number of ns; null when absent. */
static void meta_str(struct json *j, const struct info_view *v, const char *key, const char *meta)
{
	const char *text;

	profile_meta(v->p, meta, &text, NULL);
	json_key_text(j, key, text);
}

static void meta_u64(struct json *j, const struct info_view *v, const char *key, const char *meta)
{
	uint64_t num;

	json_key(j, key);
	if (profile_meta(v->p, meta, NULL, &num))
		json_u64(j, num);
	else
		json_null(j);
}

static void meta_s(struct json *j, const struct info_view *v, const char *key, const char *meta)
{
	uint64_t num;

	json_key_num(j, key, profile_meta(v->p, meta, NULL, &num) ? (double)num / 1e9 : NAN, 9);
}

static void put_file(struct json *j, const struct info_view *v)
{
	const struct capture_info *f = profile_capture_info(v->p);

	json_key(j, "file");
	json_obj(j);
	json_key_text(j, "kind", f ? "capture" : "folded");
	if (f) {
		key_bool(j, "complete", f->complete);
		json_key_u64(j, "bytes", f->file_bytes);
		json_key_u64(j, "raw_bytes", f->raw_bytes);
		json_key_u64(j, "blocks", f->blocks);
		json_key_u64(j, "tail_bytes", f->tail_bytes);
		json_key_u64(j, "unknown_records", f->unknown_records);
	}
	json_obj_end(j);
}

static void put_run(struct json *j, const struct info_view *v)
{
	const struct record_run *run = profile_run(v->p);
	const struct record_end *end = profile_end(v->p);
	time_t t = (time_t)(run->start_real_ns / 1000000000u);
	char text[64] = "";
	struct tm tm;

	meta_str(j, v, "command", "command");
	meta_str(j, v, "target", "target");
	meta_str(j, v, "version", "profbpf.version");
	meta_str(j, v, "events", "events");
	if (run->start_real_ns && gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_key_text(j, "start", text);
	json_key_num(j, "duration_s", v->s.import ? NAN : (double)v->s.duration_ns / 1e9, 9);
	json_key_text(j, "end", end ? end_reason_text(end->reason) : NULL);
	key_bool(j, "complete", end != NULL);
	json_key(j, "selection");
	json_obj(j);
	meta_str(j, v, "cpus", "cpus");
	meta_u64(j, v, "children", "target.children");
	meta_s(j, v, "delay_s", "delay_ns");
	meta_s(j, v, "duration_asked_s", "duration.asked_ns");
	json_obj_end(j);
	json_key(j, "freq");
	json_obj(j);
	meta_u64(j, v, "asked_hz", "freq.asked");
	json_key_num(j, "effective_hz", v->effective_hz, 3);
	json_obj_end(j);
	json_key(j, "cpus");
	if (v->s.cpus)
		json_u64(j, v->s.cpus);
	else
		json_null(j);
}

static void put_host(struct json *j, const struct info_view *v)
{
	json_key(j, "host");
	json_obj(j);
	meta_str(j, v, "name", "host.name");
	meta_str(j, v, "kernel", "host.kernel");
	meta_str(j, v, "kernel_build", "host.kernel_build");
	meta_str(j, v, "arch", "host.arch");
	meta_str(j, v, "cpu_model", "host.cpu_model");
	meta_str(j, v, "governor", "host.governor");
	meta_u64(j, v, "cpus_online", "host.cpus_online");
	meta_str(j, v, "load_before", "host.load_before");
	meta_str(j, v, "load_after", "host.load_after");
	meta_s(j, v, "steal_s", "host.steal_ns");
	json_obj_end(j);
}

static void put_samples(struct json *j, const struct info_view *v)
{
	int timed = !v->s.import;
	unsigned i;

	json_key_text(j, "view", v->s.value->view);
	json_key_text(j, "unit", v->s.value->unit);
	json_key_u64(j, "samples", v->s.samples);
	json_key_u64(j, "total", v->s.total);
	json_key_num(j, "cpu_pct", v->s.cpu_pct, 4);
	json_key(j, "ticks");
	if (v->counters[COUNTER_TICKS])
		json_u64(j, v->counters[COUNTER_TICKS]);
	else
		json_null(j);
	json_key(j, "counters");
	json_obj(j);
	for (i = 1; i < COUNTER_ID_MAX; i++)
		if (v->counters[i])
			json_key_u64(j, counter_name(i), v->counters[i]);
	json_obj_end(j);
	json_key(j, "lost");
	json_obj(j);
	json_key(j, "total");
	if (timed)
		json_u64(j, v->lost);
	else
		json_null(j);
	json_key_num(j, "permille",
		timed && v->lost + v->s.samples
			? 1000.0 * (double)v->lost / (double)(v->lost + v->s.samples)
			: NAN,
		6);
	json_key(j, "by_cause");
	json_obj(j);
	for (i = 1; i < LOSS_CAUSE_MAX; i++)
		if (v->lost_by_cause[i])
			json_key_u64(j, loss_cause_text(i), v->lost_by_cause[i]);
	json_obj_end(j);
	json_obj_end(j);
}

static void put_cpus(struct json *j, const struct info_view *v)
{
	uint32_t cpu, nr = profile_nr_cpus(v->p);
	uint64_t n;
	unsigned i;

	json_key(j, "per_cpu");
	json_arr(j);
	for (cpu = 0; cpu < nr; cpu++) {
		int any = 0;

		for (i = 1; i < COUNTER_ID_MAX; i++) {
			if (!profile_counter_cpu(v->p, cpu, (enum counter_id)i, &n))
				continue;
			if (!any) {
				json_obj(j);
				json_key_u64(j, "cpu", cpu);
				any = 1;
			}
			json_key_u64(j, counter_name(i), n);
		}
		if (any)
			json_obj_end(j);
	}
	json_arr_end(j);
}

static void put_stacks(struct json *j, const struct info_view *v)
{
	unsigned i;

	json_key(j, "stacks");
	json_obj(j);
	for (i = 0; i < STACK_RESULT_MAX; i++)
		if (v->stacks[i])
			json_key_u64(j, stack_result_text(i), v->stacks[i]);
	json_obj_end(j);
	json_key(j, "unresolved");
	json_obj(j);
	json_key(j, "samples");
	json_obj(j);
	for (i = 0; i < REASON_MAX; i++)
		if (v->unnamed_samples[i])
			json_key_u64(
				j, i ? frame_reason_short(i) : "no stack", v->unnamed_samples[i]);
	json_obj_end(j);
	json_key(j, "frames");
	json_obj(j);
	for (i = 0; i < REASON_MAX; i++)
		if (v->unnamed_frames[i])
			json_key_u64(
				j, i ? frame_reason_short(i) : "no stack", v->unnamed_frames[i]);
	json_obj_end(j);
	json_obj_end(j);
	json_key_u64(j, "frames", v->frames);
	json_key_u64(j, "functions", v->functions);
	json_key_u64(j, "threads", v->s.threads);
	json_key_u64(j, "processes", v->s.processes);
}

static void put_modules(struct json *j, const struct info_view *v)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t i;
	size_t k;

	json_key(j, "modules");
	json_arr(j);
	for (i = 1; i <= v->modules; i++) {
		const struct prof_module *m = profile_module(v->p, i);
		char hex[2 * 64 + 1];

		for (k = 0; k < m->build_id_len && k < 64; k++) {
			hex[2 * k] = digits[m->build_id[k] >> 4];
			hex[2 * k + 1] = digits[m->build_id[k] & 15];
		}
		hex[2 * k] = '\0';
		json_obj(j);
		json_key_text(j, "path", m->path);
		json_key_text(j, "build_id", hex);
		key_bool(j, "deleted", m->rec.flags & MODULE_F_DELETED);
		json_key_text(j, "reason",
			m->rec.flags & MODULE_F_NO_FILE ? frame_reason_short(m->rec.reason) : NULL);
		json_obj_end(j);
	}
	json_arr_end(j);
}

static void put_cost(struct json *j, const struct info_view *v)
{
	json_key(j, "overhead");
	json_obj(j);
	json_key_text(j, "method", v->s.import ? NULL : "measured");
	meta_s(j, v, "own_cpu_s", "overhead.own_cpu_ns");
	meta_s(j, v, "naming_s", "overhead.naming_ns");
	meta_s(j, v, "bpf_run_s", "overhead.bpf_run_ns");
	meta_u64(j, v, "bpf_runs", "overhead.bpf_runs");
	meta_u64(j, v, "map_bytes", "overhead.map_bytes");
	meta_u64(j, v, "dictionary_bytes", "overhead.dictionary_bytes");
	meta_u64(j, v, "peak_rss_bytes", "overhead.peak_rss_bytes");
	json_obj_end(j);
}

static void put_reveals(struct json *j, const struct info_view *v)
{
	const struct info_reveals *r = &v->reveals;

	json_key(j, "reveals");
	json_obj(j);
	key_bool(j, "arguments", r->arguments);
	key_bool(j, "paths", r->paths);
	key_bool(j, "names", r->names);
	key_bool(j, "host", r->host);
	key_bool(j, "source", r->source);
	json_obj_end(j);
}

static void put_meta(struct json *j, const struct info_view *v)
{
	const char *key, *text;
	uint64_t num;
	size_t i;

	json_key(j, "meta");
	json_obj(j);
	for (i = 0; profile_meta_at(v->p, i, &key, &text, &num); i++) {
		json_key(j, key);
		if (text)
			json_str(j, text);
		else
			json_u64(j, num);
	}
	json_obj_end(j);
}

void info_json(struct out *o, const struct info_view *v)
{
	struct json j;

	json_init(&j, o);
	json_obj(&j);
	json_key_text(&j, "schema", "profbpf-info/1");
	put_file(&j, v);
	put_run(&j, v);
	put_host(&j, v);
	put_samples(&j, v);
	put_cpus(&j, v);
	put_stacks(&j, v);
	put_modules(&j, v);
	put_cost(&j, v);
	put_reveals(&j, v);
	put_meta(&j, v);
	json_obj_end(&j);
	out_char(o, '\n');
}
