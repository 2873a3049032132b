/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "capture_support.h"
#include "user/capture/builder.h"

static struct record run = {.kind = RECORD_RUN};

static struct builder *new_builder(struct sink *s, const struct builder_limits *limits)
{
	struct builder *b;

	assert_int_equal(builder_new(&b, s, limits), 0);
	assert_int_equal(builder_put(b, &run, NULL), 0);
	return b;
}

static void test_each_thing_is_put_once(void **state)
{
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	struct record_process p = {.pid = 42, .exec_id = 1, .start_boot_ns = 9};
	struct frame f = {.addr = 0x10, .kind = FRAME_KERNEL};
	struct err e = {0};
	int is_new, i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(builder_string(b, "main", 4, &e), 1);
		assert_int_equal(builder_string(b, "ma\0n", 4, &e), 2);
		p.name = 1;
		assert_int_equal(builder_process(b, &p, &is_new, &e), 1);
		assert_int_equal(is_new, !i);
		assert_int_equal(builder_thread(b, 1, 42, "main", 4, &e), 1);
		assert_int_equal(builder_thread(b, 1, 42, "renamed", 7, &e), 2);
		assert_int_equal(builder_frame(b, &f, &e), 1);
		assert_int_equal(builder_stack(b, 0, 1, &e), 1);
		assert_int_equal(builder_stack(b, 1, 1, &e), 2);
		assert_int_equal(builder_stack_path(b, (uint32_t[]){1, 1, 1}, 3, &e), 3);
		assert_int_equal(builder_stack_path(b, NULL, 0, &e), 0);
	}
	assert_string_equal(text_of(&t),
		"run start_mono_ns=0 start_real_ns=0 period_ns=0 cpus=0 value_types=0\n"
		"string id=1 data=main\n"
		"string id=2 data=ma\\x00n\n"
		"process id=1 pid=42 exec_id=1 start_boot_ns=9 name=1 exe=0 cmdline=0\n"
		"thread id=1 process=1 tid=42 name=1\n"
		"string id=3 data=renamed\n"
		"thread id=2 process=1 tid=42 name=3\n"
		"frame id=1 kind=2 (kernel) addr=0x10 owner=0 flags=0 reason=0\n"
		"stack id=1 parent=0 frame=1\n"
		"stack id=2 parent=1 frame=1\n"
		"stack id=3 parent=2 frame=1\n");
	assert_int_equal(builder_frame_count(b), 1);
	assert_int_equal(builder_frame_at(b, 1)->addr, 0x10);
	builder_free(b);
	text_free(&t);
}

static void test_process_generations_and_all_frame_fields_count(void **state)
{
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	struct err e = {0};

	assert_int_equal(builder_process(b, &(struct record_process){.pid = 1}, NULL, &e), 1);
	assert_int_equal(
		builder_process(b, &(struct record_process){.pid = 1, .exec_id = 1}, NULL, &e), 2);
	assert_int_equal(builder_process(b, &(struct record_process){.pid = 1, .start_boot_ns = 1},
				 NULL, &e),
		3);
	assert_int_equal(builder_frame(b, &(struct frame){.addr = 1}, &e), 1);
	assert_int_equal(builder_frame(b, &(struct frame){.addr = 1, .flags = 1}, &e), 2);
	assert_int_equal(builder_frame(b, &(struct frame){.addr = 1, .reason = 1}, &e), 3);
	assert_int_equal(
		builder_frame(b, &(struct frame){.addr = 1, .kind = 1, .owner = 1}, &e), 4);
	assert_int_equal(
		builder_frame(b, &(struct frame){.addr = 1, .kind = 1, .owner = 2}, &e), 5);
	builder_free(b);
	text_free(&t);
}

static void test_the_empty_string_is_a_string(void **state)
{
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	struct err e = {0};

	assert_int_equal(builder_string(b, "a", 1, &e), 1);
	assert_int_equal(builder_string(b, "", 0, &e), 2);
	assert_int_equal(builder_string(b, "b", 1, &e), 3);
	assert_int_equal(builder_string(b, "", 0, &e), 2);
	assert_int_equal(builder_meta(b, "a", "", 7, &e), 0);
	assert_int_equal(builder_meta(b, "b", NULL, 8, &e), 0);
	assert_contains(text_of(&t), "string id=2 data=\nstring id=3 data=b\n"
				     "meta key=1 text=2 num=7\nmeta key=3 text=0 num=8\n");
	builder_free(b);
	text_free(&t);
}

