/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <linux/types.h>

#include "bpf/unwind_step.h"
#include "cfi_build.h"
#include "symbolize/eh_frame.h"

#define VADDR 0x10000u /* of the section */
#define FUNC  0x5000u
#define SIZE  0x100u

/* What a scan delivers, as text: "5000-5100: 5000 sp+8; 5001 sp+16 bp@-16". */
struct result {
	struct buf text;
	struct eh_stats st;
	int err;
};

static void put_rule(struct buf *b, const struct unwind_rule *r)
{
	switch (r->cfa) {
	case UNWIND_UNSUPPORTED:
		buf_adds(b, "unsupported");
		return;
	case UNWIND_END:
		buf_adds(b, "end");
		return;
	case UNWIND_SIGNAL:
		buf_adds(b, "signal");
		return;
	case UNWIND_SP:
		buf_addf(b, "sp%+d", r->cfa_off);
		break;
	case UNWIND_BP:
		buf_addf(b, "bp%+d", r->cfa_off);
		break;
	case UNWIND_REG:
		buf_addf(b, "r%u%+d", r->reg, r->cfa_off);
		break;
	case UNWIND_DEREF_SP:
		buf_addf(b, "*(sp%+d)%+d", r->cfa_off, r->add);
		break;
	case UNWIND_DEREF_BP:
		buf_addf(b, "*(bp%+d)%+d", r->cfa_off, r->add);
		break;
	case UNWIND_PLT:
		buf_addf(b, "plt%d", r->add);
		break;
	default:
		buf_addf(b, "cfa?%u", r->cfa);
	}
	if (r->bp == UNWIND_BP_CFA)
		buf_addf(b, " bp@%d", r->bp_off);
	else if (r->bp == UNWIND_BP_AT_BP)
		buf_addf(b, " bp@bp%+d", r->bp_off);
	else if (r->bp == UNWIND_BP_GONE)
		buf_adds(b, " bp gone");
	if (r->ra == UNWIND_RA_REG)
		buf_addf(b, " ra=r%u", r->reg);
	if (r->bx == UNWIND_BX_LOST)
		buf_adds(b, " bx gone");
	else if (r->bx != UNWIND_BX_SAME)
		buf_addf(b, " bx@%d", -8 * r->bx);
}

static int put_fde(void *ctx, uint64_t start, uint64_t end, const uint64_t *vaddrs,
	const struct unwind_rule *rules, size_t nr)
{
	struct buf *b = &((struct result *)ctx)->text;

	assert_true(nr > 0);
	assert_true(vaddrs[0] == start);
	if (b->len)
		buf_adds(b, " | ");
	buf_addf(b, "%llx-%llx:", (unsigned long long)start, (unsigned long long)end);
	for (size_t i = 0; i < nr; i++) {
		assert_true(i == 0 || vaddrs[i] > vaddrs[i - 1]);
		assert_true(vaddrs[i] < end);
		buf_addf(b, "%s %llx ", i ? ";" : "", (unsigned long long)vaddrs[i]);
		put_rule(b, &rules[i]);
	}
	return 0;
}

static struct result scan_input(struct eh_input in)
{
	struct result r = {0};
	/* an exact block, for AddressSanitizer */
	uint8_t *copy = malloc(in.len ? in.len : 1);

	if (in.len)
		memcpy(copy, in.data, in.len);
	in.data = copy;
	r.err = eh_frame_scan(&in, put_fde, &r, &r.st);
	assert_int_equal(r.err, 0);
	buf_addc(&r.text, '\0');
	r.text.len--;
	free(copy);
	return r;
}

static struct result scan(struct cfi_build *c)
{
	struct result r = scan_input((struct eh_input){.data = (uint8_t *)c->b.data,
		.len = c->b.len,
		.vaddr = c->vaddr,
		.debug_frame = c->debug_frame});

	buf_release(&c->b);
	return r;
}

