/* SPDX-License-Identifier: BSD-2-Clause */
#include "term.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MAX     10000 /* beyond that a value is a mistake, and padding would cost memory */

static int env_columns(void)
{
	const char *s = getenv("COLUMNS");
	char *end;
	long v;

	if (!s || *s < '0' || *s > '9')
		return -1;
	v = strtol(s, &end, 10);
	return *end || v > WIDTH_MAX ? -1 : (int)v;
}

void term_probe(struct term *t, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *codeset = nl_langinfo(CODESET);
	struct winsize ws = {0};

	t->is_tty = isatty(fd);
	t->color = t->is_tty && (!no_color || !*no_color) && term && *term && strcmp(term, "dumb");
	t->utf8 = !strcasecmp(codeset, "UTF-8") || !strcasecmp(codeset, "UTF8");
	t->width = env_columns();
	if (t->width < 0 && t->is_tty && !ioctl(fd, TIOCGWINSZ, &ws) && ws.ws_col)
		t->width = ws.ws_col < WIDTH_MAX ? ws.ws_col : WIDTH_MAX;
	if (t->width < 0)
		t->width = WIDTH_DEFAULT;
}
