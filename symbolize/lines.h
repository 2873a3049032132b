/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of an untrusted text, from a descriptor or from memory, in bounded
 * memory: a line longer than LINES_KEEP is cut there and its rest skipped.
 */
#ifndef PROFBPF_SYMBOLIZE_LINES_H
#define PROFBPF_SYMBOLIZE_LINES_H

#include <stddef.h>
#include <stdint.h>

#define LINES_KEEP 8192 /* bytes of a line: twice a name and some numbers */

struct lines {
	/* set by lines_init*() */
	int fd;		 /* borrowed; -1 for memory */
	const char *mem; /* borrowed */
	size_t mem_len;
	uint64_t limit; /* bytes read at most; what follows is ignored */
	/* state */
	char *buf; /* owned; for descriptors */
	size_t start, end;
	uint64_t taken; /* bytes read so far */
	int eof;
	int skipping; /* inside a line that was given cut */
	/* the current line */
	const char *line; /* not NUL-terminated, without the newline; until the next call */
	size_t len;
	int cut;       /* was longer than LINES_KEEP */
	size_t number; /* 1-based */
};

/** Read from the current position of @fd, at most @limit bytes. 0 or -ENOMEM. */
int lines_init(struct lines *l, int fd, uint64_t limit);
void lines_init_mem(struct lines *l, const char *text, size_t len);
/** 1 with a line in l->line, 0 at the end, or the negative errno of read(2). */
int lines_next(struct lines *l);
void lines_release(struct lines *l);

/**
 * Hexadecimal number at *s (before @end), with or without "0x", either case.
 * 1 and *s behind it, or 0 when there is none or it needs more than 64 bits.
 */
int parse_hex(const char **s, const char *end, uint64_t *v);
/** Skip blanks and tabs; 1 if there was one. */
int skip_blanks(const char **s, const char *end);

#endif
