/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors: a negative errno travels up as the return value, the sentence for a
 * person travels beside it in a struct err.
 *
 * The layer that knows the object writes the sentence (object, operation,
 * reason); layers above may prefix context, never replace it. Only user/cmd
 * and main.c print. Codes mean: EINVAL caller's fault, ENOENT, EBADMSG damaged
 * input, EPROTO version we do not know, EOPNOTSUPP kernel or CPU lacks it,
 * EPERM, ENODATA nothing to show, E2BIG a stated limit, ENOMEM, ENOSPC.
 */
#ifndef PROFBPF_BASE_ERR_H
#define PROFBPF_BASE_ERR_H

#include <stdarg.h>

#define ERR_MSG_MAX  1024
#define ERR_HINT_MAX 512

/* Zero-initialise ({0}) before use. All strings are NUL-terminated; text from
 * hostile sources must be escaped (escape.h) before it is put in. */
struct err {
	int code; /* negative errno, 0 while nothing went wrong */
	char msg[ERR_MSG_MAX];
	char hint[ERR_HINT_MAX]; /* "" or one line on what to do */
};

/**
 * Record code (a negative errno) and the sentence; replaces an earlier one and
 * clears the hint. @e may be NULL. Text longer than the buffer is cut.
 * Returns code, so that "return err_set(e, -EBADMSG, ...)" is one line.
 */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** Put "context: " before the sentence already recorded. Returns e's code (-EIO if @e is NULL). */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Set the hint line. @e may be NULL. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Record code with "what: strerror(-code)". Returns code. */
int err_sys(struct err *e, int code, const char *what, ...) __attribute__((format(printf, 3, 4)));

#endif
