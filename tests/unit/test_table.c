/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "profile_fixture.h"
#include "user/base/escape.h"
#include "user/render/info.h"
#include "user/render/table.h"

static const char shop[] = "!duration 1000\n!meta target process 7 (shop)\n"
			   "1 shop/front main;serve;parse 30\n"
			   "2 shop/front main;serve;parse 10\n"
			   "3 shop/back main;serve;libdb.so!find 50\n"
			   "4 shop/back main;serve;libdb.so!find;[k]read 8\n"
			   "5 shop/back main;libx.so!+12 2\n";

/* The whole table; to be freed. */
static char *table_of(struct profile *p, const struct filter_options *f, struct functions_options o,
	struct table_style style)
{
	struct out *out = out_mem();
	struct functions_view v;
	struct selection sel;
	struct summary s;
	struct err e = {0};
	struct buf words = BUF_INIT;
	const char *data;
	char *text;
	size_t len;

	assert_int_equal(selection_make(&sel, p, f, &e), 0);
	assert_int_equal(functions_make(&v, &sel, &o, &e), 0);
	summary_make(&s, &sel);
	if (f)
		filter_describe(f, &words);
	table_render(out, &v, &s, buf_str(&words), &style);
	assert_int_equal(out_err(out), 0);
	data = out_mem_data(out, &len);
	text = strndup(data, len);
	buf_release(&words);
	functions_release(&v);
	selection_release(&sel);
	out_abort(out);
	return text;
}

static char *table(const char *records, struct functions_options o, struct table_style style)
{
	struct profile *p = profile_from_text(records);
	char *text = table_of(p, NULL, o, style);

	profile_free(p);
	return text;
}

static void a_table_at_eighty_columns(void **state)
{
	char *text = table(shop, (struct functions_options){.limit = 3},
		(struct table_style){.width = 80, .utf8 = 1});

	(void)state;
	assert_string_equal(text,
		"process 7 (shop): 1.00 s at 100 Hz on 2 CPUs\n"
		"5 samples of 2 threads: 100 ms of CPU time, 10.0 % of one CPU\n"
		"\n"
		"  SELF     ±   TOTAL      CPU  FUNCTION  MODULE\n"
		" 50.0%  38.0   58.0%  50.0 ms  find      libdb.so\n"
		" 40.0%  36.8   40.0%  40.0 ms  parse     app\n"
		"  8.0%     ~    8.0%   8.0 ms  read      [kernel]\n"
		"  2.0%  in 3 more functions (--limit 0 shows all)\n"
		"100.0%  = 100 ms of CPU time; 8.0 % in the kernel; 2.0 % without a name (no\n"
		"        symbol)\n"
		"5 samples: shares are known to ±38.0 points; about 25 min at this rate would\n"
		"give ±1.\n");
	free(text);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	static const int widths[] = {40, 60, 80, 99, 100, 120, 200};
	struct buf records = BUF_INIT;
	size_t i, w;
	int utf8;

	(void)state;
	buf_adds(&records, "!lost 400 0 100\n!counter 0 7 500\n!meta target process 7 (x)\n");
	for (i = 0; i < 40; i++)
		buf_addf(&records,
			"%zu proc/thread-%zu main;"
			"some::very::long::namespace::that::goes::on::Class%zu::method(int,const&):"
			":"
			"\xe7\x81\xab\xe7\x84\xb0\xe7\x81\xab\xe7\x84\xb0 %zu\n",
			i, i % 5, i, 1 + i % 7);
	for (w = 0; w < ARRAY_LEN(widths); w++) {
		for (utf8 = 0; utf8 < 2; utf8++) {
			enum rows_by by;

			for (by = ROWS_BY_FUNCTION; by <= ROWS_BY_PROCESS; by++) {
				char *text = table(buf_str(&records),
					     (struct functions_options){.by = by},
					     (struct table_style){
						     .width = widths[w], .utf8 = utf8}),
				     *line, *save = NULL;

				for (line = strtok_r(text, "\n", &save); line;
					line = strtok_r(NULL, "\n", &save))
					if (text_width(line, strlen(line)) > (size_t)widths[w])
						fail_msg("%d columns: \"%s\"", widths[w], line);
				free(text);
			}
		}
	}
	buf_release(&records);
}

static void without_a_width_names_are_whole(void **state)
{
	const char *name = "a_name_that_is_longer_than_sixty_columns_and_that_somebody_will_look_"
			   "for_with_grep";
	struct buf records = BUF_INIT;
	char *text;

	(void)state;
	buf_addf(&records, "1 a/t main;%s 5\n", name);
	text = table(
		buf_str(&records), (struct functions_options){0}, (struct table_style){.utf8 = 1});
	assert_contains(text, name);
	free(text);
	buf_release(&records);
}

static void ascii_and_colours_are_options(void **state)
{
	char *plain =
		table(shop, (struct functions_options){0}, (struct table_style){.width = 120});
	char *coloured = table(shop, (struct functions_options){0},
		(struct table_style){.width = 120, .utf8 = 1, .color = 1});
	const char *at;

	(void)state;
	for (at = plain; *at; at++)
		assert_true((unsigned char)*at < 0x80 && *at != '\033');
	assert_contains(plain, "+-");
	assert_contains(plain, "########");
	assert_contains(coloured, "\033[36m 50.0%\033[0m");
	assert_contains(coloured, "\342\226\210");
	free(plain);
	free(coloured);
}

