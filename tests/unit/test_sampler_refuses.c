/* SPDX-License-Identifier: BSD-2-Clause */
/* Where recording cannot begin: the sentence names what is missing. */
#include "sampler_support.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Also tells what it got: a child's failure shows no more than a number. */
static int try_new(struct err *e)
{
	struct sampler_options o = {.freq = 99, .mode = ADMIT_ALL};
	struct sampler *s = NULL;
	int code = sampler_new(&s, &o, e);

	if (!code)
		code = sampler_start(s, e);
	sampler_free(s);
	print_message("  %d: %s\n", code, e->msg);
	return code;
}

static int check_nobody(void)
{
	struct err e = {0};

	if (setgid(65534) || setuid(65534))
		return 2;
	if (try_new(&e) != -EPERM)
		return 3;
	return !strstr(e.msg, "CAP_BPF and CAP_PERFMON") || !strstr(e.msg, "perf_event_paranoid") ||
	       !*e.hint;
}

static int drop(int a, int b)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		return -1;
	d[a / 32].effective &= ~(1u << a % 32);
	d[b / 32].effective &= ~(1u << b % 32);
	return (int)syscall(SYS_capset, &h, d);
}

static int check_without_perfmon(void)
{
	struct err e = {0};

	if (drop(38, 21))
		return 2;
	if (try_new(&e) != -EPERM)
		return 3;
	return !strstr(e.msg, "lacks CAP_PERFMON");
}

static int check_without_bpf(void)
{
	struct err e = {0};

	if (drop(39, 21))
		return 2;
	if (try_new(&e) != -EPERM)
		return 3;
	return !strstr(e.msg, "lacks CAP_BPF ");
}

static int check_without_btf(void)
{
	struct err e = {0};

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL))
		return 2;
	if (try_new(&e) != -EOPNOTSUPP)
		return 3;
	return !strstr(e.msg, "BTF") || !*e.hint;
}

static int check_user_namespace(void)
{
	struct err e = {0};

	if (unshare(CLONE_NEWUSER))
		return 0; /* switched off here */
	if (try_new(&e) != -EPERM)
		return 3;
	return !strstr(e.msg, "user namespace");
}

static int hide(const char *place)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("none", place, "tmpfs", 0, NULL);
}

static int check_without_proc(void)
{
	struct err e = {0};

	if (hide("/proc"))
		return 2;
	if (try_new(&e) != -EOPNOTSUPP)
		return 3;
	return !strstr(e.msg, "/proc is not mounted") || !strstr(e.hint, "mount -t proc");
}

static int check_without_sys(void)
{
	struct err e = {0};

	if (hide("/sys"))
		return 2;
	if (try_new(&e) != -EOPNOTSUPP)
		return 3;
	return !strstr(e.msg, "/sys is not mounted") || !strstr(e.hint, "mount -t sysfs");
}

/* A new pid namespace below the old one's /proc, where its numbers are those of others. */
static int check_foreign_proc(void)
{
	struct err e = {0};
	int status;
	pid_t p;

	if (unshare(CLONE_NEWPID))
		return 2;
	p = fork();
	if (!p) {
		if (try_new(&e) != -EOPNOTSUPP)
			_exit(3);
		_exit(strstr(e.msg, "another pid namespace") && *e.hint ? 0 : 4);
	}
	if (waitpid(p, &status, 0) != p || !WIFEXITED(status))
		return 5;
	return WEXITSTATUS(status);
}

static void test_worlds_without_proc_or_sys_are_explained(void **state)
{
	if (geteuid()) {
		print_message("needs root to make namespaces\n");
		skip();
	}
	in_child(check_without_proc);
	in_child(check_without_sys);
	in_child(check_foreign_proc);
}

static void test_worlds_without_btf_or_rights_are_explained(void **state)
{
	if (geteuid()) {
		print_message("needs root to make namespaces\n");
		skip();
	}
	in_child(check_without_btf);
	in_child(check_user_namespace);
}

static void test_missing_rights_are_named(void **state)
{
	if (geteuid()) {
		print_message("needs root to give rights up\n");
		skip();
	}
	in_child(check_nobody);
	in_child(check_without_perfmon);
	in_child(check_without_bpf);
}

static int check_hard_fds(void)
{
	struct rlimit lim = {12, 12};
	struct err e = {0};

	if (setrlimit(RLIMIT_NOFILE, &lim))
		return 2;
	if (try_new(&e) != -EMFILE)
		return 3;
	return !strstr(e.msg, "RLIMIT_NOFILE is 12");
}

/* None left at all: what is missing is found out without opening anything. */
static int check_no_fds(void)
{
	struct rlimit lim = {12, 12};
	struct err e = {0};

	for (int fd = 3; fd < 12; fd++)
		dup2(2, fd);
	if (setrlimit(RLIMIT_NOFILE, &lim))
		return 2;
	if (try_new(&e) != -EMFILE)
		return 3;
	return !strstr(e.msg, "RLIMIT_NOFILE is 12");
}

static int check_soft_fds(void)
{
	struct err e = {0};
	struct rlimit lim;

	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = 12;
	if (setrlimit(RLIMIT_NOFILE, &lim))
		return 2;
	return try_new(&e) ? 3 : 0;
}

static void test_few_descriptors_are_named_or_raised(void **state)
{
	need_recording();
	in_child(check_hard_fds);
	in_child(check_no_fds);
	in_child(check_soft_fds);
}

/* The test of the mapping walk needs a file with a size, which is no business of the kernel's walk.
 */
static int check_file_limit(void)
{
	static const rlim_t sizes[] = {0, 1024, 8192};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct rlimit lim = {sizes[i], RLIM_INFINITY};
		struct err e = {0};

		/* as main() does; what is said here may go to a file, too */
		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &lim))
			return 2;
		if (try_new(&e))
			return 3;
	}
	return 0;
}

static void test_limit_on_file_sizes_does_not_matter(void **state)
{
	need_recording();
	in_child(check_file_limit);
}

static void test_ring_larger_than_memory_is_refused(void **state)
{
	struct sampler_options o = {.freq = 99, .mode = ADMIT_ALL, .ring_bytes = 100ull << 40};
	struct err e = {0};
	struct sampler *s;

	assert_int_equal(sampler_new(&s, &o, &e), -EINVAL);
	assert_null(s);
	assert_contains(e.msg, "100 TiB");
	assert_contains(e.msg, "at most");
	assert_true(e.hint[0] != 0);
}

static void test_impossible_options_get_a_sentence(void **state)
{
	uint32_t cpus[] = {4095};
	struct sampler_options o = {.freq = 100000001, .mode = ADMIT_ALL};
	struct err e = {0};
	struct sampler *s;

	assert_int_equal(sampler_new(&s, &o, &e), -EINVAL);
	assert_null(s);
	assert_contains(e.msg, "kernel.perf_event_max_sample_rate");
	o = (struct sampler_options){.freq = 99, .cpus = cpus, .nr_cpus = 1};
	assert_int_equal(sampler_new(&s, &o, &e), -EINVAL);
	assert_contains(e.msg, "CPU 4095");
	o = (struct sampler_options){.freq = 0};
	assert_int_equal(sampler_new(&s, &o, &e), -EINVAL);
}

RUN_TESTS(T(test_missing_rights_are_named), T(test_worlds_without_proc_or_sys_are_explained),
	T(test_worlds_without_btf_or_rights_are_explained),
	T(test_few_descriptors_are_named_or_raised), T(test_limit_on_file_sizes_does_not_matter),
	T(test_ring_larger_than_memory_is_refused), T(test_impossible_options_get_a_sentence))
