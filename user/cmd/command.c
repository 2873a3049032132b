/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all commands share: the options every one of them has, -h, and how an
 * error becomes an exit status.
 *
 * The shared options are appended to the command's table for the parse, and
 * their values live behind the command's own struct in one buffer, so that no
 * table repeats them and no command forgets one.
 */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "user/base/escape.h"
#include "user/base/out.h"

#define LOG_DOMAIN "cmd"
#include "user/base/log.h"

struct common {
	int help;
	int verbose;
	int quiet;
	struct opt_list log;
};

static const struct opt common_opts[] = {
	{.type = OPT_GROUP, .help = "General"},
	{"verbose", 'v', OPT_FLAG, offsetof(struct common, verbose), NULL,
		"say more on standard error; twice: everything", NULL},
	{"quiet", 'q', OPT_FLAG, offsetof(struct common, quiet), NULL,
		"say nothing on standard error but errors", NULL},
	{"log", 0, OPT_LIST, offsetof(struct common, log), "DOMAIN:LEVEL[,..]",
		"level for one part of the program, as in symbolize:debug", NULL},
	{"help", 'h', OPT_FLAG, offsetof(struct common, help), NULL, "this help", NULL},
	OPT_END,
};

static size_t table_len(const struct opt *t)
{
	size_t n = 0;

	while (t && (t[n].name || t[n].type == OPT_GROUP))
		n++;
	return n;
}

/* The command's table and the shared one, whose fields start at @base. Malloced. */
static struct opt *whole_table(const struct command *c, size_t base)
{
	size_t own = table_len(c->opts), shared = table_len(common_opts), i;
	struct opt *t = calloc(own + shared + 1, sizeof(*t));

	if (!t)
		return NULL;
	if (own)
		memcpy(t, c->opts, own * sizeof(*t));
	memcpy(t + own, common_opts, shared * sizeof(*t));
	for (i = own; i < own + shared; i++)
		t[i].offset += base;
	return t;
}

static size_t aligned_size(const struct command *c)
{
	return (c->opts_size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
}

static int apply_common(const struct common *m, struct err *e)
{
	size_t i;
	int ret;

	if (m->quiet)
		log_set_level(LOG_ERROR);
	else if (m->verbose)
		log_set_level(m->verbose > 1 ? LOG_DEBUG : LOG_INFO);
	for (i = 0; i < m->log.nr; i++) {
		ret = log_set_domains(m->log.items[i], e);
		if (ret)
			return ret;
	}
	return 0;
}

int command_parse(
	const struct command *c, void *opts, int argc, char **argv, int *rest, int *dashdash)
{
	size_t base = aligned_size(c);
	struct common *m;
	struct err e = {0};
	struct opt *table;
	char *both;
	int ret;

	both = calloc(1, base + sizeof(*m));
	table = whole_table(c, base);
	if (!both || !table) {
		err_set(&e, -ENOMEM, "out of memory");
		free(both);
		free(table);
		return command_fail(&e);
	}
	if (c->opts_size)
		memcpy(both, opts, c->opts_size);
	m = (struct common *)(void *)(both + base);

	ret = opts_parse(table, both, argc, argv, rest, dashdash, &e);
	if (!ret && !m->help)
		ret = apply_common(m, &e);
	if (ret) {
		err_prefix(&e, "%s", c->name);
		if (!e.hint[0])
			err_hint(&e, "see profbpf %s -h", c->name);
		log_err(&e);
		ret = EXIT_USAGE;
	} else if (m->help) {
		ret = command_help(c);
	} else {
		/* Lists are handed over: the command releases those of its own table. */
		if (c->opts_size)
			memcpy(opts, both, c->opts_size);
		ret = -1;
	}
	if (ret == -1)
		opts_release(common_opts, m);
	else
		opts_release(table, both);
	free(table);
	free(both);
	return ret;
}

const char *command_file(const struct command *c, int argc, char **argv, int rest, int dashdash)
{
	char brief[ESCAPE_BRIEF_BUF];
	const char *file = NULL;
	int i;

	for (i = rest; i < argc; i++) {
		if (i == dashdash)
			continue;
		if (file) {
			command_usage(c, "one capture at a time, not \"%s\" too",
				escape_brief(brief, sizeof(brief), argv[i]));
			return NULL;
		}
		file = argv[i];
	}
	if (file && !*file) {
		command_usage(c, "an empty name is no file");
		return NULL;
	}
	return file ? file : DEFAULT_CAPTURE;
}

int command_usage(const struct command *c, const char *fmt, ...)
{
	char text[ERR_MSG_MAX];
	struct err e = {0};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(&e, -EINVAL, "%s: %s", c->name, text);
	err_hint(&e, "see profbpf %s -h", c->name);
	log_err(&e);
	return EXIT_USAGE;
}

int command_fail(const struct err *e)
{
	if (e->code == -EPIPE)
		return EXIT_PIPE;
	log_err(e);
	return e->code == -EINVAL ? EXIT_USAGE : EXIT_CANNOT;
}

static int help_width(void)
{
	struct winsize w = {0};

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || w.ws_col < 40)
		return 80;
	return w.ws_col < 100 ? w.ws_col : 100;
}

int command_help(const struct command *c)
{
	struct opt *table = whole_table(c, aligned_size(c));
	struct err e = {0};
	struct out *o;
	int ret;

	ret = out_open(&o, "-", &e);
	if (ret || !table) {
		free(table);
		if (ret)
			return command_fail(&e);
		out_abort(o);
		err_set(&e, -ENOMEM, "out of memory");
		return command_fail(&e);
	}
	out_printf(o, "Usage: profbpf %s %s\n\n%s.\n\n", c->name, c->usage, c->summary);
	opts_help(table, o, help_width());
	if (c->notes)
		out_printf(o, "\n%s", c->notes);
	free(table);
	ret = out_close(o, &e);
	return ret ? command_fail(&e) : EXIT_DONE;
}
