/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN
 *
 * One array of 16-byte entries sorted by start; names are offsets into the
 * file's string tables and are read when somebody asks, because a recording
 * asks for some hundred of 300,000. Only true ties among aliases need names
 * while sorting.
 *
 * Sized symbols may nest and cross. For each symbol, outer[] names the nearest
 * earlier one that was still open at its start, so a look-up is a binary search
 * for the last start <= address and then a walk outwards until one covers it:
 *
 *      0 [----------------------------)          outer: -
 *      1      [-----)                                   0
 *      2               [--------)                       0
 *      3                  [--)                          2
 *
 * The walk is as long as the nesting is deep: 1-3 in compiled code. A hostile
 * file can nest without end, so it gives up after MAX_NESTING steps.
 */
#include "symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code_ranges.h"
#include "name.h"
#include "symbolize.h"
#include "user/base/cursor.h"

#define MAX_NESTING 64
#define BATCH	    2048 /* symbol entries read at once: 48 KiB */
#define NO_SYM	    UINT32_MAX

struct sym {
	uint64_t addr : CODE_ADDR_BITS;
	uint64_t pref : 7; /* class, type, binding; lower is better */
	uint64_t dyn : 1;  /* name is in .dynsym's string table */
	uint32_t size;
	uint32_t name; /* offset in the string table */
};

struct symtab {
	const struct elf_file *f;
	struct elf_section strings[2]; /* of .symtab, of .dynsym; size 0 = none */
	struct sym *syms;
	uint32_t *outer;
	size_t nr, cap;
	struct code_ranges code;
};

/* pref = class * 9 + type * 3 + binding */
enum {
	CLASS_SIZED = 0,
	CLASS_SIZED_NOTYPE = 1,
	CLASS_UNSIZED = 2
};
enum {
	TYPE_FUNC = 0,
	TYPE_IFUNC = 1,
	TYPE_NOTYPE = 2
};

static unsigned sym_class(const struct sym *s)
{
	return s->pref / 9;
}

static uint64_t sym_end(const struct sym *s)
{
	return s->addr + s->size;
}

/* ---- collecting ---- */

/* Labels that name no function: mapping symbols of ARM and RISC-V ("$x",
 * "$d.1"), local labels that got out, annotations of the annobin plugin. */
static int is_marker(const struct symtab *t, const struct sym *s)
{
	char name[16];
	int64_t len = elf_string(t->f, &t->strings[s->dyn], s->name, name, sizeof(name), NULL);

	if (len <= 0)
		return 1;
	if (name[0] == '$' && strchr("adtx", name[1]))
		return 1;
	return strncmp(name, ".L", 2) == 0 || strncmp(name, ".annobin", 8) == 0;
}

static int push(struct symtab *t, const struct sym *s, struct err *e)
{
	if (t->nr == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 1024;
		struct sym *grown;

		if (t->nr >= SYMTAB_MAX)
			return err_set(e, -E2BIG, "%s: more than %u function symbols", t->f->name,
				SYMTAB_MAX);
		grown = realloc(t->syms, cap * sizeof(*grown));
		if (!grown)
			return err_set(e, -ENOMEM, "%s: out of memory for symbols", t->f->name);
		t->syms = grown;
		t->cap = cap;
	}
	t->syms[t->nr++] = *s;
	return 0;
}

static int add_symbol(struct symtab *t, struct cursor *c, unsigned dyn, struct err *e)
{
	static const unsigned char bindings[16] = {
		[STB_GLOBAL] = 0, [STB_WEAK] = 1, [STB_LOCAL] = 2, [STB_GNU_UNIQUE] = 0};
	const struct code_range *code;
	uint64_t addr, size, left;
	unsigned info, shndx, type, class;
	uint32_t name = cursor_u32(c);
	struct sym s;

	if (t->f->is64) {
		info = cursor_u8(c);
		cursor_u8(c); /* st_other */
		shndx = cursor_u16(c);
		addr = cursor_u64(c);
		size = cursor_u64(c);
	} else {
		addr = cursor_u32(c);
		size = cursor_u32(c);
		info = cursor_u8(c);
		cursor_u8(c);
		shndx = cursor_u16(c);
	}
	switch (ELF64_ST_TYPE(info)) {
	case STT_FUNC:
		type = TYPE_FUNC;
		break;
	case STT_GNU_IFUNC:
		type = TYPE_IFUNC;
		break;
	case STT_NOTYPE:
		type = TYPE_NOTYPE;
		break;
	default:
		return 0;
	}
	if (!name || shndx == SHN_UNDEF || addr > CODE_ADDR_MAX)
		return 0;
	code = code_range_at(&t->code, addr);
	if (!code)
		return 0;
	/* A function ends with its section at the latest, and below 4 GiB. */
	left = code->end - addr;
	if (size > left)
		size = left;
	if (size > UINT32_MAX)
		size = UINT32_MAX;
	class = !size ? CLASS_UNSIZED : type == TYPE_NOTYPE ? CLASS_SIZED_NOTYPE : CLASS_SIZED;
	s = (struct sym){
		.addr = addr & CODE_ADDR_MAX,
		.pref = (class * 9 + type * 3 + bindings[ELF64_ST_BIND(info)]) & 0x7f,
		.dyn = dyn & 1,
		.size = (uint32_t)size,
		.name = name,
	};
	if (type == TYPE_NOTYPE && is_marker(t, &s))
		return 0;
	return push(t, &s, e);
}

