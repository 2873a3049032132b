/* SPDX-License-Identifier: BSD-2-Clause */
/* Of real recordings: that those are sampled who were admitted, and nobody else. */
#include "sampler_support.h"

#include <sched.h>
#include <sys/mount.h>

static void do_forks(void)
{
	for (;;) {
		pid_t p = fork();

		if (!p) {
			for (int i = 0; i < 2000; i++)
				leaf_function();
			_exit(0);
		}
		waitpid(p, NULL, 0);
	}
}

static void test_children_join_only_when_asked(void **state)
{
	for (int children = 0; children <= 1; children++) {
		struct sampler_options o = {.freq = 1999, .mode = ADMIT_PIDS, .children = children};
		struct sampler *s = new_sampler(&o);
		struct seen seen = {.wanted.samples = 100};
		struct err e = {0};
		pid_t p = start(do_forks);

		if (children)
			seen.wanted.exits = seen.wanted.wrong_pid = 20;
		assert_int_equal(sampler_admit(s, p, 0, &e), 0);
		seen.only_pid = (uint32_t)p;
		record(s, &seen, 0.7, 0);
		totals(s);

		if (!children)
			assert_int_equal(seen.wrong_pid, 0);
		end_all(state);
	}
}

static void test_command_is_not_sampled_before_its_exec(void **state)
{
	struct sampler_options o = {.freq = 999, .mode = ADMIT_PIDS};
	struct sampler *s = new_sampler(&o);
	struct seen seen = {.wanted.before_exec = 20};
	struct err e = {0};
	pid_t p = start(do_chain); /* forked, and never executes anything */

	assert_int_equal(sampler_admit(s, p, 1, &e), 0);
	record(s, &seen, 0.3, 0);
	totals(s);
	assert_int_equal(seen.samples, 0);

	s = new_sampler(&o);
	seen = (struct seen){.wanted.samples = 20};
	seen.only_pid = (uint32_t)start_dd("/bin/dd", s);
	record(s, &seen, 0.3, 0);
	totals(s);
	assert_int_equal(seen.wrong_pid, 0);
}

/* Inside a new pid namespace: its pids are 1, 2..; ours are not valid there. */
static int check_pid_namespace(void)
{
	struct sampler_options o = {.freq = 999, .mode = ADMIT_PIDS};
	struct seen seen = {.only_pid = 2, .wanted.samples = 20};
	struct err e = {0};
	struct sampler *s;
	int status = 4;
	pid_t p;

	/* Private, or the new /proc would be mounted for everybody. */
	if (unshare(CLONE_NEWPID | CLONE_NEWNS) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 5;
	p = fork(); /* pid 1 there */
	if (!p) {
		pid_t target = fork(); /* pid 2 */

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!target)
			do_chain();
		if (target != 2)
			_exit(6);
		if (mount("proc", "/proc", "proc", 0, NULL))
			_exit(7);
		if (sampler_new(&s, &o, &e) || sampler_admit(s, target, 0, &e) ||
			sampler_start(s, &e))
			_exit(8);
		record_on(s, &seen, 0.5, 0);
		sampler_stop(s);
		sampler_consume(s, 0, see, &seen, &e);
		status = !all_seen(s, &seen) ? 9 : seen.wrong_pid ? 10 : 0;
		sampler_free(s);
		kill(target, SIGKILL);
		_exit(status);
	}
	waitpid(p, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 11;
}

static void test_pids_are_those_of_the_profilers_namespace(void **state)
{
	need_recording();
	in_child(check_pid_namespace);
}

/* A group of the second version that is there for one test, and one below it. */
static struct {
	char dir[128], below[160];
} cgroup;

/* Opens the file that takes members of the one below; -1 if there can be none. */
static int make_cgroups(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char procs[192];
	int fd = -1;

	for (size_t i = 0; i < ARRAY_LEN(roots) && fd < 0; i++) {
		snprintf(cgroup.dir, sizeof(cgroup.dir), "%s/profbpf-test-%d", roots[i], getpid());
		snprintf(cgroup.below, sizeof(cgroup.below), "%s/below", cgroup.dir);
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", cgroup.below);
		if (!mkdir(cgroup.dir, 0755) && !mkdir(cgroup.below, 0755))
			fd = open(procs, O_WRONLY | O_CLOEXEC);
		if (fd < 0) {
			rmdir(cgroup.below);
			rmdir(cgroup.dir);
		}
	}
	return fd;
}

static int end_all_and_cgroups(void **state)
{
	end_all(state);
	rmdir(cgroup.below);
	rmdir(cgroup.dir);
	return 0;
}

static void test_cgroup_includes_its_descendants(void **state)
{
	struct sampler_options o = {.freq = 999, .mode = ADMIT_CGROUP};
	struct seen seen = {.wanted.samples = 50};
	int fd = make_cgroups();
	struct sampler *s;
	struct stat st;
	char text[32];
	pid_t p;

	if (fd < 0) {
		print_message("no cgroup v2 that can be written to\n");
		skip();
	}
	p = start(do_chain);
	start(do_chain); /* outside */
	snprintf(text, sizeof(text), "%d", p);
	assert_true(write(fd, text, strlen(text)) > 0);
	close(fd);
	assert_int_equal(stat(cgroup.dir, &st), 0);
	o.cgroup_id = st.st_ino;
	s = new_sampler(&o);
	seen.only_pid = (uint32_t)p;
	record(s, &seen, 0.5, 0);
	totals(s);

	assert_int_equal(seen.wrong_pid, 0);
}

RUN_TESTS(T_RECORDING(test_children_join_only_when_asked),
	T_RECORDING(test_command_is_not_sampled_before_its_exec),
	T_RECORDING(test_pids_are_those_of_the_profilers_namespace),
	cmocka_unit_test_teardown(test_cgroup_includes_its_descendants, end_all_and_cgroups))
