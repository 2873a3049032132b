/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <math.h>

#include "user/base/json.h"

static void test_json_nests_and_separates(void **state)
{
	struct out *o = out_mem();
	struct json j;

	json_init(&j, o);
	json_obj(&j);
	json_key(&j, "a");
	json_arr(&j);
	json_u64(&j, UINT64_MAX);
	json_i64(&j, INT64_MIN);
	json_i64(&j, 5);
	json_obj(&j);
	json_obj_end(&j);
	json_arr(&j);
	json_arr_end(&j);
	json_arr_end(&j);
	json_key(&j, "b\"");
	json_bool(&j, 3);
	json_key(&j, "c");
	json_str(&j, NULL);
	json_key(&j, "d");
	json_strn(&j, "x\0y", 3);
	json_obj_end(&j);

	assert_string_equal(out_mem_data(o, NULL),
		"{\"a\":[18446744073709551615,-9223372036854775808,5,{},[]],\"b\\\"\":true,"
		"\"c\":null,\"d\":\"x\\\\x00y\"}");
	out_abort(o);
}

static void test_json_num_has_no_needless_digits(void **state)
{
	static const struct {
		double v;
		int decimals;
		const char *want;
	} cases[] = {
		{0, 3, "0"},
		{-0.0, 3, "0"},
		{-0.0001, 3, "0"},
		{1, 3, "1"},
		{100, 0, "100"},
		{1.5, 3, "1.5"},
		{-1.25, 2, "-1.25"},
		{0.1234, 3, "0.123"},
		{1e15, 2, "1000000000000000"},
		{NAN, 2, "null"},
		{INFINITY, 2, "null"},
		{-INFINITY, 2, "null"},
	};
	struct json j;
	struct out *o;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		o = out_mem();
		json_init(&j, o);
		json_num(&j, cases[i].v, cases[i].decimals);
		assert_string_equal(out_mem_data(o, NULL), cases[i].want);
		out_abort(o);
	}
}

static void test_json_num_takes_the_largest_double(void **state)
{
	struct out *o = out_mem();
	struct json j;
	size_t len;

	json_init(&j, o);
	json_num(&j, -1.7976931348623157e308, 20);
	out_mem_data(o, &len);
	assert_int_equal(len, 310);
	out_abort(o);
}

RUN_TESTS(T(test_json_nests_and_separates), T(test_json_num_has_no_needless_digits),
	T(test_json_num_takes_the_largest_double))
