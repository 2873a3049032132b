/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of records for tests: as text (by the dump sink, so that what is
 * expected can be read), and random ones that are valid.
 */
#ifndef PROFBPF_TESTS_CAPTURE_SUPPORT_H
#define PROFBPF_TESTS_CAPTURE_SUPPORT_H

#include "support.h"
#include "user/base/buf.h"
#include "user/base/out.h"
#include "user/capture/capture.h"

/* Collects a stream as text. text_of() gives it; text_free() ends it. */
struct text {
	struct out *out;
	struct sink *sink;
};

static inline struct text text_new(void)
{
	struct text t = {.out = out_mem()};

	assert_non_null(t.out);
	t.sink = dump_sink_new(t.out);
	assert_non_null(t.sink);
	return t;
}

static inline const char *text_of(const struct text *t)
{
	size_t len;
	const char *s = out_mem_data(t->out, &len);

	return len ? s : "";
}

static inline void text_free(struct text *t)
{
	out_abort(t->out);
	free(t->sink);
}

static inline int put(struct sink *s, struct record r)
{
	struct err e = {0};
	int ret = sink_put(s, &r, &e);

	if (ret)
		assert_int_equal(e.code, ret);
	return ret;
}
#define PUT(sink, ...) assert_int_equal(put(sink, (struct record){__VA_ARGS__}), 0)

static inline void put_string(struct sink *s, uint32_t id, const char *text)
{
	PUT(s, .kind = RECORD_STRING, .string = {id, (uint32_t)strlen(text), text});
}

/* Small numbers mostly, sometimes any, sometimes the extremes. */
static inline uint64_t random_number(uint64_t *state, unsigned bits)
{
	uint64_t max = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, r = test_random(state);

	switch (r % 16) {
	case 0:
		return max;
	case 1:
		return 0;
	case 2:
		return (r >> 4) & max;
	default:
		return (r >> 4) % 1000 & max;
	}
}

/*
 * A valid stream of RUN, @nr random records of all kinds, END. The same seed
 * gives the same stream.
 */
