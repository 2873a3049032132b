/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns are chosen by width: 40 columns hold a share and a name, 80 add the
 * error, the total, the value and the module, 100 add a bar. Names get what is
 * left, cut in the middle, because both ends of a name tell it from others.
 */
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/fmt.h"

#define BAR_CELLS    8
#define NAME_MIN     12 /* columns a name keeps before the module has to go */
#define NAME_PAD_MAX 60 /* without a width: pad names to the longest, within reason */
#define WIDTH_NARROW 60 /* below: share and name only */
#define WIDTH_BAR    100
#define FEW_SAMPLES  100  /* of an import: below this, shares say little */
#define WAITING_PCT  5.0  /* of one CPU: below this, waiting is the story */
#define MANY_PCT     20.0 /* unnamed time, broken stacks: then the reader is told what to do */

#define CYAN  "\033[36m"
#define BOLD  "\033[1m"
#define RESET "\033[0m"

struct table {
	struct out *o;
	const struct functions_view *v;
	const struct summary *s;
	const struct table_style *style;
	struct buf text, cut; /* scratch */

	int show_numbers; /* value, module; else shares and names only */
	int show_error;	  /* it is known */
	int show_total;	  /* threads and processes have none of their own */
	int show_bar;
	size_t value_width;
	size_t name_width;  /* 0 = last column */
	size_t where_width; /* 0 = not shown */
};

/* --- pieces --------------------------------------------------------------- */

static const char *paint(const struct table *t, const char *sequence)
{
	return t->style->color ? sequence : "";
}

/* Text in @width columns: cut in the middle, and padded if @pad. */
static void put_cell(struct table *t, const char *s, size_t len, size_t width, int pad)
{
	size_t w;

	buf_clear(&t->cut);
	if (t->style->width || pad)
		text_middle(&t->cut, s, len, width);
	else
		buf_add(&t->cut, s, len);
	if (t->cut.err) {
		out_fail(t->o, t->cut.err);
		return;
	}
	out_write(t->o, t->cut.data ? t->cut.data : "", t->cut.len);
	if (!pad)
		return;
	for (w = text_width(buf_str(&t->cut), t->cut.len); w < width; w++)
		out_char(t->o, ' ');
}

/* "49.8%", "<0.1%": one decimal, so that columns line up. */
static const char *pct_text(char *buf, size_t size, double pct)
{
	if (pct > 0 && pct < 0.05)
		snprintf(buf, size, "<0.1%%");
	else
		snprintf(buf, size, "%.1f%%", pct);
	return buf;
}

static const char *value_text(const struct table *t, char *buf, size_t size, uint64_t v)
{
	if (v && !strcmp(t->s->value->unit, "ns"))
		return fmt_duration(buf, size, v);
	return fmt_count(buf, size, v);
}

static const char *plus_minus(const struct table *t)
{
	return t->style->utf8 ? "\302\261" : "+-";
}

/* --- words ---------------------------------------------------------------- */

/* A paragraph, wrapped at blanks to the width; it begins at column @at, and so
 * do its further lines. */
static void put_wrapped_at(struct table *t, const char *s, size_t indent)
{
	size_t width = t->style->width > 0 ? (size_t)t->style->width : SIZE_MAX, at = indent, n, w;

	for (; *s; s += n + (s[n] != '\0')) {
		n = strcspn(s, " ");
		w = text_width(s, n);
		if (at > indent && at + 1 + w > width) {
			out_printf(t->o, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			out_char(t->o, ' ');
			at++;
		}
		out_write(t->o, s, n);
		at += w;
	}
	out_char(t->o, '\n');
}

static void put_wrapped(struct table *t, const char *s)
{
	put_wrapped_at(t, s, 0);
}

static void put_warnings(struct table *t)
{
	struct buf all = BUF_INIT, one = BUF_INIT;
	const char *at, *end;

	summary_warnings(t->s, &all);
	for (at = buf_str(&all); *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '\n');
		buf_clear(&one);
		buf_adds(&one, "warning: ");
		buf_add(&one, at, (size_t)(end - at));
		out_str(t->o, paint(t, BOLD));
		put_wrapped(t, buf_str(&one));
		out_str(t->o, paint(t, RESET));
	}
	if (all.err || one.err)
		out_fail(t->o, all.err ? all.err : one.err);
	buf_release(&all);
	buf_release(&one);
}

