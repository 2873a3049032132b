/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <fcntl.h>
#include <pty.h>

#include "user/base/term.h"

static void test_term_pipe_is_plain_and_80_wide(void **state)
{
	struct term t;
	int p[2];

	assert_int_equal(pipe(p), 0);
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	term_probe(&t, p[1]);
	assert_int_equal(t.is_tty, 0);
	assert_int_equal(t.color, 0);
	assert_int_equal(t.width, 80);
	close(p[0]);
	close(p[1]);
}

static void test_term_columns_is_obeyed_when_it_is_a_number(void **state)
{
	static const struct {
		const char *columns;
		int width;
	} cases[] = {{"132", 132}, {"0", 0}, {"", 80}, {"-5", 80}, {"12x", 80}, {"99999999999", 80},
		{"1000000", 80}};
	struct term t;
	size_t i;
	int p[2];

	assert_int_equal(pipe(p), 0);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		setenv("COLUMNS", cases[i].columns, 1);
		term_probe(&t, p[1]);
		assert_int_equal(t.width, cases[i].width);
	}
	unsetenv("COLUMNS");
	close(p[0]);
	close(p[1]);
}

static void test_term_terminal_has_colour_unless_refused(void **state)
{
	struct winsize ws = {.ws_col = 101, .ws_row = 30};
	int master, slave;
	struct term t;

	if (openpty(&master, &slave, NULL, NULL, &ws))
		skip();
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	term_probe(&t, slave);
	assert_int_equal(t.is_tty, 1);
	assert_int_equal(t.color, 1);
	assert_int_equal(t.width, 101);

	setenv("NO_COLOR", "", 1);
	term_probe(&t, slave);
	assert_int_equal(t.color, 1);
	setenv("NO_COLOR", "1", 1);
	term_probe(&t, slave);
	assert_int_equal(t.color, 0);
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	term_probe(&t, slave);
	assert_int_equal(t.color, 0);
	close(master);
	close(slave);
}

RUN_TESTS(T(test_term_pipe_is_plain_and_80_wide),
	T(test_term_columns_is_obeyed_when_it_is_a_number),
	T(test_term_terminal_has_colour_unless_refused))
