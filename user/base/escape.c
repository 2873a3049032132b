/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: every destination is the text form (valid UTF-8, no unsafe character,
 * backslash doubled) with a few ASCII characters replaced on top. So a name
 * reads the same in all outputs, and what a consumer decodes from XML or JSON is
 * the text form, which unescape_folded() turns back into the very bytes.
 *
 * The common name is plain ASCII: a table look-up a byte finds the end of the
 * run that is copied as it is.
 */
#include "escape.h"

#include <errno.h>
#include <string.h>

#include "utf8.h"
#include "width_table.h"

enum {
	IN_TEXT = 1,   /* special everywhere */
	IN_FOLDED = 2, /* ';' */
	IN_XML = 4,
	IN_JSON = 8,
	IN_CSV = 16,
};

/* Which destinations cannot take this byte as it is. */
static inline unsigned special(unsigned char c)
{
	static const unsigned char table[128] = {
		[0 ... 0x1f] = IN_TEXT,
		[0x7f] = IN_TEXT,
		['\\'] = IN_TEXT,
		[';'] = IN_FOLDED,
		['&'] = IN_XML | IN_JSON,
		['<'] = IN_XML | IN_JSON,
		['>'] = IN_XML | IN_JSON,
		['"'] = IN_XML | IN_JSON | IN_CSV,
		['\''] = IN_XML,
	};

	return c < 128 ? table[c] : IN_TEXT;
}

static const char hex_digits[] = "0123456789abcdef";

static void add_hex(struct buf *b, const char *backslash, unsigned char c)
{
	char tmp[3] = {'x', hex_digits[c >> 4], hex_digits[c & 15]};

	buf_adds(b, backslash);
	buf_add(b, tmp, sizeof(tmp));
}

static void add_ascii(struct buf *b, unsigned char c, unsigned dest, const char *backslash)
{
	switch (c) {
	case '\\':
		buf_adds(b, backslash);
		buf_adds(b, backslash);
		return;
	case '&':
		buf_adds(b, dest == IN_XML ? "&amp;" : "\\u0026");
		return;
	case '<':
		buf_adds(b, dest == IN_XML ? "&lt;" : "\\u003c");
		return;
	case '>':
		buf_adds(b, dest == IN_XML ? "&gt;" : "\\u003e");
		return;
	case '"':
		buf_adds(b, dest == IN_XML ? "&quot;" : dest == IN_CSV ? "\"\"" : "\\\"");
		return;
	case '\'':
		buf_adds(b, "&#39;");
		return;
	default: /* controls, ';' */
		add_hex(b, backslash, c);
	}
}

static void escape(struct buf *b, const char *s, size_t len, unsigned dest)
{
	/* JSON would read a single backslash as the start of its own escape. */
	const char *backslash = dest == IN_JSON ? "\\\\" : "\\";
	const unsigned mask = IN_TEXT | dest;
	const char *end = s + len, *run = s;
	unsigned char c;
	uint32_t cp;
	size_t n;

	if (buf_reserve(b, len))
		return;
	while (s < end) {
		c = (unsigned char)*s;
		if (!(special(c) & mask)) {
			s++;
			continue;
		}
		n = 0;
		if (c >= 0x80) {
			n = utf8_decode(s, (size_t)(end - s), &cp);
			if (n && !utf8_is_unsafe(cp)) {
				s += n;
				continue;
			}
		}
		buf_add(b, run, (size_t)(s - run));
		if (n) {
			buf_adds(b, backslash);
			buf_addf(b, "u{%x}", cp);
			s += n;
		} else {
			if (c < 0x80)
				add_ascii(b, c, dest, backslash);
			else
				add_hex(b, backslash, c);
			s++;
		}
		run = s;
	}
	buf_add(b, run, (size_t)(s - run));
}

void escape_text(struct buf *b, const char *s, size_t len)
{
	escape(b, s, len, 0);
}

void escape_folded(struct buf *b, const char *s, size_t len)
{
	escape(b, s, len, IN_FOLDED);
}

void escape_xml(struct buf *b, const char *s, size_t len)
{
	escape(b, s, len, IN_XML);
}

void escape_json(struct buf *b, const char *s, size_t len)
{
	escape(b, s, len, IN_JSON);
}

