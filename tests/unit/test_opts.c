/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "user/base/opts.h"
#include "user/base/out.h"

struct options {
	int verbose, all, inverted;
	const char *output, *by;
	struct opt_list pids, events;
	uint64_t limit, duration, memory;
};

static const struct opt table[] = {
	{.type = OPT_GROUP, .help = "What to record"},
	{"pid", 'p', OPT_LIST, offsetof(struct options, pids), "PID", "processes to record", NULL},
	{"event", 'e', OPT_LIST, offsetof(struct options, events), "EVENT", "what to sample",
		"cpu alloc offcpu"},
	{"all", 'a', OPT_FLAG, offsetof(struct options, all), NULL, "the whole system", NULL},
	{"duration", 'd', OPT_DURATION, offsetof(struct options, duration), "TIME",
		"how long to record", NULL},
	{.type = OPT_GROUP, .help = "Output"},
	{"output", 'o', OPT_STR, offsetof(struct options, output), "FILE", "where to write", NULL},
	{"by", 0, OPT_STR, offsetof(struct options, by), "KIND", "one row per",
		"function line module thread"},
	{"limit", 'n', OPT_U64, offsetof(struct options, limit), "N", "rows at most", NULL},
	{"memory", 0, OPT_SIZE, offsetof(struct options, memory), "SIZE",
		"memory of the rings; more of it loses fewer samples when the machine is busy",
		NULL},
	{"verbose", 'v', OPT_FLAG, offsetof(struct options, verbose), NULL, "say more", NULL},
	{"inverted", 0, OPT_FLAG, offsetof(struct options, inverted), NULL, "callers below", NULL},
	OPT_END,
};

/* Splits a command line at spaces and parses it. */
struct parsed {
	struct options o;
	struct err e;
	char text[256];
	char *argv[32];
	int argc, rest, dashdash, ret;
};

static struct parsed *parse(const char *line)
{
	static struct parsed p;
	char *save = NULL, *w;