/* One function with the usual CIE. */
static struct result scan_code(const uint8_t *code, size_t len)
{
	struct cfi_build c = {.vaddr = VADDR};

	cfi_usual_cie(&c);
	cfi_fde(&c, FUNC, SIZE, code, len);
	return scan(&c);
}

#define assert_scan(r, want)                                                                       \
	do {                                                                                       \
		struct result got = (r);                                                           \
                                                                                                   \
		assert_string_equal(buf_str(&got.text), want);                                     \
		buf_release(&got.text);                                                            \
	} while (0)

static void test_function_with_frame_pointer(void **state)
{
	assert_scan(scan_code(CODE(ADVANCE(1), DEF_CFA_OFF(16), OFFSET(6, 2), ADVANCE(3),
			    DEF_CFA_REG(6), ADVANCE1(0xc0), DEF_CFA(7, 8))),
		"5000-5100: 5000 sp+8; 5001 sp+16 bp@-16; 5004 bp+16 bp@-16; 50c4 sp+8 bp@-16");
}

static void test_function_without_frame_pointer(void **state)
{
	/* other registers' rules change nothing for us */
	assert_scan(scan_code(CODE(ADVANCE(2), DEF_CFA_OFF(16), OFFSET(14, 2), ADVANCE(4),
			    DEF_CFA_OFF(0x70), ADVANCE2(0x80), DEF_CFA_OFF(8))),
		"5000-5100: 5000 sp+8; 5002 sp+16; 5006 sp+112; 5086 sp+8");
}

static void test_advance_in_all_sizes(void **state)
{
	assert_scan(scan_code(CODE(ADVANCE4(0x10), DEF_CFA_OFF(16), ADVANCE2(0x10), DEF_CFA_OFF(24),
			    ADVANCE1(0x10), DEF_CFA_OFF(32), ADVANCE(0x10), DEF_CFA_OFF(40))),
		"5000-5100: 5000 sp+8; 5010 sp+16; 5020 sp+24; 5030 sp+32; 5040 sp+40");
}

static void test_remember_and_restore_nest_and_include_the_cfa(void **state)
{
	assert_scan(scan_code(CODE(ADVANCE(1), DEF_CFA_OFF(16), OFFSET(6, 2), REMEMBER, ADVANCE(1),
			    DEF_CFA(6, 16), REMEMBER, ADVANCE(1), DEF_CFA(7, 8), RESTORE(6),
			    ADVANCE(1), RESTORE_STATE, ADVANCE(1), RESTORE_STATE)),
		"5000-5100: 5000 sp+8; 5001 sp+16 bp@-16; 5002 bp+16 bp@-16; 5003 sp+8; 5004 bp+16 "
		"bp@-16;"
		" 5005 sp+16 bp@-16");
}

static void test_restore_without_remember_makes_the_function_unsupported(void **state)
{
	struct result r = scan_code(CODE(ADVANCE(1), RESTORE_STATE));

	assert_string_equal(buf_str(&r.text), "5000-5100: 5000 unsupported");
	assert_int_equal(r.st.bad_fdes, 1);
	buf_release(&r.text);
}

static void test_remember_without_end_is_damage(void **state)
{
	uint8_t code[100];

	memset(code, REMEMBER, sizeof(code));
	assert_scan(scan_code(code, sizeof(code)), "5000-5100: 5000 unsupported");
}

static void test_undefined_return_address_is_the_end(void **state)
{
	assert_scan(scan_code(CODE(UNDEFINED(16), ADVANCE(5), DEF_CFA_OFF(16))),
		"5000-5100: 5000 end; 5005 end");
}

static void test_return_address_in_register(void **state)
{
	/* glibc's vfork */
	assert_scan(scan_code(CODE(ADVANCE(5), DEF_CFA_OFF(0), REGISTER(16, 5), ADVANCE(2),
			    DEF_CFA_OFF(8))),
		"5000-5100: 5000 sp+8; 5005 sp+0 ra=r5; 5007 sp+8 ra=r5");
}

