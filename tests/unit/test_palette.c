/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "flamegraph/palette.h"

static struct calltree_func func(const char *name, const char *module, enum palette_func kind)
{
	return (struct calltree_func){
		.name = name, .name_len = strlen(name), .module = module, .kind = kind};
}

static void test_palette_text_is_readable_on_every_colour(void **state)
{
	/* Colours of assets/flamegraph.css that text stands on: search hits, callers of a zoom. */
	static const uint32_t hit[] = {0xec86e4, 0x9d2398}, path[] = {0xe3e3e8, 0x3a3a42};

	(void)state;
	for (int t = 0; t < PALETTE_THEMES; t++) {
		for (int k = 0; k < PALETTE_NR; k++)
			for (unsigned s = 0; s < PALETTE_SHADES; s++)
				assert_true(palette_contrast(
						    palette_fill(t, k, s), palette_text(t)) >= 4.5);
		assert_true(palette_contrast(hit[t], palette_text(t)) >= 4.5);
		assert_true(palette_contrast(path[t], palette_text(t)) >= 4.5);
	}
}

static void test_palette_contrast_is_that_of_wcag(void **state)
{
	(void)state;
	assert_int_equal((int)(palette_contrast(0x000000, 0xffffff) * 10), 210);
	assert_int_equal((int)(palette_contrast(0x777777, 0xffffff) * 100), 447);
	assert_int_equal((int)palette_contrast(0x123456, 0x123456), 1);
}

static void test_palette_tells_kinds_of_code_apart(void **state)
{
	static const struct {
		const char *name, *module;
		enum palette_func func;
		enum palette_kind kind;
		int inlined;
	} cases[] = {
		{"main", "app", PALETTE_FUNC_USER, PALETTE_OWN, 0},
		{"main", "app.sock", PALETTE_FUNC_USER, PALETTE_OWN, 0},
		{"malloc", "libc.so.6", PALETTE_FUNC_USER, PALETTE_LIBRARY, 0},
		{"f", "x.cpython-311-x86_64-linux-gnu.so", PALETTE_FUNC_USER, PALETTE_LIBRARY, 0},
		{"f", "libold-2.31.so (deleted)", PALETTE_FUNC_USER, PALETTE_LIBRARY, 0},
		{"clock_gettime", "[vdso]", PALETTE_FUNC_USER, PALETTE_LIBRARY, 0},
		{"vfs_read", "[kernel]", PALETTE_FUNC_KERNEL, PALETTE_KERNEL, 0},
		{"Foo::bar", "[jit]", PALETTE_FUNC_JIT, PALETTE_JIT, 0},
		{"[unknown: no symbol] libx.so+0x12", "libx.so", PALETTE_FUNC_UNKNOWN,
			PALETTE_UNKNOWN, 0},
		{"[truncated]", "", PALETTE_FUNC_MARK, PALETTE_UNKNOWN, 0},
		{"worker-1", "", PALETTE_FUNC_TASK, PALETTE_GROUP, 0},
		{"f", "", PALETTE_FUNC_IMPORTED, PALETTE_OWN, 0},
		{"vfs_read_[k]", "", PALETTE_FUNC_IMPORTED, PALETTE_KERNEL, 0},
		{"bar_[j]", "", PALETTE_FUNC_IMPORTED, PALETTE_JIT, 0},
		{"bar_[i]", "", PALETTE_FUNC_IMPORTED, PALETTE_OWN, 1},
		{"[unknown]", "", PALETTE_FUNC_IMPORTED, PALETTE_UNKNOWN, 0},
		{"[", "", PALETTE_FUNC_IMPORTED, PALETTE_OWN, 0},
		{"_[k]", "", PALETTE_FUNC_IMPORTED, PALETTE_KERNEL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct calltree_func f = func(cases[i].name, cases[i].module, cases[i].func);
		struct palette_class c = palette_of(&f);

		if ((int)c.kind != (int)cases[i].kind)
			print_error("%s in \"%s\"\n", cases[i].name, cases[i].module);
		assert_int_equal(c.kind, cases[i].kind);
		assert_int_equal(c.inlined, cases[i].inlined);
	}
}

static void test_palette_shade_depends_on_the_name_only(void **state)
{
	struct calltree_func a = func("parse_line", "app", PALETTE_FUNC_USER);
	struct calltree_func b = func("parse_line", "[kernel]", PALETTE_FUNC_KERNEL);
	unsigned seen = 0;

	(void)state;
	/* Literal, because pictures of different days are compared by eye. */
	assert_int_equal(palette_of(&a).shade, 0);
	assert_int_equal(palette_of(&b).shade, 0);
	for (char c = 'a'; c <= 'z'; c++) {
		char name[] = {c, '\0'};

		a = func(name, "app", PALETTE_FUNC_USER);
		seen |= 1u << palette_of(&a).shade;
	}
	assert_int_equal(seen, (1u << PALETTE_SHADES) - 1);
}

static void test_palette_css_has_both_themes(void **state)
{
	struct buf b = BUF_INIT;
	const char *dark;

	(void)state;
	palette_css(&b);

	dark = strstr(buf_str(&b), "@media (prefers-color-scheme:dark)");
	assert_non_null(dark);
	assert_contains(buf_str(&b), ".o0>rect{fill:#faa499}");
	assert_contains(dark, ".o0>rect{fill:#6b3631}");
	assert_contains(buf_str(&b), ".k5>rect{fill:url(#k5)}");
	assert_null(strpbrk(buf_str(&b), "<&"));
	buf_release(&b);
}

RUN_TESTS(T(test_palette_text_is_readable_on_every_colour),
	T(test_palette_contrast_is_that_of_wcag), T(test_palette_tells_kinds_of_code_apart),
	T(test_palette_shade_depends_on_the_name_only), T(test_palette_css_has_both_themes))
