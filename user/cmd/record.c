/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf record: one recording, then what it showed. The default command.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "report.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/capture/records.h"
#include "user/record/recorder.h"

#define LOG_DOMAIN "record"
#include "user/base/log.h"

#define DEFAULT_FREQ	    99
#define DEFAULT_UNWIND	    (256u << 20)
#define NO_DURATION	    UINT64_MAX /* -d was not given */
#define LOSS_WARN_PER_MILLE 1.0

#define FIELD(f) offsetof(struct record_options, f)

static const struct opt record_opts[] = {
	{.type = OPT_GROUP, .help = "Target (one kind; -- COMMAND starts one)"},
	{"pid", 'p', OPT_LIST, FIELD(pids), "PID[,PID..]", "processes, all their threads", NULL},
	{"tid", 't', OPT_LIST, FIELD(tids), "TID[,TID..]", "single threads", NULL},
	{"cgroup", 0, OPT_STR, FIELD(cgroup), "PATH",
		"a version 2 cgroup and those below it; from the file system's root or the "
		"hierarchy's",
		NULL},
	{"all", 'a', OPT_FLAG, FIELD(all), NULL, "the whole system", NULL},
	{"children", 0, OPT_FLAG, FIELD(children), NULL,
		"with -p or -- COMMAND: the children they start, too", NULL},
	{"cpus", 0, OPT_STR, FIELD(cpus), "LIST", "only what runs on these CPUs, as in 0,2-5",
		NULL},
	{"user", 0, OPT_STR, FIELD(user), "USER",
		"run COMMAND as this user (default: the caller of sudo)", NULL},
	{.type = OPT_GROUP, .help = "Sampling"},
	{"duration", 'd', OPT_DURATION, FIELD(duration_ns), "TIME",
		"end after this time, as in 10, 1.5, 500ms (default: until Ctrl-C or the target's "
		"end)",
		NULL},
	{"delay", 0, OPT_DURATION, FIELD(delay_ns), "TIME", "begin after this time", NULL},
	{"freq", 'F', OPT_U64, FIELD(freq), "HZ", "samples a second on each busy CPU (default: 99)",
		NULL},
	{"event", 'e', OPT_STR, FIELD(events), "EVENT", "what to sample", "cpu"},
	{"fixed-period", 0, OPT_FLAG, FIELD(no_redraw), NULL,
		"do not vary the period; work in step with it is then seen wrongly", NULL},
	{"buffer", 0, OPT_SIZE, FIELD(buffer), "SIZE",
		"ring buffer of each CPU, as in 4M, when samples are lost", NULL},
	{"unwind-memory", 0, OPT_SIZE, FIELD(unwind_memory), "SIZE",
		"kernel memory for unwind tables, as in 64M; 0: frame pointers only (default: "
		"256M)",
		NULL},
	{.type = OPT_GROUP, .help = "Output"},
	{"output", 'o', OPT_STR, FIELD(output), "FILE",
		"the capture (default: " DEFAULT_CAPTURE "); an older one becomes FILE.old", NULL},
	{"max-size", 0, OPT_SIZE, FIELD(max_size), "SIZE",
		"end when the capture is this big, as in 100M; names come on top", NULL},
	OPT_END,
};

static int quiet(void)
{
	return !log_enabled(LOG_WARN, LOG_DOMAIN);
}

static double per_mille_lost(const struct record_result *r)
{
	uint64_t all = r->samples + r->lost;

	return all ? 1000.0 * (double)r->lost / (double)all : 0;
}

static void warn_of_loss(const struct record_result *r, const struct record_options *o)
{
	double lost = per_mille_lost(r);

	if (lost <= LOSS_WARN_PER_MILLE)
		return;
	log_warn("%.1f of 1000 samples were lost, so shares may be off: %s", lost,
		o->buffer ? "raise --buffer further or lower -F"
			  : "try a bigger --buffer (such as 4M) or a lower -F");
}

static const char *end_words(const struct record_result *r)
{
	switch (r->end_reason) {
	case END_TARGET_EXITED:
		return ", the target ended";
	case END_MAX_SIZE:
		return ", --max-size reached";
	default:
		return "";
	}
}

/*
 * Half-width of the 95 % interval of the sampled total, in per cent of it. Each
 * tick of a CPU finds the target or does not: n samples of a CPU that is its own
 * for a share p of the time vary by sqrt(n (1 - p)). A CPU that it never leaves
 * is known exactly, as values are times between ticks.
 */
static double total_error_pct(const struct record_result *r)
{
	double cpus = r->duration_ns ? (double)r->cpu_ns / (double)r->duration_ns : 0;
	double p = cpus > 0 ? cpus / ceil(cpus) : 0;

	return r->samples ? 196 * sqrt((1 - p) / (double)r->samples) : 100;
}