/* What a spreadsheet takes for the start of a formula; some take the full-width forms too. */
static int starts_formula(const char *s, size_t len)
{
	static const char wide[][4] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
	size_t i;

	if (len && memchr("=+-@'", s[0], 5))
		return 1;
	for (i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (len >= 3 && !memcmp(s, wide[i], 3))
			return 1;
	return 0;
}

void escape_csv(struct buf *b, const char *s, size_t len)
{
	/* Spaces at the ends are lost by some readers unless quoted. */
	int quote = len && (memchr(s, ',', len) || memchr(s, '"', len) || s[0] == ' ' ||
				   s[len - 1] == ' ');

	if (quote)
		buf_addc(b, '"');
	/* A leading ' gets one as well, so that different names stay different. */
	if (starts_formula(s, len))
		buf_addc(b, '\'');
	escape(b, s, len, IN_CSV);
	if (quote)
		buf_addc(b, '"');
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* One escape at @s, which holds a backslash. Returns its length and up to 4 bytes, or 0. */
static size_t unescape_one(const char *s, size_t len, char *out, size_t *nr_out)
{
	uint32_t cp = 0;
	size_t i;

	*nr_out = 1;
	if (len >= 2 && s[1] == '\\') {
		out[0] = '\\';
		return 2;
	}
	if (len >= 4 && s[1] == 'x' && hex_value(s[2]) >= 0 && hex_value(s[3]) >= 0) {
		out[0] = (char)(hex_value(s[2]) << 4 | hex_value(s[3]));
		return 4;
	}
	if (len < 5 || s[1] != 'u' || s[2] != '{')
		return 0;
	for (i = 3; i < len && i < 9 && hex_value(s[i]) >= 0; i++)
		cp = cp << 4 | (uint32_t)hex_value(s[i]);
	if (i == 3 || i == len || s[i] != '}')
		return 0;
	*nr_out = utf8_encode(out, cp);
	return *nr_out ? i + 1 : 0;
}

void unescape_folded(struct buf *b, const char *s, size_t len)
{
	const char *end = s + len, *next;
	size_t n, nr_out;
	char out[4];

	if (buf_reserve(b, len))
		return;
	while (s < end) {
		next = memchr(s, '\\', (size_t)(end - s));
		if (!next)
			break;
		buf_add(b, s, (size_t)(next - s));
		s = next;
		n = unescape_one(s, (size_t)(end - s), out, &nr_out);
		if (n) {
			buf_add(b, out, nr_out);
			s += n;
		} else {
			buf_addc(b, *s++);
		}
	}
	buf_add(b, s, (size_t)(end - s));
}

char *escape_brief(char *dst, size_t size, const char *s)
{
	size_t len = strlen(s), head = len, tail = 0;
	struct buf b = BUF_INIT;

	/* The end of a path says which file it is: it gets the larger part. */
	if (len > ESCAPE_BRIEF_MAX) {
		head = ESCAPE_BRIEF_MAX / 3;
		tail = ESCAPE_BRIEF_MAX - head;
	}
	escape_text(&b, s, head);
	if (tail) {
		buf_adds(&b, "..");
		escape_text(&b, s + len - tail, tail);
	}
	if (b.err || b.len >= size) {
		/* No memory, or too small a place: still a true if poor description. */
		strncpy(dst, "(name)", size);
		dst[size - 1] = '\0';
	} else {
		memcpy(dst, b.data, b.len + 1);
	}
	buf_release(&b);
	return dst;
}

static int in_table(const struct range *t, size_t nr, uint32_t cp)
{
	size_t lo = 0, hi = nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (cp > t[mid].last)
			lo = mid + 1;
		else if (cp < t[mid].first)
			hi = mid;
		else
			return 1;
	}
	return 0;
}

static size_t char_width(uint32_t cp)
{
	if (cp < 0x300)
		return cp >= 0x20 && (cp < 0x7f || cp > 0x9f);
	if (in_table(zero_width, sizeof(zero_width) / sizeof(zero_width[0]), cp))
		return 0;
	return in_table(double_width, sizeof(double_width) / sizeof(double_width[0]), cp) ? 2 : 1;
}

/* What must not be cut: a character, or an escape sequence of ours. */
static size_t unit(const char *s, size_t len, size_t *width)
{
	size_t n, nr_out;
	char out[4];
	uint32_t cp;

	if (*s == '\\') {
		n = unescape_one(s, len, out, &nr_out);
		if (n) {
			*width = n;
			return n;
		}
	}
	n = utf8_decode(s, len, &cp);
	*width = n ? char_width(cp) : 1;
	return n ? n : 1;
}

size_t text_width(const char *s, size_t len)
{
	size_t width = 0, i, n, w;

	for (i = 0; i < len; i += n) {
		n = unit(s + i, len - i, &w);
		width += w;
	}
	return width;
}

size_t text_fit(const char *s, size_t len, size_t width)
{
	size_t i, n, w;

	for (i = 0; i < len; i += n) {
		n = unit(s + i, len - i, &w);
		if (w > width)
			break;
		width -= w;
	}
	return i;
}

void text_middle(struct buf *b, const char *s, size_t len, size_t width)
{
	size_t total = text_width(s, len), head, from, n, w;

	if (total <= width) {
		buf_add(b, s, len);
		return;
	}
	if (width < 5) { /* two dots and one letter at each end say less than a start */
		buf_add(b, s, text_fit(s, len, width));
		return;
	}
	head = text_fit(s, len, (width - 2) * 2 / 5);
	/* Drop units from the left until the rest fits beside head and dots. */
	width -= 2 + text_width(s, head);
	total -= text_width(s, head);
	for (from = head; from < len && total > width; from += n) {
		n = unit(s + from, len - from, &w);
		total -= w;
	}
	/* A combining mark must not land on the dots. */
	for (; from < len; from += n) {
		n = unit(s + from, len - from, &w);
		if (w)
			break;
	}
	buf_add(b, s, head);
	buf_adds(b, "..");
	buf_add(b, s + from, len - from);
}
