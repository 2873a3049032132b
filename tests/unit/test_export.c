/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "profile_fixture.h"
#include "user/export/folded.h"
#include "user/export/info.h"
#include "user/export/report.h"
#include "user/import/folded.h"
#include "user/model/calltree.h"

/* What @p is in folded form; to be freed. */
static char *folded_of(const struct profile *p, struct calltree_options o, int annotate)
{
	struct out *out = out_mem();
	struct calltree *t;
	struct selection s;
	struct err e = {0};
	const char *data;
	char *text;
	size_t len;

	o.names_only = annotate ? 2 : 1;
	assert_int_equal(selection_make(&s, p, NULL, &e), 0);
	assert_int_equal(calltree_build(&t, &s, &o, &e), 0);
	assert_int_equal(folded_write(out, t, annotate, &e), 0);
	data = out_mem_data(out, &len);
	text = strndup(data ? data : "", len);
	out_abort(out);
	calltree_free(t);
	selection_release(&s);
	return text;
}

static void assert_folded(
	const char *records, struct calltree_options o, int annotate, const char *want)
{
	struct profile *p = profile_from_text(records);
	char *text = folded_of(p, o, annotate);

	assert_string_equal(text, want);
	free(text);
	profile_free(p);
}

static void each_stack_once_with_its_time_in_ns(void **state)
{
	(void)state;
	assert_folded("1 a/t main;f 1\n2 a/t main;f 2\n3 a/t main 4\n4 a/t late;g 8\n",
		(struct calltree_options){0}, 0, "late;g 8000000\nmain 4000000\nmain;f 3000000\n");
}

static void equal_names_of_two_modules_are_one_line(void **state)
{
	(void)state;
	assert_folded("1 a/t main;liba!read 1\n2 a/t main;libb!read 1\n",
		(struct calltree_options){0}, 0, "main;read 2000000\n");
}

static void annotations_keep_natures_apart(void **state)
{
	(void)state;
	assert_folded("1 a/t main;read 1\n2 a/t main;[k]read 2\n3 a/t main;[j]read 4\n4 a/t "
		      "main;in~read 8\n",
		(struct calltree_options){0}, 1,
		"main;read_[j] 4000000\nmain;read_[k] 2000000\nmain;read 1000000\nmain;read;in_[i] "
		"8000000\n");
}

static void process_and_thread_names_in_front(void **state)
{
	(void)state;
	assert_folded("1 app/io f 1\n2 app/. f 2\n",
		(struct calltree_options){.by_process = 1, .by_thread = 1}, 0,
		"app;[tid 1001];f 2000000\napp;io;f 1000000\n");
}

static void marks_and_unknown_frames_have_one_form(void **state)
{
	(void)state;
	assert_folded("1 a/t [cut];f 1\n2 a/t main;libx.so!+1f 2\n3 a/t - 4\n",
		(struct calltree_options){0}, 0,
		"[no stack] 4000000\n[truncated];f 1000000\nmain;[unknown: no symbol] libx.so+0x1f "
		"2000000\n");
}

/* Names a reader could stumble over; \x00 too. */
static void odd_names_come_back_through_the_importer(void **state)
{
	static const struct {
		const char *name;
		size_t len;
		const char *folded;
	} names[] = {
		{"a;b", 3, "a\\x3bb"},
		{"new\nline", 8, "new\\x0aline"},
		{"nul\0in", 6, "nul\\x00in"},
		{"back\\slash", 10, "back\\\\slash"},
		{"# comment", 9, "\\x23 comment"},
		{"ends in blank ", 14, "ends in blank\\x20"},
		{"  ", 2, "\\x20\\x20"},
		{"\xff\xfe", 2, "\\xff\\xfe"},
		{"name 12", 7, "name 12"},
		{" leads", 6, " leads"},
		{"tab\t", 4, "tab\\x09"},
	};
	size_t i, nr;
	uint32_t n;

	(void)state;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		struct profile *p, *again;
		struct builder *b;
		struct err e = {0};
		const struct prof_sample *s;
		const struct func *f;
		int64_t string, frame, process, thread;
		struct buf want = BUF_INIT;
		char *text;

		assert_int_equal(profile_new(&p), 0);
		assert_int_equal(builder_new(&b, profile_sink(p), NULL), 0);
		builder_put(b,
			&(struct record){
				.kind = RECORD_RUN, .run = {.value_types = 1u << VALUE_COUNT}},
			&e);
		process = builder_process(b, &(struct record_process){0}, NULL, &e);
		thread = builder_thread(b, (uint32_t)process, 0, "", 0, &e);
		string = builder_string(b, names[i].name, names[i].len, &e);
		frame = builder_frame(
			b, &(struct frame){.kind = FRAME_NAMED, .addr = (uint64_t)string}, &e);
		builder_put(b,
			&(struct record){.kind = RECORD_SAMPLE,
				.sample = {.thread = (uint32_t)thread,
					.type = VALUE_COUNT,
					.value = 7,
					.stack = (uint32_t)builder_stack(
						b, 0, (uint32_t)frame, &e)}},
			&e);
		assert_int_equal(profile_finish(p, &e), 0);
		builder_free(b);

		text = folded_of(p, (struct calltree_options){0}, 0);
		buf_addf(&want, "%s 7\n", names[i].folded);
		assert_string_equal(text, buf_str(&want));

		assert_int_equal(profile_new(&again), 0);
		if (folded_import_mem("text", text, strlen(text), profile_sink(again), NULL, &e))
			fail_msg("%s", e.msg);
		assert_int_equal(profile_finish(again, &e), 0);
		s = profile_samples(again, &nr);
		assert_int_equal(nr, 1);
		assert_int_equal(s[0].value, 7);
		f = profile_func(again, profile_frame_funcs(again, 1, &n)[0]);
		assert_bytes(f->name, f->name_len, names[i].name, names[i].len);
		free(text);
		buf_release(&want);
		profile_free(p);
		profile_free(again);
	}
}

