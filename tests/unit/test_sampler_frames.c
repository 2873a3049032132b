/* SPDX-License-Identifier: BSD-2-Clause */
/* Of real recordings: that a sample's frames are where its process was. */
#include "sampler_support.h"

#include <sys/mman.h>
#include <time.h>

/* push rbp; mov rbp,rsp; loop: dec rdi; jnz loop; pop rbp; ret */
static const unsigned char machine_code[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static void do_jit(void)
{
#ifdef __x86_64__
	void *code = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, machine_code, sizeof(machine_code));
	for (;;)
		((void (*)(long))code)(1000000);
#endif
	(void)machine_code;
}

static void do_clock(void)
{
	struct timespec t;

	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &t);
}

/* File offset of an address of ours, and so of our children's. */
static uint64_t file_offset(const void *addr)
{
	unsigned long start_addr, end_addr, offset;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4352];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start_addr, &end_addr, &offset) != 3)
			continue;
		if ((uintptr_t)addr < start_addr || (uintptr_t)addr >= end_addr)
			continue;
		fclose(f);
		return (uintptr_t)addr - start_addr + offset;
	}
	fail_msg("address %p is not mapped", addr);
	return 0;
}

static void check_frames(void)
{
	struct seen seen = {
		.leaf_at = file_offset((void *)(uintptr_t)leaf_function),
		.caller_at = file_offset((void *)(uintptr_t)outer_function),
		.wanted.samples = 100,
	};
	pid_t p = start(do_chain);
	struct sampler *s = sampler_of(p, 999, &seen);
	struct wire_module_value v;
	struct wire_file_key key;
	struct stat st;

	record(s, &seen, 0.7, 0);

	assert_int_equal(seen.wrong_pid, 0);
	assert_int_equal(seen.disorder, 0);
	/* All but the odd sample between the two functions or before a frame is made: 1 % of them.
	 */
	assert_true(seen.leaf_in * 100 >= seen.samples * 90);
	assert_true(seen.leaf_and_caller * 100 >= seen.leaf_in * 95);
	/* The module is this very file. */
	assert_int_equal(sampler_find_module(s, seen.own_module, &key, &v), 0);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(key.size, st.st_size);
	assert_int_equal(v.pid, p);
	assert_int_equal(sampler_find_module(s, 0xffffff, &key, &v), -ENOENT);
	totals(s);
}

static void test_frames_are_module_and_file_offset(void **state)
{
	check_frames();
}

static void test_frames_are_right_without_rdonly_cast(void **state)
{
	struct sampler_options o = {.freq = 99};
	struct sampler_info i;

	setenv("PROFBPF_DISABLE", "rdonly_cast", 1);
	sampler_info(new_sampler(&o), &i);
	assert_int_equal(i.rdonly_cast, 0);
	assert_int_equal(i.walk_selftest, 1);
	check_frames();
}

static int enable_all(void **state)
{
	unsetenv("PROFBPF_DISABLE");
	return end_all(state);
}

static void test_code_without_a_file_is_jit(void **state)
{
#ifndef __x86_64__
	skip();
#endif
	struct seen seen = {.wanted.samples = 50};
	struct sampler *s = sampler_of(start(do_jit), 999, &seen);

	record(s, &seen, 0.5, 0);

	assert_true(seen.kinds[FRAME_JIT] * 10 >= seen.samples * 9);
}

static void test_vdso_is_a_module_of_its_own(void **state)
{
	struct seen seen = {.wanted.samples = 300};
	struct sampler *s = sampler_of(start(do_clock), 999, &seen);

	record(s, &seen, 0.5, 0);

	assert_true(seen.vdso * 10 >= seen.samples * 3);
}

static void test_process_of_a_deleted_file_keeps_its_module(void **state)
{
	char cmd[512], *exe;
	struct seen seen = {.wanted = {.samples = 50, .modules = 1}};
	struct sampler *s;
	pid_t p;

	if (access("/bin/dd", X_OK))
		skip();
	exe = path_in(*state, "gone");
	snprintf(cmd, sizeof(cmd), "cp /bin/dd %s", exe);
	assert_int_equal(system(cmd), 0);
	p = start_dd(exe, NULL);
	assert_int_equal(unlink(exe), 0);
	s = sampler_of(p, 999, &seen);
	record(s, &seen, 0.5, 0);

	assert_true(seen.kinds[FRAME_MODULE] >= seen.samples / 2);
	free(exe);
}

static int end_all_and_tmpdir(void **state)
{
	end_all(state);
	return tmpdir_teardown(state);
}

RUN_TESTS(T_RECORDING(test_frames_are_module_and_file_offset),
	cmocka_unit_test_teardown(test_frames_are_right_without_rdonly_cast, enable_all),
	T_RECORDING(test_code_without_a_file_is_jit), T_RECORDING(test_vdso_is_a_module_of_its_own),
	cmocka_unit_test_setup_teardown(
		test_process_of_a_deleted_file_keeps_its_module, tmpdir_setup, end_all_and_tmpdir))
