/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf flame: the flame graph, one SVG file.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "flamegraph/flamegraph.h"
#include "flamegraph/palette.h"
#include "load.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/base/out.h"
#include "user/model/calltree.h"
#include "user/model/filter.h"
#include "user/view/summary.h"

#define LOG_DOMAIN "flame"
#include "user/base/log.h"

#define WIDTH	    1200u
#define WIDTH_LEAST 200u
#define WIDTH_MOST  20000u

/* The picture does not see the model's list of kinds (layers), only the call tree's header. */
_Static_assert((int)PALETTE_FUNC_USER == (int)FUNC_USER, "kinds of functions");
_Static_assert((int)PALETTE_FUNC_KERNEL == (int)FUNC_KERNEL, "kinds of functions");
_Static_assert((int)PALETTE_FUNC_JIT == (int)FUNC_JIT, "kinds of functions");
_Static_assert((int)PALETTE_FUNC_IMPORTED == (int)FUNC_IMPORTED, "kinds of functions");
_Static_assert((int)PALETTE_FUNC_UNKNOWN == (int)FUNC_UNKNOWN, "kinds of functions");
_Static_assert((int)PALETTE_FUNC_MARK == (int)FUNC_MARK, "kinds of functions");
_Static_assert((int)PALETTE_FUNC_TASK == (int)FUNC_TASK, "kinds of functions");

struct flame {
	const char *output, *title, *min, *order;
	uint64_t width;
	int inverted, by_thread, by_process;
	double min_px;
	struct filter_options filter;
};

static const struct opt flame_opts[] = {
	{"output", 'o', OPT_STR, offsetof(struct flame, output), "FILE",
		"write to FILE instead of standard output", NULL},
	{"inverted", 'i', OPT_FLAG, offsetof(struct flame, inverted), NULL,
		"begin with the functions that used the time, their callers below", NULL},
	{"order", 0, OPT_STR, offsetof(struct flame, order), "WHAT",
		"order of siblings: by name, the same in every picture, or widest first",
		"name size"},
	{"by-process", 0, OPT_FLAG, offsetof(struct flame, by_process), NULL,
		"a row of processes above the root", NULL},
	{"by-thread", 0, OPT_FLAG, offsetof(struct flame, by_thread), NULL,
		"rows of processes and threads above the root", NULL},
	{"title", 0, OPT_STR, offsetof(struct flame, title), "TEXT", "title of the picture", NULL},
	{"width", 0, OPT_U64, offsetof(struct flame, width), "PX",
		"width where a viewer does not fit the picture to its window (1200)", NULL},
	{"min", 0, OPT_STR, offsetof(struct flame, min), "PX",
		"draw every frame at least this wide, and limit neither their number nor the "
		"file's size",
		NULL},
	FILTER_OPTS(struct flame, filter),
	OPT_END,
};

static int parse_min(struct flame *f, const struct command *c)
{
	char *end;

	if (!f->min)
		return -1;
	errno = 0;
	f->min_px = strtod(f->min, &end);
	if (end == f->min || *end || errno || !isfinite(f->min_px) || f->min_px <= 0 ||
		f->min_px > WIDTH_MOST) {
		char brief[ESCAPE_BRIEF_BUF];

		return command_usage(c, "--min %s: not a number of pixels above 0 and up to %u",
			escape_brief(brief, sizeof(brief), f->min), WIDTH_MOST);
	}
	return -1;
}

/* -1 to go on, or an exit status. */
static int check_options(struct flame *f, const struct command *c)
{
	if (f->width < WIDTH_LEAST || f->width > WIDTH_MOST)
		return command_usage(c, "--width %llu: must be between %u and %u",
			(unsigned long long)f->width, WIDTH_LEAST, WIDTH_MOST);
	if ((!f->output || !strcmp(f->output, "-")) && isatty(STDOUT_FILENO))
		return command_usage(
			c, "a flame graph is an SVG file: give it a name with -o FILE, or pipe it");
	return parse_min(f, c);
}

