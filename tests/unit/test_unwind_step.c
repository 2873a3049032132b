/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <linux/types.h>

/* A stack of 64 words at SP; nothing else can be read. */
#define SP 0x7000u
static uint64_t words[64];
static unsigned reads;

static int fake_read(void *dst, __u32 size, __u64 addr)
{
	reads++;
	if (addr < SP || addr + size > SP + sizeof(words))
		return -14;
	memcpy(dst, (char *)words + (addr - SP), size);
	return 0;
}
#define unwind_read fake_read
#include "bpf/unwind_step.h"

static struct unwind_regs leaf(void)
{
	struct unwind_regs r = {.ip = 0x1000, .sp = SP, .bp = 0xbb, .is_leaf = 1};

	for (unsigned i = 0; i < 64; i++)
		words[i] = 0x100 + i;
	for (unsigned i = 0; i < DW_X86_NR; i++)
		r.reg[i] = 0x500 + i;
	reads = 0;
	return r;
}

static struct unwind_regs caller(void)
{
	struct unwind_regs r = leaf();

	r.is_leaf = 0;
	r.is_return = 1;
	return r;
}

static void assert_caller(const struct unwind_regs *r, uint64_t sp, uint64_t ip, uint64_t bp)
{
	assert_int_equal(r->sp, sp);
	assert_int_equal(r->ip, ip);
	assert_int_equal(r->bp, bp);
	assert_int_equal(r->is_return, 1);
	assert_int_equal(r->is_leaf, 0);
}

static enum unwind_stop step(struct unwind_regs *r, struct unwind_rule rule)
{
	struct unwind_regs before = *r;
	enum unwind_stop stop = unwind_step(&rule, r);

	/* what failed has changed nothing */
	if (stop != UNWIND_GO_ON)
		assert_memory_equal(r, &before, sizeof(before));
	return stop;
}

static void test_cfa_from_stack_pointer(void **state)
{
	struct unwind_regs r = leaf();

	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 8}), UNWIND_GO_ON);
	assert_caller(&r, SP + 8, 0x100, 0xbb);
	assert_int_equal(reads, 1);
}

static void test_saved_frame_pointer_and_return_address_are_one_read(void **state)
{
	struct unwind_regs r = leaf();

	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_SP,
					  .cfa_off = 32,
					  .bp = UNWIND_BP_CFA,
					  .bp_off = -16}),
		UNWIND_GO_ON);
	assert_caller(&r, SP + 32, 0x103, 0x102);
	assert_int_equal(reads, 1);
}

static void test_frame_pointer_saved_elsewhere(void **state)
{
	struct unwind_regs r = leaf();

	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_SP,
					  .cfa_off = 64,
					  .bp = UNWIND_BP_CFA,
					  .bp_off = -48}),
		UNWIND_GO_ON);
	assert_caller(&r, SP + 64, 0x107, 0x102);
}

static void test_cfa_from_frame_pointer(void **state)
{
	struct unwind_regs r = caller();

	r.bp = SP + 16;
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_BP,
					  .cfa_off = 16,
					  .bp = UNWIND_BP_CFA,
					  .bp_off = -16}),
		UNWIND_GO_ON);
	assert_caller(&r, SP + 32, 0x103, 0x102);
}

static void test_realigned_stack(void **state)
{
	struct unwind_regs r = caller();

	/* RBP at SP + 32; below it the saved r10 = CFA; at it the caller's RBP */
	r.bp = SP + 32;
	words[3] = SP + 128;
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_DEREF_BP,
					  .cfa_off = -8,
					  .bp = UNWIND_BP_AT_BP}),
		UNWIND_GO_ON);
	assert_caller(&r, SP + 128, 0x10f, 0x104);
}

static void test_saved_stack_pointer(void **state)
{
	struct unwind_regs r = caller();

	words[5] = SP + 100;
	words[13] = 0x1234;
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_DEREF_SP, .cfa_off = 40, .add = 12}),
		UNWIND_GO_ON);
	assert_caller(&r, SP + 112, 0x1234, 0xbb);
}