	memset(&p, 0, sizeof(p));
	snprintf(p.text, sizeof(p.text), "profbpf %s", line);
	for (w = strtok_r(p.text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		p.argv[p.argc++] = w;
	p.ret = opts_parse(table, &p.o, p.argc, p.argv, &p.rest, &p.dashdash, &p.e);
	return &p;
}

static void release(struct parsed *p)
{
	opts_release(table, &p->o);
}

static void expect_error(const char *line, const char *msg, const char *hint)
{
	struct parsed *p = parse(line);

	assert_int_equal(p->ret, -EINVAL);
	assert_string_equal(p->e.msg, msg);
	assert_string_equal(p->e.hint, hint);
	release(p);
}

static void test_opts_every_type_in_every_spelling(void **state)
{
	struct parsed *p = parse(
		"-p 1 -p2 --pid 3 --pid=4 -d 1.5 --limit=20 -ofile --memory 64K --by line -av -v");

	assert_string_equal(p->e.msg, "");
	assert_int_equal(p->ret, 0);
	assert_int_equal(p->o.pids.nr, 4);
	assert_string_equal(p->o.pids.items[0], "1");
	assert_string_equal(p->o.pids.items[1], "2");
	assert_string_equal(p->o.pids.items[2], "3");
	assert_string_equal(p->o.pids.items[3], "4");
	assert_int_equal(p->o.duration, 1500000000);
	assert_int_equal(p->o.limit, 20);
	assert_string_equal(p->o.output, "file");
	assert_int_equal(p->o.memory, 65536);
	assert_string_equal(p->o.by, "line");
	assert_int_equal(p->o.all, 1);
	assert_int_equal(p->o.verbose, 2);
	assert_int_equal(p->rest, p->argc);
	assert_int_equal(p->dashdash, p->argc);
	release(p);
	assert_null(p->o.pids.items);
}

static void test_opts_bundle_may_end_with_a_value(void **state)
{
	struct parsed *p = parse("-avn5 -vp 9");

	assert_int_equal(p->ret, 0);
	assert_int_equal(p->o.limit, 5);
	assert_int_equal(p->o.verbose, 2);
	assert_string_equal(p->o.pids.items[0], "9");
	release(p);
}

static void test_opts_no_clears_a_flag(void **state)
{
	struct parsed *p = parse("-vv --no-verbose --all --no-all -v");

	assert_int_equal(p->ret, 0);
	assert_int_equal(p->o.verbose, 1);
	assert_int_equal(p->o.all, 0);
	release(p);
}

static void test_opts_operands_move_behind_the_options(void **state)
{
	struct parsed *p = parse("a.prof -v b.prof --limit 3 - -a");

	assert_int_equal(p->ret, 0);
	assert_int_equal(p->rest, 5);
	assert_int_equal(p->dashdash, 8);
	assert_string_equal(p->argv[1], "-v");
	assert_string_equal(p->argv[2], "--limit");
	assert_string_equal(p->argv[3], "3");
	assert_string_equal(p->argv[4], "-a");
	assert_string_equal(p->argv[5], "a.prof");
	assert_string_equal(p->argv[6], "b.prof");
	assert_string_equal(p->argv[7], "-");
	release(p);
}

static void test_opts_all_after_dashdash_is_left_alone(void **state)
{
	struct parsed *p = parse("x -v -- ./app -v --limit 3 -- y");

	assert_int_equal(p->ret, 0);
	assert_int_equal(p->o.verbose, 1);
	assert_int_equal(p->o.limit, 0);
	assert_int_equal(p->rest, 2);
	assert_string_equal(p->argv[2], "x");
	assert_int_equal(p->dashdash, 3);
	assert_string_equal(p->argv[3], "--");
	assert_string_equal(p->argv[4], "./app");
	assert_string_equal(p->argv[8], "--");
	assert_string_equal(p->argv[9], "y");
	release(p);
}

static void test_opts_unknown_names_the_nearest(void **state)
{
	expect_error("--durtion 5", "unknown option --durtion", "did you mean --duration?");
	expect_error("--ouptut=x", "unknown option --ouptut", "did you mean --output?");
	expect_error("--dur 5", "unknown option --dur", "did you mean --duration?");
	expect_error("--frobnicate", "unknown option --frobnicate", "-h lists the options");
	expect_error("--x\x1b", "unknown option --x\\x1b", "-h lists the options");
	expect_error("-x", "unknown option -x", "-h lists the options");
	expect_error("-vx", "unknown option -x in -vx", "-h lists the options");
	expect_error("-limit=3", "unknown option -l in -limit=3", "did you mean --limit=3?");
	expect_error("-\x1b", "unknown option ?", "-h lists the options");
}

static void test_opts_values_are_checked(void **state)
{
	struct parsed *p;

	expect_error("--by lin", "--by: \"lin\" is not one of its values", "did you mean line?");
	expect_error("--by qqqqq", "--by: \"qqqqq\" is not one of its values",
		"values are function, line, module, thread");
	expect_error("-e cpu,aloc", "-e: \"aloc\" is not one of its values", "did you mean alloc?");
	expect_error(
		"-e cpu,", "-e: \"\" is not one of its values", "values are cpu, alloc, offcpu");
	p = parse("-e cpu,alloc -e offcpu");
	assert_int_equal(p->ret, 0);
	assert_int_equal(p->o.events.nr, 2);
	assert_string_equal(p->o.events.items[0], "cpu,alloc");
	release(p);
}

static void test_opts_bad_numbers_name_the_option_as_written(void **state)
{
	expect_error("--limit x", "--limit: \"x\" is not a whole number", "");
	expect_error("-n-1", "-n: \"-1\" is not a whole number", "");
	expect_error("-d 5y", "-d: \"5y\" is not a time",
		"write a number and a unit (ns, us, ms, s, m, h): 500ms, 2s, 1.5");
	expect_error("--limit=", "--limit: \"\" is not a whole number", "");
}

static void test_opts_missing_and_needless_values_are_told(void **state)
{
	expect_error("-o", "-o needs a value", "-o FILE: where to write");
	expect_error("--output", "--output needs a value", "--output FILE: where to write");
	expect_error("-o -- ./app", "-o needs a value", "-o FILE: where to write");
	expect_error("--all=1", "--all takes no value", "");
	expect_error("--no-all=1", "--no-all takes no value", "");
	expect_error("--no-limit", "unknown option --no-limit", "did you mean --limit?");
}

static void test_opts_help_is_aligned_and_wrapped(void **state)
{
	struct out *o = out_mem();

	opts_help(table, o, 70);
	assert_string_equal(out_mem_data(o, NULL),
		"What to record:\n"
		"  -p, --pid PID             processes to record\n"
		"  -e, --event EVENT         what to sample: cpu, alloc, offcpu\n"
		"  -a, --all                 the whole system\n"
		"  -d, --duration TIME       how long to record\n"
		"\n"
		"Output:\n"
		"  -o, --output FILE         where to write\n"
		"      --by KIND             one row per: function, line, module,\n"
		"                            thread\n"
		"  -n, --limit N             rows at most\n"
		"      --memory SIZE         memory of the rings; more of it loses\n"
		"                            fewer samples when the machine is busy\n"
		"  -v, --verbose             say more\n"
		"      --inverted            callers below\n");
	out_abort(o);
}

static void test_opts_nearest_does_not_guess_wildly(void **state)
{
	static const char *const names[] = {"record", "report", "fold", "flame", "info"};

	assert_string_equal(opts_nearest("reprot", names, 5), "report");
	assert_string_equal(opts_nearest("flam", names, 5), "flame");
	assert_string_equal(opts_nearest("fodl", names, 5), "fold");
	assert_string_equal(opts_nearest("rec", names, 5), "record");
	assert_null(opts_nearest("stat", names, 5));
	assert_null(opts_nearest("", names, 5));
	assert_null(opts_nearest("x", names, 5));
}

RUN_TESTS(T(test_opts_every_type_in_every_spelling), T(test_opts_bundle_may_end_with_a_value),
	T(test_opts_no_clears_a_flag), T(test_opts_operands_move_behind_the_options),
	T(test_opts_all_after_dashdash_is_left_alone), T(test_opts_unknown_names_the_nearest),
	T(test_opts_values_are_checked), T(test_opts_bad_numbers_name_the_option_as_written),
	T(test_opts_missing_and_needless_values_are_told), T(test_opts_help_is_aligned_and_wrapped),
	T(test_opts_nearest_does_not_guess_wildly))
