/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said about the work, on stderr. stdout is the product.
 *
 * A line is "profbpf: warning: domain: text". Each .c defines LOG_DOMAIN (its
 * folder's name) before including this. The threshold is process-wide state,
 * one of the few globals allowed (design: "no globals outside main, log and
 * BPF maps"). Thread-safe once the levels are set.
 */
#ifndef PROFBPF_BASE_LOG_H
#define PROFBPF_BASE_LOG_H

#include "err.h"

enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG
};

/** Threshold for all domains; default LOG_WARN. LOG_ERROR is -q. */
void log_set_level(enum log_level level);

/**
 * Per-domain levels, "symbolize:debug,ring:warn" (--log, PROFBPF_LOG).
 * Returns 0, or -EINVAL with a sentence that names the bad part.
 */
int log_set_domains(const char *spec, struct err *e);

/** True if a line of this level and domain would be printed. */
int log_enabled(enum log_level level, const char *domain);

void log_write(enum log_level level, const char *domain, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Print @e as an error line and, when there is one, a "hint:" line. */
void log_err(const struct err *e);

/**
 * A progress line on a terminal is redrawn in place; other log lines must not
 * tear it. log_status(NULL) clears it. Does nothing when stderr is no terminal
 * or the level is LOG_ERROR.
 */
void log_status(const char *line);

#define log_error(...) log_write(LOG_ERROR, LOG_DOMAIN, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, LOG_DOMAIN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, LOG_DOMAIN, __VA_ARGS__)
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (log_enabled(LOG_DEBUG, LOG_DOMAIN))                                            \
			log_write(LOG_DEBUG, LOG_DOMAIN, __VA_ARGS__);                             \
	} while (0)

#endif
