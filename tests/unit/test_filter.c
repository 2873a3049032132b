/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <math.h>

#include "profile_fixture.h"
#include "user/model/filter.h"

#define LIST(...)                                                                                  \
	{                                                                                          \
		.items = (const char *[]){__VA_ARGS__},                                            \
		.nr = sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)                 \
	}

static const char two_threads[] = "10 app/io main;read 4\n"
				  "20 app/work main;spin 10\n"
				  "30 app/work main;spin;[k]irq 1\n"
				  "40 other/io start;poll 5\n";

/* How many samples pass; fails the test on an error. */
static size_t selected(const struct profile *p, const struct filter_options *o)
{
	struct selection s;
	struct err e = {0};
	size_t nr;

	if (selection_make(&s, p, o, &e))
		fail_msg("%s", e.msg);
	nr = s.nr;
	selection_release(&s);
	return nr;
}

static void without_restriction_everything_passes(void **state)
{
	struct profile *p = profile_from_text(two_threads);
	struct selection s;
	struct err e = {0};

	(void)state;
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(s.nr, 4);
	assert_int_equal(s.total, 20 * FIXTURE_MS);
	assert_int_equal(s.capture_total, s.total);
	assert_true(s.total_sq == (16.0 + 100 + 1 + 25) * 1e12);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.processes, 2);
	assert_int_equal(s.filtered, 0);
	assert_int_equal(s.from_ns, 0);
	assert_int_equal(s.to_ns, profile_duration_ns(p));
	assert_int_equal(selection_explain(&s, NULL, &e), 0);
	selection_release(&s);
	profile_free(p);
}

static void threads_by_pattern_name_and_number(void **state)
{
	struct profile *p = profile_from_text(two_threads);

	(void)state;
	assert_int_equal(selected(p, &(struct filter_options){.thread = LIST("io")}), 2);
	assert_int_equal(selected(p, &(struct filter_options){.thread = LIST("w*")}), 2);
	assert_int_equal(selected(p, &(struct filter_options){.thread = LIST("1002")}), 1);
	assert_int_equal(selected(p, &(struct filter_options){.thread = LIST("1002", "wor?")}), 3);
	assert_int_equal(selected(p, &(struct filter_options){.process = LIST("app")}), 3);
	assert_int_equal(selected(p, &(struct filter_options){.process = LIST("101")}), 1);
	assert_int_equal(
		selected(p, &(struct filter_options){.process = LIST("app"), .thread = LIST("io")}),
		1);
	assert_int_equal(selected(p, &(struct filter_options){.thread = LIST("I*")}), 0);
	profile_free(p);
}

