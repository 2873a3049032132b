/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf fold: folded stacks, the text every other tool reads.
 */
#include "command.h"
#include "load.h"
#include "user/base/escape.h"
#include "user/base/out.h"
#include "user/export/folded.h"
#include "user/model/calltree.h"
#include "user/model/filter.h"
#include "user/view/summary.h"

#define LOG_DOMAIN "fold"
#include "user/base/log.h"

struct fold {
	const char *output;
	int by_thread, by_process, annotate;
	struct filter_options filter;
};

static const struct opt fold_opts[] = {
	{"output", 'o', OPT_STR, offsetof(struct fold, output), "FILE",
		"write to FILE instead of standard output", NULL},
	{"by-process", 0, OPT_FLAG, offsetof(struct fold, by_process), NULL,
		"begin each stack with the name of its process", NULL},
	{"by-thread", 0, OPT_FLAG, offsetof(struct fold, by_thread), NULL,
		"begin each stack with the names of its process and thread", NULL},
	{"annotate", 0, OPT_FLAG, offsetof(struct fold, annotate), NULL,
		"mark kernel functions with _[k], inlined ones with _[i], JIT code with _[j]",
		NULL},
	FILTER_OPTS(struct fold, filter),
	OPT_END,
};

/* stdout is the product: warnings that a table carries itself go to the log here. */
static void warn(const struct selection *sel)
{
	struct buf b = BUF_INIT;
	struct summary s;
	char *line, *next;

	summary_make(&s, sel);
	s.complete = 1; /* loading said so already */
	summary_warnings(&s, &b);
	for (line = b.data; line && *line; line = next) {
		next = line;
		while (*next && *next != '\n')
			next++;
		if (*next)
			*next++ = '\0';
		log_warn("%s", line);
	}
	buf_release(&b);
}

static int write_stacks(const struct fold *f, const struct calltree *t, struct err *e)
{
	struct out *o;
	int ret = out_open(&o, f->output ? f->output : "-", e);

	if (ret)
		return ret;
	ret = folded_write(o, t, f->annotate, e);
	if (ret) {
		out_abort(o);
		return ret;
	}
	return out_close(o, e);
}

static int fold_profile(
	const struct fold *f, const struct profile *p, const char *path, struct err *e)
{
	struct calltree_options o = {
		.by_process = f->by_process || f->by_thread,
		.by_thread = f->by_thread,
		.names_only = f->annotate ? 2 : 1,
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
	if (!ret) {
		warn(&sel);
		ret = write_stacks(f, t, e);
	}
	calltree_free(t);
	selection_release(&sel);
	return ret;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct fold f = {0};
	struct profile *p = NULL;
	struct err e = {0};
	const char *path;
	int rest, dashdash, ret;

	ret = command_parse(c, &f, argc, argv, &rest, &dashdash);
	if (ret >= 0)
		return ret;
	path = command_file(c, argc, argv, rest, dashdash);
	if (!path) {
		ret = EXIT_USAGE;
	} else {
		ret = load_profile(&p, path, &e);
		if (!ret)
			ret = fold_profile(&f, p, path, &e);
		ret = ret ? command_fail(&e) : EXIT_DONE;
	}
	profile_free(p);
	opts_release(c->opts, &f);
	return ret;
}

const struct command cmd_fold = {
	.name = "fold",
	.summary = "Print folded stacks, one line a stack",
	.usage = "[OPTION].. [FILE]",
	.opts = fold_opts,
	.opts_size = sizeof(struct fold),
	.notes = "A line is \"root;caller;leaf VALUE\". VALUE is CPU time in ns for a recording "
		 "and\n"
		 "stays a count for folded text. A frame without a name is \"[unknown: reason]\n"
		 "module+0x12\", a stack that was cut begins with [truncated]. Inside names, "
		 "control\n"
		 "bytes, ';' and '\\' are written as \\xNN and \\\\; FILE as for profbpf report.\n",
	.run = run,
};