static void test_plt_depends_on_the_place_in_the_stub(void **state)
{
	for (unsigned at = 0; at < 16; at++) {
		struct unwind_regs r = leaf();

		r.ip = 0x1230 + at;
		assert_int_equal(
			step(&r, (struct unwind_rule){.cfa = UNWIND_PLT, .add = 11}), UNWIND_GO_ON);
		assert_caller(&r, SP + (at >= 11 ? 16 : 8), at >= 11 ? 0x101 : 0x100, 0xbb);
	}
}

static void test_other_registers_are_known_in_the_leaf_only(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_REG, .reg = 10, .cfa_off = 8};
	struct unwind_regs r = leaf();

	r.reg[10] = SP + 24;
	assert_int_equal(step(&r, rule), UNWIND_GO_ON);
	assert_caller(&r, SP + 32, 0x103, 0xbb);
	r = caller();
	r.reg[10] = SP + 24;
	assert_int_equal(step(&r, rule), UNWIND_STOP_NOT_LEAF);
}

static void test_return_address_in_register(void **state)
{
	/* vfork: nothing on the stack, and the frame pointer stays */
	const struct unwind_rule rule = {
		.cfa = UNWIND_SP, .cfa_off = 0, .ra = UNWIND_RA_REG, .reg = DW_X86_RDI};
	struct unwind_regs r = leaf();

	r.reg[DW_X86_RDI] = 0x4321;
	assert_int_equal(step(&r, rule), UNWIND_GO_ON);
	assert_caller(&r, SP, 0x4321, 0xbb);
	r = caller();
	assert_int_equal(step(&r, rule), UNWIND_STOP_NOT_LEAF);
}

static void test_rbx_is_read_where_it_was_saved(void **state)
{
	const struct unwind_rule by_rbx = {
		.cfa = UNWIND_REG, .reg = DW_X86_RBX, .cfa_off = 8, .bx = UNWIND_BX_SAME};
	struct unwind_regs r = leaf();

	/* two frames: the first has saved it, the second has not touched it */
	words[2] = SP + 80; /* at CFA - 24 of the first */
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 40, .bx = 3}),
		UNWIND_GO_ON);
	assert_int_equal(
		step(&r,
			(struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 8, .bx = UNWIND_BX_SAME}),
		UNWIND_GO_ON);
	assert_int_equal(step(&r, by_rbx), UNWIND_GO_ON);
	assert_caller(&r, SP + 88, 0x10a, 0xbb);

	/* untouched by all: still in the register */
	r = leaf();
	r.reg[DW_X86_RBX] = SP + 80;
	assert_int_equal(
		step(&r,
			(struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 8, .bx = UNWIND_BX_SAME}),
		UNWIND_GO_ON);
	assert_int_equal(step(&r, by_rbx), UNWIND_GO_ON);
	assert_caller(&r, SP + 88, 0x10a, 0xbb);

	/* a frame that does not say loses it; one that saves it finds it again */
	r = leaf();
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 8}), UNWIND_GO_ON);
	assert_int_equal(step(&r, by_rbx), UNWIND_STOP_NOT_LEAF);
	words[1] = SP + 80;
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 16, .bx = 2}),
		UNWIND_GO_ON);
	assert_int_equal(step(&r, by_rbx), UNWIND_GO_ON);
	assert_caller(&r, SP + 88, 0x10a, 0xbb);
}