static void odd_thread_names_match_as_they_are_and_as_they_are_shown(void **state)
{
	static const struct {
		const char *name, *asked;
	} cases[] = {
		{"[GC]#1*", "[GC]#1*"},
		{"a\\b", "a\\b"},
		{"a\\b", "a\\\\b"},
		{"\xff\xfe-x", "\\xff\\xfe-x"},
		{"tab\tx", "tab\\x09x"},
		{".", "[tid 1000]"},
		{"1234", "1234"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct profile *p;
		struct fixture f = {0};
		struct err e = {0};
		int64_t process, thread;

		/* Through the builder: the fixture's lines split at blanks. */
		assert_int_equal(profile_new(&p), 0);
		assert_int_equal(builder_new(&f.b, profile_sink(p), NULL), 0);
		builder_put(f.b, &(struct record){.kind = RECORD_RUN, .run = {.period_ns = 1}}, &e);
		process = builder_process(f.b, &(struct record_process){.pid = 1}, NULL, &e);
		thread = builder_thread(f.b, (uint32_t)process, 1000,
			cases[i].name[0] == '.' ? "" : cases[i].name,
			cases[i].name[0] == '.' ? 0 : strlen(cases[i].name), &e);
		builder_put(f.b,
			&(struct record){.kind = RECORD_SAMPLE,
				.sample = {.thread = (uint32_t)thread,
					.type = VALUE_CPU,
					.value = 1}},
			&e);
		assert_int_equal(profile_finish(p, &e), 0);
		if (selected(p, &(struct filter_options){.thread = LIST(cases[i].asked)}) != 1)
			fail_msg("\"%s\" does not find it", cases[i].asked);
		builder_free(f.b);
		profile_free(p);
	}
}

static void windows_are_half_open_and_meet(void **state)
{
	struct profile *p = profile_from_text("!duration 100\n0 a/t f 1\n10 a/t f 1\n20 a/t f 1\n"
					      "20 a/t g 1\n99 a/t f 1\n");
	static const char *const cuts[] = {"0", "5ms", "10ms", "20ms", "21ms", "1"};
	size_t i, sum = 0;

	(void)state;
	assert_int_equal(selected(p, &(struct filter_options){.from = "10ms", .to = "20ms"}), 1);
	assert_int_equal(selected(p, &(struct filter_options){.from = "10ms"}), 4);
	assert_int_equal(selected(p, &(struct filter_options){.to = "0.02"}), 2);
	for (i = 0; i + 1 < ARRAY_LEN(cuts); i++)
		sum += selected(p, &(struct filter_options){.from = cuts[i], .to = cuts[i + 1]});
	assert_int_equal(sum, 5);
	profile_free(p);
}

static void a_window_is_told_with_what_was_lost_inside(void **state)
{
	struct profile *p =
		profile_from_text("!duration 100\n!lost 10 0 10\n!lost 30 20 50\n!lost 4 60 60\n"
				  "5 a/t f 1\n25 a/t f 1\n");
	struct selection s;
	struct err e = {0};

	(void)state;
	assert_int_equal(selection_make(&s, p,
				 &(struct filter_options){
					 .from = "5ms", .to = "35ms", .thread = LIST("none")},
				 &e),
		0);
	/* Half of the first stretch, half of the second; threads do not matter. */
	assert_int_equal(s.lost, 5 + 15);
	assert_int_equal(s.window_samples, 2);
	assert_int_equal(s.nr, 0);
	assert_int_equal(s.from_ns, 5 * FIXTURE_MS);
	assert_int_equal(s.to_ns, 35 * FIXTURE_MS);
	selection_release(&s);
	assert_int_equal(selection_make(&s, p, &(struct filter_options){.from = "60ms"}, &e), 0);
	assert_int_equal(s.lost, 4);
	selection_release(&s);
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(s.lost, 44);
	selection_release(&s);
	profile_free(p);
}

static void bad_windows_are_told_apart(void **state)
{
	struct profile *p = profile_from_text("!duration 100\n10 a/t f 1\n");
	static const struct {
		struct filter_options o;
		const char *said;
	} bad[] = {
		{{.from = "2", .to = "1"}, "reversed"},
		{{.from = "1", .to = "1000ms"}, "empty"},
		{{.from = "-1"}, "negative"},
		{{.to = "-5ms"}, "negative"},
		{{.from = "soon"}, "soon"},
		{{.from = ""}, "--from"},
	};
	struct selection s;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = {0};

		assert_int_equal(selection_make(&s, p, &bad[i].o, &e), -EINVAL);
		assert_contains(e.msg, bad[i].said);
		assert_null(s.samples);
	}
	profile_free(p);
}

static void focus_and_ignore_look_at_the_whole_stack(void **state)
{
	struct profile *p = profile_from_text(two_threads);

	(void)state;
	assert_int_equal(selected(p, &(struct filter_options){.focus = LIST("^main$")}), 3);
	assert_int_equal(selected(p, &(struct filter_options){.focus = LIST("irq|poll")}), 2);
	assert_int_equal(selected(p, &(struct filter_options){.focus = LIST("irq", "poll")}), 2);
	assert_int_equal(selected(p, &(struct filter_options){.ignore = LIST("spin")}), 2);
	assert_int_equal(
		selected(p, &(struct filter_options){.focus = LIST("main"), .ignore = LIST("irq")}),
		2);
	profile_free(p);
}

static void names_with_any_bytes_can_be_matched(void **state)
{
	struct profile *p = profile_from_text("1 a/t \xff\xfe(x);k 1\n2 a/t other 1\n");

	(void)state;
	assert_int_equal(selected(p, &(struct filter_options){.focus = LIST("\\(x\\)$")}), 1);
	profile_free(p);
}