/* What a person wants to know before the table: how much, how good, at which cost, where. */
static void summary(const struct record_result *r)
{
	char time[32], samples[32], lost[32], size[32], own[32], naming[32], cpu[32], sampled[32];
	char path[ESCAPE_BRIEF_BUF];
	double secs = (double)r->duration_ns / 1e9;

	fprintf(stderr, "%s sample%s in %s%s, %s lost; %u thread%s in %u process%s\n",
		fmt_count(samples, sizeof(samples), r->samples), r->samples == 1 ? "" : "s",
		fmt_duration(time, sizeof(time), r->duration_ns), end_words(r),
		fmt_count(lost, sizeof(lost), r->lost), r->threads, r->threads == 1 ? "" : "s",
		r->processes, r->processes == 1 ? "" : "es");
	if (r->target_cpu_ns && secs > 0)
		fprintf(stderr,
			"the target's own clock: %s of CPU time, %.1f %% of one CPU; by the "
			"samples: %s +- %.0f %%\n",
			fmt_duration(cpu, sizeof(cpu), r->target_cpu_ns),
			100 * (double)r->target_cpu_ns / 1e9 / secs,
			fmt_duration(sampled, sizeof(sampled), r->cpu_ns), total_error_pct(r));
	fprintf(stderr, "recording cost %s of CPU time (%.2f %% of one CPU), looking up names %s\n",
		fmt_duration(own, sizeof(own), r->own_cpu_ns),
		secs > 0 ? 100 * (double)r->own_cpu_ns / 1e9 / secs : 0,
		fmt_duration(naming, sizeof(naming), r->naming_ns));
	fprintf(stderr, "wrote %s (%s)\n", escape_brief(path, sizeof(path), r->path),
		fmt_bytes(size, sizeof(size), r->file_bytes));
}

/* A shell's view of a wait status. */
static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What a command that ran makes of ours. */
static int command_status(const struct record_result *r)
{
	return r->command_left ? 128 + r->command_left : shell_status(r->command_status);
}

/* Between the defaults and the recorder: what the table cannot check. Returns -1 to go on. */
static int check(const struct command *c, struct record_options *o, int argc, char **argv, int rest,
	int dashdash)
{
	char brief[ESCAPE_BRIEF_BUF];

	if (rest < dashdash) {
		return command_usage(c, "\"%s\" is no option; to start a command, put -- before it",
			escape_brief(brief, sizeof(brief), argv[rest]));
	}
	if (dashdash < argc) {
		if (dashdash + 1 == argc)
			return command_usage(c, "no command after --");
		o->command = argv + dashdash + 1;
	}
	if (!o->duration_ns)
		return command_usage(c, "-d 0: nothing can be sampled in no time");
	if (o->duration_ns == NO_DURATION)
		o->duration_ns = 0;
	if (!o->freq)
		return command_usage(c, "-F 0: the frequency must be above 0");
	if (!*o->output)
		return command_usage(c, "-o: an empty name is no file");
	if (!strcmp(o->output, "-"))
		return command_usage(c, "-o -: a capture cannot go to standard output; "
					"it is renamed when complete");
	return -1;
}

static int finish(
	const struct record_options *o, const struct record_result *r, int ret, struct err *e)
{
	struct err shown = {0};

	if (ret == -ENODATA && r->command_ran) {
		/* The command did its work; that it was too short to be seen is no failure of it.
		 */
		log_warn("%s", e->msg);
		if (e->hint[0])
			log_warn("hint: %s", e->hint);
		return command_status(r);
	}
	if (ret) {
		ret = command_fail(e);
		return o->command && !r->command_ran && r->command_status
			       ? shell_status(r->command_status)
			       : ret;
	}
	if (!quiet())
		summary(r);
	warn_of_loss(r, o);
	/* A command's standard output is its product (gzip -c > FILE): ours stays out of it. */
	ret = r->command_ran && quiet()
		      ? 0
		      : report_print_file(
				r->path, 0, r->command_ran ? STDERR_FILENO : STDOUT_FILENO, &shown);
	/* The capture is safe: a table that cannot be shown is said, and fails us only without a
	 * command. */
	ret = ret ? command_fail(&shown) : EXIT_DONE;
	return r->command_ran ? command_status(r) : ret;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct record_options o = {.freq = DEFAULT_FREQ,
		.unwind_memory = DEFAULT_UNWIND,
		.duration_ns = NO_DURATION,
		.output = DEFAULT_CAPTURE,
		.events = "cpu"};
	struct record_result r;
	struct err e = {0};
	int rest, dashdash, ret;

	ret = command_parse(c, &o, argc, argv, &rest, &dashdash);
	if (ret >= 0)
		return ret;
	ret = check(c, &o, argc, argv, rest, dashdash);
	if (ret < 0) {
		o.command_line = command_line();
		o.progress = !quiet() && isatty(STDERR_FILENO);
		ret = recorder_run(&o, &r, &e);
		ret = finish(&o, &r, ret, &e);
	}
	opts_release(c->opts, &o);
	return ret;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "Sample a running program, or one it starts, and show where its time went",
	.usage = "[OPTION].. [-- COMMAND [ARG]..]",
	.opts = record_opts,
	.opts_size = sizeof(struct record_options),
	.notes = "Sampling ends at -d, at the first Ctrl-C (or SIGTERM, SIGHUP), or when the "
		 "target\n"
		 "has ended; then names are looked up and the capture is completed. The target "
		 "goes\n"
		 "on untouched. A second Ctrl-C leaves at once, with FILE.part; `profbpf resolve\n"
		 "FILE.part` completes it.\n"
		 "\n"
		 "A COMMAND gets our standard input and output, and the signals a process sends "
		 "us;\n"
		 "the table then goes to standard error, and with -q nowhere.\n"
		 "If it goes on after the end of sampling, it is waited for; a second Ctrl-C (or\n"
		 "SIGTERM, SIGHUP) leaves it running, and the status is 128+signal. Else the exit\n"
		 "status is its own, 128+signal, 126 or 127 if it could not be run, and 3 if the\n"
		 "recording failed.\n",
	.run = run,
};
