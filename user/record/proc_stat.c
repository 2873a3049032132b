/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t proc_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			n = -errno;
			close(fd);
			return n;
		}
		if (!n)
			break;
		len += (size_t)n;
	}
	close(fd);
	buf[len] = '\0';
	return (ssize_t)len;
}

/* The fields after the name are numbers but the first; numbered as in proc(5), state is 3. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *st)
{
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len), *p;
	size_t name_len;
	char *end;
	int field;

	memset(st, 0, sizeof(*st));
	if (!open || !close || close < open || close + 2 >= text + len)
		return -EBADMSG;
	name_len = (size_t)(close - open - 1);
	if (name_len >= sizeof(st->comm))
		name_len = sizeof(st->comm) - 1; /* kernel threads may show longer ones */
	memcpy(st->comm, open + 1, name_len);

	st->state = close[2];
	p = close + 3;
	for (field = 4; field <= 22; field++) {
		uint64_t v;

		errno = 0;
		v = strtoull(p, &end, 10);
		if (end == p || errno)
			return -EBADMSG;
		p = end;
		switch (field) {
		case 9:
			st->flags = (uint32_t)v;
			break;
		case 14:
			st->user_ticks = v;
			break;
		case 15:
			st->system_ticks = v;
			break;
		case 16:
		case 17:
			st->child_ticks += v;
			break;
		case 20:
			st->threads = (uint32_t)v;
			break;
		case 22:
			st->start_ticks = v;
			break;
		default:
			break;
		}
	}
	return 0;
}

int proc_stat_read(pid_t pid, pid_t tid, struct proc_stat *st)
{
	char path[64], text[1024];
	ssize_t n;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	n = proc_read(path, text, sizeof(text));
	if (n == -ENOENT)
		return -ESRCH;
	if (n < 0)
		return (int)n;
	return proc_stat_parse(text, (size_t)n, st);
}

int proc_owner(pid_t id, pid_t *pid)
{
	char path[64], text[4096], *p;
	ssize_t n;

	/* Threads are not listed in /proc, but looking one up works. */
	snprintf(path, sizeof(path), "/proc/%d/status", id);
	n = proc_read(path, text, sizeof(text));
	if (n == -ENOENT)
		return -ESRCH;
	if (n < 0)
		return (int)n;
	/* The name in the first line is escaped by the kernel: a newline in it cannot forge this.
	 */
	p = strstr(text, "\nTgid:");
	if (!p)
		return -EBADMSG;
	*pid = (pid_t)strtol(p + 6, NULL, 10);
	return *pid > 0 ? 0 : -ESRCH;
}

uint64_t proc_tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return 1000000000u / (uint64_t)(hz > 0 ? hz : 100);
}

const char *proc_state_text(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "waiting for I/O";
	case 'T':
		return "stopped by a signal";
	case 't':
		return "stopped by a debugger";
	case 'Z':
	case 'X':
		return "ended";
	case 'I':
		return "idle";
	default:
		return "in an unknown state";
	}
}