static void add_plural(struct buf *b, uint64_t n, const char *one, const char *many)
{
	char text[32];

	buf_addf(b, "%s %s", fmt_count(text, sizeof(text), n), n == 1 ? one : many);
}

/* "process 12 (app): 10.00 s at 99 Hz on 2 CPUs" */
static void put_recorded(struct table *t)
{
	const struct summary *s = t->s;
	struct buf b = BUF_INIT;
	char n[32];

	if (s->import) {
		buf_adds(&b, "folded text");
		if (*s->target) {
			buf_adds(&b, ": ");
			escape_text(&b, s->target, strlen(s->target));
		}
	} else {
		if (*s->target)
			escape_text(&b, s->target, strlen(s->target));
		else
			buf_adds(&b, "a recording");
		buf_addf(&b, ": %s", fmt_duration(n, sizeof(n), s->duration_ns));
		if (s->freq > 0)
			buf_addf(&b, " at %.0f Hz", s->freq);
		if (s->cpus) {
			buf_adds(&b, " on ");
			add_plural(&b, s->cpus, "CPU", "CPUs");
		}
	}
	if (b.err)
		out_fail(t->o, b.err);
	put_wrapped(t, buf_str(&b));
	buf_release(&b);
}

/* "1,984 samples of 4 threads: 19.84 s of CPU time, 198 % of one CPU" */
static void put_measured(struct table *t)
{
	const struct summary *s = t->s;
	struct buf b = BUF_INIT;
	char n[32], m[32];

	if (s->import) {
		buf_addf(&b, "%s in all, in ", value_text(t, n, sizeof(n), s->total));
		add_plural(&b, s->samples, "stack", "stacks");
	} else {
		add_plural(&b, s->samples, "sample", "samples");
		buf_adds(&b, " of ");
		add_plural(&b, s->threads, "thread", "threads");
		if (s->processes > 1) {
			buf_adds(&b, " in ");
			add_plural(&b, s->processes, "process", "processes");
		}
		buf_addf(&b, ": %s of %s", value_text(t, n, sizeof(n), s->total), s->value->what);
		if (!isnan(s->cpu_pct))
			buf_addf(&b, ", %s %% of one CPU", fmt_pct(m, sizeof(m), s->cpu_pct));
	}
	if (b.err)
		out_fail(t->o, b.err);
	put_wrapped(t, buf_str(&b));
	buf_release(&b);
}

/* "selected: --thread 'io' --from 2s: 31.2 % of the whole" */
static void put_selected(struct table *t, const char *filters)
{
	const struct summary *s = t->s;
	struct buf b = BUF_INIT;
	char n[32];

	if (!s->filtered)
		return;
	buf_addf(&b, "selected: %s: %s %% of the whole", filters && *filters ? filters : "a part",
		fmt_pct(n, sizeof(n), s->share_pct));
	if (b.err)
		out_fail(t->o, b.err);
	put_wrapped(t, buf_str(&b));
	buf_release(&b);
}

/* --- rows ----------------------------------------------------------------- */

/* What stands beside the name. */
static void where_of(const struct table *t, const struct func_row *r, struct buf *b)
{
	switch (t->v->o.by) {
	case ROWS_BY_FUNCTION:
		escape_text(b, r->module, strlen(r->module));
		break;
	case ROWS_BY_MODULE:
		escape_text(b, r->module_path, strlen(r->module_path));
		break;
	case ROWS_BY_THREAD:
		if (t->s->import)
			break;
		escape_text(b, r->process, r->process_len);
		buf_addf(b, " %u/%u", r->pid, r->tid);
		break;
	case ROWS_BY_PROCESS:
		if (!t->s->import)
			buf_addf(b, "%u", r->pid);
		break;
	}
}

static const char *where_title(enum rows_by by)
{
	static const char *const titles[] = {
		[ROWS_BY_FUNCTION] = "MODULE",
		[ROWS_BY_MODULE] = "PATH",
		[ROWS_BY_THREAD] = "PROCESS PID/TID",
		[ROWS_BY_PROCESS] = "PID",
	};

	return titles[by];
}

static const char *name_title(enum rows_by by)
{
	static const char *const titles[] = {
		[ROWS_BY_FUNCTION] = "FUNCTION",
		[ROWS_BY_MODULE] = "MODULE",
		[ROWS_BY_THREAD] = "THREAD",
		[ROWS_BY_PROCESS] = "PROCESS",
	};

	return titles[by];
}