static inline void random_stream(struct sink *s, uint64_t seed, unsigned nr)
{
	static const char bytes[] =
		"name\0;\n\x1b[31m\xff\xc3\xa4 <&>\"' and a longer tail of text";
	uint64_t st = seed, samples = 0, time = 0;
	uint32_t n[RECORD_KIND_MAX] = {0}, epoch = 0;
	struct record r;
	unsigned i;
	int kind;

#define U(bits)	 random_number(&st, bits)
#define ID(kind) (uint32_t)(n[kind] ? test_random(&st) % n[kind] + 1 : 0)
	PUT(s, .kind = RECORD_RUN, .run = {U(64), U(64), U(64), (uint32_t)U(32), (uint32_t)U(32)});
	for (i = 0; i < nr; i++) {
		kind = (int)(test_random(&st) % 24);
		kind = kind < RECORD_STRING || kind >= RECORD_END ? RECORD_SAMPLE : kind;
		memset(&r, 0, sizeof(r));
		r.kind = (enum record_kind)kind;
		switch (r.kind) {
		case RECORD_STRING: {
			size_t from = test_random(&st) % sizeof(bytes);

			r.string.id = ++n[RECORD_STRING];
			r.string.data = bytes + from;
			r.string.len = (uint32_t)(test_random(&st) % (sizeof(bytes) - from + 1));
			break;
		}
		case RECORD_META:
			if (!n[RECORD_STRING])
				continue;
			r.meta = (struct record_meta){ID(RECORD_STRING), ID(RECORD_STRING), U(64)};
			break;
		case RECORD_MODULE:
			r.module = (struct record_module){
				.id = (uint32_t)(test_random(&st) % (n[RECORD_MODULE] + 1) + 1),
				.kind = (uint32_t)(1 + test_random(&st) % MODULE_KIND_KERNEL),
				.dev = (uint32_t)U(32),
				.gen = (uint32_t)U(32),
				.ino = U(64),
				.size = U(64),
				.ctime_ns = U(64),
				.path = ID(RECORD_STRING),
				.build_id = ID(RECORD_STRING),
				.flags = (uint32_t)U(2),
				.reason = (uint32_t)(test_random(&st) % REASON_MAX)};
			if (r.module.id > n[RECORD_MODULE])
				n[RECORD_MODULE] = r.module.id;
			break;
		case RECORD_PROCESS:
			r.process = (struct record_process){++n[RECORD_PROCESS], (uint32_t)U(32),
				(uint32_t)U(32), U(64), ID(RECORD_STRING), ID(RECORD_STRING),
				ID(RECORD_STRING)};
			break;
		case RECORD_THREAD:
			if (!n[RECORD_PROCESS])
				continue;
			r.thread = (struct record_thread){++n[RECORD_THREAD], ID(RECORD_PROCESS),
				(uint32_t)U(32), ID(RECORD_STRING)};
			break;
		case RECORD_FRAME:
			r.frame.frame.kind = (uint8_t)(test_random(&st) % FRAME_KIND_MAX);
			r.frame.frame.addr = U(64);
			r.frame.frame.flags = (uint16_t)U(16);
			r.frame.frame.reason = (uint8_t)(test_random(&st) % REASON_MAX);
			if (r.frame.frame.kind == FRAME_MODULE)
				r.frame.frame.owner = ID(RECORD_MODULE);
			if (r.frame.frame.kind == FRAME_JIT)
				r.frame.frame.owner = ID(RECORD_PROCESS);
			if (r.frame.frame.kind == FRAME_NAMED)
				r.frame.frame.addr = ID(RECORD_STRING);
			if ((r.frame.frame.kind == FRAME_MODULE ||
				    r.frame.frame.kind == FRAME_JIT) &&
				!r.frame.frame.owner)
				continue;
			if (r.frame.frame.kind == FRAME_NAMED && !r.frame.frame.addr)
				continue;
			r.frame.id = ++n[RECORD_FRAME];
			break;
		case RECORD_STACK:
			if (!n[RECORD_FRAME])
				continue;
			r.stack = (struct record_stack){n[RECORD_STACK] + 1,
				test_random(&st) % 4 ? n[RECORD_STACK] : ID(RECORD_STACK),
				ID(RECORD_FRAME)};
			n[RECORD_STACK]++;
			break;
		case RECORD_SAMPLE:
			if (!n[RECORD_THREAD])
				continue;
			time += U(20);
			r.sample = (struct record_sample){.time_ns = U(3) ? time : U(64),
				.value = U(64),
				.value2 = U(1) ? 0 : U(64),
				.thread = ID(RECORD_THREAD),
				.stack = ID(RECORD_STACK),
				.cpu = (uint32_t)(U(4) ? U(2) : U(32)),
				.type = (uint8_t)(1 + U(1)),
				.result = (uint8_t)(test_random(&st) % STACK_RESULT_MAX)};
			samples++;
			break;
		case RECORD_NAME:
			if (!n[RECORD_FRAME])
				continue;
			r.name = (struct record_name){ID(RECORD_FRAME), (uint32_t)U(32),
				ID(RECORD_STRING), ID(RECORD_STRING), ID(RECORD_STRING),
				(uint32_t)U(32), (uint32_t)(test_random(&st) % REASON_MAX),
				(uint32_t)U(32)};
			break;
		case RECORD_COUNTER:
			r.counter = (struct record_counter){(uint32_t)U(32),
				(uint32_t)(1 + test_random(&st) % (COUNTER_ID_MAX - 1)), U(64)};
			break;
		case RECORD_LOSS:
			r.loss = (struct record_loss){(uint32_t)U(32),
				(uint32_t)(1 + test_random(&st) % (LOSS_CAUSE_MAX - 1)), U(64),
				U(64), U(64)};
			break;
		case RECORD_RESTART:
			r.restart.epoch = ++epoch;
			n[RECORD_STACK] = 0;
			break;
		default:
			continue;
		}
		assert_int_equal(put(s, r), 0);
	}
	PUT(s, .kind = RECORD_END,
		.end = {U(64), samples, (uint32_t)(test_random(&st) % END_REASON_MAX)});
#undef U
#undef ID
}

