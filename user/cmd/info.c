/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf info: what a capture is and how far to trust it; and two looks at the
 * file itself, --verify and --dump.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "load.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/base/out.h"
#include "user/export/info.h"
#include "user/import/folded.h"
#include "user/model/calltree.h"
#include "user/render/info.h"

#define LOG_DOMAIN "info"
#include "user/base/log.h"

struct info {
	int json, verify, dump;
};

static const struct opt info_opts[] = {
	{"json", 0, OPT_FLAG, offsetof(struct info, json), NULL, "print JSON (profbpf-info/1)",
		NULL},
	{"verify", 0, OPT_FLAG, offsetof(struct info, verify), NULL,
		"check everything that must hold in the file and in what is made of it", NULL},
	{"dump", 0, OPT_FLAG, offsetof(struct info, dump), NULL, "print each record as a line",
		NULL},
	OPT_END,
};

/* Records of @path, whatever it is, into @sink. */
static int read_records(
	const char *path, struct sink *sink, struct capture_info *info, struct err *e)
{
	int is_capture = capture_probe(path, e);

	if (is_capture < 0)
		return is_capture;
	return is_capture ? capture_read(path, sink, info, e) : folded_import(path, sink, NULL, e);
}

static int dump(const char *path, struct err *e)
{
	struct sink *sink = NULL;
	struct out *o;
	int ret = out_open(&o, "-", e);

	if (ret)
		return ret;
	sink = dump_sink_new(o);
	ret = sink ? read_records(path, sink, NULL, e) : err_set(e, -ENOMEM, "out of memory");
	free(sink);
	if (ret == -EPIPE) {
		out_abort(o);
		return ret;
	}
	/* What was read before a damage is the point of a dump: print it all the same. */
	if (ret) {
		out_close(o, NULL);
		return ret;
	}
	return out_close(o, e);
}

/* What is made of the records: sums, links and order of its call tree. */
static int verify_model(struct profile *p, struct err *e)
{
	struct calltree *t = NULL;
	struct selection s;
	int ret = profile_finish(p, e);

	if (ret)
		return ret;
	ret = selection_make(&s, p, NULL, e);
	if (ret)
		return ret;
	ret = calltree_build(&t, &s, NULL, e);
	if (!ret)
		ret = calltree_total_funcs(t, e);
	if (!ret)
		ret = calltree_check(t, e);
	calltree_free(t);
	selection_release(&s);
	return ret;
}

static const char *record_blocks(char *buf, size_t size, uint64_t nr)
{
	char n[32];

	snprintf(buf, size, "%s %s", fmt_count(n, sizeof(n), nr), nr == 1 ? "block" : "blocks");
	return buf;
}

static int say_verified(
	const struct profile *p, const struct capture_info *info, const char *name, struct err *e)
{
	char n[64], m[32], k[32];
	size_t samples, stacks;
	struct out *o;
	int ret = out_open(&o, "-", e);

	if (ret)
		return ret;
	profile_samples(p, &samples);
	profile_stacks(p, &stacks);
	out_printf(o, "%s: ok: %s samples, %s stack nodes, %s frames", name,
		fmt_count(n, sizeof(n), samples), fmt_count(m, sizeof(m), stacks - 1),
		fmt_count(k, sizeof(k), profile_nr_frames(p)));
	if (info->blocks)
		out_printf(o, " in %s (%s)%s", fmt_bytes(m, sizeof(m), info->file_bytes),
			record_blocks(n, sizeof(n), info->blocks),
			info->complete ? "" : "; the recording is unfinished");
	out_char(o, '\n');
	return out_close(o, e);
}

static int verify(const char *path, struct err *e)
{
	struct sink *checks = verify_sink_new(), *both = NULL;
	struct capture_info info = {0};
	struct profile *p = NULL;
	char brief[ESCAPE_BRIEF_BUF];
	const char *name = load_name(path, brief, sizeof(brief));
	int ret;

	if (!checks || profile_new(&p) || !(both = sink_tee(checks, profile_sink(p)))) {
		ret = err_set(e, -ENOMEM, "out of memory");
		goto out;
	}
	ret = read_records(path, both, &info, e);
	if (ret)
		goto out;
	ret = verify_sink_finish(checks, e);
	if (!ret)
		ret = verify_model(p, e);
	if (ret)
		err_prefix(e, "%s", name);
	else
		ret = say_verified(p, &info, name, e);
out:
	verify_sink_free(checks);
	free(both);
	profile_free(p);
	return ret;
}

static int show(const struct info *opts, const char *path, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF];
	struct info_view v;
	struct profile *p;
	struct out *o;
	int ret = load_profile(&p, path, e);

	if (ret)
		return ret;
	ret = info_make(&v, p, e);
	if (!ret)
		ret = out_open(&o, "-", e);
	if (!ret) {
		if (opts->json)
			info_json(o, &v);
		else
			info_render(o, &v, load_name(path, name, sizeof(name)));
		ret = out_close(o, e);
	}
	profile_free(p);
	return ret;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct info opts = {0};
	struct err e = {0};
	const char *path;
	int rest, dashdash, ret;

	ret = command_parse(c, &opts, argc, argv, &rest, &dashdash);
	if (ret >= 0)
		return ret;
	path = command_file(c, argc, argv, rest, dashdash);
	if (!path)
		ret = EXIT_USAGE;
	else if (opts.json + opts.verify + opts.dump > 1)
		ret = command_usage(c, "--json, --verify and --dump: one of them");
	else if (opts.verify)
		ret = verify(path, &e) ? command_fail(&e) : EXIT_DONE;
	else if (opts.dump)
		ret = dump(path, &e) ? command_fail(&e) : EXIT_DONE;
	else
		ret = show(&opts, path, &e) ? command_fail(&e) : EXIT_DONE;
	opts_release(c->opts, &opts);
	return ret;
}

const struct command cmd_info = {
	.name = "info",
	.summary = "Say what a capture holds, what it lost, what it cost",
	.usage = "[OPTION].. [FILE]",
	.opts = info_opts,
	.opts_size = sizeof(struct info),
	.notes = "FILE as for profbpf report. --verify exits 3 and names the first thing that is "
		 "wrong.\n",
	.run = run,
};
