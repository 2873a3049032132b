/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>

#include "capture_support.h"
#include "user/base/escape.h"
#include "user/import/folded.h"

/*
 * Collects what an import says, as folded lines with names in their raw bytes
 * and the frames' separator still ';', so that both sides can be compared.
 */
struct refold {
	struct sink sink, *verify;
	struct buf strings[4096];
	uint32_t frame_string[4096], nr_strings, nr_frames, nr_names;
	uint32_t *parent, *frame, nr_stacks, cap_stacks;
	struct buf out;
	uint64_t samples, total;
	int ended;
};

static void refold_stack(struct refold *f, uint32_t stack)
{
	if (!stack)
		return;
	refold_stack(f, f->parent[stack - 1]);
	if (f->parent[stack - 1])
		buf_addc(&f->out, ';');
	buf_add(&f->out, f->strings[f->frame_string[f->frame[stack - 1] - 1] - 1].data,
		f->strings[f->frame_string[f->frame[stack - 1] - 1] - 1].len);
}

static int refold_put(struct sink *s, const struct record *r, struct err *e)
{
	struct refold *f = (struct refold *)s;
	int ret = sink_put(f->verify, r, e);

	if (ret)
		print_error("%s\n", e->msg);
	assert_int_equal(ret, 0);
	switch (r->kind) {
	case RECORD_STRING:
		assert_true(f->nr_strings < ARRAY_LEN(f->strings));
		buf_add(&f->strings[f->nr_strings++], r->string.data, r->string.len);
		break;
	case RECORD_FRAME:
		assert_int_equal(r->frame.frame.kind, FRAME_NAMED);
		f->frame_string[f->nr_frames++] = (uint32_t)r->frame.frame.addr;
		break;
	case RECORD_NAME:
		assert_int_equal(r->name.name, f->frame_string[r->name.frame - 1]);
		f->nr_names++;
		break;
	case RECORD_STACK:
		if (f->nr_stacks == f->cap_stacks) {
			f->cap_stacks = f->cap_stacks * 2 + 64;
			f->parent = realloc(f->parent, f->cap_stacks * sizeof(uint32_t));
			f->frame = realloc(f->frame, f->cap_stacks * sizeof(uint32_t));
		}
		f->parent[f->nr_stacks] = r->stack.parent;
		f->frame[f->nr_stacks++] = r->stack.frame;
		break;
	case RECORD_SAMPLE:
		assert_int_equal(r->sample.type, VALUE_COUNT);
		assert_int_equal(r->sample.result, STACK_IMPORTED);
		assert_int_equal(r->sample.thread, 1);
		if (r->sample.stack < 4096) {
			refold_stack(f, r->sample.stack);
			buf_addf(&f->out, " %llu\n", (unsigned long long)r->sample.value);
		}
		f->samples++;
		f->total += r->sample.value;
		break;
	case RECORD_END:
		f->ended = 1;
		assert_int_equal(r->end.reason, END_IMPORT);
		break;
	default:
		break;
	}
	return 0;
}

static struct refold *refold_new(void)
{
	struct refold *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->sink.put = refold_put;
	f->verify = verify_sink_new();
	assert_non_null(f->verify);
	return f;
}

static void refold_free(struct refold *f)
{
	uint32_t i;

	for (i = 0; i < f->nr_strings; i++)
		buf_release(&f->strings[i]);
	assert_int_equal(f->nr_names, f->nr_frames);
	verify_sink_free(f->verify);
	buf_release(&f->out);
	free(f->parent);
	free(f->frame);
	free(f);
}

static int import(
	const char *text, size_t len, struct refold *f, struct folded_stats *st, struct err *e)
{
	char *copy = malloc(len ? len : 1); /* exactly: reading beyond is found */
	int ret;

	memcpy(copy, text, len);
	*e = (struct err){0};
	ret = folded_import_mem("dir/x.folded", copy, len, &f->sink, st, e);
	free(copy);
	return ret;
}

/* ---- grammar ------------------------------------------------------------- */

