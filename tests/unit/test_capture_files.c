/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures as files: the names they take and leave, full disks, killed recorders, pipes. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "capture_bytes.h"

static void assert_no_file(const char *path)
{
	assert_int_equal(access(path, F_OK), -1);
}

static void test_a_finished_capture_takes_its_name_and_keeps_the_old_one(void **state)
{
	char *path = path_in(*state, "a.prof"), *part = path_in(*state, "a.prof.part");
	char *old = path_in(*state, "a.prof.old");
	struct capture_writer *w;
	struct capture_info info;
	struct err e = {0};
	struct stat st;

	write_file(path, FILE_MAGIC "before", 14);
	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	assert_string_equal(capture_writer_part_path(w), part);
	assert_int_equal(stat(part, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	sample_stream(capture_writer_sink(w));
	assert_int_equal(capture_writer_finish(w, &e), 0);

	assert_no_file(part);
	assert_int_equal(stat(old, &st), 0);
	assert_int_equal(st.st_size, 14);
	assert_int_equal(capture_probe(path, &e), 1);
	assert_int_equal(capture_read(path, &ignore, &info, &e), 0);
	assert_int_equal(info.complete, 1);
	free(path);
	free(part);
	free(old);
}

static void test_the_part_is_readable_after_each_flush(void **state)
{
	char *path = path_in(*state, "a.prof"), *part = path_in(*state, "a.prof.part");
	struct spread sp = {.sink = {spread_put}, .every = 1};
	struct capture_info info;
	struct err e = {0};
	uint64_t before = 0;

	assert_int_equal(capture_writer_open(&sp.w, path, &e), 0);
	assert_int_equal(capture_read(part, &ignore, &info, &e), -ENODATA);
	while (sp.nr < 20) {
		PUT(&sp.sink, .kind = sp.nr ? RECORD_COUNTER : RECORD_RUN,
			.counter = {.id = COUNTER_TICKS, .value = sp.nr});
		assert_int_equal(capture_read(part, &ignore, &info, &e), 0);
		assert_int_equal(info.blocks, before + 1);
		assert_int_equal(info.complete, 0);
		assert_int_equal(info.tail_bytes, 0);
		before = info.blocks;
	}
	assert_int_equal(capture_writer_leave_part(sp.w, &e), 0);
	assert_no_file(path);
	assert_int_equal(capture_read(part, &ignore, &info, &e), 0);
	free(path);
	free(part);
}

static void test_two_recorders_do_not_share_a_part(void **state)
{
	char *path = path_in(*state, "a.prof");
	struct capture_writer *a, *b;
	struct err e = {0};

	assert_int_equal(capture_writer_open(&a, path, &e), 0);
	assert_int_equal(capture_writer_open(&b, path, &e), -EBUSY);
	assert_null(b);
	assert_contains(e.msg, "a.prof.part: another recording is writing it");
	assert_true(e.hint[0]);
	/* the first one is none the worse */
	sample_stream(capture_writer_sink(a));
	assert_int_equal(capture_writer_finish(a, &e), 0);
	assert_int_equal(capture_read(path, &ignore, NULL, &e), 0);
	free(path);
}

static void test_an_interrupted_recording_is_moved_aside(void **state)
{
	char *path = path_in(*state, "a.prof"), *part = path_in(*state, "a.prof.part");
	char *stale = path_in(*state, "a.prof.part.old");
	struct capture_writer *w;
	struct capture_info info;
	struct err e = {0};

	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	PUT(capture_writer_sink(w), .kind = RECORD_RUN);
	assert_int_equal(capture_writer_leave_part(w, &e), 0);

	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	capture_writer_discard(w);

	assert_no_file(part);
	assert_no_file(path);
	assert_int_equal(capture_read(stale, &ignore, &info, &e), 0);
	assert_int_equal(info.blocks, 1);
	free(path);
	free(part);
	free(stale);
}

static void test_what_is_not_ours_is_not_replaced(void **state)
{
	char *path = path_in(*state, "a.prof"), *part = path_in(*state, "a.prof.part");
	char *victim = path_in(*state, "victim");
	struct capture_writer *w;
	struct err e = {0};
	struct stat st;

	write_file(part, "my notes", 8);
	assert_int_equal(capture_writer_open(&w, path, &e), -EEXIST);
	assert_contains(e.msg, "a.prof.part: exists and is not a capture; it is left alone");
	assert_int_equal(unlink(part), 0);

	write_file(victim, FILE_MAGIC "more", 12);
	assert_int_equal(symlink(victim, part), 0);
	assert_int_equal(capture_writer_open(&w, path, &e), -EEXIST);
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 12);
	assert_int_equal(unlink(part), 0);

	assert_int_equal(mkfifo(part, 0600), 0);
	assert_int_equal(capture_writer_open(&w, path, &e), -EEXIST);
	assert_int_equal(unlink(part), 0);

	/* an empty one: killed between creating and writing */
	write_file(part, "", 0);
	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	capture_writer_discard(w);
	free(path);
	free(part);
	free(victim);
}

static void test_other_files_under_the_output_s_names_are_left_alone(void **state)
{
	char *path = path_in(*state, "main.c"), *old = path_in(*state, "main.c.old"), *data;
	struct capture_writer *w;
	struct err e = {0};
	size_t len;

	write_file(path, "int", 3);
	assert_int_equal(capture_writer_open(&w, path, &e), -EEXIST);
	assert_contains(e.msg, "main.c: exists and is not a capture; it is left alone");
	data = read_file(path, &len);
	assert_int_equal(len, 3);
	free(data);

	/* the next recording would replace it */
	write_file(path, FILE_MAGIC "more", 12);
	write_file(old, "my only copy of it", 18);
	assert_int_equal(capture_writer_open(&w, path, &e), -EEXIST);
	assert_contains(e.msg, "main.c.old: exists and is not a capture");

	write_file(path, "", 0);
	write_file(old, FILE_MAGIC "more", 12);
	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	capture_writer_discard(w);
	free(path);
	free(old);
}

static void test_outputs_that_cannot_be_renamed_over_are_refused_at_once(void **state)
{
	char *missing = path_in(*state, "no/such/a.prof");
	struct capture_writer *w;
	struct err e = {0};

	assert_int_equal(capture_writer_open(&w, *state, &e), -EINVAL);
	assert_contains(e.msg, "is a directory; a capture needs a regular file");
	assert_int_equal(capture_writer_open(&w, "/dev/null", &e), -EINVAL);
	assert_contains(e.msg, "/dev/null: is no regular file");
	assert_int_equal(capture_writer_open(&w, "", &e), -EINVAL);
	assert_int_equal(capture_writer_open(&w, missing, &e), -ENOENT);
	assert_contains(e.msg, "no/such/a.prof.part: creating: No such file or directory");
	free(missing);
}

static void test_renaming_fails_with_the_part_kept(void **state)
{
	char *path = path_in(*state, "a.prof"), *part = path_in(*state, "a.prof.part");
	char *old = path_in(*state, "a.prof.old");
	struct capture_writer *w;
	struct err e = {0};

	write_file(path, FILE_MAGIC "x", 9);
	assert_int_equal(mkdir(old, 0700), 0); /* in the way */
	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	sample_stream(capture_writer_sink(w));
	assert_true(capture_writer_finish(w, &e) < 0);
	assert_contains(e.msg, "a.prof: moving the old capture to .old");
	assert_contains(e.hint, ".part");
	assert_int_equal(capture_read(part, &ignore, NULL, &e), 0);
	free(path);
	free(part);
	free(old);
}

/* A file size limit stands for a full disk: both fail in write(2), part of the way. */
static void test_a_full_disk_leaves_the_whole_blocks(void **state)
{
	char *path = path_in(*state, "a.prof"), *part = path_in(*state, "a.prof.part");
	const struct rlimit small = {20000, RLIM_INFINITY};
	struct rlimit before;
	struct capture_writer *w;
	struct capture_info info;
	struct err e = {0};
	char text[3000];
	uint64_t st = 1;
	uint32_t id;
	size_t i;
	int ret = 0;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	PUT(capture_writer_sink(w), .kind = RECORD_RUN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (id = 1; id < 100 && !ret; id++) {
		struct record r = {.kind = RECORD_STRING, .string = {id, sizeof(text), text}};

		for (i = 0; i < sizeof(text); i++)
			text[i] = (char)test_random(&st);
		ret = sink_put(capture_writer_sink(w), &r, &e);
		if (!ret)
			ret = capture_writer_flush(w, &e);
	}
	assert_int_equal(ret, -EFBIG);
	assert_contains(e.msg, "a.prof.part: writing: File too large");
	assert_contains(e.hint, "are a readable capture");
	/* it sticks */
	e = (struct err){0};
	assert_int_equal(capture_writer_flush(w, &e), -EFBIG);
	assert_contains(e.msg, "a.prof.part: writing: File too large");
	assert_int_equal(capture_writer_finish(w, &e), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);

	assert_no_file(path);
	assert_int_equal(capture_read(part, &ignore, &info, &e), 0);
	assert_int_equal(info.complete, 0);
	assert_int_equal(info.tail_bytes, 0); /* the half block is gone */
	assert_int_equal(info.records[RECORD_STRING], 6);
	free(path);
	free(part);
}

static void test_a_recorder_killed_at_any_moment_leaves_a_readable_part(void **state)
{
	char *path = path_in(*state, "a.prof"), *part = path_in(*state, "a.prof.part");
	struct capture_info info;
	struct err e = {0};
	int round, status, ret, readable = 0;
	useconds_t longer = 0;
	pid_t pid;

	for (round = 0; round < 50 || (!readable && round < 200); round++) {
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			struct capture_writer *w;
			uint64_t n = 0;

			if (capture_writer_open(&w, path, NULL))
				_exit(1);
			for (;; n++) {
				struct record r = {.kind = n ? RECORD_COUNTER : RECORD_RUN,
					.counter = {.id = COUNTER_TICKS, .value = n}};

				if (sink_put(capture_writer_sink(w), &r, NULL) ||
					(n % 1000 == 0 && capture_writer_flush(w, NULL)))
					_exit(1);
			}
		}
		usleep(longer + 2000 + 997 * (useconds_t)(round % 7));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		if (access(part, F_OK)) {
			longer += 1000; /* not even started: the machine is busy */
			continue;
		}
		ret = capture_read(part, &ignore, &info, &e);
		if (ret && ret != -ENODATA)
			print_error("%s\n", e.msg);
		assert_true(!ret || ret == -ENODATA);
		readable += !ret;
	}
	assert_true(readable > 0);
	free(path);
	free(part);
}

static void test_unreadable_paths_are_named(void **state)
{
	char *missing = path_in(*state, "none.prof");
	struct err e = {0};

	assert_int_equal(capture_read(missing, &ignore, NULL, &e), -ENOENT);
	assert_contains(e.msg, "none.prof: opening: No such file or directory");
	assert_int_equal(capture_probe(missing, &e), -ENOENT);
	assert_int_equal(capture_read(*state, &ignore, NULL, &e), -EISDIR);
	assert_int_equal(capture_probe(*state, &e), -EISDIR);
	free(missing);
}

/* Runs with standard input as @fd; restores it. */
static void with_stdin(int fd, int *probe, int *ret, struct capture_info *info)
{
	int saved = dup(0);
	struct err e = {0};

	assert_true(saved >= 0);
	assert_int_equal(dup2(fd, 0), 0);
	*probe = capture_probe("-", &e);
	*ret = capture_read("-", &ignore, info, &e);
	assert_int_equal(dup2(saved, 0), 0);
	close(saved);
}

static void test_standard_input_is_probed_without_losing_bytes(void **state)
{
	char *path = path_in(*state, "a.prof");
	struct capture_info info;
	struct buf b = BUF_INIT;
	int p[2], fd, probe, ret;

	sample_capture(&b, 10);
	write_file(path, b.data, b.len);
	fd = open(path, O_RDONLY);
	with_stdin(fd, &probe, &ret, &info);
	close(fd);
	assert_int_equal(probe, 1);
	assert_int_equal(ret, 0);
	assert_int_equal(info.complete, 1);

	assert_int_equal(pipe(p), 0);
	assert_true(b.len < 65536);
	assert_int_equal(write(p[1], b.data, b.len), b.len);
	close(p[1]);
	with_stdin(p[0], &probe, &ret, &info);
	close(p[0]);
	assert_int_equal(probe, 1);
	assert_int_equal(ret, 0);
	assert_int_equal(info.complete, 1);

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "main;a 1\n", 9), 9);
	close(p[1]);
	with_stdin(p[0], &probe, &ret, &info);
	close(p[0]);
	assert_int_equal(probe, 0);
	assert_int_equal(ret, -EBADMSG);
	free(path);
	buf_release(&b);
}

RUN_TESTS(T_TMPDIR(test_a_finished_capture_takes_its_name_and_keeps_the_old_one),
	T_TMPDIR(test_the_part_is_readable_after_each_flush),
	T_TMPDIR(test_two_recorders_do_not_share_a_part),
	T_TMPDIR(test_an_interrupted_recording_is_moved_aside),
	T_TMPDIR(test_what_is_not_ours_is_not_replaced),
	T_TMPDIR(test_other_files_under_the_output_s_names_are_left_alone),
	T_TMPDIR(test_outputs_that_cannot_be_renamed_over_are_refused_at_once),
	T_TMPDIR(test_renaming_fails_with_the_part_kept),
	T_TMPDIR(test_a_full_disk_leaves_the_whole_blocks),
	T_TMPDIR(test_a_recorder_killed_at_any_moment_leaves_a_readable_part),
	T_TMPDIR(test_unreadable_paths_are_named),
	T_TMPDIR(test_standard_input_is_probed_without_losing_bytes))