static void test_modules_get_ids_and_may_be_put_again(void **state)
{
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	struct record again = {.kind = RECORD_MODULE,
		.module = {.id = 2, .kind = MODULE_KIND_FILE, .flags = MODULE_F_DELETED}};
	struct err e = {0};

	assert_int_equal(
		builder_module(b, &(struct record_module){.kind = MODULE_KIND_FILE}, &e), 1);
	assert_int_equal(
		builder_module(b, &(struct record_module){.kind = MODULE_KIND_VDSO}, &e), 2);
	assert_int_equal(builder_put(b, &again, &e), 0);
	again.module.id = 3;
	assert_int_equal(builder_put(b, &again, &e), -EINVAL);
	builder_free(b);
	text_free(&t);
}

static void test_put_refuses_records_whose_ids_the_builder_owns(void **state)
{
	static const enum record_kind kinds[] = {RECORD_STRING, RECORD_PROCESS, RECORD_THREAD,
		RECORD_FRAME, RECORD_STACK, RECORD_RESTART, 0, RECORD_KIND_MAX};
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	size_t i;

	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		struct record r = {.kind = kinds[i]};
		struct err e = {0};

		assert_int_equal(builder_put(b, &r, &e), -EINVAL);
		assert_contains(e.msg, "have a builder function of their own");
	}
	builder_free(b);
	text_free(&t);
}

static void test_a_full_table_still_answers_for_what_it_holds(void **state)
{
	const struct builder_limits limits = {.max_stacks = 3, .max_frames = 2, .max_strings = 2};
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, &limits);
	struct err e = {0};

	assert_int_equal(builder_string(b, "a", 1, &e), 1);
	assert_int_equal(builder_string(b, "b", 1, &e), 2);
	assert_int_equal(builder_string(b, "c", 1, &e), -E2BIG);
	assert_string_equal(e.msg, "more than 2 distinct strings");
	assert_int_equal(builder_string(b, "", 0, &e), -E2BIG);
	assert_int_equal(builder_string(b, "a", 1, &e), 1);

	assert_int_equal(builder_frame(b, &(struct frame){.addr = 1}, &e), 1);
	assert_int_equal(builder_frame(b, &(struct frame){.addr = 2}, &e), 2);
	assert_int_equal(builder_frame(b, &(struct frame){.addr = 3}, &e), -E2BIG);
	assert_string_equal(e.msg, "more than 2 distinct frames");
	assert_int_equal(builder_frame(b, &(struct frame){.addr = 2}, &e), 2);

	assert_int_equal(builder_stack(b, 0, 1, &e), 1);
	assert_int_equal(builder_stack(b, 1, 1, &e), 2);
	assert_int_equal(builder_stack(b, 2, 1, &e), 3);
	assert_int_equal(builder_stack(b, 3, 1, &e), -E2BIG);
	assert_int_equal(builder_stack(b, 1, 1, &e), 2);
	/* a stack that alone is too deep */
	assert_int_equal(builder_stack_path(b, (uint32_t[]){1, 1, 1, 1}, 4, &e), -E2BIG);
	assert_null(strstr(text_of(&t), "restart"));
	builder_free(b);
	text_free(&t);
}

static void test_stacks_of_frames_that_do_not_exist_are_refused(void **state)
{
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	struct err e = {0};

	assert_int_equal(builder_frame(b, &(struct frame){.addr = 1}, &e), 1);
	assert_int_equal(builder_stack(b, 0, 2, &e), -EINVAL);
	assert_int_equal(builder_stack(b, 0, 0, &e), -EINVAL);
	assert_int_equal(builder_stack(b, 1, 1, &e), -EINVAL);
	assert_int_equal(builder_stack_path(b, (uint32_t[]){2}, 1, &e), -EINVAL);
	assert_int_equal(builder_stack_path(b, (uint32_t[]){1, 0}, 2, &e), -EINVAL);
	assert_null(strstr(text_of(&t), "stack"));
	builder_free(b);
	text_free(&t);
}

/* ---- the trie ------------------------------------------------------------ */

/* Keeps what STACK records say, and checks them as they come. */
struct trie_check {
	struct sink sink;
	uint32_t parent[4096], frame[4096], nr, max, epoch;
};

static int trie_check_put(struct sink *s, const struct record *r, struct err *e)
{
	struct trie_check *t = (struct trie_check *)s;
	uint32_t i;

	(void)e;
	if (r->kind == RECORD_RESTART) {
		assert_int_equal(r->restart.epoch, ++t->epoch);
		t->nr = 0;
	}
	if (r->kind != RECORD_STACK)
		return 0;
	assert_int_equal(r->stack.id, t->nr + 1);
	assert_true(r->stack.parent <= t->nr);
	assert_true(t->nr < t->max);
	for (i = 0; i < t->nr; i++) /* once */
		assert_false(t->parent[i] == r->stack.parent && t->frame[i] == r->stack.frame);
	t->parent[t->nr] = r->stack.parent;
	t->frame[t->nr++] = r->stack.frame;
	return 0;
}

