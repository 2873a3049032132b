/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/kallsyms: "ADDRESS TYPE NAME[\t[MODULE]]", 100,000-300,000 lines.
 *
 * Symbols have no sizes here: a function reaches to the next symbol of any
 * type. So data symbols are kept while sorting and then only as ends, where one
 * follows a function; the linker script's marks (_etext) are ends too. The last
 * function of a module reaches SPAN_MAX at most, since what comes behind it is
 * another module somewhere else.
 *
 * Sixteen bytes a symbol and one block of names; about 6 MB for a
 * distribution's kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "name.h"
#include "symbolize.h"
#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/base/strtab.h"

#define LOG_DOMAIN "symbolize"
#include "user/base/log.h"

#define TEXT_MAX    ((uint64_t)256 << 20) /* bytes of the file; 15 MB are usual */
#define SYMS_MAX    (4u << 20)
#define MODULES_MAX 0xffff
/* Compiled BPF programs can be the largest functions: a million instructions. */
#define SPAN_MAX ((uint64_t)4 << 20)

#define NOT_CODE UINT32_MAX

struct ksym {
	uint64_t addr;
	uint32_t name;	 /* offset in names; NOT_CODE: only an end */
	uint16_t module; /* string id; 0 = the kernel itself */
	uint8_t rank;	 /* binding: 0 global, 1 weak, 2 local */
};

struct kallsyms {
	struct ksym *syms;
	size_t nr, cap;
	struct buf names;
	struct strtab *modules; /* "[name]" */
	size_t lines, bad;
	int hidden;
};

static int ends_in(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && memcmp(s + len - n, end, n) == 0;
}

/* Marks of the linker script among the functions: ends, but no names. Global,
 * so as aliases they would win over the first static function behind them. */
static int is_mark(const char *s, size_t len)
{
	static const char *const marks[] = {"_text", "_stext", "_etext", "_sinittext", "_einittext",
		"__init_begin", "__init_end", "_end"};

	if (len > 5 && memcmp(s, "__pi_", 5) == 0) { /* alias for early boot code */
		s += 5;
		len -= 5;
	}
	if (ends_in(s, len, "text_start") || ends_in(s, len, "text_end") ||
		ends_in(s, len, "thunk_start") || ends_in(s, len, "thunk_end"))
		return 1;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strlen(marks[i]) == len && memcmp(marks[i], s, len) == 0)
			return 1;
	return 0;
}

