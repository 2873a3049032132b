/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "elf_fixture.h"
#include "symbolize/elf_file.h"
#include "symbolize/symbolize.h"
#include "symbolize/symtab.h"

#define A(x) (FIX_TEXT + (x))

/* The name at @addr in a file with @syms; "-" for none. */
static const char *name_at(const struct fix_sym *syms, size_t nr, uint64_t addr)
{
	static char name[256];
	struct buf b = BUF_INIT;
	struct symbols out;
	struct elf_file *f;
	struct module *m;
	struct symtab *t;
	struct err e = {0};

	fix_elf(&b, syms, nr);
	if (module_open_mem(&m, b.data, b.len, "x", NULL, &e))
		fail_msg("%s", e.msg);
	module_symbols(m, addr - FIX_BIAS, 0, &out);
	snprintf(name, sizeof(name), "%s", out.nr ? out.at[0].name : "-");
	assert_int_equal(out.nr ? REASON_NONE : REASON_NO_SYMBOL, out.reason);
	module_close(m);

	assert_int_equal(elf_open_mem(&f, b.data, b.len, "x", &e), 0);
	assert_int_equal(symtab_read(&t, f, &e), 0);
	assert_true(symtab_check(t));
	symtab_free(t);
	elf_close(f);
	buf_release(&b);
	return name;
}

#define NAME_AT(syms, addr) name_at(syms, ARRAY_LEN(syms), addr)

static void test_gap_between_sized_symbols_has_no_name(void **state)
{
	static const struct fix_sym s[] = {FUNC("a", A(0x100), 0x10), FUNC("b", A(0x200), 0x10)};

	(void)state;
	assert_string_equal(NAME_AT(s, A(0xff)), "-");
	assert_string_equal(NAME_AT(s, A(0x100)), "a");
	assert_string_equal(NAME_AT(s, A(0x10f)), "a");
	assert_string_equal(NAME_AT(s, A(0x110)), "-");
	assert_string_equal(NAME_AT(s, A(0x1ff)), "-");
	assert_string_equal(NAME_AT(s, A(0x200)), "b");
	assert_string_equal(NAME_AT(s, A(0x210)), "-");
}

static void test_return_address_is_looked_up_one_byte_before(void **state)
{
	static const struct fix_sym s[] = {FUNC("a", A(0), 0x10), FUNC("b", A(0x10), 0x10)};
	struct buf b = BUF_INIT;
	struct symbols out;
	struct module *m;

	(void)state;
	fix_elf(&b, s, ARRAY_LEN(s));
	assert_int_equal(module_open_mem(&m, b.data, b.len, "x", NULL, NULL), 0);

	module_symbols(m, 0x1010, 0, &out);
	assert_string_equal(out.at[0].name, "b");
	module_symbols(m, 0x1010, 1, &out);
	assert_string_equal(out.at[0].name, "a");
	module_symbols(m, 0x1000, 1, &out);
	assert_int_equal(out.nr, 0);
	module_symbols(m, 0, 1, &out);
	assert_int_equal(out.nr, 0);

	module_close(m);
	buf_release(&b);
}

static void test_aliases_have_one_winner_in_the_documented_order(void **state)
{
	static const struct fix_sym bind[] = {
		LOCAL("a", A(0), 8), WEAK("b", A(0), 8), FUNC("c", A(0), 8)};
	static const struct fix_sym type[] = {{"a", A(0), 8, STT_GNU_IFUNC, STB_GLOBAL, 1},
		{"b", A(0), 8, STT_FUNC, STB_LOCAL, 1}};
	static const struct fix_sym underscores[] = {
		FUNC("__a", A(0), 8), FUNC("_b", A(0), 8), FUNC("ccccc", A(0), 8)};
	static const struct fix_sym shorter[] = {FUNC("abcd", A(0), 8), FUNC("xyz", A(0), 8)};
	static const struct fix_sym bytewise[] = {
		FUNC("bcd", A(0), 8), FUNC("abd", A(0), 8), FUNC("abe", A(0), 8)};
	static const struct fix_sym notype[] = {
		{"a", A(0), 8, STT_NOTYPE, STB_GLOBAL, 1}, LOCAL("__zzzz", A(0), 8)};
	static const struct fix_sym unsized[] = {FUNC("a", A(0), 0), LOCAL("__zzzz", A(0), 8)};

	(void)state;
	assert_string_equal(NAME_AT(bind, A(0)), "c");
	assert_string_equal(NAME_AT(type, A(0)), "b");
	assert_string_equal(NAME_AT(underscores, A(0)), "ccccc");
	assert_string_equal(NAME_AT(shorter, A(0)), "xyz");
	assert_string_equal(NAME_AT(bytewise, A(0)), "abd");
	assert_string_equal(NAME_AT(notype, A(0)), "__zzzz");
	assert_string_equal(NAME_AT(unsized, A(0)), "__zzzz");
}