static void test_good_lines(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{"main;a 1\n", "main;a 1\n"},
		{"main;a 1", "main;a 1\n"},
		{"a 5\n", "a 5\n"},
		{"\xef\xbb\xbfmain;bom 1\n", "main;bom 1\n"},
		{"a 1\n\xef\xbb\xbf"
		 "b 2\n",
			"a 1\n\xef\xbb\xbf"
			"b 2\n"},
		{"main;crlf 2\r\n", "main;crlf 2\n"},
		{"main;tab\t3\n", "main;tab 3\n"},
		{"main;blanks  \t  4\n", "main;blanks 4\n"},
		{"main;trailing 5 \t  \n", "main;trailing 5\n"},
		{"a;;b 6\n", "a;;b 6\n"},
		{";lead 7\n", ";lead 7\n"},
		{"trail; 8\n", "trail; 8\n"},
		{"; 9\n", "; 9\n"},
		{"# comment line 10\n#\na 1\n", "a 1\n"},
		{"\n\r\n \t \na 1\n", "a 1\n"},
		{"a 007\n", "a 7\n"},
		{"a 9223372036854775807\n", "a 9223372036854775807\n"},
		{"std::map<int, std::less<int> > 3\n", "std::map<int, std::less<int> > 3\n"},
		{"f_[k];g_[i];h_[j] 3\n", "f_[k];g_[i];h_[j] 3\n"},
		{"a 1 2\n", "a 1 2\n"}, /* the last number is the count */
		{"a#b 1\n", "a#b 1\n"},
		{" a;b 1\n", " a;b 1\n"},
		{"main;cr\rback 1\n", "main;cr\rback 1\n"},
		{"a;b 1\na;b 2\n", "a;b 1\na;b 2\n"},
		{"a;b;c 1\na;b 2\na 3\na;b;d 4\nab;c 5\na;bc 6\n",
			"a;b;c 1\na;b 2\na 3\na;b;d 4\nab;c 5\na;bc 6\n"},
		{"a;b 0\na 1\n", "a 1\n"},
		{"m\\x3bn;a\\\\b;\\x0a;\\u{202e};c:\\dir;\\xZZ 1\n",
			"m;n;a\\b;\n;\xe2\x80\xae;c:\\dir;\\xZZ 1\n"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct refold *f = refold_new();
		struct folded_stats st;
		struct err e;
		int ret = import(cases[i].in, strlen(cases[i].in), f, &st, &e);

		if (ret)
			print_error("case %zu: %s\n", i, e.msg);
		assert_int_equal(ret, 0);
		assert_string_equal(buf_str(&f->out), cases[i].want);
		assert_int_equal(st.bad, 0);
		assert_int_equal(st.total, f->total);
		assert_int_equal(f->ended, 1);
		refold_free(f);
	}
}

static void test_bad_lines_are_skipped_counted_and_the_first_one_is_kept(void **state)
{
	static const struct {
		const char *line, *reason;
	} cases[] = {
		{"main;no_count", "no count at the end"},
		{"main;x y", "no count at the end"},
		{"main;neg -5", "negative count"},
		{"main;dash -", "no count at the end"},
		{"main;plus +5", "no count at the end"},
		{"main;float 1.5", "count is not a whole decimal number"},
		{"main;exp 1e3", "count is not a whole decimal number"},
		{"main;hex 0x10", "count is not a whole decimal number"},
		{"main;huge 1180591620717411303424", "count is too large"},
		{"main;huge 9223372036854775808", "count is too large"},
		{"7", "a number without a stack"},
		{" 7", "a number without a stack"},
		{"name_only", "no count at the end"},
	};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct refold *f = refold_new();
		struct folded_stats st;
		struct err e;

		snprintf(text, sizeof(text), "a;b 1\n\n%s\nmain;also bad\na;c 2\n", cases[i].line);
		assert_int_equal(import(text, strlen(text), f, &st, &e), 0);
		assert_string_equal(buf_str(&f->out), "a;b 1\na;c 2\n");
		assert_int_equal(st.lines, 5);
		assert_int_equal(st.good, 2);
		assert_int_equal(st.bad, 2);
		assert_int_equal(st.first_bad_line, 3);
		assert_string_equal(st.first_bad_reason, cases[i].reason);
		assert_string_equal(st.first_bad_text, cases[i].line);
		refold_free(f);
	}
}