/* Widest name, module and value of the rows shown; then who gets how much. */
static void lay_out(struct table *t)
{
	size_t name = strlen(name_title(t->v->o.by)), where = 0, fixed, room, i, w;
	size_t width = (size_t)(t->style->width > 0 ? t->style->width : 0);
	char n[32];

	t->show_numbers = !width || width >= WIDTH_NARROW;
	t->show_error = t->show_numbers && t->s->value->sampled;
	t->show_total = t->show_numbers && t->v->o.by <= ROWS_BY_MODULE;
	t->show_bar = !width || width >= WIDTH_BAR;
	t->value_width = strlen("COUNT");
	for (i = 0; i < t->v->shown; i++) {
		const struct func_row *r = &t->v->rows[i];

		buf_clear(&t->text);
		escape_text(&t->text, r->name, r->name_len);
		w = text_width(buf_str(&t->text), t->text.len);
		name = w > name ? w : name;
		buf_clear(&t->text);
		where_of(t, r, &t->text);
		w = text_width(buf_str(&t->text), t->text.len);
		where = w > where ? w : where;
		w = strlen(value_text(
			t, n, sizeof(n), t->v->o.sort == ROWS_SORT_TOTAL ? r->total : r->self));
		t->value_width = w > t->value_width ? w : t->value_width;
	}
	if (where && where < strlen(where_title(t->v->o.by)))
		where = strlen(where_title(t->v->o.by));
	if (!width) {
		t->name_width = name < NAME_PAD_MAX ? name : NAME_PAD_MAX;
		t->where_width = where;
		return;
	}
	fixed = 6 + 2; /* share and gap */
	if (t->show_bar)
		fixed += BAR_CELLS + 1;
	if (t->show_numbers)
		fixed += 2 + t->value_width;
	if (t->show_error)
		fixed += 6;
	if (t->show_total)
		fixed += 8;
	room = width > fixed ? width - fixed : 0;
	if (!t->show_numbers || room < NAME_MIN + 2 + 6)
		where = 0;
	if (where) {
		/* The module gets at most a third, unless the names leave more. */
		size_t third = room / 3, spare = name + 2 < room ? room - name - 2 : 0;
		size_t most = third > spare ? third : spare;

		where = where < most ? where : most;
		room -= where + 2;
	}
	t->where_width = where;
	t->name_width = room < name ? room : name;
	if (t->name_width < 1)
		t->name_width = 1;
}

static void put_bar(struct table *t, double pct, double top)
{
	static const char *const eighths[] = {"", "\342\226\217", "\342\226\216", "\342\226\215",
		"\342\226\214", "\342\226\213", "\342\226\212", "\342\226\211"};
	int levels = top > 0 ? (int)lround(pct / top * BAR_CELLS * 8) : 0, cells = 0;

	if (!levels && pct > 0)
		levels = 1;
	out_char(t->o, ' ');
	out_str(t->o, paint(t, CYAN));
	if (t->style->utf8) {
		for (; levels >= 8; levels -= 8, cells++)
			out_str(t->o, "\342\226\210");
		if (levels) {
			out_str(t->o, eighths[levels]);
			cells++;
		}
	} else {
		for (; levels > 4 && cells < BAR_CELLS; levels -= 8, cells++)
			out_char(t->o, '#');
	}
	out_str(t->o, paint(t, RESET));
	for (; cells < BAR_CELLS; cells++)
		out_char(t->o, ' ');
}

static void put_error(struct table *t, double err, double pct)
{
	char text[32];

	if (pct <= 0)
		out_str(t->o, "      ");
	else if (isnan(err) || err >= pct) /* could as well be nothing */
		out_str(t->o, "     ~");
	else {
		pct_text(text, sizeof(text), err);
		text[strlen(text) - 1] = '\0'; /* the column's title says what it is */
		out_printf(t->o, " %5s", text);
	}
}

