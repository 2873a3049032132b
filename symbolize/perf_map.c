/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /tmp/perf-PID.map: "START SIZE NAME" a line, written by the JIT as it goes.
 *
 * Code memory is reused, so lines overlap and the last one that covers an
 * address is right. Instead of searching lines at each question, the addresses
 * are cut at every start and end of a line, and the pieces painted from the
 * last line to the first; a piece once painted stays. A union-find over "next
 * unpainted piece" makes that nearly linear, whatever the lines look like:
 *
 *      line 1   [=========================)
 *      line 2          [=======)
 *      line 3               [=========)
 *      pieces   |  1   | 2  |    3    |1  |
 *
 * The file belongs to the target, may grow or be rewritten while we read, and
 * may hold anything: bad lines are skipped one by one and counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines.h"
#include "name.h"
#include "symbolize.h"
#include "user/base/buf.h"
#include "user/base/escape.h"

#define LOG_DOMAIN "symbolize"
#include "user/base/log.h"

/* Bytes of the file; of a larger one the last part, where the newest code is. A
 * JVM writes some 10 MB, a Node process after days some 100 MB. */
#define TEXT_MAX  ((uint64_t)256 << 20)
#define LINES_MAX (4u << 20) /* good lines; 200 bytes of memory each at the peak of sorting */
#define NOBODY	  UINT32_MAX

struct entry { /* one good line */
	uint64_t start, end;
	uint32_t name; /* offset in names */
};

struct perf_map {
	struct entry *entries; /* in the order of the file, from index first on, around the end */
	size_t nr, cap, first;
	size_t dropped; /* older lines that newer ones replaced */
	struct buf names;
	/* piece i is [cuts[i], cuts[i + 1]) and belongs to entry owner[i] */
	uint64_t *cuts;
	uint32_t *owner;
	size_t nr_cuts;
	size_t bad, first_bad;
};

