/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>

#define LOG_DOMAIN "ring"
#include "user/base/log.h"

/* stderr into a file; what it caught is returned and must be freed. */
static int saved_stderr = -1;
static FILE *caught;

static void catch_stderr(void)
{
	fflush(stderr);
	saved_stderr = dup(STDERR_FILENO);
	caught = tmpfile();
	dup2(fileno(caught), STDERR_FILENO);
}

static char *caught_stderr(void)
{
	char *text = calloc(1, 20000);
	size_t n;

	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	rewind(caught);
	n = fread(text, 1, 19999, caught);
	text[n] = '\0';
	fclose(caught);
	return text;
}

static void expect(const char *want)
{
	char *text = caught_stderr();

	assert_string_equal(text, want);
	free(text);
}

static void test_log_default_shows_warnings_and_errors(void **state)
{
	catch_stderr();
	log_error("no %s", "memory");
	log_warn("libfoo.so.1: no build ID");
	log_info("not shown");
	log_debug("not shown");
	expect("profbpf: error: ring: no memory\n"
	       "profbpf: warning: ring: libfoo.so.1: no build ID\n");
}

static void test_log_quiet_shows_errors_only(void **state)
{
	log_set_level(LOG_ERROR);
	catch_stderr();
	log_warn("not shown");
	log_error("shown");
	expect("profbpf: error: ring: shown\n");
	log_set_level(LOG_WARN);
}

static void test_log_replaces_control_bytes(void **state)
{
	catch_stderr();
	log_warn("a\x1b[31mb\nprofbpf: error: forged\tc\xff\u202e\u00e9\n");
	expect("profbpf: warning: ring: a?[31mb profbpf: error: forged c????\u00e9\n");
}

static void test_log_domains_override_the_level(void **state)
{
	struct err e = {0};

	assert_int_equal(log_set_domains("symbolize:debug,ring:error,x:warn,x:info", &e), 0);
	assert_true(log_enabled(LOG_DEBUG, "symbolize"));
	assert_false(log_enabled(LOG_WARN, "ring"));
	assert_true(log_enabled(LOG_INFO, "x"));
	assert_false(log_enabled(LOG_INFO, "other"));
	assert_int_equal(log_set_domains("ring:warning", &e), 0);
	assert_true(log_enabled(LOG_WARN, "ring"));
	assert_int_equal(log_set_domains("", &e), 0);
}

static void test_log_debug_lines_have_a_time(void **state)
{
	char *text;

	assert_int_equal(log_set_domains("clock:debug", NULL), 0);
	catch_stderr();
	log_write(LOG_DEBUG, "clock", "tick");
	text = caught_stderr();
	assert_contains(text, "profbpf: debug: clock: [0.000000] tick\n");
	free(text);
}

static void test_log_bad_domains_are_named(void **state)
{
	static const char *const bad[] = {
		"ring", "ring:loud", ":debug", "ring:", "a:debug,ring:3", "\x1b:debug2"};
	struct err e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		e = (struct err){0};
		assert_int_equal(log_set_domains(bad[i], &e), -EINVAL);
		assert_contains(e.msg, "is not DOMAIN:LEVEL");
		assert_null(strchr(e.msg, '\x1b'));
	}
	log_set_domains("a:debug,ring:3", &e);
	assert_string_equal(e.msg, "log levels: \"ring:3\" is not DOMAIN:LEVEL");
}

static void test_log_err_prints_sentence_and_hint(void **state)
{
	struct err e = {0};

	err_set(&e, -EPERM, "a.prof: may not be read");
	catch_stderr();
	log_err(&e);
	expect("profbpf: error: a.prof: may not be read\n");

	err_hint(&e, "try sudo");
	catch_stderr();
	log_err(&e);
	expect("profbpf: error: a.prof: may not be read\n  hint: try sudo\n");
}

static void test_log_err_without_a_sentence_says_the_reason(void **state)
{
	struct err e = {.code = -ENOMEM};

	catch_stderr();
	log_err(&e);
	expect("profbpf: error: Cannot allocate memory\n");
}

static void test_log_cuts_very_long_lines(void **state)
{
	char *text, *big = malloc(50001);

	memset(big, 'x', 50000);
	big[50000] = '\0';
	catch_stderr();
	log_error("%s", big);
	text = caught_stderr();
	assert_true(strlen(text) > 3000 && strlen(text) < 5000);
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(text);
	free(big);
}

static void test_log_keeps_errno(void **state)
{
	catch_stderr();
	errno = ENOTTY;
	log_warn("x");
	assert_int_equal(errno, ENOTTY);
	free(caught_stderr());
}

static void test_log_status_is_silent_without_a_terminal(void **state)
{
	catch_stderr();
	log_status("working");
	log_status(NULL);
	expect("");
}

static void test_log_status_is_wiped_before_a_line_and_drawn_again(void **state)
{
	static const char want[] = "\r\033[K10 ? sample"
				   "\r\033[Kprofbpf: error: ring: x\n10 ? sample"
				   "\r\033[K"
				   "profbpf: error: ring: y\n";
	struct winsize ws = {.ws_col = 12, .ws_row = 5};
	int master, slave, saved;
	char text[512] = {0};
	struct pollfd p;
	struct termios tio;
	ssize_t n = 0;

	if (openpty(&master, &slave, NULL, NULL, &ws))
		skip();
	p = (struct pollfd){.fd = master, .events = POLLIN};
	tcgetattr(slave, &tio);
	tio.c_oflag &= ~(tcflag_t)OPOST; /* "\n" as it is */
	tcsetattr(slave, TCSANOW, &tio);
	saved = dup(STDERR_FILENO);
	dup2(slave, STDERR_FILENO);
	log_status("10 \x1b samples, 3 lost");
	log_error("x");
	log_status(NULL);
	log_status(NULL);
	log_error("y");
	dup2(saved, STDERR_FILENO);

	/* A terminal may hand it out in pieces, on a busy machine with seconds between them; what
	 * is too much comes soon. */
	while (n < (ssize_t)sizeof(text) - 1 &&
		poll(&p, 1, n < (ssize_t)sizeof(want) - 1 ? 30000 : 100) > 0 &&
		p.revents & POLLIN) {
		ssize_t got = read(master, text + n, sizeof(text) - 1 - (size_t)n);

		assert_true(got > 0);
		n += got;
	}
	assert_string_equal(text, want);
	close(saved);
	close(master);
	close(slave);
}

RUN_TESTS(T(test_log_default_shows_warnings_and_errors), T(test_log_quiet_shows_errors_only),
	T(test_log_replaces_control_bytes), T(test_log_debug_lines_have_a_time),
	T(test_log_domains_override_the_level), T(test_log_bad_domains_are_named),
	T(test_log_err_prints_sentence_and_hint),
	T(test_log_err_without_a_sentence_says_the_reason), T(test_log_cuts_very_long_lines),
	T(test_log_keeps_errno), T(test_log_status_is_silent_without_a_terminal),
	T(test_log_status_is_wiped_before_a_line_and_drawn_again))