static void test_order_in_the_file_does_not_matter(void **state)
{
	static const struct fix_sym base[] = {FUNC("memmove", A(0), 16), FUNC("memcpy", A(0), 16),
		WEAK("x", A(0), 16), LOCAL("y", A(0), 32), LOCAL("inner", A(4), 4),
		LABEL("lab", A(2), 0)};
	struct fix_sym s[ARRAY_LEN(base)];
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 50; round++) {
		memcpy(s, base, sizeof(base));
		for (size_t i = ARRAY_LEN(s) - 1; i > 0; i--) {
			size_t k = test_random(&seed) % (i + 1);
			struct fix_sym swap = s[i];

			s[i] = s[k];
			s[k] = swap;
		}
		assert_string_equal(NAME_AT(s, A(0)), "memcpy");
		assert_string_equal(NAME_AT(s, A(5)), "inner");
		assert_string_equal(NAME_AT(s, A(9)), "memcpy");
		assert_string_equal(NAME_AT(s, A(20)), "y");
	}
}

static void test_innermost_of_nested_symbols_wins(void **state)
{
	static const struct fix_sym s[] = {FUNC("outer", A(0), 0x100), FUNC("in1", A(0x10), 0x10),
		FUNC("in2", A(0x40), 0x40), FUNC("deep", A(0x50), 8),
		FUNC("crossing", A(0xf0), 0x20)};

	(void)state;
	assert_string_equal(NAME_AT(s, A(0xf)), "outer");
	assert_string_equal(NAME_AT(s, A(0x10)), "in1");
	assert_string_equal(NAME_AT(s, A(0x20)), "outer");
	assert_string_equal(NAME_AT(s, A(0x40)), "in2");
	assert_string_equal(NAME_AT(s, A(0x57)), "deep");
	assert_string_equal(NAME_AT(s, A(0x58)), "in2");
	assert_string_equal(NAME_AT(s, A(0x80)), "outer");
	assert_string_equal(NAME_AT(s, A(0xf0)), "crossing");
	assert_string_equal(NAME_AT(s, A(0x10f)), "crossing");
	assert_string_equal(NAME_AT(s, A(0x110)), "-");
}

static void test_symbol_without_size_reaches_to_the_next_and_not_further(void **state)
{
	static const struct fix_sym s[] = {FUNC("sized", A(0), 0x10), FUNC("asm1", A(0x20), 0),
		LABEL("asm2", A(0x40), 0), FUNC("next", A(0x60), 0x10), FUNC("last", A(0xff0), 0)};

	(void)state;
	assert_string_equal(NAME_AT(s, A(0x18)), "-");
	assert_string_equal(NAME_AT(s, A(0x3f)), "asm1");
	assert_string_equal(NAME_AT(s, A(0x5f)), "asm2");
	assert_string_equal(NAME_AT(s, A(0x60)), "next");
	assert_string_equal(NAME_AT(s, A(0x70)), "-");
	assert_string_equal(NAME_AT(s, A(0xfff)), "last");
}

static void test_label_inside_a_sized_function_is_no_function(void **state)
{
	static const struct fix_sym s[] = {
		FUNC("f", A(0), 0x20), LABEL("loop", A(8), 0), LABEL("sized_label", A(0x10), 8)};

	(void)state;
	assert_string_equal(NAME_AT(s, A(8)), "f");
	assert_string_equal(NAME_AT(s, A(0x10)), "f");
	assert_string_equal(NAME_AT(s, A(0x20)), "-");
}

