/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <math.h>

#include "user/record/period.h"

/* Ticks of one CPU over @secs with redraws as the sampler does them: each restarts the timer. */
static double simulated_rate(uint64_t freq, uint64_t limit, unsigned cpus, double secs)
{
	struct period_plan p;
	struct period_draws d = {.last = 0.3};
	double now = 0, held = 0;
	uint64_t ticks = 0;

	period_plan(&p, freq, limit, cpus, 0, 12345);
	while (now < secs) {
		double period = (double)period_draw(&p, &d, (uint64_t)(held * 1e9)) / 1e9;
		double wait = p.interval_ns ? (double)period_wait(&p) / 1e9 : secs;

		wait += 0.1 * (now - floor(now)); /* the caller comes late, more or less */
		ticks += (uint64_t)(wait / period);
		held = wait;
		now += wait;
	}
	return (double)ticks / now;
}

static void test_redrawn_periods_give_the_asked_frequency_within_one_percent(void **state)
{
	static const uint64_t freqs[] = {1, 9, 49, 99, 997, 4999, 20000};

	for (size_t i = 0; i < ARRAY_LEN(freqs); i++)
		for (unsigned cpus = 1; cpus <= 256; cpus *= 4) {
			double f = (double)freqs[i];
			double secs = freqs[i] < 49 ? 40000 / f : 2000;
			double rate = simulated_rate(freqs[i], 100000, cpus, secs);

			if (fabs(rate / f - 1) > 0.01)
				print_error("%.0f Hz on %u CPUs: %.3f Hz\n", f, cpus, rate);
			assert_true(fabs(rate / f - 1) < 0.01);
		}
}

static void test_ten_seconds_have_the_asked_frequency_within_two_percent(void **state)
{
	static const uint64_t freqs[] = {99, 997, 4999};

	for (size_t i = 0; i < ARRAY_LEN(freqs); i++) {
		double rate = simulated_rate(freqs[i], 100000, 2, 10);

		assert_true(fabs(rate / (double)freqs[i] - 1) < 0.02);
	}
}

static void test_periods_differ_widely(void **state)
{
	struct period_plan p;
	struct period_draws d = {0};
	double low = 1e18, high = 0;

	period_plan(&p, 99, 100000, 2, 0, 1);
	for (int i = 0; i < 1000; i++) {
		double t = (double)period_draw(&p, &d, 0);

		low = t < low ? t : low;
		high = t > high ? t : high;
	}

	assert_true(high / low > 2.8);
}

static void test_fixed_plan_never_redraws(void **state)
{
	struct period_plan p;
	struct period_draws d = {0};

	period_plan(&p, 1000, 100000, 2, 1, 1);

	assert_int_equal(p.interval_ns, 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(period_draw(&p, &d, 0), 1000000);
}

static void test_no_period_is_shorter_than_the_kernels_limit(void **state)
{
	static const uint64_t limits[] = {1000, 1010, 1100, 1300, 1700, 2000};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		struct period_plan p;
		struct period_draws d = {0};

		period_plan(&p, 1000, limits[i], 2, 0, 7);
		for (int k = 0; k < 1000; k++)
			assert_true(period_draw(&p, &d, 0) * limits[i] >= 999000000u);
	}
}

static void test_redraws_of_all_cpus_together_are_bounded(void **state)
{
	for (unsigned cpus = 1; cpus <= 1024; cpus++) {
		struct period_plan p;
		double calls;

		period_plan(&p, 997, 100000, cpus, 0, 1);
		calls = cpus * 1e9 / (double)p.interval_ns;
		assert_true(calls <= 64.01);
		if (cpus <= 64)
			assert_true(p.interval_ns <= 1000000001);
	}
}

static void test_slow_frequencies_wait_for_some_ticks_between_redraws(void **state)
{
	struct period_plan p;

	period_plan(&p, 1, 100000, 2, 0, 1);

	assert_true(p.interval_ns >= 9000000000u);
}

RUN_TESTS(T(test_redrawn_periods_give_the_asked_frequency_within_one_percent),
	T(test_ten_seconds_have_the_asked_frequency_within_two_percent),
	T(test_periods_differ_widely), T(test_fixed_plan_never_redraws),
	T(test_no_period_is_shorter_than_the_kernels_limit),
	T(test_redraws_of_all_cpus_together_are_bounded),
	T(test_slow_frequencies_wait_for_some_ticks_between_redraws))