static void assert_stack(
	const struct trie_check *t, uint32_t stack, const uint32_t *root_first, size_t nr)
{
	while (nr--) {
		assert_in_range(stack, 1, t->nr);
		assert_int_equal(t->frame[stack - 1], root_first[nr]);
		stack = t->parent[stack - 1];
	}
	assert_int_equal(stack, 0);
}

static void add_frames(struct builder *b, uint32_t nr)
{
	uint32_t i;

	for (i = 1; i <= nr; i++)
		assert_int_equal(builder_frame(b, &(struct frame){.addr = i}, NULL), i);
}

static void random_paths(uint32_t max_stacks, uint64_t seed, int rounds, int want_restarts)
{
	const struct builder_limits limits = {.max_stacks = max_stacks};
	static struct trie_check t;
	uint32_t frames[16][24], turned[24];
	struct builder_path paths[16];
	uint64_t st = seed;
	struct builder *b;
	size_t i, j, nr, batch;
	int64_t stack;
	int round;

	t = (struct trie_check){.sink = {trie_check_put}, .max = max_stacks};
	b = new_builder(&t.sink, &limits);
	add_frames(b, 3);
	for (round = 0; round < rounds; round++) {
		batch = test_random(&st) % 16;
		for (i = 0; i < batch; i++) {
			nr = test_random(&st) % 24;
			for (j = 0; j < nr; j++) /* long shared prefixes, and recursion */
				frames[i][j] = test_random(&st) % 4
						       ? 1
						       : (uint32_t)(1 + test_random(&st) % 3);
			paths[i] = (struct builder_path){frames[i], nr, UINT32_MAX};
		}
		assert_int_equal(builder_stack_paths(b, paths, batch, NULL), 0);
		for (i = 0; i < batch; i++)
			assert_stack(&t, paths[i].stack, frames[i], paths[i].nr);
		if (!batch)
			continue;
		/* the same one by one gives the same ids, unless that restarted */
		i = batch - 1;
		for (j = 0; j < paths[i].nr; j++)
			turned[j] = frames[i][paths[i].nr - 1 - j];
		stack = builder_stack_path(b, turned, paths[i].nr, NULL);
		assert_true(stack >= 0);
		assert_stack(&t, (uint32_t)stack, frames[i], paths[i].nr);
	}
	assert_int_equal(builder_restarts(b) > 0, want_restarts);
	assert_int_equal(builder_restarts(b), t.epoch);
	builder_free(b);
}

static void test_paths_become_nodes_and_nodes_paths(void **state)
{
	uint64_t seed;

	for (seed = 1; seed < 5; seed++)
		random_paths(4096, seed, 30, 0);
}

static void test_a_restart_comes_before_a_batch_that_might_not_fit(void **state)
{
	uint64_t seed;

	for (seed = 1; seed < 5; seed++)
		random_paths(400, seed, 300, 1);
}

static void test_stepwise_and_whole_stacks_share_nodes(void **state)
{
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	int64_t id = 0, other;
	uint32_t i;

	add_frames(b, 50);
	for (i = 1; i <= 50; i++) {
		id = builder_stack(b, (uint32_t)id, i, NULL);
		assert_int_equal(id, i);
	}
	for (i = 1; i <= 50; i++) { /* side branches, so that not all are first children */
		other = builder_stack(b, i - 1, i % 50 + 1, NULL);
		assert_true(other > 0);
	}
	assert_int_equal(builder_stack_path(b, (uint32_t[]){5, 4, 3, 2, 1}, 5, NULL), 5);
	assert_int_equal(builder_stack_path(b, (uint32_t[]){5, 3, 2, 1}, 4, NULL),
		builder_stack(b, 3, 5, NULL));
	builder_free(b);
	text_free(&t);
}

static void test_memory_stays_bounded_over_restarts(void **state)
{
	const struct builder_limits limits = {.max_stacks = 5000};
	struct text t = text_new();
	struct builder *b;
	uint32_t path[100];
	uint64_t st = 1;
	size_t bytes = 0;
	int i, j;

	b = new_builder(t.sink, &limits);
	add_frames(b, 1000);
	for (i = 0; i < 2000; i++) {
		for (j = 0; j < 100; j++)
			path[j] = (uint32_t)(1 + test_random(&st) % 1000);
		assert_true(builder_stack_path(b, path, 100, NULL) > 0);
		if (i == 100)
			bytes = builder_bytes(b);
	}
	assert_true(builder_restarts(b) > 30);
	assert_int_equal(builder_bytes(b), bytes);
	builder_free(b);
	text_free(&t);
}

