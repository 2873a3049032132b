/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf: the table of commands, the options before a command, and the exit
 * status. Nothing else in the program calls exit().
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/base/out.h"
#include "user/cmd/command.h"

#define LOG_DOMAIN "main"
#include "user/base/log.h"

#ifndef PROFBPF_VERSION
#define PROFBPF_VERSION "unknown"
#endif

const struct command *const commands[] = {
	&cmd_record,
	&cmd_report,
	&cmd_fold,
	&cmd_flame,
	&cmd_info,
	&cmd_resolve,
	&cmd_doctor,
	NULL,
};

static struct buf typed = BUF_INIT; /* argv, quoted for a shell */

const char *command_line(void)
{
	return buf_str(&typed);
}

/* Bytes of one argument kept in the run record; more is an accident or an attack. */
#define ARG_KEPT  ((size_t)4096)
#define LINE_KEPT ((size_t)32768)

static int is_plain(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "_-+=./,:@%^")];
}

static void remember_command_line(int argc, char **argv)
{
	size_t len;
	int i;

	for (i = 0; i < argc && typed.len < LINE_KEPT; i++) {
		const char *s = argv[i];

		if (i)
			buf_addc(&typed, ' ');
		if (is_plain(s) && strlen(s) <= ARG_KEPT) {
			buf_adds(&typed, s);
			continue;
		}
		buf_addc(&typed, '\'');
		for (len = 0; s[len] && len < ARG_KEPT; len++) {
			if (s[len] == '\'')
				buf_adds(&typed, "'\\''");
			else
				buf_addc(&typed, s[len]);
		}
		buf_adds(&typed, s[len] ? "'..." : "'");
	}
	if (i < argc)
		buf_adds(&typed, " ...");
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int main_help(void)
{
	struct err e = {0};
	struct out *o;
	size_t i;
	int ret = out_open(&o, "-", &e);

	if (ret)
		return command_fail(&e);
	out_str(o, "Usage: profbpf [record] [OPTION].. [-- COMMAND [ARG]..]\n"
		   "       profbpf COMMAND [OPTION].. [FILE]\n\n"
		   "Where did the time go? Samples running programs as they are, with eBPF.\n\n"
		   "  sudo profbpf -p PID -d 10      sample a process for 10 s, show its hot "
		   "functions\n"
		   "  sudo profbpf -- ./app          start a program and sample it to its end\n"
		   "  profbpf flame -o app.svg       a flame graph of the last recording\n\n"
		   "Commands:\n");
	for (i = 0; commands[i]; i++)
		out_printf(o, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	out_str(o,
		"  help       the help of a command: profbpf help record\n\n"
		"Without a command, record. Before a command: -v (more), -vv (everything),\n"
		"-q (errors only), --log DOMAIN:LEVEL[,..], --version, -h.\n\n"
		"Exit status: 0 done, 2 wrong usage, 3 could not (nothing to show, too), 141 the\n"
		"reader of the output left; after -- COMMAND, the status of that command.\n");
	ret = out_close(o, &e);
	return ret ? command_fail(&e) : EXIT_DONE;
}

static int print_version(void)
{
	struct err e = {0};
	struct out *o;
	int ret = out_open(&o, "-", &e);

	if (ret)
		return command_fail(&e);
	out_str(o, "profbpf " PROFBPF_VERSION "\n");
	ret = out_close(o, &e);
	return ret ? command_fail(&e) : EXIT_DONE;
}

static int unknown_command(const char *name)
{
	const char *names[sizeof(commands) / sizeof(commands[0])], *near;
	char brief[ESCAPE_BRIEF_BUF];
	struct err e = {0};
	size_t nr;

	for (nr = 0; commands[nr]; nr++)
		names[nr] = commands[nr]->name;
	near = opts_nearest(name, names, nr);
	err_set(&e, -EINVAL, "no such command: \"%s\"", escape_brief(brief, sizeof(brief), name));
	if (near)
		err_hint(&e, "did you mean %s?", near);
	else if (!access(name, F_OK))
		err_hint(&e,
			"profbpf report FILE shows a capture, profbpf -- PROGRAM runs a program");
	else
		err_hint(&e, "profbpf -h lists the commands");
	return command_fail(&e);
}

static int run_help(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2)
		return main_help();
	c = find_command(argv[1]);
	return c ? command_help(c) : unknown_command(argv[1]);
}

/* The options before a command. Returns -1 to go on at argv[*next], or the exit status. */
static int leading_options(int argc, char **argv, int *next)
{
	const char *spec;
	struct err e = {0};
	int i, verbose = 0;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return main_help();
		if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V"))
			return print_version();
		if (!strcmp(argv[i], "-v") || !strcmp(argv[i], "--verbose")) {
			verbose++;
		} else if (!strcmp(argv[i], "-vv")) {
			verbose += 2;
		} else if (!strcmp(argv[i], "-q") || !strcmp(argv[i], "--quiet")) {
			verbose = -1;
		} else if (!strncmp(argv[i], "--log=", 6) ||
			   (!strcmp(argv[i], "--log") && i + 1 < argc)) {
			spec = argv[i][5] ? argv[i] + 6 : argv[++i];
			if (log_set_domains(spec, &e))
				return command_fail(&e);
		} else {
			break;
		}
	}
	if (verbose)
		log_set_level(verbose < 0 ? LOG_ERROR : verbose > 1 ? LOG_DEBUG : LOG_INFO);
	*next = i;
	return -1;
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;
	const char *spec = getenv("PROFBPF_LOG");
	struct err e = {0};
	int next = 1, ret;

	if (spec && log_set_domains(spec, &e)) {
		err_prefix(&e, "PROFBPF_LOG");
		return command_fail(&e);
	}
	ret = leading_options(argc, argv, &next);
	if (ret >= 0)
		return ret;
	if (next == argc) {
		err_set(&e, -EINVAL, "nothing to do: no command and no target");
		err_hint(&e, "profbpf -p PID -d 10 records a process; profbpf -h says more");
		return command_fail(&e);
	}
	argc -= next;
	argv += next;
	if (argv[0][0] == '-') {
		/* record is the default; its argv[0] is the word before (the program, or a leading
		 * option) */
		return cmd_record.run(&cmd_record, argc + 1, argv - 1);
	}
	if (!strcmp(argv[0], "help"))
		return run_help(argc, argv);
	c = find_command(argv[0]);
	if (!c)
		return unknown_command(argv[0]);
	return c->run(c, argc, argv);
}

/*
 * A closed descriptor 0, 1 or 2 must not become that of the next file opened: a
 * warning would be written into a capture. What stands in gives EBADF, as the
 * closed one did, and is closed again for a command we start.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	int ret;

	fill_standard_descriptors();
	setlocale(LC_CTYPE, "");
	/* Both are errors of a write for us, each with its sentence. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);

	if (argc < 1)
		return EXIT_USAGE;
	remember_command_line(argc, argv);
	ret = dispatch(argc, argv);
	buf_release(&typed);
	return ret;
}
