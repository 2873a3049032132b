/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One command of the program. A file of this folder holds one, exports its
 * struct and nothing else; main.c keeps the table, prints -h from it, and turns
 * run()'s result into the exit status.
 *
 * A command parses its own arguments with command_parse(), prints its product
 * to stdout and its errors with command_fail(). It never exits. The options
 * every command has (-h -v -q --log) are added by command_parse() and are not
 * in the tables.
 */
#ifndef PROFBPF_CMD_COMMAND_H
#define PROFBPF_CMD_COMMAND_H

#include <stddef.h>

#include "user/base/err.h"
#include "user/base/opts.h"

/* Exit statuses of profbpf itself; a started command's own status passes
 * through where one was started. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_REGRESSION = 1, /* `check` found one */
	EXIT_USAGE = 2,
	EXIT_CANNOT = 3, /* could not do it; nothing to show */
	EXIT_PIPE = 141, /* the reader of our output left (| head): silent, as if SIGPIPE had ended
			    us */
};

#define DEFAULT_CAPTURE "profbpf.prof" /* what commands read and write without FILE or -o */

struct command {
	const char *name;    /* "report" */
	const char *summary; /* one line for `profbpf -h`, no full stop */
	const char *usage; /* what follows "profbpf NAME " in the usage line, "[OPTION].. [FILE]" */
	const struct opt *opts; /* ends with OPT_END; NULL = none */
	size_t opts_size;	/* sizeof of the struct the table describes */
	const char *notes;	/* text after the options in -h (whole lines), or NULL */
	/** argv[0] is the command's name. Returns an exit status, 0..255. */
	int (*run)(const struct command *c, int argc, char **argv);
};

extern const struct command cmd_record;
extern const struct command cmd_report;
extern const struct command cmd_fold;
extern const struct command cmd_flame;
extern const struct command cmd_info;
extern const struct command cmd_resolve;
extern const struct command cmd_doctor;

/* Ends with NULL; the order of `profbpf -h`. In main.c. */
extern const struct command *const commands[];

/**
 * Parse @argv into @opts (opts_size bytes; holds the defaults before), which
 * may be NULL for a command without options. Handles -h -v -q --log.
 *
 * Returns -1 to go on, or the exit status to return at once: 0 after help,
 * EXIT_USAGE after saying what was wrong. *rest and *dashdash as in
 * opts_parse(). Call opts_release(c->opts, opts) when done, only after -1.
 */
int command_parse(
	const struct command *c, void *opts, int argc, char **argv, int *rest, int *dashdash);
/** The FILE operand of a command that reads one, before or behind the "--" of opts_parse();
 *  DEFAULT_CAPTURE without, NULL and a usage error said when it is empty or there are more. */
const char *command_file(const struct command *c, int argc, char **argv, int rest, int dashdash);
/** Say a usage error with a hint to -h; returns EXIT_USAGE. */
int command_usage(const struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Print @e and return the exit status for its code. Silent for -EPIPE: the reader had enough. */
int command_fail(const struct err *e);
/** Print the whole help of @c to stdout. Returns an exit status. */
int command_help(const struct command *c);
/** The command line as typed, quoted for a shell; for the run record. Borrowed, never NULL. */
const char *command_line(void);

#endif
