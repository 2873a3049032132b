/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command after "--": started stopped, let go when sampling has begun.
 *
 *   child_start (forked, waits) -> child_go (execs) -> child_ended ... child_wait
 *
 * It keeps our standard input, output and error, our working directory, process
 * group and environment, and the limits and signal dispositions we were started
 * with. If we end before child_go(), in whatever way, it ends too.
 */
#ifndef PROFBPF_RECORD_CHILD_H
#define PROFBPF_RECORD_CHILD_H

#include <sys/types.h>

#include "user/base/err.h"

struct child;

/**
 * Fork. @argv is NULL-terminated and borrowed. Runs as @user (a name or a uid;
 * NULL: the caller of sudo if there was one, else as we do). Call it before
 * limits are raised and signal handlers are installed.
 */
int child_start(struct child **c, char **argv, const char *user, struct err *e);
/**
 * Let it exec; returns when it has. On failure a negative errno with a sentence,
 * and *status as env(1) would exit: 127 not found, 126 found but not to be run.
 */
int child_go(struct child *c, int *status, struct err *e);
pid_t child_pid(const struct child *c);
int child_pidfd(const struct child *c); /* borrowed; -1 if the kernel gave none */
/** 1 when it has ended; it is not collected, so its clocks can still be read. */
int child_ended(const struct child *c);
/** Wait up to @timeout_ms for its end and collect it: 1 and *status, a wait status; 0 if it goes
 * on. */
int child_wait(struct child *c, int timeout_ms, int *status);
/** Pass a signal on to it, unless it was collected. */
void child_signal(const struct child *c, int signo);
/** Before child_go() ends it; later leaves it alone. NULL is allowed. */
void child_free(struct child *c);

#endif