static void a_bad_pattern_is_an_error_with_its_text(void **state)
{
	struct profile *p = profile_from_text(two_threads);
	struct selection s;
	struct err e = {0};

	(void)state;
	assert_int_equal(
		selection_make(&s, p, &(struct filter_options){.focus = LIST("main", "a(b")}, &e),
		-EINVAL);
	assert_contains(e.msg, "--focus 'a(b'");
	assert_int_equal(
		selection_make(&s, p, &(struct filter_options){.ignore = LIST("[")}, &e), -EINVAL);
	assert_contains(e.msg, "--ignore");
	profile_free(p);
}

/* Each would cost the C library gigabytes, or its stack. */
static void patterns_that_would_eat_the_machine_are_refused(void **state)
{
	struct profile *p = profile_from_text(two_threads);
	char deep[2 * 50000 + 2];
	struct selection s;
	struct err e = {0};
	size_t i;

	(void)state;
	memset(deep, '(', 50000);
	deep[50000] = 'a';
	memset(deep + 50001, ')', 50000);
	deep[sizeof(deep) - 1] = '\0';
	const char *const bad[] = {deep, "((a{1,255}){1,255}){1,255}",
		"((a{255}){255}){9999999999}", "([^])]{255}){255}[[:alpha:]]{255}"};
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(
			selection_make(&s, p, &(struct filter_options){.focus = LIST(bad[i])}, &e),
			-EINVAL);
		assert_contains(e.msg, "too large a regular expression");
	}
	assert_int_equal(
		selected(p, &(struct filter_options){.focus = LIST("^(m|[](]{9}){2}ain")}), 0);
	assert_int_equal(
		selected(p, &(struct filter_options){.focus = LIST("^((m){1}ain){1,2}$")}), 3);
	profile_free(p);
}

static void views_that_are_not_there(void **state)
{
	struct profile *p = profile_from_text(two_threads);
	struct selection s;
	struct err e = {0};

	(void)state;
	assert_int_equal(selected(p, &(struct filter_options){.view = "cpu"}), 4);
	assert_int_equal(
		selection_make(&s, p, &(struct filter_options){.view = "count"}, &e), -EINVAL);
	assert_contains(e.hint, "cpu");
	assert_int_equal(
		selection_make(&s, p, &(struct filter_options){.view = "heat"}, &e), -EINVAL);
	profile_free(p);
}

static void text_has_no_times_and_no_errors(void **state)
{
	struct profile *p;
	struct selection s;
	struct err e = {0};

	(void)state;
	assert_int_equal(profile_from_folded(&p, "main;a 3\nmain;b 4\n", &e), 0);
	assert_int_equal(selection_make(&s, p, &(struct filter_options){.from = "1"}, &e), -EINVAL);
	assert_contains(e.msg, "no times");
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(s.total, 7);
	assert_true(isnan(s.total_sq));
	selection_release(&s);
	profile_free(p);
}

static void cut_and_nameless_samples_are_counted(void **state)
{
	struct profile *p =
		profile_from_text("1 a/t [cut];f 1\n2 a/t f;libx!+9 1\n3 a/t - 1\n4 a/t f 1\n");
	struct selection s;
	struct err e = {0};

	(void)state;
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(s.truncated, 1);
	assert_int_equal(s.unresolved, 2);
	selection_release(&s);
	profile_free(p);
}

/* The sentence (and hint) of an empty selection. */
static void assert_explained(
	const struct profile *p, const struct filter_options *o, const char *said, const char *hint)
{
	struct selection s;
	struct err e = {0};

	assert_int_equal(selection_make(&s, p, o, &e), 0);
	assert_int_equal(selection_explain(&s, o, &e), -ENODATA);
	assert_string_equal(e.msg, said);
	if (hint)
		assert_contains(e.hint, hint);
	selection_release(&s);
}