static void test_cfa_and_return_address_in_different_registers_is_unsupported(void **state)
{
	struct result r = scan_code(CODE(DEF_CFA(10, 0), REGISTER(16, 5)));

	assert_string_equal(buf_str(&r.text), "5000-5100: 5000 unsupported");
	assert_int_equal(r.st.unsupported[EH_RA_OTHER], 1);
	buf_release(&r.text);
}

static void test_gcc_realigned_stack(void **state)
{
	/* lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10 */
	assert_scan(scan_code(CODE(ADVANCE(5), DEF_CFA(10, 0), ADVANCE(8), EXPRESSION(6, 2), 0x76,
			    0, ADVANCE(7), DEF_CFA_EXPR(3), 0x76, 0x78, 0x06, ADVANCE1(0x80),
			    DEF_CFA(10, 0), ADVANCE(4), DEF_CFA(7, 8))),
		"5000-5100: 5000 sp+8; 5005 r10+0; 500d r10+0 bp@bp+0; 5014 *(bp-8)+0 bp@bp+0; "
		"5094 r10+0 bp@bp+0;"
		" 5098 sp+8 bp@bp+0");
}

static void test_saved_stack_pointer_of_handwritten_code(void **state)
{
	/* OpenSSL: breg7 88, deref, plus_uconst 8 */
	assert_scan(scan_code(CODE(DEF_CFA_EXPR(6), 0x77, 0xd8, 0x00, 0x06, 0x23, 0x08)),
		"5000-5100: 5000 *(sp+88)+8");
}

static void test_both_plt_shapes(void **state)
{
	assert_scan(scan_code(CODE(DEF_CFA_OFF(16), ADVANCE(6), DEF_CFA_OFF(24), ADVANCE(10),
			    DEF_CFA_EXPR(11), 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
			    0x24, 0x22)),
		"5000-5100: 5000 sp+16; 5006 sp+24; 5010 plt11");
	assert_scan(scan_code(CODE(DEF_CFA_EXPR(11), 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3a, 0x2a,
			    0x33, 0x24, 0x22)),
		"5000-5100: 5000 plt10");
}

static void test_unknown_expressions_are_counted_and_not_guessed(void **state)
{
	/* breg7 8, breg9 0, lit8, mul, plus, deref, plus_uconst 8 */
	struct result r = scan_code(CODE(ADVANCE(4), DEF_CFA_EXPR(10), 0x77, 0x08, 0x79, 0x00, 0x38,
		0x1e, 0x22, 0x06, 0x23, 0x08));

	assert_string_equal(buf_str(&r.text), "5000-5100: 5000 sp+8; 5004 unsupported");
	assert_int_equal(r.st.unsupported[EH_CFA_EXPRESSION], 1);
	assert_int_equal(r.st.rows, 2);
	buf_release(&r.text);
}

static void test_expression_with_a_rest_is_unknown(void **state)
{
	assert_scan(
		scan_code(CODE(DEF_CFA_EXPR(3), 0x77, 0x08, 0x22)), "5000-5100: 5000 unsupported");
	assert_scan(scan_code(CODE(DEF_CFA_EXPR(4), 0x77, 0x08, 0x06, 0x06)),
		"5000-5100: 5000 unsupported");
	assert_scan(scan_code(CODE(DEF_CFA_EXPR(1), 0x77)), "5000-5100: 5000 unsupported");
	assert_scan(scan_code(CODE(DEF_CFA_EXPR(0))), "5000-5100: 5000 unsupported");
}

static void test_lost_rbp_leaves_the_rest(void **state)
{
	struct result r = scan_code(CODE(REGISTER(6, 9), ADVANCE(1), VAL_OFFSET(6, 2), ADVANCE(1),
		VAL_EXPR(6, 2), 0x77, 0x08, ADVANCE(1), UNDEFINED(6), ADVANCE(1), SAME_VALUE(6)));

	assert_string_equal(buf_str(&r.text), "5000-5100: 5000 sp+8 bp gone; 5001 sp+8 bp gone; "
					      "5002 sp+8 bp gone; 5003 sp+8 bp gone; 5004 sp+8");
	/* undefined is what the code says, and no shortcoming of ours */
	assert_int_equal(r.st.unsupported[EH_BP_OTHER], 3);
	buf_release(&r.text);
}

