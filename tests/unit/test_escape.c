/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "user/base/escape.h"
#include "user/base/utf8.h"

typedef void escape_fn(struct buf *b, const char *s, size_t len);

static void check(escape_fn *fn, const char *in, size_t len, const char *want)
{
	struct buf b = BUF_INIT;

	fn(&b, in, len);
	assert_int_equal(b.err, 0);
	assert_bytes(buf_str(&b), b.len, want, strlen(want));
	buf_release(&b);
}

#define CHECK(fn, in, want) check(fn, in, sizeof(in) - 1, want)

static void test_escape_text_leaves_plain_and_foreign_letters(void **state)
{
	CHECK(escape_text, "", "");
	CHECK(escape_text, "std::vector<int>::push_back(int&&) [.cold]",
		"std::vector<int>::push_back(int&&) [.cold]");
	CHECK(escape_text, "na\u00efve \u4e2d\u6587 \U0001f600",
		"na\u00efve \u4e2d\u6587 \U0001f600");
	CHECK(escape_text, "\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469");
}

static void test_escape_text_makes_controls_visible(void **state)
{
	CHECK(escape_text, "a\0b", "a\\x00b");
	CHECK(escape_text, "a\nb\rc\td", "a\\x0ab\\x0dc\\x09d");
	CHECK(escape_text, "\x1b[31mred\x7f", "\\x1b[31mred\\x7f");
	CHECK(escape_text, "\xc2\x85\xc2\x9b", "\\u{85}\\u{9b}");
}

static void test_escape_text_makes_deceiving_characters_visible(void **state)
{
	CHECK(escape_text, "a\u202eb\u2066c\u200e", "a\\u{202e}b\\u{2066}c\\u{200e}");
	CHECK(escape_text, "a\u2028b\u2029", "a\\u{2028}b\\u{2029}");
	CHECK(escape_text, "\ufeff\ufffe\uffff", "\\u{feff}\\u{fffe}\\u{ffff}");
	CHECK(escape_text, "\U000e0041", "\\u{e0041}");
}

