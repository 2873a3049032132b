/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libiberty does the work; this file keeps it within bounds. A name comes from
 * the target, and in a mangled one 60 bytes can stand for gigabytes:
 *
 *  - Output. Substitutions (S_, B_) double with each step. The text arrives in
 *    pieces through a callback that has no way to say "enough", so it jumps out
 *    when the buffer is full: the C++ demangler and the legacy Rust one hold
 *    nothing but stack. The v0 one allocates while it decodes punycode; such
 *    names are not jumped out of but must have few back references.
 *  - Depth. DMGL_NO_RECURSE_LIMIT is not given.
 *  - Time. In the type of a conversion operator each template template
 *    parameter is parsed twice (30 nested ones take 25 s): they are counted
 *    first.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "name.h"
#include "symbolize.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)
/* 2^10 parses of at most 1 KB; names in use have 0 to 3. */
#define CONVERSION_PARAMS_MAX 10
/* With punycode: 2^8 copies at most. */
#define PUNYCODE_BACKREFS_MAX 8

struct output {
	char *buf;
	size_t size, len;
	int full;
	int may_jump;
	jmp_buf out;
};

static void take(const char *s, size_t len, void *opaque)
{
	struct output *o = opaque;
	size_t room = o->size - 1 - o->len;

	if (!len) /* s may be NULL then */
		return;
	if (len > room) {
		memcpy(o->buf + o->len, s, room);
		o->len += room;
		o->full = 1;
		if (o->may_jump)
			longjmp(o->out, 1);
		return;
	}
	memcpy(o->buf + o->len, s, len);
	o->len += len;
}

typedef int (*demangler)(const char *mangled, int options, demangle_callbackref cb, void *opaque);

/* A frame of its own for setjmp: nothing here changes between it and the jump.
 * 1 when @o holds the text, cut or whole. */
static int run(demangler fn, const char *mangled, struct output *o)
{
	int ok;

	o->len = 0;
	o->full = 0;
	if (setjmp(o->out))
		return 1;
	ok = fn(mangled, OPTIONS, take, o);
	return (ok && o->len) || o->full;
}

/* Uses of a template template parameter: T_I, T0_I, TL0__I. */
static int too_many_conversions(const char *s)
{
	unsigned nr = 0;

	if (!strstr(s, "cv"))
		return 0;
	for (; (s = strchr(s, 'T')); s++) {
		size_t n = 1 + strspn(s + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		const char *p = memchr(s, '_', n);

		while (p && p < s + n && p[1] != 'I')
			p = memchr(p + 1, '_', (size_t)(s + n - p - 1));
		nr += p != NULL;
	}
	return nr > CONVERSION_PARAMS_MAX;
}

/* v0: "u" before the length of an identifier that is not ASCII. */
static int has_punycode(const char *s)
{
	while ((s = strchr(s, 'u')))
		if (*++s >= '0' && *s <= '9')
			return 1;
	return 0;
}

static size_t count(const char *s, char c)
{
	size_t n = 0;

	while ((s = strchr(s, c))) {
		n++;
		s++;
	}
	return n;
}

static int demangle_rust(const char *raw, struct output *o)
{
	o->may_jump = 1;
	if (raw[1] == 'R' && has_punycode(raw)) {
		if (count(raw, 'B') > PUNYCODE_BACKREFS_MAX)
			return 0;
		o->may_jump = 0;
	}
	return run(rust_demangle_callback, raw, o);
}

static int demangle_cxx(const char *raw, struct output *o)
{
	o->may_jump = 1;
	return !too_many_conversions(raw) && run(cplus_demangle_v3_callback, raw, o);
}

int demangle(const char *raw, char *buf, size_t size)
{
	struct output o = {.buf = buf, .size = size};
	int done;

	if (size < 16 || raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R'))
		return 0;
	if (strnlen(raw, DEMANGLE_INPUT_MAX + 1) > DEMANGLE_INPUT_MAX)
		return 0;
	/* Legacy Rust names are C++ names with a hash at the end: ask Rust first. */
	done = demangle_rust(raw, &o) || (raw[1] == 'Z' && demangle_cxx(raw, &o));
	if (!done)
		return 0;
	buf[o.len] = '\0';
	if (o.full)
		name_ellipsis(buf, o.len);
	return 1;
}
