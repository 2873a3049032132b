/* SPDX-License-Identifier: BSD-2-Clause */
#include "line_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stays in the second-level cache between read(2) and the parser. */
#define BUFFER_FIRST ((size_t)256 << 10)

int line_source_init_fd(struct line_source *l, int fd, size_t max)
{
	*l = (struct line_source){.fd = fd, .cap = BUFFER_FIRST, .max = max};
	l->buf = malloc(l->cap + LINES_PAD);
	return l->buf ? 0 : -ENOMEM;
}

void line_source_init_mem(struct line_source *l, const void *data, size_t len, size_t max)
{
	/* Never written to: there is nothing to read into it. */
	*l = (struct line_source){.fd = -1,
		.buf = (char *)(uintptr_t)data,
		.len = len,
		.max = max,
		.eof = 1,
		.bytes = len};
}

void line_source_release(struct line_source *l)
{
	if (l->fd >= 0)
		free(l->buf);
	free(l->tail);
	l->buf = l->tail = NULL;
}

/* Read more behind what is there, making room first. */
static int fill(struct line_source *l)
{
	size_t cap = l->cap;
	char *buf;
	ssize_t n;

	if (l->pos) {
		memmove(l->buf, l->buf + l->pos, l->len - l->pos);
		l->len -= l->pos;
		l->pos = 0;
		l->moved = 1;
	}
	if (l->len == l->cap) {
		cap = cap > l->max / 2 ? l->max + 1 : cap * 2;
		buf = realloc(l->buf, cap + LINES_PAD);
		if (!buf)
			return -ENOMEM;
		l->buf = buf;
		l->cap = cap;
		l->moved = 1;
	}
	do {
		n = read(l->fd, l->buf + l->len, l->cap - l->len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	l->eof = !n;
	l->len += (size_t)n;
	l->bytes += (uint64_t)n;
	return 0;
}

/* Drop everything up to and including the next LF. */
static int skip_line(struct line_source *l)
{
	const char *end;
	int ret;

	for (;;) {
		end = l->pos < l->len ? memchr(l->buf + l->pos, '\n', l->len - l->pos) : NULL;
		if (end) {
			l->pos = (size_t)(end - l->buf) + 1;
			return 0;
		}
		l->pos = l->len;
		if (l->eof)
			return 0;
		ret = fill(l);
		if (ret)
			return ret;
	}
}

/* In foreign memory the last bytes have nothing behind them. */
static int pad_tail(struct line_source *l, const char **line, size_t len)
{
	char *copy;

	copy = realloc(l->tail, len + LINES_PAD);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, *line, len);
	memset(copy + len, 0, LINES_PAD);
	l->tail = copy;
	l->moved = 1;
	*line = copy;
	return 0;
}

int line_source_next(struct line_source *l, const char **line, size_t *len)
{
	size_t seen = 0; /* of the line: known to hold no LF */
	const char *end;
	int ret;

	for (;;) {
		end = NULL;
		if (l->pos + seen < l->len)
			end = memchr(l->buf + l->pos + seen, '\n', l->len - l->pos - seen);
		seen = l->len - l->pos;
		*len = end ? (size_t)(end - l->buf) - l->pos : seen;
		if (*len > l->max) {
			ret = skip_line(l);
			return ret ? ret : 2;
		}
		if (end || l->eof)
			break;
		ret = fill(l);
		if (ret)
			return ret;
	}
	*line = l->buf + l->pos;
	if (!end && !*len)
		return 0;
	l->pos += *len + (end ? 1 : 0);
	if (l->fd < 0 && l->len - (size_t)(*line - l->buf) - *len < LINES_PAD) {
		ret = pad_tail(l, line, *len);
		if (ret)
			return ret;
	}
	return 1;
}
