/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/wait.h>

#include "support.h"
#include "user/import/line_source.h"

/* All lines as "[line]", over-long ones as "<long>". */
static void collect(struct line_source *l, char *out)
{
	const char *line;
	size_t len, i;
	int ret;

	*out = '\0';
	while ((ret = line_source_next(l, &line, &len)) > 0) {
		if (ret == 2) {
			strcat(out, "<long>");
			continue;
		}
		for (i = 0; i < LINES_PAD; i++) /* readable, says the sanitizer */
			((volatile const char *)line)[len + i];
		sprintf(out + strlen(out), "[%.*s]", (int)len, line);
	}
	assert_int_equal(ret, 0);
}

static void test_lines_of_memory(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{"", ""},
		{"\n", "[]"},
		{"a", "[a]"},
		{"a\n", "[a]"},
		{"a\n\nb", "[a][][b]"},
		{"a\r\nb\n", "[a\r][b]"},
		{"1234567890\n", "[1234567890]"},
		{"12345678901\nb\n", "<long>[b]"},
		{"b\n12345678901", "[b]<long>"},
	};
	char out[256];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct line_source l;
		char *copy = strdup(cases[i].in); /* on the heap: reading beyond is found */

		line_source_init_mem(&l, copy, strlen(copy), 10);
		collect(&l, out);
		assert_string_equal(out, cases[i].want);
		assert_int_equal(l.bytes, strlen(copy));
		line_source_release(&l);
		free(copy);
	}
}

/* A pipe that delivers @in in pieces of @piece bytes. */
static void from_pipe(
	const char *in, size_t len, size_t piece, size_t max, char *out, uint64_t *bytes)
{
	struct line_source l;
	int p[2], status;
	size_t at;
	pid_t pid;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (at = 0; at < len; at += piece)
			if (write(p[1], in + at, len - at < piece ? len - at : piece) < 0)
				_exit(1);
		_exit(0);
	}
	close(p[1]);
	assert_int_equal(line_source_init_fd(&l, p[0], max), 0);
	collect(&l, out);
	*bytes = l.bytes;
	line_source_release(&l);
	close(p[0]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void test_lines_of_a_pipe_do_not_depend_on_its_pieces(void **state)
{
	const char in[] = "first\nsecond line\n\na line that is too long for us\nlast";
	char out[256];
	uint64_t bytes;
	size_t piece;

	for (piece = 1; piece < sizeof(in); piece += 3) {
		from_pipe(in, sizeof(in) - 1, piece, 20, out, &bytes);
		assert_string_equal(out, "[first][second line][]<long>[last]");
		assert_int_equal(bytes, sizeof(in) - 1);
	}
}

/* Longer than the first buffer, longer than the limit, and what comes after both. */
static void test_the_buffer_grows_up_to_the_limit(void **state)
{
	size_t big = 1000000, max = 1500000, len = 0;
	char *in = malloc(4 * big), *out = malloc(4 * big);
	uint64_t bytes;

	memset(in, 'a', big);
	in[big] = '\n';
	memset(in + big + 1, 'b', 2 * big);
	in[3 * big + 1] = '\n';
	memcpy(in + 3 * big + 2, "end\n", 4);
	len = 3 * big + 6;
	from_pipe(in, len, 60000, max, out, &bytes);
	assert_int_equal(strlen(out), big + 2 + 6 + 5);
	assert_string_equal(out + big + 1, "]<long>[end]");
	assert_int_equal(bytes, len);
	free(in);
	free(out);
}

static void test_a_read_error_is_returned(void **state)
{
	const char *line;
	struct line_source l;
	size_t len;
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(line_source_init_fd(&l, p[1], 10), 0); /* the end that is written to */
	assert_int_equal(line_source_next(&l, &line, &len), -EBADF);
	line_source_release(&l);
	close(p[0]);
	close(p[1]);
}

RUN_TESTS(T(test_lines_of_memory), T(test_lines_of_a_pipe_do_not_depend_on_its_pieces),
	T(test_the_buffer_grows_up_to_the_limit), T(test_a_read_error_is_returned))
