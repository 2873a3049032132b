/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals that end a recording: SIGINT, SIGTERM, SIGHUP.
 *
 * The first asks for the end of sampling; everything is then completed. A
 * second one, while names are looked up and written, leaves at once: the .part
 * is readable after every block, so nothing has to be done first, and nothing
 * that hangs (a file on a dead server) can keep the user waiting.
 *
 * Process-wide state: one recording at a time.
 */
#ifndef PROFBPF_RECORD_STOP_H
#define PROFBPF_RECORD_STOP_H

/** Install handlers. SIGHUP stays ignored where it was (nohup). */
void stop_install(void);
/** Put the old ones back. */
void stop_restore(void);
/** The first signal that came, or 0. */
int stop_signal(void);
/** How many came. */
int stop_count(void);
/** The last signal that came, or 0. */
int stop_last(void);
/**
 * Take the next signal that a process sent us (kill), not the terminal: 0 when
 * there is none. One from the terminal has reached a command of ours already.
 */
int stop_take_sent(void);
/**
 * From now on the second signal (counting those before) writes @message to
 * standard error and ends the process with 128 + signal, as long as a file
 * @part exists: without it the work is done. Both must outlive this phase; NULL
 * ends it. Ends at once when two have come already.
 */
void stop_leave_on_second(const char *message, const char *part);

#endif
