/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "user/base/clock.h"

static void test_clock_never_goes_back(void **state)
{
	uint64_t a = clock_mono_ns(), b = clock_mono_ns();

	assert_true(b >= a);
	assert_true(clock_boot_ns() >= a); /* counts suspended time as well */
	assert_true(clock_real_ns() > 1600000000ull * 1000000000);
	a = clock_process_cpu_ns();
	assert_true(clock_process_cpu_ns() >= a);
}

static void test_clock_sleeps_until_and_not_for(void **state)
{
	uint64_t until = clock_mono_ns() + 3000000;

	clock_sleep_until(until);
	assert_true(clock_mono_ns() >= until);
	clock_sleep_until(0); /* long ago: returns at once */
}

RUN_TESTS(T(test_clock_never_goes_back), T(test_clock_sleeps_until_and_not_for))
