/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>

#include "symbolize/symbolize.h"

static struct kallsyms *from(const char *text)
{
	struct kallsyms *k;
	struct err e = {0};

	if (kallsyms_open_mem(&k, text, strlen(text), &e))
		fail_msg("%s", e.msg);
	return k;
}

/* "name module", or "-". */
static const char *at(const struct kallsyms *k, uint64_t addr)
{
	static char text[256];
	const char *module;
	struct symbols out;

	kallsyms_symbols(k, addr, 0, &out, &module);
	if (!out.nr)
		return "-";
	snprintf(text, sizeof(text), "%s %s", out.at[0].name, module);
	return text;
}

static void test_functions_reach_to_the_next_symbol_of_any_type(void **state)
{
	struct kallsyms *k = from("ffffffff81000000 T _stext\n"
				  "ffffffff81000000 T first\n"
				  "ffffffff81000100 t second\n"
				  "ffffffff81000200 r some_table\n"
				  "ffffffff81000300 W third\n"
				  "ffffffff81000400 T _etext\n"
				  "ffffffff81000500 D jiffies\n");

	(void)state;
	assert_string_equal(at(k, 0xffffffff80ffffff), "-");
	assert_string_equal(at(k, 0xffffffff81000000), "first kernel");
	assert_string_equal(at(k, 0xffffffff810000ff), "first kernel");
	assert_string_equal(at(k, 0xffffffff81000100), "second kernel");
	assert_string_equal(at(k, 0xffffffff81000200), "-");
	assert_string_equal(at(k, 0xffffffff810003ff), "third kernel");
	assert_string_equal(at(k, 0xffffffff81000400), "-");
	assert_string_equal(at(k, 0xffffffffffffffff), "-");
	kallsyms_close(k);
}

static void test_modules_and_bpf_are_named(void **state)
{
	struct kallsyms *k = from("ffffffff81000000 T kernel_one\n"
				  "ffffffffc0001000 t ext_read\t[ext4]\n"
				  "ffffffffc0000000 t nf_hook\t[nf_tables]\n"
				  "ffffffffc0100000 t bpf_prog_6deef7357e7b4530_f\t[bpf]\n");

	(void)state;
	assert_string_equal(at(k, 0xffffffffc0000010), "nf_hook [nf_tables]");
	assert_string_equal(at(k, 0xffffffffc0001010), "ext_read [ext4]");
	assert_string_equal(at(k, 0xffffffffc0100010), "bpf_prog_6deef7357e7b4530_f [bpf]");
	/* the last one does not reach to the end of the address space */
	assert_string_equal(at(k, 0xffffffffd0000000), "-");
	assert_string_equal(at(k, 0xffffffff90000000), "-");
	kallsyms_close(k);
}

static void test_aliases_have_one_winner(void **state)
{
	struct kallsyms *k = from("ffffffff81000000 t aaa\n"
				  "ffffffff81000000 T __text_start\n"
				  "ffffffff81000000 W b\n"
				  "ffffffff81000000 T __x64_sys_read\n"
				  "ffffffff81000000 T ksys_read\n");

	(void)state;
	assert_string_equal(at(k, 0xffffffff81000000), "ksys_read kernel");
	kallsyms_close(k);
}

static void test_return_address_is_looked_up_one_byte_before(void **state)
{
	struct kallsyms *k = from("ffffffff81000000 T a\nffffffff81000100 T b\n");
	struct symbols out;

	(void)state;
	kallsyms_symbols(k, 0xffffffff81000100, 1, &out, NULL);
	assert_string_equal(out.at[0].name, "a");
	kallsyms_close(k);
}

static void test_hidden_addresses_are_said_so(void **state)
{
	struct kallsyms *k = from("0000000000000000 T first\n0000000000000000 T last\n");
	struct symbols out;

	(void)state;
	assert_int_equal(kallsyms_hidden(k), 1);
	kallsyms_symbols(k, 0xffffffff81000000, 0, &out, NULL);
	assert_int_equal(out.nr, 0);
	assert_int_equal(out.reason, REASON_KALLSYMS_HIDDEN);
	kallsyms_close(k);
}