static void test_escape_text_spells_out_invalid_bytes(void **state)
{
	CHECK(escape_text, "caf\xe9", "caf\\xe9");
	CHECK(escape_text, "\xc0\xaf", "\\xc0\\xaf");			/* overlong "/" */
	CHECK(escape_text, "\xed\xa0\x80", "\\xed\\xa0\\x80");		/* surrogate */
	CHECK(escape_text, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* > U+10FFFF */
	CHECK(escape_text, "\xe2\x82", "\\xe2\\x82");			/* cut */
	CHECK(escape_text, "\xe2\x82;", "\\xe2\\x82;");
	CHECK(escape_text, "\xff\u20ac", "\\xff\u20ac");
}

static void test_escape_text_doubles_backslash(void **state)
{
	CHECK(escape_text, "a\\b", "a\\\\b");
	CHECK(escape_text, "\\x41", "\\\\x41"); /* stays distinct from "A" */
}

static void test_escape_folded_escapes_semicolon_and_newline(void **state)
{
	CHECK(escape_folded, "a;b", "a\\x3bb");
	CHECK(escape_folded, "a;b\nc 1", "a\\x3bb\\x0ac 1");
	CHECK(escape_folded, "f(<T>&)", "f(<T>&)");
}

static void test_escape_xml_replaces_markup_and_both_quotes(void **state)
{
	CHECK(escape_xml, "a<b>&\"c\"'d'", "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
	CHECK(escape_xml, "]]>", "]]&gt;");
	CHECK(escape_xml, "&amp;", "&amp;amp;");
}

static void test_escape_xml_doubles_backslash(void **state)
{
	CHECK(escape_xml, "a\\b", "a\\\\b");
}

static void test_escape_xml_holds_no_character_xml_forbids(void **state)
{
	CHECK(escape_xml, "\0\1\x1f\ufffe\xff", "\\x00\\x01\\x1f\\u{fffe}\\xff");
}

static void test_escape_json_is_safe_inside_a_script(void **state)
{
	CHECK(escape_json, "</script><!--&", "\\u003c/script\\u003e\\u003c!--\\u0026");
	CHECK(escape_json, "say \"hi\" 'there';", "say \\\"hi\\\" 'there';");
}

static void test_escape_json_decodes_to_the_text_form(void **state)
{
	CHECK(escape_json, "a\\b", "a\\\\\\\\b");	    /* a\\b once decoded */
	CHECK(escape_json, "a\nb\xff", "a\\\\x0ab\\\\xff"); /* a\x0ab\xff once decoded */
	CHECK(escape_json, "\u2028", "\\\\u{2028}");
}

static void test_escape_csv_quotes_only_when_needed(void **state)
{
	CHECK(escape_csv, "plain name", "plain name");
	CHECK(escape_csv, "f(a, b)", "\"f(a, b)\"");
	CHECK(escape_csv, "a\"b\"\"", "\"a\"\"b\"\"\"\"\"");
	CHECK(escape_csv, " a", "\" a\"");
	CHECK(escape_csv, "a\nb", "a\\x0ab");
	CHECK(escape_csv, "", "");
}

static void test_escape_csv_defuses_formulas_and_keeps_names_distinct(void **state)
{
	CHECK(escape_csv, "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
	CHECK(escape_csv, "@SUM(1,2)", "\"'@SUM(1,2)\"");
	CHECK(escape_csv, "+1", "'+1");
	CHECK(escape_csv, "-1", "'-1");
	CHECK(escape_csv, "\uff1d1", "'\uff1d1");
	CHECK(escape_csv, "'=1", "''=1");
	CHECK(escape_csv, "a=b", "a=b");
}

static void test_unescape_leaves_what_is_no_escape(void **state)
{
	CHECK(unescape_folded, "plain", "plain");
	CHECK(unescape_folded, "\\x3b\\x0A", ";\n");
	CHECK(unescape_folded, "\\u{e9}\\u{1F600}", "\u00e9\U0001f600");
	CHECK(unescape_folded, "\\\\x3b", "\\x3b");
	CHECK(unescape_folded, "\\", "\\");
	CHECK(unescape_folded, "C:\\dir\\name", "C:\\dir\\name");
	CHECK(unescape_folded, "\\x", "\\x");
	CHECK(unescape_folded, "\\x3", "\\x3");
	CHECK(unescape_folded, "\\xg0", "\\xg0");
	CHECK(unescape_folded, "\\u{}", "\\u{}");
	CHECK(unescape_folded, "\\u{41", "\\u{41");
	CHECK(unescape_folded, "\\u{d800}", "\\u{d800}");
	CHECK(unescape_folded, "\\u{110000}", "\\u{110000}");
	CHECK(unescape_folded, "\\u{0000041}", "\\u{0000041}");
	CHECK(unescape_folded, "\\u41", "\\u41");
}

/* Bytes that lead into the corners more often than chance would. */
static size_t random_text(uint64_t *seed, char *s, size_t max)
{
	static const char *const bits[] = {"\\", ";", "\xe2\x80\xae", "\xe2", "\x80", "\xc2", "<",
		"\"", "\\x41", "\\u{41}", "\xed\xa0\x80", "\xef\xbf\xbe", "abc", "\xf0\x9f\x98\x80",
		"\n", "=", ",", "'", "&", "{", "}", "u", "x"};
	size_t len = 0, want = test_random(seed) % (max - 8), n;
	const char *bit;

	while (len < want) {
		if (test_random(seed) % 4) {
			bit = bits[test_random(seed) % ARRAY_LEN(bits)];
			n = strlen(bit);
			memcpy(s + len, bit, n);
			len += n;
		} else {
			s[len++] = (char)test_random(seed);
		}
	}
	return len;
}

static void assert_clean(const struct buf *b)
{
	uint32_t cp;
	size_t i, n;

	for (i = 0; i < b->len; i += n) {
		n = utf8_decode(b->data + i, b->len - i, &cp);
		assert_true(n > 0);
		assert_false(utf8_is_unsafe(cp));
	}
}

static void test_unescape_gives_back_the_bytes_of_any_text(void **state)
{
	struct buf esc = BUF_INIT, back = BUF_INIT;
	uint64_t seed = 11;
	char s[64];
	size_t len;
	int i;

	for (i = 0; i < 20000; i++) {
		len = random_text(&seed, s, sizeof(s));
		buf_clear(&esc);
		buf_clear(&back);
		if (i & 1)
			escape_folded(&esc, s, len);
		else
			escape_text(&esc, s, len);
		unescape_folded(&back, esc.data, esc.len);
		assert_bytes(back.data, back.len, s, len);
		assert_clean(&esc);
		if (i & 1)
			assert_null(memchr(esc.data, ';', esc.len));
	}
	buf_release(&esc);
	buf_release(&back);
}

/* Decode what escape_json can produce. */
static void json_decode(struct buf *b, const char *s, size_t len)
{
	unsigned v;
	size_t i;

	for (i = 0; i < len; i++) {
		assert_true(s[i] != '"' && s[i] != '<' && s[i] != '>' && s[i] != '&');
		if (s[i] != '\\') {
			buf_addc(b, s[i]);
			continue;
		}
		i++;
		assert_true(i < len);
		if (s[i] == 'u') {
			assert_int_equal(sscanf(s + i + 1, "%4x", &v), 1);
			buf_addc(b, (char)v);
			i += 4;
		} else {
			assert_true(s[i] == '\\' || s[i] == '"');
			buf_addc(b, s[i]);
		}
	}
}

static void test_escape_json_and_xml_of_any_text_decode_to_its_text_form(void **state)
{
	static const struct {
		const char *ref;
		char c;
	} refs[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
	struct buf text = BUF_INIT, esc = BUF_INIT, back = BUF_INIT;
	uint64_t seed = 12;
	size_t len, k, r;
	char s[64];
	int i;

	for (i = 0; i < 20000; i++) {
		len = random_text(&seed, s, sizeof(s));
		buf_clear(&text);
		escape_text(&text, s, len);

		buf_clear(&esc);
		buf_clear(&back);
		escape_json(&esc, s, len);
		json_decode(&back, esc.data, esc.len);
		assert_bytes(back.data, back.len, text.data, text.len);
		assert_clean(&esc);

		buf_clear(&esc);
		buf_clear(&back);
		escape_xml(&esc, s, len);
		assert_clean(&esc);
		for (k = 0; k < esc.len; k++) {
			assert_null(memchr("<>\"'", esc.data[k], 4));
			if (esc.data[k] != '&') {
				buf_addc(&back, esc.data[k]);
				continue;
			}
			for (r = 0; r < ARRAY_LEN(refs); r++)
				if (!strncmp(esc.data + k, refs[r].ref, strlen(refs[r].ref)))
					break;
			assert_true(r < ARRAY_LEN(refs));
			buf_addc(&back, refs[r].c);
			k += strlen(refs[r].ref) - 1;
		}
		assert_bytes(back.data, back.len, text.data, text.len);
	}
	buf_release(&text);
	buf_release(&esc);
	buf_release(&back);
}

static void test_escape_brief_shortens_the_middle(void **state)
{
	char dst[ESCAPE_BRIEF_BUF], name[600];

	assert_string_equal(escape_brief(dst, sizeof(dst), "a\nb"), "a\\x0ab");
	memset(name, '\1', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(name, "/home", 5);
	memcpy(name + 594, "c.svg", 5);
	escape_brief(dst, sizeof(dst), name);
	assert_memory_equal(dst, "/home\\x01", 9);
	assert_contains(dst, "\\x01..\\x01");
	assert_string_equal(dst + strlen(dst) - 9, "\\x01c.svg");
	assert_string_equal(escape_brief(dst, 8, name), "(name)");
	assert_string_equal(escape_brief(dst, 4, name), "(na");
}

static size_t width_of(const char *s)
{
	return text_width(s, strlen(s));
}

static void test_text_width_counts_columns(void **state)
{
	assert_int_equal(width_of(""), 0);
	assert_int_equal(width_of("abc"), 3);
	assert_int_equal(width_of("na\u00efve"), 5);
	assert_int_equal(width_of("\u4e2d\u6587"), 4);
	assert_int_equal(width_of("\U0001f600"), 2);
	assert_int_equal(width_of("e\u0301"), 1);
	assert_int_equal(width_of("\u2500\u2588"), 2); /* box drawing: "ambiguous" is narrow */
	assert_int_equal(width_of("\\x1b"), 4);
}

static void test_text_fit_takes_whole_characters(void **state)
{
	assert_int_equal(text_fit("abc", 3, 2), 2);
	assert_int_equal(text_fit("abc", 3, 9), 3);
	assert_int_equal(text_fit("\u4e2d\u6587", 6, 3), 3);
	assert_int_equal(text_fit("e\u0301x", 4, 1), 3); /* the accent stays with its letter */
	assert_int_equal(text_fit("a\\x1bb", 6, 3), 1);	 /* an escape is not cut */
	assert_int_equal(text_fit("abc", 3, 0), 0);
}

static void check_middle(const char *s, size_t width, const char *want)
{
	struct buf b = BUF_INIT;

	text_middle(&b, s, strlen(s), width);
	assert_bytes(buf_str(&b), b.len, want, strlen(want));
	buf_release(&b);
}

static void test_text_middle_keeps_both_ends(void **state)
{
	check_middle("short", 5, "short");
	check_middle("namespace::Class::method", 12, "name..method");
	check_middle("abcdefgh", 7, "ab..fgh");
	check_middle("abcdefgh", 4, "abcd");
	check_middle("abcdefgh", 0, "");
	check_middle("ab\u4e2d\u6587\u4e2d\u6587", 8, "ab..\u4e2d\u6587");
	check_middle("ab\u4e2d\u6587\u4e2d\u6587", 7, "ab..\u6587");
	check_middle("abcdefe\u0301xy", 7, "ab..e\u0301xy");
	check_middle("abcdee\u0301xyz", 7, "ab..xyz");
}

static void test_text_middle_never_exceeds_its_width(void **state)
{
	struct buf text = BUF_INIT, b = BUF_INIT;
	uint64_t seed = 13;
	size_t width, len;
	char s[64];
	int i;

	for (i = 0; i < 5000; i++) {
		len = random_text(&seed, s, sizeof(s));
		buf_clear(&text);
		escape_text(&text, s, len);
		width = test_random(&seed) % 40;
		buf_clear(&b);
		text_middle(&b, buf_str(&text), text.len, width);
		assert_true(text_width(buf_str(&b), b.len) <= width);
		if (b.len)
			assert_clean(&b);
	}
	buf_release(&text);
	buf_release(&b);
}

RUN_TESTS(T(test_escape_text_leaves_plain_and_foreign_letters),
	T(test_escape_text_makes_controls_visible),
	T(test_escape_text_makes_deceiving_characters_visible),
	T(test_escape_text_spells_out_invalid_bytes), T(test_escape_text_doubles_backslash),
	T(test_escape_folded_escapes_semicolon_and_newline),
	T(test_escape_xml_replaces_markup_and_both_quotes), T(test_escape_xml_doubles_backslash),
	T(test_escape_xml_holds_no_character_xml_forbids),
	T(test_escape_json_is_safe_inside_a_script), T(test_escape_json_decodes_to_the_text_form),
	T(test_escape_csv_quotes_only_when_needed),
	T(test_escape_csv_defuses_formulas_and_keeps_names_distinct),
	T(test_unescape_leaves_what_is_no_escape),
	T(test_unescape_gives_back_the_bytes_of_any_text),
	T(test_escape_json_and_xml_of_any_text_decode_to_its_text_form),
	T(test_escape_brief_shortens_the_middle), T(test_text_width_counts_columns),
	T(test_text_fit_takes_whole_characters), T(test_text_middle_keeps_both_ends),
	T(test_text_middle_never_exceeds_its_width))
