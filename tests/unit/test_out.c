/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "user/base/out.h"

static size_t count_files(const char *dir)
{
	DIR *d = opendir(dir);
	size_t nr = 0;

	assert_non_null(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr - 2;
}

static void assert_file(const char *path, const char *want)
{
	size_t len;
	char *data = read_file(path, &len);

	assert_bytes(data, len, want, strlen(want));
	free(data);
}

static void test_out_mem_collects(void **state)
{
	struct out *o = out_mem();
	const char *data;
	size_t len;
	int i;

	assert_string_equal(out_mem_data(o, &len), "");
	out_str(o, "a");
	out_char(o, '\0');
	out_write(o, "bc", 2);
	out_printf(o, "%03d", 7);
	out_u64(o, 0);
	out_u64(o, UINT64_MAX);
	data = out_mem_data(o, &len);
	assert_bytes(data, len, "a\0bc007018446744073709551615", 28);
	assert_int_equal(out_count(o), 28);
	for (i = 0; i < 1000; i++)
		out_printf(o, "%1000d", i);
	out_mem_data(o, &len);
	assert_int_equal(len, 1000028);
	assert_int_equal(out_close(o, NULL), 0);
}

static void test_out_file_appears_only_when_closed(void **state)
{
	char *path = path_in(*state, "a.svg");
	struct err e = {0};
	struct stat st;
	struct out *o;

	assert_int_equal(out_open(&o, path, &e), 0);
	out_str(o, "hello");
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(out_close(o, &e), 0);

	assert_file(path, "hello");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(count_files(*state), 1);
	free(path);
}

static void test_out_abort_leaves_the_old_file(void **state)
{
	char *path = path_in(*state, "a");
	struct out *o;

	write_file(path, "old", 3);
	assert_int_equal(out_open(&o, path, NULL), 0);
	out_str(o, "new");
	out_abort(o);
	out_abort(NULL);

	assert_file(path, "old");
	assert_int_equal(count_files(*state), 1);
	free(path);
}

static void test_out_failed_producer_leaves_the_old_file(void **state)
{
	char *path = path_in(*state, "a");
	struct err e = {0};
	struct out *o;

	write_file(path, "old", 3);
	assert_int_equal(out_open(&o, path, NULL), 0);
	out_fail(o, -ENOMEM);
	out_fail(o, -EIO);
	out_str(o, "ignored");
	assert_int_equal(out_err(o), -ENOMEM);
	assert_int_equal(out_close(o, &e), -ENOMEM);

	assert_contains(e.msg, "cannot write ");
	assert_file(path, "old");
	assert_int_equal(count_files(*state), 1);
	free(path);
}

static void test_out_replaces_a_symlink_and_not_its_target(void **state)
{
	char *link = path_in(*state, "link"), *target = path_in(*state, "target");
	struct stat st;
	struct out *o;

	write_file(target, "precious", 8);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(out_open(&o, link, NULL), 0);
	out_str(o, "new");
	assert_int_equal(out_close(o, NULL), 0);

	assert_file(target, "precious");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	free(link);
	free(target);
}

static void test_out_does_not_follow_a_symlink_to_a_device(void **state)
{
	char *link = path_in(*state, "link");
	struct err e = {0};
	struct stat st;
	struct out *o;

	assert_int_equal(symlink("/dev/null", link), 0);
	assert_int_equal(out_open(&o, link, &e), -ELOOP);
	assert_null(o);
	assert_contains(e.msg, "a symbolic link to no regular file");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(count_files(*state), 1);
	free(link);
}

static void test_out_name_of_255_bytes_works_and_256_is_told(void **state)
{
	struct err e = {0};
	char name[257];
	struct out *o;
	char *path;

	memset(name, 'n', 256);
	name[256] = '\0';
	path = path_in(*state, name);
	assert_int_equal(out_open(&o, path, &e), -ENAMETOOLONG);
	assert_null(o);
	assert_contains(e.msg, "File name too long");

	path[strlen(path) - 1] = '\0';
	assert_int_equal(out_open(&o, path, &e), 0);
	out_str(o, "x");
	assert_int_equal(out_close(o, &e), 0);
	assert_file(path, "x");
	free(path);
}

static void test_out_folder_and_missing_folder_are_told(void **state)
{
	char *missing = path_in(*state, "no\nsuch/file"), *slash = path_in(*state, "new/");
	struct err e = {0};
	struct out *o;

	assert_int_equal(out_open(&o, *state, &e), -EISDIR);
	assert_contains(e.msg, "Is a directory");
	assert_int_equal(out_open(&o, slash, &e), -EISDIR);
	assert_int_equal(out_open(&o, missing, &e), -ENOENT);
	assert_contains(e.msg, "no\\x0asuch/file");
	assert_int_equal(out_open(&o, "", &e), -ENOENT);
	assert_contains(e.msg, "empty");
	assert_int_equal(out_open(&o, ".", &e), -EISDIR);
	free(missing);
	free(slash);
}

static void test_out_does_not_replace_a_device(void **state)
{
	struct err e = {0};
	struct stat st;
	struct out *o;
	int i;

	assert_int_equal(out_open(&o, "/dev/full", &e), 0);
	out_str(o, "x");
	assert_int_equal(out_close(o, &e), -ENOSPC);
	assert_string_equal(e.msg, "cannot write /dev/full: No space left on device");

	/* More than the buffer: the error is there before the end. */
	assert_int_equal(out_open(&o, "/dev/full", &e), 0);
	for (i = 0; i < 100; i++)
		out_printf(o, "%4000d", i);
	assert_int_equal(out_err(o), -ENOSPC);
	assert_int_equal(out_close(o, &e), -ENOSPC);
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));

	assert_int_equal(out_open(&o, "/dev/null", &e), 0);
	out_str(o, "x");
	assert_int_equal(out_close(o, &e), 0);
}

