/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "capture_support.h"

static void test_the_sample_stream_is_sound(void **state)
{
	struct sink *v = verify_sink_new();
	struct err e = {0};

	sample_stream(v);
	assert_int_equal(verify_sink_finish(v, &e), 0);
	verify_sink_free(v);
	verify_sink_free(NULL);
}

static void test_nothing_is_not_a_stream(void **state)
{
	struct sink *v = verify_sink_new();
	struct err e = {0};

	assert_int_equal(verify_sink_finish(v, &e), -EBADMSG);
	verify_sink_free(v);
}

/* A sound start; then the records of a case, the last of which must be refused. */
static void breach(const struct record *records, size_t nr, const char *sentence)
{
	struct sink *v = verify_sink_new();
	struct err e = {0};
	size_t i;
	int ret;

	PUT(v, .kind = RECORD_RUN);
	put_string(v, 1, "a");
	put_string(v, 2, "");
	PUT(v, .kind = RECORD_PROCESS, .process = {.id = 1, .pid = 5});
	PUT(v, .kind = RECORD_THREAD, .thread = {1, 1, 5, 1});
	PUT(v, .kind = RECORD_FRAME, .frame = {1, {1, 0, FRAME_KERNEL, 0, 0}});
	PUT(v, .kind = RECORD_STACK, .stack = {1, 0, 1});
	for (i = 0; i + 1 < nr; i++)
		assert_int_equal(put(v, records[i]), 0);
	ret = sink_put(v, &records[i], &e);
	assert_int_equal(ret, sentence ? -EBADMSG : 0);
	if (sentence) {
		assert_contains(e.msg, sentence);
		assert_int_equal(strncmp(e.msg, "record ", 7), 0);
	}
	verify_sink_free(v);
}
#define BREACH(sentence, ...)                                                                      \
	breach((const struct record[]){__VA_ARGS__},                                               \
		ARRAY_LEN(((const struct record[]){__VA_ARGS__})), sentence)
#define SAMPLE(time, on_cpu)                                                                       \
	{                                                                                          \
		.kind = RECORD_SAMPLE, .sample = {                                                 \
			.time_ns = time,                                                           \
			.thread = 1,                                                               \
			.cpu = on_cpu,                                                             \
			.type = VALUE_CPU                                                          \
		}                                                                                  \
	}

static void test_repetitions_are_found(void **state)
{
	BREACH("string: id 3 repeats an earlier one",
		{.kind = RECORD_STRING, .string = {3, 1, "a"}});
	BREACH("string: id 3 repeats an earlier one",
		{.kind = RECORD_STRING, .string = {3, 0, ""}});
	BREACH("frame: id 2 repeats id 1",
		{.kind = RECORD_FRAME, .frame = {2, {1, 0, FRAME_KERNEL, 0, 0}}});
	BREACH("stack: id 2 repeats id 1", {.kind = RECORD_STACK, .stack = {2, 0, 1}});
	BREACH(NULL, {.kind = RECORD_RESTART, .restart = {1}},
		{.kind = RECORD_STACK, .stack = {1, 0, 1}});
	BREACH("process: id 2 repeats id 1",
		{.kind = RECORD_PROCESS, .process = {.id = 2, .pid = 5}});
	BREACH("thread: id 2 repeats id 1", {.kind = RECORD_THREAD, .thread = {2, 1, 5, 1}});
	BREACH(NULL, {.kind = RECORD_THREAD, .thread = {2, 1, 5, 2}});
}

static void test_time_runs_forward_on_each_cpu(void **state)
{
	BREACH("sample: time 9 ns on CPU 3 comes after 10 ns", SAMPLE(10, 3), SAMPLE(9, 3));
	BREACH(NULL, SAMPLE(10, 3), SAMPLE(9, 4), SAMPLE(10, 3), SAMPLE(11, 3));
}

static void test_names_have_text_or_a_reason_and_no_gaps(void **state)
{
	BREACH("name: frame 1 has neither a name nor a reason",
		{.kind = RECORD_NAME, .name = {.frame = 1}});
	BREACH("name: frame 1 has depth 1 before depth 0",
		{.kind = RECORD_NAME, .name = {.frame = 1, .name = 1, .depth = 1}});
	BREACH(NULL, {.kind = RECORD_NAME, .name = {.frame = 1, .name = 1}},
		{.kind = RECORD_NAME, .name = {.frame = 1, .name = 1, .depth = 1}},
		{.kind = RECORD_NAME, .name = {.frame = 1, .reason = REASON_NO_SYMBOL}},
		{.kind = RECORD_NAME, .name = {.frame = 1, .name = 1, .depth = 2}});
}

static void test_a_loss_does_not_end_before_it_begins(void **state)
{
	BREACH("loss: ends before it begins",
		{.kind = RECORD_LOSS, .loss = {.cause = LOSS_RING_FULL, .from_ns = 2, .to_ns = 1}});
}

static void test_rules_of_the_stream_are_checked_too(void **state)
{
	BREACH("record 7: stack: frame: frame 9 is not yet defined",
		{.kind = RECORD_STACK, .stack = {2, 1, 9}});
}

static int ticks(uint64_t ticks, uint64_t sampled, uint64_t idle, int end)
{
	struct sink *v = verify_sink_new();
	struct err e = {0};
	int ret;

	PUT(v, .kind = RECORD_RUN);
	/* earlier ones are replaced */
	PUT(v, .kind = RECORD_COUNTER, .counter = {7, COUNTER_TICKS, 1});
	PUT(v, .kind = RECORD_COUNTER, .counter = {7, COUNTER_TICKS, ticks});
	PUT(v, .kind = RECORD_COUNTER, .counter = {7, COUNTER_SAMPLED, sampled});
	PUT(v, .kind = RECORD_COUNTER, .counter = {7, COUNTER_IDLE, idle});
	PUT(v, .kind = RECORD_COUNTER, .counter = {7, COUNTER_LOST_RING, 1});
	PUT(v, .kind = RECORD_COUNTER, .counter = {7, COUNTER_THROTTLED, 1000});
	if (end)
		PUT(v, .kind = RECORD_END);
	ret = verify_sink_finish(v, &e);
	if (ret)
		assert_contains(e.msg, "counters of CPU 7: 10 ticks, but their parts add up to 11");
	verify_sink_free(v);
	return ret;
}

static void test_every_tick_went_somewhere(void **state)
{
	assert_int_equal(ticks(10, 4, 5, 1), 0);
	assert_int_equal(ticks(10, 5, 5, 1), -EBADMSG);
	assert_int_equal(ticks(10, 5, 5, 0), 0); /* interrupted: read while counting */
}

RUN_TESTS(T(test_the_sample_stream_is_sound), T(test_nothing_is_not_a_stream),
	T(test_repetitions_are_found), T(test_time_runs_forward_on_each_cpu),
	T(test_names_have_text_or_a_reason_and_no_gaps),
	T(test_a_loss_does_not_end_before_it_begins), T(test_rules_of_the_stream_are_checked_too),
	T(test_every_tick_went_somewhere))