static char *json_of(const char *records, struct functions_options o)
{
	struct profile *p = profile_from_text(records);
	struct out *out = out_mem();
	struct functions_view v;
	struct selection sel;
	struct summary s;
	struct err e = {0};
	const char *data;
	char *text;
	size_t len;

	assert_int_equal(selection_make(&sel, p, NULL, &e), 0);
	assert_int_equal(functions_make(&v, &sel, &o, &e), 0);
	summary_make(&s, &sel);
	report_json(out, &v, &s, o.by);
	assert_int_equal(out_err(out), 0);
	data = out_mem_data(out, &len);
	text = strndup(data, len);
	functions_release(&v);
	selection_release(&sel);
	out_abort(out);
	profile_free(p);
	return text;
}

static void json_has_every_field_of_the_contract(void **state)
{
	static const char *const fields[] = {"schema", "view", "unit", "by", "from_s", "to_s",
		"duration_s", "samples", "total", "capture_total", "lost", "truncated",
		"unresolved", "method", "rows", "key", "name", "module", "build_id", "file", "line",
		"reason", "self", "self_samples", "total_samples", "self_pct", "total_pct",
		"err_pct"};
	char *text =
		json_of("!duration 2000\n!lost 1 0 1\n1 a/t main;libx.so!+12 3\n2 a/t main 1\n",
			(struct functions_options){0});
	char key[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(fields); i++) {
		snprintf(key, sizeof(key), "\"%s\":", fields[i]);
		assert_contains(text, key);
	}
	assert_contains(text,
		"{\"schema\":\"profbpf-report/"
		"1\",\"view\":\"cpu\",\"unit\":\"ns\",\"by\":\"function\","
		"\"from_s\":0,\"to_s\":2,\"duration_s\":2,\"samples\":2,\"total\":4000000,"
		"\"capture_total\":4000000,\"lost\":1,\"truncated\":0,\"unresolved\":1,"
		"\"method\":\"sampled\",\"rows\":[");
	assert_contains(text, "\"key\":\"main@app\",\"name\":\"main\",\"module\":\"app\"");
	assert_contains(text, "\"reason\":\"no symbol\"");
	assert_contains(text, "\"file\":null,\"line\":null");
	assert_contains(text,
		"\"self\":3000000,\"total\":3000000,\"self_samples\":1,\"total_samples\":1,"
		"\"self_pct\":75,\"total_pct\":75,");
	free(text);
}

/* Every name in the "required" lists of the schema is in the output. */
static void json_has_what_the_schema_requires(void **state)
{
	char *schema = read_file("docs/report.schema.json", NULL);
	char *text = json_of("1 a/t main 1\n", (struct functions_options){0});
	char *at = schema, *end, *quote, key[64];
	int seen = 0;

	(void)state;
	while ((at = strstr(at, "\"required\": ["))) {
		at = strchr(at, '[');
		end = strchr(at, ']');
		while ((at = strchr(at, '"')) && at < end) {
			quote = strchr(++at, '"');
			snprintf(key, sizeof(key), "\"%.*s\":", (int)(quote - at), at);
			assert_contains(text, key);
			at = quote + 1;
			seen++;
		}
		at = end;
	}
	assert_int_equal(seen, 15 + 14);
	free(schema);
	free(text);
}