static void test_symbols_outside_of_code_do_not_count(void **state)
{
	static const struct fix_sym s[] = {FUNC("in_data", FIX_DATA, 0x10),
		{"undef", A(0), 8, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
		{"object", A(0x10), 8, STT_OBJECT, STB_GLOBAL, 1},
		{"abs", A(0x30), 8, STT_FUNC, STB_GLOBAL, SHN_ABS}, FUNC("", A(0x50), 8),
		FUNC("end", A(0x1000), 8), FUNC("far", 0xffff000000000000, 8)};

	(void)state;
	assert_string_equal(NAME_AT(s, FIX_DATA), "-");
	assert_string_equal(NAME_AT(s, A(0)), "-");
	assert_string_equal(NAME_AT(s, A(0x10)), "-");
	assert_string_equal(NAME_AT(s, A(0x30)), "abs");
	assert_string_equal(NAME_AT(s, A(0x50)), "-");
}

static void test_mapping_symbols_are_no_names(void **state)
{
	static const struct fix_sym s[] = {LABEL("$x", A(0), 0), LABEL("$d.3", A(0x10), 0),
		LABEL(".Lfoo", A(0x20), 0), LABEL(".annobin_x", A(0x30), 0)};

	(void)state;
	for (unsigned at = 0; at < 0x40; at += 0x10)
		assert_string_equal(NAME_AT(s, A(at)), "-");
}

static void test_version_is_no_part_of_the_name(void **state)
{
	static const struct fix_sym s[] = {FUNC("memcpy@@GLIBC_2.14", A(0), 8),
		FUNC("_ZN3Foo3runEi@V1", A(8), 8), FUNC("__longer@V", A(16), 8),
		FUNC("_shorter_name", A(16), 8)};
	struct buf b = BUF_INIT;
	struct symbols out;
	struct module *m;

	(void)state;
	assert_string_equal(NAME_AT(s, A(0)), "memcpy");
	assert_string_equal(NAME_AT(s, A(8)), "Foo::run(int)");
	assert_string_equal(NAME_AT(s, A(16)), "_shorter_name");
	fix_elf(&b, s, ARRAY_LEN(s));
	assert_int_equal(module_open_mem(&m, b.data, b.len, "x", NULL, NULL), 0);
	module_symbols(m, 0x1000, 0, &out);
	assert_string_equal(out.at[0].raw, "memcpy@@GLIBC_2.14");
	module_close(m);
	buf_release(&b);
}

static void test_sizes_are_cut_at_the_section(void **state)
{
	static const struct fix_sym s[] = {
		FUNC("huge", A(0x800), UINT64_MAX), FUNC("wraps", A(0x900), UINT64_MAX - 0x100)};

	(void)state;
	assert_string_equal(NAME_AT(s, A(0x7ff)), "-");
	assert_string_equal(NAME_AT(s, A(0x8ff)), "huge");
	assert_string_equal(NAME_AT(s, A(0xfff)), "wraps");
	assert_string_equal(NAME_AT(s, FIX_DATA), "-");
}

static void test_long_names_are_cut_with_an_ellipsis(void **state)
{
	char *name = malloc(10001);
	struct fix_sym s = FUNC(name, A(0), 8);
	struct buf b = BUF_INIT;
	struct symbols out;
	struct module *m;

	(void)state;
	memset(name, 'x', 10000);
	name[10000] = '\0';
	fix_elf(&b, &s, 1);
	assert_int_equal(module_open_mem(&m, b.data, b.len, "x", NULL, NULL), 0);
	module_symbols(m, 0x1000, 0, &out);

	assert_int_equal(out.nr, 1);
	assert_int_equal(strlen(out.at[0].name), SYMBOL_NAME_MAX);
	assert_string_equal(out.at[0].name + SYMBOL_NAME_MAX - 4, "x...");

	module_close(m);
	buf_release(&b);
	free(name);
}

/* Nested without end, all in one place: bounded time, no crash, and still exact near the surface.
 */
static void test_hostile_nesting_is_bounded(void **state)
{
	enum {
		NR = 3000
	};
	struct fix_sym *s = calloc(NR, sizeof(*s));
	struct buf b = BUF_INIT;
	struct symbols out;
	struct module *m;

	(void)state;
	for (unsigned i = 0; i < NR; i++)
		s[i] = (struct fix_sym)FUNC("n", A(i), FIX_TEXT_SIZE - i);
	fix_elf(&b, s, NR);
	assert_int_equal(module_open_mem(&m, b.data, b.len, "x", NULL, NULL), 0);
	for (unsigned at = 0; at < FIX_TEXT_SIZE; at++)
		module_symbols(m, 0x1000 + at, 0, &out);
	module_close(m);
	buf_release(&b);
	free(s);
}

static void test_random_tables_agree_with_brute_force(void **state)
{
	enum {
		NR = 40
	};
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		char names[NR][8];
		struct fix_sym s[NR];
		struct buf b = BUF_INIT;
		struct symbols out;
		struct module *m;

		/* Distinct starts, so that nesting alone decides. */
		for (unsigned i = 0; i < NR; i++) {
			snprintf(names[i], sizeof(names[i]), "f%u", i);
			s[i] = (struct fix_sym)FUNC(
				names[i], A(i * 4), 1 + test_random(&seed) % 30);
		}
		fix_elf(&b, s, NR);
		assert_int_equal(module_open_mem(&m, b.data, b.len, "x", NULL, NULL), 0);
		for (unsigned at = 0; at < NR * 4 + 40; at++) {
			const char *want = NULL;

			for (unsigned i = 0; i < NR; i++)
				if (A(at) >= s[i].addr && A(at) < s[i].addr + s[i].size)
					want = names[i];
			module_symbols(m, 0x1000 + at, 0, &out);
			assert_int_equal(out.nr, want != NULL);
			if (want)
				assert_string_equal(out.at[0].name, want);
		}
		module_close(m);
		buf_release(&b);
	}
}

