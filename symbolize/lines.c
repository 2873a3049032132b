/* SPDX-License-Identifier: BSD-2-Clause */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One read(2) of /proc files gives at most a few pages anyway; for large maps
 * this keeps the number of calls low. */
#define BUF_SIZE ((size_t)256 << 10)

int lines_init(struct lines *l, int fd, uint64_t limit)
{
	*l = (struct lines){.fd = fd, .limit = limit};
	l->buf = malloc(BUF_SIZE);
	return l->buf ? 0 : -ENOMEM;
}

void lines_init_mem(struct lines *l, const char *text, size_t len)
{
	*l = (struct lines){.fd = -1, .mem = text, .mem_len = len, .end = len, .eof = 1};
}

void lines_release(struct lines *l)
{
	free(l->buf);
	*l = (struct lines){.fd = -1};
}

/* Move what is left to the front and read more behind it. Bytes read, 0 at the end, or an error. */
static int fill(struct lines *l)
{
	size_t room;
	ssize_t n;

	if (l->eof || !l->buf)
		return 0;
	if (l->start) {
		memmove(l->buf, l->buf + l->start, l->end - l->start);
		l->end -= l->start;
		l->start = 0;
	}
	room = BUF_SIZE - l->end;
	if (room > l->limit - l->taken)
		room = (size_t)(l->limit - l->taken);
	do
		n = room ? read(l->fd, l->buf + l->end, room) : 0;
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0)
		l->eof = 1;
	l->taken += (uint64_t)n;
	l->end += (size_t)n;
	return (int)n;
}

static void give(struct lines *l, const char *s, size_t len)
{
	l->line = s;
	l->cut = len > LINES_KEEP;
	l->len = l->cut ? LINES_KEEP : len;
	l->number++;
}

int lines_next(struct lines *l)
{
	const char *base = l->mem ? l->mem : l->buf;
	size_t seen = l->start;

	if (!base)
		return 0;
	for (;;) {
		const char *nl = memchr(base + seen, '\n', l->end - seen);
		int skipping = l->skipping, n;

		if (nl) {
			size_t from = l->start;

			l->start = seen = (size_t)(nl - base) + 1;
			l->skipping = 0;
			if (skipping)
				continue;
			give(l, base + from, (size_t)(nl - base) - from);
			return 1;
		}
		if (skipping) {
			l->start = l->end;
		} else if (l->buf && !l->start && l->end == BUF_SIZE) {
			/* Full without a newline: give the head, drop the rest in the next call. */
			give(l, l->buf, l->end);
			l->start = l->end;
			l->skipping = 1;
			return 1;
		}
		seen = l->end - l->start; /* where new bytes will begin */
		n = fill(l);
		if (n < 0)
			return n;
		if (!n) {
			if (l->start == l->end)
				return 0;
			give(l, base + l->start, l->end - l->start);
			l->start = l->end;
			return 1;
		}
	}
}

int parse_hex(const char **s, const char *end, uint64_t *v)
{
	const char *p = *s;
	uint64_t n = 0;
	int digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (; p < end; p++, digits++) {
		unsigned d;

		if (*p >= '0' && *p <= '9')
			d = (unsigned)(*p - '0');
		else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
			d = (unsigned)((*p | 0x20) - 'a') + 10;
		else
			break;
		if (n >> 60)
			return 0;
		n = n << 4 | d;
	}
	if (!digits)
		return 0;
	*s = p;
	*v = n;
	return 1;
}

int skip_blanks(const char **s, const char *end)
{
	const char *p = *s;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == *s)
		return 0;
	*s = p;
	return 1;
}
