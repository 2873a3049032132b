/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "profile_fixture.h"
#include "user/model/calltree.h"
#include "user/model/filter.h"
#include "user/model/totals.h"

/* "a,b" of a frame: its functions, innermost first, inlined ones with a '*'. */
static void assert_funcs(const struct profile *p, uint32_t frame, const char *want)
{
	char got[512] = "";
	uint32_t nr, i;
	const uint32_t *f = profile_frame_funcs(p, frame, &nr);

	for (i = 0; i < nr; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s%s", i ? "," : "",
			profile_func(p, f[i])->name, profile_func(p, f[i])->inlined ? "*" : "");
	assert_string_equal(got, want);
}

static const struct func *leaf(const struct profile *p, size_t sample)
{
	const struct prof_sample *s;
	const struct prof_stack *stacks;
	size_t nr;
	uint32_t n;

	s = profile_samples(p, &nr);
	assert_true(sample < nr);
	stacks = profile_stacks(p, &nr);
	return profile_func(p, profile_frame_funcs(p, stacks[s[sample].stack].frame, &n)[0]);
}

static void samples_come_out_in_time_order(void **state)
{
	struct profile *p =
		profile_from_text("30 app/a c 1\n10 app/a a 1\n20 app/a b 1\n10 app/a d 1\n");
	const struct prof_sample *s;
	size_t nr;

	(void)state;
	s = profile_samples(p, &nr);
	assert_int_equal(nr, 4);
	assert_int_equal(s[0].time_ns, 10 * FIXTURE_MS);
	assert_string_equal(leaf(p, 0)->name, "a");
	assert_string_equal(leaf(p, 1)->name, "d"); /* equal times keep their order */
	assert_string_equal(leaf(p, 3)->name, "c");
	profile_free(p);
}

static void a_thousand_unordered_samples_sort_too(void **state)
{
	struct buf text = BUF_INIT;
	const struct prof_sample *s;
	struct profile *p;
	uint64_t seed = 5;
	size_t nr, i;

	(void)state;
	for (i = 0; i < 1000; i++)
		buf_addf(&text, "%u app/a a 1\n", (unsigned)(test_random(&seed) % 500));
	p = profile_from_text(buf_str(&text));
	s = profile_samples(p, &nr);
	assert_int_equal(nr, 1000);
	for (i = 1; i < nr; i++)
		assert_true(s[i - 1].time_ns <= s[i].time_ns);
	profile_free(p);
	buf_release(&text);
}

static void inlined_functions_are_a_chain(void **state)
{
	struct profile *p = profile_from_text("1 app/a main;tiny~small~big 1\n2 app/a small 1\n");

	(void)state;
	/* "small" also occurs on its own: it is not only an inlined function. */
	assert_funcs(p, 2, "tiny*,small,big");
	assert_int_equal(profile_is_canonical(p), 0);
	profile_free(p);
}

static void stale_depths_of_an_earlier_naming_are_left_out(void **state)
{
	/* Named "in" inlined into "out"; then again, "solo" alone. */
	static const struct {
		const char *name;
		uint32_t depth, flags;
	} names[] = {{"in", 0, NAME_F_INLINED}, {"out", 1, 0}, {"solo", 0, 0}};
	struct err e = {0};
	struct builder *b;
	struct profile *p;
	int64_t frame;
	size_t i;

	(void)state;
	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(builder_new(&b, profile_sink(p), NULL), 0);
	frame = builder_frame(b, &(struct frame){.kind = FRAME_KERNEL, .addr = 1}, &e);
	for (i = 0; i < ARRAY_LEN(names); i++) {
		struct record r = {.kind = RECORD_NAME,
			.name = {.frame = (uint32_t)frame,
				.depth = names[i].depth,
				.flags = names[i].flags}};

		r.name.name = (uint32_t)builder_string(b, names[i].name, strlen(names[i].name), &e);
		assert_int_equal(builder_put(b, &r, &e), 0);
	}
	assert_int_equal(profile_finish(p, &e), 0);

	assert_funcs(p, 1, "solo");
	builder_free(b);
	profile_free(p);
}