static int read_table(struct symtab *t, const struct elf_section *sec, unsigned dyn, struct err *e)
{
	const struct elf_file *f = t->f;
	size_t len = f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t nr = sec->size / len;
	uint8_t *raw;
	int err = 0;

	if (sec->entsize && sec->entsize != len)
		return err_set(e, -EBADMSG, "%s: symbols of %llu bytes", f->name,
			(unsigned long long)sec->entsize);
	if (sec->link >= f->nr_sections || f->sections[sec->link].type != SHT_STRTAB)
		return err_set(e, -EBADMSG, "%s: symbol table without a string table", f->name);
	if (sec->offset > f->size || nr > (f->size - sec->offset) / len)
		return err_set(
			e, -EBADMSG, "%s: symbol table lies beyond the end of the file", f->name);
	if (nr > SYMTAB_MAX_SCANNED)
		return err_set(e, -E2BIG, "%s: %llu symbols, more than %u", f->name,
			(unsigned long long)nr, SYMTAB_MAX_SCANNED);
	t->strings[dyn] = f->sections[sec->link];
	raw = malloc(BATCH * len);
	if (!raw)
		return err_set(e, -ENOMEM, "%s: out of memory", f->name);
	for (uint64_t i = 0; i < nr && !err; i += BATCH) {
		size_t n = nr - i < BATCH ? (size_t)(nr - i) : BATCH;
		struct cursor c;

		err = elf_read(f, sec->offset + i * len, raw, n * len, e);
		cursor_init(&c, raw, n * len);
		for (size_t k = 0; k < n && !err; k++)
			err = add_symbol(t, &c, dyn, e);
	}
	free(raw);
	return err;
}

/* ---- sorting and choosing ---- */

/* Best alias first, as far as numbers decide. The rest makes the order total,
 * so that the outcome never depends on the sort. */
static int by_addr(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->pref != y->pref)
		return x->pref < y->pref ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->dyn != y->dyn)
		return x->dyn ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* The "@VERSION" some linkers append is no part of the name. */
static void cut_version(char *name)
{
	char *at = strchr(name, '@');

	if (at && at != name)
		*at = '\0';
}

static int tie(const struct sym *a, const struct sym *b)
{
	return a->addr == b->addr && a->pref == b->pref && a->size == b->size;
}

struct namebufs {
	char a[SYMBOL_NAME_MAX], b[SYMBOL_NAME_MAX];
	uint64_t compared; /* bytes read so far */
};

static int read_alias(const struct symtab *t, const struct sym *s, char *buf, struct namebufs *n)
{
	int64_t len;

	if (n->compared >= SYMTAB_MAX_COMPARED)
		return 0;
	len = elf_string(t->f, &t->strings[s->dyn], s->name, buf, SYMBOL_NAME_MAX, NULL);
	if (len <= 0)
		return 0;
	n->compared += (uint64_t)len;
	cut_version(buf);
	return 1;
}

/* Of the run of equal aliases that starts at @i, the one with the best name;
 * *next is the first symbol behind the run. */
static size_t best_alias(const struct symtab *t, size_t i, size_t *next, struct namebufs *n)
{
	const struct sym *s = t->syms;
	char *best_name = n->a, *other = n->b;
	size_t best = i, k = i + 1;
	int have = 0;

	for (; k < t->nr && tie(&s[i], &s[k]); k++) {
		/* The same string of the same table: seen before. */
		if (s[k].dyn == s[k - 1].dyn && s[k].name == s[k - 1].name)
			continue;
		if (!have)
			have = read_alias(t, &s[best], best_name, n);
		if (!read_alias(t, &s[k], other, n))
			continue;
		if (!have || name_better(other, best_name)) {
			char *swap = best_name;

			best_name = other;
			other = swap;
			best = k;
			have = 1;
		}
	}
	*next = k;
	return best;
}

/*
 * Keep what can ever be the answer, in place: sorted by start, the best alias
 * last among those of one start (the search looks there first), each earlier
 * one larger than all behind it.
 */
