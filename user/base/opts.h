/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command-line options from one table: the parser, -h, the man page check and
 * the bash completion all read it.
 *
 * A table describes fields of a struct of the command (offset from its start).
 * Long options take "--name VALUE" or "--name=VALUE", short ones "-k VALUE" or
 * "-kVALUE", flags can be bundled. Options end at "--". "-" alone is an operand.
 * An unknown option names the nearest known one. "--no-name" clears a flag.
 */
#ifndef PROFBPF_BASE_OPTS_H
#define PROFBPF_BASE_OPTS_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum opt_type {
	OPT_FLAG,     /* int, set to 1; repeated: counts up */
	OPT_STR,      /* const char *, borrowed from argv */
	OPT_LIST,     /* struct opt_list, one entry per use */
	OPT_U64,      /* uint64_t */
	OPT_DURATION, /* uint64_t ns */
	OPT_SIZE,     /* uint64_t bytes */
	OPT_GROUP,    /* a heading in -h; help is its text */
};

struct opt_list {
	const char **items; /* owned array of borrowed strings */
	size_t nr;
};

struct opt {
	const char *name; /* long name without dashes; NULL for OPT_GROUP */
	char key;	  /* short name or 0 */
	enum opt_type type;
	size_t offset;	    /* offsetof() in the command's option struct */
	const char *arg;    /* name of the value in -h ("PID[,PID..]"), NULL for flags */
	const char *help;   /* one sentence, no full stop */
	const char *values; /* space-separated fixed values (checked, completed, shown in -h), or
			       NULL. OPT_LIST checks each part between commas */
};
#define OPT_END                                                                                    \
	{                                                                                          \
		0                                                                                  \
	}

/**
 * Parse argv[1..argc) into @target, which holds the defaults. argv is permuted:
 * options first, then the operands argv[*rest .. *dashdash), then "--" itself at
 * *dashdash with everything after it in its order. Without a "--", *dashdash is
 * argc. @rest and @dashdash may be NULL.
 * Returns 0, -EINVAL with a sentence and a hint, or -ENOMEM; call
 * opts_release() in each case.
 */
int opts_parse(const struct opt *table, void *target, int argc, char **argv, int *rest,
	int *dashdash, struct err *e);
/** Free what OPT_LIST fields hold. */
void opts_release(const struct opt *table, void *target);
/** The option part of -h, wrapped to @width columns (0: not wrapped). */
struct out;
void opts_help(const struct opt *table, struct out *o, int width);

/**
 * The one of @known (@nr of them) that @word is most likely a slip of, or NULL
 * if none is near. For options, commands, function names: "did you mean".
 */
const char *opts_nearest(const char *word, const char *const *known, size_t nr);

#endif