static void test_return_address_elsewhere_is_unsupported(void **state)
{
	struct result r = scan_code(CODE(OFFSET(16, 2)));

	assert_string_equal(buf_str(&r.text), "5000-5100: 5000 unsupported");
	assert_int_equal(r.st.unsupported[EH_RA_OTHER], 1);
	buf_release(&r.text);
}

static void test_stack_pointer_that_is_not_the_cfa_is_unsupported(void **state)
{
	/* glibc's __longjmp: RSP of the target is in R8 */
	struct result r = scan_code(
		CODE(REGISTER(7, 8), ADVANCE(1), VAL_OFFSET(7, 0), ADVANCE(1), OFFSET(7, 2)));

	assert_string_equal(
		buf_str(&r.text), "5000-5100: 5000 unsupported; 5001 sp+8; 5002 unsupported");
	assert_int_equal(r.st.unsupported[EH_SP_OTHER], 2);
	buf_release(&r.text);
}

static void test_saved_rbx(void **state)
{
	assert_scan(scan_code(CODE(ADVANCE(1), OFFSET(3, 3), ADVANCE(1), REMEMBER, RESTORE(3),
			    ADVANCE(1), RESTORE_STATE, ADVANCE(1), REGISTER(3, 5), ADVANCE(1),
			    OFFSET(3, 0x7f), ADVANCE(1), 0x05, 3, 0xfe, 0x01, ADVANCE(1), 0x05, 3,
			    0xff, 0x01)),
		"5000-5100: 5000 sp+8; 5001 sp+8 bx@-24; 5002 sp+8; 5003 sp+8 bx@-24; 5004 sp+8 bx "
		"gone;"
		" 5005 sp+8 bx@-1016; 5006 sp+8 bx@-2032; 5007 sp+8 bx gone");
}

static void test_offsets_are_32_bits(void **state)
{
	struct result r = scan_code(CODE(0x0e, 0xff, 0xff, 0xff, 0xff, 0x07, ADVANCE(1), 0x0e, 0x80,
		0x80, 0x80, 0x80, 0x08));

	assert_string_equal(buf_str(&r.text), "5000-5100: 5000 sp+2147483647; 5001 unsupported");
	assert_int_equal(r.st.unsupported[EH_OFFSET], 1);
	buf_release(&r.text);
}

static void test_cfa_register_numbers(void **state)
{
	assert_scan(scan_code(CODE(DEF_CFA(13, 0))), "5000-5100: 5000 r13+0");
	assert_scan(scan_code(CODE(DEF_CFA(17, 0))), "5000-5100: 5000 unsupported");
	/* 2^32 + 7 is not RSP */
	assert_scan(scan_code(CODE(0x0c, 0x87, 0x80, 0x80, 0x80, 0x10, 8)),
		"5000-5100: 5000 unsupported");
}

static void test_def_cfa_register_after_expression_keeps_the_offset(void **state)
{
	/* libgcrypt: invalid by DWARF, meant as libgcc takes it */
	assert_scan(scan_code(CODE(DEF_CFA_EXPR(6), 0x77, 0x98, 0x04, 0x06, 0x23, 0x38, ADVANCE(1),
			    DEF_CFA_REG(7))),
		"5000-5100: 5000 *(sp+536)+56; 5001 sp+8");
}

static void test_function_without_cfa(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};

	cfi_cie(&c, "zR", (const uint8_t[]){0x1b}, 1, CODE(OFFSET(16, 1)));
	cfi_fde(&c, FUNC, SIZE, CODE(NOP));
	cfi_fde(&c, FUNC + SIZE, SIZE, CODE(DEF_CFA_OFF(8))); /* half a rule */
	assert_scan(scan(&c), "5000-5100: 5000 unsupported | 5100-5200: 5100 unsupported");
}