static void a_frame_without_a_name_says_why_and_where(void **state)
{
	struct profile *p = profile_from_text("1 app/a main;libx.so!+12 1\n");
	const struct func *f = leaf(p, 0);

	(void)state;
	assert_string_equal(f->name, "[unknown: no symbol] libx.so+0x12");
	assert_int_equal(f->kind, FUNC_UNKNOWN);
	assert_int_equal(f->reason, REASON_NO_SYMBOL);
	assert_string_equal(f->module->name, "libx.so");
	profile_free(p);
}

static void what_is_no_code_is_a_mark(void **state)
{
	struct profile *p = profile_from_text("1 app/a [cut];deep 1\n2 app/a - 1\n");
	const struct prof_stack *stacks;
	size_t nr;

	(void)state;
	stacks = profile_stacks(p, &nr);
	assert_funcs(p, stacks[1].frame, "[truncated]");
	assert_string_equal(leaf(p, 1)->name, "[no stack]");
	assert_int_equal(leaf(p, 1)->kind, FUNC_MARK);
	profile_free(p);
}

static void one_name_in_two_modules_is_two_functions(void **state)
{
	struct profile *p = profile_from_text("1 app/a liba.so!read 1\n2 app/a libb.so!read 1\n3 "
					      "app/a [k]read 1\n4 app/a [j]read 1\n"
					      "5 app/a liba.so!read 1\n");

	(void)state;
	assert_int_equal(profile_nr_funcs(p), 4);
	assert_ptr_equal(leaf(p, 0), leaf(p, 4));
	assert_string_equal(leaf(p, 2)->module->name, "[kernel]");
	assert_int_equal(leaf(p, 2)->kind, FUNC_KERNEL);
	assert_string_equal(leaf(p, 3)->module->name, "[jit]");
	profile_free(p);
}

static void one_library_through_two_mounts_is_one_place(void **state)
{
	struct profile *p;
	struct builder *b;
	struct err e = {0};
	uint32_t id, module;
	int64_t process, thread;

	(void)state;
	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(builder_new(&b, profile_sink(p), NULL), 0);
	builder_put(b, &(struct record){.kind = RECORD_RUN, .run = {.period_ns = 1}}, &e);
	id = (uint32_t)builder_string(b, "\1\2\3", 3, &e);
	process = builder_process(b, &(struct record_process){.pid = 1}, NULL, &e);
	thread = builder_thread(b, (uint32_t)process, 1, "t", 1, &e);
	for (module = 0; module < 3; module++) {
		const char *path = module == 1 ? "/b/libc.so" : "/a/libc.so";
		struct record_module m = {.kind = MODULE_KIND_FILE,
			.ino = module + 1,
			.path = (uint32_t)builder_string(b, path, strlen(path), &e),
			.build_id = module < 2 ? id : 0};
		struct frame f = {.kind = FRAME_MODULE,
			.owner = (uint32_t)builder_module(b, &m, &e),
			.addr = 7};
		int64_t frame = builder_frame(b, &f, &e);
		struct record r = {.kind = RECORD_NAME, .name = {.frame = (uint32_t)frame}};

		r.name.name = (uint32_t)builder_string(b, "malloc", 6, &e);
		builder_put(b, &r, &e);
		r = (struct record){.kind = RECORD_SAMPLE,
			.sample = {.value = 1, .thread = (uint32_t)thread, .type = VALUE_CPU}};
		r.sample.stack = (uint32_t)builder_stack(b, 0, (uint32_t)frame, &e);
		assert_int_equal(builder_put(b, &r, &e), 0);
	}
	assert_int_equal(profile_finish(p, &e), 0);

	/* Same name and build ID: one function. No build ID: another file. */
	assert_int_equal(profile_nr_funcs(p), 2);
	builder_free(b);
	profile_free(p);
}

