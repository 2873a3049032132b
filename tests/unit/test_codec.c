/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "capture_support.h"
#include "user/base/cursor.h"
#include "user/capture/codec.h"
#include "user/capture/table.h"

/* Encodes records one by one and says how many bytes the last one took. */
struct coder {
	struct codec *codec;
	struct stream stream;
	struct buf out;
};

static struct coder coder_new(void)
{
	struct coder c = {.codec = codec_new(), .out = BUF_INIT};

	assert_non_null(c.codec);
	return c;
}

static void coder_free(struct coder *c)
{
	codec_free(c->codec);
	buf_release(&c->out);
}

static size_t encode(struct coder *c, struct record r)
{
	struct stream before = c->stream;
	struct err e = {0};
	size_t len = c->out.len;
	int ret = stream_take(&c->stream, &r, &e);

	if (ret)
		print_error("%s\n", e.msg);
	assert_int_equal(ret, 0);
	codec_encode(c->codec, &before, &r, &c->out);
	assert_int_equal(c->out.err, 0);
	return c->out.len - len;
}
#define ENCODE(c, ...) encode(c, (struct record){__VA_ARGS__})

static void begin(struct coder *c)
{
	uint32_t i;

	ENCODE(c, .kind = RECORD_RUN);
	ENCODE(c, .kind = RECORD_STRING, .string = {1, 1, "a"});
	ENCODE(c, .kind = RECORD_PROCESS, .process = {.id = 1});
	ENCODE(c, .kind = RECORD_THREAD, .thread = {1, 1, 1, 1});
	ENCODE(c, .kind = RECORD_THREAD, .thread = {2, 1, 2, 1});
	ENCODE(c, .kind = RECORD_FRAME, .frame = {1, {0xffffffff81000000, 0, FRAME_KERNEL, 0, 0}});
	for (i = 1; i <= 300; i++)
		ENCODE(c, .kind = RECORD_STACK, .stack = {i, i - 1, 1});
}

static struct record sample(
	uint64_t time, uint64_t value, uint32_t cpu, uint32_t thread, uint32_t stack)
{
	return (struct record){.kind = RECORD_SAMPLE,
		.sample = {.time_ns = time,
			.value = value,
			.thread = thread,
			.stack = stack,
			.cpu = cpu,
			.type = VALUE_CPU,
			.result = STACK_FP_END}};
}

static void test_record_layout_is_kind_length_fields(void **state)
{
	struct coder c = coder_new();

	ENCODE(&c, .kind = RECORD_RUN, .run = {1, 300, 2, 0, 0});
	ENCODE(&c, .kind = RECORD_STRING, .string = {1, 3, "abc"});
	ENCODE(&c, .kind = RECORD_STRING, .string = {2, 0, ""});
	ENCODE(&c, .kind = RECORD_META, .meta = {1, 0, 0});
	ENCODE(&c, .kind = RECORD_FRAME, .frame = {1, {UINT64_MAX, 0, FRAME_KERNEL, 0, 0}});
	ENCODE(&c, .kind = RECORD_STACK, .stack = {1, 0, 1});
	ENCODE(&c, .kind = RECORD_STACK, .stack = {2, 1, 1});

	assert_buf(&c.out, "\x01\x04\x01\xac\x02\x02" /* trailing zeros are not stored */
			   "\x02\x04\x03"
			   "abc" /* the id is not stored */
			   "\x02\x00"
			   "\x03\x01\x01"
			   "\x07\x02\x02\x01" /* -1 as a signed number */
			   "\x08\x02\x01\x01" /* parent: 1 back from id 1 is the root */
			   "\x08\x02\x01\x01");
	coder_free(&c);
}

static void test_steady_sample_takes_a_mask_and_the_jitter(void **state)
{
	struct coder c = coder_new();

	begin(&c);
	encode(&c, sample(1000000, 1000000, 0, 1, 7));
	/* exactly on time, nothing changed: kind, length, empty mask */
	assert_int_equal(encode(&c, sample(2000000, 1000000, 0, 1, 7)), 3);
	/* 2 us late, which the value says too: two bytes for the time alone */
	assert_int_equal(encode(&c, sample(3002000, 1002000, 0, 1, 7)), 5);
	/* another stack with an id above 127: two bytes */
	assert_int_equal(encode(&c, sample(4004000, 1002000, 0, 1, 200)), 5);
	coder_free(&c);
}

static void test_cpus_are_predicted_apart(void **state)
{
	struct coder c = coder_new();
	uint64_t i;

	begin(&c);
	encode(&c, sample(1000000, 1000000, 0, 1, 7));
	encode(&c, sample(1300000, 1000000, 1, 2, 9));
	for (i = 2; i < 10; i++) {
		/* only the CPU changes: its thread, stack and time follow */
		assert_int_equal(encode(&c, sample(i * 1000000, 1000000, 0, 1, 7)), 4);
		assert_int_equal(encode(&c, sample(i * 1000000 + 300000, 1000000, 1, 2, 9)), 4);
	}
	coder_free(&c);
}

static void test_a_stack_just_defined_is_expected(void **state)
{
	struct coder c = coder_new();

	begin(&c);
	encode(&c, sample(1000000, 1000000, 0, 1, 7));
	ENCODE(&c, .kind = RECORD_STACK, .stack = {301, 5, 1});
	assert_int_equal(encode(&c, sample(2000000, 1000000, 0, 1, 301)), 3);
	coder_free(&c);
}

