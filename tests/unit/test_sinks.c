/* SPDX-License-Identifier: BSD-2-Clause */
/* The small sinks: tee and dump. */
#include <errno.h>

#include "capture_support.h"

static void test_a_tee_feeds_both(void **state)
{
	struct text a = text_new(), b = text_new(), want = text_new();
	struct sink *tee = sink_tee(a.sink, b.sink);

	assert_non_null(tee);
	sample_stream(want.sink);
	sample_stream(tee);

	assert_string_equal(text_of(&a), text_of(&want));
	assert_string_equal(text_of(&b), text_of(&want));
	free(tee);
	text_free(&a);
	text_free(&b);
	text_free(&want);
}

static int refuse_put(struct sink *s, const struct record *r, struct err *e)
{
	(void)s;
	(void)r;
	return err_set(e, -ENOSPC, "full");
}

static void test_a_tee_stops_at_the_first_refusal(void **state)
{
	struct sink refuse = {refuse_put};
	struct text a = text_new();
	struct sink *tee = sink_tee(&refuse, a.sink);
	struct record r = {.kind = RECORD_RUN};
	struct err e = {0};

	assert_int_equal(sink_put(tee, &r, &e), -ENOSPC);
	assert_string_equal(e.msg, "full");
	assert_string_equal(text_of(&a), "");
	free(tee);
	text_free(&a);
}

static void test_dump_is_one_escaped_line_a_record(void **state)
{
	struct text t = text_new();

	sample_stream(t.sink);
	assert_string_equal(text_of(&t),
		"run start_mono_ns=1000000 start_real_ns=1700000000000000000 period_ns=10101010 "
		"cpus=2 value_types=2\n"
		"string id=1 data=command\n"
		"string id=2 data=profbpf -p 42\n"
		"meta key=1 text=2 num=0\n"
		"string id=3 data=app;\\x1b[1m\\xff\n"
		"process id=1 pid=42 exec_id=3 start_boot_ns=5000000000 name=3 exe=0 cmdline=0\n"
		"thread id=1 process=1 tid=42 name=3\n"
		"thread id=2 process=1 tid=43 name=3\n"
		"string id=4 data=/usr/bin/app\n"
		"module id=1 kind=1 (file) dev=8388609 gen=7 ino=123456 size=65536 "
		"ctime_ns=1690000000000000000 path=4 "
		"build_id=0 flags=0 reason=0\n"
		"frame id=1 kind=1 (module) addr=0x1234 owner=1 flags=0 reason=0\n"
		"frame id=2 kind=1 (module) addr=0x5678 owner=1 flags=1 reason=0\n"
		"frame id=3 kind=2 (kernel) addr=0xffffffff81000000 owner=0 flags=0 reason=0\n"
		"frame id=4 kind=0 addr=0x0 owner=0 flags=0 reason=4 (truncated)\n"
		"frame id=5 kind=3 (jit) addr=0x7f0000001000 owner=1 flags=0 reason=0\n"
		"stack id=1 parent=0 frame=2\n"
		"stack id=2 parent=1 frame=1\n"
		"sample type=1 (cpu) cpu=0 time_ns=10101010 value=10101010 thread=1 stack=2 "
		"result=1 (frame-pointer chain ended) value2=0\n"
		"sample type=1 (cpu) cpu=0 time_ns=20202030 value=10101020 thread=1 stack=2 "
		"result=1 (frame-pointer chain ended) value2=0\n"
		"stack id=3 parent=2 frame=3\n"
		"sample type=1 (cpu) cpu=1 time_ns=15000000 value=10000000 thread=2 stack=3 "
		"result=0 value2=0\n"
		"loss cause=1 (ring buffer full) cpu=1 count=5 from_ns=15000000 to_ns=25000000\n"
		"restart epoch=1\n"
		"stack id=1 parent=0 frame=4\n"
		"stack id=2 parent=1 frame=5\n"
		"sample type=1 (cpu) cpu=0 time_ns=30303040 value=10101010 thread=1 stack=2 "
		"result=2 (cut at the depth limit) value2=0\n"
		"string id=5 data=work()\n"
		"string id=6 data=_Z4workv\n"
		"name frame=1 depth=0 name=5 raw=6 file=0 line=0 reason=0 flags=0\n"
		"name frame=2 depth=0 name=0 raw=0 file=0 line=0 reason=16 (no symbol) flags=0\n"
		"counter id=1 (ticks) cpu=0 value=3\n"
		"counter id=2 (sampled) cpu=0 value=3\n"
		"end duration_ns=31000000 samples=4 reason=1 (duration reached)\n");
	text_free(&t);
}

RUN_TESTS(T(test_a_tee_feeds_both), T(test_a_tee_stops_at_the_first_refusal),
	T(test_dump_is_one_escaped_line_a_record))