static void stack_ids_begin_anew_after_a_restart(void **state)
{
	struct builder_limits limits = {.max_stacks = 4};
	struct builder *b;
	struct profile *p;
	struct err e = {0};
	const struct prof_stack *stacks;
	const struct prof_sample *s;
	int64_t process, thread, string, frame;
	uint32_t path[3], i, k;
	size_t nr;

	(void)state;
	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(builder_new(&b, profile_sink(p), &limits), 0);
	builder_put(b, &(struct record){.kind = RECORD_RUN, .run = {.period_ns = 1}}, &e);
	process = builder_process(b, &(struct record_process){.pid = 1}, NULL, &e);
	thread = builder_thread(b, (uint32_t)process, 1, "t", 1, &e);
	for (i = 0; i < 6; i++) {
		for (k = 0; k < 3; k++) {
			char name[8] = {'f', (char)('0' + i), (char)('a' + k)};

			string = builder_string(b, name, 3, &e);
			frame = builder_frame(b,
				&(struct frame){.kind = FRAME_NAMED, .addr = (uint64_t)string}, &e);
			path[2 - k] = (uint32_t)frame;
		}
		assert_int_equal(builder_put(b,
					 &(struct record){.kind = RECORD_SAMPLE,
						 .sample = {.value = 1,
							 .time_ns = i,
							 .thread = (uint32_t)thread,
							 .type = VALUE_CPU,
							 .stack = (uint32_t)builder_stack_path(
								 b, path, 3, &e)}},
					 &e),
			0);
	}
	assert_int_equal(profile_finish(p, &e), 0);

	assert_int_equal(profile_is_canonical(p), 0);
	s = profile_samples(p, &nr);
	stacks = profile_stacks(p, &nr);
	assert_int_equal(nr, 6 * 3 + 1);
	for (i = 0; i < 6; i++) {
		uint32_t at = s[i].stack;
		char name[8] = {'f', (char)('0' + i), 0};

		for (k = 3; k--; at = stacks[at].parent) {
			name[2] = (char)('a' + k);
			assert_funcs(p, stacks[at].frame, name);
			assert_true(stacks[at].parent < at);
		}
		assert_int_equal(at, 0);
	}
	builder_free(b);
	profile_free(p);
}

static void an_import_is_names_and_counts(void **state)
{
	struct profile *p;
	struct err e = {0};

	(void)state;
	assert_int_equal(profile_from_folded(&p, "main;a;b 3\nmain;;c 1\n", &e), 0);
	assert_true(profile_is_import(p));
	assert_true(profile_is_canonical(p));
	assert_int_equal(profile_duration_ns(p), 0);
	assert_int_equal(profile_nr_funcs(p), 5);
	assert_funcs(p, 4, "[empty]");
	profile_free(p);
	assert_int_equal(profile_from_folded(&p, "a 1\nb\n", &e), -EBADMSG);
	assert_contains(e.msg, "line 2");
	assert_null(p);
}

static void shown_names_of_empty_ones(void **state)
{
	struct profile *p = profile_from_text("1 app/. a 1\n");

	(void)state;
	assert_string_equal(profile_thread(p, 1)->name, "[tid 1000]");
	assert_string_equal(profile_process(p, 1)->name, "app");
	profile_free(p);
}

static void later_facts_and_counters_replace_earlier_ones(void **state)
{
	struct profile *p =
		profile_from_text("!meta b.key one\n!meta a.key x\n!meta b.key two\n"
				  "!counter 1 1 5\n!counter 0 1 7\n!counter 1 1 9\n!counter 1 2 3\n"
				  "1 app/a a 1\n");
	const char *key, *text;
	uint64_t num, v;

	(void)state;
	assert_int_equal(profile_meta(p, "b.key", &text, &num), 1);
	assert_string_equal(text, "two");
	assert_int_equal(profile_meta(p, "none", &text, &num), 0);
	assert_null(text);
	assert_int_equal(profile_meta_at(p, 0, &key, &text, &num), 1);
	assert_string_equal(key, "a.key");
	assert_int_equal(profile_meta_at(p, 2, &key, &text, &num), 0);
	assert_int_equal(profile_counter(p, COUNTER_TICKS), 16);
	assert_int_equal(profile_counter_cpu(p, 1, COUNTER_TICKS, &v), 1);
	assert_int_equal(v, 9);
	assert_int_equal(profile_counter_cpu(p, 0, COUNTER_SAMPLED, &v), 0);
	assert_int_equal(profile_nr_cpus(p), 2);
	profile_free(p);
}

static void duration_of_a_part_is_its_last_record(void **state)
{
	struct profile *whole = profile_from_text("!duration 500\n10 app/a a 1\n");
	struct profile *part = profile_from_text("!part\n10 app/a a 1\n40 app/a a 1\n");

	(void)state;
	assert_int_equal(profile_duration_ns(whole), 500 * FIXTURE_MS);
	assert_null(profile_end(part));
	assert_int_equal(profile_duration_ns(part), 40 * FIXTURE_MS);
	profile_free(whole);
	profile_free(part);
}

