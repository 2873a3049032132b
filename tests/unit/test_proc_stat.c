/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <unistd.h>

#include "user/record/proc_stat.h"

#define REST " 0 25 19 0 -1 4194560 9 8 7 6 150 50 30 20 20 0 3 0 123456 9 9 9"

static int parse(const char *text, struct proc_stat *st)
{
	return proc_stat_parse(text, strlen(text), st);
}

static void test_proc_stat_reads_the_fields(void **state)
{
	struct proc_stat st;

	assert_int_equal(parse("42 (worker) S" REST, &st), 0);

	assert_string_equal(st.comm, "worker");
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.flags, 4194560);
	assert_int_equal(st.user_ticks, 150);
	assert_int_equal(st.system_ticks, 50);
	assert_int_equal(st.child_ticks, 50);
	assert_int_equal(st.threads, 3);
	assert_int_equal(st.start_ticks, 123456);
}

static void test_proc_stat_takes_the_last_bracket_as_the_end_of_the_name(void **state)
{
	struct proc_stat st;

	assert_int_equal(parse("42 (a) S 1 (b) R" REST, &st), 0);

	assert_string_equal(st.comm, "a) S 1 (b");
	assert_int_equal(st.state, 'R');
}

static void test_proc_stat_keeps_blanks_newlines_and_an_empty_name(void **state)
{
	struct proc_stat st;

	assert_int_equal(parse("42 ( x\ny ) Z" REST, &st), 0);
	assert_string_equal(st.comm, " x\ny ");

	assert_int_equal(parse("42 () Z" REST, &st), 0);
	assert_string_equal(st.comm, "");
}

static void test_proc_stat_cuts_a_name_that_is_too_long(void **state)
{
	struct proc_stat st;

	assert_int_equal(parse("42 (kworker/u8:3-events_unbound) I" REST, &st), 0);

	assert_string_equal(st.comm, "kworker/u8:3-ev");
}

static void test_proc_stat_refuses_what_is_cut_off(void **state)
{
	const char *const bad[] = {"", "42", "42 (", "42 (x", "42 (x)", "42 (x) ", "42 (x) S",
		"42 (x) S 1 2 3", "42 )x( S" REST,
		"42 (x) S 1 2 x 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"};
	struct proc_stat st;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &st), -EBADMSG);
}

static void test_proc_stat_of_ourselves_and_of_nobody(void **state)
{
	struct proc_stat st;
	pid_t owner = 0;

	assert_int_equal(proc_stat_read(getpid(), 0, &st), 0);
	assert_true(st.start_ticks > 0);
	assert_int_equal(proc_owner(getpid(), &owner), 0);
	assert_int_equal(owner, getpid());
	assert_int_equal(proc_stat_read(4194304 + 1, 0, &st), -ESRCH);
	assert_int_equal(proc_owner(4194304 + 1, &owner), -ESRCH);
}

RUN_TESTS(T(test_proc_stat_reads_the_fields),
	T(test_proc_stat_takes_the_last_bracket_as_the_end_of_the_name),
	T(test_proc_stat_keeps_blanks_newlines_and_an_empty_name),
	T(test_proc_stat_cuts_a_name_that_is_too_long), T(test_proc_stat_refuses_what_is_cut_off),
	T(test_proc_stat_of_ourselves_and_of_nobody))
