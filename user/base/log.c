/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One write(2) per line, so that lines of threads, children and the recorded
 * program do not mix. Formatting uses the stack only: "out of memory" must be
 * sayable. Texts were escaped by those who know where they came from; control
 * bytes that slipped through are replaced here all the same.
 */
#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "escape.h"
#include "utf8.h"

#define LINE_MAX_BYTES 4096
#define DOMAINS_MAX    32
#define DOMAIN_LEN     24

static const char *const level_names[] = {"error", "warning", "info", "debug"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_level threshold = LOG_WARN;
static struct {
	char name[DOMAIN_LEN];
	enum log_level level;
} domains[DOMAINS_MAX];
static size_t nr_domains;
static char status_line[512]; /* on the screen now; "" = none. Under lock */
static uint64_t first_ns;     /* of the first debug line. Under lock */

void log_set_level(enum log_level level)
{
	threshold = level;
}

static int parse_level(const char *s, size_t len, enum log_level *level)
{
	size_t i;

	for (i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
		if (strlen(level_names[i]) == len && !memcmp(level_names[i], s, len)) {
			*level = (enum log_level)i;
			return 1;
		}
	}
	if (len == 4 && !memcmp(s, "warn", 4)) {
		*level = LOG_WARN;
		return 1;
	}
	return 0;
}

int log_set_domains(const char *spec, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF], part[64];
	const char *s = spec, *colon, *next;
	enum log_level level;
	size_t len, name_len, i;

	for (; *s; s = *next ? next + 1 : next) {
		next = strchrnul(s, ',');
		len = (size_t)(next - s);
		if (!len)
			continue;
		colon = memchr(s, ':', len);
		name_len = colon ? (size_t)(colon - s) : 0;
		if (!name_len || name_len >= DOMAIN_LEN ||
			!parse_level(colon + 1, len - name_len - 1, &level)) {
			snprintf(part, sizeof(part), "%.*s", (int)(len < 60 ? len : 60), s);
			err_set(e, -EINVAL, "log levels: \"%s\" is not DOMAIN:LEVEL",
				escape_brief(brief, sizeof(brief), part));
			err_hint(e, "levels are error, warn, info and debug, as in "
				    "symbolize:debug,ring:warn");
			return -EINVAL;
		}
		for (i = 0; i < nr_domains; i++)
			if (strlen(domains[i].name) == name_len &&
				!memcmp(domains[i].name, s, name_len))
				break;
		if (i == DOMAINS_MAX)
			return err_set(e, -EINVAL, "log levels: more than %d domains", DOMAINS_MAX);
		memcpy(domains[i].name, s, name_len);
		domains[i].name[name_len] = '\0';
		domains[i].level = level;
		if (i == nr_domains)
			nr_domains++;
	}
	return 0;
}

int log_enabled(enum log_level level, const char *domain)
{
	size_t i;

	for (i = 0; domain && i < nr_domains; i++)
		if (!strcmp(domains[i].name, domain))
			return level <= domains[i].level;
	return level <= threshold;
}

static void put(const char *s, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(STDERR_FILENO, s, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* nobody left to tell */
		s += n;
		len -= (size_t)n;
	}
}

/* Replace what may move a cursor or end a line. Same length, in place. */
static void sanitize(char *s, size_t len)
{
	size_t i, n;
	uint32_t cp;

	for (i = 0; i < len; i += n) {
		n = utf8_decode(s + i, len - i, &cp);
		if (!n) {
			n = 1;
			s[i] = '?';
		} else if (utf8_is_unsafe(cp)) {
			memset(s + i, cp == '\t' || cp == '\n' ? ' ' : '?', n);
		}
	}
}

/* "prefix" + text + newline in one write; a status line is wiped before, redrawn after. */
static void emit(const char *prefix, char *text)
{
	static const char wipe[] = "\r\033[K";
	char line[LINE_MAX_BYTES + 2 * sizeof(status_line)];
	size_t len = strlen(text);
	int n;

	/* libbpf and friends end their lines themselves. */
	while (len && text[len - 1] == '\n')
		len--;
	sanitize(text, len);
	pthread_mutex_lock(&lock);
	n = snprintf(line, sizeof(line), "%s%s%.*s\n%s", status_line[0] ? wipe : "", prefix,
		(int)len, text, status_line);
	if (n > 0)
		put(line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
	pthread_mutex_unlock(&lock);
}

void log_write(enum log_level level, const char *domain, const char *fmt, ...)
{
	char text[LINE_MAX_BYTES - 256], prefix[128];
	int saved = errno;
	uint64_t now;
	size_t n;
	va_list ap;

	if (!log_enabled(level, domain))
		return;
	n = (size_t)snprintf(prefix, sizeof(prefix), "profbpf: %s: %.40s%s", level_names[level],
		domain ? domain : "", domain && *domain ? ": " : "");
	if (level == LOG_DEBUG) {
		now = clock_mono_ns();
		pthread_mutex_lock(&lock);
		if (!first_ns)
			first_ns = now;
		now -= first_ns;
		pthread_mutex_unlock(&lock);
		snprintf(prefix + n, sizeof(prefix) - n, "[%llu.%06llu] ",
			(unsigned long long)(now / 1000000000u),
			(unsigned long long)(now / 1000 % 1000000u));
	}
	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	emit(prefix, text);
	errno = saved; /* a caller logs first and looks at errno after */
}

void log_err(const struct err *e)
{
	char text[ERR_MSG_MAX + ERR_HINT_MAX];
	const char *reason;

	if (e->msg[0]) {
		snprintf(text, sizeof(text), "%s", e->msg);
	} else {
		reason = strerrordesc_np(-e->code);
		snprintf(text, sizeof(text), "%s", reason ? reason : "unknown error");
	}
	emit("profbpf: error: ", text);
	if (e->hint[0]) {
		snprintf(text, sizeof(text), "%s", e->hint);
		emit("  hint: ", text);
	}
}

void log_status(const char *line)
{
	char text[sizeof(status_line)], out[sizeof(status_line) + 8];
	struct winsize ws = {0};
	size_t len = 0;
	int n;

	if (threshold == LOG_ERROR || !isatty(STDERR_FILENO))
		return;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col)
		ws.ws_col = 80;
	if (line) {
		len = strnlen(line, sizeof(text) - 1);
		memcpy(text, line, len);
		sanitize(text, len);
		/* A line that wraps could not be wiped by one carriage return. */
		len = text_fit(text, len, ws.ws_col - 1u);
	}
	text[len] = '\0';
	pthread_mutex_lock(&lock);
	if (len || status_line[0]) {
		n = snprintf(out, sizeof(out), "\r\033[K%s", text);
		put(out, (size_t)n);
	}
	memcpy(status_line, text, len + 1);
	pthread_mutex_unlock(&lock);
}
