/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of a file, a pipe or memory, without copying them one by one: a line is
 * a piece of the read buffer, which holds many.
 */
#ifndef PROFBPF_IMPORT_LINE_SOURCE_H
#define PROFBPF_IMPORT_LINE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* Readable bytes behind a line, whatever is in them: parsers look at words. */
#define LINES_PAD 32

struct line_source {
	int fd;	   /* -1: memory */
	char *buf; /* owned unless memory */
	size_t cap;
	size_t pos, len; /* unread bytes are buf[pos .. len) */
	size_t max;	 /* longest line that is delivered */
	int eof;
	char *tail; /* memory only: a padded copy of the last line; owned */
	int moved;  /* the last line_source_next() invalidated earlier lines; the user clears it */
	uint64_t bytes; /* taken from the source */
};

int line_source_init_fd(
	struct line_source *l, int fd, size_t max); /* 0 or -ENOMEM; @fd stays the caller's */
void line_source_init_mem(struct line_source *l, const void *data, size_t len, size_t max);
void line_source_release(struct line_source *l);

/**
 * The next line without its LF. 1 = there is one, valid until the next call
 * that sets moved; 2 = one longer than max was skipped; 0 = end; or negative
 * errno. LINES_PAD bytes behind the line are readable.
 */
int line_source_next(struct line_source *l, const char **line, size_t *len);

#endif