static void tell(const struct flame *f, const struct flamegraph_stats *st, uint64_t total)
{
	char drawn[32], merged[32], size[32], name[ESCAPE_BRIEF_BUF], left[32];

	log_info("%s: %s frames drawn, %s merged, %s",
		escape_brief(name, sizeof(name), f->output ? f->output : "-"),
		fmt_count(drawn, sizeof(drawn), st->drawn),
		fmt_count(merged, sizeof(merged), st->merged),
		fmt_bytes(size, sizeof(size), st->bytes));
	if (st->unlisted)
		log_info("search does not see the names of %s %%: too narrow to list; --min shows "
			 "more",
			fmt_pct(left, sizeof(left), 100.0 * (double)st->unlisted / (double)total));
}

static int write_picture(
	const struct flame *f, const struct calltree *t, const struct selection *sel, struct err *e)
{
	struct buf warnings = BUF_INIT, words = BUF_INIT;
	struct flamegraph_options o = {
		.title = f->title,
		.inverted = f->inverted,
		.width = (uint32_t)f->width,
		.min_px = f->min_px,
	};
	struct flamegraph_stats st;
	struct summary s;
	struct out *out;
	int ret;

	summary_make(&s, sel);
	summary_warnings(&s, &warnings);
	filter_describe(&f->filter, &words);
	if (warnings.err || words.err) {
		ret = err_sys(e, -ENOMEM, "flame");
		goto done;
	}
	if (warnings.len)
		o.warning = warnings.data;
	if (words.len)
		o.selection = words.data;
	ret = out_open(&out, f->output ? f->output : "-", e);
	if (ret)
		goto done;
	ret = flamegraph_svg(t, &o, out, &st, e);
	if (ret) {
		out_abort(out);
		goto done;
	}
	ret = out_close(out, e);
	if (!ret)
		tell(f, &st, calltree_facts(t)->total);
done:
	buf_release(&warnings);
	buf_release(&words);
	return ret;
}

static int flame_profile(
	const struct flame *f, const struct profile *p, const char *path, struct err *e)
{
	struct calltree_options o = {
		.inverted = f->inverted,
		.order =
			f->order && !strcmp(f->order, "size") ? CALLTREE_BY_SIZE : CALLTREE_BY_NAME,
		.by_process = f->by_process || f->by_thread,
		.by_thread = f->by_thread,
	};
	char name[ESCAPE_BRIEF_BUF];
	struct calltree *t = NULL;
	struct selection sel;
	int ret = selection_make(&sel, p, &f->filter, e);

	if (ret)
		return ret;
	ret = selection_explain(&sel, &f->filter, e);
	if (ret)
		err_prefix(e, "%s", load_name(path, name, sizeof(name)));
	if (!ret)
		ret = calltree_build(&t, &sel, &o, e);
	if (!ret)
		ret = write_picture(f, t, &sel, e);
	calltree_free(t);
	selection_release(&sel);
	return ret;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct flame f = {.width = WIDTH};
	struct profile *p = NULL;
	struct err e = {0};
	const char *path;
	int rest, dashdash, ret;

	ret = command_parse(c, &f, argc, argv, &rest, &dashdash);
	if (ret >= 0)
		return ret;
	ret = check_options(&f, c);
	path = ret < 0 ? command_file(c, argc, argv, rest, dashdash) : NULL;
	if (ret < 0 && !path)
		ret = EXIT_USAGE;
	if (path) {
		ret = load_profile(&p, path, &e);
		if (!ret)
			ret = flame_profile(&f, p, path, &e);
		ret = ret ? command_fail(&e) : EXIT_DONE;
	}
	profile_free(p);
	opts_release(c->opts, &f);
	return ret;
}

const struct command cmd_flame = {
	.name = "flame",
	.summary = "Draw a flame graph, an SVG file to open in a browser",
	.usage = "[OPTION].. [FILE] -o OUT.svg",
	.opts = flame_opts,
	.opts_size = sizeof(struct flame),
	.notes = "The picture draws at most 4,000 frames in about 1 MB, the widest ones; narrower "
		 "ones\n"
		 "are merged, not dropped: search finds them, and a click on a merged frame shows "
		 "them.\n"
		 "FILE as for profbpf report. See docs/flame-graph.md.\n",
	.run = run,
};
