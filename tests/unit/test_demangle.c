/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <time.h>

#include "symbolize/symbolize.h"

/* NULL: shown as it is. */
static const struct {
	const char *raw, *shown;
} table[] = {
	/* Rust v0, legacy with and without a suffix of LLVM */
	{"_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar"},
	{"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
	{"_RNvCskwGfYPst2Cb_3foo3bar.llvm.123", "foo::bar"},
	{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	{"_ZN4core3fmt5write17h0123456789abcdefE.llvm.12345", "core::fmt::write"},
	{"_ZN38_$LT$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
		"<T as core::fmt::Debug>::fmt"},
	/* C++: templates, lambdas, overloads, constructors, operators */
	{"_Z4execIPFvvEEvT_", "void exec<void (*)()>(void (*)())"},
	{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
	{"_ZN3Foo3runEi", "Foo::run(int)"},
	{"_ZN3Foo3runEb", "Foo::run(bool)"},
	{"_ZN3FooC2Ev", "Foo::Foo()"},
	{"_ZN3FooD0Ev", "Foo::~Foo()"},
	{"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
	{"_ZStlsRSoi", "std::operator<<(std::ostream&, int)"},
	{"_ZdlPv", "operator delete(void*)"},
	{"_ZL3barv", "bar()"},
	{"_Z3fooDv4_f", "foo(float __vector(4))"},
	/* clones keep their mark */
	{"_ZN3Foo3barEv.part.0.isra.0", "Foo::bar() [clone .part.0] [clone .isra.0]"},
	{"_ZN3Foo3barEv.cold", "Foo::bar() [clone .cold]"},
	{"_ZN3Foo3barEv.llvm.123456", "Foo::bar() [clone .llvm.123456]"},
	{"_ZN3Foo3barEv.lto_priv.0", "Foo::bar() [clone .lto_priv.0]"},
	{"_ZN3Foo3barEv.constprop.0", "Foo::bar() [clone .constprop.0]"},
	/* not mangled, or not quite */
	{"_Zebra", NULL},
	{"_Rabbit", NULL},
	{"_ZN", NULL},
	{"_Z", NULL},
	{"_R", NULL},
	{"_", NULL},
	{"", NULL},
	{"plain$name", NULL},
	{"foo.part.0", NULL},
	{"main", NULL},
	{"_Z1", NULL},
	{"_ZN3Foo3runEi garbage", NULL},
	{"main.main", NULL},
	{"_ZN99999999999999999999aE", NULL},
};

static void test_table_of_styles(void **state)
{
	char buf[SYMBOL_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		int done = demangle(table[i].raw, buf, sizeof(buf));

		if (done != (table[i].shown != NULL))
			print_error("%s: %s\n", table[i].raw, done ? buf : "left alone");
		assert_int_equal(done, table[i].shown != NULL);
		if (done)
			assert_string_equal(buf, table[i].shown);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Repeat @part @n times between the two ends. */
static char *repeated(const char *start, const char *part, size_t n, const char *end)
{
	char *s = malloc(strlen(start) + n * strlen(part) + strlen(end) + 1), *p;

	p = stpcpy(s, start);
	while (n--)
		p = stpcpy(p, part);
	strcpy(p, end);
	return s;
}

static void test_output_that_would_explode_is_cut(void **state)
{
	/* each parameter is a function type of two of the one before */
	char *s = malloc(2000), *p = s, buf[SYMBOL_NAME_MAX];
	double start = seconds();

	(void)state;
	p = stpcpy(p, "_Z1fPFvvE");
	for (int i = 0; i < 30; i++)
		p += sprintf(p, "PFvS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10,
			i < 10 ? '0' + i : 'A' + i - 10);
	assert_int_equal(demangle(s, buf, sizeof(buf)), 1);
	assert_int_equal(strlen(buf), sizeof(buf) - 1);
	assert_string_equal(buf + sizeof(buf) - 4, "...");
	assert_true(seconds() - start < 1);
	free(s);
}

static void test_rust_output_that_would_explode_is_cut(void **state)
{
	/* a tuple of two back references to the tuple before it */
	char s[1000] = "_RIC0", *p = s + 5, buf[SYMBOL_NAME_MAX];
	double start = seconds();
	size_t before = 0;

	(void)state;
	p = stpcpy(p, "TuuE");
	before = 3;
	for (int i = 0; i < 30; i++) {
		size_t here = (size_t)(p - s) - 2;
		char ref[16];
		size_t v = before - 1;
		char digits[16];
		int n = 0;

		do
			digits[n++] =
				"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					[v % 62];
		while ((v /= 62));
		for (int k = 0; k < n; k++)
			ref[k] = digits[n - 1 - k];
		ref[n] = '\0';
		p += sprintf(p, "TB%s_B%s_E", ref, ref);
		before = here;
	}
	strcpy(p, "E");
	demangle(s, buf, sizeof(buf));
	assert_true(seconds() - start < 1);
}

static void test_time_is_bounded(void **state)
{
	char buf[SYMBOL_NAME_MAX];
	char *names[] = {
		repeated("_ZN1acv", "T_I", 200, "iE"),
		repeated("_ZN1a", "cvT_I", 200, "iE"),
		repeated("_ZN1acv", "T0_I", 200, "iE"),
		repeated("_ZN1acv", "TL0__I", 150, "iE"),
		repeated("_Z1f", "P", 1900, "i"),
		repeated("_Z", "N", 1900, "E"),
		repeated("_Z1fI", "J", 900, "E"),
		repeated("_Z1fI", "Dp", 400, "T_EvT_"),
		repeated("_R", "INv", 600, "C1a1bE"),
		repeated("_RY", "R", 1900, "u"),
		repeated("_ZN", "1a", 950, "17h0123456789abcdefE"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		double start = seconds();

		demangle(names[i], buf, sizeof(buf));
		if (seconds() - start > 0.5)
			fail_msg("%.40s...: %.2f s", names[i], seconds() - start);
		free(names[i]);
	}
}

static void test_names_longer_than_the_bound_are_left_alone(void **state)
{
	char buf[SYMBOL_NAME_MAX];
	char *s = repeated("_ZN", "1a", 3000, "Ev");

	(void)state;
	assert_int_equal(demangle(s, buf, sizeof(buf)), 0);
	free(s);
}

static void test_small_buffer_is_respected(void **state)
{
	char buf[24];

	(void)state;
	memset(buf, '#', sizeof(buf));
	assert_int_equal(demangle("_ZStlsRSoi", buf, 20), 1);
	assert_string_equal(buf, "std::operator<<(...");
	assert_int_equal(buf[20], '#');
	assert_int_equal(demangle("_ZStlsRSoi", buf, 3), 0);
}

RUN_TESTS(T(test_table_of_styles), T(test_output_that_would_explode_is_cut),
	T(test_rust_output_that_would_explode_is_cut), T(test_time_is_bounded),
	T(test_names_longer_than_the_bound_are_left_alone), T(test_small_buffer_is_respected))