/* ---- errors -------------------------------------------------------------- */

/* Hands on to a verify sink; refuses the records whose number is in the mask of the day. */
struct flaky {
	struct sink sink, *verify;
	uint64_t state;
	int refused;
};

static int flaky_put(struct sink *s, const struct record *r, struct err *e)
{
	struct flaky *f = (struct flaky *)s;
	int ret;

	if (r->kind != RECORD_RUN && test_random(&f->state) % 3 == 0) {
		f->refused++;
		return err_set(e, -EAGAIN, "not now");
	}
	ret = sink_put(f->verify, r, e);
	if (ret)
		print_error("%s\n", e ? e->msg : "");
	assert_int_equal(ret, 0);
	return 0;
}

static void test_a_refused_record_leaves_no_id_behind(void **state)
{
	struct flaky f = {.sink = {flaky_put}, .verify = verify_sink_new(), .state = 7};
	const struct builder_limits limits = {.max_stacks = 200};
	struct builder *b = new_builder(&f.sink, &limits);
	uint32_t path[20];
	uint64_t st = 3;
	struct err e = {0};
	char name[16];
	int i, j;

	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "n%d", (int)(test_random(&st) % 50));
		builder_string(b, name, strlen(name), &e);
		builder_process(b,
			&(struct record_process){.pid = (uint32_t)(test_random(&st) % 5)}, NULL,
			&e);
		if (builder_process(b, &(struct record_process){.pid = 1}, NULL, &e) == 1)
			builder_thread(
				b, 1, (uint32_t)(test_random(&st) % 5), name, strlen(name), &e);
		builder_frame(b, &(struct frame){.addr = test_random(&st) % 20}, &e);
		if (builder_frame_count(b) < 10)
			continue;
		for (j = 0; j < 20; j++)
			path[j] = (uint32_t)(1 + test_random(&st) % 5);
		builder_stack_path(b, path, test_random(&st) % 20, &e);
		builder_stack(b, 0, (uint32_t)(1 + test_random(&st) % 10), &e);
	}
	assert_true(f.refused > 100);
	assert_true(builder_restarts(b) > 0);
	assert_int_equal(verify_sink_finish(f.verify, &e), 0);
	builder_free(b);
	verify_sink_free(f.verify);
}

static void test_too_long_text_is_refused(void **state)
{
	size_t len = ((size_t)1 << 24) + 1;
	char *big = calloc(1, len);
	struct text t = text_new();
	struct builder *b = new_builder(t.sink, NULL);
	struct err e = {0};

	assert_int_equal(builder_string(b, big, len, &e), -E2BIG);
	assert_string_equal(e.msg, "text of more than 16777216 bytes");
	builder_free(b);
	text_free(&t);
	free(big);
}

/* ---- continuing a stream ------------------------------------------------- */

struct replayer {
	struct sink sink;
	struct builder *b;
};

static int replay_put(struct sink *s, const struct record *r, struct err *e)
{
	return builder_replay(((struct replayer *)s)->b, r, e);
}

static void test_a_replayed_stream_passes_unchanged_and_is_known(void **state)
{
	struct text want = text_new(), got = text_new();
	struct replayer rep = {.sink = {replay_put}};
	struct record_process p = {.pid = 42, .exec_id = 3, .start_boot_ns = 5000000000};
	struct err e = {0};
	size_t len;

	sample_stream(want.sink);
	assert_int_equal(builder_new(&rep.b, got.sink, NULL), 0);
	sample_stream(&rep.sink);
	assert_string_equal(text_of(&got), text_of(&want));

	len = strlen(text_of(&got));
	assert_int_equal(builder_string(rep.b, "work()", 6, &e), 5);
	assert_int_equal(builder_frame(rep.b,
				 &(struct frame){0xffffffff81000000, 0, FRAME_KERNEL, 0, 0}, &e),
		3);
	assert_int_equal(builder_process(rep.b, &p, NULL, &e), 1);
	assert_int_equal(builder_thread(rep.b, 1, 43, "app;\x1b[1m\xff", 9, &e), 2);
	/* of the epoch after the restart */
	assert_int_equal(builder_stack_path(rep.b, (uint32_t[]){5, 4}, 2, &e), 2);
	assert_int_equal(strlen(text_of(&got)), len);
	assert_int_equal(builder_string(rep.b, "new", 3, &e), 7);
	assert_int_equal(
		builder_module(rep.b, &(struct record_module){.kind = MODULE_KIND_FILE}, &e), 2);
	assert_int_equal(builder_frame_count(rep.b), 5);
	builder_free(rep.b);
	text_free(&want);
	text_free(&got);
}

