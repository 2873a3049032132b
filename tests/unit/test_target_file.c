/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "symbolize/proc_maps.h"
#include "symbolize/target_file.h"

static struct file_key key_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct file_key){.ino = st.st_ino,
		.size = (uint64_t)st.st_size,
		.ctime_ns =
			(uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec};
}

static char *text_of(int fd)
{
	static char text[256];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

struct mapped {
	char *path;
	void *at;
	struct file_key key;
};

static struct mapped map_file(const char *dir, const char *name, const char *content)
{
	struct mapped m = {.path = path_in(dir, name)};
	int fd;

	write_file(m.path, content, strlen(content));
	m.key = key_of(m.path);
	fd = open(m.path, O_RDONLY | O_CLOEXEC);
	m.at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_true(m.at != MAP_FAILED);
	return m;
}

static void unmap(struct mapped *m)
{
	munmap(m->at, 4096);
	free(m->path);
}

static int open_mapped(const struct mapped *m, struct buf *path, int *deleted, struct err *e)
{
	int fd;

	memset(e, 0, sizeof(*e));
	fd = target_open_mapping(
		getpid(), (uintptr_t)m->at, (uintptr_t)m->at + 4096, &m->key, path, deleted, e);
	if (fd < 0)
		assert_true(e->code == fd && e->msg[0]);
	return fd;
}

static void test_mapped_file_is_opened_whatever_its_name(void **state)
{
	static const char *const names[] = {"plain", "a b  c", "x (deleted)", "new\nline", " lead",
		"trail ", "[vdso]", "\xff\xfe", "back\\012slash", "%s%n", " (deleted)"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct mapped m = map_file(*state, names[i], "content");
		struct buf path = BUF_INIT;
		struct err e;
		int deleted, fd = open_mapped(&m, &path, &deleted, &e);

		if (fd < 0)
			fail_msg("%s", e.msg);
		assert_string_equal(text_of(fd), "content");
		assert_string_equal(buf_str(&path), m.path);
		assert_int_equal(deleted, 0);
		close(fd);
		buf_release(&path);
		unmap(&m);
	}
}

static void test_deleted_and_replaced_files_are_the_mapped_ones(void **state)
{
	static const char *const names[] = {"gone", "gone (deleted)"};

	if (geteuid() != 0)
		skip(); /* only map_files leads to them */
	for (int replace = 0; replace < 2; replace++)
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			struct mapped m = map_file(*state, names[i], "old");
			struct buf path = BUF_INIT;
			struct err e;
			int deleted, fd;

			if (replace) {
				char *other = path_in(*state, "other");

				write_file(other, "new", 3);
				assert_int_equal(rename(other, m.path), 0);
				free(other);
			} else {
				assert_int_equal(unlink(m.path), 0);
			}
			fd = open_mapped(&m, &path, &deleted, &e);
			if (fd < 0)
				fail_msg("%s", e.msg);
			assert_string_equal(text_of(fd), "old");
			assert_string_equal(buf_str(&path), m.path);
			assert_int_equal(deleted, 1);
			close(fd);
			buf_release(&path);
			unmap(&m);
		}
}

static void test_file_rewritten_in_place_is_another_one(void **state)
{
	struct mapped m = map_file(*state, "f", "old");
	struct buf path = BUF_INIT;
	struct err e;
	int deleted;

	usleep(20000); /* coarse clocks of file systems */
	write_file(m.path, "new", 3);
	assert_int_equal(open_mapped(&m, &path, &deleted, &e), -ESTALE);
	m.key = key_of(m.path);
	m.key.size++;
	assert_int_equal(open_mapped(&m, &path, &deleted, &e), -ESTALE);
	m.key.size = m.key.ctime_ns = 0; /* not compared then */
	assert_true(open_mapped(&m, &path, &deleted, &e) >= 0);
	m.key.ino++;
	assert_int_equal(open_mapped(&m, &path, &deleted, &e), -ESTALE);
	buf_release(&path);
	unmap(&m);
}

