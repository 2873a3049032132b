/* SPDX-License-Identifier: BSD-2-Clause */
/* What the output device can do. */
#ifndef PROFBPF_BASE_TERM_H
#define PROFBPF_BASE_TERM_H

struct term {
	int is_tty; /* fd is a terminal */
	int color;  /* escape sequences allowed: tty, NO_COLOR unset or empty, TERM not dumb */
	int utf8;   /* locale's codeset is UTF-8 */
	int width; /* columns: COLUMNS, else the terminal's, else 80 (0 asked = unlimited for pipes)
		    */
};

/** Probe @fd. Reads the environment; call setlocale() first. */
void term_probe(struct term *t, int fd);

#endif
