/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sentences for people, in fixed buffers: an error must be tellable when there
 * is no memory left. All text is formatted aside first, because callers pass
 * e->msg as an argument of its own successor.
 */
#include "err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A cut must not leave half of a UTF-8 character at the end. */
static void cut_whole_chars(char *s, size_t len)
{
	size_t i = len, want;
	unsigned char c;

	while (i && ((unsigned char)s[i - 1] & 0xc0) == 0x80 && len - i < 3)
		i--;
	if (!i)
		return;
	c = (unsigned char)s[i - 1];
	want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
	if (want > len - (i - 1))
		s[i - 1] = '\0';
}

static void put(char *dst, size_t size, const char *fmt, va_list ap)
{
	char tmp[ERR_MSG_MAX];
	size_t limit = size < sizeof(tmp) ? size : sizeof(tmp);
	int n = vsnprintf(tmp, limit, fmt, ap);

	if (n < 0)
		tmp[0] = '\0';
	else if ((size_t)n >= limit)
		cut_whole_chars(tmp, limit - 1);
	memcpy(dst, tmp, strlen(tmp) + 1);
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	put(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	e->code = code;
	e->hint[0] = '\0';
	return code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char old[ERR_MSG_MAX];
	size_t used, room, len;
	va_list ap;

	if (!e)
		return -EIO;
	memcpy(old, e->msg, sizeof(old));
	old[sizeof(old) - 1] = '\0';
	/* The reason is at the end of the sentence: a long context must leave it half the room. */
	va_start(ap, fmt);
	put(e->msg, sizeof(e->msg) / 2, fmt, ap);
	va_end(ap);
	used = strlen(e->msg);
	e->msg[used++] = ':';
	e->msg[used++] = ' ';
	room = sizeof(e->msg) - 1 - used;
	len = strlen(old);
	if (len > room) {
		cut_whole_chars(old, room);
		len = strnlen(old, room);
	}
	memcpy(e->msg + used, old, len);
	e->msg[used + len] = '\0';
	return e->code;
}

void err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	put(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}

int err_sys(struct err *e, int code, const char *what, ...)
{
	char text[ERR_MSG_MAX - 128]; /* leaves room for the reason */
	const char *reason = strerrordesc_np(-code);
	va_list ap;

	if (!e)
		return code;
	va_start(ap, what);
	put(text, sizeof(text), what, ap);
	va_end(ap);
	if (reason)
		return err_set(e, code, "%s: %s", text, reason);
	return err_set(e, code, "%s: error %d", text, -code);
}