/* The input of case C66. */
static void test_folded_text_as_other_tools_write_it(void **state)
{
	static const char text[] =
		"\xef\xbb\xbfmain;bom 1\nmain;crlf 2\r\nmain;tab\t3\nmain;blanks     4\n"
		"main;trailing 5   \na;;b 6\n;lead 7\n# comment line\n\n"
		"main;no_count\nmain;negative -5\nmain;float 1.5\nmain;exp 1e3\nmain;hex 0x10\n"
		"main;huge 1180591620717411303424\n"
		"main;big 2305843009213693952\nmain;big 2305843009213693952\n";
	struct refold *f = refold_new();
	struct folded_stats st;
	struct err e;

	assert_int_equal(import(text, sizeof(text) - 1, f, &st, &e), 0);
	assert_true(st.total == 28 + ((uint64_t)1 << 62));
	assert_int_equal(st.good, 9);
	assert_int_equal(st.bad, 6);
	assert_int_equal(st.first_bad_line, 10);
	assert_int_equal(st.saturated, 0);
	refold_free(f);
}

static void test_the_total_saturates_and_says_so(void **state)
{
	static const char text[] = "a 9223372036854775000\nb 1000\nc 5\nd 0\n";
	struct refold *f = refold_new();
	struct folded_stats st;
	struct err e;

	assert_int_equal(import(text, sizeof(text) - 1, f, &st, &e), 0);
	assert_true(st.total == FOLDED_TOTAL_MAX);
	assert_true(f->total == FOLDED_TOTAL_MAX);
	assert_int_equal(st.saturated, 2);
	assert_string_equal(buf_str(&f->out), "a 9223372036854775000\nb 807\nc 0\n");
	refold_free(f);
}

static void test_nothing_to_show_is_an_error_with_the_reason(void **state)
{
	static const struct {
		const char *in;
		int code;
		const char *sentence;
	} cases[] = {
		{"", -ENODATA, "dir/x.folded: no samples: the input is empty"},
		{"\n\n", -ENODATA, "dir/x.folded: no samples: only blank lines and comments"},
		{"# only\n# comments\n", -ENODATA,
			"dir/x.folded: no samples: only blank lines and comments"},
		{" \t \n", -ENODATA, "dir/x.folded: no samples: only blank lines and comments"},
		{"a;b 0\nc 0\n", -ENODATA, "dir/x.folded: no samples: all counts are 0"},
		{"7\n", -EBADMSG,
			"dir/x.folded: not folded text; line 1: a number without a stack: \"7\""},
		{"\nname\x1bonly\n", -EBADMSG,
			"dir/x.folded: not folded text; line 2: no count at the end: "
			"\"name\\x1bonly\""},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct refold *f = refold_new();
		struct folded_stats st;
		struct err e;

		assert_int_equal(
			import(cases[i].in, strlen(cases[i].in), f, &st, &e), cases[i].code);
		assert_string_equal(e.msg, cases[i].sentence);
		assert_int_equal(f->ended, 0);
		refold_free(f);
	}
}

static void test_any_byte_may_be_in_a_name(void **state)
{
	struct refold *f = refold_new();
	struct folded_stats st;
	struct buf in = BUF_INIT;
	struct err e;
	int c;

	for (c = 0; c < 256; c++) {
		if (c == '\n' || c == ';' || c == '\\')
			continue;
		buf_adds(&in, "main;x");
		buf_addc(&in, (char)c);
		buf_adds(&in, "y 1\n");
	}
	assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
	assert_int_equal(st.bad, 0);
	assert_int_equal(f->nr_frames, 1 + 253);
	assert_bytes(f->out.data, f->out.len, in.data, in.len);
	buf_release(&in);
	refold_free(f);
}

/* What our fold output does to a name, import undoes. */
static void test_escaped_names_come_back(void **state)
{
	struct refold *f = refold_new();
	struct buf in = BUF_INIT, name = BUF_INIT;
	struct folded_stats st;
	uint64_t seed = 3;
	struct err e;
	size_t i, j, len;

	for (i = 0; i < 500; i++) {
		buf_clear(&name);
		len = 1 + test_random(&seed) % 40;
		buf_addc(&name, 'n'); /* a line must not begin with '#' */
		for (j = 0; j < len; j++)
			buf_addc(&name, "\\x3b;u{}\n\r\x80\xc3\xa4\0 "[test_random(&seed) % 14]);
		buf_addc(&name, '.');
		escape_folded(&in, name.data, name.len);
		buf_adds(&in, " 1\n");
		buf_clear(&f->out);
		buf_addc(&name, ' ');
		buf_adds(&name, "1\n");
		assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
		assert_bytes(f->out.data, f->out.len, name.data, name.len);
		buf_clear(&in);
		refold_free(f);
		f = refold_new();
	}
	buf_release(&in);
	buf_release(&name);
	refold_free(f);
}