static void test_damaged_tables_are_refused(void **state)
{
	static const struct fix_sym s[] = {FUNC("f", A(0), 8)};
	struct buf b = BUF_INIT;
	enum frame_reason why;
	struct module *m;
	struct err e = {0};
	Elf64_Shdr *sh;

	(void)state;
	fix_elf(&b, s, 1);
	sh = (Elf64_Shdr *)(b.data + ((Elf64_Ehdr *)b.data)->e_shoff);
	sh[FIX_SEC_SYMTAB].sh_entsize = 7;
	assert_int_equal(module_open_mem(&m, b.data, b.len, "x", &why, &e), -EBADMSG);
	assert_int_equal(why, REASON_FILE_UNREADABLE);
	sh[FIX_SEC_SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	sh[FIX_SEC_SYMTAB].sh_link = 12345;
	assert_int_equal(module_open_mem(&m, b.data, b.len, "x", &why, &e), -EBADMSG);
	sh[FIX_SEC_SYMTAB].sh_link = FIX_SEC_STRTAB;
	sh[FIX_SEC_SYMTAB].sh_size = UINT64_MAX;
	assert_int_equal(module_open_mem(&m, b.data, b.len, "x", &why, &e), -EBADMSG);
	assert_contains(e.msg, "beyond the end");
	buf_release(&b);
}

RUN_TESTS(T(test_gap_between_sized_symbols_has_no_name),
	T(test_return_address_is_looked_up_one_byte_before),
	T(test_aliases_have_one_winner_in_the_documented_order),
	T(test_order_in_the_file_does_not_matter), T(test_innermost_of_nested_symbols_wins),
	T(test_symbol_without_size_reaches_to_the_next_and_not_further),
	T(test_label_inside_a_sized_function_is_no_function),
	T(test_symbols_outside_of_code_do_not_count), T(test_mapping_symbols_are_no_names),
	T(test_version_is_no_part_of_the_name), T(test_sizes_are_cut_at_the_section),
	T(test_long_names_are_cut_with_an_ellipsis), T(test_hostile_nesting_is_bounded),
	T(test_random_tables_agree_with_brute_force), T(test_damaged_tables_are_refused))
