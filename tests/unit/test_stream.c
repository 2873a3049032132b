/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "capture_support.h"
#include "user/capture/stream.h"

#define OK NULL

/* Takes records one after the other; the last one must be refused with @sentence (NULL: taken). */
static void take(const struct record *records, size_t nr, const char *sentence)
{
	struct stream s = {0}, before;
	struct err e = {0};
	size_t i;

	for (i = 0; i + 1 < nr; i++)
		assert_int_equal(stream_take(&s, &records[i], &e), 0);
	before = s;
	if (!sentence) {
		assert_int_equal(stream_take(&s, &records[i], &e), 0);
		return;
	}
	assert_int_equal(stream_take(&s, &records[i], &e), -EBADMSG);
	assert_contains(e.msg, sentence);
	assert_memory_equal(&s, &before, sizeof(s));
}
#define TAKE(sentence, ...)                                                                        \
	take((const struct record[]){{.kind = RECORD_RUN}, __VA_ARGS__},                           \
		ARRAY_LEN(((const struct record[]){{.kind = RECORD_RUN}, __VA_ARGS__})), sentence)

#define STRING1                                                                                    \
	{                                                                                          \
		.kind = RECORD_STRING, .string = { 1, 1, "a" }                                     \
	}
#define PROCESS1                                                                                   \
	{                                                                                          \
		.kind = RECORD_PROCESS, .process = {.id = 1 }                                      \
	}
#define THREAD1                                                                                    \
	{                                                                                          \
		.kind = RECORD_THREAD, .thread = {.id = 1, .process = 1 }                          \
	}
#define MODULE1                                                                                    \
	{                                                                                          \
		.kind = RECORD_MODULE, .module = {.id = 1, .kind = MODULE_KIND_FILE }              \
	}
#define FRAME1                                                                                     \
	{                                                                                          \
		.kind = RECORD_FRAME, .frame = { 1, {0, 0, FRAME_KERNEL, 0, 0} }                   \
	}
#define STACK1                                                                                     \
	{                                                                                          \
		.kind = RECORD_STACK, .stack = { 1, 0, 1 }                                         \
	}
#define SAMPLE(...)                                                                                \
	{                                                                                          \
		.kind = RECORD_SAMPLE, .sample = {.type = VALUE_CPU, __VA_ARGS__ }                 \
	}

static void test_run_comes_first_and_once(void **state)
{
	struct stream s = {0};
	struct err e = {0};

	assert_int_equal(stream_take(&s, &(struct record)STRING1, &e), -EBADMSG);
	assert_contains(e.msg, "string: the first record must be a run record");
	TAKE("run: there is one already", {.kind = RECORD_RUN});
}

static void test_ids_are_dense(void **state)
{
	TAKE("string: id 2 where 1 is next", {.kind = RECORD_STRING, .string = {2, 1, "a"}});
	TAKE("string: id 1 where 2 is next", STRING1, STRING1);
	TAKE("frame: id 7 where 1 is next", {.kind = RECORD_FRAME, .frame = {.id = 7}});
	TAKE("module: id 2, the next is 1",
		{.kind = RECORD_MODULE, .module = {.id = 2, .kind = 1}});
	TAKE("module: id 0, the next is 1",
		{.kind = RECORD_MODULE, .module = {.id = 0, .kind = 1}});
	TAKE(OK, MODULE1, MODULE1); /* a later one replaces */
}

static void test_references_must_exist(void **state)
{
	TAKE("meta: key: no string given", {.kind = RECORD_META});
	TAKE("meta: key: string 1 is not yet defined", {.kind = RECORD_META, .meta = {.key = 1}});
	TAKE("meta: text: string 9 is not yet defined", STRING1,
		{.kind = RECORD_META, .meta = {.key = 1, .text = 9}});
	TAKE("thread: process: no process given", {.kind = RECORD_THREAD, .thread = {.id = 1}});
	TAKE("stack: frame: frame 4294967295 is not yet defined",
		{.kind = RECORD_STACK, .stack = {1, 0, UINT32_MAX}});
	TAKE("stack: parent 1 of stack 1 comes after it", FRAME1,
		{.kind = RECORD_STACK, .stack = {1, 1, 1}});
	TAKE("sample: thread: no thread given", SAMPLE(.thread = 0));
	TAKE("sample: stack: stack 2 is not yet defined", PROCESS1, THREAD1, FRAME1, STACK1,
		SAMPLE(.thread = 1, .stack = 2));
	TAKE(OK, PROCESS1, THREAD1, SAMPLE(.thread = 1, .stack = 0));
	TAKE("name: frame: frame 1 is not yet defined",
		{.kind = RECORD_NAME, .name = {.frame = 1}});
}