static void test_two_spellings_of_a_name_are_one_frame(void **state)
{
	static const char text[] = "a\\x62c 1\nabc 2\n\\x61bc 3\n";
	struct refold *f = refold_new();
	struct folded_stats st;
	struct err e;

	assert_int_equal(import(text, sizeof(text) - 1, f, &st, &e), 0);
	assert_string_equal(buf_str(&f->out), "abc 1\nabc 2\nabc 3\n");
	assert_int_equal(f->nr_frames, 1);
	assert_int_equal(f->nr_stacks, 1);
	refold_free(f);
}

/* ---- random input, sizes ------------------------------------------------- */

static void random_text(struct buf *in, uint64_t seed, unsigned lines)
{
	static const char *const names[] = {"a", "b", "main", "", "x y",
		"a_very_long_name_that_exceeds_32_bytes_by_far", "std::vector<int>::at", "n"};
	uint64_t st = seed;
	unsigned i, j, depth;

	for (i = 0; i < lines; i++) {
		depth = 1 + (unsigned)(test_random(&st) % 12);
		for (j = 0; j < depth; j++) {
			if (j)
				buf_addc(in, ';');
			buf_adds(in, names[test_random(&st) % (j ? ARRAY_LEN(names) : 3)]);
		}
		buf_addf(in, " %u\n", 1 + (unsigned)(test_random(&st) % 1000));
	}
}

static void test_what_is_imported_is_what_was_there(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 40; seed++) {
		struct refold *f = refold_new();
		struct buf in = BUF_INIT;
		struct folded_stats st;
		struct err e;

		/* the collector prints stacks up to id 4095 */
		random_text(&in, seed, 300);
		assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
		assert_bytes(f->out.data, f->out.len, in.data, in.len);
		assert_int_equal(st.bytes, in.len);
		buf_release(&in);
		refold_free(f);
	}
}

static void test_a_file_reads_as_memory_does(void **state)
{
	char *path = path_in(*state, "x.folded");
	struct text a = text_new(), b = text_new();
	struct buf in = BUF_INIT;
	struct folded_stats st, st_mem;
	struct err e = {0};

	random_text(&in, 9, 20000); /* several buffers full */
	write_file(path, in.data, in.len);
	assert_true(in.len > 600000);
	assert_int_equal(folded_import(path, a.sink, &st, &e), 0);
	assert_int_equal(folded_import_mem(path, in.data, in.len, b.sink, &st_mem, &e), 0);
	assert_string_equal(text_of(&a), text_of(&b));
	assert_int_equal(st.total, st_mem.total);
	assert_int_equal(st.bytes, st_mem.bytes);
	assert_contains(text_of(&a), "data=x.folded\n");
	text_free(&a);
	text_free(&b);
	buf_release(&in);
	free(path);
}

/* Lines without a sample must not pile up. */
static void test_many_zero_counts_take_no_memory(void **state)
{
	struct refold *f = refold_new();
	struct buf in = BUF_INIT;
	struct folded_stats st;
	struct err e;
	int i;

	for (i = 0; i < 300000; i++)
		buf_adds(&in, "a;b;c;d;e;f;g 0\n");
	buf_adds(&in, "a;b;c 1\n");
	assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
	assert_int_equal(st.zero, 300000);
	assert_string_equal(buf_str(&f->out), "a;b;c 1\n");
	assert_int_equal(f->nr_stacks, 3); /* what has no sample has no stack */
	buf_release(&in);
	refold_free(f);
}

static void test_standard_input_is_a_dash(void **state)
{
	struct text t = text_new();
	struct folded_stats st;
	struct err e = {0};
	int p[2], saved = dup(0);

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "main;a 1\n", 9), 9);
	close(p[1]);
	assert_int_equal(dup2(p[0], 0), 0);
	assert_int_equal(folded_import("-", t.sink, &st, &e), 0);
	assert_int_equal(folded_import("-", t.sink, NULL, &e), -ENODATA);
	assert_contains(e.msg, "standard input: no samples: the input is empty");
	dup2(saved, 0);
	close(saved);
	close(p[0]);
	text_free(&t);
}

static void test_unreadable_paths_are_named(void **state)
{
	char *missing = path_in(*state, "none");
	struct text t = text_new();
	struct err e = {0};

	assert_int_equal(folded_import(missing, t.sink, NULL, &e), -ENOENT);
	assert_contains(e.msg, "none: opening: No such file or directory");
	assert_int_equal(folded_import(*state, t.sink, NULL, &e), -EISDIR);
	assert_int_equal(folded_import(*state, t.sink, NULL, NULL), -EISDIR);
	text_free(&t);
	free(missing);
}