/* At the bound the oldest line goes: the newest ones are right. */
static int push(struct perf_map *p, const struct entry *en)
{
	if (p->nr == LINES_MAX) {
		p->entries[p->first] = *en;
		p->first = (p->first + 1) % LINES_MAX;
		p->dropped++;
		return 0;
	}
	if (p->nr == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 1024;
		struct entry *grown;

		grown = realloc(p->entries, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->entries = grown;
		p->cap = cap;
	}
	p->entries[p->nr++] = *en;
	return 0;
}

/* START SIZE NAME: hex with or without 0x, any blanks between, the name is the
 * rest of the line without the CR of a CRLF. */
static int add_line(struct perf_map *p, const struct lines *l)
{
	const char *s = l->line, *end = l->line + l->len;
	struct entry en = {0};
	uint64_t size;
	size_t len;

	skip_blanks(&s, end);
	if (!parse_hex(&s, end, &en.start) || !skip_blanks(&s, end))
		return -EBADMSG;
	if (!parse_hex(&s, end, &size) || !skip_blanks(&s, end))
		return -EBADMSG;
	if (end > s && end[-1] == '\r' && !l->cut)
		end--;
	len = (size_t)(end - s);
	if (!len || !size || size > UINT64_MAX - en.start || memchr(s, '\0', len))
		return -EBADMSG;
	en.end = en.start + size;
	en.name = (uint32_t)p->names.len;
	if (len > SYMBOL_NAME_MAX) {
		buf_add(&p->names, s, SYMBOL_NAME_MAX);
		if (!p->names.err)
			name_ellipsis(p->names.data + en.name, SYMBOL_NAME_MAX);
	} else {
		buf_add(&p->names, s, len);
	}
	buf_addc(&p->names, '\0');
	return p->names.err ? p->names.err : push(p, &en);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Index of @v, which is one of the cuts. */
static size_t cut_of(const struct perf_map *p, uint64_t v)
{
	size_t lo = 0, hi = p->nr_cuts;

	while (lo + 1 < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->cuts[mid] <= v)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The first unpainted piece from @i on; paths are halved as they are walked. */
static uint32_t next_free(uint32_t *next, uint32_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

static int paint(struct perf_map *p)
{
	size_t nr = 0;
	uint32_t *next;

	if (!p->nr)
		return 0;
	p->cuts = malloc(p->nr * 2 * sizeof(*p->cuts));
	if (!p->cuts)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++) {
		p->cuts[2 * i] = p->entries[i].start;
		p->cuts[2 * i + 1] = p->entries[i].end;
	}
	qsort(p->cuts, p->nr * 2, sizeof(*p->cuts), by_value);
	for (size_t i = 0; i < p->nr * 2; i++)
		if (!nr || p->cuts[nr - 1] != p->cuts[i])
			p->cuts[nr++] = p->cuts[i];
	p->nr_cuts = nr;
	p->owner = malloc(nr * sizeof(*p->owner));
	next = malloc((nr + 1) * sizeof(*next));
	if (!p->owner || !next) {
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		p->owner[i] = NOBODY;
		next[i] = (uint32_t)i;
	}
	next[nr] = (uint32_t)nr;
	for (size_t age = p->nr; age-- > 0;) {
		size_t i = (p->first + age) % p->nr;
		const struct entry *en = &p->entries[i];
		uint32_t k = next_free(next, (uint32_t)cut_of(p, en->start));

		for (; k < nr && p->cuts[k] < en->end; k = next_free(next, k)) {
			p->owner[k] = (uint32_t)i;
			next[k] = k + 1;
		}
	}
	free(next);
	return 0;
}

static int read_all(
	struct perf_map **out, struct lines *l, int partial, const char *name, struct err *e)
{
	struct perf_map *p = calloc(1, sizeof(*p));
	int err = -ENOMEM, got;

	*out = NULL;
	if (!p)
		goto fail;
	/* Begun in the middle of a large file: the first line is half a line. */
	if (partial)
		lines_next(l);
	while ((got = lines_next(l)) > 0) {
		if (!l->len)
			continue;
		err = add_line(p, l);
		if (err == -EBADMSG) {
			if (!p->bad++)
				p->first_bad = l->number;
		} else if (err) {
			goto fail;
		}
	}
	err = got < 0 ? got : paint(p);
	if (err)
		goto fail;
	if (partial)
		log_warn("%s: larger than %u MiB; only the end is used", name,
			(unsigned)(TEXT_MAX >> 20));
	if (p->dropped)
		log_warn("%s: more than %u lines; only the last ones are used", name, LINES_MAX);
	if (p->bad)
		log_warn("%s: %zu bad lines skipped, the first is line %zu%s", name, p->bad,
			p->first_bad, partial ? " of the part read" : "");
	log_debug("%s: %zu entries, %zu pieces", name, p->nr, p->nr_cuts);
	*out = p;
	return 0;
fail:
	err_sys(e, err, "%s: cannot read", name);
	perf_map_close(p);
	return err;
}

/* Stand at the part of the file that is read. 1 if that is not all of it. */
static int seek_part(int fd, const char *name, struct err *e)
{
	struct stat st;
	off_t from = 0;

	if (fstat(fd, &st) < 0)
		return err_sys(e, -errno, "%s: cannot read its size", name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s: not a regular file", name);
	if ((uint64_t)st.st_size > TEXT_MAX)
		from = (off_t)((uint64_t)st.st_size - TEXT_MAX);
	if (lseek(fd, from, SEEK_SET) < 0)
		return err_sys(e, -errno, "%s: cannot read", name);
	return from > 0;
}

int perf_map_open(struct perf_map **p, int fd, const char *name, struct err *e)
{
	char shown[ESCAPE_BRIEF_BUF];
	struct lines l;
	int err, partial;

	*p = NULL;
	escape_brief(shown, sizeof(shown), name);
	partial = seek_part(fd, shown, e);
	if (partial < 0) {
		close(fd);
		return partial;
	}
	err = lines_init(&l, fd, TEXT_MAX);
	if (err) {
		err_set(e, err, "%s: out of memory", shown);
	} else {
		err = read_all(p, &l, partial, shown, e);
		lines_release(&l);
	}
	close(fd);
	return err;
}

int perf_map_open_mem(struct perf_map **p, const char *text, size_t len, struct err *e)
{
	struct lines l;

	lines_init_mem(&l, text, len);
	return read_all(p, &l, 0, "perf map", e);
}

void perf_map_close(struct perf_map *p)
{
	if (!p)
		return;
	free(p->entries);
	free(p->cuts);
	free(p->owner);
	buf_release(&p->names);
	free(p);
}

void perf_map_symbols(const struct perf_map *p, uint64_t addr, int is_return, struct symbols *out)
{
	size_t at;

	out->nr = 0;
	out->reason = REASON_NOT_IN_PERF_MAP;
	if (is_return)
		addr--;
	if (!p->nr_cuts || addr < p->cuts[0])
		return;
	at = cut_of(p, addr);
	if (p->owner[at] == NOBODY)
		return;
	out->at[0] = (struct symbol){.name = p->names.data + p->entries[p->owner[at]].name};
	out->nr = 1;
	out->reason = REASON_NONE;
}

size_t perf_map_entries(const struct perf_map *p)
{
	return p->nr;
}

size_t perf_map_bad_lines(const struct perf_map *p, size_t *first_line)
{
	if (first_line)
		*first_line = p->first_bad;
	return p->bad;
}
