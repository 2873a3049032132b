/* SPDX-License-Identifier: BSD-2-Clause */
#include "stop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct sigaction old[NR_SIGNALS];
static int installed;
static volatile sig_atomic_t first, count, last;
static volatile sig_atomic_t sent[NR_SIGNALS]; /* by a process, not taken yet */
static const char *volatile leave_message, *volatile leave_part;

static void leave(int signo, const char *message)
{
	if (access(leave_part, F_OK))
		return; /* it has been renamed: complete */
	/* Nothing is left to do if this fails. */
	ssize_t n = write(STDERR_FILENO, message, strlen(message));

	(void)n;
	_exit(128 + signo);
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
	const char *message = leave_message;
	int saved = errno;
	size_t i;

	(void)context;
	if (!first)
		first = signo;
	last = signo;
	count = count + 1;
	for (i = 0; i < NR_SIGNALS; i++)
		if (signals[i] == signo && info->si_code <= 0) /* SI_USER and other processes' */
			sent[i] = 1;
	if (message && count >= 2)
		leave(signo, message);
	errno = saved;
}

void stop_install(void)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	size_t i;

	installed = 1;
	first = count = last = 0;
	leave_message = leave_part = NULL;
	sigemptyset(&sa.sa_mask);
	for (i = 0; i < NR_SIGNALS; i++) {
		sent[i] = 0;
		sigaction(signals[i], NULL, &old[i]);
		/* A shell starts background jobs with SIGINT ignored; kill -INT must work there. */
		if (signals[i] == SIGHUP && old[i].sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &sa, NULL);
	}
}

void stop_restore(void)
{
	size_t i;

	leave_message = NULL;
	for (i = 0; installed && i < NR_SIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
	installed = 0;
}

int stop_signal(void)
{
	return first;
}

int stop_count(void)
{
	return count;
}

int stop_last(void)
{
	return last;
}

int stop_take_sent(void)
{
	size_t i;

	for (i = 0; i < NR_SIGNALS; i++) {
		if (sent[i]) {
			sent[i] = 0;
			return signals[i];
		}
	}
	return 0;
}

void stop_leave_on_second(const char *message, const char *part)
{
	leave_part = part; /* before the message, which arms it */
	leave_message = message;
	if (message && count >= 2)
		leave(last, message);
}
