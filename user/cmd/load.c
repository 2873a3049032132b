/* SPDX-License-Identifier: BSD-2-Clause */
#include "load.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/import/folded.h"

#define LOG_DOMAIN "load"
#include "user/base/log.h"

const char *load_name(const char *path, char *buf, unsigned size)
{
	if (!path)
		path = DEFAULT_CAPTURE;
	return strcmp(path, "-") ? escape_brief(buf, size, path) : "standard input";
}

/* Nothing under that name: say what to do, and look for what a killed recording leaves. */
static void hint_missing(const char *path, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF], *part = NULL;

	if (asprintf(&part, "%s.part", path) >= 0 && !access(part, F_OK))
		err_hint(e, "an unfinished recording is there: %s",
			escape_brief(brief, sizeof(brief), part));
	else if (!strcmp(path, DEFAULT_CAPTURE))
		err_hint(e, "record first: sudo profbpf -p PID -d 10; or name a capture");
	free(part);
}

static void note_capture(const char *path, const struct capture_info *info)
{
	char name[ESCAPE_BRIEF_BUF], n[32];

	load_name(path, name, sizeof(name));
	if (!info->complete)
		log_warn("%s: an unfinished recording; this is what it holds up to its last whole "
			 "block (profbpf resolve completes it)",
			load_name(path, name, sizeof(name)));
	if (info->unknown_records)
		log_warn("%s: %s records of a newer profbpf were not understood and left out",
			load_name(path, name, sizeof(name)),
			fmt_count(n, sizeof(n), info->unknown_records));
}

static void note_folded(const char *path, const struct folded_stats *st)
{
	char name[ESCAPE_BRIEF_BUF], bad[32], line[32];

	if (st->bad)
		log_warn("%s: %s lines are not folded text and were skipped; the first is line %s, "
			 "%s: \"%s\"",
			load_name(path, name, sizeof(name)), fmt_count(bad, sizeof(bad), st->bad),
			fmt_count(line, sizeof(line), st->first_bad_line),
			st->first_bad_reason ? st->first_bad_reason : "bad", st->first_bad_text);
	if (st->saturated)
		log_warn("%s: the sum of the counts is too large; %s lines were cut",
			load_name(path, name, sizeof(name)),
			fmt_count(bad, sizeof(bad), st->saturated));
}

static int read_into(struct profile *p, const char *path, int is_capture, struct err *e)
{
	struct capture_info info = {0};
	struct folded_stats st = {0};
	int ret;

	if (!is_capture) {
		ret = folded_import(path, profile_sink(p), &st, e);
		if (!ret)
			note_folded(path, &st);
		return ret;
	}
	ret = capture_read(path, profile_sink(p), &info, e);
	if (ret)
		return ret;
	note_capture(path, &info);
	profile_set_capture_info(p, &info);
	return 0;
}

/*
 * The C library keeps large blocks after the first ones were freed, for later
 * requests that need not fit; so tables that are done with would stay with us.
 * With a threshold of our own each large block comes from the kernel and goes
 * back to it.
 */
static void return_large_blocks(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

int load_profile(struct profile **out, const char *path, struct err *e)
{
	struct profile *p = NULL;
	int ret;

	*out = NULL;
	if (!path)
		path = DEFAULT_CAPTURE;
	ret = capture_probe(path, e);
	if (ret == -ENOENT)
		hint_missing(path, e);
	if (ret < 0)
		return ret;
	return_large_blocks();
	if (profile_new(&p))
		return err_set(e, -ENOMEM, "out of memory");
	ret = read_into(p, path, ret, e);
	if (!ret)
		ret = profile_finish(p, e);
	if (ret) {
		profile_free(p);
		return ret;
	}
	*out = p;
	return 0;
}