static void test_idle_time_between_samples_costs_two_differences(void **state)
{
	struct coder c = coder_new();

	begin(&c);
	encode(&c, sample(1000000, 1000000, 0, 1, 7));
	/* 1 s of idleness: the time is late by 999 periods, the value is not that long */
	assert_in_range(encode(&c, sample(1000000000, 1000000, 0, 1, 7)), 3, 3 + 5 + 5);
	coder_free(&c);
}

/* Everything a decoder needs is in its block and the dictionaries. */
static void test_blocks_do_not_depend_on_earlier_samples(void **state)
{
	struct coder c = coder_new();
	struct codec *fresh = codec_new();
	struct stream before;
	struct cursor in;
	struct record r, want = sample(5000000, 1000000, 3, 2, 40);
	struct err e = {0};
	size_t from, len;

	begin(&c);
	encode(&c, sample(1000000, 1000000, 3, 1, 7));
	codec_block(c.codec);
	before = c.stream;
	from = c.out.len;
	encode(&c, want);

	cursor_init(&in, c.out.data + from, c.out.len - from);
	assert_int_equal(cursor_varint(&in), RECORD_SAMPLE);
	len = cursor_varint(&in);
	assert_int_equal(len, cursor_left(&in));
	assert_int_equal(codec_decode(fresh, &before, RECORD_SAMPLE, &in, &r, &e), 0);
	assert_memory_equal(&r.sample, &want.sample, offsetof(struct record_sample, result) + 1);
	codec_free(fresh);
	coder_free(&c);
}

static void test_extreme_values_wrap_and_come_back(void **state)
{
	static const uint64_t values[] = {0, 1, UINT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 1, 5};
	struct coder c = coder_new();
	struct codec *reader = codec_new();
	struct stream st;
	struct err e = {0};
	struct cursor in;
	struct record r;
	size_t i, j, from;

	begin(&c);
	for (i = 0; i < ARRAY_LEN(values); i++) {
		for (j = 0; j < ARRAY_LEN(values); j++) {
			struct record want =
				sample(values[i], values[j], (uint32_t)values[j], 1, 1);

			st = c.stream;
			from = c.out.len;
			encode(&c, want);
			cursor_init(&in, c.out.data + from, c.out.len - from);
			cursor_varint(&in);
			cursor_varint(&in);
			assert_int_equal(codec_decode(reader, &st, RECORD_SAMPLE, &in, &r, &e), 0);
			assert_int_equal(cursor_left(&in), 0);
			assert_memory_equal(&r.sample, &want.sample,
				offsetof(struct record_sample, result) + 1);
		}
	}
	codec_free(reader);
	coder_free(&c);
}

static int decode(unsigned kind, const char *payload, size_t len, struct record *r, struct err *e)
{
	struct codec *c = codec_new();
	struct stream s = {0};
	struct cursor in;
	int ret;

	cursor_init(&in, payload, len);
	memset(r, 0xee, sizeof(*r));
	ret = codec_decode(c, &s, kind, &in, r, e);
	codec_free(c);
	return ret;
}

static void test_missing_trailing_fields_are_zero(void **state)
{
	struct record r;
	struct err e = {0};

	assert_int_equal(decode(RECORD_RUN, "\x05", 1, &r, &e), 0);
	assert_int_equal(r.run.start_mono_ns, 5);
	assert_int_equal(r.run.start_real_ns, 0);
	assert_int_equal(r.run.value_types, 0);
	assert_int_equal(decode(RECORD_END, "", 0, &r, &e), 0);
	assert_int_equal(r.end.samples, 0);
}

static void test_malformed_fields_are_refused_with_a_sentence(void **state)
{
	static const struct {
		unsigned kind;
		const char *payload;
		size_t len;
		const char *sentence;
	} cases[] = {
		{RECORD_RUN, "\x80", 1, "run: start_mono_ns is cut short"},
		{RECORD_RUN, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10,
			"run: start_mono_ns is cut short"},
		{RECORD_RUN, "\x01\x01\x01\xff\xff\xff\xff\x1f", 8,
			"run: cpus 8589934591 is too large"},
		{RECORD_STRING,
			"\x05"
			"abc",
			4, "string: data is cut short"},
		{RECORD_STACK, "\x00\x01", 2, "stack: parent: 0 back from 1 is no earlier one"},
		{RECORD_STACK, "\x02\x01", 2, "stack: parent: 2 back from 1 is no earlier one"},
		{RECORD_SAMPLE, "\x01\x80\x02", 3, "sample: type 256 is too large"},
		{RECORD_SAMPLE, "\x04", 1, "sample: time_ns is cut short"},
	};
	struct record r;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = {0};

		assert_int_equal(
			decode(cases[i].kind, cases[i].payload, cases[i].len, &r, &e), -EBADMSG);
		assert_contains(e.msg, cases[i].sentence);
	}
}

RUN_TESTS(T(test_record_layout_is_kind_length_fields),
	T(test_steady_sample_takes_a_mask_and_the_jitter), T(test_cpus_are_predicted_apart),
	T(test_a_stack_just_defined_is_expected),
	T(test_idle_time_between_samples_costs_two_differences),
	T(test_blocks_do_not_depend_on_earlier_samples), T(test_extreme_values_wrap_and_come_back),
	T(test_missing_trailing_fields_are_zero),
	T(test_malformed_fields_are_refused_with_a_sentence))
