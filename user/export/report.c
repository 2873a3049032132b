/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/json.h"
#include "user/base/strtab.h"

/* --- a row's identity ------------------------------------------------------ */

/* "name@module", "name@pid/tid", "name@pid": what two captures can be compared by. */
static void plain_key(const struct functions_view *v, const struct func_row *r, struct buf *b)
{
	buf_add(b, r->name, r->name_len);
	switch (v->o.by) {
	case ROWS_BY_FUNCTION:
		if (*r->module)
			buf_addf(b, "@%s", r->module);
		break;
	case ROWS_BY_MODULE:
		break;
	case ROWS_BY_THREAD:
		buf_addf(b, "@%u/%u", r->pid, r->tid);
		break;
	case ROWS_BY_PROCESS:
		buf_addf(b, "@%u", r->pid);
		break;
	}
}

static void add_hex(struct buf *b, const uint8_t *bytes, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		buf_addf(b, "%02x", bytes[i]);
}

/* How often each key occurs, by key id; NULL without memory. */
static uint32_t *count_keys(const struct functions_view *v, struct strtab *keys)
{
	uint32_t *count = calloc(v->nr + 1, sizeof(*count));
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; count && i < v->nr; i++) {
		int64_t id;

		buf_clear(&b);
		plain_key(v, &v->rows[i], &b);
		id = b.err ? b.err : strtab_add(keys, buf_str(&b), b.len, NULL);
		if (id < 0) {
			free(count);
			count = NULL;
			break;
		}
		count[id]++;
	}
	buf_release(&b);
	return count;
}

/* Two rows of one key (a name in two files of one base name) get what tells them apart. */
static void full_key(const struct functions_view *v, const struct func_row *r,
	const struct strtab *keys, const uint32_t *count, struct buf *b)
{
	int64_t id;

	plain_key(v, r, b);
	if (b->err)
		return;
	id = strtab_find(keys, buf_str(b), b->len);
	if (id < 0 || count[id] < 2)
		return;
	buf_addc(b, '#');
	if (r->build_id)
		add_hex(b, r->build_id, r->build_id_len);
	else if (r->module_path && *r->module_path)
		buf_adds(b, r->module_path);
	else
		buf_addf(b, "%u", r->id);
}

/* --- JSON ------------------------------------------------------------------ */

static void key_null(struct json *j, const char *key)
{
	json_key(j, key);
	json_null(j);
}

static const char *kind_name(const struct functions_view *v, const struct func_row *r)
{
	static const char *const kinds[] = {
		[FUNC_USER] = "user",
		[FUNC_KERNEL] = "kernel",
		[FUNC_JIT] = "jit",
		[FUNC_IMPORTED] = "imported",
		[FUNC_UNKNOWN] = "unknown",
		[FUNC_MARK] = "mark",
	};

	return v->o.by == ROWS_BY_FUNCTION ? kinds[r->kind] : rows_by_name(v->o.by);
}

static void json_row(struct json *j, const struct functions_view *v, const struct func_row *r,
	const struct buf *key)
{
	int sampled = v->s->value->sampled;
	int task = v->o.by == ROWS_BY_THREAD || v->o.by == ROWS_BY_PROCESS;
	struct buf hex = BUF_INIT;

	json_obj(j);
	json_key(j, "key");
	json_strn(j, buf_str(key), key->len);
	json_key(j, "name");
	json_strn(j, r->name, r->name_len);
	json_key_text(j, "module", r->module);
	if (r->build_id)
		add_hex(&hex, r->build_id, r->build_id_len);
	json_key_text(j, "build_id", buf_str(&hex));
	if (hex.err)
		out_fail(j->o, hex.err);
	buf_release(&hex);
	key_null(j, "file"); /* by line: not yet */
	key_null(j, "line");
	json_key_text(j, "reason", r->reason ? frame_reason_short(r->reason) : NULL);
	json_key_u64(j, "self", r->self);
	json_key_u64(j, "total", r->total);
	if (sampled) {
		json_key_u64(j, "self_samples", r->self_samples);
		json_key_u64(j, "total_samples", r->total_samples);
	} else {
		key_null(j, "self_samples");
		key_null(j, "total_samples");
	}
	json_key_num(j, "self_pct", r->self_pct, 4);
	json_key_num(j, "total_pct", r->total_pct, 4);
	json_key_num(j, "err_pct", r->err_pct, 4);
	json_key_num(j, "total_err_pct", r->total_err_pct, 4);
	json_key_text(j, "kind", kind_name(v, r));
	json_key_text(j, "module_path", r->module_path);
	if (task) {
		json_key_u64(j, "pid", r->pid);
	} else {
		key_null(j, "pid");
	}
	if (v->o.by == ROWS_BY_THREAD) {
		json_key_u64(j, "tid", r->tid);
		json_key(j, "process");
		json_strn(j, r->process, r->process_len);
	} else {
		key_null(j, "tid");
		key_null(j, "process");
	}
	json_obj_end(j);
}

