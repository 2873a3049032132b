/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress line, on a terminal only: time, samples, lost. */
#ifndef PROFBPF_RECORD_PROGRESS_H
#define PROFBPF_RECORD_PROGRESS_H

#include <stdint.h>

struct progress {
	int on;
	uint64_t next_ns; /* CLOCK_MONOTONIC of the next redraw */
};

struct progress_state {
	uint64_t elapsed_ns, duration_ns; /* duration 0: open-ended */
	uint64_t samples, lost;
	uint64_t file_bytes;
};

/** Redraw if it is time (three times a second). */
void progress_show(struct progress *p, uint64_t now_ns, const struct progress_state *s);
/** Show a fixed text instead ("naming functions"); NULL clears the line. */
void progress_say(struct progress *p, const char *text);

#endif