static void test_missing_process_and_mapping_are_told_apart(void **state)
{
	struct buf path = BUF_INIT;
	struct err e = {0};
	int deleted;

	(void)state;
	assert_int_equal(
		target_open_mapping(0x7ffffffe, 0x1000, 0x2000, NULL, &path, &deleted, &e), -ESRCH);
	assert_int_equal(
		target_open_mapping(getpid(), 0x1000, 0x2000, NULL, &path, &deleted, &e), -ENOENT);
	assert_int_equal(target_open_exe(0x7ffffffe, NULL, &path, &deleted, &e), -ESRCH);
	assert_int_equal(target_open_path(0x7ffffffe, "/etc/passwd", NULL, &e), -ESRCH);
	assert_int_equal(target_open_perf_map(0x7ffffffe, &e), -ESRCH);
	buf_release(&path);
}

static void test_exe_is_our_own_binary(void **state)
{
	struct buf path = BUF_INIT;
	struct err e = {0};
	int deleted, fd = target_open_exe(getpid(), NULL, &path, &deleted, &e);
	char exe[4096];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	(void)state;
	exe[len] = '\0';
	assert_true(fd >= 0);
	assert_string_equal(buf_str(&path), exe);
	close(fd);
	buf_release(&path);
}

static void test_only_regular_files_are_opened(void **state)
{
	char *fifo = path_in(*state, "fifo"), *file = path_in(*state, "file"),
	     *link = path_in(*state, "link");
	struct err e = {0};
	int fd;

	write_file(file, "x", 1);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink(file, link), 0);
	assert_int_equal(target_open_path(0, fifo, NULL, &e), -EINVAL);
	assert_int_equal(target_open_path(0, *state, NULL, &e), -EINVAL);
	assert_int_equal(target_open_path(0, "/dev/null", NULL, &e), -EINVAL);
	assert_int_equal(target_open_path(0, "/nonexistent/x", NULL, &e), -ENOENT);
	/* magic links of /proc could lead anywhere */
	assert_int_equal(target_open_path(0, "/proc/self/exe", NULL, &e), -ELOOP);
	fd = target_open_path(0, link, NULL, &e);
	assert_true(fd >= 0);
	close(fd);
	free(fifo);
	free(file);
	free(link);
}