static void wrong_references_are_refused(void **state)
{
	static const struct record bad[] = {
		{.kind = RECORD_STRING, .string = {.id = 2, .data = "x", .len = 1}},
		{.kind = RECORD_META, .meta = {.key = 5}},
		{.kind = RECORD_MODULE, .module = {.id = 2}},
		{.kind = RECORD_MODULE, .module = {.id = 1, .path = 9}},
		{.kind = RECORD_PROCESS, .process = {.id = 7}},
		{.kind = RECORD_THREAD, .thread = {.id = 1, .process = 1}},
		{.kind = RECORD_FRAME, .frame = {.id = 1, .frame = {.kind = 99}}},
		{.kind = RECORD_FRAME,
			.frame = {.id = 1, .frame = {.kind = FRAME_MODULE, .owner = 1}}},
		{.kind = RECORD_FRAME,
			.frame = {.id = 1, .frame = {.kind = FRAME_NAMED, .addr = 1}}},
		{.kind = RECORD_STACK, .stack = {.id = 1, .parent = 1, .frame = 1}},
		{.kind = RECORD_SAMPLE, .sample = {.thread = 1}},
		{.kind = RECORD_NAME, .name = {.frame = 1}},
		{.kind = RECORD_COUNTER, .counter = {.cpu = 70000}},
		{.kind = RECORD_LOSS, .loss = {.from_ns = 2, .to_ns = 1}},
	};
	struct profile *p;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = {0};

		assert_int_equal(profile_new(&p), 0);
		assert_int_equal(sink_put(profile_sink(p), &bad[i], &e), -EBADMSG);
		assert_true(e.msg[0]);
		assert_int_equal(profile_finish(p, &e), 0); /* and it is still whole */
		profile_free(p);
	}
}

static void lost_samples_are_summed_once(void **state)
{
	/* The counters and the loss records tell of the same samples. */
	struct profile *p =
		profile_from_text("!lost 5 0 10\n!lost 7 10 20\n!counter 0 5 12\n1 app/a a 1\n");

	(void)state;
	assert_int_equal(profile_lost(p), 12);
	profile_free(p);
}

/* Mostly an id that is there (0 = none included), sometimes one that is not. */
static uint32_t some(uint64_t *seed, uint32_t nr)
{
	uint32_t above = test_random(seed) % 30 ? 1 : 3;

	return (uint32_t)(test_random(seed) % (nr + above));
}

/* A record of random kind whose references are right most of the time. */
static struct record random_record(uint64_t *seed, const uint32_t *nr)
{
	static const uint8_t kinds[] = {RECORD_STRING, RECORD_STRING, RECORD_META, RECORD_MODULE,
		RECORD_PROCESS, RECORD_THREAD, RECORD_FRAME, RECORD_FRAME, RECORD_STACK,
		RECORD_STACK, RECORD_STACK, RECORD_SAMPLE, RECORD_SAMPLE, RECORD_SAMPLE,
		RECORD_NAME, RECORD_NAME, RECORD_COUNTER, RECORD_LOSS, RECORD_RESTART, RECORD_END};
	static char text[] = "abc;\0\n\xff /x";
	struct record r = {.kind = kinds[test_random(seed) % ARRAY_LEN(kinds)]};
	uint32_t id = test_random(seed) % 30 ? nr[r.kind] + 1 : some(seed, nr[r.kind]);
	uint32_t string = some(seed, nr[RECORD_STRING]), n = (uint32_t)(test_random(seed) % 6);

