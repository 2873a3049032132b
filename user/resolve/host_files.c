/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening by what a capture stores, on the host that is running now. Whatever
 * lies at a path today may be another file than the one that was mapped; it is
 * used only with proof.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolve.h"
#include "symbolize/symbolize.h"
#include "symbolize/target_file.h"

#define LOG_DOMAIN "resolve"
#include "user/base/log.h"

static int is_the_file(int fd, const struct resolve_module *m)
{
	const struct record_module *r = m->record;
	struct file_key want = {.dev = r->dev,
		.gen = r->gen,
		.ino = r->ino,
		.size = r->size,
		.ctime_ns = r->ctime_ns};
	uint8_t id[BUILD_ID_MAX];
	struct stat st;
	int len;

	if (!m->build_id_len)
		return r->ino && r->size && r->ctime_ns && file_key_matches(fd, &want, 1);
	if (r->size && (fstat(fd, &st) < 0 || (uint64_t)st.st_size != r->size))
		return 0;
	len = build_id_of_fd(fd, id);
	return len > 0 && (size_t)len == m->build_id_len &&
	       memcmp(id, m->build_id, m->build_id_len) == 0;
}

int resolve_open_module_on_host(void *ctx, const struct resolve_module *m, enum frame_reason *why)
{
	struct err e = {0};
	int fd;

	(void)ctx;
	if (m->path[0] != '/') /* nothing known, or a memfd and the like */
		return -ENOENT;
	fd = target_open_path(0, m->path, NULL, &e);
	if (fd < 0) {
		log_debug("%s", e.msg);
		*why = fd == -ENOENT || fd == -ENOTDIR ? REASON_FILE_GONE : REASON_FILE_UNREADABLE;
		return fd;
	}
	if (!is_the_file(fd, m)) {
		close(fd);
		*why = REASON_FILE_CHANGED;
		return -ESTALE;
	}
	return fd;
}

/* Start time of @pid on CLOCK_BOOTTIME in clock ticks, field 22 of stat; 0 if there is none. */
static uint64_t start_ticks(uint32_t pid)
{
	char path[40], line[1024];
	uint64_t ticks = 0;
	const char *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	p = strrchr(line, ')'); /* the name may hold anything, blanks and ')' too */
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (p)
		ticks = strtoull(p, NULL, 10);
	return ticks;
}

static int open_perf_map(void *ctx, const struct record_process *p)
{
	long hz = sysconf(_SC_CLK_TCK);
	struct err e = {0};
	uint64_t want;
	int fd;

	(void)ctx;
	if (hz <= 0)
		return -ENOENT;
	want = p->start_boot_ns / (1000000000u / (uint64_t)hz);
	/* The same pid later is another process, with another map. */
	if (!want || start_ticks(p->pid) != want)
		return -ENOENT;
	fd = target_open_perf_map((pid_t)p->pid, &e);
	if (fd < 0)
		log_debug("%s", e.msg);
	return fd;
}

const struct resolve_files resolve_host_files = {
	.open_module = resolve_open_module_on_host,
	.open_perf_map = open_perf_map,
};
