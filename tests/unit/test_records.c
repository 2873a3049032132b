/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"
#include "user/capture/table.h"

static void test_each_kind_has_a_name_and_fields(void **state)
{
	unsigned kind;

	for (kind = RECORD_RUN; kind < RECORD_KIND_MAX; kind++) {
		const struct kind *k = kind_at(kind);

		assert_non_null(k);
		assert_in_range(k->nr, 1, FIELDS_MAX);
		assert_string_equal(record_kind_name(kind), k->name);
	}
	assert_null(record_kind_name(0));
	assert_null(record_kind_name(RECORD_KIND_MAX));
	assert_null(record_kind_name(UINT32_MAX));
}

static void test_fields_cover_each_struct_without_overlap(void **state)
{
	static const size_t sizes[] = {
		[RECORD_RUN] = sizeof(struct record_run),
		[RECORD_STRING] = sizeof(struct record_string),
		[RECORD_META] = sizeof(struct record_meta),
		[RECORD_MODULE] = sizeof(struct record_module),
		[RECORD_PROCESS] = sizeof(struct record_process),
		[RECORD_THREAD] = sizeof(struct record_thread),
		[RECORD_FRAME] = sizeof(struct record_frame),
		[RECORD_STACK] = sizeof(struct record_stack),
		[RECORD_SAMPLE] = sizeof(struct record_sample),
		[RECORD_NAME] = sizeof(struct record_name),
		[RECORD_COUNTER] = sizeof(struct record_counter),
		[RECORD_LOSS] = sizeof(struct record_loss),
		[RECORD_RESTART] = sizeof(struct record_restart),
		[RECORD_END] = sizeof(struct record_end),
	};
	const size_t base = offsetof(struct record, run);
	unsigned kind, i;

	assert_int_equal(ARRAY_LEN(sizes), RECORD_KIND_MAX); /* a new kind needs a line here */
	for (kind = RECORD_RUN; kind < RECORD_KIND_MAX; kind++) {
		const struct kind *k = kind_at(kind);
		char taken[sizeof(struct record)] = {0};
		size_t sum = 0;

		for (i = 0; i < k->nr; i++) {
			const struct field *f = &k->fields[i];

			assert_in_range(f->offset, base, base + sizes[kind] - f->size);
			assert_null(memchr(taken + f->offset, 1, f->size));
			memset(taken + f->offset, 1, f->size);
			sum += f->size;
			if (f->code == CODE_BYTES) { /* encode and decode rely on it being last */
				assert_int_equal(i, k->nr - 1);
				sum += sizeof(char *);
			}
		}
		/* A member without a field would be lost in the file; 8 leaves room for padding. */
		assert_true(sum <= sizes[kind] && sum + 8 >= sizes[kind]);
	}
}

static void test_field_get_reads_what_field_set_wrote(void **state)
{
	unsigned kind, i;

	for (kind = RECORD_RUN; kind < RECORD_KIND_MAX; kind++) {
		for (i = 0; i < kind_at(kind)->nr; i++) {
			const struct field *f = &kind_at(kind)->fields[i];
			struct record r = {0};
			uint64_t v =
				f->size == 8 ? UINT64_MAX - 1 : ((uint64_t)1 << (8 * f->size)) - 2;

			field_set(f, &r, v);

			assert_true(field_get(f, &r) == v);
		}
	}
}

static void test_texts_are_never_null(void **state)
{
	unsigned i;

	for (i = 0; i < 300; i++) {
		assert_non_null(frame_reason_text(i));
		assert_non_null(frame_reason_short(i));
		assert_non_null(stack_result_text(i));
		assert_non_null(loss_cause_text(i));
		assert_non_null(counter_name(i));
		assert_non_null(end_reason_text(i));
		assert_non_null(frame_kind_text(i));
		assert_non_null(value_type_text(i));
		assert_non_null(module_kind_text(i));
	}
	assert_string_equal(frame_reason_short(REASON_NO_SYMBOL), "no symbol");
	assert_string_equal(frame_reason_text(REASON_MAX), frame_reason_text(UINT32_MAX));
}

/* Someone adds an enumerator and forgets its text: that is what this finds. */
static void test_each_known_number_has_a_text_of_its_own(void **state)
{
	unsigned i;

	for (i = 0; i < REASON_MAX; i++) {
		if (i > REASON_NOT_RETURN && i < REASON_NO_SYMBOL)
			continue; /* not given out */
		assert_string_not_equal(frame_reason_text(i), frame_reason_text(REASON_MAX));
		assert_string_not_equal(frame_reason_short(i), frame_reason_short(REASON_MAX));
	}
	for (i = 0; i < STACK_RESULT_MAX; i++)
		assert_string_not_equal(stack_result_text(i), stack_result_text(STACK_RESULT_MAX));
	for (i = LOSS_RING_FULL; i < LOSS_CAUSE_MAX; i++)
		assert_string_not_equal(loss_cause_text(i), loss_cause_text(LOSS_CAUSE_MAX));
	for (i = COUNTER_TICKS; i < COUNTER_ID_MAX; i++)
		assert_string_not_equal(counter_name(i), counter_name(COUNTER_ID_MAX));
	for (i = END_DURATION; i < END_REASON_MAX; i++)
		assert_string_not_equal(end_reason_text(i), end_reason_text(END_REASON_MAX));
	for (i = 0; i < FRAME_KIND_MAX; i++)
		assert_string_not_equal(frame_kind_text(i), frame_kind_text(FRAME_KIND_MAX));
	for (i = VALUE_CPU; i < VALUE_TYPE_MAX; i++)
		assert_string_not_equal(value_type_text(i), value_type_text(VALUE_TYPE_MAX));
}

RUN_TESTS(T(test_each_kind_has_a_name_and_fields), T(test_fields_cover_each_struct_without_overlap),
	T(test_field_get_reads_what_field_set_wrote), T(test_texts_are_never_null),
	T(test_each_known_number_has_a_text_of_its_own))
