/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols against two independent readers, binutils' readelf and elfutils'
 * libdwfl, on files of this system and on files built here in unusual ways.
 *
 * The expectation is computed from readelf's list by brute force, with the
 * order written down in symbolize/symtab.h.
 */
#include "support.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>

#include "symbolize/symbolize.h"

struct line { /* one function of readelf -sW */
	uint64_t addr, size;
	int cls, type, bind;
	char *name, *full;
};

struct list {
	struct line *at;
	size_t nr, cap;
	uint64_t longest;
};

struct segs {
	struct {
		uint64_t offset, vaddr, filesz;
		int exec;
	} at[64];
	size_t nr;
};

static int run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *fmt, ...)
{
	char *cmd;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	assert_true(vasprintf(&cmd, fmt, ap) > 0);
	va_end(ap);
	ret = system(cmd);
	free(cmd);
	return ret;
}

static int word_of(const char *s, const char *const *words, int otherwise)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	return otherwise;
}

/* Executable sections, so that labels at the end of .text or in data are left out. */
static size_t read_exec_sections(const char *path, uint64_t (*r)[2])
{
	char *cmd, line[4096];
	size_t nr = 0;
	FILE *f;

	assert_true(asprintf(&cmd, "LC_ALL=C readelf -SW '%s' 2>/dev/null", path) > 0);
	f = popen(cmd, "r");
	free(cmd);
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		uint64_t addr, off, size, es;
		char type[64], flags[16];
		char *p = strchr(line, ']');

		if (!p || sscanf(p + 1, " %*s %63s %lx %lx %lx %lx %15s", type, &addr, &off, &size,
				  &es, flags) != 6)
			continue;
		if (strchr(flags, 'A') && strchr(flags, 'X') && nr < 64) {
			r[nr][0] = addr;
			r[nr++][1] = addr + size;
		}
	}
	pclose(f);
	return nr;
}

static void read_list(const char *path, struct list *l)
{
	static const char *const types[] = {"FUNC", "IFUNC", "NOTYPE", NULL};
	static const char *const binds[] = {"GLOBAL", "WEAK", "LOCAL", NULL};
	uint64_t exec[64][2];
	size_t nr_exec = read_exec_sections(path, exec);
	char *cmd, *line = NULL;
	size_t cap = 0;
	FILE *f;

	assert_true(asprintf(&cmd, "LC_ALL=C readelf -sW '%s' 2>/dev/null", path) > 0);
	f = popen(cmd, "r");
	free(cmd);
	assert_non_null(f);
	while (getline(&line, &cap, f) > 0) {
		char size[32], type[32], bind[32], ndx[32];
		struct line n = {0};
		int at = 0;
		char *at_sign;

		if (sscanf(line, " %*u: %lx %31s %31s %31s %*s %31s %n", &n.addr, size, type, bind,
			    ndx, &at) != 5 ||
			!at)
			continue;
		line[strcspn(line, "\n")] = '\0';
		n.type = word_of(type, types, -1);
		if (n.type < 0 || strcmp(ndx, "UND") == 0 || !line[at])
			continue;
		for (size_t i = 0; i < nr_exec; i++)
			if (n.addr >= exec[i][0] && n.addr < exec[i][1])
				goto inside;
		continue;
	inside:
		if (n.type == 2 && (strncmp(line + at, ".L", 2) == 0 ||
					   strncmp(line + at, ".annobin", 8) == 0))
			continue;
		n.size = strtoull(size, NULL, 0);
		n.bind = word_of(bind, binds, 0);
		n.cls = !n.size ? 2 : n.type == 2 ? 1 : 0;
		n.full = strdup(line + at);
		n.name = strdup(line + at);
		at_sign = strchr(n.name, '@');
		if (at_sign && at_sign != n.name)
			*at_sign = '\0';
		/* readelf appends " (3)" to versions of undefined ones only; none here. */
		if (l->nr == l->cap) {
			l->cap = l->cap ? l->cap * 2 : 1024;
			l->at = realloc(l->at, l->cap * sizeof(*l->at));
			assert_non_null(l->at);
		}
		if (n.size > l->longest)
			l->longest = n.size;
		l->at[l->nr++] = n;
	}
	free(line);
	pclose(f);
}

static void free_list(struct list *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->at[i].name);
		free(l->at[i].full);
	}
	free(l->at);
}

static int by_addr(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int line_better(const struct line *a, const struct line *b)
{
	size_t ua = strspn(a->name, "_"), ub = strspn(b->name, "_");

	if (a->cls != b->cls)
		return a->cls < b->cls;
	if (a->type != b->type)
		return a->type < b->type;
	if (a->bind != b->bind)
		return a->bind < b->bind;
	if (a->size != b->size)
		return a->size > b->size;
	if (ua != ub)
		return ua < ub;
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name);
	return strcmp(a->name, b->name) < 0;
}

