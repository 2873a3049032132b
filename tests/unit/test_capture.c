/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures: what is written is what is read, now and from the first version on. */
#include "capture_bytes.h"

static void test_what_is_read_is_what_was_written(void **state)
{
	struct text want = text_new(), got = text_new();
	struct capture_info info;
	struct buf b = BUF_INIT;
	struct err e;

	sample_stream(want.sink);
	sample_capture(&b, 1000);

	assert_int_equal(read_text(&b, &got, &info, &e), 0);
	assert_string_equal(text_of(&got), text_of(&want));
	assert_int_equal(info.complete, 1);
	assert_int_equal(info.blocks, 1);
	assert_int_equal(info.tail_bytes, 0);
	assert_int_equal(info.file_bytes, b.len);
	assert_int_equal(info.records[RECORD_SAMPLE], 4);
	assert_int_equal(info.records[RECORD_STRING], 6);
	assert_int_equal(info.unknown_records + info.unknown_fields, 0);
	text_free(&want);
	text_free(&got);
	buf_release(&b);
}

static void test_any_stream_comes_back_in_any_blocks(void **state)
{
	struct capture_info info;
	struct err e;
	uint64_t seed;

	for (seed = 1; seed <= 60; seed++) {
		struct text want = text_new(), got = text_new();
		struct buf b = BUF_INIT;
		unsigned nr = (unsigned)(seed * 37 % 2000);

		random_stream(want.sink, seed, nr);
		random_capture(&b, seed, nr, 1 + (unsigned)(seed * seed % 97));
		assert_int_equal(read_text(&b, &got, &info, &e), 0);
		assert_string_equal(text_of(&got), text_of(&want));
		assert_int_equal(info.complete, 1);
		text_free(&want);
		text_free(&got);
		buf_release(&b);
	}
}

static void test_same_stream_same_bytes(void **state)
{
	struct buf a = BUF_INIT, b = BUF_INIT;

	random_capture(&a, 5, 3000, 200);
	random_capture(&b, 5, 3000, 200);

	assert_bytes(a.data, a.len, b.data, b.len);
	buf_release(&a);
	buf_release(&b);
}

static void test_a_full_block_is_written_without_being_asked(void **state)
{
	struct capture_writer *w;
	struct buf b = BUF_INIT;
	struct err e = {0};
	static char text[10000];
	uint64_t st = 1;
	uint32_t id;
	size_t i;

	assert_int_equal(capture_writer_mem(&w, &b), 0);
	PUT(capture_writer_sink(w), .kind = RECORD_RUN);
	for (id = 1; id <= 300; id++) {
		for (i = 0; i < sizeof(text); i++)
			text[i] = (char)test_random(&st);
		PUT(capture_writer_sink(w), .kind = RECORD_STRING,
			.string = {id, sizeof(text), text});
	}
	assert_true(capture_writer_bytes(w) > 2000000);
	assert_int_equal(capture_writer_finish(w, &e), 0);
	buf_release(&b);
}

/* What a reader must hold is bounded by the file's size, also for files of ours. */
static void test_very_compressible_captures_are_stored_and_stay_readable(void **state)
{
	struct capture_info info;
	struct capture_writer *w;
	struct buf b = BUF_INIT;
	struct err e = {0};
	static char zeros[1 << 20];
	uint32_t id;

	assert_int_equal(capture_writer_mem(&w, &b), 0);
	PUT(capture_writer_sink(w), .kind = RECORD_RUN);
	for (id = 1; id <= 100; id++)
		PUT(capture_writer_sink(w), .kind = RECORD_STRING,
			.string = {id, sizeof(zeros), zeros});
	assert_int_equal(capture_writer_finish(w, &e), 0);

	assert_int_equal(capture_read_mem("z", b.data, b.len, &ignore, &info, &e), 0);
	assert_true(info.raw_bytes > 100000000);
	assert_true(file_ratio_ok(info.raw_bytes, info.file_bytes));
	buf_release(&b);
}

static void test_a_steady_sample_takes_at_most_six_bytes(void **state)
{
	struct capture_writer *w;
	struct buf b = BUF_INIT;
	struct err e = {0};
	uint64_t st = 1, time[2] = {0, 400000}, header, tick;
	unsigned i, cpu;
	uint32_t id;

	assert_int_equal(capture_writer_mem(&w, &b), 0);
	PUT(capture_writer_sink(w), .kind = RECORD_RUN);
	put_string(capture_writer_sink(w), 1, "a");
	PUT(capture_writer_sink(w), .kind = RECORD_PROCESS, .process = {.id = 1});
	for (id = 1; id <= 8; id++)
		PUT(capture_writer_sink(w), .kind = RECORD_THREAD, .thread = {id, 1, id, 1});
	PUT(capture_writer_sink(w), .kind = RECORD_FRAME, .frame = {1, {0, 0, FRAME_KERNEL, 0, 0}});
	for (id = 1; id <= 1000; id++)
		PUT(capture_writer_sink(w), .kind = RECORD_STACK, .stack = {id, id - 1, 1});
	assert_int_equal(capture_writer_flush(w, &e), 0);
	header = capture_writer_bytes(w);
	for (i = 0; i < 20000; i++) {
		cpu = i % 2;
		/* 997 Hz, up to 8 us late; hot stacks are hotter than others */
		tick = 1003009 + test_random(&st) % 8192;
		time[cpu] += tick;
		PUT(capture_writer_sink(w), .kind = RECORD_SAMPLE,
			.sample = {time[cpu], tick, 0, (uint32_t)(1 + (i / 40) % 8),
				(uint32_t)(1 + test_random(&st) % (1 + test_random(&st) % 500)),
				cpu, VALUE_CPU, STACK_FP_END});
		if (i % 2000 == 1999)
			assert_int_equal(capture_writer_flush(w, &e), 0);
	}
	assert_in_range(capture_writer_bytes(w) - header, 0, 20000 * 6);
	assert_int_equal(capture_writer_finish(w, &e), 0);
	buf_release(&b);
}

/*
 * tests/data/capture-1.0.prof was written by the first version of the format
 * from sample_stream(), with 14 records a block: stored and deflated ones. It is never written
 *again: a new minor version adds a file of its own. This made it:
 *
 *	PROFBPF_WRITE_GOLDEN=tests/data/capture-1.0.prof build/release/tests/unit/test_capture
 */
static void test_a_capture_of_version_1_0_reads_as_ever(void **state)
{
	const char *golden = "tests/data/capture-1.0.prof";
	struct text want = text_new(), got = text_new();
	struct capture_info info;
	struct err e = {0};

	if (getenv("PROFBPF_WRITE_GOLDEN")) {
		struct buf b = BUF_INIT;

		sample_capture(&b, 14);
		write_file(getenv("PROFBPF_WRITE_GOLDEN"), b.data, b.len);
		buf_release(&b);
	}
	sample_stream(want.sink);
	assert_int_equal(capture_read(golden, got.sink, &info, &e), 0);
	assert_string_equal(text_of(&got), text_of(&want));
	assert_int_equal(info.blocks, 3);
	assert_int_equal(info.complete, 1);
	text_free(&want);
	text_free(&got);
}

RUN_TESTS(T(test_what_is_read_is_what_was_written), T(test_any_stream_comes_back_in_any_blocks),
	T(test_same_stream_same_bytes), T(test_a_full_block_is_written_without_being_asked),
	T(test_very_compressible_captures_are_stored_and_stay_readable),
	T(test_a_steady_sample_takes_at_most_six_bytes),
	T(test_a_capture_of_version_1_0_reads_as_ever))