/* A child in another root (and pid namespace); it waits until it is killed. */
static pid_t child_in(const char *root, int new_pidns)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	if (new_pidns && unshare(CLONE_NEWPID) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (chroot(root) < 0 || chdir("/") < 0)
			_exit(1);
		byte = 'x';
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_links_do_not_lead_out_of_the_targets_root(void **state)
{
	char *secret = path_in(*state, "secret"), *jail = path_in(*state, "jail"),
	     *link = path_in(*state, "jail/link"), *inside = path_in(*state, "jail/secret");
	struct err e = {0};
	pid_t pid;
	int fd;

	if (geteuid() != 0)
		skip();
	mkdir(jail, 0755);
	write_file(secret, "host", 4);
	assert_int_equal(symlink(secret, link), 0);
	pid = child_in(jail, 0);

	assert_int_equal(target_open_path(pid, "/link", NULL, &e), -ENOENT);
	assert_int_equal(
		target_open_path(pid, "/../../../../../../../../etc/passwd", NULL, &e), -ENOENT);
	write_file(inside, "jail", 4);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/../../secret", link), 0);
	fd = target_open_path(pid, "/link", NULL, &e);
	assert_true(fd >= 0);
	assert_string_equal(text_of(fd), "jail");
	close(fd);

	end_child(pid);
	free(secret);
	free(jail);
	free(link);
	free(inside);
}

static void test_perf_map_is_looked_for_where_the_process_wrote_it(void **state)
{
	char *jail = path_in(*state, "jail"), *tmp = path_in(*state, "jail/tmp"),
	     *one = path_in(*state, "jail/tmp/perf-1.map"),
	     *host = path_in(*state, "jail/tmp/perf-host"), *wrong = NULL;
	struct perf_map_place place;
	struct err e = {0};
	pid_t pid;
	int fd;

	if (geteuid() != 0)
		skip();
	mkdir(jail, 0755);
	mkdir(tmp, 0777);
	/* our own later children would live in the new namespace too: use a helper process */
	pid = fork();
	if (pid == 0) {
		pid = child_in(jail, 1);
		if (pid < 0)
			_exit(77);
		assert_true(
			asprintf(&wrong, "%s/jail/tmp/perf-%d.map", (char *)*state, (int)pid) > 0);
		write_file(wrong, "lie", 3);
		if (target_open_perf_map(pid, &e) != -ENOENT)
			_exit(2);
		write_file(one, "truth", 5);
		fd = target_open_perf_map(pid, &e);
		if (fd < 0 || strcmp(text_of(fd), "truth"))
			_exit(3);
		/* the place stays known when the process is gone */
		if (perf_map_place_find(&place, pid, &e) || place.pid != 1)
			_exit(4);
		end_child(pid);
		if (target_open_perf_map(pid, &e) != -ESRCH)
			_exit(5);
		fd = perf_map_place_open(&place, &e);
		if (fd < 0 || strcmp(text_of(fd), "truth"))
			_exit(6);
		perf_map_place_release(&place);
		_exit(0);
	} else {
		int status;

		waitpid(pid, &status, 0);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			skip();
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	free(jail);
	free(tmp);
	free(one);
	free(host);
}

static void test_perf_map_of_a_stranger_is_refused(void **state)
{
	char *jail = path_in(*state, "jail"), *tmp = path_in(*state, "jail/tmp"), *map = NULL,
	     *other = path_in(*state, "jail/x");
	struct err e = {0};
	pid_t pid;
	int fd;

	if (geteuid() != 0)
		skip();
	mkdir(jail, 0755);
	mkdir(tmp, 0777);
	pid = child_in(jail, 0);
	assert_true(asprintf(&map, "%s/perf-%d.map", tmp, (int)pid) > 0);

	write_file(map, "map", 3);
	fd = target_open_perf_map(pid, &e);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chown(map, 4711, 4711), 0);
	assert_int_equal(target_open_perf_map(pid, &e), -EPERM);
	assert_int_equal(unlink(map), 0);
	write_file(other, "x", 1);
	assert_int_equal(symlink("/x", map), 0);
	assert_true(target_open_perf_map(pid, &e) < 0);
	assert_int_equal(unlink(map), 0);
	assert_int_equal(mkfifo(map, 0600), 0);
	assert_int_equal(target_open_perf_map(pid, &e), -EINVAL);

	end_child(pid);
	free(jail);
	free(tmp);
	free(map);
	free(other);
}

/* Without the right to follow map_files the file is found by name and believed by its key. */
static void test_unprivileged_callers_fall_back_to_the_path(void **state)
{
	struct mapped m = map_file(*state, "file", "content");
	int status;
	pid_t pid;

	chmod(*state, 0755);
	chmod(m.path, 0644);
	m.key = key_of(m.path);
	pid = fork();
	if (pid == 0) {
		struct buf path = BUF_INIT;
		struct err e;
		int deleted, fd;

		if (geteuid() == 0) {
			if (setgid(65534) || setuid(65534))
				_exit(77);
			/* setuid made our /proc entries root's */
			if (access("/proc/self/map_files", X_OK))
				_exit(77);
		}
		fd = open_mapped(&m, &path, &deleted, &e);
		if (fd < 0) {
			fprintf(stderr, "%s\n", e.msg);
			_exit(1);
		}
		_exit(strcmp(text_of(fd), "content") || strcmp(buf_str(&path), m.path) ? 2 : 0);
	}
	waitpid(pid, &status, 0);
	unmap(&m);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

RUN_TESTS(T_TMPDIR(test_mapped_file_is_opened_whatever_its_name),
	T_TMPDIR(test_deleted_and_replaced_files_are_the_mapped_ones),
	T_TMPDIR(test_file_rewritten_in_place_is_another_one),
	T(test_missing_process_and_mapping_are_told_apart), T(test_exe_is_our_own_binary),
	T_TMPDIR(test_only_regular_files_are_opened),
	T_TMPDIR(test_links_do_not_lead_out_of_the_targets_root),
	T_TMPDIR(test_perf_map_is_looked_for_where_the_process_wrote_it),
	T_TMPDIR(test_perf_map_of_a_stranger_is_refused),
	T_TMPDIR(test_unprivileged_callers_fall_back_to_the_path))