static void an_empty_selection_names_the_filter_that_emptied_it(void **state)
{
	struct profile *p = profile_from_text(two_threads);

	(void)state;
	assert_explained(p, &(struct filter_options){.thread = LIST("wrok")},
		"4 samples, but none inside --thread 'wrok'", "'work'");
	assert_explained(p,
		&(struct filter_options){.process = LIST("other"), .thread = LIST("work")},
		"4 samples, 1 of them in the process, but none inside --thread 'work'", "'io'");
	assert_explained(p, &(struct filter_options){.process = LIST("no", "such")},
		"4 samples, but none inside --process 'no', 'such'",
		"processes there: 'app', 'other'");
	assert_explained(p,
		&(struct filter_options){.from = "5ms", .to = "15ms", .focus = LIST("Spin")},
		"4 samples, 1 of them inside the window, but no stack has a function that matches "
		"--focus 'Spin'",
		"'read'");
	assert_explained(p, &(struct filter_options){.ignore = LIST(".")},
		"4 samples, but all have a function that matches --ignore '.'", NULL);
	assert_explained(p, &(struct filter_options){.from = "41ms"},
		"4 samples, but none inside the window: --from 41ms is beyond the end of the "
		"recording "
		"(41.0 ms)",
		NULL);
	assert_explained(p, &(struct filter_options){.from = "11ms", .to = "12ms"},
		"4 samples in 41.0 ms, but none inside the window", NULL);
	profile_free(p);
}

static void an_empty_capture_says_what_ran_instead(void **state)
{
	struct profile *p = profile_from_text(
		"!duration 10000\n!counter 0 1 990\n!counter 0 3 900\n!counter 0 4 90\n");
	struct profile *lost = profile_from_text("!duration 1000\n!lost 5 0 1000\n");
	struct profile *text;
	struct err e = {0};

	(void)state;
	assert_explained(p, NULL,
		"no samples: what was watched did not run on a CPU in 10.00 s "
		"(990 timer ticks: 900 idle, 90 in other tasks)",
		"slept");
	assert_explained(lost, NULL, "no samples in 1.00 s: all 5 were lost", "--buffer");
	assert_int_equal(profile_from_folded(&text, "a;b 0\nc 0\n", &e), 0);
	assert_explained(text, NULL, "2 stacks, but all their values are 0", NULL);
	profile_free(p);
	profile_free(lost);
	profile_free(text);
}

static void restrictions_in_words(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	filter_describe(&(struct filter_options){0}, &b);
	assert_buf(&b, "");
	filter_describe(
		&(struct filter_options){
			.thread = LIST("a", "b\n"), .from = "2s", .ignore = LIST("x")},
		&b);
	assert_buf(&b, "--thread 'a', 'b\\x0a' --ignore 'x' --from 2s");
	buf_release(&b);
}

static void a_renamed_thread_is_one_and_so_is_a_process_over_exec(void **state)
{
	struct profile *p;
	struct builder *b;
	struct err e = {0};
	struct selection s;
	int i;

	(void)state;
	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(builder_new(&b, profile_sink(p), NULL), 0);
	builder_put(b, &(struct record){.kind = RECORD_RUN, .run = {.period_ns = 1}}, &e);
	for (i = 0; i < 4; i++) {
		int64_t process = builder_process(b,
			&(struct record_process){
				.pid = 7, .exec_id = (uint32_t)i / 2, .start_boot_ns = 3},
			NULL, &e);
		char name = (char)('a' + i);

		builder_put(b,
			&(struct record){.kind = RECORD_SAMPLE,
				.sample = {.thread = (uint32_t)builder_thread(
						   b, (uint32_t)process, 7, &name, 1, &e),
					.type = VALUE_CPU,
					.value = 1}},
			&e);
	}
	assert_int_equal(profile_finish(p, &e), 0);
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(profile_nr_threads(p), 4);
	assert_int_equal(s.threads, 1);
	assert_int_equal(s.processes, 1);
	selection_release(&s);
	builder_free(b);
	profile_free(p);
}

RUN_TESTS(T(without_restriction_everything_passes), T(threads_by_pattern_name_and_number),
	T(odd_thread_names_match_as_they_are_and_as_they_are_shown),
	T(windows_are_half_open_and_meet), T(a_window_is_told_with_what_was_lost_inside),
	T(bad_windows_are_told_apart), T(focus_and_ignore_look_at_the_whole_stack),
	T(patterns_that_would_eat_the_machine_are_refused), T(names_with_any_bytes_can_be_matched),
	T(a_bad_pattern_is_an_error_with_its_text), T(views_that_are_not_there),
	T(text_has_no_times_and_no_errors), T(cut_and_nameless_samples_are_counted),
	T(an_empty_selection_names_the_filter_that_emptied_it),
	T(an_empty_capture_says_what_ran_instead), T(restrictions_in_words),
	T(a_renamed_thread_is_one_and_so_is_a_process_over_exec))
