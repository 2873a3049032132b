/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole picture: what a browser and a stranger's file names make of it. */
#include "picture.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>

#include "flamegraph/assets/flamegraph.css.h"
#include "flamegraph/assets/flamegraph.js.h"
#include "flamegraph/flamegraph.h"
#include "user/base/utf8.h"

static struct out *picture;

/* The file as text; valid until the next call. */
static const char *draw(
	const struct calltree *t, const struct flamegraph_options *o, struct flamegraph_stats *st)
{
	struct err e = {0};
	size_t len;
	int err;

	out_abort(picture);
	picture = out_mem();
	err = flamegraph_svg(t, o, picture, st, &e);
	if (err)
		print_error("%s\n", e.msg);
	assert_int_equal(err, 0);
	out_char(picture, '\0');
	return out_mem_data(picture, &len);
}

static int teardown(void **state)
{
	(void)state;
	out_abort(picture);
	picture = NULL;
	return 0;
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/*
 * A strict reader of the XML we write: balanced elements, quoted attributes,
 * only the five named references, characters XML allows. Counts of elements
 * that a name must not be able to add.
 */
struct xml {
	unsigned elements, scripts, frames;
	int ok;
};

static const char *check_text(const char *s, char end, struct xml *x)
{
	static const char *const references[] = {
		"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#39;", "&#8249;", "&#8250;"};

	while (*s && *s != end) {
		size_t n = 1;
		uint32_t cp;

		if (*s == '<')
			x->ok = 0;
		if (*s == '&') {
			n = 0;
			for (size_t i = 0; i < ARRAY_LEN(references); i++)
				if (!strncmp(s, references[i], strlen(references[i])))
					n = strlen(references[i]);
		} else if (*s != '\n' && *s != '\t') {
			n = utf8_decode(s, strlen(s), &cp);
			x->ok &= n && !utf8_is_unsafe(cp);
		}
		if (!n) {
			x->ok = 0;
			return s + strlen(s);
		}
		s += n;
	}
	return s;
}

static struct xml check_xml(const char *s)
{
	struct xml x = {.ok = 1};
	char open[64][32];
	unsigned depth = 0;

	while (*s && x.ok) {
		size_t n;

		if (*s != '<') {
			s = check_text(s, '<', &x);
			continue;
		}
		if (!strncmp(s, "<?xml ", 6)) {
			s = strstr(s, "?>") + 2;
			continue;
		}
		if (!strncmp(s, "<![CDATA[", 9)) { /* ours only: in the script */
			x.ok &= depth && !strcmp(open[depth - 1], "script");
			s = strstr(s, "]]>") + 3;
			continue;
		}
		if (s[1] == '/') {
			n = strcspn(s + 2, ">");
			x.ok &= depth && strlen(open[depth - 1]) == n &&
				!strncmp(s + 2, open[depth - 1], n);
			depth -= !!depth;
			s += n + 3;
			continue;
		}
		n = strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
		x.ok &= n > 0 && n < 32 && depth < 64;
		if (!x.ok)
			break;
		snprintf(open[depth], sizeof(open[0]), "%.*s", (int)n, s + 1);
		x.elements++;
		x.scripts += !strcmp(open[depth], "script");
		x.frames += !strncmp(s, "<g class=\"f ", 12);
		depth++;
		for (s += n + 1; *s == ' ';) {
			n = strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
			x.ok &= n > 0 && s[n + 1] == '=' && s[n + 2] == '"' &&
				strncmp(s + 1, "on", 2);
			if (!x.ok)
				return x;
			s = check_text(s + n + 3, '"', &x);
			s += *s == '"';
		}
		if (*s == '/') {
			depth--;
			s++;
		}
		x.ok &= *s == '>';
		s += *s == '>';
	}
	x.ok &= !depth;
	return x;
}

static void test_flamegraph_says_what_was_measured(void **state)
{
	struct calltree *t = tree_new();
	const char *s;

	(void)state;
	for (int i = 0; i < 60; i++)
		tree_add(t, "main@app;read@libc.so.6;vfs_read@[kernel]", 100000000);
	for (int i = 0; i < 40; i++)
		tree_add(t, "main@app;~parse@app", 100000000);
	t->facts.unit = "ns";
	t->facts.what = "CPU time";
	t->facts.freq = 99;
	t->facts.duration_ns = 20000000000;
	t->facts.lost = 7;
	t->facts.command = "./app --fast";

	s = draw(t, &(struct flamegraph_options){.warning = "5.1 per mille of samples lost"}, NULL);

	assert_true(check_xml(s).ok);
	assert_contains(s, ">CPU flame graph: ./app --fast</text>");
	assert_contains(s, ">10.00 s of CPU time in 20.00 s</text>");
	assert_contains(s, ">100 samples at 99 Hz, 7 lost</text>");
	assert_contains(s, ">5.1 per mille of samples lost</text>");
	assert_contains(s, "Open in a web browser to zoom and search.");
	assert_contains(
		s, "<title>vfs_read\n6.00 s, 60.0 %, self 60.0 %, 60 samples\n[kernel]</title>");
	assert_contains(s, "<title>main\n10.00 s, 100.0 %, 100 samples\napp, own code</title>");
	assert_contains(s, "\napp, own code, inlined</title>");
	assert_contains(s, "\nlibc.so.6, library</title>");
	assert_contains(s, "Hottest by self: vfs_read 60.0 %, parse 40.0 %.");
	assert_null(strstr(s, "shares are rough"));
	calltree_free(t);
}

static void test_flamegraph_places_frames_in_percent(void **state)
{
	struct calltree *t = tree_new();
	const char *s;

	(void)state;
	tree_add(t, "a", 25);
	tree_add(t, "b", 75);

	s = draw(t, &(struct flamegraph_options){0}, NULL);

	assert_contains(s, "data-v=\"25\"><title>a\n25, 25.0 %, self 25.0 %</title>"
			   "<rect x=\"0.7000%\" y=\"0\" width=\"24.6500%\" height=\"17\"/>");
	assert_contains(s, "<rect x=\"25.3500%\" y=\"0\" width=\"73.9500%\" height=\"17\"/>");
	assert_contains(
		s, "<rect x=\"0.7000%\" y=\"18\" width=\"98.6000%\" height=\"17\"/>"); /* all */

	s = draw(t, &(struct flamegraph_options){.inverted = 1}, NULL);

	assert_contains(s, "<rect x=\"0.7000%\" y=\"0\" width=\"98.6000%\" height=\"17\"/>");
	assert_contains(s, "data-down=\"1\"");
	assert_contains(s, "Flame graph, inverted</title>");
	calltree_free(t);
}

static void test_flamegraph_is_the_same_every_time(void **state)
{
	struct calltree *t = tree_new();
	char stack[64], *first;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(stack, sizeof(stack), "main;f_%d;g_%d", i % 500, i);
		tree_add(t, stack, (uint64_t)i % 17 + 1);
	}

	first = strdup(draw(t, &(struct flamegraph_options){.max_frames = 200}, NULL));

	assert_string_equal(draw(t, &(struct flamegraph_options){.max_frames = 200}, NULL), first);
	free(first);
	calltree_free(t);
}

