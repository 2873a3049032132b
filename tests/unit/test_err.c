/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "user/base/err.h"

static void test_err_set_returns_code_and_keeps_sentence(void **state)
{
	struct err e = {0};

	assert_int_equal(err_set(&e, -EBADMSG, "chunk %s at %d", "STKS", 4096), -EBADMSG);

	assert_int_equal(e.code, -EBADMSG);
	assert_string_equal(e.msg, "chunk STKS at 4096");
	assert_string_equal(e.hint, "");
}

static void test_err_set_clears_an_earlier_hint(void **state)
{
	struct err e = {0};

	err_set(&e, -ENOENT, "first");
	err_hint(&e, "look");
	err_set(&e, -EIO, "second");

	assert_string_equal(e.hint, "");
}

static void test_err_prefix_puts_context_before_and_keeps_code_and_hint(void **state)
{
	struct err e = {0};

	err_set(&e, -EPROTO, "version 9");
	err_hint(&e, "newer profbpf");

	assert_int_equal(err_prefix(&e, "%s", "a.prof"), -EPROTO);
	assert_string_equal(e.msg, "a.prof: version 9");
	assert_string_equal(e.hint, "newer profbpf");
}

static void test_err_accepts_its_own_text_as_argument(void **state)
{
	struct err e = {0};

	err_set(&e, -EIO, "inner");
	err_set(&e, -EIO, "outer (%s)", e.msg);

	assert_string_equal(e.msg, "outer (inner)");
}

static void test_err_may_be_null(void **state)
{
	assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(err_prefix(NULL, "x"), -EIO);
	assert_int_equal(err_sys(NULL, -ENOENT, "x"), -ENOENT);
	err_hint(NULL, "x");
}

static void test_err_sys_adds_the_reason(void **state)
{
	struct err e = {0};

	assert_int_equal(err_sys(&e, -ENOENT, "open %s", "a"), -ENOENT);

	assert_string_equal(e.msg, "open a: No such file or directory");
}

static void test_err_sys_tells_numbers_without_a_name(void **state)
{
	struct err e = {0};

	err_sys(&e, -9999, "ioctl");

	assert_string_equal(e.msg, "ioctl: error 9999");
}

static void test_err_cuts_long_text_between_characters(void **state)
{
	char text[ERR_MSG_MAX * 2];
	struct err e = {0};
	size_t i, shift;

	for (shift = 0; shift < 3; shift++) {
		for (i = 0; i < shift; i++)
			text[i] = 'a';
		for (; i + 3 < sizeof(text); i += 3)
			memcpy(text + i, "\u20ac", 3);
		text[i] = '\0';

		err_set(&e, -EIO, "%s", text);

		assert_true(strlen(e.msg) >= ERR_MSG_MAX - 4);
		assert_int_equal((strlen(e.msg) - shift) % 3, 0);
	}
}

static void test_err_long_context_leaves_room_for_the_reason(void **state)
{
	char text[ERR_MSG_MAX * 2];
	struct err e = {0};

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, -EIO, "the reason");
	err_prefix(&e, "%s", text);

	assert_contains(e.msg, "x: the reason");
}

RUN_TESTS(T(test_err_set_returns_code_and_keeps_sentence), T(test_err_set_clears_an_earlier_hint),
	T(test_err_prefix_puts_context_before_and_keeps_code_and_hint),
	T(test_err_accepts_its_own_text_as_argument), T(test_err_may_be_null),
	T(test_err_sys_adds_the_reason), T(test_err_sys_tells_numbers_without_a_name),
	T(test_err_cuts_long_text_between_characters),
	T(test_err_long_context_leaves_room_for_the_reason))