static int choose(struct symtab *t, struct err *e)
{
	uint64_t func_end = 0, sized_end = 0;
	struct namebufs *names = calloc(1, sizeof(*names));
	struct sym *s = t->syms;
	size_t out = 0;

	if (!names)
		return err_set(e, -ENOMEM, "%s: out of memory", t->f->name);
	for (size_t i = 0; i < t->nr;) {
		uint64_t addr = s[i].addr;
		size_t first = out, next;
		int kept_any = 0;
		uint32_t largest = 0;

		for (; i < t->nr && s[i].addr == addr; i = next) {
			unsigned class = sym_class(&s[i]);
			struct sym best;

			next = i + 1;
			if (kept_any && s[i].size <= largest)
				continue;
			if (class != CLASS_SIZED && addr < func_end)
				continue;
			if (class == CLASS_UNSIZED && addr < sized_end)
				continue;
			best = s[best_alias(t, i, &next, names)];
			s[out++] = best; /* out <= i: never overtakes the reader */
			kept_any = 1;
			largest = best.size;
			if (class == CLASS_SIZED && sym_end(&best) > func_end)
				func_end = sym_end(&best);
			if (class != CLASS_UNSIZED && sym_end(&best) > sized_end)
				sized_end = sym_end(&best);
		}
		for (size_t lo = first, hi = out; lo + 1 < hi; lo++) {
			struct sym swap = s[lo];

			s[lo] = s[--hi];
			s[hi] = swap;
		}
	}
	t->nr = out;
	free(names);
	return 0;
}

/* A symbol without size reaches to the next one, and never out of its section. */
static void stretch(struct symtab *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct sym *s = &t->syms[i];
		uint64_t end;

		if (sym_class(s) != CLASS_UNSIZED)
			continue;
		end = code_range_at(&t->code, s->addr)->end;
		if (i + 1 < t->nr && t->syms[i + 1].addr < end)
			end = t->syms[i + 1].addr;
		end -= s->addr;
		s->size = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
	}
}

static int link_outer(struct symtab *t, struct err *e)
{
	struct sym *fit;

	t->outer = malloc((t->nr ? t->nr : 1) * sizeof(*t->outer));
	if (!t->outer)
		return err_set(e, -ENOMEM, "%s: out of memory for symbols", t->f->name);
	/* Each symbol leaves the chain once, so this is linear. */
	for (size_t i = 0; i < t->nr; i++) {
		uint32_t o = i ? (uint32_t)(i - 1) : NO_SYM;

		while (o != NO_SYM && sym_end(&t->syms[o]) <= t->syms[i].addr)
			o = t->outer[o];
		t->outer[i] = o;
	}
	fit = realloc(t->syms, (t->nr ? t->nr : 1) * sizeof(*fit));
	if (fit) {
		t->syms = fit;
		t->cap = t->nr ? t->nr : 1;
	}
	return 0;
}

int symtab_read(struct symtab **out, struct elf_file *f, struct err *e)
{
	struct symtab *t = calloc(1, sizeof(*t));
	int err;

	*out = NULL;
	if (!t)
		return err_set(e, -ENOMEM, "%s: out of memory", f->name);
	t->f = f;
	err = elf_read_sections(f, e);
	if (!err)
		err = code_ranges_find(&t->code, f, e);
	for (uint32_t i = 0; i < f->nr_sections && !err; i++) {
		const struct elf_section *s = &f->sections[i];
		unsigned dyn = s->type == SHT_DYNSYM;

		/* One of each kind; a second one would be damage. */
		if ((s->type == SHT_SYMTAB || dyn) && !t->strings[dyn].size)
			err = read_table(t, s, dyn, e);
	}
	if (!err && t->nr)
		qsort(t->syms, t->nr, sizeof(*t->syms), by_addr);
	if (!err)
		err = choose(t, e);
	if (!err) {
		stretch(t);
		err = link_outer(t, e);
	}
	if (err) {
		symtab_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	free(t->syms);
	free(t->outer);
	code_ranges_release(&t->code);
	free(t);
}

size_t symtab_count(const struct symtab *t)
{
	return t->nr;
}

size_t symtab_bytes(const struct symtab *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->syms) + t->nr * sizeof(*t->outer) +
	       t->code.nr * sizeof(*t->code.at);
}

int64_t symtab_find(const struct symtab *t, uint64_t vaddr)
{
	size_t lo = 0, hi = t->nr;
	uint32_t i;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->syms[mid].addr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	i = lo ? (uint32_t)(lo - 1) : NO_SYM;
	for (int steps = 0; i != NO_SYM && steps < MAX_NESTING; steps++) {
		if (vaddr < sym_end(&t->syms[i]))
			return i;
		i = t->outer[i];
	}
	return -1;
}

void symtab_range(const struct symtab *t, int64_t i, uint64_t *start, uint64_t *size)
{
	*start = t->syms[i].addr;
	*size = t->syms[i].size;
}

int64_t symtab_name(const struct symtab *t, int64_t i, char *buf, size_t size, int *cut)
{
	const struct sym *s = &t->syms[i];

	return elf_string(t->f, &t->strings[s->dyn], s->name, buf, size, cut);
}

int symtab_check(const struct symtab *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct sym *s = &t->syms[i];
		const struct code_range *code = code_range_at(&t->code, s->addr);

		if (!code || !s->size || sym_end(s) > code->end)
			return 0;
		if (i && s->addr < s[-1].addr)
			return 0;
		if (i && s->addr == s[-1].addr && (s->size >= s[-1].size || s->pref >= s[-1].pref))
			return 0;
		if (t->outer[i] != NO_SYM && t->outer[i] >= i)
			return 0;
	}
	return 1;
}