static void test_flamegraph_says_how_many_frames_are_merged(void **state)
{
	struct calltree *t = tree_new();
	struct flamegraph_stats st;
	const char *s;
	char stack[64];

	(void)state;
	tree_add(t, "main;big", 1000000);
	for (int i = 0; i < 1234; i++) {
		snprintf(stack, sizeof(stack), "main;leaf_%d", i);
		tree_add(t, stack, 10);
	}

	s = draw(t, &(struct flamegraph_options){.max_frames = 100}, &st);

	assert_true(check_xml(s).ok);
	assert_int_equal(st.drawn, 4);
	assert_int_equal(st.merged, 1234);
	assert_int_equal(st.listed, 1234);
	assert_int_equal(st.unlisted, 0);
	assert_contains(s, "<g class=\"f m0 m\" data-v=\"12340\"><title>1,234 small "
			   "frames\n12,340, 1.2 %</title>");
	assert_contains(s, "3 of 1,237 frames drawn, the others merged");
	calltree_free(t);
}

static void test_flamegraph_takes_hostile_names_as_text(void **state)
{
	/* Each tries to end the element, the attribute, the script, the style or the document. */
	static const char *const names[] = {
		"</title><script>document.documentElement.setAttribute('data-x','1')</script>",
		"</script><script>alert(1)</script>",
		"\"];alert(1);var x=[\"",
		"' onmouseover='alert(1)",
		"\" onload=\"alert(1)\" x=\"",
		"</style><style>*{display:none}",
		"<svg/onload=alert(1)>",
		"<foreignObject><iframe src=\"http://127.0.0.1/\"/></foreignObject>",
		"]]><script>alert(1)</script><![CDATA[",
		"<!ENTITY x SYSTEM \"file:///etc/passwd\"> &x;",
		"&amp; already &lt;escaped&gt; &#65;",
		"std::vector<int, std::allocator<int> >::operator[](unsigned long) const &",
		"100%_done_%s%n%d",
		"\x01\x02\x1b[31mred\x7f\xc2\x85 \xff\xfe\x80 \xe2\x80\xae\xef\xbf\xbf",
	};
	struct calltree *t = tree_new();
	const char *s;
	struct xml plain, x;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		tree_add(t, "main;harmless", 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		uint32_t f =
			tree_func_n(t, names[i], strlen(names[i]), names[i], PALETTE_FUNC_USER, 0);

		tree_value(t, tree_child(t, 1, f), 10);
	}
	t->facts.command = names[1];

	s = draw(t, &(struct flamegraph_options){.warning = names[8]}, NULL);
	x = check_xml(s);

	assert_true(x.ok);
	assert_int_equal(x.scripts, 1);
	assert_int_equal(x.frames, 2 + ARRAY_LEN(names));
	assert_int_equal(count(s, "<script>"), 1);
	assert_int_equal(count(s, "]]>"), 1);
	assert_contains(s, "<title>&amp;amp; already &amp;lt;escaped&amp;gt; &amp;#65;\n");
	assert_contains(s, "<title>100%_done_%s%n%d\n");
	assert_contains(s,
		"<title>\\x01\\x02\\x1b[31mred\\x7f\\u{85} \\xff\\xfe\\x80 \\u{202e}\\u{ffff}\n");
	plain = check_xml(draw(t, &(struct flamegraph_options){.title = names[0]}, NULL));
	assert_true(plain.ok && plain.scripts == 1);
	calltree_free(t);
}

