/* SPDX-License-Identifier: BSD-2-Clause */
#include "flamegraph/name_cut.h"

#define CHAR_MAX_BYTES 4

static int continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* @keep raw bytes, two thirds of them from the start. */
static void add_cut(struct buf *b, const char *s, size_t len, size_t keep,
	void (*escape)(struct buf *, const char *, size_t))
{
	size_t from = len - keep / 3, head = keep - keep / 3;

	/* To character bounds; stray bytes that look like the middle of one do not move it far. */
	for (int i = 1; i < CHAR_MAX_BYTES && head && continues(s[head]); i++)
		head--;
	for (int i = 1; i < CHAR_MAX_BYTES && from < len && continues(s[from]); i++)
		from++;
	escape(b, s, head);
	buf_adds(b, "..");
	escape(b, s + from, len - from);
}

int name_add(struct buf *b, const char *s, size_t len, size_t max,
	void (*escape)(struct buf *, const char *, size_t))
{
	size_t at = b->len, keep = max - 2, out;

	if (len <= max) {
		escape(b, s, len);
		if (b->err || b->len - at <= max)
			return 0;
	}
	if (keep >= len)
		keep = len - 1;
	for (;;) {
		if (b->len > at) {
			b->len = at;
			b->data[at] = '\0';
		}
		add_cut(b, s, len, keep, escape);
		out = b->len - at;
		if (b->err || out <= max || !keep)
			return 1;
		keep = keep * max /
		       out; /* escapes made it longer: less than before, as out > max */
	}
}
