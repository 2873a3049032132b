/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"

/* vm.max_map_count is 65,530 by default and 1,048,576 on some hosts. */
#define MAPS_MAX 1100000u
#define TEXT_MAX ((uint64_t)1 << 30)

static const char deleted_mark[] = " (deleted)";

static int parse_char(const char **s, const char *end, char c)
{
	if (*s == end || **s != c)
		return 0;
	(*s)++;
	return 1;
}

static int parse_perm(const char **s, const char *end, uint32_t *perm)
{
	static const char letters[] = "rwx";
	const char *p = *s;

	if (end - p < 4)
		return 0;
	*perm = 0;
	for (int i = 0; i < 3; i++) {
		if (p[i] == letters[i])
			*perm |= 1u << i;
		else if (p[i] != '-')
			return 0;
	}
	if (p[3] == 's')
		*perm |= PROC_MAP_SHARED;
	else if (p[3] != 'p')
		return 0;
	*s += 4;
	return 1;
}

static int parse_decimal(const char **s, const char *end, uint64_t *v)
{
	const char *p = *s;
	uint64_t n = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(n, 10u, &n) ||
			__builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return 0;
	}
	if (p == *s)
		return 0;
	*s = p;
	*v = n;
	return 1;
}

int proc_map_parse(const char *line, size_t len, struct proc_map *m)
{
	const char *s = line, *end = line + len;
	uint64_t major, minor;

	*m = (struct proc_map){0};
	if (!parse_hex(&s, end, &m->start) || !parse_char(&s, end, '-') ||
		!parse_hex(&s, end, &m->end) || !parse_char(&s, end, ' ') ||
		!parse_perm(&s, end, &m->perm) || !parse_char(&s, end, ' ') ||
		!parse_hex(&s, end, &m->offset) || !parse_char(&s, end, ' ') ||
		!parse_hex(&s, end, &major) || !parse_char(&s, end, ':') ||
		!parse_hex(&s, end, &minor) || !parse_char(&s, end, ' ') ||
		!parse_decimal(&s, end, &m->ino))
		return 0;
	if (m->start >= m->end || major > UINT32_MAX || minor > UINT32_MAX)
		return 0;
	m->major = (uint32_t)major;
	m->minor = (uint32_t)minor;
	/* Blanks up to a fixed column, then the path. A path begins with '/',
	 * '[' or "anon_inode:", so no blank of it is lost here. */
	while (s < end && *s == ' ')
		s++;
	m->path = s;
	m->path_len = (uint32_t)(end - s);
	return 1;
}

static int push(struct proc_maps *m, size_t *cap, struct proc_map *pm)
{
	if (m->nr == *cap) {
		size_t more = *cap ? *cap * 2 : 64;
		struct proc_map *grown;

		if (m->nr >= MAPS_MAX)
			return -E2BIG;
		grown = realloc(m->at, more * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->at = grown;
		*cap = more;
	}
	/* Offsets for now: the text still moves as it grows. */
	buf_add(&m->text, pm->path, pm->path_len);
	buf_addc(&m->text, '\0');
	if (m->text.err)
		return m->text.err;
	pm->path = NULL;
	m->at[m->nr++] = *pm;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct proc_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int read_all(struct proc_maps *m, struct lines *l, const char *name, struct err *e)
{
	size_t cap = 0, at = 0;
	int err, sorted = 1;

	*m = (struct proc_maps){0};
	while ((err = lines_next(l)) > 0) {
		struct proc_map pm;

		if (!proc_map_parse(l->line, l->len, &pm) || memchr(pm.path, '\0', pm.path_len)) {
			m->bad++;
			continue;
		}
		if (m->nr && pm.start < m->at[m->nr - 1].start)
			sorted = 0;
		err = push(m, &cap, &pm);
		if (err)
			break;
	}
	if (err) {
		proc_maps_release(m);
		if (err == -E2BIG)
			return err_set(e, err, "%s: more than %u mappings", name, MAPS_MAX);
		return err_sys(e, err, "%s: cannot read", name);
	}
	for (size_t i = 0; i < m->nr; i++) {
		m->at[i].path = m->text.data + at;
		at += m->at[i].path_len + 1;
	}
	/* A process that maps and unmaps while the kernel prints can repeat lines. */
	if (!sorted)
		qsort(m->at, m->nr, sizeof(*m->at), by_start);
	return 0;
}

int proc_maps_read(struct proc_maps *m, pid_t pid, struct err *e)
{
	char path[64] = "/proc/self/maps";
	struct lines l;
	int fd, err;

	*m = (struct proc_maps){0};
	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = errno == ENOENT ? -ESRCH : -errno;
		return err_sys(e, err, "%s: cannot open", path);
	}
	err = lines_init(&l, fd, TEXT_MAX);
	if (err) {
		err_set(e, err, "%s: out of memory", path);
	} else {
		err = read_all(m, &l, path, e);
		lines_release(&l);
	}
	close(fd);
	return err;
}

int proc_maps_read_mem(struct proc_maps *m, const char *text, size_t len, struct err *e)
{
	struct lines l;

	lines_init_mem(&l, text, len);
	return read_all(m, &l, "maps", e);
}

void proc_maps_release(struct proc_maps *m)
{
	free(m->at);
	buf_release(&m->text);
	*m = (struct proc_maps){0};
}

const struct proc_map *proc_maps_find(const struct proc_maps *m, uint64_t addr)
{
	size_t lo = 0, hi = m->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->at[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < m->at[lo - 1].end ? &m->at[lo - 1] : NULL;
}

static void add_unescaped(struct buf *path, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		if (len - i >= 4 && memcmp(s + i, "\\012", 4) == 0) {
			buf_addc(path, '\n');
			i += 4;
		} else {
			buf_addc(path, s[i++]);
		}
	}
}

int proc_map_paths(const struct proc_map *m, unsigned i, struct buf *path, int *deleted)
{
	size_t mark = sizeof(deleted_mark) - 1, len = m->path_len;
	int marked = len > mark && memcmp(m->path + len - mark, deleted_mark, mark) == 0;
	int escaped = memmem(m->path, len, "\\012", 4) != NULL;
	unsigned ways = 1u << (marked + escaped);
	int strip, plain;

	if (i >= ways)
		return 0;
	/* Deleted files are common, files named so are not; newlines are rare,
	 * and so is a literal \012: the newline first. */
	strip = marked && !(i & 1);
	plain = escaped && (marked ? i & 2 : i & 1);
	if (strip)
		len -= mark;
	buf_clear(path);
	if (escaped && !plain)
		add_unescaped(path, m->path, len);
	else
		buf_add(path, m->path, len);
	*deleted = strip;
	return 1;
}