	switch (r.kind) {
	case RECORD_STRING:
		r.string = (struct record_string){id, n, text + test_random(seed) % 6};
		break;
	case RECORD_META:
		r.meta = (struct record_meta){string, some(seed, nr[RECORD_STRING]), n};
		break;
	case RECORD_MODULE:
		r.module = (struct record_module){.id = id, .path = string, .build_id = n};
		break;
	case RECORD_PROCESS:
		r.process = (struct record_process){.id = id, .pid = n, .name = string};
		break;
	case RECORD_THREAD:
		r.thread = (struct record_thread){id, some(seed, nr[RECORD_PROCESS]), n, string};
		break;
	case RECORD_FRAME:
		r.frame = (struct record_frame){.id = id,
			.frame = {.addr = string,
				.owner = some(seed, nr[RECORD_MODULE]),
				.kind = (uint8_t)n,
				.reason = (uint8_t)(test_random(seed) % 30)}};
		break;
	case RECORD_STACK:
		r.stack = (struct record_stack){
			id, some(seed, nr[RECORD_STACK]), some(seed, nr[RECORD_FRAME])};
		break;
	case RECORD_SAMPLE:
		r.sample = (struct record_sample){.time_ns = test_random(seed) >> n * 12,
			.value = test_random(seed) >> test_random(seed) % 64,
			.thread = some(seed, nr[RECORD_THREAD]),
			.stack = some(seed, nr[RECORD_STACK]),
			.cpu = n,
			.type = (uint8_t)(1 + test_random(seed) % 3),
			.result = (uint8_t)n};
		break;
	case RECORD_NAME:
		r.name = (struct record_name){.frame = some(seed, nr[RECORD_FRAME]),
			.depth = n % 3,
			.name = string,
			.reason = n,
			.flags = (uint32_t)(test_random(seed) % 2)};
		break;
	case RECORD_COUNTER:
		r.counter = (struct record_counter){n, 1 + n, id};
		break;
	case RECORD_LOSS:
		r.loss = (struct record_loss){n, n, n, n, some(seed, 9)};
		break;
	default:
		break;
	}
	return r;
}

static void whatever_is_accepted_can_be_used(void **state)
{
	static const struct record first[] = {
		{.kind = RECORD_STRING, .string = {1, 1, "f"}},
		{.kind = RECORD_PROCESS, .process = {.id = 1}},
		{.kind = RECORD_THREAD, .thread = {1, 1, 1, 1}},
		{.kind = RECORD_FRAME, .frame = {.id = 1, .frame = {.kind = FRAME_KERNEL}}},
	};
	uint64_t seed = 17, selected = 0;
	int run, i;

	(void)state;
	for (run = 0; run < 3000; run++) {
		const struct filter_options filters[] = {{0}, {.from = "1", .to = "2"},
			{.view = "count", .focus = {(const char *[]){"a"}, 1}}};
		uint32_t next[RECORD_KIND_MAX] = {0};
		struct profile *p;
		struct err e = {0};
		size_t f;

		assert_int_equal(profile_new(&p), 0);
		for (i = 0; i < 10 + run % 200; i++) {
			struct record r =
				i < (int)ARRAY_LEN(first) ? first[i] : random_record(&seed, next);

			if (!sink_put(profile_sink(p), &r, &e))
				next[r.kind]++;
			if (r.kind == RECORD_RESTART)
				next[RECORD_STACK] = 0;
		}
		assert_int_equal(profile_finish(p, &e), 0);
		for (f = 0; f < ARRAY_LEN(filters); f++) {
			struct calltree_options o = {.inverted = run & 1,
				.by_thread = run >> 1 & 1,
				.by_process = run >> 2 & 1,
				.names_only = run % 3,
				.order = (enum calltree_order)(run >> 3 & 1)};
			struct calltree *t;
			struct selection s;
			struct total *totals;

			if (selection_make(&s, p, &filters[f], &e))
				continue;
			selected += s.nr;
			selection_explain(&s, &filters[f], &e);
			if (calltree_build(&t, &s, &o, &e) || calltree_check(t, &e))
				fail_msg("%s", e.msg);
			assert_int_equal(calltree_total_funcs(t, &e), 0);
			assert_int_equal(calltree_check(t, &e), 0);
			assert_int_equal(totals_by_func(&totals, &s, NULL, 0, &e), 0);
			free(totals);
			calltree_free(t);
			selection_release(&s);
		}
		profile_free(p);
	}
	assert_true(selected > 10000); /* or all this was about nothing */
}

RUN_TESTS(T(samples_come_out_in_time_order), T(a_thousand_unordered_samples_sort_too),
	T(inlined_functions_are_a_chain), T(stale_depths_of_an_earlier_naming_are_left_out),
	T(a_frame_without_a_name_says_why_and_where), T(what_is_no_code_is_a_mark),
	T(one_name_in_two_modules_is_two_functions), T(one_library_through_two_mounts_is_one_place),
	T(stack_ids_begin_anew_after_a_restart), T(an_import_is_names_and_counts),
	T(shown_names_of_empty_ones), T(later_facts_and_counters_replace_earlier_ones),
	T(duration_of_a_part_is_its_last_record), T(wrong_references_are_refused),
	T(lost_samples_are_summed_once), T(whatever_is_accepted_can_be_used))