static void test_out_writes_into_a_fifo(void **state)
{
	char *path = path_in(*state, "fifo"), data[8] = {0};
	struct stat st;
	struct out *o;
	int fd;

	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(out_open(&o, path, NULL), 0);
	out_str(o, "hello");
	assert_int_equal(out_close(o, NULL), 0);

	assert_int_equal(read(fd, data, sizeof(data)), 5);
	assert_string_equal(data, "hello");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	close(fd);
	free(path);
}

static void test_out_dev_stdout_of_a_file_is_shared_and_not_replaced(void **state)
{
	char *path = path_in(*state, "log");
	int saved = dup(STDOUT_FILENO), fd;
	struct out *a = NULL, *b = NULL;
	int ra, rb;

	write_file(path, "start ", 6);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	out_open(&a, "/dev/stdout", NULL);
	out_str(a, "one ");
	ra = out_close(a, NULL);
	out_open(&b, "-", NULL);
	out_str(b, "two");
	rb = out_close(b, NULL);
	dup2(saved, STDOUT_FILENO);

	assert_int_equal(ra, 0);
	assert_int_equal(rb, 0);
	assert_file(path, "start one two");
	close(saved);
	close(fd);
	free(path);
}

static void test_out_full_stdout_is_told(void **state)
{
	int saved = dup(STDOUT_FILENO), fd = open("/dev/full", O_WRONLY | O_CLOEXEC), ret;
	struct err e = {0};
	struct out *o;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	assert_int_equal(out_open(&o, "-", &e), 0);
	out_str(o, "x");
	ret = out_close(o, &e);
	dup2(saved, STDOUT_FILENO);

	assert_int_equal(ret, -ENOSPC);
	assert_string_equal(e.msg, "cannot write to standard output: No space left on device");
	close(saved);
	close(fd);
}