static int push(struct kallsyms *k, const struct ksym *s)
{
	if (k->nr == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 1 << 16;
		struct ksym *grown;

		if (k->nr >= SYMS_MAX)
			return -E2BIG;
		grown = realloc(k->syms, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		k->syms = grown;
		k->cap = cap;
	}
	k->syms[k->nr++] = *s;
	return 0;
}

/* The part of a line behind the type: a name, and perhaps "\t[module]". */
static int add_named(struct kallsyms *k, struct ksym *s, const char *p, const char *end)
{
	const char *tab = memchr(p, '\t', (size_t)(end - p));
	size_t len = (size_t)((tab ? tab : end) - p);
	int64_t module = 0;

	if (len > SYMBOL_NAME_MAX)
		len = SYMBOL_NAME_MAX;
	if (!len || memchr(p, '\0', len))
		return -EBADMSG;
	if (tab && tab + 1 < end && strtab_count(k->modules) < MODULES_MAX) {
		module = strtab_add(k->modules, tab + 1, (size_t)(end - tab - 1), NULL);
		if (module < 0)
			return (int)module;
	}
	if (is_mark(p, len))
		return push(k, s);
	if (k->names.len + len + 1 >= NOT_CODE)
		return -E2BIG;
	s->module = (uint16_t)module;
	s->name = (uint32_t)k->names.len;
	buf_add(&k->names, p, len);
	buf_addc(&k->names, '\0');
	return k->names.err ? k->names.err : push(k, s);
}

static int add_line(struct kallsyms *k, const char *p, size_t len)
{
	const char *end = p + len;
	struct ksym s = {.name = NOT_CODE};
	char type;

	if (!parse_hex(&p, end, &s.addr) || !skip_blanks(&p, end) || p == end)
		return -EBADMSG;
	type = *p++;
	if (!skip_blanks(&p, end))
		return -EBADMSG;
	if (!s.addr)
		return 0;
	switch (type) {
	case 'T':
		s.rank = 0;
		break;
	case 'W':
	case 'w':
		s.rank = 1;
		break;
	case 't':
		s.rank = 2;
		break;
	case 'A':
	case 'a':
		return 0; /* per-CPU offsets and constants are no places */
	default:
		return push(k, &s);
	}
	return add_named(k, &s, p, end);
}

static int by_addr(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* The same order among aliases as in ELF files (symtab.h), as far as known. */
static int better(const struct kallsyms *k, const struct ksym *a, const struct ksym *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return name_better(k->names.data + a->name, k->names.data + b->name);
}

/* Sort; one symbol an address, functions before ends; no two ends in a row. */
static void compact(struct kallsyms *k)
{
	size_t out = 0;

	if (!k->nr)
		return;
	qsort(k->syms, k->nr, sizeof(*k->syms), by_addr);
	for (size_t i = 0; i < k->nr; i++) {
		struct ksym *s = &k->syms[i], *last = out ? &k->syms[out - 1] : NULL;

		if (s->name == NOT_CODE &&
			(!last || last->name == NOT_CODE || last->addr == s->addr))
			continue;
		if (last && last->addr == s->addr && last->name != NOT_CODE) {
			if (better(k, s, last))
				*last = *s;
			continue;
		}
		k->syms[out++] = *s;
	}
	k->nr = out;
}

static int read_all(struct kallsyms **out, struct lines *l, const char *name, struct err *e)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	int err = -ENOMEM;

	*out = NULL;
	if (!k)
		goto fail;
	k->modules = strtab_new();
	if (!k->modules)
		goto fail;
	while ((err = lines_next(l)) > 0) {
		err = add_line(k, l->line, l->len);
		if (err == -EBADMSG)
			k->bad++;
		else if (err)
			goto fail;
		k->lines++;
	}
	if (err)
		goto fail;
	if (!k->lines || k->bad == k->lines) {
		err = err_set(e, -EBADMSG, "%s: no line of it is a kernel symbol", name);
		goto out;
	}
	if (k->bad)
		log_warn("%s: %zu lines are no kernel symbols; skipped", name, k->bad);
	k->hidden = !k->nr;
	compact(k);
	log_debug("%s: %zu functions of %zu symbols", name, k->nr, k->lines);
	*out = k;
	return 0;
fail:
	if (err == -E2BIG)
		err_set(e, err, "%s: more than %u symbols", name, SYMS_MAX);
	else
		err_sys(e, err, "%s: cannot read", name);
out:
	kallsyms_close(k);
	return err;
}

int kallsyms_open(struct kallsyms **k, const char *path, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF];
	struct lines l;
	int fd, err;

	*k = NULL;
	if (!path)
		path = "/proc/kallsyms";
	escape_brief(name, sizeof(name), path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_sys(e, -errno, "%s: cannot open", name);
	err = lines_init(&l, fd, TEXT_MAX);
	if (err) {
		err_set(e, err, "%s: out of memory", name);
	} else {
		err = read_all(k, &l, name, e);
		lines_release(&l);
	}
	close(fd);
	return err;
}

int kallsyms_open_mem(struct kallsyms **k, const char *text, size_t len, struct err *e)
{
	struct lines l;

	lines_init_mem(&l, text, len);
	return read_all(k, &l, "kallsyms", e);
}

void kallsyms_close(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->syms);
	buf_release(&k->names);
	strtab_free(k->modules);
	free(k);
}

int kallsyms_hidden(const struct kallsyms *k)
{
	return k->hidden;
}

void kallsyms_symbols(const struct kallsyms *k, uint64_t addr, int is_return, struct symbols *out,
	const char **module)
{
	const struct ksym *s;
	size_t lo = 0, hi = k->nr;

	out->nr = 0;
	out->reason = k->hidden ? REASON_KALLSYMS_HIDDEN : REASON_KERNEL_UNKNOWN;
	if (module)
		*module = "kernel";
	if (is_return)
		addr--;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return;
	s = &k->syms[lo - 1];
	if (s->name == NOT_CODE || addr - s->addr >= SPAN_MAX)
		return;
	out->at[0] = (struct symbol){.name = k->names.data + s->name};
	out->nr = 1;
	out->reason = REASON_NONE;
	if (module && s->module)
		*module = strtab_get(k->modules, s->module, NULL);
}