static void test_a_frames_owner_depends_on_its_kind(void **state)
{
	TAKE("frame: owner: no module given",
		{.kind = RECORD_FRAME, .frame = {1, {0, 0, FRAME_MODULE, 0, 0}}});
	TAKE("frame: owner: module 1 is not yet defined",
		{.kind = RECORD_FRAME, .frame = {1, {0, 1, FRAME_MODULE, 0, 0}}});
	TAKE(OK, MODULE1, {.kind = RECORD_FRAME, .frame = {1, {0, 1, FRAME_MODULE, 0, 0}}});
	TAKE("frame: owner: process 1 is not yet defined", MODULE1,
		{.kind = RECORD_FRAME, .frame = {1, {0, 1, FRAME_JIT, 0, 0}}});
	TAKE("frame: addr: string 4294967297 is not yet defined", STRING1,
		{.kind = RECORD_FRAME,
			.frame = {1, {((uint64_t)1 << 32) + 1, 0, FRAME_NAMED, 0, 0}}});
	TAKE(OK, STRING1, {.kind = RECORD_FRAME, .frame = {1, {1, 0, FRAME_NAMED, 0, 0}}});
}

static void test_a_restart_forgets_stacks_and_nothing_else(void **state)
{
	const struct record restart1 = {.kind = RECORD_RESTART, .restart = {1}};

	TAKE("sample: stack: stack 1 is not yet defined", PROCESS1, THREAD1, FRAME1, STACK1,
		restart1, SAMPLE(.thread = 1, .stack = 1));
	TAKE(OK, PROCESS1, THREAD1, FRAME1, STACK1, restart1, STACK1,
		SAMPLE(.thread = 1, .stack = 1));
	TAKE("restart: epoch 2 after epoch 0", {.kind = RECORD_RESTART, .restart = {2}});
	TAKE("restart: epoch 1 after epoch 1", restart1, restart1);
}

static void test_end_counts_the_samples_and_is_last(void **state)
{
	const struct record end1 = {.kind = RECORD_END, .end = {.samples = 1}};

	TAKE("end: says 1 samples, there are 0", end1);
	TAKE(OK, PROCESS1, THREAD1, SAMPLE(.thread = 1), end1);
	TAKE("string: comes after the end record", PROCESS1, THREAD1, SAMPLE(.thread = 1), end1,
		STRING1);
}

static void test_unknown_numbers_are_refused(void **state)
{
	TAKE("sample: type 0 does not exist", PROCESS1, THREAD1,
		{.kind = RECORD_SAMPLE, .sample = {.thread = 1}});
	TAKE("sample: result 200 does not exist", PROCESS1, THREAD1,
		SAMPLE(.thread = 1, .result = 200));
	TAKE("record kind 77 does not exist", {.kind = 77});
	TAKE("string: 16777217 bytes, the limit is 16777216",
		{.kind = RECORD_STRING, .string = {1, RECORD_STRING_MAX + 1, "a"}});
}

static void test_degrade_replaces_newer_numbers_or_drops_the_record(void **state)
{
	struct record frame = {.kind = RECORD_FRAME, .frame = {1, {5, 6, 99, 250, 0}}};
	struct record type = {.kind = RECORD_SAMPLE, .sample = {.type = 99}};
	struct record fine = {.kind = RECORD_SAMPLE, .sample = {.type = VALUE_CPU}};
	struct record module = {.kind = RECORD_MODULE, .module = {.kind = 99}};

	assert_int_equal(stream_degrade(&frame), 2);
	assert_int_equal(frame.frame.frame.kind, FRAME_NONE);
	assert_int_equal(frame.frame.frame.reason, REASON_NONE);
	assert_int_equal(stream_degrade(&type), -1);
	assert_int_equal(stream_degrade(&fine), 0);
	assert_int_equal(stream_degrade(&module), 1);
	assert_int_equal(module.module.kind, MODULE_KIND_FILE);
}

RUN_TESTS(T(test_run_comes_first_and_once), T(test_ids_are_dense), T(test_references_must_exist),
	T(test_a_frames_owner_depends_on_its_kind),
	T(test_a_restart_forgets_stacks_and_nothing_else),
	T(test_end_counts_the_samples_and_is_last), T(test_unknown_numbers_are_refused),
	T(test_degrade_replaces_newer_numbers_or_drops_the_record))