static void json_head(struct json *j, const struct functions_view *v, const struct summary *s)
{
	const struct selection *sel = v->s;
	int timed = !s->import;

	json_key_text(j, "view", s->value->view);
	json_key_text(j, "unit", s->value->unit);
	json_key_text(j, "by", rows_by_name(v->o.by));
	json_key_num(j, "from_s", timed ? (double)s->from_ns / 1e9 : NAN, 9);
	json_key_num(j, "to_s", timed ? (double)s->to_ns / 1e9 : NAN, 9);
	json_key_num(j, "duration_s", timed ? (double)s->window_ns / 1e9 : NAN, 9);
	if (s->value->sampled)
		json_key_u64(j, "samples", s->samples);
	else
		key_null(j, "samples");
	json_key_u64(j, "total", s->total);
	json_key_u64(j, "capture_total", sel->capture_total);
	if (timed) {
		json_key_u64(j, "lost", s->lost);
		json_key_u64(j, "truncated", s->truncated);
		json_key_u64(j, "unresolved", s->unresolved);
		json_key_text(j, "method", "sampled");
	} else {
		key_null(j, "lost");
		key_null(j, "truncated");
		key_null(j, "unresolved");
		key_null(j, "method");
	}
}

static void json_no_head(struct json *j, enum rows_by by)
{
	static const char *const before[] = {"view", "unit"};
	static const char *const behind[] = {"from_s", "to_s", "duration_s", "samples", "total",
		"capture_total", "lost", "truncated", "unresolved", "method"};
	size_t i;

	for (i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		key_null(j, before[i]);
	json_key_text(j, "by", rows_by_name(by));
	for (i = 0; i < sizeof(behind) / sizeof(behind[0]); i++)
		key_null(j, behind[i]);
}

static void json_tail(struct json *j, const struct functions_view *v, const struct summary *s)
{
	if (!v) {
		static const char *const keys[] = {"rows_total", "kernel", "unresolved_value",
			"threads", "processes", "cpu_pct", "complete"};
		size_t i;

		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			key_null(j, keys[i]);
		return;
	}
	json_key_u64(j, "rows_total", v->nr);
	if (s->import) {
		key_null(j, "kernel");
		key_null(j, "unresolved_value");
		key_null(j, "threads");
		key_null(j, "processes");
	} else {
		json_key_u64(j, "kernel", v->kernel_self);
		json_key_u64(j, "unresolved_value", v->unresolved_self);
		json_key_u64(j, "threads", s->threads);
		json_key_u64(j, "processes", s->processes);
	}
	json_key_num(j, "cpu_pct", s->cpu_pct, 4);
	json_key(j, "complete");
	json_bool(j, s->complete);
}

void report_json(
	struct out *o, const struct functions_view *v, const struct summary *s, enum rows_by by)
{
	struct strtab *keys = NULL;
	uint32_t *count = NULL;
	struct buf key = BUF_INIT;
	struct json j;
	size_t i;

	if (v) {
		keys = strtab_new();
		count = keys ? count_keys(v, keys) : NULL;
		if (!count) {
			out_fail(o, -ENOMEM);
			goto out;
		}
	}
	json_init(&j, o);
	json_obj(&j);
	json_key_text(&j, "schema", "profbpf-report/1");
	if (v)
		json_head(&j, v, s);
	else
		json_no_head(&j, by);
	json_key(&j, "rows");
	json_arr(&j);
	for (i = 0; v && i < v->shown; i++) {
		buf_clear(&key);
		full_key(v, &v->rows[i], keys, count, &key);
		if (key.err)
			out_fail(o, key.err);
		json_row(&j, v, &v->rows[i], &key);
	}
	json_arr_end(&j);
	json_tail(&j, v, s);
	json_obj_end(&j);
	out_char(o, '\n');
out:
	buf_release(&key);
	strtab_free(keys);
	free(count);
}

/* --- CSV ------------------------------------------------------------------- */

static void csv_text(struct out *o, struct buf *b, const char *s, size_t len)
{
	buf_clear(b);
	escape_csv(b, s, len);
	if (b->err)
		out_fail(o, b->err);
	out_write(o, buf_str(b), b->len);
}

static void csv_num(struct out *o, double v)
{
	if (!isnan(v))
		out_printf(o, "%.4f", v);
}

void report_csv(struct out *o, const struct functions_view *v, const struct summary *s)
{
	struct buf b = BUF_INIT;
	size_t i;

	out_str(o, "name,module,build_id,reason,process,pid,tid,self,total,self_samples,"
		   "total_samples,self_pct,total_pct,err_pct,total_err_pct\n");
	for (i = 0; v && i < v->shown; i++) {
		const struct func_row *r = &v->rows[i];
		size_t k;

		csv_text(o, &b, r->name, r->name_len);
		out_char(o, ',');
		csv_text(o, &b, r->module ? r->module : "", r->module ? strlen(r->module) : 0);
		out_char(o, ',');
		for (k = 0; r->build_id && k < r->build_id_len; k++)
			out_printf(o, "%02x", r->build_id[k]);
		out_printf(o, ",%s,", r->reason ? frame_reason_short(r->reason) : "");
		csv_text(o, &b, r->process ? r->process : "", r->process_len);
		out_char(o, ',');
		if (v->o.by == ROWS_BY_THREAD || v->o.by == ROWS_BY_PROCESS)
			out_u64(o, r->pid);
		out_char(o, ',');
		if (v->o.by == ROWS_BY_THREAD)
			out_u64(o, r->tid);
		out_char(o, ',');
		out_u64(o, r->self);
		out_char(o, ',');
		out_u64(o, r->total);
		out_char(o, ',');
		if (s->value->sampled)
			out_u64(o, r->self_samples);
		out_char(o, ',');
		if (s->value->sampled)
			out_u64(o, r->total_samples);
		out_char(o, ',');
		csv_num(o, r->self_pct);
		out_char(o, ',');
		csv_num(o, r->total_pct);
		out_char(o, ',');
		csv_num(o, r->err_pct);
		out_char(o, ',');
		csv_num(o, r->total_err_pct);
		out_str(o, "\n");
	}
	buf_release(&b);
}