/* A small stream that has every kind once or more; what the golden file holds. */
static inline void sample_stream(struct sink *s)
{
	PUT(s, .kind = RECORD_RUN,
		.run = {1000000, 1700000000000000000, 10101010, 2, 1u << VALUE_CPU});
	put_string(s, 1, "command");
	put_string(s, 2, "profbpf -p 42");
	PUT(s, .kind = RECORD_META, .meta = {1, 2, 0});
	put_string(s, 3, "app;\x1b[1m\xff");
	PUT(s, .kind = RECORD_PROCESS, .process = {1, 42, 3, 5000000000, 3, 0, 0});
	PUT(s, .kind = RECORD_THREAD, .thread = {1, 1, 42, 3});
	PUT(s, .kind = RECORD_THREAD, .thread = {2, 1, 43, 3});
	put_string(s, 4, "/usr/bin/app");
	PUT(s, .kind = RECORD_MODULE,
		.module = {.id = 1,
			.kind = MODULE_KIND_FILE,
			.dev = 0x800001,
			.gen = 7,
			.ino = 123456,
			.size = 65536,
			.ctime_ns = 1690000000000000000,
			.path = 4});
	PUT(s, .kind = RECORD_FRAME, .frame = {1, {0x1234, 1, FRAME_MODULE, 0, 0}});
	PUT(s, .kind = RECORD_FRAME, .frame = {2, {0x5678, 1, FRAME_MODULE, 0, FRAME_F_RETURN}});
	PUT(s, .kind = RECORD_FRAME, .frame = {3, {0xffffffff81000000, 0, FRAME_KERNEL, 0, 0}});
	PUT(s, .kind = RECORD_FRAME, .frame = {4, {0, 0, FRAME_NONE, REASON_TRUNCATED, 0}});
	PUT(s, .kind = RECORD_FRAME, .frame = {5, {0x7f0000001000, 1, FRAME_JIT, 0, 0}});
	PUT(s, .kind = RECORD_STACK, .stack = {1, 0, 2});
	PUT(s, .kind = RECORD_STACK, .stack = {2, 1, 1});
	PUT(s, .kind = RECORD_SAMPLE,
		.sample = {10101010, 10101010, 0, 1, 2, 0, VALUE_CPU, STACK_FP_END});
	PUT(s, .kind = RECORD_SAMPLE,
		.sample = {20202030, 10101020, 0, 1, 2, 0, VALUE_CPU, STACK_FP_END});
	PUT(s, .kind = RECORD_STACK, .stack = {3, 2, 3});
	PUT(s, .kind = RECORD_SAMPLE,
		.sample = {15000000, 10000000, 0, 2, 3, 1, VALUE_CPU, STACK_COMPLETE});
	PUT(s, .kind = RECORD_LOSS, .loss = {1, LOSS_RING_FULL, 5, 15000000, 25000000});
	PUT(s, .kind = RECORD_RESTART, .restart = {1});
	PUT(s, .kind = RECORD_STACK, .stack = {1, 0, 4});
	PUT(s, .kind = RECORD_STACK, .stack = {2, 1, 5});
	PUT(s, .kind = RECORD_SAMPLE,
		.sample = {30303040, 10101010, 0, 1, 2, 0, VALUE_CPU, STACK_TRUNCATED});
	put_string(s, 5, "work()");
	put_string(s, 6, "_Z4workv");
	PUT(s, .kind = RECORD_NAME, .name = {1, 0, 5, 6, 0, 0, 0, 0});
	PUT(s, .kind = RECORD_NAME, .name = {2, 0, 0, 0, 0, 0, REASON_NO_SYMBOL, 0});
	PUT(s, .kind = RECORD_COUNTER, .counter = {0, COUNTER_TICKS, 3});
	PUT(s, .kind = RECORD_COUNTER, .counter = {0, COUNTER_SAMPLED, 3});
	PUT(s, .kind = RECORD_END, .end = {31000000, 4, END_DURATION});
}

#endif
