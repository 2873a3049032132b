/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf resolve: names for a capture that has none, or not all: a recording
 * that was killed, or debug packages that were installed since.
 */
#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/resolve/resolve.h"

#define LOG_DOMAIN "resolve"
#include "user/base/log.h"

static void summary(const struct resolve_result *r)
{
	char path[ESCAPE_BRIEF_BUF], samples[32], named[32], kept[32], unnamed[32], lost[32];

	fprintf(stderr,
		"%s: %s samples; of its frames %s were named now, %s before, %s have no name\n",
		escape_brief(path, sizeof(path), r->path),
		fmt_count(samples, sizeof(samples), r->samples),
		fmt_count(named, sizeof(named), r->stats.named),
		fmt_count(kept, sizeof(kept), r->stats.kept),
		fmt_count(unnamed, sizeof(unnamed), r->stats.unnamed));
	if (r->lost_tail)
		fprintf(stderr, "%s of an unfinished block at its end were dropped\n",
			fmt_bytes(lost, sizeof(lost), r->lost_tail));
}

static int run(const struct command *c, int argc, char **argv)
{
	struct resolve_result r = {0};
	struct err e = {0};
	int rest, dashdash, ret;
	const char *path;

	ret = command_parse(c, NULL, argc, argv, &rest, &dashdash);
	if (ret >= 0)
		return ret;
	path = command_file(c, argc, argv, rest, dashdash);
	if (!path)
		return EXIT_USAGE;
	ret = resolve_capture(path, NULL, &r, &e);
	if (ret)
		return command_fail(&e);
	if (log_enabled(LOG_WARN, LOG_DOMAIN))
		summary(&r);
	return EXIT_DONE;
}

const struct command cmd_resolve = {
	.name = "resolve",
	.summary = "Look up the names a capture lacks, and complete a .part",
	.usage = "[FILE]",
	.notes = "FILE.part, which a recording leaves that was killed, becomes FILE. Names are "
		 "taken\n"
		 "from the files of this host, each checked to be the one that was recorded.\n"
		 "Without FILE, " DEFAULT_CAPTURE ".\n",
	.run = run,
};