static void rows_of_one_key_are_told_apart(void **state)
{
	/* Two modules of one base name: the fixture's build ID is the path. */
	char *text = json_of(
		"1 a/t x/lib!f 1\n2 a/t y/lib!f 2\n3 a/t g 1\n", (struct functions_options){0});

	(void)state;
	assert_contains(text, "\"key\":\"f@lib#2f7573722f6c69622f782f6c6962\"");
	assert_contains(text, "\"key\":\"f@lib#2f7573722f6c69622f792f6c6962\"");
	assert_contains(text, "\"key\":\"g@app\"");
	free(text);
}

static void json_of_nothing_is_whole(void **state)
{
	struct out *o = out_mem();
	const char *text;
	size_t len;

	(void)state;
	report_json(o, NULL, NULL, ROWS_BY_MODULE);
	out_char(o, '\0');
	text = out_mem_data(o, &len);
	assert_contains(text, "{\"schema\":\"profbpf-report/1\",\"view\":null,\"unit\":null,"
			      "\"by\":\"module\"");
	assert_contains(text, "\"rows\":[]");
	assert_contains(text, "\"samples\":null");
	out_abort(o);
}

static void csv_quotes_and_leaves_out_what_is_not_known(void **state)
{
	struct profile *p;
	struct out *o = out_mem();
	struct functions_view v;
	struct selection sel;
	struct summary s;
	struct err e = {0};
	const char *text;
	size_t len;

	(void)state;
	assert_int_equal(profile_from_folded(&p, "=cmd;say \"hi\", you 3\n", &e), 0);
	assert_int_equal(selection_make(&sel, p, NULL, &e), 0);
	assert_int_equal(functions_make(&v, &sel, NULL, &e), 0);
	summary_make(&s, &sel);
	report_csv(o, &v, &s);
	out_char(o, '\0');
	text = out_mem_data(o, &len);
	assert_string_equal(text,
		"name,module,build_id,reason,process,pid,tid,self,total,self_samples,total_samples,"
		"self_pct,total_pct,err_pct,total_err_pct\n"
		"\"say \"\"hi\"\", you\",,,,,,,3,3,,,100.0000,100.0000,,\n"
		"'=cmd,,,,,,,0,3,,,0.0000,100.0000,,\n");
	out_abort(o);
	functions_release(&v);
	selection_release(&sel);
	profile_free(p);
}

static void info_json_is_about_the_whole_capture(void **state)
{
	struct profile *p = profile_from_text("!duration 2000\n!meta command profbpf -a\n!lost 3 0 "
					      "1\n!counter 0 1 200\n!counter 1 1 202\n"
					      "1 a/t main;libx.so!+12 3\n2 a/t main 1\n");
	struct out *o = out_mem();
	struct info_view v;
	struct err e = {0};
	const char *text;
	size_t len;

	(void)state;
	assert_int_equal(info_make(&v, p, &e), 0);
	info_json(o, &v);
	out_char(o, '\0');
	text = out_mem_data(o, &len);
	assert_contains(text, "{\"schema\":\"profbpf-info/1\",");
	assert_contains(text, "\"command\":\"profbpf -a\"");
	assert_contains(text, "\"ticks\":402,");
	/* 2 samples, 4 ms in all */
	assert_contains(text, "\"effective_hz\":500");
	assert_contains(text, "\"lost\":{\"total\":3,\"permille\":600,");
	assert_contains(text, "\"per_cpu\":[{\"cpu\":0,");
	assert_contains(text,
		"\"unresolved\":{\"samples\":{\"no symbol\":1},\"frames\":{\"no symbol\":1}}");
	assert_contains(text, "\"path\":\"/usr/lib/libx.so\"");
	assert_contains(text, "\"source\":false");
	out_abort(o);
	profile_free(p);
}

RUN_TESTS(T(each_stack_once_with_its_time_in_ns), T(equal_names_of_two_modules_are_one_line),
	T(annotations_keep_natures_apart), T(process_and_thread_names_in_front),
	T(marks_and_unknown_frames_have_one_form), T(odd_names_come_back_through_the_importer),
	T(json_has_every_field_of_the_contract), T(json_has_what_the_schema_requires),
	T(rows_of_one_key_are_told_apart), T(json_of_nothing_is_whole),
	T(csv_quotes_and_leaves_out_what_is_not_known), T(info_json_is_about_the_whole_capture))
