/* SPDX-License-Identifier: BSD-2-Clause */
#include "progress.h"

#include <stdio.h>

#include "user/base/fmt.h"

#define LOG_DOMAIN "record"
#include "user/base/log.h"

#define REDRAW_NS 333000000u

void progress_show(struct progress *p, uint64_t now_ns, const struct progress_state *s)
{
	char line[160], samples[32], lost[32], bytes[32], of[32] = "";
	int n;

	if (!p->on || now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + REDRAW_NS;
	if (s->duration_ns)
		snprintf(of, sizeof(of), " of %.1f", (double)s->duration_ns / 1e9);
	n = snprintf(line, sizeof(line), "recording %.1f%s s  %s samples  ",
		(double)s->elapsed_ns / 1e9, of, fmt_count(samples, sizeof(samples), s->samples));
	if (n > 0 && (size_t)n < sizeof(line))
		snprintf(line + n, sizeof(line) - (size_t)n, "%s lost  %s%s",
			fmt_count(lost, sizeof(lost), s->lost),
			fmt_bytes(bytes, sizeof(bytes), s->file_bytes),
			s->duration_ns ? "" : "  (Ctrl-C ends it)");
	log_status(line);
}

void progress_say(struct progress *p, const char *text)
{
	if (p->on)
		log_status(text);
}