static void test_flamegraph_takes_random_bytes_as_names(void **state)
{
	uint64_t seed = 21;

	(void)state;
	for (int k = 0; k < 20; k++) {
		struct calltree *t = tree_new();
		struct xml x;

		for (int i = 0; i < 40; i++) {
			char name[80];
			size_t len = 1 + test_random(&seed) % sizeof(name);

			for (size_t c = 0; c < len; c++)
				name[c] = k % 2 ? (char)test_random(&seed)
						: "<>&\"'/!-[]?; \xc3\xa4"[test_random(&seed) % 15];
			tree_value(t,
				tree_child(t, (uint32_t)(test_random(&seed) % t->nr),
					tree_func_n(t, name, len, "", PALETTE_FUNC_IMPORTED, 0)),
				1 + test_random(&seed) % 1000);
		}
		x = check_xml(
			draw(t, &(struct flamegraph_options){.max_frames = k % 3 ? 0 : 10}, NULL));
		assert_true(x.ok);
		assert_int_equal(x.scripts, 1);
		calltree_free(t);
	}
}

static void test_flamegraph_keeps_to_its_size_whatever_the_names(void **state)
{
	static const char *const parts[] = {"namespace::", "\"", "\x01", "\xff", "<T>"};

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
		struct calltree *t = tree_new();
		struct flamegraph_stats st;
		char *name = malloc(10001);
		size_t len = 0;

		while (len + strlen(parts[k]) <= 10000)
			len += (size_t)sprintf(name + len, "%s", parts[k]);
		for (int i = 0; i < 4500; i++)
			tree_value(t,
				tree_child(t, (uint32_t)(i % 40 ? t->nr - 1 : 0),
					tree_func_n(t, name, len - (size_t)i % 64, name,
						PALETTE_FUNC_USER, 0)),
				100 + (uint64_t)i);

		assert_true(check_xml(draw(t, &(struct flamegraph_options){0}, &st)).ok);

		assert_true(st.bytes <= 1000000);
		assert_true(st.drawn > 1000);
		assert_true(st.cut_names > 0);
		free(name);
		calltree_free(t);
	}
}

