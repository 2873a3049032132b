/* SPDX-License-Identifier: BSD-2-Clause */
/* Wire records in, records out; those that need no kernel. Real ones are in test_sampler_*.c. */
#include "capture_support.h"

#include "user/capture/builder.h"
#include "user/record/procs.h"

struct wire {
	struct wire_sample sample;
	struct frame frames[4];
};

static struct wire sample_of(uint64_t leaf, uint64_t garbage)
{
	struct wire w = {
		.sample = {.h = {.kind = WIRE_SAMPLE},
			.time_ns = 1000,
			.value = 10,
			.process = {.pid = 4194303, .comm = "gone"},
			.tid = 4194303,
			.result = STACK_BROKEN,
			.nr_user = 2,
			.comm = "gone"},
		.frames = {{.addr = leaf, .kind = FRAME_JIT}, {.addr = garbage,
								      .kind = FRAME_NONE,
								      .reason = REASON_NO_MAPPING,
								      .flags = FRAME_F_RETURN}},
	};

	w.sample.h.len = sizeof(struct wire_sample) + 2 * sizeof(struct frame);
	return w;
}

/*
 * At the root of a stack without frame pointers stands any word of the target's
 * memory: the stack protector's canary was seen in captures. Nor may each be a
 * root of its own.
 */
static void test_what_is_no_return_address_is_not_kept(void **state)
{
	struct text t = text_new();
	struct builder *b;
	struct procs *p;
	struct err e = {0};

	assert_int_equal(builder_new(&b, t.sink, NULL), 0);
	assert_int_equal(procs_new(&p, b, NULL, 4), 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct wire w = sample_of(0x1000, 0xbe552274c0854800 + i);

		assert_int_equal(procs_record(p, &w.sample.h, &e), 0);
	}
	assert_contains(text_of(&t), "addr=0x1000 ");
	assert_contains(text_of(&t), "kind=0 addr=0x0 ");
	assert_null(strstr(text_of(&t), "be552274c08548"));
	assert_int_equal(builder_frame_count(b), 2);
	procs_free(p);
	builder_free(b);
	text_free(&t);
}

/* Where a jump led, or a stack that could not be read: that is the sample itself. */
static void test_address_of_a_leaf_without_code_is_kept(void **state)
{
	struct text t = text_new();
	struct wire w = sample_of(0x1000, 0);
	struct builder *b;
	struct procs *p;
	struct err e = {0};

	w.frames[0] =
		(struct frame){.addr = 0xdead0, .kind = FRAME_NONE, .reason = REASON_NO_MAPPING};
	w.sample.nr_user = 1;
	w.sample.h.len -= (uint32_t)sizeof(struct frame);
	assert_int_equal(builder_new(&b, t.sink, NULL), 0);
	assert_int_equal(procs_new(&p, b, NULL, 4), 0);
	assert_int_equal(procs_record(p, &w.sample.h, &e), 0);
	assert_contains(text_of(&t), "addr=0xdead0 ");
	procs_free(p);
	builder_free(b);
	text_free(&t);
}

RUN_TESTS(T(test_what_is_no_return_address_is_not_kept),
	T(test_address_of_a_leaf_without_code_is_kept))