static void put_row(struct table *t, const struct func_row *r, double top)
{
	int by_total = t->v->o.sort == ROWS_SORT_TOTAL;
	char n[32];

	out_str(t->o, paint(t, CYAN));
	out_printf(t->o, "%6s", pct_text(n, sizeof(n), r->self_pct));
	out_str(t->o, paint(t, RESET));
	if (t->show_bar && !by_total)
		put_bar(t, r->self_pct, top);
	if (t->show_error && !by_total)
		put_error(t, r->err_pct, r->self_pct);
	if (t->show_total)
		out_printf(t->o, "  %6s", pct_text(n, sizeof(n), r->total_pct));
	if (t->show_bar && by_total)
		put_bar(t, r->total_pct, top);
	if (t->show_error && by_total)
		put_error(t, r->total_err_pct, r->total_pct);
	if (t->show_numbers)
		out_printf(t->o, "  %*s", (int)t->value_width,
			value_text(t, n, sizeof(n), by_total ? r->total : r->self));
	if (t->show_numbers)
		out_str(t->o, "  ");
	else
		out_str(t->o, r->self && r->err_pct >= r->self_pct ? "~ " : "  ");
	buf_clear(&t->text);
	escape_text(&t->text, r->name, r->name_len);
	put_cell(t, buf_str(&t->text), t->text.len, t->name_width, 0);
	if (t->where_width) {
		size_t w = text_width(buf_str(&t->cut), t->cut.len);

		buf_clear(&t->text);
		where_of(t, r, &t->text);
		if (t->text.len) {
			for (; w < t->name_width; w++)
				out_char(t->o, ' ');
			out_str(t->o, "  ");
			put_cell(t, buf_str(&t->text), t->text.len, t->where_width, 0);
		}
	}
	out_char(t->o, '\n');
}

static void put_titles(struct table *t)
{
	int by_total = t->v->o.sort == ROWS_SORT_TOTAL;
	int err_pad = t->style->utf8 ? 5 : 4; /* of plus_minus() to 6 columns */
	const char *value = strcmp(t->s->value->unit, "ns") ? "COUNT" : "CPU";

	out_str(t->o, paint(t, BOLD));
	out_printf(t->o, "%6s", "SELF");
	if (t->show_bar && !by_total)
		out_printf(t->o, "%*s", BAR_CELLS + 1, "");
	if (t->show_error && !by_total)
		out_printf(t->o, "%*s%s", err_pad, "", plus_minus(t));
	if (t->show_total)
		out_printf(t->o, "  %6s", "TOTAL");
	if (t->show_bar && by_total)
		out_printf(t->o, "%*s", BAR_CELLS + 1, "");
	if (t->show_error && by_total)
		out_printf(t->o, "%*s%s", err_pad, "", plus_minus(t));
	if (t->show_numbers)
		out_printf(t->o, "  %*s", (int)t->value_width, value);
	out_str(t->o, "  ");
	if (t->where_width)
		out_printf(t->o, "%-*s  %.*s", (int)t->name_width, name_title(t->v->o.by),
			(int)t->where_width, where_title(t->v->o.by));
	else
		out_printf(t->o, "%.*s", (int)t->name_width, name_title(t->v->o.by));
	out_str(t->o, paint(t, RESET));
	out_char(t->o, '\n');
}

static void put_rows(struct table *t)
{
	double top = 0, pct;
	size_t i;

	lay_out(t);
	put_titles(t);
	for (i = 0; i < t->v->shown; i++) {
		pct = t->v->o.sort == ROWS_SORT_TOTAL ? t->v->rows[i].total_pct
						      : t->v->rows[i].self_pct;
		top = pct > top ? pct : top;
	}
	for (i = 0; i < t->v->shown; i++)
		put_row(t, &t->v->rows[i], top);
}

/* --- below ---------------------------------------------------------------- */

/* A share of the footer, under the SELF column. */
static void put_share(struct table *t, double pct, const char *words)
{
	char n[32];

	out_printf(t->o, "%6s  ", pct_text(n, sizeof(n), pct));
	put_wrapped_at(t, words, 8);
}

static void put_footer(struct table *t)
{
	const struct functions_view *v = t->v;
	const struct summary *s = t->s;
	const char *what = rows_by_name(v->o.by);
	struct buf b = BUF_INIT;
	char n[32], m[32];

	if (v->shown < v->nr) {
		size_t more = v->nr - v->shown;

		buf_addf(&b, "in %s more %s%s (--limit 0 shows all)", fmt_count(n, sizeof(n), more),
			what,
			more == 1		     ? ""
			: v->o.by == ROWS_BY_PROCESS ? "es"
						     : "s");
		put_share(t, share_pct(v->rest_self, s->total), buf_str(&b));
		buf_clear(&b);
	}
	buf_addf(&b, "= %s of %s", value_text(t, n, sizeof(n), s->total),
		s->import ? "the text's counts" : s->value->what);
	if (v->kernel_self)
		buf_addf(&b, "; %s %% in the kernel",
			fmt_pct(m, sizeof(m), share_pct(v->kernel_self, s->total)));
	if (v->unresolved_self)
		buf_addf(&b, "; %s %% without a name (%s)",
			fmt_pct(m, sizeof(m), share_pct(v->unresolved_self, s->total)),
			v->unresolved_reason ? frame_reason_short(v->unresolved_reason)
					     : "no stack");
	if (b.err)
		out_fail(t->o, b.err);
	put_share(t, 100, buf_str(&b));
	buf_release(&b);
}

