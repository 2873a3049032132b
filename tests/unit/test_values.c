/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <math.h>

#include "user/capture/records.h"
#include "user/model/values.h"

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		print_error("got %g, want %g +- %g\n", got, want, tolerance);
	assert_true(fabs(got - want) <= tolerance);
}

static void error_of_many_equal_samples_is_the_textbook_one(void **state)
{
	/* 2,500 of 10,000 samples: 1.96 * sqrt(.25 * .75 / 10000) = 0.849 points */
	(void)state;
	near(share_error(2500, 2500, 10000, 10000), 0.849, 0.001);
	/* The unit of the values does not matter. */
	near(share_error(2500e7, 2500e14, 10000e7, 10000e14), 0.849, 0.001);
}

static void error_at_the_ends_is_not_zero(void **state)
{
	(void)state;
	/* None, or all, of 100 samples: about 1.9 points, as Wilson says. */
	near(share_error(0, 0, 100, 100), 1.85, 0.05);
	near(share_error(100, 100, 100, 100), 1.85, 0.05);
	/* One sample tells next to nothing. */
	near(share_error(1, 1, 1, 1), 39.7, 0.5);
}

static void uneven_values_widen_the_error(void **state)
{
	/* Ten samples, one of them as heavy as the other nine together. */
	double even = share_error(5, 5, 10, 10), uneven = share_error(9, 81, 18, 90);

	(void)state;
	assert_true(uneven > even * 1.2);
	assert_true(uneven <= 50);
}

static void error_scatters_as_repeated_sampling_does(void **state)
{
	/* 400 experiments of 500 samples with random values and a share of 30 %:
	 * the half-width must cover the truth in about 95 % of them. */
	uint64_t seed = 3;
	int covered = 0, run, i;

	(void)state;
	for (run = 0; run < 400; run++) {
		double part = 0, part_sq = 0, total = 0, total_sq = 0, got;

		for (i = 0; i < 500; i++) {
			double w = 0.5 + (double)(test_random(&seed) >> 11) / 9007199254740992.0;

			total += w;
			total_sq += w * w;
			if (test_random(&seed) % 10 < 3) {
				part += w;
				part_sq += w * w;
			}
		}
		got = 100 * part / total;
		covered += fabs(got - 30) <= share_error(part, part_sq, total, total_sq);
	}
	assert_in_range(covered, 400 * 0.91, 400 * 0.99);
}

static void nothing_has_no_error(void **state)
{
	(void)state;
	assert_true(isnan(share_error(0, 0, 0, 0)));
	assert_true(isnan(share_error(1, NAN, 2, NAN)));
	assert_true(share_pct(1, 0) == 0);
}

static void sums_stop_at_the_top(void **state)
{
	(void)state;
	assert_int_equal(value_add(UINT64_MAX - 1, 1), UINT64_MAX);
	assert_int_equal(value_add(UINT64_MAX, 7), UINT64_MAX);
	assert_int_equal(value_add(2, 3), 5);
}

static void views_have_names_both_ways(void **state)
{
	unsigned type;

	(void)state;
	for (type = 1; type < VALUE_TYPE_MAX; type++)
		assert_int_equal(value_by_view(value_info(type)->view), type);
	assert_int_equal(value_by_view("nonsense"), 0);
	assert_null(value_info(0));
	assert_null(value_info(VALUE_TYPE_MAX));
}

RUN_TESTS(T(error_of_many_equal_samples_is_the_textbook_one), T(error_at_the_ends_is_not_zero),
	T(uneven_values_widen_the_error), T(error_scatters_as_repeated_sampling_does),
	T(nothing_has_no_error), T(sums_stop_at_the_top), T(views_have_names_both_ways))
