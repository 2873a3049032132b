/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "user/record/features.h"
#include "user/record/kernel.h"

static const struct feature *find(const struct feature *list, unsigned nr, const char *name)
{
	for (unsigned i = 0; i < nr; i++)
		if (strstr(list[i].name, name))
			return &list[i];
	fail_msg("no feature named like %s", name);
	return NULL;
}

static void check_list(const struct feature *list, unsigned nr)
{
	assert_true(nr >= 15);
	for (unsigned i = 0; i < nr; i++) {
		assert_non_null(list[i].name);
		assert_true(list[i].detail[0] != 0);
		assert_int_equal(list[i].state != FEATURE_OK, list[i].follows[0] != 0);
	}
}

static void test_each_feature_has_a_detail_and_says_what_follows(void **state)
{
	struct feature *list;
	unsigned nr;

	assert_int_equal(features_probe(&list, &nr), 0);
	check_list(list, nr);
	free(list);
}

static void test_probing_needs_no_privileges(void **state)
{
	int status;
	pid_t p;

	if (geteuid()) {
		print_message("needs root to give privileges up\n");
		skip();
	}
	p = fork();
	if (!p) {
		struct feature *list;
		struct err e = {0};
		unsigned nr;

		if (setgid(65534) || setuid(65534))
			_exit(2);
		if (features_probe(&list, &nr))
			_exit(3);
		check_list(list, nr);
		if (find(list, nr, "capabilities")->state != FEATURE_MISSING)
			_exit(4);
		_exit(features_require(&e) == -1 && e.msg[0] && e.hint[0] ? 0 : 5);
	}
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The kernel says it itself: /proc may be hidden, or no descriptor left to open it with. */
static void test_capabilities_are_known_without_descriptors(void **state)
{
	int status;
	pid_t p;

	if (geteuid()) {
		print_message("needs root to have capabilities\n");
		skip();
	}
	p = fork();
	if (!p) {
		struct rlimit none = {0, 0};
		int had = kernel_has_cap(CAPABILITY_BPF);

		if (setrlimit(RLIMIT_NOFILE, &none))
			_exit(2);
		if (!had || !kernel_has_cap(CAPABILITY_BPF) || kernel_proc() != PROC_OK)
			_exit(3);
		if (setgid(65534) || setuid(65534))
			_exit(4);
		_exit(kernel_has_cap(CAPABILITY_BPF) ? 5 : 0);
	}
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_text_of_a_file_has_no_final_newline_and_fits(void **state)
{
	char *path = path_in(*state, "f"), buf[8];

	write_file(path, "12345\n", 6);
	assert_int_equal(kernel_read_text(path, buf, sizeof(buf)), 5);
	assert_string_equal(buf, "12345");
	write_file(path, "123456789", 9);
	assert_int_equal(kernel_read_text(path, buf, sizeof(buf)), 7);
	assert_string_equal(buf, "1234567");
	assert_true(kernel_read_text("/nonexistent", buf, sizeof(buf)) < 0);
	assert_string_equal(buf, "");
	free(path);
}

static void test_online_cpus_are_possible(void **state)
{
	uint32_t *cpus;
	size_t nr;

	assert_int_equal(kernel_online_cpus(&cpus, &nr), 0);
	assert_true(nr >= 1);
	assert_true(cpus[nr - 1] < kernel_possible_cpus());
	free(cpus);
}

RUN_TESTS(T(test_each_feature_has_a_detail_and_says_what_follows),
	T(test_probing_needs_no_privileges), T(test_capabilities_are_known_without_descriptors),
	T_TMPDIR(test_text_of_a_file_has_no_final_newline_and_fits),
	T(test_online_cpus_are_possible))