static void test_flamegraph_of_one_sample_says_so(void **state)
{
	struct calltree *t = tree_new();
	const char *s;

	(void)state;
	tree_add(t, "a;b", 1);

	s = draw(t, &(struct flamegraph_options){0}, NULL);

	assert_true(check_xml(s).ok);
	assert_contains(s, "only 1 sample: shares are rough");
	assert_contains(s, "<title>b\n1, 100.0 %, self 100.0 %</title>");
	assert_null(strstr(s, "nan"));
	calltree_free(t);
}

static void test_flamegraph_of_huge_values_has_no_overflow(void **state)
{
	struct calltree *t = tree_new();
	const char *s;

	(void)state;
	tree_add(t, "a;b", 1ull << 62);
	tree_add(t, "a;c", 1ull << 62);

	s = draw(t, &(struct flamegraph_options){0}, NULL);

	assert_contains(s, "<rect x=\"50.0000%\"");
	assert_contains(s, "9,223,372,036,854,775,808, 100.0 %");
	calltree_free(t);
}

static void test_flamegraph_of_a_deep_recursion_stays_openable(void **state)
{
	struct calltree *t = tree_new();
	uint32_t f = tree_func(t, "f", 1), n = 0;
	const char *s, *height;

	(void)state;
	for (int i = 0; i < 20000; i++)
		n = tree_child(t, n, f);
	tree_value(t, n, 1000);

	s = draw(t, &(struct flamegraph_options){0}, NULL);

	height = strstr(s, "height=\"");
	assert_true(atoi(height + 8) <= 32767);
	assert_contains(s, "<title>cut here: 18,204 more levels\n1,000, 100.0 %</title>");
	calltree_free(t);
}

static void test_flamegraph_of_an_empty_tree_is_no_data(void **state)
{
	struct calltree *t = tree_new();
	struct out *o = out_mem();
	struct err e = {0};
	size_t len;

	(void)state;
	assert_int_equal(flamegraph_svg(t, &(struct flamegraph_options){0}, o, NULL, &e), -ENODATA);
	out_mem_data(o, &len);
	assert_int_equal(len, 0);
	out_abort(o);
	calltree_free(t);
}

static void test_flamegraph_returns_the_first_write_error(void **state)
{
	struct calltree *t = tree_new();
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct out *o = out_fd(fd);
	struct err e = {0};
	int err;

	(void)state;
	tree_add(t, "a;b", 1);
	err = flamegraph_svg(t, &(struct flamegraph_options){0}, o, NULL, &e);
	if (!err)
		err = out_close(o, &e);
	else
		out_abort(o);
	assert_int_equal(err, -ENOSPC);
	close(fd);
	calltree_free(t);
}

static void test_flamegraph_script_is_small_and_safe(void **state)
{
	static const char *const never[] = {"]]>", "innerHTML", "outerHTML", "insertAdjacent",
		"document.write", "eval(", "new Function", "http:", "https:", "fetch(",
		"XMLHttpRequest", "import("};
	const char *js = (const char *)asset_flamegraph_assets_flamegraph_js;
	const char *css = (const char *)asset_flamegraph_assets_flamegraph_css;

	(void)state;
	assert_true(asset_flamegraph_assets_flamegraph_js_len < 25000);
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		/* The one address is a name, that of SVG's elements. */
		size_t allowed = !strcmp(never[i], "http:");

		assert_int_equal(count(js, never[i]), allowed);
	}
	assert_contains(js, "'http://www.w3.org/2000/svg'");
	assert_null(strpbrk(css, "<&"));
	assert_null(strstr(css, "url("));
	assert_null(strstr(css, "@import"));
}

#define P(name) cmocka_unit_test_teardown(name, teardown)
RUN_TESTS(P(test_flamegraph_says_what_was_measured), P(test_flamegraph_places_frames_in_percent),
	P(test_flamegraph_is_the_same_every_time),
	P(test_flamegraph_says_how_many_frames_are_merged),
	P(test_flamegraph_takes_hostile_names_as_text),
	P(test_flamegraph_takes_random_bytes_as_names),
	P(test_flamegraph_keeps_to_its_size_whatever_the_names),
	P(test_flamegraph_of_one_sample_says_so), P(test_flamegraph_of_huge_values_has_no_overflow),
	P(test_flamegraph_of_a_deep_recursion_stays_openable),
	T(test_flamegraph_of_an_empty_tree_is_no_data),
	T(test_flamegraph_returns_the_first_write_error),
	T(test_flamegraph_script_is_small_and_safe))