/* A time for a person to choose: no more digits than that needs. */
static const char *about(char *buf, size_t size, double seconds)
{
	if (seconds < 60)
		snprintf(buf, size, "%.0f s", ceil(seconds));
	else if (seconds < 3600)
		snprintf(buf, size, "%.0f min", ceil(seconds / 60));
	else
		snprintf(buf, size, "%.0f h", ceil(seconds / 3600));
	return buf;
}

/* Names and callers that are missing, when there are many: where to look instead. */
static void put_gaps(struct table *t)
{
	const struct summary *s = t->s;
	double unnamed = share_pct(t->v->unresolved_self, s->total);
	struct buf b = BUF_INIT;
	char n[32];

	if (t->v->o.by == ROWS_BY_FUNCTION && unnamed > MANY_PCT)
		put_wrapped(t, "Much has no name here: --by module shows whose it is, `profbpf "
			       "info` why.");
	if (s->samples && 100.0 * (double)s->broken > MANY_PCT * (double)s->samples) {
		buf_addf(&b,
			"%s %% of the stacks broke off: callers are missing, self shares are "
			"right. "
			"`profbpf info` says why.",
			fmt_pct(n, sizeof(n), 100.0 * (double)s->broken / (double)s->samples));
		put_wrapped(t, buf_str(&b));
	}
	if (b.err)
		out_fail(t->o, b.err);
	buf_release(&b);
}

/* Waiting and precision: what the shares do not say. */
static void put_notes(struct table *t)
{
	const struct summary *s = t->s;
	struct buf b = BUF_INIT;
	double worst = 0, seconds;
	char n[32];
	size_t i;

	put_gaps(t);
	if (s->cpu_pct < WAITING_PCT) {
		buf_addf(&b,
			"It was on a CPU for %s %% of one CPU's time; the rest is waiting (or "
			"ready, with no CPU free), which these shares do not show.",
			fmt_pct(n, sizeof(n), s->cpu_pct));
		put_wrapped(t, buf_str(&b));
	}
	for (i = 0; i < t->v->shown; i++)
		worst = t->v->rows[i].err_pct > worst ? t->v->rows[i].err_pct : worst;
	seconds = summary_seconds_to_1pct(s, worst);
	buf_clear(&b);
	if (seconds > 0 && seconds < 1e9) {
		if (s->samples == 1)
			buf_addf(&b, "Only 1 sample: ");
		else
			buf_addf(&b, "%s samples: shares are known to %s%.1f points; ",
				fmt_count(n, sizeof(n), s->samples), plus_minus(t), worst);
		buf_addf(&b, "about %s at this rate would give %s1.", about(n, sizeof(n), seconds),
			plus_minus(t));
		put_wrapped(t, buf_str(&b));
	} else if (s->import && s->total < FEW_SAMPLES) {
		buf_addf(&b, "Only %s in all: if these are samples, the shares say little.",
			fmt_count(n, sizeof(n), s->total));
		put_wrapped(t, buf_str(&b));
	}
	if (b.err)
		out_fail(t->o, b.err);
	buf_release(&b);
}

void table_render(struct out *out, const struct functions_view *v, const struct summary *s,
	const char *filters, const struct table_style *style)
{
	struct table t = {.o = out, .v = v, .s = s, .style = style};

	put_warnings(&t);
	put_recorded(&t);
	put_measured(&t);
	put_selected(&t, filters);
	out_char(out, '\n');
	put_rows(&t);
	put_footer(&t);
	put_notes(&t);
	if (t.text.err || t.cut.err)
		out_fail(out, t.text.err ? t.text.err : t.cut.err);
	buf_release(&t.text);
	buf_release(&t.cut);
}
