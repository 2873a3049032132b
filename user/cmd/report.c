/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf report: the hot table.
 */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "load.h"
#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/base/out.h"
#include "user/base/term.h"
#include "user/export/report.h"
#include "user/render/table.h"

#define DEFAULT_ROWS 20 /* a screen */

struct report {
	const char *by, *sort;
	uint64_t limit; /* UINT64_MAX = not given */
	int json, csv;
	int fd; /* where it goes */
	struct filter_options filter;
};

static const struct opt report_opts[] = {
	{"by", 'b', OPT_STR, offsetof(struct report, by), "WHAT", "a row for each",
		"function module thread process"},
	{"sort", 's', OPT_STR, offsetof(struct report, sort), "KEY", "largest first, or by name",
		"self total name"},
	{"limit", 'n', OPT_U64, offsetof(struct report, limit), "N",
		"show N rows, 0 for all (20 in the table, all in JSON and CSV)", NULL},
	{"json", 0, OPT_FLAG, offsetof(struct report, json), NULL, "print JSON (profbpf-report/1)",
		NULL},
	{"csv", 0, OPT_FLAG, offsetof(struct report, csv), NULL, "print CSV", NULL},
	FILTER_OPTS(struct report, filter),
	OPT_END,
};

static enum rows_by rows_by_of(const char *by)
{
	enum rows_by b;

	for (b = ROWS_BY_FUNCTION; by && b < ROWS_BY_PROCESS; b++)
		if (!strcmp(by, rows_by_name(b)))
			return b;
	return by ? ROWS_BY_PROCESS : ROWS_BY_FUNCTION;
}

static enum rows_sort rows_sort_of(const char *sort)
{
	if (sort && !strcmp(sort, "total"))
		return ROWS_SORT_TOTAL;
	return sort && !strcmp(sort, "name") ? ROWS_SORT_NAME : ROWS_SORT_SELF;
}

static void probe_style(struct table_style *style, int fd)
{
	struct term term;

	term_probe(&term, fd);
	style->utf8 = term.utf8;
	style->color = term.color;
	/* A pipe has no width unless it is given one: grep wants whole names. */
	style->width = term.is_tty || getenv("COLUMNS") ? term.width : 0;
}

static void print_table(struct out *o, const struct report *r, const struct functions_view *v,
	const struct summary *s)
{
	struct table_style style;
	struct buf words = BUF_INIT;
	struct summary shown = *s;

	probe_style(&style, r->fd);
	/* On one terminal, what loading said about an unfinished recording is enough. */
	if (isatty(r->fd) && isatty(STDERR_FILENO))
		shown.complete = 1;
	filter_describe(&r->filter, &words);
	if (words.err)
		out_fail(o, words.err);
	table_render(o, v, &shown, buf_str(&words), &style);
	buf_release(&words);
}

static int print(const struct report *r, const struct functions_view *v, const struct summary *s,
	struct err *e)
{
	struct out *o = out_fd(r->fd);

	if (!o)
		return err_set(e, -ENOMEM, "out of memory");
	if (r->json)
		report_json(o, v, s, rows_by_of(r->by));
	else if (r->csv)
		report_csv(o, v, s);
	else
		print_table(o, r, v, s);
	return out_close(o, e);
}

/* What programs get when there is nothing to show. @e keeps the reason unless printing fails. */
static int print_nothing(const struct report *r, const struct functions_view *v,
	const struct summary *s, struct err *e)
{
	struct err print_err = {0};

	if ((r->json || r->csv) && print(r, v, s, &print_err))
		*e = print_err;
	return e->code;
}

/* A table for a person who asked for no number of rows. */
static int is_screen(const struct report *r)
{
	return r->limit == UINT64_MAX && !r->json && !r->csv;
}

/* By self time, what has none comes last and says nothing; the footer counts it. */
static void drop_zeros(struct functions_view *v)
{
	while (v->shown && !v->rows[v->shown - 1].self)
		v->shown--;
}

static int report_profile(
	const struct report *r, const struct profile *p, const char *path, struct err *e)
{
	struct functions_options o = {.by = rows_by_of(r->by), .sort = rows_sort_of(r->sort)};
	struct functions_view v = {0};
	char name[ESCAPE_BRIEF_BUF];
	struct selection sel;
	struct summary s;
	int ret, empty;

	if (r->limit != UINT64_MAX)
		o.limit = (size_t)r->limit;
	else if (is_screen(r))
		o.limit = DEFAULT_ROWS;
	o.only_shown = !r->json && !r->csv; /* their keys count equal names among all */
	ret = selection_make(&sel, p, &r->filter, e);
	if (ret)
		return ret;
	empty = selection_explain(&sel, &r->filter, e);
	if (empty)
		err_prefix(e, "%s", load_name(path, name, sizeof(name)));
	ret = functions_make(&v, &sel, &o, e);
	if (!ret) {
		summary_make(&s, &sel);
		if (empty)
			v.nr = v.shown = 0; /* rows of zeros are not shown */
		else if (is_screen(r) && o.sort == ROWS_SORT_SELF)
			drop_zeros(&v);
		ret = empty ? print_nothing(r, &v, &s, e) : print(r, &v, &s, e);
	}
	functions_release(&v);
	selection_release(&sel);
	return ret;
}

static int report_file(const struct report *r, const char *path, struct err *e)
{
	struct profile *p;
	int ret = load_profile(&p, path, e);

	if (ret == -ENODATA)
		return print_nothing(r, NULL, NULL, e);
	if (ret)
		return ret;
	ret = report_profile(r, p, path, e);
	profile_free(p);
	return ret;
}

int report_print_file(const char *path, unsigned limit, int fd, struct err *e)
{
	struct report r = {.limit = limit ? limit : UINT64_MAX, .fd = fd};

	return report_file(&r, path, e);
}

static int run(const struct command *c, int argc, char **argv)
{
	struct report r = {.limit = UINT64_MAX, .fd = STDOUT_FILENO};
	struct err e = {0};
	const char *path;
	int rest, dashdash, ret;

	ret = command_parse(c, &r, argc, argv, &rest, &dashdash);
	if (ret >= 0)
		return ret;
	path = command_file(c, argc, argv, rest, dashdash);
	if (!path)
		ret = EXIT_USAGE;
	else if (r.json && r.csv)
		ret = command_usage(c, "--json and --csv: one of them");
	else
		ret = report_file(&r, path, &e) ? command_fail(&e) : EXIT_DONE;
	opts_release(c->opts, &r);
	return ret;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "Show where the time went: the hot table",
	.usage = "[OPTION].. [FILE]",
	.opts = report_opts,
	.opts_size = sizeof(struct report),
	.notes =
		"FILE is a capture or folded text, - standard input; without it, " DEFAULT_CAPTURE
		".\n"
		"\n"
		"SELF is time in the function itself, TOTAL in it or in what it called (recursion\n"
		"counted once). \302\261 is the half-width of the 95 % interval in points, ~ a "
		"share that\n"
		"could as well be nothing. Several --thread (--process, --focus) select any of "
		"them.\n"
		"Exit status 3 with the reason when there is nothing to show.\n",
	.run = run,
};
