// SPDX-License-Identifier: BSD-2-Clause
/*
 * Columns -> rule. Expressions are matched, not executed: all that occur in a
 * distribution are of the few shapes below, and a BPF program has no room for a
 * machine.
 */
#include "cfi.h"

#include <string.h>

/* Operations that occur in the shapes we know, DWARF 5 table 7.9. */
enum {
	OP_DEREF = 0x06,
	OP_PLUS_UCONST = 0x23,
	OP_LIT0 = 0x30,
	OP_LIT15 = 0x3f,
	OP_BREG0 = 0x70,
	OP_BREG15 = 0x7f,
};

/* Where the kernel's signal frame has a register, from RSP at the trampoline. */
#define SIGNAL_AT(i) (UNWIND_SIGFRAME_GREGS + 8 * (i))

static int fits(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

/*
 * What linkers write for PLT sections (binutils: elf_x86_64_eh_frame_lazy_plt;
 * lld and gold copy it): breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl,
 * plus. That is RSP + 8 + ((RIP & 15) >= N) * 8, N = 11, or 10 for stubs that
 * begin with endbr64 or bnd jmp.
 */
static int plt_expression(const struct cfi_column *col, int16_t *n)
{
	static const uint8_t before[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
	static const uint8_t after[] = {0x2a, 0x33, 0x24, 0x22};
	const size_t lit = sizeof(before);

	if (col->expr_len != sizeof(before) + 1 + sizeof(after) ||
		memcmp(col->expr, before, sizeof(before)) != 0 ||
		memcmp(col->expr + lit + 1, after, sizeof(after)) != 0)
		return 0;
	if (col->expr[lit] < OP_LIT0 || col->expr[lit] > OP_LIT15)
		return 0;
	*n = (int16_t)(col->expr[lit] - OP_LIT0);
	return 1;
}

struct breg { /* reg + off, or *(reg + off) + add */
	uint32_t reg;
	int deref;
	int64_t off, add;
};

/* breg R, off [deref [plus_uconst add]] */
static int breg_expression(const struct cfi_column *col, struct breg *b)
{
	struct cursor c;
	uint8_t op;

	*b = (struct breg){0};
	cursor_init(&c, col->expr, col->expr_len);
	op = cursor_u8(&c);
	if (op < OP_BREG0 || op > OP_BREG15)
		return 0;
	b->reg = op - OP_BREG0;
	b->off = cfi_sleb(&c);
	if (cursor_left(&c)) {
		if (cursor_u8(&c) != OP_DEREF)
			return 0;
		b->deref = 1;
	}
	if (cursor_left(&c)) {
		if (cursor_u8(&c) != OP_PLUS_UCONST)
			return 0;
		b->add = (int64_t)cursor_varint(&c);
	}
	return !cursor_err(&c) && !cursor_left(&c);
}

static int is_breg(const struct cfi_column *col, enum cfi_kind kind, int deref, int64_t off)
{
	struct breg b;

	return col->kind == kind && breg_expression(col, &b) && b.reg == DW_X86_RSP &&
	       b.deref == deref && b.off == off && !b.add;
}

/* Augmentation S says that this is no call; that it is the kernel's frame, the
 * rules themselves must say (glibc's __restore_rt does). */
static int kernel_signal_frame(const struct cfi_columns *c)
{
	return is_breg(&c->cfa, CFI_VAL_EXPRESSION, 1, SIGNAL_AT(SIG_RSP)) &&
	       is_breg(&c->bp, CFI_EXPRESSION, 0, SIGNAL_AT(SIG_RBP)) &&
	       is_breg(&c->ra, CFI_EXPRESSION, 0, SIGNAL_AT(SIG_RIP));
}

static enum eh_unsupported cfa_rule(const struct cfi_column *cfa, struct unwind_rule *r)
{
	struct breg b = {0};
	int16_t n;

	switch (cfa->kind) {
	case CFI_REGISTER:
		b.reg = cfa->reg;
		b.off = cfa->off;
		break;
	case CFI_VAL_EXPRESSION:
		if (plt_expression(cfa, &n)) {
			r->cfa = UNWIND_PLT;
			r->add = n;
			return EH_SUPPORTED;
		}
		if (!breg_expression(cfa, &b))
			return EH_CFA_EXPRESSION;
		break;
	default:
		return EH_CFA_NONE;
	}
	if (!fits(b.off) || b.add < INT16_MIN || b.add > INT16_MAX)
		return EH_OFFSET;
	r->cfa_off = (int32_t)b.off;
	r->add = (int16_t)b.add;
	if (b.deref) {
		if (b.reg != DW_X86_RSP && b.reg != DW_X86_RBP)
			return EH_CFA_EXPRESSION;
		r->cfa = b.reg == DW_X86_RSP ? UNWIND_DEREF_SP : UNWIND_DEREF_BP;
	} else if (b.reg == DW_X86_RSP) {
		r->cfa = UNWIND_SP;
	} else if (b.reg == DW_X86_RBP) {
		r->cfa = UNWIND_BP;
	} else if (b.reg < DW_X86_NR) {
		r->cfa = UNWIND_REG;
		r->reg = (uint8_t)b.reg;
	} else {
		return EH_CFA_REGISTER;
	}
	return EH_SUPPORTED;
}

static enum eh_unsupported ra_rule(const struct cfi_column *ra, struct unwind_rule *r)
{
	/* psABI 6.2: the CFA is the stack pointer before the call pushed the
	 * return address, so CFA - 8 is where it is unless a rule says otherwise. */
	if (ra->kind == CFI_UNSET || (ra->kind == CFI_OFFSET && ra->off == -8)) {
		r->ra = UNWIND_RA_CFA;
		return EH_SUPPORTED;
	}
	if (ra->kind == CFI_REGISTER && ra->reg < DW_X86_NR && ra->reg != DW_X86_RSP &&
		ra->reg != DW_X86_RBP && (r->cfa != UNWIND_REG || r->reg == ra->reg)) {
		r->ra = UNWIND_RA_REG;
		r->reg = (uint8_t)ra->reg;
		return EH_SUPPORTED;
	}
	return EH_RA_OTHER;
}

static enum eh_unsupported bp_rule(const struct cfi_column *bp, struct unwind_rule *r)
{
	struct breg b;

	switch (bp->kind) {
	case CFI_UNSET: /* callee-saved, psABI figure 3.4 */
	case CFI_SAME:
		r->bp = UNWIND_BP_SAME;
		return EH_SUPPORTED;
	case CFI_UNDEFINED:
		r->bp = UNWIND_BP_GONE;
		return EH_SUPPORTED;
	case CFI_OFFSET:
		if (!fits(bp->off))
			break;
		r->bp = UNWIND_BP_CFA;
		r->bp_off = (int32_t)bp->off;
		return EH_SUPPORTED;
	case CFI_EXPRESSION:
		if (!breg_expression(bp, &b) || b.deref || b.reg != DW_X86_RBP || !fits(b.off))
			break;
		r->bp = UNWIND_BP_AT_BP;
		r->bp_off = (int32_t)b.off;
		return EH_SUPPORTED;
	default:
		break;
	}
	r->bp = UNWIND_BP_GONE;
	return EH_BP_OTHER;
}

static uint8_t bx_rule(const struct cfi_column *bx)
{
	if (bx->kind == CFI_UNSET || bx->kind == CFI_SAME) /* callee-saved, psABI figure 3.4 */
		return UNWIND_BX_SAME;
	/* Compilers save it in one of the first seven words. */
	if (bx->kind == CFI_OFFSET && bx->off < 0 && bx->off % 8 == 0 &&
		bx->off > -8 * UNWIND_BX_SAME)
		return (uint8_t)(bx->off / -8);
	return UNWIND_BX_LOST;
}

/* The caller's RSP is the CFA, by definition (psABI 6.2), unless a rule of its own
 * says otherwise (glibc's __longjmp describes its target). */
static int sp_is_cfa(const struct cfi_column *sp)
{
	return sp->kind == CFI_UNSET || (sp->kind == CFI_VAL_OFFSET && !sp->off);
}

struct unwind_rule cfi_rule(const struct cfi_columns *c, int is_signal, enum eh_unsupported *why)
{
	const struct unwind_rule none = {.cfa = UNWIND_UNSUPPORTED};
	struct unwind_rule r = {0};

	*why = EH_SUPPORTED;
	if (is_signal) {
		if (kernel_signal_frame(c)) {
			r.cfa = UNWIND_SIGNAL;
			return r;
		}
		*why = EH_SIGNAL_OTHER;
		return none;
	}
	if (c->ra.kind == CFI_UNDEFINED) {
		r.cfa = UNWIND_END;
		return r;
	}
	*why = cfa_rule(&c->cfa, &r);
	if (*why == EH_SUPPORTED && !sp_is_cfa(&c->sp))
		*why = EH_SP_OTHER;
	if (*why == EH_SUPPORTED)
		*why = ra_rule(&c->ra, &r);
	if (*why != EH_SUPPORTED)
		return none;
	*why = bp_rule(&c->bp, &r);
	r.bx = bx_rule(&c->bx);
	return r;
}