/* 1 if a sized symbol of class below @cls covers the start of @n. */
static int hidden(const struct list *l, size_t i)
{
	const struct line *n = &l->at[i];

	for (size_t k = i; k-- > 0 && n->addr - l->at[k].addr <= l->longest;)
		if (l->at[k].cls < n->cls && l->at[k].size > n->addr - l->at[k].addr)
			return 1;
	for (size_t k = i + 1; k < l->nr && l->at[k].addr == n->addr; k++)
		if (l->at[k].cls < n->cls)
			return 1;
	return 0;
}

/* The expected owner of @addr among sized symbols; NULL: none. */
static const struct line *expected(const struct list *l, uint64_t addr)
{
	const struct line *best = NULL;
	size_t lo = 0, hi = l->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->at[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i-- > 0 && addr - l->at[i].addr <= l->longest;) {
		const struct line *n = &l->at[i];

		if (best && n->addr != best->addr)
			break;
		if (n->size <= addr - n->addr || hidden(l, i))
			continue;
		if (!best || line_better(n, best))
			best = n;
	}
	return best;
}

/* 1 if a symbol without size may reach to @addr, so that no expectation is made. */
static int maybe_stretched(const struct list *l, uint64_t addr)
{
	size_t i = 0;

	for (size_t lo = 0, hi = l->nr; lo < hi;) {
		size_t mid = (lo + hi) / 2;

		if (l->at[mid].addr <= addr)
			lo = i = mid + 1;
		else
			hi = mid;
	}
	while (i-- > 0)
		if (l->at[i].size == 0 && !hidden(l, i))
			return 1;
		else if (l->at[i].size)
			return 0;
	return 0;
}

static void read_segs(const char *path, struct segs *s)
{
	size_t len;
	char *data = read_file(path, &len);
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)data;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(data + eh->e_phoff);

	for (int i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD || s->nr == 64)
			continue;
		s->at[s->nr].offset = ph[i].p_offset;
		s->at[s->nr].vaddr = ph[i].p_vaddr;
		s->at[s->nr].filesz = ph[i].p_filesz;
		s->at[s->nr++].exec = ph[i].p_flags & PF_X;
	}
	free(data);
}

static uint64_t offset_of(const struct segs *s, uint64_t vaddr)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->at[i].exec && vaddr >= s->at[i].vaddr &&
			vaddr - s->at[i].vaddr < s->at[i].filesz)
			return vaddr - s->at[i].vaddr + s->at[i].offset;
	return UINT64_MAX;
}

static struct module *open_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct module *m;
	struct err e = {0};

	assert_true(fd >= 0);
	if (module_open(&m, fd, path, NULL, &e))
		fail_msg("%s", e.msg);
	return m;
}

/* The name we give for @vaddr, as in the file; "" for none. */
static const char *ours(struct module *m, uint64_t offset, int is_return)
{
	static struct symbols out;

	module_symbols(m, offset, is_return, &out);
	if (!out.nr) {
		assert_int_equal(out.reason, REASON_NO_SYMBOL);
		return "";
	}
	assert_int_equal(out.nr, 1);
	return out.at[0].raw ? out.at[0].raw : out.at[0].name;
}

struct dwfl_side {
	Dwfl *dwfl;
	Dwfl_Module *mod;
};

/* No debug files: they would bring other symbols. */
static int no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
	const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)mod, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc,
		(void)found;
	return -1;
}

static void open_dwfl(const char *path, struct dwfl_side *d)
{
	static const Dwfl_Callbacks cb = {.section_address = dwfl_offline_section_address,
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = no_debuginfo};

	d->dwfl = dwfl_begin(&cb);
	assert_non_null(d->dwfl);
	dwfl_report_begin(d->dwfl);
	d->mod = dwfl_report_elf(d->dwfl, path, path, -1, 0, false);
	assert_non_null(d->mod);
	dwfl_report_end(d->dwfl, NULL, NULL);
}

/* libdwfl's answer starts where ours does, or is no function symbol at all (it takes any type). */
static int dwfl_disagrees(const struct dwfl_side *d, const struct line *want, uint64_t addr)
{
	Dwarf_Addr bias = 0;
	GElf_Off off = 0;
	GElf_Sym sym;
	const char *name;

	dwfl_module_getelf(d->mod, &bias);
	name = dwfl_module_addrinfo(d->mod, addr + bias, &off, &sym, NULL, NULL, NULL);
	if (!name || !sym.st_size)
		return want != NULL && want->size && !name;
	if (GELF_ST_TYPE(sym.st_info) != STT_FUNC && GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC)
		return 0;
	return !want || addr - off != want->addr;
}