static void test_deep_and_long_lines_work(void **state)
{
	struct refold *f = refold_new();
	struct buf in = BUF_INIT;
	struct folded_stats st;
	struct err e;
	int i;

	/* 20,000 frames as case C48 has them, then 5 million one-letter frames: 10 MB */
	for (i = 0; i < 20000; i++)
		buf_addf(&in, "f%d%s", i % 997, i < 19999 ? ";" : " 1000\n");
	for (i = 0; i < 5000000; i++)
		buf_adds(&in, i < 4999999 ? "g;" : "g 1\n");
	buf_adds(&in, "a 1\n");
	assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
	assert_int_equal(st.good, 3);
	assert_int_equal(f->nr_stacks, 20000 + 5000000 + 1);
	buf_release(&in);
	refold_free(f);
}

static void test_limits_of_a_line_are_told(void **state)
{
	struct refold *f = refold_new();
	struct buf in = BUF_INIT;
	struct folded_stats st;
	struct err e;
	size_t i;

	buf_adds(&in, "a;b 1\n");
	for (i = 0; i <= FOLDED_DEPTH_MAX; i++)
		buf_adds(&in, "a;");
	buf_adds(&in, "b 2\na;b 3\n");
	assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
	assert_string_equal(buf_str(&f->out), "a;b 1\na;b 3\n");
	assert_string_equal(st.first_bad_reason, "more than 8,000,000 frames");
	refold_free(f);

	f = refold_new();
	buf_clear(&in);
	buf_adds(&in, "a;b 1\na;");
	for (i = 0; i < FOLDED_NAME_MAX / 16 + 1; i++)
		buf_adds(&in, "0123456789abcdef");
	buf_adds(&in, ";c 2\na;b 3\n");
	assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
	assert_string_equal(buf_str(&f->out), "a;b 1\na;b 3\n");
	assert_string_equal(st.first_bad_reason, "a name is longer than 16 MiB");
	assert_int_equal(strlen(st.first_bad_text), FOLDED_EXCERPT_MAX + 2);
	refold_free(f);

	f = refold_new();
	buf_clear(&in);
	buf_adds(&in, "a;b 1\n");
	for (i = 0; i < FOLDED_LINE_MAX / 16 + 1; i++)
		buf_adds(&in, "0123456789abcde;");
	buf_adds(&in, "c 2\na;b 3\n");
	assert_int_equal(import(in.data, in.len, f, &st, &e), 0);
	assert_string_equal(buf_str(&f->out), "a;b 1\na;b 3\n");
	assert_string_equal(st.first_bad_reason, "longer than 64 MiB");
	assert_int_equal(st.lines, 3);
	refold_free(f);
	buf_release(&in);
}

static int refuse_put(struct sink *s, const struct record *r, struct err *e)
{
	(void)s;
	return r->kind == RECORD_SAMPLE ? err_set(e, -ENOSPC, "no room") : 0;
}

static void test_a_sinks_error_stops_the_import(void **state)
{
	struct sink refuse = {refuse_put};
	struct err e = {0};

	assert_int_equal(folded_import_mem("x", "a 1\n", 4, &refuse, NULL, &e), -ENOSPC);
	assert_contains(e.msg, "no room");
	assert_int_equal(folded_import_mem("x", "a 1\n", 4, &refuse, NULL, NULL), -ENOSPC);
}

RUN_TESTS(T(test_good_lines), T(test_bad_lines_are_skipped_counted_and_the_first_one_is_kept),
	T(test_folded_text_as_other_tools_write_it), T(test_the_total_saturates_and_says_so),
	T(test_nothing_to_show_is_an_error_with_the_reason), T(test_any_byte_may_be_in_a_name),
	T(test_escaped_names_come_back), T(test_two_spellings_of_a_name_are_one_frame),
	T(test_what_is_imported_is_what_was_there), T_TMPDIR(test_a_file_reads_as_memory_does),
	T(test_many_zero_counts_take_no_memory), T(test_standard_input_is_a_dash),
	T_TMPDIR(test_unreadable_paths_are_named), T(test_deep_and_long_lines_work),
	T(test_limits_of_a_line_are_told), T(test_a_sinks_error_stops_the_import))