static void test_a_replayed_stream_may_repeat_itself(void **state)
{
	struct text t = text_new();
	struct replayer rep = {.sink = {replay_put}};
	struct sink *s = &rep.sink;
	struct err e = {0};
	int i;

	assert_int_equal(builder_new(&rep.b, t.sink, NULL), 0);
	PUT(s, .kind = RECORD_RUN);
	put_string(s, 1, "a");
	put_string(s, 2, "a");
	put_string(s, 3, "");
	put_string(s, 4, "b");
	for (i = 1; i <= 2; i++)
		PUT(s, .kind = RECORD_FRAME, .frame = {(uint32_t)i, {7, 0, FRAME_KERNEL, 0, 0}});
	PUT(s, .kind = RECORD_STACK, .stack = {1, 0, 1});
	PUT(s, .kind = RECORD_STACK, .stack = {2, 0, 1});
	PUT(s, .kind = RECORD_STACK, .stack = {3, 2, 1});

	assert_int_equal(builder_string(rep.b, "a", 1, &e), 1);
	assert_int_equal(builder_string(rep.b, "", 0, &e), 3);
	assert_int_equal(builder_string(rep.b, "b", 1, &e), 4);
	assert_int_equal(builder_string(rep.b, "c", 1, &e), 5);
	assert_int_equal(builder_frame(rep.b, &(struct frame){7, 0, FRAME_KERNEL, 0, 0}, &e), 1);
	assert_int_equal(builder_frame(rep.b, &(struct frame){8, 0, FRAME_KERNEL, 0, 0}, &e), 3);
	assert_int_equal(builder_stack(rep.b, 0, 1, &e), 1);
	assert_int_equal(builder_stack(rep.b, 2, 1, &e), 3);
	assert_int_equal(builder_stack(rep.b, 1, 1, &e), 4);
	assert_int_equal(builder_replay(rep.b,
				 &(struct record){.kind = RECORD_STACK, .stack = {9, 8, 1}}, &e),
		-EBADMSG);
	builder_free(rep.b);
	text_free(&t);
}

/* Random streams, replayed and then continued, verify. */
static void test_a_continued_stream_is_valid(void **state)
{
	struct err e = {0};
	uint64_t seed;

	for (seed = 1; seed < 20; seed++) {
		struct capture_writer *w;
		struct buf b = BUF_INIT;
		struct replayer rep = {.sink = {replay_put}};
		uint32_t i;

		assert_int_equal(capture_writer_mem(&w, &b), 0);
		assert_int_equal(builder_new(&rep.b, capture_writer_sink(w), NULL), 0);
		PUT(&rep.sink, .kind = RECORD_RUN);
		add_frames(rep.b, 4);
		for (i = 0; i < 200; i++) { /* the writer checks ids, order and references */
			assert_true(builder_string(rep.b, (char *)&i, i % 4, &e) > 0);
			assert_true(builder_stack_path(rep.b,
					    (uint32_t[]){1 + i % 4, 1 + i / 4 % 4, 1 + i / 16 % 4},
					    3, &e) > 0);
			if (i % 50 == 49)
				PUT(&rep.sink, .kind = RECORD_RESTART, .restart = {1 + i / 50});
		}
		assert_int_equal(capture_writer_finish(w, &e), 0);
		builder_free(rep.b);
		buf_release(&b);
	}
}

RUN_TESTS(T(test_each_thing_is_put_once), T(test_process_generations_and_all_frame_fields_count),
	T(test_the_empty_string_is_a_string), T(test_modules_get_ids_and_may_be_put_again),
	T(test_put_refuses_records_whose_ids_the_builder_owns),
	T(test_a_full_table_still_answers_for_what_it_holds),
	T(test_stacks_of_frames_that_do_not_exist_are_refused),
	T(test_paths_become_nodes_and_nodes_paths),
	T(test_a_restart_comes_before_a_batch_that_might_not_fit),
	T(test_stepwise_and_whole_stacks_share_nodes), T(test_memory_stays_bounded_over_restarts),
	T(test_a_refused_record_leaves_no_id_behind), T(test_too_long_text_is_refused),
	T(test_a_replayed_stream_passes_unchanged_and_is_known),
	T(test_a_replayed_stream_may_repeat_itself), T(test_a_continued_stream_is_valid))