static void test_kernel_signal_frame(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	static const uint8_t glibc[] = {DEF_CFA_EXPR(4), 0x77, 0xa0, 0x01, 0x06, EXPRESSION(8, 2),
		0x77, 0x28, EXPRESSION(6, 3), 0x77, 0xf8, 0x00, EXPRESSION(7, 3), 0x77, 0xa0, 0x01,
		EXPRESSION(16, 3), 0x77, 0xa8, 0x01};

	cfi_cie(&c, "zRS", (const uint8_t[]){0x1b}, 1, CODE(NOP));
	cfi_fde(&c, FUNC, 10, glibc, sizeof(glibc));
	assert_scan(scan(&c), "5000-500a: 5000 signal");
}

static void test_other_signal_frame_is_unsupported(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_cie(&c, "zRS", (const uint8_t[]){0x1b}, 1, CODE(DEF_CFA(7, 8), OFFSET(16, 1)));
	cfi_fde(&c, FUNC, 10, CODE(NOP));
	r = scan(&c);
	assert_string_equal(buf_str(&r.text), "5000-500a: 5000 unsupported");
	assert_int_equal(r.st.unsupported[EH_SIGNAL_OTHER], 1);
	buf_release(&r.text);
}

static void test_damaged_fde_costs_its_function_only(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_usual_cie(&c);
	cfi_fde(&c, 0x1000, 0x10, CODE(ADVANCE(1), DEF_CFA_OFF(16)));
	cfi_fde(&c, 0x2000, 0x10, CODE(ADVANCE(1), 0x3f));	   /* no such instruction */
	cfi_fde(&c, 0x3000, 0x10, CODE(DEF_CFA_EXPR(0x7f), 0x77)); /* runs out of the entry */
	cfi_fde(&c, 0x4000, 0x10,
		CODE(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff)); /* 70 bits */
	cfi_fde(&c, 0x5000, 0x10, CODE(ADVANCE(2), DEF_CFA_OFF(16)));
	r = scan(&c);
	assert_string_equal(buf_str(&r.text),
		"1000-1010: 1000 sp+8; 1001 sp+16 | 2000-2010: 2000 unsupported | 3000-3010: 3000 "
		"unsupported"
		" | 4000-4010: 4000 unsupported | 5000-5010: 5000 sp+8; 5002 sp+16");
	assert_int_equal(r.st.bad_fdes, 3);
	assert_int_equal(r.st.fdes, 5);
	buf_release(&r.text);
}

static void test_damaged_cie_costs_its_functions(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_cie(&c, "xyz", NULL, 0, CODE(DEF_CFA(7, 8)));
	cfi_fde(&c, 0x1000, 0x10, CODE(NOP));
	cfi_fde(&c, 0x2000, 0x10, CODE(NOP));
	cfi_usual_cie(&c);
	cfi_fde(&c, 0x3000, 0x10, CODE(NOP));
	r = scan(&c);
	assert_string_equal(buf_str(&r.text), "3000-3010: 3000 sp+8");
	assert_int_equal(r.st.bad_cies, 1);
	assert_int_equal(r.st.bad_fdes, 2);
	assert_int_equal(r.st.cies, 2);
	buf_release(&r.text);
}

static void test_fde_that_points_to_no_cie(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_usual_cie(&c);
	cfi_fde(&c, 0x1000, 0x10, CODE(NOP));
	c.last_cie = c.entry; /* an FDE */
	cfi_fde(&c, 0x2000, 0x10, CODE(NOP));
	c.last_cie = (size_t)-5000; /* before the section */
	cfi_fde(&c, 0x3000, 0x10, CODE(NOP));
	r = scan(&c);
	assert_string_equal(buf_str(&r.text), "1000-1010: 1000 sp+8");
	assert_int_equal(r.st.bad_fdes, 2);
	buf_release(&r.text);
}

