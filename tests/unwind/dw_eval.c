// SPDX-License-Identifier: BSD-2-Clause
#include "dw_eval.h"

#include <dwarf.h>

#define STACK_MAX 64 /* values; compilers' expressions need three */

struct machine {
	const struct dw_regs *regs;
	uint64_t cfa;
	int have_cfa;
	dw_read_fn read;
	void *ctx;
	uint64_t stack[STACK_MAX];
	unsigned nr;
};

static enum dw_error take_register(struct machine *m, uint64_t n, uint64_t add)
{
	if (n >= DW_REGS || !(m->regs->known & 1u << n))
		return DW_UNKNOWN_REGISTER;
	m->stack[m->nr++] = m->regs->r[n] + add;
	return DW_OK;
}

static enum dw_error binary(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	if (m->nr < 2)
		return DW_UNKNOWN_OP;
	b = m->stack[--m->nr];
	a = m->stack[--m->nr];
	switch (op) {
	case DW_OP_plus:
		a += b;
		break;
	case DW_OP_minus:
		a -= b;
		break;
	case DW_OP_mul:
		a *= b;
		break;
	case DW_OP_and:
		a &= b;
		break;
	case DW_OP_or:
		a |= b;
		break;
	case DW_OP_shl:
		a = b < 64 ? a << b : 0;
		break;
	case DW_OP_ge:
		a = (int64_t)a >= (int64_t)b;
		break;
	default:
		return DW_UNKNOWN_OP;
	}
	m->stack[m->nr++] = a;
	return DW_OK;
}

/* *is_value: the result is the value itself and not where it is kept. */
static enum dw_error evaluate(
	struct machine *m, const Dwarf_Op *ops, size_t nops, uint64_t *result, int *is_value)
{
	enum dw_error err = DW_OK;

	m->nr = 0;
	*is_value = 0;
	for (size_t i = 0; !err && i < nops; i++) {
		const Dwarf_Op *op = &ops[i];

		if (m->nr == STACK_MAX)
			return DW_UNKNOWN_OP;
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
			err = take_register(m, op->atom - DW_OP_breg0, op->number);
			continue;
		}
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			m->stack[m->nr++] = op->atom - DW_OP_lit0;
			continue;
		}
		if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
			*is_value = 1;
			err = take_register(m, op->atom - DW_OP_reg0, 0);
			continue;
		}
		switch (op->atom) {
		case DW_OP_bregx:
			err = take_register(m, op->number, op->number2);
			break;
		case DW_OP_regx:
			*is_value = 1;
			err = take_register(m, op->number, 0);
			break;
		case DW_OP_call_frame_cfa:
			if (!m->have_cfa)
				return DW_UNKNOWN_OP;
			m->stack[m->nr++] = m->cfa;
			break;
		case DW_OP_const1u:
		case DW_OP_const1s:
		case DW_OP_const2u:
		case DW_OP_const2s:
		case DW_OP_const4u:
		case DW_OP_const4s:
		case DW_OP_const8u:
		case DW_OP_const8s:
		case DW_OP_constu:
		case DW_OP_consts: /* libdw has extended the sign */
			m->stack[m->nr++] = op->number;
			break;
		case DW_OP_plus_uconst:
			if (!m->nr)
				return DW_UNKNOWN_OP;
			m->stack[m->nr - 1] += op->number;
			break;
		case DW_OP_deref:
			if (!m->nr)
				return DW_UNKNOWN_OP;
			if (m->read(m->ctx, m->stack[m->nr - 1], &m->stack[m->nr - 1]))
				return DW_FAULT;
			break;
		case DW_OP_stack_value:
			*is_value = 1;
			break;
		case DW_OP_nop:
			break;
		default:
			err = binary(m, op->atom);
		}
	}
	if (err)
		return err;
	if (!m->nr)
		return DW_UNKNOWN_OP;
	*result = m->stack[m->nr - 1];
	return DW_OK;
}

enum dw_error dw_frame_compile(Dwarf_Frame *frame, uint32_t mask, struct dw_frame *out)
{
	bool signal = false;

	if (dwarf_frame_info(frame, NULL, NULL, &signal) != DW_RIP)
		return DW_NO_RULE; /* another return address column */
	out->signal = signal;
	out->mask = mask;
	out->cfa.kind = DW_OPS;
	if (dwarf_frame_cfa(frame, &out->cfa.ops, &out->cfa.nops) || !out->cfa.nops)
		out->cfa.kind = DW_UNDEFINED;
	for (int i = 0; i < DW_REGS; i++) {
		struct dw_rule *r = &out->reg[i];

		if (!(mask & 1u << i))
			continue;
		if (dwarf_frame_register(frame, i, r->mem, &r->ops, &r->nops))
			return DW_NO_RULE;
		r->kind = r->nops ? DW_OPS : r->ops ? DW_UNDEFINED : DW_SAME;
		/* elfutils knows which registers are callee-saved (x86_64_abi_cfi()),
		 * but gives RBX the number of RAX: where no instruction names it,
		 * RBX is "undefined". No compiler says that of RBX explicitly. */
		if (i == DW_RBX && r->kind == DW_UNDEFINED)
			r->kind = DW_SAME;
	}
	return DW_OK;
}

enum dw_error dw_frame_apply(const struct dw_frame *f, const struct dw_regs *in, uint64_t *cfa,
	struct dw_regs *out, dw_read_fn read, void *ctx)
{
	struct machine m;
	enum dw_error err;
	int is_value;

	m.regs = in;
	m.read = read;
	m.ctx = ctx;
	m.have_cfa = 0;
	out->known = 0;
	/* Where a caller is none, its CFA need not make sense. */
	if (f->reg[DW_RIP].kind == DW_UNDEFINED)
		return DW_OK;
	if (f->cfa.kind != DW_OPS)
		return DW_NO_RULE;
	err = evaluate(&m, f->cfa.ops, f->cfa.nops, cfa, &is_value);
	if (err)
		return err;
	m.cfa = *cfa;
	m.have_cfa = 1;
	for (int i = 0; i < DW_REGS; i++) {
		const struct dw_rule *r = &f->reg[i];

		if (!(f->mask & 1u << i) || r->kind == DW_UNDEFINED)
			continue;
		if (r->kind == DW_SAME) {
			out->r[i] = in->r[i];
			out->known |= in->known & 1u << i;
			continue;
		}
		err = evaluate(&m, r->ops, r->nops, &out->r[i], &is_value);
		if (!err && !is_value && read(ctx, out->r[i], &out->r[i]))
			err = DW_FAULT;
		/* Only the return address is indispensable. */
		if (!err)
			out->known |= 1u << i;
		else if (i == DW_RIP)
			return err;
	}
	return DW_OK;
}
