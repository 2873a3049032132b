/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <linux/types.h>

#include "bpf/unwind_step.h"
#include "symbolize/plt_stubs.h"
#include "user/base/buf.h"

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

#define JMP_SLOT     0xff, 0x25, 1, 2, 3, 4
#define BND_JMP_SLOT 0xf2, 0xff, 0x25, 1, 2, 3, 4
#define JMP_PLT0     0xe9, 1, 2, 3, 4
#define BND_JMP_PLT0 0xf2, 0xe9, 1, 2, 3, 4
#define PUSH_N	     0x68, 1, 0, 0, 0
#define PUSH_MAP     0xff, 0x35, 1, 2, 3, 4
#define ENDBR	     0xf3, 0x0f, 0x1e, 0xfa
#define NOP2	     0x66, 0x90
#define NOP4	     0x0f, 0x1f, 0x40, 0x00
#define NOP5	     0x0f, 0x1f, 0x44, 0x00, 0x00

static int put(void *ctx, uint64_t start, uint64_t end, const uint64_t *vaddrs,
	const struct unwind_rule *rules, size_t nr)
{
	struct buf *b = ctx;

	buf_addf(b, "%llx-%llx", (unsigned long long)start, (unsigned long long)end);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(rules[i].bx, UNWIND_BX_SAME);
		assert_true(i == 0 ? vaddrs[i] == start : vaddrs[i] > vaddrs[i - 1]);
		buf_addf(b, "; %llx %s%d", (unsigned long long)vaddrs[i],
			rules[i].cfa == UNWIND_PLT ? "plt" : "sp+",
			rules[i].cfa == UNWIND_PLT ? rules[i].add : rules[i].cfa_off);
	}
	return 0;
}

static void check(const uint8_t *code, size_t len, const char *want)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct buf b = BUF_INIT;

	if (len)
		memcpy(copy, code, len);
	assert_int_equal(plt_stubs_scan(copy, len, 0x1000, put, &b), 0);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	free(copy);
}

static void test_lazy_plt_of_lld(void **state)
{
	check(CODE(PUSH_MAP, JMP_SLOT, NOP4, JMP_SLOT, PUSH_N, JMP_PLT0, JMP_SLOT, PUSH_N,
		      JMP_PLT0),
		"1000-1030; 1000 sp+16; 1006 sp+24; 1010 plt11; 1020 plt11");
}

static void test_lazy_plt_with_ibt(void **state)
{
	check(CODE(PUSH_MAP, BND_JMP_SLOT, 0x0f, 0x1f, 0x00, ENDBR, PUSH_N, BND_JMP_PLT0, 0x90,
		      ENDBR, PUSH_N, JMP_PLT0, NOP2),
		"1000-1030; 1000 sp+16; 1006 sp+24; 1010 plt9; 1020 plt9");
}

static void test_stubs_without_push(void **state)
{
	/* .plt.got; static programs' .plt; .plt.sec */
	check(CODE(JMP_SLOT, NOP2, JMP_SLOT, NOP2), "1000-1010; 1000 sp+8; 1008 sp+8");
	check(CODE(JMP_SLOT, JMP_SLOT), "1000-100c; 1000 sp+8; 1006 sp+8");
	check(CODE(ENDBR, BND_JMP_SLOT, NOP5, ENDBR, JMP_SLOT, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00),
		"1000-1020; 1000 sp+8; 1010 sp+8");
}

static void test_the_rest_behind_an_unknown_instruction_gets_no_rules(void **state)
{
	check(CODE(JMP_SLOT, NOP2, 0x48, 0x31, 0xc0, JMP_SLOT), "1000-1008; 1000 sp+8");
	check(CODE(0x48, 0x31, 0xc0), "");
	check(CODE(JMP_SLOT, PUSH_N), ""); /* cut */
	check(CODE(0xff, 0x25, 1), "");
	check(NULL, 0, "");
}

static void test_only_the_first_stub_is_plt0(void **state)
{
	/* the one of TLS descriptors is called */
	check(CODE(JMP_SLOT, NOP2, PUSH_MAP, JMP_SLOT),
		"1000-1014; 1000 sp+8; 1008 sp+8; 100e sp+16");
}

RUN_TESTS(T(test_lazy_plt_of_lld), T(test_lazy_plt_with_ibt), T(test_stubs_without_push),
	T(test_the_rest_behind_an_unknown_instruction_gets_no_rules),
	T(test_only_the_first_stub_is_plt0))