static void test_length_past_the_end_stops_the_scan(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_usual_cie(&c);
	cfi_fde(&c, 0x1000, 0x10, CODE(NOP));
	buf_add_u32le(&c.b, 0x1000);
	buf_add_u32le(&c.b, 0);
	r = scan(&c);
	assert_string_equal(buf_str(&r.text), "1000-1010: 1000 sp+8");
	assert_true(r.st.truncated);
	buf_release(&r.text);
}

static void test_terminator_ends_only_unsized_sections(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct eh_input in;

	cfi_usual_cie(&c);
	cfi_fde(&c, 0x1000, 0x10, CODE(NOP));
	buf_add_u32le(&c.b, 0);
	cfi_fde(&c, 0x2000, 0x10, CODE(NOP));
	in = (struct eh_input){.data = (uint8_t *)c.b.data, .len = c.b.len, .vaddr = VADDR};
	assert_scan(scan_input(in), "1000-1010: 1000 sp+8 | 2000-2010: 2000 sp+8");
	in.unsized = 1;
	assert_scan(scan_input(in), "1000-1010: 1000 sp+8");
	buf_release(&c.b);
}

static void test_fdes_of_dropped_functions_are_left_out(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_usual_cie(&c);
	cfi_fde(&c, 0, 0x10, CODE(NOP));
	cfi_fde(&c, 0x1000, 0, CODE(NOP));
	cfi_fde(&c, 0x2000, 1, CODE(NOP));
	r = scan(&c);
	assert_string_equal(buf_str(&r.text), "2000-2001: 2000 sp+8");
	assert_int_equal(r.st.empty_fdes, 2);
	assert_int_equal(r.st.bad_fdes, 0);
	buf_release(&r.text);
}

static void test_rows_past_the_end_belong_to_nobody(void **state)
{
	assert_scan(scan_code(CODE(ADVANCE1(0xff), DEF_CFA_OFF(16), ADVANCE(1), DEF_CFA_OFF(24),
			    ADVANCE(1), DEF_CFA_OFF(32))),
		"5000-5100: 5000 sp+8; 50ff sp+16");
}

static void test_set_loc(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_cie(&c, "zR", (const uint8_t[]){0x02}, 1,
		CODE(DEF_CFA(7, 8), OFFSET(16, 1))); /* udata2 */
	cfi_begin(&c, (uint32_t)(c.b.len + 4));
	buf_add(&c.b, "\x00\x50\x00\x01\x00", 5); /* 0x5000, 0x100, no data */
	buf_add(&c.b, CODE(SET_LOC, 0x20, 0x50, DEF_CFA_OFF(16)));
	cfi_end(&c);
	cfi_begin(&c, (uint32_t)(c.b.len + 4));
	buf_add(&c.b, "\x00\x60\x00\x01\x00", 5);
	buf_add(&c.b, CODE(SET_LOC, 0x00, 0x50)); /* backwards */
	cfi_end(&c);
	r = scan(&c);
	assert_string_equal(
		buf_str(&r.text), "5000-5100: 5000 sp+8; 5020 sp+16 | 6000-6100: 6000 unsupported");
	buf_release(&r.text);
}

static void test_address_encodings(void **state)
{
	/* absolute, udata4, sdata8; what needs memory or has no base here is refused */
	static const struct {
		uint8_t enc, size;
		int ok;
	} cases[] = {{0x00, 8, 1}, {0x03, 4, 1}, {0x0c, 8, 1}, {0x80, 8, 0}, {0x40, 8, 0},
		{0x50, 8, 0}, {0x05, 4, 0}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cfi_build c = {.vaddr = VADDR};
		uint64_t start = 0x5000, size = 0x100;
		struct result r;

		cfi_cie(&c, "zR", &cases[i].enc, 1, CODE(DEF_CFA(7, 8), OFFSET(16, 1)));
		cfi_begin(&c, (uint32_t)(c.b.len + 4));
		buf_add(&c.b, &start, cases[i].size);
		buf_add(&c.b, &size, cases[i].size);
		buf_addc(&c.b, 0);
		cfi_end(&c);
		r = scan(&c);
		assert_string_equal(buf_str(&r.text), cases[i].ok ? "5000-5100: 5000 sp+8" : "");
		assert_int_equal(r.st.bad_fdes, !cases[i].ok);
		buf_release(&r.text);
	}
}