static void compare(const char *path)
{
	struct list l = {0};
	struct segs s = {0};
	struct dwfl_side d;
	struct module *m;
	size_t checked = 0, gaps = 0, wrong = 0, dwfl_wrong = 0;

	if (access(path, R_OK) < 0) {
		print_message("%s: not here\n", path);
		return;
	}
	read_list(path, &l);
	if (l.nr)
		qsort(l.at, l.nr, sizeof(*l.at), by_addr);
	read_segs(path, &s);
	m = open_module(path);
	open_dwfl(path, &d);
	for (size_t i = 0; i < l.nr; i++) {
		const struct line *n = &l.at[i];
		uint64_t tries[] = {n->addr, n->addr + n->size / 2,
			n->addr + (n->size ? n->size - 1 : 0), n->addr + n->size};

		for (size_t k = 0; k < ARRAY_LEN(tries); k++) {
			const struct line *want = expected(&l, tries[k]);
			uint64_t off = offset_of(&s, tries[k]);
			const char *got;

			if (off == UINT64_MAX || (!want && maybe_stretched(&l, tries[k])))
				continue;
			got = ours(m, off, 0);
			checked++;
			gaps += !want;
			if (want ? strcmp(got, want->name) != 0 && strcmp(got, want->full) != 0
				 : *got != '\0') {
				if (wrong++ < 5)
					print_error("%s: %#lx: want %s, got %s\n", path, tries[k],
						want ? want->full : "nothing", got);
			}
			/* A return address is looked up one byte before. */
			if (strcmp(ours(m, off + 1, 1), got) != 0)
				wrong++;
			if (dwfl_disagrees(&d, want, tries[k]) && dwfl_wrong++ < 3)
				print_message("%s: %#lx: libdwfl differs from %s\n", path, tries[k],
					want ? want->full : "nothing");
		}
	}
	print_message("%s: %zu lookups (%zu in gaps) of %zu symbols, %zu kept, %zu bytes, libdwfl "
		      "differs %zu times\n",
		path, checked, gaps, l.nr, module_nr_symbols(m), module_bytes(m), dwfl_wrong);
	assert_int_equal(wrong, 0);
	assert_true(dwfl_wrong * 1000 <= checked);
	dwfl_end(d.dwfl);
	module_close(m);
	free_list(&l);
}

static void test_system_libraries_agree_with_readelf_and_libdwfl(void **state)
{
	(void)state;
	compare("/lib/x86_64-linux-gnu/libc.so.6");
	compare("/lib/x86_64-linux-gnu/libm.so.6");
	compare("/lib64/ld-linux-x86-64.so.2");
	compare("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	compare("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
	compare("/usr/bin/python3");
	compare("/bin/bash");
}

static void test_our_own_binary_agrees(void **state)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(len > 0);
	path[len] = '\0';
	compare(path);
}

static const char many_functions[] =
	"volatile unsigned long s;\n"
	"#define F(n) __attribute__((noinline)) void f##n(void) { s += n; s *= n; }\n"
	"#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) "
	"F(n##9)\n"
	"T(1) T(2) T(3) T(4) T(5) T(6) T(7) T(8) T(9)\n"
	"__attribute__((noinline)) static void hidden_one(void) { s--; }\n"
	"#ifdef FAR\n"
	"__attribute__((noinline, section(\".farcode\"))) void far_decoy(void) { s += 7; }\n"
	"__attribute__((noinline, section(\".farcode\"))) void far_one(void) { s += 9; }\n"
	"#endif\n"
	"int main(void) { f10(); hidden_one();\n"
	"#ifdef FAR\n"
	"far_one(); far_decoy();\n"
	"#endif\n"
	"return 0; }\n";

/* Build in @dir with extra flags; NULL when this compiler or linker cannot. */
static char *build(const char *dir, const char *name, const char *flags)
{
	char *src = path_in(dir, "m.c"), *bin = path_in(dir, name);

	write_file(src, many_functions, sizeof(many_functions) - 1);
	if (run("${CC:-cc} -g -O1 %s -o '%s' '%s' 2>/dev/null", flags, bin, src) != 0) {
		print_message("cannot build with %s\n", flags);
		free(bin);
		bin = NULL;
	}
	free(src);
	return bin;
}

static void test_unusual_layouts_agree(void **state)
{
	static const struct {
		const char *name, *flags;
	} kinds[] = {
		{"lld", "-pie -fPIE -fuse-ld=lld"},
		{"lld-far", "-pie -fPIE -fuse-ld=lld -DFAR"},
		{"gold", "-fuse-ld=gold"},
		{"bfd-pie", "-pie -fPIE"},
		{"one-segment", "-Wl,-z,noseparate-code"},
		{"no-pie", "-no-pie"},
		{"far", "-no-pie -DFAR -Wl,--section-start=.farcode=0x7000000"},
		{"relr", "-pie -fPIE -Wl,-z,pack-relative-relocs"},
		{"stripped", "-s"},
		{"stripped-dyn", "-s -rdynamic"},
		{"static", "-static"},
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char *bin = build(*state, kinds[i].name, kinds[i].flags);

		if (bin)
			compare(bin);
		free(bin);
	}
}