static void test_signal_frame_brings_all_registers_back(void **state)
{
	struct unwind_regs r = caller();
	uint64_t *greg = &words[UNWIND_SIGFRAME_GREGS / 8];

	r.bp_gone = r.bx_gone = 1;
	for (unsigned i = 0; i < SIG_NR; i++)
		greg[i] = 0x900 + i;
	greg[SIG_RSP] = 0x10; /* another stack, below this one */
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_SIGNAL}), UNWIND_GO_ON);
	assert_int_equal(r.sp, 0x10);
	assert_int_equal(r.ip, 0x900 + SIG_RIP);
	assert_int_equal(r.bp, 0x900 + SIG_RBP);
	assert_int_equal(r.is_return, 0);
	assert_int_equal(r.is_leaf, 1);
	assert_int_equal(r.bp_gone, 0);
	assert_int_equal(r.bx_gone, 0);
	assert_int_equal(r.reg[DW_X86_RBX], 0x900 + SIG_RBX);
	assert_int_equal(r.reg[DW_X86_RDX], 0x900 + SIG_RDX);
	assert_int_equal(r.reg[15], 0x907);
	assert_int_equal(reads, 1);
}

static void test_lost_frame_pointer_fails_only_where_it_is_needed(void **state)
{
	struct unwind_regs r = leaf();

	assert_int_equal(
		step(&r,
			(struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 8, .bp = UNWIND_BP_GONE}),
		UNWIND_GO_ON);
	assert_int_equal(r.bp_gone, 1);
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_BP, .cfa_off = 16}),
		UNWIND_STOP_NOT_LEAF);
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_DEREF_BP}), UNWIND_STOP_NOT_LEAF);
	assert_int_equal(step(&r,
				 (struct unwind_rule){
					 .cfa = UNWIND_SP, .cfa_off = 8, .bp = UNWIND_BP_AT_BP}),
		UNWIND_STOP_NOT_LEAF);
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 8}), UNWIND_GO_ON);
	assert_int_equal(r.bp_gone, 1);
	/* a frame that saved it has it */
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_SP,
					  .cfa_off = 32,
					  .bp = UNWIND_BP_CFA,
					  .bp_off = -24}),
		UNWIND_GO_ON);
	assert_int_equal(r.bp_gone, 0);
	assert_int_equal(r.bp, 0x103);
}

static void test_ends_and_failures(void **state)
{
	struct unwind_regs r = leaf();

	assert_int_equal(step(&r, (struct unwind_rule){0}), UNWIND_STOP_NO_INFO);
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_END}), UNWIND_STOP_END);
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_UNSUPPORTED}), UNWIND_STOP_UNSUPPORTED);
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_CFA_NR}), UNWIND_STOP_UNSUPPORTED);
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 0x10000}),
		UNWIND_STOP_FAULT);
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_DEREF_SP, .cfa_off = -8}),
		UNWIND_STOP_FAULT);
	words[0] = 0;
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 8}), UNWIND_STOP_ZERO);
}

static void test_frames_only_go_towards_the_root(void **state)
{
	struct unwind_regs r = caller();

	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = 0}), UNWIND_STOP_STUCK);
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_SP, .cfa_off = -8}), UNWIND_STOP_STUCK);
	r.bp = SP - 16;
	assert_int_equal(
		step(&r, (struct unwind_rule){.cfa = UNWIND_BP, .cfa_off = 16}), UNWIND_STOP_STUCK);
	words[0] = SP - 8;
	assert_int_equal(step(&r, (struct unwind_rule){.cfa = UNWIND_DEREF_SP}), UNWIND_STOP_STUCK);
}

RUN_TESTS(T(test_cfa_from_stack_pointer),
	T(test_saved_frame_pointer_and_return_address_are_one_read),
	T(test_frame_pointer_saved_elsewhere), T(test_cfa_from_frame_pointer),
	T(test_realigned_stack), T(test_saved_stack_pointer),
	T(test_plt_depends_on_the_place_in_the_stub),
	T(test_other_registers_are_known_in_the_leaf_only), T(test_return_address_in_register),
	T(test_rbx_is_read_where_it_was_saved), T(test_signal_frame_brings_all_registers_back),
	T(test_lost_frame_pointer_fails_only_where_it_is_needed), T(test_ends_and_failures),
	T(test_frames_only_go_towards_the_root))