static void test_range_that_wraps_is_damage(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_cie(&c, "zR", (const uint8_t[]){0x00}, 1, CODE(DEF_CFA(7, 8), OFFSET(16, 1)));
	cfi_begin(&c, (uint32_t)(c.b.len + 4));
	buf_add_u64le(&c.b, UINT64_MAX - 15);
	buf_add_u64le(&c.b, 17);
	buf_addc(&c.b, 0);
	cfi_end(&c);
	r = scan(&c);
	assert_string_equal(buf_str(&r.text), "");
	assert_int_equal(r.st.bad_fdes, 1);
	buf_release(&r.text);
}

static void test_augmentation_with_personality_and_lsda(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};

	cfi_cie(&c, "zPLR", (const uint8_t[]){0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, 7,
		CODE(DEF_CFA(7, 8), OFFSET(16, 1)));
	cfi_begin(&c, (uint32_t)(c.b.len + 4));
	buf_add_u32le(&c.b, (uint32_t)(0x5000 - (VADDR + c.b.len)));
	buf_add_u32le(&c.b, 0x10);
	buf_add(&c.b, "\x04\x0f\x0f\x0f\x0f", 5); /* the LSDA is skipped */
	buf_add(&c.b, CODE(ADVANCE(1), DEF_CFA_OFF(16)));
	cfi_end(&c);
	assert_scan(scan(&c), "5000-5010: 5000 sp+8; 5001 sp+16");
}

static void test_debug_frame(void **state)
{
	struct cfi_build c = {.vaddr = 0, .debug_frame = 1};

	cfi_usual_cie(&c);
	cfi_fde(&c, 0x401000, 0x10, CODE(ADVANCE(1), DEF_CFA_OFF(16), OFFSET(6, 2)));
	assert_scan(scan(&c), "401000-401010: 401000 sp+8; 401001 sp+16 bp@-16");
}

static void test_debug_frame_version_4_and_64_bit(void **state)
{
	struct cfi_build c = {.vaddr = 0, .debug_frame = 1};
	static const uint8_t cie[] = {4, 0, 8, 0, 1, 0x78, 16, DEF_CFA(7, 8), OFFSET(16, 1)};

	/* the FDE comes first and points forwards */
	buf_add_u32le(&c.b, 0xffffffff);
	buf_add_u64le(&c.b, 24);
	buf_add_u64le(&c.b, 12 + 24);
	buf_add_u64le(&c.b, 0x401000);
	buf_add_u64le(&c.b, 0x10);
	buf_add_u32le(&c.b, 0xffffffff);
	buf_add_u64le(&c.b, 8 + sizeof(cie));
	buf_add_u64le(&c.b, UINT64_MAX);
	buf_add(&c.b, cie, sizeof(cie));
	assert_scan(scan(&c), "401000-401010: 401000 sp+8");
}

static void test_location_in_a_cie_is_damage(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct result r;

	cfi_cie(&c, "zR", (const uint8_t[]){0x1b}, 1,
		CODE(DEF_CFA(7, 8), ADVANCE(1), OFFSET(16, 1)));
	cfi_fde(&c, FUNC, SIZE, CODE(NOP));
	r = scan(&c);
	assert_int_equal(r.st.bad_cies, 1);
	buf_release(&r.text);
}