static void test_odd_lines_are_skipped(void **state)
{
	struct kallsyms *k =
		from("\nnot a line\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
		     "ffffffff81000000 T good\nfffffffffffffffff81000000 T too_wide\n");

	(void)state;
	assert_string_equal(at(k, 0xffffffff81000000), "good kernel");
	kallsyms_close(k);
}

static void test_a_file_without_symbols_is_an_error(void **state)
{
	struct kallsyms *k;
	struct err e = {0};

	(void)state;
	assert_int_equal(kallsyms_open_mem(&k, "hello\nworld\n", 12, &e), -EBADMSG);
	assert_null(k);
	assert_int_equal(kallsyms_open_mem(&k, "", 0, &e), -EBADMSG);
	assert_int_equal(kallsyms_open(&k, "/nonexistent/kall\nsyms", &e), -ENOENT);
	assert_contains(e.msg, "kall\\");
}

struct function {
	uint64_t addr;
	char name[200];
};

static size_t read_functions(const char *path, struct function **out)
{
	FILE *f = fopen(path, "re");
	size_t nr = 0, cap = 4096;
	char line[1024], type;

	assert_non_null(f);
	*out = malloc(cap * sizeof(**out));
	while (fgets(line, sizeof(line), f)) {
		struct function n;

		if (sscanf(line, "%lx %c %199s", &n.addr, &type, n.name) != 3 ||
			!strchr("tTwW", type))
			continue;
		if (nr == cap) {
			cap *= 2;
			*out = realloc(*out, cap * sizeof(**out));
		}
		(*out)[nr++] = n;
	}
	fclose(f);
	return nr;
}

/* 1 if one of the functions that start where @i does is called @name. File order
 * is address order, except among modules. */
static int is_alias(const struct function *l, size_t nr, size_t i, const char *name)
{
	for (size_t k = i > 64 ? i - 64 : 0; k < nr && k < i + 64; k++)
		if (l[k].addr == l[i].addr && strcmp(l[k].name, name) == 0)
			return 1;
	return 0;
}

/* Each function of the running kernel has its own name, or an alias's, at its own address. */
static void test_running_kernel_agrees_with_its_file(void **state)
{
	char *path = path_in(*state, "kallsyms"), *text;
	struct function *l;
	size_t nr, len, wrong = 0;
	struct kallsyms *k;
	struct err e = {0};

	/* A copy: programs of others come and go in the real one. */
	text = read_file("/proc/kallsyms", &len);
	write_file(path, text, len);
	free(text);
	if (kallsyms_open(&k, path, &e))
		skip();
	if (kallsyms_hidden(k)) {
		kallsyms_close(k);
		free(path);
		skip();
	}
	nr = read_functions(path, &l);
	for (size_t i = 0; i < nr; i++) {
		struct symbols out;

		kallsyms_symbols(k, l[i].addr, 0, &out, NULL);
		if (!out.nr || !is_alias(l, nr, i, out.at[0].name)) {
			wrong++;
			print_message("%lx %s: %s\n", l[i].addr, l[i].name,
				out.nr ? out.at[0].name : "-");
		}
	}
	print_message("%zu functions, %zu without their own name\n", nr, wrong);
	/* the linker script's marks: _etext and the like */
	assert_true(wrong < 20);
	kallsyms_close(k);
	free(l);
	free(path);
}

RUN_TESTS(T(test_functions_reach_to_the_next_symbol_of_any_type), T(test_modules_and_bpf_are_named),
	T(test_aliases_have_one_winner), T(test_return_address_is_looked_up_one_byte_before),
	T(test_hidden_addresses_are_said_so), T(test_odd_lines_are_skipped),
	T(test_a_file_without_symbols_is_an_error),
	T_TMPDIR(test_running_kernel_agrees_with_its_file))