static void hostile_names_reach_nobody_raw(void **state)
{
	struct profile *p;
	struct err e = {0};
	char *text;
	const char *at;
	int width;

	(void)state;
	assert_int_equal(profile_from_folded(&p,
				 "main;esc\033[31mred\033]0;title\007 "
				 "1\nmain;\r\xff\xc2\x9b\xe2\x80\xae 1\n",
				 &e),
		0);
	for (width = 0; width < 100; width += 33) {
		text = table_of(p, NULL, (struct functions_options){0},
			(struct table_style){.width = width, .utf8 = 1});
		for (at = text; *at; at++)
			assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
		assert_null(strstr(text, "\xe2\x80\xae"));
		assert_null(strstr(text, "\xff"));
		free(text);
	}
	profile_free(p);
}

static void warnings_come_first(void **state)
{
	char *text = table("!part\n!lost 2 0 10\n!counter 0 1 90\n!counter 0 7 10\n1 a/t [cut];f "
			   "1\n2 a/t f 1\n",
		(struct functions_options){0}, (struct table_style){.utf8 = 1});

	(void)state;
	assert_true(!strncmp(text,
		"warning: the recording was not ended in order: this is what was written by then\n"
		"warning: 2 samples lost, 500.0 of 1,000: record with a larger --buffer or a lower "
		"-F\n"
		"warning: the kernel left out 10 of 100 timer ticks (its limit on the rate): "
		"record with a "
		"lower -F\n"
		"warning: 50 % of the stacks are cut at the depth limit: totals of outer functions "
		"are too "
		"low\n",
		200));
	assert_contains(text, "warning: 50 % of the stacks");
	free(text);
}

static void one_per_mille_lost_is_no_warning(void **state)
{
	struct buf records = BUF_INIT;
	char *text;
	int i;

	(void)state;
	buf_adds(&records, "!lost 1 0 10\n");
	for (i = 0; i < 999; i++)
		buf_adds(&records, "1 a/t f 1\n");
	text = table(buf_str(&records), (struct functions_options){0}, (struct table_style){0});
	assert_null(strstr(text, "warning"));
	free(text);
	buf_release(&records);
}

static void a_selection_says_what_it_is_of(void **state)
{
	struct profile *p = profile_from_text(shop);
	const char *thread[] = {"front"};
	char *text = table_of(p,
		&(struct filter_options){.thread = {thread, 1}, .from = "1ms", .to = "2ms"},
		(struct functions_options){0}, (struct table_style){0});

	(void)state;
	assert_contains(
		text, "selected: --thread 'front' --from 1ms --to 2ms: 30.0 % of the whole\n");
	assert_contains(text, "1 sample of 1 thread: 30.0 ms");
	free(text);
	profile_free(p);
}

static void waiting_and_few_samples_are_said(void **state)
{
	char *idle = table("!duration 10000\n1 a/t f 10\n", (struct functions_options){0},
		(struct table_style){.utf8 = 1});
	char *busy = table("!duration 10\n1 a/t f 10\n", (struct functions_options){0},
		(struct table_style){.utf8 = 1});

	(void)state;
	assert_contains(idle, "It was on a CPU for 0.10 % of one CPU's time; the rest is waiting");
	assert_contains(idle, "Only 1 sample: about ");
	assert_null(strstr(busy, "waiting"));
	free(idle);
	free(busy);
}

static void imports_have_counts_and_no_errors(void **state)
{
	struct profile *p;
	struct err e = {0};
	char *text;

	(void)state;
	assert_int_equal(profile_from_folded(&p, "main;a 3000\nmain;b 1000\n", &e), 0);
	text = table_of(p, NULL, (struct functions_options){0}, (struct table_style){.width = 80});
	assert_string_equal(text, "folded text\n"
				  "4,000 in all, in 2 stacks\n"
				  "\n"
				  "  SELF   TOTAL  COUNT  FUNCTION\n"
				  " 75.0%   75.0%  3,000  a\n"
				  " 25.0%   25.0%  1,000  b\n"
				  "  0.0%  100.0%      0  main\n"
				  "100.0%  = 4,000 of the text's counts\n");
	free(text);
	profile_free(p);
}

static void the_run_record_comes_first_and_says_what_helps(void **state)
{
	struct profile *p =
		profile_from_text("!meta command profbpf -p 7\n!meta host.name box\n!lost 5 0 10\n"
				  "1 a/t f;libx!+3 1\n");
	struct capture_info file = {.complete = 1, .blocks = 2, .file_bytes = 4096};
	struct out *o = out_mem();
	struct info_view v;
	struct err e = {0};
	const char *text;
	size_t len;

	(void)state;
	profile_set_capture_info(p, &file);
	assert_int_equal(info_make(&v, p, &e), 0);
	info_render(o, &v, "x.prof");
	out_char(o, '\0');
	text = out_mem_data(o, &len);
	assert_true(!strncmp(text, "x.prof: complete capture, 4.0 KiB in 2 blocks\n\nRun\n", 50));
	assert_contains(text, "lost, 833.33 of 1,000");
	assert_contains(text, "ring");
	assert_contains(text, "helps: a larger --buffer");
	assert_contains(text, "frames without a name: no symbol covers the offset");
	assert_contains(text, "the host's name");
	out_abort(o);
	profile_free(p);
}

RUN_TESTS(T(a_table_at_eighty_columns), T(no_line_is_wider_than_the_terminal),
	T(without_a_width_names_are_whole), T(ascii_and_colours_are_options),
	T(hostile_names_reach_nobody_raw), T(warnings_come_first),
	T(one_per_mille_lost_is_no_warning), T(a_selection_says_what_it_is_of),
	T(waiting_and_few_samples_are_said), T(imports_have_counts_and_no_errors),
	T(the_run_record_comes_first_and_says_what_helps))
