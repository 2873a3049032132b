/* SPDX-License-Identifier: BSD-2-Clause */
#include "byte_source.h"

#include <errno.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20)

static int take_fd(struct byte_source *s, size_t want, struct buf *b)
{
	size_t piece;
	ssize_t n;

	buf_clear(b);
	while (b->len < want) {
		piece = want - b->len < PIECE ? want - b->len : PIECE;
		if (buf_reserve(b, piece))
			return b->err;
		n = read(s->fd, b->data + b->len, piece);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		b->len += (size_t)n;
	}
	return 0;
}

int byte_source_take(
	struct byte_source *s, size_t want, struct buf *b, const uint8_t **data, size_t *got)
{
	int ret;

	if (s->fd < 0) {
		*data = s->mem;
		*got = want < s->mem_left ? want : s->mem_left;
		if (*got) /* arithmetic on NULL is undefined */
			s->mem += *got;
		s->mem_left -= *got;
	} else {
		ret = take_fd(s, want, b);
		if (ret)
			return ret;
		*data = (const uint8_t *)b->data;
		*got = b->len;
	}
	s->offset += *got;
	return 0;
}