/* lld places code at an address that is not its file offset; whoever confuses
 * the two finds one of the neighbours. */
static void test_offset_is_translated_by_the_covering_segment(void **state)
{
	char *bin = build(*state, "far2", "-no-pie -DFAR -Wl,--section-start=.farcode=0x7000000");
	struct list l = {0};
	struct segs s = {0};
	struct module *m;

	assert_non_null(bin);
	read_list(bin, &l);
	read_segs(bin, &s);
	m = open_module(bin);
	for (size_t i = 0; i < l.nr; i++) {
		if (strcmp(l.at[i].name, "far_one") != 0)
			continue;
		assert_true(offset_of(&s, l.at[i].addr) != l.at[i].addr);
		assert_string_equal(ours(m, offset_of(&s, l.at[i].addr), 0), "far_one");
		assert_int_equal(module_vaddr(m, offset_of(&s, l.at[i].addr), NULL), l.at[i].addr);
	}
	module_close(m);
	free_list(&l);
	free(bin);
}

/* A function between two sized symbols whose own symbol was removed has no name. */
static void test_stripped_function_gets_no_neighbours_name(void **state)
{
	char *bin = build(*state, "gap", "-fno-toplevel-reorder"),
	     *cut = path_in(*state, "gap.cut");
	struct list l = {0};
	struct segs s = {0};
	struct module *m;
	uint64_t at = 0;

	assert_non_null(bin);
	read_list(bin, &l);
	for (size_t i = 0; i < l.nr; i++)
		if (strcmp(l.at[i].name, "f55") == 0)
			at = l.at[i].addr;
	assert_true(at != 0);
	assert_int_equal(run("objcopy --strip-debug --strip-symbol=f55 '%s' '%s'", bin, cut), 0);
	read_segs(cut, &s);
	m = open_module(cut);

	assert_string_equal(ours(m, offset_of(&s, at), 0), "");
	assert_string_equal(ours(m, offset_of(&s, at) + 4, 0), "");
	assert_string_equal(ours(m, offset_of(&s, at), 1), "f54");

	module_close(m);
	free_list(&l);
	free(bin);
	free(cut);
}

static void compare_build_id(const char *path)
{
	uint8_t id[BUILD_ID_MAX];
	char ours_hex[2 * BUILD_ID_MAX + 1] = "", theirs[256] = "", line[1024], *cmd;
	int fd = open(path, O_RDONLY | O_CLOEXEC), len;
	FILE *f;

	if (fd < 0)
		return;
	len = build_id_of_fd(fd, id);
	close(fd);
	assert_true(len >= 0);
	for (int i = 0; i < len; i++)
		sprintf(ours_hex + 2 * i, "%02x", id[i]);
	assert_true(asprintf(&cmd, "LC_ALL=C readelf -n '%s' 2>/dev/null", path) > 0);
	f = popen(cmd, "r");
	free(cmd);
	while (fgets(line, sizeof(line), f))
		sscanf(line, " Build ID: %255s", theirs);
	pclose(f);
	assert_string_equal(ours_hex, theirs);
}

static void test_build_ids_agree_with_readelf(void **state)
{
	static const char *const kinds[] = {"-Wl,--build-id=sha1", "-Wl,--build-id=md5",
		"-Wl,--build-id=none", "-Wl,--build-id=0x12345678",
		"-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		"-Wl,--build-id=sha1 -s", "-static -Wl,--build-id",
		"-fuse-ld=lld -Wl,--build-id=fast"};

	compare_build_id("/lib/x86_64-linux-gnu/libc.so.6");
	compare_build_id("/usr/bin/python3");
	compare_build_id("/bin/bash");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char *bin = build(*state, "id", kinds[i]);

		if (bin)
			compare_build_id(bin);
		free(bin);
	}
}

static void test_vdso_has_its_functions(void **state)
{
	struct module *m;
	struct err e = {0};

	(void)state;
	if (vdso_open(&m, &e)) {
		print_message("%s\n", e.msg);
		skip();
	}
	assert_true(module_nr_symbols(m) > 3);
	module_close(m);
}

RUN_TESTS(T(test_system_libraries_agree_with_readelf_and_libdwfl), T(test_our_own_binary_agrees),
	T_TMPDIR(test_unusual_layouts_agree),
	T_TMPDIR(test_offset_is_translated_by_the_covering_segment),
	T_TMPDIR(test_stripped_function_gets_no_neighbours_name),
	T_TMPDIR(test_build_ids_agree_with_readelf), T(test_vdso_has_its_functions))