static void test_out_closed_pipe_is_epipe(void **state)
{
	struct err e = {0};
	struct out *o;
	int p[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	o = out_fd(p[1]);
	out_str(o, "x");
	assert_int_equal(out_close(o, &e), -EPIPE);
	assert_int_equal(e.code, -EPIPE);
	assert_int_equal(close(p[1]), 0); /* ours to close */
}

static void test_out_closed_descriptor_is_told(void **state)
{
	struct err e = {0};
	struct out *o;

	assert_int_equal(out_open(&o, "/dev/fd/987", &e), -EBADF);
	assert_null(o);
	assert_contains(e.msg, "descriptor 987");
}

static void test_out_waits_for_a_slow_non_blocking_reader(void **state)
{
	size_t size = 1 << 20, got = 0;
	char *data = calloc(1, size);
	struct out *o;
	char tmp[4096];
	ssize_t n;
	pid_t pid;
	int p[2];

	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	pid = fork();
	if (!pid) {
		close(p[0]);
		o = out_fd(p[1]);
		out_write(o, data, size);
		_exit(!!out_close(o, NULL));
	}
	close(p[1]);
	fcntl(p[0], F_SETFL, 0);
	while ((n = read(p[0], tmp, sizeof(tmp))) > 0)
		got += (size_t)n;
	assert_int_equal(got, size);
	close(p[0]);
	free(data);
}

static void test_out_read_only_file_and_folder_are_told(void **state)
{
	char *path = path_in(*state, "ro"), *dir = path_in(*state, "dir");
	char *inside = path_in(dir, "f");
	struct err e = {0};
	struct out *o;

	write_file(path, "old", 3);
	chmod(path, 0400);
	mkdir(dir, 0500);
	if (geteuid()) { /* root may write everywhere */
		assert_int_equal(out_open(&o, path, &e), -EACCES);
		assert_contains(e.msg, "Permission denied");
		assert_int_equal(out_open(&o, inside, &e), -EACCES);
		assert_contains(e.msg, "Permission denied");
	}
	chmod(dir, 0700);
	free(path);
	free(dir);
	free(inside);
}

static void test_out_gives_files_to_the_sudo_caller(void **state)
{
	char *path = path_in(*state, "f");
	struct stat st;
	struct out *o;

	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	assert_int_equal(out_open(&o, path, NULL), 0);
	assert_int_equal(out_close(o, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	if (!geteuid()) {
		assert_int_equal(st.st_uid, 12345);
		assert_int_equal(st.st_gid, 23456);
	}

	/* "-1" would mean "leave as it is" to chown. */
	setenv("SUDO_UID", "4294967295", 1);
	assert_int_equal(out_open(&o, path, NULL), 0);
	assert_int_equal(out_close(o, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	free(path);
}

RUN_TESTS(T(test_out_mem_collects), T_TMPDIR(test_out_file_appears_only_when_closed),
	T_TMPDIR(test_out_abort_leaves_the_old_file),
	T_TMPDIR(test_out_failed_producer_leaves_the_old_file),
	T_TMPDIR(test_out_replaces_a_symlink_and_not_its_target),
	T_TMPDIR(test_out_does_not_follow_a_symlink_to_a_device),
	T_TMPDIR(test_out_name_of_255_bytes_works_and_256_is_told),
	T_TMPDIR(test_out_folder_and_missing_folder_are_told),
	T(test_out_does_not_replace_a_device), T_TMPDIR(test_out_writes_into_a_fifo),
	T_TMPDIR(test_out_dev_stdout_of_a_file_is_shared_and_not_replaced),
	T(test_out_full_stdout_is_told), T(test_out_closed_pipe_is_epipe),
	T(test_out_closed_descriptor_is_told), T(test_out_waits_for_a_slow_non_blocking_reader),
	T_TMPDIR(test_out_read_only_file_and_folder_are_told),
	T_TMPDIR(test_out_gives_files_to_the_sudo_caller))