static void test_every_prefix_of_a_section_is_harmless(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	char last[256] = "";

	cfi_usual_cie(&c);
	cfi_fde(&c, 0x1000, 0x10, CODE(ADVANCE(1), DEF_CFA_OFF(16)));
	cfi_fde(&c, 0x2000, 0x10, CODE(DEF_CFA_EXPR(3), 0x76, 0x78, 0x06));
	for (size_t len = 0; len <= c.b.len; len++) {
		struct result r = scan_input(
			(struct eh_input){.data = (uint8_t *)c.b.data, .len = len, .vaddr = VADDR});

		/* what was there stays there */
		assert_int_equal(strncmp(buf_str(&r.text), last, strlen(last)), 0);
		snprintf(last, sizeof(last), "%s", buf_str(&r.text));
		buf_release(&r.text);
	}
	assert_string_equal(last, "1000-1010: 1000 sp+8; 1001 sp+16 | 2000-2010: 2000 *(bp-8)+0");
	buf_release(&c.b);
}

static int stop_at_second(void *ctx, uint64_t start, uint64_t end, const uint64_t *vaddrs,
	const struct unwind_rule *rules, size_t nr)
{
	(void)start;
	(void)end;
	(void)vaddrs;
	(void)rules;
	(void)nr;
	return ++*(int *)ctx == 2 ? -ENOSPC : 0;
}

static void test_callback_can_stop_the_scan(void **state)
{
	struct cfi_build c = {.vaddr = VADDR};
	struct eh_input in;
	struct eh_stats st;
	int calls = 0;

	cfi_usual_cie(&c);
	for (uint64_t i = 1; i < 5; i++)
		cfi_fde(&c, i * 0x1000, 0x10, CODE(NOP));
	in = (struct eh_input){.data = (uint8_t *)c.b.data, .len = c.b.len, .vaddr = VADDR};
	assert_int_equal(eh_frame_scan(&in, stop_at_second, &calls, &st), -ENOSPC);
	assert_int_equal(calls, 2);
	buf_release(&c.b);
}

RUN_TESTS(T(test_function_with_frame_pointer), T(test_function_without_frame_pointer),
	T(test_advance_in_all_sizes), T(test_remember_and_restore_nest_and_include_the_cfa),
	T(test_restore_without_remember_makes_the_function_unsupported),
	T(test_remember_without_end_is_damage), T(test_undefined_return_address_is_the_end),
	T(test_return_address_in_register),
	T(test_cfa_and_return_address_in_different_registers_is_unsupported),
	T(test_gcc_realigned_stack), T(test_saved_stack_pointer_of_handwritten_code),
	T(test_both_plt_shapes), T(test_unknown_expressions_are_counted_and_not_guessed),
	T(test_expression_with_a_rest_is_unknown), T(test_lost_rbp_leaves_the_rest),
	T(test_return_address_elsewhere_is_unsupported),
	T(test_stack_pointer_that_is_not_the_cfa_is_unsupported), T(test_saved_rbx),
	T(test_offsets_are_32_bits), T(test_cfa_register_numbers),
	T(test_def_cfa_register_after_expression_keeps_the_offset), T(test_function_without_cfa),
	T(test_kernel_signal_frame), T(test_other_signal_frame_is_unsupported),
	T(test_damaged_fde_costs_its_function_only), T(test_damaged_cie_costs_its_functions),
	T(test_fde_that_points_to_no_cie), T(test_length_past_the_end_stops_the_scan),
	T(test_terminator_ends_only_unsized_sections),
	T(test_fdes_of_dropped_functions_are_left_out), T(test_rows_past_the_end_belong_to_nobody),
	T(test_set_loc), T(test_address_encodings), T(test_range_that_wraps_is_damage),
	T(test_augmentation_with_personality_and_lsda), T(test_debug_frame),
	T(test_debug_frame_version_4_and_64_bit), T(test_location_in_a_cie_is_damage),
	T(test_every_prefix_of_a_section_is_harmless), T(test_callback_can_stop_the_scan))
