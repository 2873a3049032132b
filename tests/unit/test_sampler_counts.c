/* SPDX-License-Identifier: BSD-2-Clause */
/* Of real recordings: that values sum to time, and samples to what was counted. */
#include "sampler_support.h"

#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

static void do_exec_storm(void)
{
	for (;;) {
		pid_t p = fork();

		if (!p) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(p, NULL, 0);
	}
}

static void do_map_storm(void)
{
	for (;;) {
		char *m = mmap(
			NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*m = 1;
		munmap(m, 1 << 16);
	}
}

static double cpu_seconds(pid_t p)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(p, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * What interrupts and the hypervisor took, of all CPUs: between two ticks it is in
 * a value, and in no thread's CPU time where the kernel accounts for it.
 */
static double seconds_taken(void)
{
	unsigned long long irq = 0, softirq = 0, steal = 0;
	FILE *f = fopen("/proc/stat", "re");

	assert_non_null(f);
	assert_int_equal(
		fscanf(f, "cpu %*u %*u %*u %*u %*u %llu %llu %llu", &irq, &softirq, &steal), 3);
	fclose(f);
	return (double)(irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

static void test_values_sum_to_the_threads_cpu_time(void **state)
{
	struct seen seen = {.wanted.samples = 1000};
	pid_t p = start(do_chain);
	struct sampler *s = sampler_of(p, 4999, &seen);
	double inner, outer, taken, share, tolerance, got;
	struct wire_counters c;
	uint64_t from;

	/* Starting and stopping take 1 % of the time, and longer when the reader loses the CPU:
	 * what is sampled begins and ends between two readings of the clock. */
	taken = seconds_taken();
	outer = cpu_seconds(p);
	record_begin(s);
	inner = cpu_seconds(p);
	from = clock_mono_ns();
	record_on(s, &seen, 2, 0);
	inner = cpu_seconds(p) - inner;
	share = inner / ((double)(clock_mono_ns() - from) / 1e9);
	record_end(s, &seen);
	outer = cpu_seconds(p) - outer;
	taken = seconds_taken() - taken;
	c = totals(s);

	/* 1 %, and what chance does when others use the CPU too: 4 sigma. */
	tolerance = 0.01 + 4 * sqrt((share < 1 ? 1 - share : 0) / (double)(seen.samples + 1));
	got = (double)(c.value_ns + c.capped_ns) / 1e9;
	if (got < inner * (1 - tolerance) || got > outer * (1 + tolerance) + taken)
		fail_msg("values %.4f s, CPU clock %.4f to %.4f s (and %.2f s taken), tolerance "
			 "%.3f",
			got, inner, outer, taken, tolerance);
	assert_true(c.value_ns == seen.value_ns || c.lost_ring);
}

static void test_tiny_ring_loses_and_counts(void **state)
{
	struct sampler_options o = {.freq = 4999, .mode = ADMIT_ALL, .ring_bytes = 4096};
	struct sampler *s = new_sampler(&o);
	struct seen seen = {.wanted.lost_ring = 1};

	start(do_chain);
	record(s, &seen, 0.5, 1);

	assert_int_equal(seen.samples, totals(s).sampled);
}

static void test_every_sample_counted_arrives(void **state)
{
	struct sampler_options o = {.freq = 1999, .mode = ADMIT_ALL};
	struct sampler *s = new_sampler(&o);
	struct seen seen = {.wanted = {.samples = 1000, .modules = 2, .execs = 6, .exits = 6}};
	struct wire_counters c;

	start(do_exec_storm);
	start(do_map_storm);
	record(s, &seen, 1, 0);
	c = totals(s);

	assert_int_equal(seen.samples, c.sampled);
	assert_int_equal(c.lost_scratch, 0);
	assert_true(c.walk_failed * 100 <= seen.samples);
}

static void test_callback_can_stop_the_reading(void **state)
{
	struct sampler_options o = {.freq = 1999, .mode = ADMIT_ALL};
	struct sampler *s = new_sampler(&o);
	struct seen seen = {.stop_after = 3};
	struct err e = {0};
	uint64_t from;
	int r;

	start(do_chain);
	record_begin(s);
	from = clock_mono_ns();
	do {
		r = sampler_consume(s, 50, see, &seen, &e);
	} while (seen.stop_after && clock_mono_ns() - from < WANTED_WITHIN_NS);
	assert_int_equal(r, 77);
	record_end(s, &seen);
	assert_int_equal(seen.samples, totals(s).sampled);
}

static int cpu_of_pinned; /* for the child */

static void do_pinned(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu_of_pinned, &set);
	sched_setaffinity(0, sizeof(set), &set);
	do_chain();
}

static void test_only_the_listed_cpus_are_sampled(void **state)
{
	struct sampler_options o = {.freq = 999, .mode = ADMIT_ALL, .nr_cpus = 1};
	struct seen seen = {.wanted.samples = 50};
	struct wire_counters c;
	struct sampler *s;
	cpu_set_t allowed;
	uint32_t cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	o.cpus = &cpu;
	s = new_sampler(&o);
	/* There is something to see on each CPU. */
	for (cpu_of_pinned = (int)cpu; cpu_of_pinned < CPU_SETSIZE; cpu_of_pinned++)
		if (CPU_ISSET(cpu_of_pinned, &allowed) && cpu_of_pinned < (int)cpu + 4)
			start(do_pinned);
	start(do_exec_storm);

	record(s, &seen, 0.4, 0);

	assert_int_equal(sampler_nr_cpus(s), cpu + 1);
	assert_int_equal(sampler_counters(s, cpu, &c, NULL), 0);
	assert_int_equal(sampler_counters(s, cpu + 1, &c, NULL), -ENOENT);
	for (unsigned i = 0; i < ARRAY_LEN(seen.time_ns); i++)
		assert_int_equal(!!seen.time_ns[i], i == cpu);
}

static void test_info_tells_what_it_holds(void **state)
{
	struct sampler_options o = {.freq = 999, .mode = ADMIT_ALL};
	struct sampler *s = new_sampler(&o);
	struct seen seen = {.wanted.samples = 50};
	struct wire_counters c;
	struct sampler_info i;

	start(do_chain);
	record(s, &seen, 0.5, 0);
	c = totals(s);
	sampler_info(s, &i);

	assert_true(i.map_bytes > 100000);
	assert_true(i.verified_insns > 100);
	assert_int_equal(seen.samples, c.sampled);
	assert_int_equal(i.bpf_run_cnt, c.sampled + c.lost_ring);
	assert_true(i.bpf_run_ns > 0);
	assert_true(i.cpus_online >= 1);
	assert_int_equal(i.walk_selftest, 1);
}

RUN_TESTS(T_RECORDING(test_values_sum_to_the_threads_cpu_time),
	T_RECORDING(test_tiny_ring_loses_and_counts),
	T_RECORDING(test_every_sample_counted_arrives),
	T_RECORDING(test_callback_can_stop_the_reading),
	T_RECORDING(test_only_the_listed_cpus_are_sampled),
	T_RECORDING(test_info_tells_what_it_holds))
